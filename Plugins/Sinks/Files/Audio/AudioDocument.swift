internal import Hemiola
internal import HemiolaFiles

/// Writes the samples of a stream at the place of their frames. Frames without samples, lost by the capture or dropped with their batch, are
/// silence.
final class AudioDocument: Document {
    typealias MakeEncoder = (_ file: OutputFile, _ format: StreamFormat) throws(Problem) -> any AudioEncoder

    /// Frames of silence that are written at a time.
    private static let silentFrames = 4096
    /// Days of silence from which on the file is not continued: the frames of a damaged recording would fill the disk.
    private static let mostSilentDays = 30

    private let file: OutputFile
    private let warn: @Sendable (String) -> Void
    private let makeEncoder: MakeEncoder
    /// nil before the stream begins, whose format it needs.
    private var encoder: (any AudioEncoder)?
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    private var isLive = false
    /// The channel of the stream for each channel of the file, if their orders differ, and a batch in the file's order.
    private var channelOrder: [Int] = []
    private var ordered: [Float] = []
    /// The frame of the stream that is written next.
    private var frame: Int64 = 0

    init(_ file: OutputFile, warn: @escaping @Sendable (String) -> Void, makeEncoder: @escaping MakeEncoder) {
        self.file = file
        self.warn = warn
        self.makeEncoder = makeEncoder
    }

    func begin(_ stream: StreamHeader, at frame: Int64) throws(Problem) {
        (format, isLive, self.frame) = (stream.format, stream.isLive, frame)
        // WAV and FLAC have one order of loudspeakers, and other formats have others.
        let positions = format.channelMap?.positions ?? []
        let order = positions.indices.sorted { positions[$0].rawValue < positions[$1].rawValue }
        if !order.elementsEqual(positions.indices) {
            channelOrder = order
            format = StreamFormat(
                sampleRate: format.sampleRate, channelCount: format.channelCount, channelMap: ChannelMap(order.map { positions[$0] }))
        }
        encoder = try makeEncoder(file, format)
    }

    func skip(to next: Int64) throws(Problem) {
        guard next > frame, let encoder else { return }
        let days = Int64(Self.mostSilentDays)
        guard next - frame <= days * 86_400 * Int64(format.sampleRate) else {
            throw Problem("cannot write \(file.target.name): the next sound is more than \(days) days later")
        }
        let silence = [Float](repeating: 0, count: Self.silentFrames * format.channelCount)
        while frame < next {
            let count = Int(min(next - frame, Int64(Self.silentFrames)))
            try encoder.write(silence.span.extracting(first: count * format.channelCount))
            frame += Int64(count)
        }
    }

    func write(_ batch: borrowing Batch) throws(Problem) {
        guard batch.samples.count == batch.frameCount * format.channelCount, batch.frame == frame else { return }
        if channelOrder.isEmpty { try encoder?.write(batch.samples) } else { try writeOrdered(batch.samples) }
        frame = batch.endFrame
    }

    private func writeOrdered(_ samples: Span<Float>) throws(Problem) {
        let count = channelOrder.count
        ordered.removeAll(keepingCapacity: true)
        for start in stride(from: 0, to: samples.count, by: count) {
            for channel in channelOrder { ordered.append(samples[start + channel]) }
        }
        let ordered = ordered
        try encoder?.write(ordered.span)
    }

    func end(_ summary: StreamSummary) {}

    func finish() throws(Problem) {
        guard let encoder else { return }
        try encoder.complete()
        let count = encoder.clippedSamples
        if count > 0 {
            warn(
                "\(file.target.name): \(count) sample\(count == 1 ? "" : "s") above full scale \(count == 1 ? "was" : "were") clipped; "
                    + "write a path that ends in .wav to keep them")
        }
    }

    /// A live file keeps all frames that were written, and its header states them.
    func abandon() -> String? {
        guard let encoder else { return nil }
        try? encoder.complete()
        return isLive ? "\(file.target.name) keeps the first \(encoder.writtenFrames * 1000 / Int64(format.sampleRate)) ms" : nil
    }
}
