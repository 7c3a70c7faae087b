internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// An analyzer that is a program of its own, in the protocol of the analyzer `exec`: a crash of it is survived.
///
/// From a file, `process` sends a block and waits for its answer. In real time a thread does that, and `process` only exchanges values
/// with it: a lock for the time of a copy. Unlike other analyzers it allocates memory in `process`.
final class BlockAnalyzer: ExternalAnalyzer {
    private let program: BlockProgram
    private var context: AnalyzerContext
    private var format = AnalysisFormat(StreamFormat(sampleRate: 1, channelCount: 1))
    private var exchange: (any BlockExchange)?
    private var block: [UInt8] = []
    /// Blocks that were lost and not reported yet, and the time of the last report in seconds of the stream.
    private var lostCount = 0
    private var lossTime = -1.0
    /// The end of the last hop, in seconds of the stream.
    private var time = 0.0

    /// Seconds between two reports of lost blocks.
    private static let lossInterval = 1.0

    /// An analyzer; starts nothing.
    init(_ program: BlockProgram) {
        self.program = program
        context = AnalyzerContext(name: program.name)
    }

    var failure: Problem? {
        exchange?.failure.map { Problem($0.isComplete ? $0.message : "\(program.name): \($0.message)") }
    }

    var warning: String? { exchange?.warning }

    func load() throws(Problem) {
        guard program.isHemiola else { return }
        do { try ProgramSession.check(program) } catch { throw explained(error) }
    }

    func open(_ context: AnalyzerContext) {
        self.context = context
    }

    func close() {
        exchange?.stop()
        exchange = nil
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        close()
        format = stream
        let exchange: any BlockExchange
        do { exchange = try makeExchange() } catch { throw explained(error) }
        self.exchange = exchange
        block = [UInt8](repeating: 0, count: program.blockSize(stream, inHops: exchange.outputs.readsHops))
        (lostCount, lossTime, time) = (0, -1, 0)
        var declared = exchange.outputs.declared
        if context.isLive { declared.latencyFrames += Int64(stream.hopFrames) }
        return declared
    }

    private func explained(_ problem: Problem) -> Problem {
        guard problem.isComplete else { return Problem("\(program.name): \(problem.message); \(program.remedy)") }
        // The pipeline adds which analyzer it is.
        return Problem(problem.message)
    }

    private func makeExchange() throws(Problem) -> any BlockExchange {
        let name = program.name
        let starter = BlockStarter(
            program: program, format: format, isLive: context.isLive, clock: context.clock,
            warn: { [warn = context.warn] in warn("\(name): \($0)") }, isCancelled: context.isCancelled)
        if context.isLive { return try ParallelExchange(starter) }
        return try WaitingExchange(starter)
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        guard let exchange else { return }
        program.encode(hop, inHops: exchange.outputs.readsHops, into: &block)
        exchange.send(block, at: hop.frame)
        let values = exchange.values
        let all = FeatureHandle(offset: 0, count: values.count)
        for index in values.indices { row[all, index] = values[index] }
        for event in exchange.takeEvents() { events.append(event) }
        lostCount += exchange.takeLosses()
        time = format.format.seconds(at: hop.frame + Int64(hop.frameCount))
        if time - lossTime >= Self.lossInterval { reportLosses(into: &events) }
    }

    private func reportLosses(into events: inout EventList) {
        guard lostCount > 0 else { return }
        events.append(DropReport(sink: context.name, batches: lostCount), at: time)
        (lostCount, lossTime) = (0, time)
    }

    func finish(into events: inout EventList) {
        guard let exchange else { return }
        exchange.finish()
        for event in exchange.takeEvents() { events.append(event) }
        lostCount += exchange.takeLosses()
        reportLosses(into: &events)
    }
}
