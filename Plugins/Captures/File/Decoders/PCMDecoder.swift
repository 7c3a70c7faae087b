internal import Hemiola
internal import HemiolaPCM

/// Decodes samples that are not compressed: WAV, RF64, BW64, Wave64, AIFF, AU and CAF.
final class PCMDecoder: Decoder {
    let format: StreamFormat
    let tags: SoundTags
    let declaredFrames: Int64?
    let presentFrames: Int64?
    let endDamage: Gap.Reason?

    // Keeps the descriptor of `reader` open.
    private let file: InputFile
    private let reader: PCMReader

    /// - Parameter header: The header of the file, whose samples are numbers. A format that is not supported is stated, and cannot be read.
    init(_ file: InputFile, _ header: PCMHeader) throws(Problem) {
        guard let samples = header.format else { throw Problem("compressed samples") }
        self.file = file
        // The name stands in messages, which FileCapture puts behind the path.
        reader = PCMReader(.descriptor(file.descriptor.number), name: "the file", kind: "file", format: nil, header: header)
        format = header.stream
        if format.isSupported { _ = try reader.open(FormatRequest()) }
        let frameSize = Int64(max(1, samples.encoding.byteCount * format.channelCount))
        let present = max(0, file.size - header.offset)
        tags = header.tags
        declaredFrames = header.byteCount.map { $0 / frameSize }
        presentFrames = min(header.byteCount ?? present, present) / frameSize
        endDamage = header.lengthFault
    }

    func skip(_ count: Int64) -> Int64 { reader.skip(count) }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        while true {
            // Idle: a read was interrupted, or part of a frame was read.
            let result = try reader.read(into: &samples)
            if result != .idle { return result }
        }
    }
}

/// Delivers what ffmpeg has decoded.
final class FFmpegOutputDecoder: Decoder {
    private let output: FFmpegDecoder.Output
    private let samples: PCMDecoder

    init(_ output: FFmpegDecoder.Output) throws(Problem) {
        guard let header = PCMHeader.read(output.file, size: output.file.size).header else {
            throw Problem("ffmpeg wrote no samples")
        }
        self.output = output
        samples = try PCMDecoder(output.file, header)
    }

    var format: StreamFormat { samples.format }
    var tags: SoundTags { output.tags }
    var declaredFrames: Int64? { output.declaredFrames }
    var lengthTolerance: Int64 { output.lengthTolerance }
    var presentFrames: Int64? { samples.presentFrames }
    var endDamage: Gap.Reason? { output.endDamage }

    func skip(_ count: Int64) -> Int64 { samples.skip(count) }
    func read(into buffer: inout MutableSpan<Float>) throws(Problem) -> ReadResult { try samples.read(into: &buffer) }
}
