internal import Hemiola
internal import Synchronization

/// Lets several jobs pass their inputs to the same sinks, whole and in order.
///
/// One input has its turn: its job passes the streams on directly. Those of the next inputs wait, at most `capacity` bytes of each of two inputs
/// for every job. A job with more waits for its turn.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it, and the dispatcher only by the job that has or passes on the turn.
final class InputTurns: @unchecked Sendable {
    /// What waits of an input at most, in bytes: about twenty minutes of the default features.
    private static let capacity = 8 << 20

    private struct Waiting {
        var actions: [() -> Void] = []
        var size = 0
    }

    private let dispatcher: SinkDispatcher
    /// How many inputs are analysed or wait at most.
    private let inputLimit: Int
    /// The number of the next input, and whether all were taken.
    private let taken = Mutex((next: 0, isAtEnd: false))

    private let condition = Condition()
    /// The number of the input that has its turn.
    private var current = 0
    /// Whether what has waited of it is still being passed on.
    private var isCatchingUp = false
    private var waiting: [Int: Waiting] = [:]
    /// Inputs that are analysed, and wait for their turn.
    private var finished: Set<Int> = []
    /// Whether no further input has a turn.
    private var isOver = false

    init(_ dispatcher: SinkDispatcher, jobCount: Int) {
        self.dispatcher = dispatcher
        inputLimit = 2 * jobCount
    }

    /// The next input and its turn; nil at the end of the inputs, or of the run. Waits for room.
    func next(of pipeline: Pipeline) -> (input: Pipeline.Input, turn: InputTurn)? {
        taken.withLock { taken in
            let isOver = condition.locked {
                while taken.next >= current + inputLimit, !self.isOver { condition.wait() }
                return self.isOver
            }
            guard !isOver, !taken.isAtEnd, let input = pipeline.nextInput() else {
                taken.isAtEnd = true
                return nil
            }
            defer { taken.next += 1 }
            return (input, InputTurn(self, taken.next))
        }
    }

    /// Whether any sink still has a reader, as far as the job of an input knows.
    fileprivate func hasReader(for number: Int) -> Bool {
        condition.locked { !isOver && (isAhead(number) || dispatcher.hasReader) }
    }

    /// Passes an item of an input on, or lets it wait.
    fileprivate func pass(_ item: StreamItem, of number: Int) {
        perform(number, size: item.memorySize) { [dispatcher] in
            dispatcher.receive(item)
            dispatcher.refuseControls()
        }
    }

    /// Calls a function when an input has its turn.
    ///
    /// - Parameter size: What waits with it, in bytes; 0: it never waits for room.
    fileprivate func perform(_ number: Int, size: Int = 0, _ action: @escaping () -> Void) {
        condition.lock()
        if size > 0 { while isAhead(number), !isOver, waiting[number]?.size ?? 0 >= Self.capacity { condition.wait() } }
        let mustWait = isAhead(number)
        if mustWait, !isOver {
            waiting[number, default: Waiting()].actions.append(action)
            waiting[number]?.size += size
        }
        condition.unlock()
        if !mustWait { action() }
    }

    /// Ends an input. The job whose input has the turn passes on what waits of the next ones, up to one that is still being analysed.
    fileprivate func finish(_ number: Int) {
        condition.lock()
        finished.insert(number)
        if !isAhead(number) {
            while finished.remove(current) != nil, !isOver {
                isOver = dispatcher.isOver
                if !isOver { passOnNext() }
            }
        }
        condition.unlock()
        condition.broadcast()
    }

    /// Gives the next input its turn. Called with the lock.
    private func passOnNext() {
        current += 1
        isCatchingUp = true
        while let next = waiting.removeValue(forKey: current) {
            condition.unlock()
            condition.broadcast()
            for action in next.actions { action() }
            condition.lock()
        }
        isCatchingUp = false
    }

    /// Whether it is not, or not yet, the turn of an input. Called with the lock.
    private func isAhead(_ number: Int) -> Bool { number > current || number == current && isCatchingUp }
}

/// The turn of one input, which its streams wait for.
final class InputTurn: StreamReceiver, Sendable {
    private let turns: InputTurns
    private let number: Int

    fileprivate init(_ turns: InputTurns, _ number: Int) {
        self.turns = turns
        self.number = number
    }

    var hasReader: Bool { turns.hasReader(for: number) }
    var inTurn: @Sendable (@escaping @Sendable () -> Void) -> Void { { [turns, number] in turns.perform(number, $0) } }

    func receive(_ item: StreamItem) { turns.pass(item, of: number) }
    /// Controls concern the stream that is being written, not one that is analysed ahead.
    func applyControls(to stream: any ControllableStream) -> Bool { false }
    /// Ends the input.
    func finish() { turns.finish(number) }
}

extension StreamItem {
    /// The approximate size in bytes.
    fileprivate var memorySize: Int {
        switch self {
        case .batches(let block, _): block.storage.byteCount
        case .events(let events): events.events.count * MemoryLayout<Event>.stride
        case .begin, .end, .inputEnd: 1
        }
    }
}
