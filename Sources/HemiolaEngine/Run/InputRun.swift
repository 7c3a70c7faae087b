internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// Analyses inputs one after another: opens each, divides it into streams, and calls `StreamAnalysis`. Used by one thread.
final class InputRun {
    /// How a stream ended.
    private enum Ending {
        case over(StreamSummary.Reason)
        case failed(Problem)
        case newSource(StreamSource)
        case noReaders
    }

    /// An input to analyse.
    struct Assignment: Sendable {
        /// Its place in the order of the run, 0….
        var index: Int
        /// The input; a failure: it cannot be analysed.
        var input: Result<Pipeline.Input, Problem>
        /// As the source of the pipeline supplied it; nil: the pipeline has no source.
        var source: SourceInput?
    }

    private let pipeline: Pipeline
    private let directors: [PipelineDirector]
    private let replay: ControlReplay

    private var slots: [StreamAnalysis.AnalyzerSlot]
    /// Why the analyzers of this job cannot be made: every input fails; nil: they were made.
    private let analyzerFault: Problem?
    /// Those that analyse the current stream: all but the ones that have refused it and are skipped.
    private var active: [StreamAnalysis.AnalyzerSlot] = []
    /// The analyzers that use something outside of this process; usually none.
    private let externals: [(name: String, analyzer: any ExternalAnalyzer, isSkippable: Bool)]
    /// The external analyzers whose failure in the current input was reported, because the input is analysed without them.
    private var skippedExternals: Set<String> = []
    /// Whether a failure of the current input does not count.
    private var isSkippable = false
    /// The last bank with its requests and sample rate: files of one format share it.
    private var bank: (bank: SpectrumBank, requests: [SpectrumRequest], sampleRate: Int)?
    /// The path of the current input, as given.
    private var inputPath: String?
    /// The name and the description of the device from which the input comes now; those of the header are of the stream's beginning.
    private var deviceName: String?
    private var deviceSummary: String?
    /// Whether a notice said that the channels of the current input have opposite polarity.
    private var isPolarityReported = false
    /// Measures silence over all streams of the input; nil for a file.
    private var silence: SilenceDetector?
    /// Seconds of the input's earlier streams: notices count from the input's start.
    private var secondsBefore = 0.0
    /// The remaining controls to replay in this stream, by frame.
    private var script: ArraySlice<StampedControl> = []
    /// Missing and damaged parts of the current file, which are reported at its end, in one line.
    private var damage: FileDamage?
    /// The reasons of refusals that have been reported.
    private var refusals: Set<String> = []
    /// The path of the current input below the folder that is analysed; nil: there is no such folder.
    private var relativePath: String?
    /// Streams of the current input that were begun.
    private var streamCount = 0
    /// Why the current input failed, or was incomplete or damaged; nil: it did not.
    private var error: String?
    /// Whether the current input was taken to its end.
    private var isAtEnd = false

    init(_ pipeline: Pipeline, directors: [PipelineDirector] = [], replay: ControlReplay) {
        self.pipeline = pipeline
        self.directors = directors
        self.replay = replay
        var slots: [StreamAnalysis.AnalyzerSlot] = []
        var fault: Problem?
        do throws(Problem) {
            for entry in pipeline.analyzerEntries {
                let analyzer = try entry.analyzer.take()
                slots.append(
                    StreamAnalysis.AnalyzerSlot(
                        name: entry.name, analyzer: analyzer,
                        // A cast searches all conformances of the program, which takes longer than a batch.
                        handler: entry.about.controls.isEmpty ? nil : analyzer as? any ControlHandler,
                        controls: Set(entry.about.controls.map(\.name)),
                        offline: pipeline.configuration.usesLookAhead ? analyzer as? any OfflineAnalyzer : nil))
            }
        } catch {
            fault = error
        }
        self.slots = slots
        analyzerFault = fault
        externals = zip(slots, pipeline.analyzerEntries).compactMap { slot, entry in
            (slot.analyzer as? any ExternalAnalyzer).map { (slot.name, $0, entry.policy.onError == .skip) }
        }
    }

