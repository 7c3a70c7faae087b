internal import Hemiola
internal import HemiolaSignal

/// One run of a pipeline, on the analysis thread: its recording, or its inputs in order, analysed there one by one, or ahead of their turn on
/// several threads, which changes nothing in what the sinks see.
struct PipelineRun {
    let pipeline: Pipeline
    let dispatcher: SinkDispatcher
    let replay: ControlReplay

    /// - Returns: Whether every input was taken to its end, or as far as it could be read.
    func run() -> Bool {
        guard let directors = dispatcher.makeDirectors() else { return false }
        if let replay = pipeline.replay {
            return RecordingRun(pipeline, replay, directors: directors).replay(for: dispatcher)
        }
        let jobCount = pipeline.singleJobReason == nil ? pipeline.configuration.jobCount : 1
        if jobCount > 1 && pipeline.inputs.count > 1 {
            return runAhead(min(jobCount, pipeline.inputs.count))
        }
        let work = InputRun(pipeline, directors: directors, replay: replay)
        return pipeline.inputs.indices.allSatisfy { index in
            if isOver { return false }
            dispatcher.isInputDone = false
            work.analyze(index, for: dispatcher)
            return dispatcher.isInputDone
        }
    }

    private var isOver: Bool { pipeline.shouldStop || !dispatcher.hasReaders }

    private func runAhead(_ jobCount: Int) -> Bool {
        let queue = InputQueue(inputCount: pipeline.inputs.count, window: 2 * jobCount)
        for _ in 0..<jobCount {
            queue.startThread { [pipeline, replay] queue in
                let work = InputRun(pipeline, replay: replay)
                while let (index, queue) = queue.take() {
                    work.analyze(index, for: queue)
                    queue.finish()
                }
            }
        }
        defer { queue.close() }
        return pipeline.inputs.indices.allSatisfy { index in
            if isOver { return false }
            dispatcher.isInputDone = false
            let queue = queue.queue(index)
            while dispatcher.hasReaders, let item = queue.next() { passOn(item) }
            return dispatcher.isInputDone
        }
    }

    private func passOn(_ item: StreamItemQueue.Item) {
        switch item {
        case .source(let source, let input): dispatcher.open(source, input: input)
        case .begin(let header): dispatcher.begin(header)
        case .block(let block): dispatcher.receive(block)
        case .events(let events): dispatcher.receive(events)
        case .end(let summary): dispatcher.end(summary)
        case .notice(let notice): dispatcher.report(notice)
        case .failure(let notice): dispatcher.fail(notice)
        }
        dispatcher.refuseControls()
    }
}

/// Assigns the inputs to threads that analyse them ahead, within a window, and keeps the queue of each.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it.
private final class InputQueue: @unchecked Sendable {
    private let condition = Condition()
    private let inputCount: Int
    /// Inputs that may be under way or wait for their turn.
    private let window: Int
    private var queues: [Int: StreamItemQueue] = [:]
    private var nextInput = 0
    /// The input whose streams are handed on.
    private var turn = 0
    private var threadCount = 0
    private var isClosed = false

    init(inputCount: Int, window: Int) {
        self.inputCount = inputCount
        self.window = window
    }

    func startThread(_ body: @escaping @Sendable (InputQueue) -> Void) {
        condition.locked { threadCount += 1 }
        Hemiola.startThread { [self] in
            body(self)
            condition.locked { threadCount -= 1 }
            condition.broadcast()
        }
    }

    /// The next input to analyse; nil when there is none.
    func take() -> (index: Int, queue: StreamItemQueue)? {
        condition.lock()
        while nextInput < inputCount && nextInput >= turn + window && !isClosed { condition.wait() }
        defer {
            condition.unlock()
            condition.broadcast()
        }
        guard nextInput < inputCount, !isClosed else { return nil }
        defer { nextInput += 1 }
        let queue = StreamItemQueue()
        queues[nextInput] = queue
        return (nextInput, queue)
    }

    /// The queue of the input whose turn has come; waits until a thread has taken the input.
    func queue(_ index: Int) -> StreamItemQueue {
        condition.lock()
        turn = index
        condition.broadcast()
        while queues[index] == nil { condition.wait() }
        let queue = queues[index]!
        queues[index - 1] = nil
        condition.unlock()
        return queue
    }

    /// Stops the threads and waits for their end.
    func close() {
        condition.lock()
        isClosed = true
        for queue in queues.values { queue.abandon() }
        condition.broadcast()
        while threadCount > 0 { condition.wait() }
        condition.unlock()
    }
}
