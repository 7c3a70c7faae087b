internal import Hemiola
internal import HemiolaSignal

/// One run of a pipeline, on the analysis thread: its inputs in order, analysed there one by one, or ahead of their turn on
/// several threads, which changes nothing in what the sinks see.
struct PipelineRun {
    let pipeline: Pipeline
    let desk: SinkDesk
    let replay: ControlReplay

    /// - Returns: Whether every input was taken to its end, or as far as it could be read.
    func run() -> Bool {
        guard let directors = desk.makeDirectors() else { return false }
        let jobCount = pipeline.reasonForOneAtATime == nil ? pipeline.configuration.jobCount : 1
        if jobCount > 1 && pipeline.inputs.count > 1 {
            return runAhead(min(jobCount, pipeline.inputs.count))
        }
        let work = InputRun(pipeline, directors: directors, replay: replay)
        return pipeline.inputs.indices.allSatisfy { index in
            if isOver { return false }
            desk.isInputDone = false
            work.hear(index, for: desk)
            return desk.isInputDone
        }
    }

    private var isOver: Bool { pipeline.shouldStop || !desk.isHeard }

    private func runAhead(_ jobCount: Int) -> Bool {
        let queue = LaneQueue(inputCount: pipeline.inputs.count, window: 2 * jobCount)
        for _ in 0..<jobCount {
            queue.startThread { [pipeline, replay] queue in
                let work = InputRun(pipeline, replay: replay)
                while let (index, lane) = queue.take() {
                    work.hear(index, for: lane)
                    lane.finish()
                }
            }
        }
        defer { queue.close() }
        return pipeline.inputs.indices.allSatisfy { index in
            if isOver { return false }
            desk.isInputDone = false
            let lane = queue.lane(index)
            while desk.isHeard, let item = lane.next() { handOn(item) }
            return desk.isInputDone
        }
    }

    private func handOn(_ item: Lane.Item) {
        switch item {
        case .source(let source, let input): desk.open(source, input: input)
        case .begin(let header): desk.begin(header)
        case .block(let block): desk.receive(block)
        case .events(let events): desk.receive(events)
        case .end(let summary): desk.end(summary)
        case .notice(let notice): desk.report(notice)
        case .failure(let notice): desk.fail(notice)
        }
        desk.turnAway()
    }
}

/// Deals the inputs out to threads that analyse them ahead, not too far, and finds each one's lane again.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it.
private final class LaneQueue: @unchecked Sendable {
    private let condition = Condition()
    private let inputCount: Int
    /// Inputs that may be under way or wait for their turn.
    private let window: Int
    private var lanes: [Int: Lane] = [:]
    private var nextInput = 0
    /// The input whose streams are handed on.
    private var turn = 0
    private var threadCount = 0
    private var isClosed = false

    init(inputCount: Int, window: Int) {
        self.inputCount = inputCount
        self.window = window
    }

    func startThread(_ body: @escaping @Sendable (LaneQueue) -> Void) {
        condition.locked { threadCount += 1 }
        Hemiola.startThread { [self] in
            body(self)
            condition.locked { threadCount -= 1 }
            condition.broadcast()
        }
    }

    /// The next input to analyse; nil when there is none.
    func take() -> (index: Int, lane: Lane)? {
        condition.lock()
        while nextInput < inputCount && nextInput >= turn + window && !isClosed { condition.wait() }
        defer {
            condition.unlock()
            condition.broadcast()
        }
        guard nextInput < inputCount, !isClosed else { return nil }
        defer { nextInput += 1 }
        let lane = Lane()
        lanes[nextInput] = lane
        return (nextInput, lane)
    }

    /// The lane of the input whose turn has come; waits until somebody took it.
    func lane(_ index: Int) -> Lane {
        condition.lock()
        turn = index
        condition.broadcast()
        while lanes[index] == nil { condition.wait() }
        let lane = lanes[index]!
        lanes[index - 1] = nil
        condition.unlock()
        return lane
    }

    /// Nobody wants more: lets the threads go and waits for them.
    func close() {
        condition.lock()
        isClosed = true
        for lane in lanes.values { lane.abandon() }
        condition.broadcast()
        while threadCount > 0 { condition.wait() }
        condition.unlock()
    }
}
