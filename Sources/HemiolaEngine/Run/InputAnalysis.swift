internal import Hemiola

/// The analysis of one input by a job: opens it, divides it into streams, and passes their batches on.
struct InputAnalysis {
    /// A stream of the input.
    private struct Stream {
        let producer: BatchProducer
        /// The controls that remain to be replayed.
        var controls: ArraySlice<StampedControl>
        /// The reasons of refusals that were reported.
        var refusals: Set<String> = []
        /// Missing and damaged parts of a file.
        var damage: FileDamage?
        /// The name of the device from which it comes now; that of the header is of the stream's beginning.
        var deviceName: String?

        var name: String { producer.header.source.name }
    }

    /// The longest input, in seconds, that is read as a whole unless the user demands it: the memory of a first pass grows with it.
    private static let longestFirstPass = 6 * 3600.0

    private let job: AnalysisJob
    private let pipeline: Pipeline
    private let input: Pipeline.Input
    private let receiver: any StreamReceiver
    private let report: @Sendable (PipelineNotice) -> Void

    /// Streams that were begun.
    private var streamCount = 0
    /// Why the input failed, or was incomplete or damaged; nil: it did not.
    private var error: String?
    /// Missing and damaged parts of all streams, which are reported at the end, in one line.
    private var damage: FileDamage?
    /// Whether any sound was there.
    private var hasSound = false
    /// Whether the input was taken to its end.
    private var isAtEnd = false
    /// Whether analyzers may process the input in a first pass.
    private var mayLookAhead = false
    /// The external analyzers whose failure was reported, because the input is analysed without them.
    private var skippedExternals: Set<String> = []
    /// What analyzers have remarked, each once: a file may have hundreds of streams.
    private var warnings: Set<String> = []
    /// Whether a notice said that the channels have opposite polarity.
    private var isPolarityReported = false
    /// Measures silence over all streams; nil for a file.
    private let silence: SilenceDetector?
    /// Seconds of the earlier streams: notices count from the input's start.
    private var secondsBefore = 0.0
    /// The description of the device from which the input comes now.
    private var deviceName: String?

    init(
        _ input: Pipeline.Input, of job: AnalysisJob, for receiver: any StreamReceiver,
        report: @escaping @Sendable (PipelineNotice) -> Void
    ) {
        self.job = job
        pipeline = job.pipeline
        self.input = input
        self.receiver = receiver
        self.report = report
        silence = job.pipeline.isLive ? SilenceDetector() : nil
    }

    /// Analyses the input to its end.
    mutating func run() -> InputEnd {
        pipeline.noteOpen(input.name)
        defer { pipeline.noteClosed(input.name) }
        do {
            try analyze()
            if let damage { fail(damage.notice, of: damage.input) }
        } catch {
            // An input that fails is counted once. Of one without any sound, its error says all.
            if let damage, hasSound { report(damage.notice) }
            if error.remedy != .finish { fail(.inputFailed(input: input.name, error), of: input.name) }
        }
        let path = input.path ?? input.name
        return InputEnd(
            file: PathText.shown(path), fileBytes: PathText.nonUTF8Bytes(of: path), error: error, streamCount: streamCount,
            wasInterrupted: error == nil && !isAtEnd)
    }

    private mutating func analyze() throws(Problem) {
        if let fault = job.fault ?? input.fault { throw fault }
        let (made, capture, first) = try open()
        defer { capture.close() }
        // Controls change beats while they are being found; those of a first pass are fixed.
        mayLookAhead =
            pipeline.configuration.usesLookAhead ?? (!pipeline.isRealTime && made is any RewindableCapture && job.replay.isEmpty)
        for external in job.externals {
            external.analyzer.open(
                AnalyzerContext(
                    name: external.name, isLive: pipeline.isRealTime, clock: pipeline.clock, warn: warn,
                    isCancelled: { [pipeline] in pipeline.shouldStop }))
        }
        defer { for external in job.externals { external.analyzer.close() } }
        var next: StreamSource? = first
        while let source = next {
            guard source.format.isSupported else { throw Self.unsupported(source) }
            receiver.inTurn { [pipeline, input] in pipeline.note(source, index: input.given.number) }
            next = nil
            switch try analyze(source, from: capture, base: made) {
            case .over: break
            case .failed(let error): throw error
            case .newSource(let new):
                next = new
                // Rewinding would return to the first stream.
                mayLookAhead = false
            }
        }
    }

    /// Reports that the input failed or was incomplete.
    private mutating func fail(_ notice: PipelineNotice, of name: String) {
        error = notice.text
        report(input.policy == .skip ? .warning("\(notice.text); this input is skipped") : notice)
    }

    private var warn: @Sendable (String) -> Void {
        { [report, name = input.name] in report(.captureWarning(input: name, $0)) }
    }

