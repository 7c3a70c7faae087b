internal import Hemiola
internal import HemiolaSignal
internal import HemiolaSpectrum
internal import Synchronization

/// One run of a pipeline, on the analysis thread: opens each input, cuts it into streams, and drives `StreamAnalysis`.
final class PipelineRun {
    /// How a stream ended.
    private enum Ending {
        case over(StreamSummary.Reason)
        case failed(CaptureError)
        case newFormat(StreamFormat)
        case nobodyListens
    }

    /// Losses are told at most this often, in seconds of stream time.
    private static let lossInterval = 1.0

    private let pipeline: Pipeline
    private let isLive: Bool
    private let runners: [SinkRunner]
    private let inbox: ControlInbox
    private let replay: ControlReplay
    private let report: @Sendable (PipelineNotice) -> Void

    private var voices: [StreamAnalysis.Voice] = []
    private var directors: [any Director] = []
    private var outcome = RunOutcome()
    /// The last bank and what it was made for: files of one format share it.
    private var bank: (bank: SpectrumBank, requests: [SpectrumRequest], sampleRate: Int)?
    /// The input under way: its path as given.
    private var inputPath: String?
    private var nobodyListens = false
    /// Batches that each sink had lost, at the stream's start and when it was last told.
    private var lossesAtStart: [Int64] = []
    private var lossesTold: [Int64] = []
    private var lastLossTime = 0.0

    init(
        _ pipeline: Pipeline, isLive: Bool, runners: [SinkRunner], inbox: ControlInbox, replay: ControlReplay,
        report: @escaping @Sendable (PipelineNotice) -> Void
    ) {
        self.pipeline = pipeline
        self.isLive = isLive
        self.runners = runners
        self.inbox = inbox
        self.replay = replay
        self.report = report
    }

    func run(_ started: RunOutcome) -> RunOutcome {
        outcome = started
        guard makeParts() else {
            inbox.close()
            return outcome
        }
        for (index, input) in pipeline.inputs.enumerated() {
            if pipeline.shouldStop || nobodyListens { break }
            hear(input, index: index)
        }
        inbox.close()
        return outcome
    }

    private func makeParts() -> Bool {
        for part in pipeline.parts {
            guard let analyzer = try? part.make() else { preconditionFailure("\(part.name) was made before") }
            voices.append(
                StreamAnalysis.Voice(
                    name: part.name, analyzer: analyzer, controllable: analyzer as? any Controllable,
                    offline: pipeline.configuration.usesLookAhead ? analyzer as? any OfflineAnalyzer : nil))
        }
        for runner in runners {
            guard let sink = runner.sink as? any DirectingSink else { continue }
            do {
                directors.append(try sink.makeDirector())
            } catch {
                report(.sinkFailed(sink: runner.context.name, error))
                outcome.failedSinks += 1
                return false
            }
        }
        return true
    }

    // MARK: - Inputs

    private func hear(_ input: Pipeline.Input, index: Int) {
        guard let made = try? input.make() else { preconditionFailure("\(input.name) was made before") }
        inputPath = input.path
        let capture = pipeline.isPaced && !made.isLive ? PacedCapture(made) : made
        do throws(CaptureError) {
            var source = try capture.open(
                FormatWish(
                    sampleRate: pipeline.configuration.sampleRate, batchFrames: pipeline.batching.batchFrames,
                    isCancelled: { [pipeline] in pipeline.shouldStop }))
            defer { capture.close() }
            var isHeard = false
            while !isHeard {
                guard source.format.isSupported else { throw Self.unsupported(source) }
                pipeline.note(source, index: index)
                switch try hear(source, from: capture, base: made) {
                case .over, .nobodyListens: isHeard = true
                case .failed(let error): throw error
                case .newFormat(let format):
                    source.format = format
                    source.duration = nil
                }
            }
        } catch {
            if error.remedy == .finish { return }
            outcome.failedInputs += 1
            report(.captureFailed(input: input.name, error))
        }
    }

