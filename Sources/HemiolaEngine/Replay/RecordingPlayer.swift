internal import Hemiola

/// Replays a recording: sends its streams to the sinks, one after another. Used by the analysis thread only.
struct RecordingPlayer {
    let pipeline: Pipeline
    let setup: Pipeline.Replay
    let dispatcher: SinkDispatcher
    let directors: [PipelineDirector]
    let report: @Sendable (PipelineNotice) -> Void

    /// Replays the recording to its end, or as far as it can be read.
    func play() {
        let reader = setup.recording.take()
        var streamCount = 0
        do throws(Problem) {
            while !isCancelled(), dispatcher.hasReader {
                switch try reader.next(warn: { report(.warning($0)) }) {
                case .record(.header(let header), _):
                    try play(header, from: reader, number: streamCount)
                    streamCount += 1
                case .record: throw Problem(reader.message("a record after the end of its stream"))
                case .idle: break
                case .end: return
                }
            }
        } catch {
            if error.remedy == .finish { return }
            dispatcher.noteFailedInput()
            report(.inputFailed(input: reader.name, error))
        }
    }

    private var isCancelled: @Sendable () -> Bool {
        { [pipeline] in
            pipeline.noteActivity()
            return pipeline.shouldStop
        }
    }

    private func play(_ header: StreamHeader, from reader: RecordingReader, number: Int) throws(Problem) {
        for need in setup.needs {
            guard let fault = need.fault(in: header) else { continue }
            throw Problem("\(reader.name): \(header.source.name): cannot be sent to \(need.sink): \(fault)")
        }
        let blocks = BlockWriter(header, of: pipeline, to: dispatcher)
        let audio = try openAudio(number, of: header, isUsed: blocks.carriesSamples)
        pipeline.note(header.source, index: 0)
        let stream = RecordedStream(header, from: reader, audio: audio, blocks: blocks, of: self)
        let ending = pipeline.drive(stream, directors, to: dispatcher)
        var failure: Problem?
        if case .failed(let error) = ending { failure = error }
        let summary = stream.finish(failure == nil ? .interrupted : .error)
        dispatcher.receive(.end(summary))
        report(.finished(input: header.source.name, summary, seconds: stream.seconds))
        if let failure { throw failure }
    }

    private func openAudio(_ number: Int, of header: StreamHeader, isUsed: Bool) throws(Problem) -> RecordedAudio? {
        guard isUsed else {
            if number == 0, let audio = setup.audio.first {
                report(.warning("\(audio.name): has no effect, because no sink of this pipeline reads audio"))
            }
            return nil
        }
        guard setup.audio.indices.contains(number) else {
            let hint = header.source.kind == "file" ? "; add --audio \(header.source.name)" : ""
            report(.warning("\(setup.recording.name): the samples of \(header.source.name) are silence\(hint)"))
            return nil
        }
        let input = setup.audio[number]
        return try RecordedAudio(
            input.name, input.capture.take(), of: header, isCancelled: isCancelled,
            warn: { [report] in report(.captureWarning(input: input.name, $0)) })
    }
}
