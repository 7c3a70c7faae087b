internal import Hemiola

/// Analyses inputs one after another, on one thread, with analyzers of its own that it keeps from one input to the next.
final class AnalysisJob {
    let pipeline: Pipeline
    let directors: [PipelineDirector]
    let replay: ControlReplay
    private let report: @Sendable (PipelineNotice) -> Void

    private let slots: [AnalyzerSlot]
    /// Why the analyzers cannot be made: every input fails; nil: they were made.
    let fault: Problem?
    /// The analyzers that use something outside of this process; usually none.
    let externals: [(name: String, analyzer: any ExternalAnalyzer, isSkippable: Bool)]
    /// The last bank with its requests and sample rate: files of one format share it.
    private var bank: (bank: SpectrumBank, requests: [SpectrumRequest], sampleRate: Int)?

    init(
        _ pipeline: Pipeline, directors: [PipelineDirector] = [], replay: ControlReplay,
        report: @escaping @Sendable (PipelineNotice) -> Void
    ) {
        self.pipeline = pipeline
        self.directors = directors
        self.replay = replay
        self.report = report
        var slots: [AnalyzerSlot] = []
        var fault: Problem?
        do {
            for entry in pipeline.analyzerEntries {
                slots.append(AnalyzerSlot(entry, try entry.analyzer.take()))
            }
        } catch {
            fault = error
        }
        self.slots = slots
        self.fault = fault
        externals = zip(slots, pipeline.analyzerEntries).compactMap { slot, entry in
            (slot.analyzer as? any ExternalAnalyzer).map { (slot.name, $0, entry.policy == .skip) }
        }
    }

    /// Analyses an input to its end and passes its streams and its end to the receiver.
    func analyze(_ input: Pipeline.Input, for receiver: any StreamReceiver) {
        let report: @Sendable (PipelineNotice) -> Void = { [report, inTurn = receiver.inTurn] notice in inTurn { report(notice) } }
        var analysis = InputAnalysis(input, of: self, for: receiver, report: report)
        let end = analysis.run()
        let completion = InputCompletion(end, isSkippable: input.policy == .skip, sinks: pipeline.sinkEntries.count) {
            [pipeline] written in
            if end.error == nil, written.error != nil { pipeline.noteLostResult() }
            pipeline.supply?.source.inputEnded(input.given, written)
        }
        receiver.receive(.inputEnd(completion))
    }

    /// The analyzers and the spectra of one stream, and its header. An analyzer that refuses the stream and is skipped is not among them.
    struct Preparation {
        var header: StreamHeader
        var slots: [AnalyzerSlot]
        var bank: SpectrumBank

        /// Whether there is an analyzer that looks ahead.
        var looksAhead: Bool { slots.contains { $0.offline != nil } }

        /// Lets the analyzers that have looked ahead start over without that.
        mutating func giveUpLookAhead() throws(Problem) {
            let format = AnalysisFormat(header.format, batching: header.batching, seed: header.seed)
            for index in slots.indices where slots[index].offline != nil {
                _ = try slots[index].analyzer.prepare(format)
                slots[index].offline = nil
                header.analyzers[index].outputs.isCausal = true
            }
        }
    }

    /// Prepares the analyzers for a stream.
    ///
    /// - Parameter looksAhead: Whether analyzers may look ahead. Those of which no sink receives anything do not.
    func prepare(
        _ source: StreamSource, of input: Pipeline.Input, looksAhead: Bool, report: @Sendable (PipelineNotice) -> Void
    ) throws(Problem) -> Preparation {
        let format = AnalysisFormat(source.format, batching: pipeline.batching, seed: pipeline.seed)
        var requests: [SpectrumRequest] = []
        var width = 0
        var analyzers: [StreamHeader.Analyzer] = []
        var active: [AnalyzerSlot] = []
        for (entry, var slot) in zip(pipeline.analyzerEntries, slots) {
            var outputs: AnalyzerOutputs
            do {
                outputs = try slot.analyzer.prepare(format)
            } catch {
                guard entry.policy == .skip else { throw error }
                report(.warning("\(error.message(about: source.name)); analysed without \(entry.name)"))
                continue
            }
            slot.requests = requests.count..<requests.count + outputs.spectra.count
            slot.columns = width..<width + outputs.width
            slot.hasEvents = !outputs.events.isEmpty
            slot.offline = looksAhead && pipeline.delivers(outputs, of: entry.name) ? slot.analyzer as? any OfflineAnalyzer : nil
            if slot.offline != nil { outputs.isCausal = false }
            requests += outputs.spectra
            width += outputs.width
            analyzers.append(entry.header(outputs))
            active.append(slot)
        }
        let path = pipeline.namesFiles ? input.path ?? source.name : nil
        var header = StreamHeader(
            source: source, file: path.map(PathText.shown), fileBytes: path.flatMap(PathText.nonUTF8Bytes), isLive: pipeline.isLive,
            batching: pipeline.batching, seed: pipeline.seed, analyzers: analyzers, catalog: pipeline.catalog)
        header.relativePath = input.given.relativePath
        header.fingerprint = input.given.fingerprint
        return Preparation(header: header, slots: active, bank: bank(requests, sampleRate: source.format.sampleRate))
    }

    private func bank(_ requests: [SpectrumRequest], sampleRate: Int) -> SpectrumBank {
        if let bank, bank.requests == requests, bank.sampleRate == sampleRate { return bank.bank }
        let new = SpectrumBank(requests, hopFrames: pipeline.batching.hopFrames, sampleRate: sampleRate)
        bank = (new, requests, sampleRate)
        return new
    }
}

/// An analyzer of a job, with its declarations for one stream.
struct AnalyzerSlot {
    let name: String
    let analyzer: any Analyzer
    /// The handler of its controls, and their names; nil when its plugin declares none.
    let handler: (any ControlHandler)?
    let controls: Set<String>
    /// The analyzer, if it looks ahead in this stream.
    var offline: (any OfflineAnalyzer)?
    /// Its requests among all of the bank's.
    var requests: Range<Int> = 0..<0
    /// Its columns of the row.
    var columns: Range<Int> = 0..<0
    /// Whether it has event outputs, so that its name must be set in the event list.
    var hasEvents = false

    init(_ entry: Pipeline.AnalyzerEntry, _ analyzer: any Analyzer) {
        name = entry.name
        self.analyzer = analyzer
        controls = Set(entry.about.controls.map(\.name))
        // A cast searches all conformances of the program, which takes longer than a batch.
        handler = controls.isEmpty ? nil : analyzer as? any ControlHandler
    }
}