    private func open() throws(Problem) -> (made: any Capture, capture: any Capture, source: StreamSource) {
        let made = try input.capture.take()
        let capture = pipeline.isPaced && !made.isLive ? PacedCapture(made) : made
        let rate = pipeline.configuration.sampleRate
        let request = FormatRequest(
            sampleRate: rate == 0 ? nil : rate, followsDeviceRate: rate == 0, batchFrames: pipeline.batching.batchFrames,
            waitsForWriters: pipeline.configuration.waitsForWriters, clock: pipeline.clock,
            isCancelled: { [pipeline] in pipeline.shouldStop }, warn: warn)
        let source = try pipeline.reading { () throws(Problem) in try capture.open(request) }
        return (made, capture, source)
    }

    private static func unsupported(_ source: StreamSource) -> Problem {
        let (rates, counts) = (StreamFormat.sampleRates, StreamFormat.channelCounts)
        return Problem(
            "\(source.name): \(source.format.sampleRate) Hz and \(source.format.channelCount) channels are outside "
                + "\(rates.lowerBound)...\(rates.upperBound) Hz and \(counts.lowerBound)...\(counts.upperBound) channels; convert it: "
                + "ffmpeg -i FILE -ar 48000 -ac 2 out.wav")
    }

    // MARK: - Streams

    private mutating func analyze(
        _ source: StreamSource, from capture: any Capture, base: any Capture
    ) throws(Problem) -> StreamEnding {
        var preparation: AnalysisJob.Preparation
        do {
            preparation = try job.prepare(source, of: input, looksAhead: mayLookAhead, report: report)
        } catch {
            fail(.inputFailed(input: source.name, error), of: source.name)
            return .over(.error)
        }
        var producer = producer(preparation, capture)
        if preparation.looksAhead {
            let isComplete = try analyzeFirstPass(producer, base)
            // Of a stream that ends here, analyzers must not say what they have found ahead.
            if !isComplete || pipeline.shouldStop {
                try preparation.giveUpLookAhead()
                producer = self.producer(preparation, capture)
            }
        }
        streamCount += 1
        var stream = Stream(producer: producer, controls: job.replay.controls(for: source.name)[...])
        let reached = pipeline.drive(producer, job.directors, to: receiver) {
            if hasReachedDuration(producer) { return false }
            if !stream.controls.isEmpty { replayControls(&stream) }
            return true
        } note: { result throws(Problem) in
            try note(result, of: &stream)
        }
        let ending = finish(stream, reached)
        secondsBefore += producer.seconds
        return ending
    }

    private func producer(_ preparation: AnalysisJob.Preparation, _ capture: any Capture) -> BatchProducer {
        BatchProducer(
            preparation, from: capture, directors: job.directors, silence: silence,
            blocks: BlockWriter(preparation.header, of: pipeline, to: receiver))
    }

    /// The first of two passes, for the analyzers that look ahead.
    ///
    /// - Returns: Whether it was completed. If not, the input is at its beginning, and is analysed without look-ahead.
    private func analyzeFirstPass(_ producer: BatchProducer, _ capture: any Capture) throws(Problem) -> Bool {
        guard let capture = capture as? any RewindableCapture else {
            throw Problem(
                "this input can be read only once, but the analysis of a whole file reads it twice; use a file, or causal analysis (--causal)"
            )
        }
        reading: while !pipeline.shouldStop, !hasReachedDuration(producer) {
            pipeline.noteActivity()
            let delivery: ReadResult
            do {
                delivery = try pipeline.reading { () throws(Problem) in try producer.analyzeFirstPass(capture) }
            } catch {
                // The second pass fails at the same frame and reports the error; it analyses the audio before that frame.
                break reading
            }
            switch delivery {
            case .end: break reading
            case .format, .source:
                // Rewinding would return to the stream before the format change, which has ended.
                guard pipeline.configuration.usesLookAhead == nil else {
                    throw Problem(
                        "the format changes within this input, which the analysis of a whole file does not support; use causal analysis "
                            + "(--causal)")
                }
                try capture.rewind()
                return false
            case .frames, .gap, .device, .idle:
                guard pipeline.configuration.usesLookAhead != nil || producer.secondsRead < Self.longestFirstPass else {
                    try capture.rewind()
                    return false
                }
            }
        }
        if pipeline.shouldStop { return false }
        try pipeline.reading { () throws(Problem) in try capture.rewind() }
        producer.finishFirstPass()
        return true
    }

    /// Whether the input ends here because of the duration that the configuration allows.
    private func hasReachedDuration(_ producer: BatchProducer) -> Bool {
        guard let limit = pipeline.configuration.duration, producer.isBetweenBatches else { return false }
        return secondsBefore + producer.seconds >= limit
    }

    private mutating func note(_ result: ReadResult, of stream: inout Stream) throws(Problem) {
        switch result {
        case .frames:
            if let error = externalFailure(of: stream.name) { throw error }
            if stream.producer.hasOppositePolarity, !isPolarityReported {
                isPolarityReported = true
                report(
                    .warning(
                        "\(deviceName ?? stream.name): left and right have opposite polarity and cancel each other in the mono mix: their "
                            + "difference is analysed; swap the wires of one channel, or invert it"))
            }
            switch silence?.takeReport() {
            case .silence(let seconds): report(.silence(input: deviceName ?? stream.name, seconds: seconds))
            case .sound(let seconds): report(.sound(input: deviceName ?? stream.name, seconds: seconds))
            case nil: break
            }
        case .device(let notice):
            stream.deviceName = notice.name
            deviceName = notice.shownName
            report(.device(input: stream.name, notice))
        case .gap(let gap): note(gap, in: &stream)
        case .format, .source, .idle, .end: break
        }
    }