    /// Analyses an input to its end and passes its streams and its end to the receiver.
    func analyze(_ assignment: Assignment, for receiver: any StreamReceiver) {
        (streamCount, error, isAtEnd, isSkippable) = (0, nil, false, false)
        skippedExternals = []
        let path: String
        switch assignment.input {
        case .success(let input):
            path = input.path ?? input.name
            relativePath = input.relativePath
            analyze(input, assignment.index, for: receiver)
        case .failure(let error):
            path = assignment.source?.capture.primary?.text ?? ""
            fail(.captureFailed(input: PathText.shown(path), error), of: PathText.shown(path), for: receiver)
        }
        receiver.end(
            InputEnd(
                file: PathText.shown(path), fileBytes: PathText.nonUTF8Bytes(of: path), error: error, streamCount: streamCount,
                wasInterrupted: error == nil && !isAtEnd),
            of: assignment.source)
    }

    /// Reports that the input failed or was incomplete.
    private func fail(_ notice: PipelineNotice, of name: String, for receiver: any StreamReceiver) {
        error = notice.text
        receiver.fail(isSkippable ? .inputSkipped(input: name, reason: notice.text) : notice)
    }

    private func analyze(_ input: Pipeline.Input, _ index: Int, for receiver: any StreamReceiver) {
        isSkippable = input.policy.onError == .skip
        inputPath = input.path
        (deviceName, deviceSummary) = (nil, nil)
        isPolarityReported = false
        silence = pipeline.isLive ? SilenceDetector() : nil
        secondsBefore = 0
        do throws(Problem) {
            if let analyzerFault { throw analyzerFault }
            let (made, capture, first) = try open(input, for: receiver)
            var source = first
            defer { capture.close() }
            openExternals(input, for: receiver)
            defer { for external in externals { external.analyzer.close() } }
            var isOver = false
            while !isOver {
                guard source.format.isSupported else { throw Self.unsupported(source) }
                receiver.open(source, input: index)
                switch try analyze(source, from: capture, base: made, for: receiver) {
                case .over, .noReaders: isOver = true
                case .failed(let error): throw error
                case .newSource(let new): source = new
                }
            }
        } catch {
            if error.remedy == .finish { return }
            fail(.captureFailed(input: input.name, error), of: input.name, for: receiver)
        }
    }

    /// Opens the capture of an input, where the policy is `retry` until it succeeds: live without end, a file at most ten times.
    private func open(
        _ input: Pipeline.Input, for receiver: any StreamReceiver
    ) throws(Problem) -> (made: any Capture, capture: any Capture, source: StreamSource) {
        var attempts = 0
        while true {
            let made = try input.capture.take()
            let capture = pipeline.isPaced && !made.isLive ? PacedCapture(made) : made
            do throws(Problem) {
                let rate = pipeline.configuration.sampleRate
                let source = try capture.open(
                    FormatRequest(
                        sampleRate: rate == 0 ? nil : rate, followsDeviceRate: rate == 0,
                        batchFrames: pipeline.batching.batchFrames, isCancelled: { [pipeline] in pipeline.shouldStop },
                        warn: { [reporter = receiver.reporter] in reporter(.captureWarning(input: input.name, $0)) }))
                return (made, capture, source)
            } catch {
                let mayRetry = input.policy.onError == .retry && !input.policy.isOfPlugin && error.remedy != .finish
                guard mayRetry, made.isLive || attempts < Self.openAttempts, !pipeline.shouldStop else { throw error }
                attempts += 1
                if attempts == 1 { receiver.report(.captureTrouble(input: input.name, error)) }
                pause(for: RetryDelay.seconds(after: attempts))
                if pipeline.shouldStop { throw error }
            }
        }
    }

