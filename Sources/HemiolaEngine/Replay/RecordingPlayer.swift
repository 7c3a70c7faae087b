internal import Hemiola

/// Replays a recording: sends its streams to the sinks, each batch when its audio has ended, or as fast as the sinks accept them. Used by
/// the analysis thread only.
final class RecordingPlayer {
    /// Waiting times from which on controls are applied meanwhile, in seconds.
    private static let longWait = 0.2
    /// The longest time without a look at the stop flag, in seconds.
    private static let longestSleep = 0.05
    /// Days without records from which on no samples are sent for them: those of a damaged recording would never end.
    private static let mostSilentDays = 30

    private let pipeline: Pipeline
    private let setup: Pipeline.Replay
    private let directors: [PipelineDirector]
    private let reader: RecordingReader
    private let carriesSamples: Bool
    private let dispatcher: SinkDispatcher
    private let report: @Sendable (PipelineNotice) -> Void

    private var stream: RecordedStream?
    /// How many streams have begun.
    private var streamCount = 0
    private var pace = RealTimePace()

    init(
        _ pipeline: Pipeline, _ setup: Pipeline.Replay, directors: [PipelineDirector], to dispatcher: SinkDispatcher,
        report: @escaping @Sendable (PipelineNotice) -> Void
    ) {
        self.pipeline = pipeline
        self.setup = setup
        self.directors = directors
        self.dispatcher = dispatcher
        self.report = report
        reader = setup.recording.take()
        carriesSamples = pipeline.sinkEntries.contains { $0.needs.samples }
    }

    /// Replays the recording to its end.
    ///
    /// - Returns: Whether the recording was replayed as far as it could be read.
    func play() -> Bool {
        do throws(Problem) {
            var isOver = false
            while !isOver, !shouldStop, dispatcher.hasReader {
                let item = reader.next()
                for warning in reader.takeWarnings() { report(.recording(warning)) }
                switch item {
                case .idle: applyControls()
                case .begin(let header): try begin(header)
                case .batch(let batch): try send(batch)
                case .end(let summary): try end(summary)
                case .over(let failure):
                    if let failure { throw failure }
                    isOver = true
                }
            }
            finish(.interrupted)
            return isOver
        } catch {
            finish(error.remedy == .finish ? .interrupted : .error)
            if error.remedy == .finish { return false }
            dispatcher.noteFailedInput()
            report(.captureFailed(input: setup.recording.name, error))
            return true
        }
    }

    private var shouldStop: Bool {
        pipeline.noteActivity()
        return pipeline.shouldStop
    }

    // MARK: - Streams

    private func begin(_ header: StreamHeader) throws(Problem) {
        for need in setup.needs {
            guard let fault = need.fault(in: header) else { continue }
            throw Problem("\(setup.recording.name): \(header.source.name): cannot be sent to \(need.sink): \(fault)")
        }
        stream = RecordedStream(
            header, audio: try openAudio(of: header), directors: directors, derivedTypes: setup.derivedTypes,
            batchesPerBlock: pipeline.isPaced ? 1 : BatchBlock.capacity, carriesSamples: carriesSamples,
            publish: { [dispatcher] in dispatcher.receive(.batches($0)) })
        for director in directors { director.director.prepare(header) }
        pipeline.note(header.source, index: 0)
        dispatcher.receive(.begin(header))
        streamCount += 1
        pace.begin(at: pipeline.clock.now)
    }

    private func openAudio(of header: StreamHeader) throws(Problem) -> RecordedAudio? {
        guard carriesSamples else {
            if streamCount == 0, let audio = setup.audio.first {
                report(.recording("\(audio.name): has no effect, because no sink of this pipeline reads audio"))
            }
            return nil
        }
        guard setup.audio.indices.contains(streamCount) else {
            let hint = header.source.kind == "file" ? "; add --audio \(header.source.name)" : ""
            report(.recording("\(setup.recording.name): the samples of \(header.source.name) are silence\(hint)"))
            return nil
        }
        let input = setup.audio[streamCount]
        return try RecordedAudio(
            input.name, input.capture.take(), of: header, isCancelled: { [pipeline] in pipeline.shouldStop },
            warn: { [report] in report(.captureWarning(input: input.name, $0)) })
    }