    private static func unsupported(_ source: StreamSource) -> CaptureError {
        let (rates, counts) = (StreamFormat.sampleRates, StreamFormat.channelCounts)
        return CaptureError(
            "\(source.name): \(source.format.sampleRate) Hz and \(source.format.channelCount) channels are outside "
                + "\(rates.lowerBound)...\(rates.upperBound) Hz and \(counts.lowerBound)...\(counts.upperBound) channels; convert it: "
                + "ffmpeg -i FILE -ar 48000 -ac 2 out.wav")
    }

    // MARK: - Streams

    private func hear(_ source: StreamSource, from capture: any Capture, base: any Capture) throws(CaptureError) -> Ending {
        let header: StreamHeader
        do {
            header = try prepare(source)
        } catch {
            outcome.failedInputs += 1
            report(.analyzerRefused(input: source.name, error))
            return .over(.error)
        }
        let stream = StreamAnalysis(
            header, voices: voices, directors: directors, bank: bank!.bank,
            batchesPerBlock: isLive || pipeline.isPaced ? 1 : BatchBlock.capacity,
            carriesSamples: pipeline.outlets.contains { $0.needs.samples },
            publish: { [self] in publish($0) })
        if voices.contains(where: { $0.offline != nil }) {
            try survey(stream, base)
        }
        for director in directors { director.prepare(header) }
        for runner in runners { runner.mailbox.put(.begin(header)) }
        outcome.streams += 1
        lossesAtStart = runners.map { $0.mailbox.droppedBatches.load(ordering: .relaxed) }
        lossesTold = lossesAtStart
        lastLossTime = 0
        script = replay.controls(for: source.name)[...]
        refusals = []

        let ending = drive(stream, capture)
        finish(stream, ending)
        return ending
    }

    /// Prepares the analyzers and makes the bank and the header.
    private func prepare(_ source: StreamSource) throws(AnalyzerError) -> StreamHeader {
        let format = AnalysisFormat(source.format, batching: pipeline.batching, seed: pipeline.configuration.seed)
        var requests: [SpectrumRequest] = []
        var width = 0
        var analyzers: [StreamHeader.Analyzer] = []
        for index in voices.indices {
            let outputs = try voices[index].analyzer.prepare(format)
            voices[index].requests = requests.count..<requests.count + outputs.spectra.count
            voices[index].columns = width..<width + outputs.width
            voices[index].hasEvents = !outputs.events.isEmpty
            requests += outputs.spectra
            width += outputs.width
            analyzers.append(pipeline.parts[index].header(outputs))
        }
        if bank?.requests != requests || bank?.sampleRate != source.format.sampleRate {
            bank = (
                SpectrumBank(requests, hopFrames: pipeline.batching.hopFrames, sampleRate: source.format.sampleRate),
                requests, source.format.sampleRate
            )
        }
        return StreamHeader(
            source: source, file: pipeline.inputs.count > 1 ? inputPath ?? source.name : nil, isLive: isLive, batching: pipeline.batching,
            seed: pipeline.configuration.seed, analyzers: analyzers)
    }

    /// The first of two passes, for the analyzers that look ahead.
    private func survey(_ stream: StreamAnalysis, _ capture: any Capture) throws(CaptureError) {
        guard let capture = capture as? any RewindableCapture else {
            throw CaptureError("this input cannot be heard twice, as looking ahead needs; analyse a file instead")
        }
        hearing: while !pipeline.shouldStop {
            switch try stream.survey(capture) {
            case .end: break hearing
            case .format:
                // Rewinding would lead back before the new format, into the stream that is over.
                throw CaptureError("this input changes its format, which looking ahead cannot follow; analyse it without")
            case .frames, .gap, .device, .idle: break
            }
        }
        try capture.rewind()
        stream.concludeSurvey()
    }

    private func drive(_ stream: StreamAnalysis, _ capture: any Capture) -> Ending {
        while true {
            if pipeline.shouldStop { return .over(.interrupted) }
            if nobodyListens { return .nobodyListens }
            if stream.isBetweenBatches { hearWorld(stream) }
            do throws(CaptureError) {
                switch try stream.advance(capture) {
                case .frames, .idle, .device:
                    break
                case .gap(let gap):
                    let duration = stream.header.format.seconds(at: gap.frames)
                    report(
                        .gap(
                            input: stream.header.source.name, at: stream.seconds - duration, duration: duration,
                            reason: gap.reason))
                case .format(let format):
                    return .newFormat(format)
                case .end:
                    return .over(.endOfInput)
                }
            } catch {
                return error.remedy == .finish ? .over(.endOfInput) : .failed(error)
            }
        }
    }