    /// Attempts to open a file after the first, in 17 s.
    private static let openAttempts = 10

    /// Waits, or until the run is to end.
    private func pause(for seconds: Double) {
        // Steps of 0.1 s, after which the run's end is noticed.
        for _ in 0..<Int((seconds * 10).rounded(.up)) where !pipeline.shouldStop {
            pipeline.noteActivity()
            MonotonicTime.sleep(for: 0.1)
        }
    }

    private func openExternals(_ input: Pipeline.Input, for receiver: any StreamReceiver) {
        for external in externals {
            external.analyzer.open(
                AnalyzerContext(
                    name: external.name, isLive: pipeline.isLive || pipeline.isPaced,
                    warn: { [reporter = receiver.reporter] in reporter(.captureWarning(input: input.name, $0)) },
                    isCancelled: { [pipeline] in pipeline.shouldStop }))
        }
    }

    /// The failure of an analyzer, as an error of the input. One that is skipped is reported once; its values are null.
    private func externalFailure(_ stream: StreamAnalysis, for receiver: any StreamReceiver) -> Problem? {
        for external in externals {
            guard let failure = external.analyzer.failure else { continue }
            guard external.isSkippable else { return Problem(failure.message) }
            if skippedExternals.insert(external.name).inserted {
                receiver.report(.analyzerSkipped(input: stream.header.source.name, analyzer: external.name, failure))
            }
        }
        return nil
    }

    private static func unsupported(_ source: StreamSource) -> Problem {
        let (rates, counts) = (StreamFormat.sampleRates, StreamFormat.channelCounts)
        return Problem(
            "\(source.name): \(source.format.sampleRate) Hz and \(source.format.channelCount) channels are outside "
                + "\(rates.lowerBound)...\(rates.upperBound) Hz and \(counts.lowerBound)...\(counts.upperBound) channels; convert it: "
                + "ffmpeg -i FILE -ar 48000 -ac 2 out.wav")
    }

    // MARK: - Streams

    private func analyze(
        _ source: StreamSource, from capture: any Capture, base: any Capture, for receiver: any StreamReceiver
    ) throws(Problem) -> Ending {
        let header: StreamHeader
        do {
            header = try prepare(source, for: receiver)
        } catch {
            fail(.analyzerRefused(input: source.name, error), of: source.name, for: receiver)
            return .over(.error)
        }
        let stream = StreamAnalysis(
            header, slots: active, directors: directors, bank: bank!.bank,
            batchesPerBlock: pipeline.isLive || pipeline.isPaced ? 1 : BatchBlock.capacity,
            carriesSamples: pipeline.sinkEntries.contains { $0.needs.samples }, silence: silence,
            publish: { receiver.receive($0) })
        if active.contains(where: { $0.offline != nil }) {
            try analyzeFirstPass(stream, base)
        }
        for director in directors { director.director.prepare(header) }
        receiver.begin(header)
        streamCount += 1
        script = replay.controls(for: source.name)[...]
        deviceName = nil
        refusals = []
        damage = nil

        let ending = finish(stream, drive(stream, capture, for: receiver), for: receiver)
        silence = stream.silence
        secondsBefore += stream.seconds
        return ending
    }

