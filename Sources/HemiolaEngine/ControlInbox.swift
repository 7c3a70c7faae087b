internal import Hemiola
internal import HemiolaSignal
internal import Synchronization

/// Where wishes from outside wait for the next batch: bounded, emptied once per batch by the analysis thread.
final class ControlInbox: Sendable {
    /// More wishes than this at once are answered `busy`.
    static let capacity = 256

    struct Wish: Sendable {
        var control: Control
        var origin: String
        /// Which sink's batch the answer waits for.
        var sink: Int
        var reply: (@Sendable (ControlReply) -> Void)?
    }

    private struct State {
        var wishes: [Wish] = []
        var losses: [Loss] = []
        var isClosed = false
    }

    /// What becomes of a wish when its turn comes.
    private enum Verdict {
        case taken, busy, closed
    }

    private let state = Mutex(State())
    /// How many wait, so that an empty inbox costs one atomic read a batch and no lock.
    private let waiting = Atomic<Int>(0)
    /// Wishes turned away because the inbox was full.
    let refusedCount = Atomic<Int>(0)

    /// The door for one sink.
    func port(forSink sink: Int) -> ControlPort {
        ControlPort(
            post: { [self] control, origin, reply in
                let verdict = state.withLock { state -> Verdict in
                    if state.isClosed { return .closed }
                    guard state.wishes.count < Self.capacity else { return .busy }
                    state.wishes.append(Wish(control: control, origin: origin, sink: sink, reply: reply))
                    return .taken
                }
                switch verdict {
                case .taken:
                    waiting.add(1, ordering: .releasing)
                case .busy:
                    refusedCount.add(1, ordering: .relaxed)
                    reply?(.busy)
                case .closed:
                    reply?(Self.tooLate)
                }
            },
            report: { [self] loss in
                state.withLock { $0.losses.append(loss) }
                waiting.add(1, ordering: .releasing)
            })
    }

    /// Whether `drain` would find anything.
    var isEmpty: Bool { waiting.load(ordering: .acquiring) == 0 }

    /// Takes all that waits, in the order it came.
    func drain() -> (wishes: [Wish], losses: [Loss]) {
        let taken = state.withLock { state in
            defer {
                state.wishes = []
                state.losses = []
            }
            return state
        }
        waiting.subtract(taken.wishes.count + taken.losses.count, ordering: .relaxed)
        return (taken.wishes, taken.losses)
    }

    /// The run is over: what still waits, and whatever comes, is refused.
    func close() {
        state.withLock { $0.isClosed = true }
        for wish in drain().wishes { wish.reply?(Self.tooLate) }
    }

    private static let tooLate = ControlReply.refused("the stream has ended")
}
