internal import Hemiola
internal import Synchronization

/// The turns in which several jobs pass their inputs to the same sinks, whole and in order.
///
/// The job of the current input passes its streams on directly. Those of the next inputs wait: of two inputs for each job at most.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it, and the dispatcher only by the job that passes items on.
final class InputTurns: @unchecked Sendable {
    /// What waits of an input at most, in bytes: about twenty minutes of the default features.
    private static let capacity = 8 << 20

    /// What waits of an input that is not current.
    private struct Waiting {
        var actions: [() -> Void] = []
        /// In bytes.
        var size = 0
        var isFinished = false
    }

    fileprivate let dispatcher: SinkDispatcher
    private let mostInputs: Int
    /// The number of the next input; nil: all were taken.
    private let nextNumber = Mutex<Int?>(0)

    private let condition = Condition()
    private var current = 0
    /// Whether what has waited of the current input is still being passed on.
    private var isCatchingUp = false
    private var waiting: [Int: Waiting] = [:]
    /// Whether no further input has a turn.
    private var isOver = false

    init(_ dispatcher: SinkDispatcher, jobCount: Int) {
        self.dispatcher = dispatcher
        mostInputs = 2 * jobCount
    }

    /// The next input and its turn; nil at the end of the inputs, or of the run. Waits for room.
    func next(of pipeline: Pipeline) -> (input: Pipeline.Input, turn: InputTurn)? {
        nextNumber.withLock { next in
            guard let number = next else { return nil }
            let hasRoom = condition.locked {
                while number >= current + mostInputs, !isOver { condition.wait() }
                return !isOver
            }
            let input = hasRoom ? pipeline.nextInput() : nil
            next = input == nil ? nil : number + 1
            return input.map { ($0, InputTurn(self, number)) }
        }
    }

    /// Whether any sink has a reader, as far as the job of an input knows.
    fileprivate func hasReader(for number: Int) -> Bool {
        condition.locked { !isOver && (isAhead(number) || dispatcher.hasReader) }
    }

    /// Calls a function when an input has its turn.
    ///
    /// - Parameter size: What waits with it, in bytes; 0: it never waits for room.
    fileprivate func perform(_ number: Int, size: Int = 0, _ action: @escaping () -> Void) {
        condition.lock()
        while size > 0, isAhead(number), !isOver, waiting[number]?.size ?? 0 >= Self.capacity { condition.wait() }
        let mustWait = isAhead(number)
        if mustWait, !isOver {
            waiting[number, default: Waiting()].actions.append(action)
            waiting[number]?.size += size
        }
        condition.unlock()
        if !mustWait { action() }
    }

    /// Ends an input. The job of the current one passes on what waits of the next ones, up to one that is still being analysed.
    fileprivate func finish(_ number: Int) {
        condition.lock()
        if isAhead(number) { waiting[number, default: Waiting()].isFinished = true } else { while passOnNext() {} }
        condition.unlock()
        condition.broadcast()
    }

    /// Makes the next input the current one, unless the run is over. Called with the lock.
    ///
    /// - Returns: Whether all of it has waited, and was passed on.
    private func passOnNext() -> Bool {
        isOver = dispatcher.isOver
        if isOver { return false }
        current += 1
        isCatchingUp = true
        while let next = waiting[current], !next.actions.isEmpty {
            waiting[current]?.actions = []
            condition.unlock()
            condition.broadcast()
            for action in next.actions { action() }
            condition.lock()
            // What is being passed on still takes its room.
            waiting[current]?.size -= next.size
            condition.broadcast()
        }
        isCatchingUp = false
        return waiting.removeValue(forKey: current)?.isFinished ?? false
    }

    /// Whether an input does not, or not yet, pass its items on directly. Called with the lock.
    private func isAhead(_ number: Int) -> Bool { number > current || number == current && isCatchingUp }
}

/// Lets the streams of one input wait for its turn.
final class InputTurn: StreamReceiver, Sendable {
    private let turns: InputTurns
    private let number: Int

    fileprivate init(_ turns: InputTurns, _ number: Int) {
        self.turns = turns
        self.number = number
    }

    var hasReader: Bool { turns.hasReader(for: number) }
    var inTurn: @Sendable (@escaping @Sendable () -> Void) -> Void { { [turns, number] in turns.perform(number, $0) } }

    func receive(_ item: StreamItem) {
        let size =
            switch item {
            // Of size 0 it would never wait.
            case .batches(let block, _): max(1, block.storage.byteCount + block.events.count * MemoryLayout<Event>.stride)
            case .events(let events): events.events.count * MemoryLayout<Event>.stride
            case .begin, .end, .inputEnd: 1
            }
        turns.perform(number, size: size) { [dispatcher = turns.dispatcher] in
            dispatcher.receive(item)
            dispatcher.refuseControls()
        }
    }

    /// Controls concern the stream that is being written, not one that is analysed ahead.
    func applyControls(to stream: any StreamProducer) -> Bool { false }
    func finish() { turns.finish(number) }
}