    /// Prepares the analyzers and makes the bank and the header.
    private func prepare(_ source: StreamSource, for receiver: any StreamReceiver) throws(Problem) -> StreamHeader {
        let format = AnalysisFormat(source.format, batching: pipeline.batching, seed: pipeline.seed)
        var requests: [SpectrumRequest] = []
        var width = 0
        var analyzers: [StreamHeader.Analyzer] = []
        active = []
        for index in slots.indices {
            let entry = pipeline.analyzerEntries[index]
            let outputs: AnalyzerOutputs
            do throws(Problem) {
                outputs = try slots[index].analyzer.prepare(format)
            } catch {
                guard entry.policy.onError == .skip else { throw error }
                receiver.report(.analyzerSkipped(input: source.name, analyzer: entry.name, error))
                continue
            }
            slots[index].requests = requests.count..<requests.count + outputs.spectra.count
            slots[index].columns = width..<width + outputs.width
            slots[index].hasEvents = !outputs.events.isEmpty
            requests += outputs.spectra
            width += outputs.width
            analyzers.append(entry.header(outputs))
            active.append(slots[index])
        }
        if bank?.requests != requests || bank?.sampleRate != source.format.sampleRate {
            bank = (
                SpectrumBank(requests, hopFrames: pipeline.batching.hopFrames, sampleRate: source.format.sampleRate),
                requests, source.format.sampleRate
            )
        }
        let path = pipeline.namesFiles ? inputPath ?? source.name : nil
        var header = StreamHeader(
            source: source, file: path.map(PathText.shown), fileBytes: path.flatMap(PathText.nonUTF8Bytes), isLive: pipeline.isLive,
            batching: pipeline.batching, seed: pipeline.seed, analyzers: analyzers, catalog: pipeline.catalog)
        header.relativePath = relativePath
        header.fingerprint = pipeline.configuration.fingerprint
        return header
    }

    /// The first of two passes, for the analyzers that look ahead.
    private func analyzeFirstPass(_ stream: StreamAnalysis, _ capture: any Capture) throws(Problem) {
        guard let capture = capture as? any RewindableCapture else {
            throw Problem(
                "this input can be read only once, but the analysis of a whole file reads it twice; use a file, or causal analysis (beats --causal)"
            )
        }
        reading: while !pipeline.shouldStop {
            pipeline.noteActivity()
            let delivery: ReadResult
            do throws(Problem) {
                delivery = try stream.analyzeFirstPass(capture)
            } catch {
                // The second pass fails at the same frame and reports the error; it analyses the audio before that frame.
                break reading
            }
            switch delivery {
            case .end: break reading
            case .format, .source:
                // Rewinding would return to the stream before the format change, which has ended.
                throw Problem(
                    "the format changes within this input, which the analysis of a whole file does not support; use causal analysis")
            case .frames, .gap, .device, .idle: break
            }
        }
        try capture.rewind()
        stream.finishFirstPass()
    }

    private func drive(_ stream: StreamAnalysis, _ capture: any Capture, for receiver: any StreamReceiver) -> Ending {
        while true {
            pipeline.noteActivity()
            if pipeline.shouldStop { return .over(.interrupted) }
            if !receiver.hasReaders { return .noReaders }
            if stream.isBetweenBatches {
                if !script.isEmpty { replay(into: stream, for: receiver) }
                receiver.applyControls(to: stream)
            }
            do throws(Problem) {
                switch try stream.advance(capture) {
                case .frames:
                    if let error = externalFailure(stream, for: receiver) { return .failed(error) }
                    if stream.hasOppositePolarity, !isPolarityReported {
                        isPolarityReported = true
                        receiver.report(.oppositePolarity(input: deviceSummary ?? stream.header.source.name))
                    }
                    if pipeline.isLive, let seconds = stream.takeSilence() {
                        receiver.report(.silence(input: deviceSummary ?? stream.header.source.name, seconds: seconds))
                    }
                case .device(let notice):
                    (deviceName, deviceSummary) = (notice.name, notice.summary)
                    receiver.report(.device(input: stream.header.source.name, notice))
                case .idle:
                    let events = stream.takeEventsOfOutage()
                    if !events.isEmpty { receiver.receive(events) }
                    // The next batch, which would be followed by the replies, may come much later.
                    if stream.isLost { receiver.sendReplies() }
                case .gap(let gap):
                    let duration = stream.header.format.seconds(at: gap.frames)
                    let start = secondsBefore + stream.secondsRead - duration
                    if gap.reason.isOfFile {
                        if damage == nil { damage = FileDamage(reason: gap.reason, start: start) }
                        damage?.add(from: start, duration: duration, frames: gap.frames)
                    } else {
                        receiver.report(
                            .gap(
                                input: deviceName ?? stream.header.source.name, at: start, duration: duration, frames: gap.frames,
                                reason: gap.reason))
                    }
                case .format(let format):
                    var source = stream.header.source
                    source.format = format
                    source.duration = nil
                    return .newSource(source)
                case .source(let source):
                    return .newSource(source)
                case .end:
                    return .over(.endOfInput)
                }
            } catch {
                return error.remedy == .finish ? .over(.endOfInput) : .failed(error)
            }
        }
    }

