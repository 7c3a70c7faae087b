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
                let isTaken = state.withLock { state in
                    guard state.wishes.count < Self.capacity else { return false }
                    state.wishes.append(Wish(control: control, origin: origin, sink: sink, reply: reply))
                    return true
                }
                if isTaken {
                    waiting.add(1, ordering: .releasing)
                } else {
                    refusedCount.add(1, ordering: .relaxed)
                    reply?(.busy)
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
            defer { state = State() }
            return state
        }
        waiting.subtract(taken.wishes.count + taken.losses.count, ordering: .relaxed)
        return (taken.wishes, taken.losses)
    }
}