    private func note(_ gap: Gap, in stream: inout Stream) {
        let duration = stream.producer.header.format.seconds(at: gap.frames)
        let start = secondsBefore + stream.producer.secondsRead - duration
        // A pause of a source that is not lost audio.
        if gap.frames == 0, !gap.reason.isOfFile { return }
        if gap.reason.isOfFile {
            stream.damage = stream.damage ?? FileDamage(input: stream.name, reason: gap.reason, start: start)
            stream.damage?.add(from: start, duration: duration, frames: gap.frames)
        } else {
            let name = stream.deviceName ?? stream.name
            report(.gap(input: name, at: start, duration: duration, frames: gap.frames, reason: gap.reason))
        }
    }

    /// The failure of an external analyzer, as an error of the input. One that is skipped is reported once; its values are null.
    private mutating func externalFailure(of name: String) -> Problem? {
        for external in job.externals {
            guard let failure = external.analyzer.failure else { continue }
            guard external.isSkippable else { return Problem(failure.message) }
            if skippedExternals.insert(external.name).inserted {
                report(.warning("\(failure.message(about: name)); analysed without \(external.name)"))
            }
        }
        return nil
    }

    /// Applies the replayed controls of the batch that begins.
    private func replayControls(_ stream: inout Stream) {
        let end = stream.producer.clock + Int64(pipeline.batching.batchFrames)
        while let control = stream.controls.first, control.frame < end {
            stream.controls.removeFirst()
            let reply = control.control.fault.map { .refused($0) } ?? stream.producer.apply(control.control, from: control.origin)
            guard case .refused(let reason) = reply, stream.refusals.insert(reason).inserted else { continue }
            report(
                .warning("\(stream.name): the control \(control.control.name) at frame \(control.frame) had no effect: \(reason)"))
        }
    }

    /// - Returns: The ending, which is another one if an analyzer has failed at the end of the stream.
    private mutating func finish(_ stream: Stream, _ ending: StreamEnding) -> StreamEnding {
        let (producer, name) = (stream.producer, stream.name)
        let late = producer.finish()
        var ending = ending
        if case .over(.endOfInput) = ending, let error = externalFailure(of: name) { ending = .failed(error) }
        let reason: StreamSummary.Reason =
            switch ending {
            case .over(let reason): reason
            case .failed: .error
            case .newSource: .formatChange
            }
        isAtEnd = reason == .endOfInput
        if producer.clock > stream.damage?.frames ?? 0 { hasSound = true }
        if let new = stream.damage {
            damage = damage?.adding(new) ?? new
            error = damage?.notice.text
        }
        var error = stream.damage?.notice.text ?? self.error
        if case .failed(let failure) = ending { error = PipelineNotice.inputFailed(input: name, failure).text }
        let summary = StreamSummary(
            frames: producer.clock, batches: producer.batchCount, nonFinite: producer.nonFinite,
            sections: producer.slots.map { .init(analyzer: $0.name, values: $0.analyzer.summary()) }.filter { !$0.values.isEmpty },
            reason: reason, error: error, lateEvents: late)
        receiver.receive(.end(summary))
        for slot in producer.slots {
            if let warning = slot.analyzer.warning, warnings.insert("\(slot.name): \(warning)").inserted {
                report(.warning("\(name): \(slot.name): \(warning)"))
            }
        }
        let samples = producer.nonFinite
        if samples > 0 {
            report(.warning("\(name): \(samples) sample\(samples == 1 ? " was" : "s were") NaN or infinite and replaced by 0"))
        }
        report(.finished(input: name, summary, seconds: producer.seconds))
        return ending
    }
}

/// Collects the missing and damaged parts of a file, for one report: there may be thousands.
private struct FileDamage {
    let input: String
    private let reason: Gap.Reason
    /// The start of the first gap, in seconds.
    private let start: Double
    private var places = 0
    private var duration = 0.0
    private(set) var frames: Int64 = 0
    /// The end of the last gap, in seconds.
    private var end = -1.0

    init(input: String, reason: Gap.Reason, start: Double) {
        self.input = input
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

    /// This damage and that of a later stream.
    func adding(_ later: FileDamage) -> FileDamage {
        var sum = self
        sum.places += later.places
        sum.duration += later.duration
        sum.frames += later.frames
        return sum
    }

    var notice: PipelineNotice {
        places == 1
            ? .gap(input: input, at: start, duration: duration, frames: frames, reason: reason)
            : .damage(input: input, places: places, first: start, duration: duration, frames: frames)
    }
}
