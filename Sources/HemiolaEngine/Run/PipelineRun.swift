internal import Hemiola
internal import HemiolaSystem

/// One run of a pipeline, on the analysis thread: its recording, or its inputs in order, analysed there one by one, or ahead of their turn on
/// several threads, which changes nothing in what the sinks see.
struct PipelineRun {
    let pipeline: Pipeline
    let dispatcher: SinkDispatcher
    let directors: [PipelineDirector]
    let replay: ControlReplay

    /// - Returns: Whether every input was taken to its end, or as far as it could be read.
    func run() -> Bool {
        if let replay = pipeline.replay {
            return RecordingRun(pipeline, replay, directors: directors).replay(for: dispatcher)
        }
        let jobCount = pipeline.singleJobReason == nil ? pipeline.configuration.jobCount : 1
        let inputs = InputSequence(pipeline)
        if jobCount > 1 && pipeline.hasSeveralInputs {
            return runAhead(pipeline.supply == nil ? min(jobCount, pipeline.inputs.count) : jobCount, inputs)
        }
        let work = InputRun(pipeline, directors: directors, replay: replay)
        while true {
            if isOver { return false }
            guard let input = inputs.next() else { return !isOver }
            dispatcher.isInputDone = false
            work.analyze(input, for: dispatcher)
            if !dispatcher.isInputDone { return false }
        }
    }

    private var isOver: Bool { pipeline.shouldStop || !dispatcher.hasReaders }

    private func runAhead(_ jobCount: Int, _ inputs: InputSequence) -> Bool {
        let queue = InputQueue(inputs, window: 2 * jobCount)
        for _ in 0..<jobCount {
            queue.startThread { [pipeline, replay] queue in
                let work = InputRun(pipeline, replay: replay)
                while let (input, queue) = queue.take() {
                    work.analyze(input, for: queue)
                    queue.finish()
                }
            }
        }
        defer { queue.close() }
        var turn = 0
        while true {
            if isOver { return false }
            guard let items = queue.queue(turn) else { return !isOver }
            dispatcher.isInputDone = false
            while dispatcher.hasReaders, let item = items.next() { passOn(item) }
            if !dispatcher.isInputDone { return false }
            turn += 1
        }
    }

    private func passOn(_ item: StreamItemQueue.Item) {
        switch item {
        case .source(let source, let input): dispatcher.open(source, input: input)
        case .begin(let header): dispatcher.begin(header)
        case .block(let block): dispatcher.receive(block)
        case .events(let events): dispatcher.receive(events)
        case .end(let summary): dispatcher.end(summary)
        case .inputEnd(let end, let source): dispatcher.end(end, of: source)
        case .notice(let notice): dispatcher.report(notice)
        case .failure(let notice): dispatcher.fail(notice)
        }
        dispatcher.refuseControls()
    }
}

/// The inputs of a pipeline in their order: those of its configuration, or those of its source. Used by one thread at a time.
///
/// `@unchecked Sendable`: the callers of `next` take turns.
private final class InputSequence: @unchecked Sendable {
    private let pipeline: Pipeline
    private var count = 0

    init(_ pipeline: Pipeline) {
        self.pipeline = pipeline
    }

    /// The next input; nil at the end, or when the run was stopped. May block.
    func next() -> InputRun.Assignment? {
        defer { count += 1 }
        guard let supply = pipeline.supply else {
            return count < pipeline.inputs.count ? InputRun.Assignment(index: count, input: .success(pipeline.inputs[count])) : nil
        }
        guard !pipeline.shouldStop, let next = supply.source.next() else { return nil }
        let input = Result { () throws(Problem) in
            if let error = next.error { throw error }
            var input = try supply.makeInput(next.capture)
            input.relativePath = next.relativePath
            return input
        }
        return InputRun.Assignment(index: count, input: input, source: next)
    }

    /// Ends a blocked `next`.
    func cancel() {
        pipeline.supply?.source.cancel()
    }
}

/// Assigns the inputs to threads that analyse them ahead, within a window, and keeps the queue of each.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it.
private final class InputQueue: @unchecked Sendable {
    private let condition = Condition()
    private let inputs: InputSequence
    /// Inputs that may be under way or wait for their turn.
    private let window: Int
    private var queues: [Int: StreamItemQueue] = [:]
    private var nextInput = 0
    /// The input whose streams are handed on.
    private var turn = 0
    private var threadCount = 0
    private var isClosed = false
    /// Whether a thread waits for the next input.
    private var isTaking = false
    /// Whether all inputs were taken.
    private var isAtEnd = false

    init(_ inputs: InputSequence, window: Int) {
        self.inputs = inputs
        self.window = window
    }

    func startThread(_ body: @escaping @Sendable (InputQueue) -> Void) {
        condition.locked { threadCount += 1 }
        HemiolaSystem.startThread { [self] in
            body(self)
            condition.locked { threadCount -= 1 }
            condition.broadcast()
        }
    }

    /// The next input to analyse; nil when there is none.
    func take() -> (input: InputRun.Assignment, queue: StreamItemQueue)? {
        condition.lock()
        while isTaking || nextInput >= turn + window, !isAtEnd, !isClosed { condition.wait() }
        guard !isAtEnd, !isClosed else {
            condition.unlock()
            return nil
        }
        isTaking = true
        condition.unlock()
        // Without the lock: the next input may arrive much later.
        let input = inputs.next()
        condition.lock()
        defer {
            isTaking = false
            condition.unlock()
            condition.broadcast()
        }
        guard let input, !isClosed else {
            isAtEnd = true
            return nil
        }
        let queue = StreamItemQueue()
        queues[nextInput] = queue
        nextInput += 1
        return (input, queue)
    }

    /// The queue of the input whose turn has come; waits until a thread has taken the input.
    ///
    /// - Returns: nil when there is no further input.
    func queue(_ index: Int) -> StreamItemQueue? {
        condition.lock()
        turn = index
        condition.broadcast()
        while queues[index] == nil, !isAtEnd { condition.wait() }
        let queue = queues[index]
        queues[index - 1] = nil
        condition.unlock()
        return queue
    }

    /// Stops the threads and waits for their end.
    func close() {
        condition.lock()
        isClosed = true
        for queue in queues.values { queue.abandon() }
        inputs.cancel()
        condition.broadcast()
        while threadCount > 0 { condition.wait() }
        condition.unlock()
    }
}