    private func end(_ summary: StreamSummary) throws(Problem) {
        guard let stream else { return }
        var end = summary.frames
        // In real time there is nothing to wait for where the input was cut off.
        if pipeline.isPaced, let lastGap = stream.lastGap, lastGap.upperBound >= end { end = max(stream.position, lastGap.lowerBound) }
        try fill(to: end, stream)
        guard wait(until: end, stream) else { return }
        if let audio = stream.audio, !stream.isEndReported, try audio.hasMore(shouldStop: { shouldStop }), !shouldStop {
            report(.recording("\(audio.name): is longer than the recording, which ends at \(seconds(summary.frames)) s"))
        }
        finish(summary)
    }

    /// Ends a stream without the summary of its record.
    private func finish(_ reason: StreamSummary.Reason) {
        guard let stream else { return }
        finish(StreamSummary(frames: stream.position, batches: stream.batchCount, reason: reason))
    }

    private func finish(_ summary: StreamSummary) {
        guard let stream else { return }
        var summary = summary
        summary.lateEvents = stream.finish()
        self.stream = nil
        dispatcher.receive(.end(summary))
        let seconds = stream.header.format.seconds(at: stream.position)
        report(.finished(input: stream.header.source.name, summary, seconds: seconds))
    }

    // MARK: - Batches

    private func send(_ batch: RecordingReader.Batch) throws(Problem) {
        guard let stream else { return }
        var batch = batch
        if batch.row == nil, !stream.hasRows, carriesSamples {
            let end = batch.end ?? batch.frame
            try fill(to: end, stream, isLastLeft: true)
            // The events become part of the batch that ends with them.
            if stream.position < end { (batch.frame, batch.frameCount) = (stream.position, Int(end - stream.position)) }
        }
        try add(batch, to: stream)
    }

    /// Adds batches without values up to a frame, if the recording has none: they carry the samples.
    ///
    /// - Parameter isLastLeft: Whether the last batch is left to the caller.
    private func fill(to end: Int64, _ stream: RecordedStream, isLastLeft: Bool = false) throws(Problem) {
        guard carriesSamples, !stream.hasRows else { return }
        let days = Int64(Self.mostSilentDays)
        guard end - stream.position <= days * 86_400 * Int64(stream.header.format.sampleRate) else {
            throw Problem(
                "\(setup.recording.name): has no records for more than \(days) days after \(seconds(stream.position)) s; "
                    + "replay it to sinks that read no audio")
        }
        let length = Int64(stream.header.batching.batchFrames)
        while !shouldStop, dispatcher.hasReader, end - stream.position > (isLastLeft ? length : 0) {
            let count = min(length, end - stream.position)
            try add(
                RecordingReader.Batch(
                    number: stream.position / length, frame: stream.position, frameCount: Int(count), isPartial: count < length, row: nil),
                to: stream)
        }
    }

    private func add(_ batch: RecordingReader.Batch, to stream: RecordedStream) throws(Problem) {
        let end = batch.end ?? batch.frame
        guard wait(until: end, stream) else { return }
        dispatcher.applyControls(to: stream)
        try stream.add(batch, shouldStop: { shouldStop })
        if let audio = stream.audio, audio.isAtEnd, audio.position < end, !stream.isEndReported {
            stream.isEndReported = true
            report(
                .recording("\(audio.name): ends at \(seconds(audio.position)) s, before the recording; the samples after it are silence"))
        }
    }

    /// Waits until the audio before a frame has ended, if the replay is paced.
    ///
    /// - Returns: false when the run is to end.
    private func wait(until frame: Int64, _ stream: RecordedStream) -> Bool {
        guard pipeline.isPaced else { return !shouldStop }
        let time = stream.header.format.seconds(at: frame)
        if let pause = pace.note(time, now: pipeline.clock.now) {
            report(.captureWarning(input: setup.recording.name, "\(setup.recording.name): \(pause)"))
        }
        while !shouldStop {
            let ahead = pace.timeUntil(time, now: pipeline.clock.now)
            if ahead <= 0 { return true }
            if ahead > Self.longWait { applyControls() }
            pipeline.clock.sleep(for: min(ahead, Self.longestSleep))
        }
        return false
    }

    /// Applies controls while no batch is sent.
    private func applyControls() {
        guard let stream else { return }
        let isControlled = dispatcher.applyControls(to: stream)
        let events = stream.takeEventsOfPause(isControlled: isControlled)
        if isControlled || !events.isEmpty { dispatcher.receive(.events(EventBuffer(events))) }
    }

    /// The time of a frame, for messages.
    private func seconds(_ frame: Int64) -> String {
        let milliseconds = Int((stream?.header.format.seconds(at: frame) ?? 0) * 1000)
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}