    /// - Returns: The ending, which is another one if an analyzer has failed at the end of the stream.
    private func finish(_ stream: StreamAnalysis, _ ending: Ending, for receiver: any StreamReceiver) -> Ending {
        let late = stream.finish()
        var ending = ending
        if case .over(.endOfInput) = ending, let error = externalFailure(stream, for: receiver) { ending = .failed(error) }
        let reason: StreamSummary.Reason =
            switch ending {
            case .over(let reason): reason
            case .failed: .error
            case .newSource: .formatChange
            case .noReaders: .interrupted
            }
        let sections = active.map { StreamSummary.Section(analyzer: $0.name, values: $0.analyzer.summary()) }.filter { !$0.values.isEmpty }
        isAtEnd = reason == .endOfInput
        let name = stream.header.source.name
        let damaged = damage?.notice(input: name)
        var error = damaged?.text ?? self.error
        if case .failed(let failure) = ending { error = PipelineNotice.captureFailed(input: name, failure).text }
        let summary = StreamSummary(
            frames: stream.clock, batches: stream.batchCount, nonFinite: stream.nonFinite, dropped: receiver.losses,
            sections: sections, reason: reason, error: error, lateEvents: late)
        receiver.end(summary)
        if let damaged {
            // An input that fails is counted once. Of one without any sound, its error says all.
            if case .failed = ending {
                if stream.clock > damage?.frames ?? 0 { receiver.report(damaged) }
            } else {
                fail(damaged, of: name, for: receiver)
            }
        }
        for slot in active {
            if let warning = slot.analyzer.warning {
                receiver.report(.analyzerWarning(input: name, analyzer: slot.name, warning))
            }
        }
        if stream.nonFinite > 0 { receiver.report(.nonFinite(input: name, samples: stream.nonFinite)) }
        receiver.report(.finished(input: name, summary))
        return ending
    }

    /// Applies the replayed controls of the batch that begins.
    private func replay(into stream: StreamAnalysis, for receiver: any StreamReceiver) {
        let end = stream.clock + Int64(pipeline.batching.batchFrames)
        while let control = script.first, control.frame < end {
            script.removeFirst()
            guard case .refused(let reason) = stream.apply(control.control, from: control.origin),
                refusals.insert(reason).inserted
            else { continue }
            receiver.report(.controlRefused(input: stream.header.source.name, control, reason: reason))
        }
    }
}

/// Collects the missing and damaged parts of a file, for one report: there may be thousands.
private struct FileDamage {
    private let reason: Gap.Reason
    /// The start of the first gap, in seconds.
    private let start: Double
    private var places = 0
    private var duration = 0.0
    private(set) var frames: Int64 = 0
    /// The end of the last gap, in seconds.
    private var end = -1.0

    init(reason: Gap.Reason, start: Double) {
        self.reason = reason
        self.start = start
    }

    /// Adds a gap. A gap that starts at the end of the last one belongs to the same part.
    mutating func add(from start: Double, duration: Double, frames: Int64) {
        if start - end > 1e-6 { places += 1 }
        self.duration += duration
        self.frames += frames
        end = start + duration
    }

    func notice(input: String) -> PipelineNotice {
        places == 1
            ? .gap(input: input, at: start, duration: duration, frames: frames, reason: reason)
            : .damage(input: input, places: places, first: start, duration: duration, frames: frames)
    }
}
