internal import Hemiola
internal import Synchronization

/// Runs a pipeline on the analysis thread: its recording, or its inputs in order, analysed there one by one, or ahead of their turn on
/// several threads, which changes nothing in what the sinks see.
struct InputScheduler {
    let pipeline: Pipeline
    let dispatcher: SinkDispatcher
    let directors: [PipelineDirector]
    let replay: ControlReplay
    let report: @Sendable (PipelineNotice) -> Void

    /// - Returns: Whether every input was taken to its end, or as far as it could be read.
    func run() -> Bool {
        if let recording = pipeline.replay {
            return RecordingPlayer(pipeline, recording, directors: directors, to: dispatcher, report: report).play()
        }
        let inputs = InputSequence(pipeline)
        var jobCount = pipeline.mayRunAhead ? pipeline.configuration.jobCount : 1
        if pipeline.supply == nil { jobCount = min(jobCount, pipeline.inputs.count) }
        if jobCount > 1, let isDone = runAhead(jobCount, inputs) { return isDone }
        let job = AnalysisJob(pipeline, directors: directors, replay: replay, report: report)
        while !isOver, let input = inputs.next() {
            if !job.analyze(input, for: dispatcher) { return false }
        }
        return !isOver
    }

    private var isOver: Bool { pipeline.shouldStop || !dispatcher.hasReader }

    /// Analyses the inputs on several threads: as many of them as the system grants.
    ///
    /// - Returns: Whether every input was taken to its end; nil: there is no thread, and no input was taken.
    private func runAhead(_ jobCount: Int, _ inputs: InputSequence) -> Bool? {
        // Of the inputs that are analysed, or that wait for their turn.
        let queues = BoundedQueue<JobQueue>(capacity: 2 * jobCount - 1, .wait)
        var jobs: [WorkerThread<Void>] = []
        do throws(Problem) {
            while jobs.count < jobCount {
                let thread = try WorkerThread<Void>(for: "a job") { [pipeline, replay, report] in
                    let job = AnalysisJob(pipeline, replay: replay, report: report)
                    while let (input, queue) = inputs.next(into: queues) {
                        job.analyze(input, for: queue)
                        queue.finish()
                    }
                }
                jobs.append(thread)
            }
        } catch {
            report(.fewerJobs(max(1, jobs.count), of: jobCount, error))
            if jobs.isEmpty { return nil }
        }
        var current: JobQueue?
        defer {
            pipeline.supply?.source.cancel()
            for queue in queues.abandon() { queue.abandon() }
            current?.abandon()
            for job in jobs { job.join() }
        }
        while !isOver, let queue = queues.next() {
            current = queue
            if !passOn(queue) { return false }
        }
        return !isOver
    }

    /// - Returns: Whether the input was taken to its end, or failed.
    private func passOn(_ queue: JobQueue) -> Bool {
        var isDone = false
        while dispatcher.hasReader, let item = queue.next() {
            switch item {
            case .action(let action): action()
            case .item(let item):
                dispatcher.receive(item)
                if case .inputEnd(let completion) = item { isDone = !completion.end.wasInterrupted }
            }
            dispatcher.refuseControls()
        }
        return isDone
    }
}

/// The queue between a job that analyses an input ahead of its turn and the thread that passes the streams on.
typealias JobQueue = BoundedQueue<JobItem>

/// What a job passes on when the turn of its input has come.
enum JobItem: BoundedQueueElement {
    case item(StreamItem)
    /// Reports a notice.
    case action(@Sendable () -> Void)

    /// The approximate size in bytes.
    var size: Int {
        switch self {
        case .item(.batches(let block, _)): block.storage.byteCount
        case .item(.events(let events)): events.events.count * MemoryLayout<Event>.stride
        case .item, .action: 1
        }
    }

    /// The size of the batches that wait at most, in bytes: about twenty minutes of the default features.
    static let capacity = 8 << 20
}

extension JobQueue: BoundedQueueElement, StreamReceiver {
    var inTurn: @Sendable (@escaping @Sendable () -> Void) -> Void { { [self] in put(.action($0)) } }
    func receive(_ item: StreamItem) { put(.item(item)) }
    /// Controls concern the stream that is being written, not one that is analysed ahead.
    func applyControls(to stream: any ControllableStream) -> Bool { false }
}

/// The inputs of a pipeline in their order: those of its configuration, or those of its source.
private final class InputSequence: Sendable {
    private let pipeline: Pipeline
    /// The number of the next input, and whether all were taken.
    private let state = Mutex((next: 0, isAtEnd: false))

    init(_ pipeline: Pipeline) {
        self.pipeline = pipeline
    }

    /// The next input; nil at the end, or when the run was stopped. May block until an input arrives.
    func next() -> AnalysisJob.Assignment? { state.withLock { next(&$0) } }

    /// The next input and a new queue for it, which is added to the other queues in the same order. Waits until they have room.
    func next(into queues: BoundedQueue<JobQueue>) -> (AnalysisJob.Assignment, JobQueue)? {
        state.withLock { state in
            guard let input = next(&state) else {
                queues.finish()
                return nil
            }
            let queue = JobQueue(capacity: JobItem.capacity, .wait)
            return queues.put(queue) ? (input, queue) : nil
        }
    }

    private func next(_ state: inout (next: Int, isAtEnd: Bool)) -> AnalysisJob.Assignment? {
        let assignment = state.isAtEnd || pipeline.shouldStop ? nil : assignment(state.next)
        state.next += 1
        state.isAtEnd = assignment == nil
        return assignment
    }

    private func assignment(_ index: Int) -> AnalysisJob.Assignment? {
        guard let supply = pipeline.supply else {
            return index < pipeline.inputs.count ? AnalysisJob.Assignment(index: index, input: .success(pipeline.inputs[index])) : nil
        }
        guard let next = supply.source.next() else { return nil }
        let input = Result { () throws(Problem) in
            if let error = next.error { throw error }
            var input = try supply.makeInput(next.capture)
            (input.relativePath, input.fingerprint) = (next.relativePath, next.fingerprint)
            return input
        }
        return AnalysisJob.Assignment(index: index, input: input, source: next)
    }
}