    private func publish(_ block: BatchBlock) {
        nobodyListens = !runners.isEmpty
        for index in runners.indices {
            let runner = runners[index]
            runner.mailbox.put(.block(block, replies: takeReplies(forSink: index)))
            if !runner.mailbox.hasNoReader { nobodyListens = false }
        }
        pipeline.note(frame: block[block.count - 1].endFrame)
    }

    private func finish(_ stream: StreamAnalysis, _ ending: Ending) {
        let late = stream.finish()
        let reason: StreamSummary.Reason =
            switch ending {
            case .over(let reason): reason
            case .failed: .error
            case .newFormat: .formatChange
            case .nobodyListens: .interrupted
            }
        let dropped = zip(runners, lossesAtStart).compactMap { runner, before -> (sink: String, batches: Int64)? in
            let count = runner.mailbox.droppedBatches.load(ordering: .relaxed) - before
            return count > 0 ? (runner.context.name, count) : nil
        }
        let sections = voices.compactMap { voice -> StreamSummary.Section? in
            guard let analyzer = voice.analyzer as? any SummarizingAnalyzer else { return nil }
            return StreamSummary.Section(analyzer: voice.name, values: analyzer.summary())
        }
        let summary = StreamSummary(
            frames: stream.clock, batches: stream.batchCount, nonFinite: stream.nonFinite, dropped: dropped,
            sections: sections, reason: reason, lateEvents: late)
        for runner in runners { runner.mailbox.put(.end(summary)) }
        answerRest()
        let name = stream.header.source.name
        if stream.nonFinite > 0 { report(.nonFinite(input: name, samples: stream.nonFinite)) }
        report(.finished(input: name, summary))
    }

    // MARK: - Controls

    /// Controls that are still to be replayed in this stream, by frame.
    private var script: ArraySlice<StampedControl> = []
    /// What was refused among them and told.
    private var refusals: Set<String> = []
    /// Answers that wait for the next block, by sink.
    private var replies: [Int: [Mailbox.Reply]] = [:]

    /// Once per batch: takes the wishes from the inbox and tells the losses.
    private func hearWorld(_ stream: StreamAnalysis) {
        if isLive { tellLosses(stream) }
        if !script.isEmpty { replay(into: stream) }
        if inbox.isEmpty { return }
        let (wishes, losses) = inbox.drain()
        for loss in losses { stream.tell(loss) }
        for wish in wishes {
            let answer = stream.obey(wish.control, from: wish.origin)
            if let reply = wish.reply { replies[wish.sink, default: []].append { reply(answer) } }
        }
    }

    /// Obeys what the script has for the batch that begins.
    private func replay(into stream: StreamAnalysis) {
        let end = stream.clock + Int64(pipeline.batching.batchFrames)
        while let control = script.first, control.frame < end {
            script.removeFirst()
            guard case .refused(let reason) = stream.obey(control.control, from: control.origin),
                refusals.insert(reason).inserted
            else { continue }
            report(.controlRefused(input: stream.header.source.name, control, reason: reason))
        }
    }

    private func tellLosses(_ stream: StreamAnalysis) {
        guard stream.seconds - lastLossTime >= Self.lossInterval else { return }
        lastLossTime = stream.seconds
        for (index, runner) in runners.enumerated() {
            let count = runner.mailbox.droppedBatches.load(ordering: .relaxed)
            guard count > lossesTold[index] else { continue }
            stream.tell(Loss(sink: runner.context.name, batches: Int(count - lossesTold[index])))
            lossesTold[index] = count
        }
    }

    private func takeReplies(forSink index: Int) -> [Mailbox.Reply] {
        replies.isEmpty ? [] : replies.removeValue(forKey: index) ?? []
    }

    /// Wishes that were obeyed and whose batch never came are answered all the same. Those that still wait are the next
    /// stream's, if there is one.
    private func answerRest() {
        for reply in replies.values.joined() { reply() }
        replies.removeAll()
    }
}
