internal import Hemiola
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// The sink `audio`: writes the samples of each stream at the place of their frames. Frames without samples, lost by the capture or
/// dropped with their batch, are silence.
final class AudioWriter: Sink {
    typealias MakeEncoder = @Sendable (_ output: consuming SeekableOutput, _ format: StreamFormat) throws(Problem) -> any AudioEncoder

    private struct State: ~Copyable {
        var opener: OutputOpener?
        /// The open file before its first stream, whose format the encoder needs.
        var output: SeekableOutput?
        /// The open file, its path and its input.
        var encoder: (any AudioEncoder)?
        var path = ""
        var input = ""
        /// The number of the file.
        var number = 1
        var streams = WrittenStreams()
        var format = StreamFormat(sampleRate: 1, channelCount: 1)
        /// The frame of the stream that is written next.
        var frame: Int64 = 0
        var meter: RotationMeter
        var isStreamLive = false
        var warn: @Sendable (String) -> Void = { _ in }
    }

    /// Frames of silence that are written at a time.
    private static let silentFrames = 4096
    /// Days of silence from which on the file is not continued: the frames of a damaged recording would fill the disk.
    private static let mostSilentDays = 30

    private let template: PathTemplate
    private let plan: OutputPlan
    private let makeEncoder: MakeEncoder
    private var state: State

    init(_ template: PathTemplate, _ plan: OutputPlan, makeEncoder: @escaping MakeEncoder) {
        self.template = template
        self.plan = plan
        self.makeEncoder = makeEncoder
        state = State(meter: RotationMeter(plan.rotation))
    }

    func open(_ context: SinkContext) throws(Problem) {
        try closingOnError { () throws(Problem) in
            state.opener = OutputOpener(plan, context)
            state.warn = context.warn
            state.meter = RotationMeter(plan.rotation)
            (state.encoder, state.streams, state.input) = (nil, WrittenStreams(), "")
            if !template.isPerInput { try openFile(number: 1) }
        }
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        try closingOnError { () throws(Problem) in
            let source = stream.inputPath
            state.meter.beginStream()
            if state.streams.hasBegun, stream.isLive {
                try continueInNextFile()
            } else if template.isPerInput {
                try finishFile()
                state.input = source
                try openFile(number: 1)
                state.meter.beginFile()
            } else if state.streams.hasBegun {
                throw Problem("cannot write \(state.path): a sound file holds one input; write {stem} in the path")
            }
            (state.format, state.frame, state.isStreamLive) = (stream.format, 0, stream.isLive)
            try beginFile()
        }
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        try closingOnError { () throws(Problem) in
            for index in 0..<batches.count {
                let batch = batches[index]
                try writeSilence(to: batch.frame)
                try rotateIfFull(before: batch)
                guard batch.samples.count == batch.frameCount * state.format.channelCount, batch.frame == state.frame else { continue }
                try state.encoder?.write(batch.samples)
                state.frame = batch.endFrame
            }
        }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        try closingOnError { () throws(Problem) in
            try writeSilence(to: summary.frames)
            state.streams.end(summary.reason)
        }
    }

    func close() throws(Problem) {
        try closingOnError { () throws(Problem) in
            defer {
                state.encoder = nil
                state.output = nil
            }
            try finishFile()
        }
    }

    private func openFile(number first: Int) throws(Problem) {
        guard let opener = state.opener else { return }
        let (input, numbered) = (state.input, template.numbered())
        let isNumbered = template.isNumbered || first > 1
        state.number = isNumbered ? opener.freeNumber(from: first) { [opener.path(numbered, for: input, number: $0)] } : first
        state.path = opener.path(isNumbered ? numbered : template, for: input, number: state.number)
        state.streams = WrittenStreams()
        state.output = try opener.openSeekable(state.path)
    }

    /// Begins the current stream, or its rest, in the file that was opened last.
    private func beginFile() throws(Problem) {
        guard let output = state.output.take() else { return }
        state.encoder = try makeEncoder(output, state.format)
        state.streams.begin(isLive: state.isStreamLive)
    }

    /// A live device or its format changed.
    private func continueInNextFile() throws(Problem) {
        let path = state.path
        try finishFile()
        try openFile(number: state.number + 1)
        state.meter.beginFile()
        state.warn("\(path) ends here: the device or its format changed; the recording continues in \(state.path)")
    }

    private func rotateIfFull(before batch: borrowing Batch) throws(Problem) {
        guard plan.rotation.isOn else { return }
        let (start, end) = (state.format.seconds(at: batch.frame), state.format.seconds(at: batch.endFrame))
        guard state.meter.isFull(at: start, end: end, size: state.encoder?.output.size ?? 0) else { return }
        let number = state.number
        state.streams.end(.endOfInput)
        try finishFile()
        try openFile(number: number + 1)
        try beginFile()
    }

    private func writeSilence(to frame: Int64) throws(Problem) {
        guard frame > state.frame, let encoder = state.encoder else { return }
        let days = Int64(Self.mostSilentDays)
        guard frame - state.frame <= days * 86_400 * Int64(state.format.sampleRate) else {
            throw Problem("cannot write \(OutputTarget(state.path).name): the next sound is more than \(days) days later")
        }
        let channels = state.format.channelCount
        let silence = [Float](repeating: 0, count: Self.silentFrames * channels)
        while state.frame < frame {
            let count = Int(min(frame - state.frame, Int64(Self.silentFrames)))
            try encoder.write(silence.span.extracting(first: count * channels))
            state.frame += Int64(count)
        }
    }

    /// Finishes the file. A file for which no stream began is removed.
    private func finishFile() throws(Problem) {
        state.output = nil
        guard let encoder = state.encoder, let opener = state.opener else { return }
        state.encoder = nil
        try encoder.complete()
        if encoder.clippedSamples > 0 {
            let count = encoder.clippedSamples
            state.warn(
                "\(state.path): \(count) sample\(count == 1 ? "" : "s") above full scale \(count == 1 ? "was" : "were") clipped; "
                    + "write a path that ends in .wav to keep them")
        }
        try opener.finish(&encoder.output, at: state.path, state.streams, isWholeRun: !template.isPerInput)
    }

    /// Runs `body`. After an error the file is closed: a live file keeps all frames that were written, and its
    /// header states them.
    private func closingOnError(_ body: () throws(Problem) -> Void) throws(Problem) {
        do throws(Problem) {
            try body()
        } catch {
            var error = error
            if let encoder = state.encoder {
                try? encoder.complete()
                if state.isStreamLive {
                    let milliseconds = encoder.writtenFrames * 1000 / Int64(state.format.sampleRate)
                    error.message += "; \(state.path) keeps the first \(milliseconds) ms"
                }
            }
            state.encoder = nil
            state.output = nil
            throw error
        }
    }
}
