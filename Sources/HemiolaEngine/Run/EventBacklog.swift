internal import Hemiola
internal import HemiolaRecords

/// Events outside blocks, in order, with the replies of dropped blocks.
///
/// Stored in pieces, so that appending never moves all older events, and removing the oldest has a constant cost.
final class EventBacklog {
    private static let pieceCapacity = 512

    private var pieces: [[Event]] = []
    /// Events of the first piece that were dropped.
    private var removedCount = 0
    /// The sum of the events' weights, which the limit applies to.
    private(set) var weight = 0
    var replies: [Mailbox.Reply] = []
    /// Whether some of the events are of dropped blocks: these events are added to the next block.
    var isOfDroppedBlocks = false

    /// All events, in one array.
    var events: [Event] { Array(pieces.joined().dropFirst(removedCount)) }

    /// - Returns: The weight that was added.
    @discardableResult
    func append(_ events: [Event]) -> Int {
        var added = 0
        for event in events {
            if pieces.last.map({ $0.count == Self.pieceCapacity }) ?? true {
                pieces.append([])
                pieces[pieces.count - 1].reserveCapacity(Self.pieceCapacity)
            }
            pieces[pieces.count - 1].append(event)
            added += event.weight
        }
        weight += added
        return added
    }

    func append(contentsOf other: EventBacklog) {
        append(other.events)
        replies += other.replies
    }

    /// Removes the oldest event.
    ///
    /// - Returns: Its weight; nil when there is none.
    func removeFirst() -> Int? {
        guard let piece = pieces.first else { return nil }
        let removed = piece[removedCount].weight
        removedCount += 1
        weight -= removed
        if removedCount == piece.count {
            pieces.removeFirst()
            removedCount = 0
        }
        return removed
    }
}

extension Event {
    /// The weight of the event for the limit: 1, plus 1 per name in a list of names.
    fileprivate var weight: Int {
        1 + (control?.control.listCount ?? 0)
    }
}
