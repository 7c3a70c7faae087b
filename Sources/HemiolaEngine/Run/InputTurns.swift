internal import Hemiola
internal import Synchronization

/// The turns in which several jobs pass their inputs to the same sinks, whole and in order.
///
/// What a job has of its input waits in a list, of two inputs for each job at most. Whichever job adds to a list passes on what has its turn,
/// unless another one does that already.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it, and the dispatcher only by the job that passes items on.
final class InputTurns: @unchecked Sendable {
    /// What waits of an input at most, in bytes: about twenty minutes of the default features.
    private static let capacity = 8 << 20

    /// What waits of an input.
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
    private var waiting: [Int: Waiting] = [:]
    /// Whether a job is passing on what waits of the current input.
    private var isPassingOn = false
    /// Whether any sink has a reader.
    private var hasReader = true
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

    /// Whether the inputs are analysed for anything.
    fileprivate var isRead: Bool { condition.locked { hasReader && !isOver } }

    /// Calls a function when an input has its turn.
    ///
    /// - Parameters:
    ///   - size: What waits with it, in bytes; 0: it never waits for room.
    ///   - isLast: Whether the input ends with it.
    fileprivate func perform(_ number: Int, size: Int = 0, isLast: Bool = false, _ action: @escaping () -> Void) {
        condition.lock()
        if number < current {
            // A notice of a thread that had not ended with its input.
            condition.unlock()
            return action()
        }
        while size > 0, !isOver, waiting[number]?.size ?? 0 >= Self.capacity { condition.wait() }
        waiting[number, default: Waiting()].actions.append(action)
        waiting[number]?.size += size
        if isLast { waiting[number]?.isFinished = true }
        passOn()
        condition.unlock()
    }

    /// Passes on what waits of the current input, and of the next ones up to one that is still being analysed. Called with the lock.
    private func passOn() {
        if isPassingOn { return }
        isPassingOn = true
        defer { isPassingOn = false }
        while !isOver, let next = waiting[current] {
            if !next.actions.isEmpty {
                waiting[current]?.actions = []
                condition.unlock()
                for action in next.actions { action() }
                condition.lock()
                hasReader = dispatcher.hasReader
                // What is being passed on still takes its room.
                waiting[current]?.size -= next.size
            } else if next.isFinished {
                waiting[current] = nil
                current += 1
                isOver = dispatcher.isOver
            } else {
                return
            }
            condition.broadcast()
        }
    }
}

/// Lets the streams of one input wait for its turn.
final class InputTurn: StreamReceiver, Sendable {
    private let turns: InputTurns
    private let number: Int

    fileprivate init(_ turns: InputTurns, _ number: Int) {
        self.turns = turns
        self.number = number
    }

    var hasReader: Bool { turns.isRead }
    var inTurn: @Sendable (@escaping @Sendable () -> Void) -> Void { { [turns, number] in turns.perform(number, $0) } }

    func receive(_ item: StreamItem) {
        var isLast = false
        if case .inputEnd = item { isLast = true }
        let size =
            switch item {
            // Of size 0 it would never wait.
            case .batches(let block): max(1, block.storage.byteCount + block.events.count * MemoryLayout<Event>.stride)
            case .events(let events): events.count * MemoryLayout<Event>.stride
            case .begin, .end, .inputEnd: 1
            }
        turns.perform(number, size: size, isLast: isLast) { [dispatcher = turns.dispatcher] in
            dispatcher.receive(item)
            dispatcher.refuseControls()
        }
    }

    /// Controls concern the stream that is being written, not one that is analysed ahead.
    func applyControls(to stream: any StreamProducer) -> Bool { false }
}
