public import Hemiola
internal import HemiolaSignal

extension CapturePlugin {
    /// Reads a WAV stream or raw samples from standard input, a pipe, a FIFO or a file.
    public static let pcm = CapturePlugin(
        "pcm", "Reads a WAV stream or raw samples from standard input, a pipe or a FIFO.",
        settings: PCMSettings.declared, primary: "path"
    ) { settings throws(ConfigurationError) in
        let settings = try PCMSettings(settings)
        return settings.spools ? SpooledPCMCapture(settings) : PCMCapture(settings)
    }
}

/// Reads samples from a descriptor that may be endless, of unknown length and not seekable.
///
/// Nothing is dropped: while `read` is not called, the pipe fills and its writer blocks. A stream that declares more frames than it holds
/// ends with a gap of the missing frames; one without a declared length that ends within a frame ends with a gap of 0 frames.
///
/// - Complexity: O(bytes): one copy from the pipe, one conversion. No allocation after `open`.
class PCMCapture: Capture {
    private let path: String
    /// The descriptor to read instead of `path`.
    private let descriptor: Int32?
    private let rawFormat: PCMFormat?

    private var stream: ByteStream?
    private var format: PCMFormat
    /// Declared length in frames; nil when unknown.
    private var declaredFrames: Int64?
    /// Declared bytes beyond whole frames: part of a frame.
    private var declaredRemainder = 0
    /// Frames delivered.
    private var frames: Int64 = 0
    /// Offset of the first sample in the stream, in bytes.
    private var start: Int64 = 0
    private var state = State.beginning

    private enum State {
        /// Nothing is delivered yet. Raw samples are still to be checked for a WAV header.
        case beginning
        case running
        /// Only the end is left to deliver.
        case over
    }

    init(_ settings: PCMSettings, descriptor: Int32? = nil) {
        path = settings.path
        rawFormat = settings.format
        format = settings.format ?? PCMFormat(.f32le, StreamFormat(sampleRate: 1, channelCount: 1))
        self.descriptor = descriptor ?? (settings.path == "-" ? 0 : nil)
    }

    final var isLive: Bool { false }

    /// Whether the stream is stored for a second pass.
    var spools: Bool { false }

    final func open(_ request: FormatRequest) throws(CaptureError) -> StreamSource {
        let stream: ByteStream
        let name = path == "-" ? "standard input" : path
        if let descriptor {
            stream = try ByteStream(descriptor, name: name, isOwner: false, spools: spools)
        } else {
            stream = try ByteStream(path: path, spools: spools)
        }
        stream.isCancelled = request.isCancelled
        var bytes: Int64?
        if let rawFormat {
            format = rawFormat
        } else {
            let header = try WAVHeader(reading: stream)
            format = header.format
            bytes = header.byteCount
            state = .running
        }
        stream.align()
        self.stream = stream
        start = stream.consumed
        declaredFrames = bytes.map { $0 / Int64(format.frameByteCount) }
        declaredRemainder = bytes.map { Int($0 % Int64(format.frameByteCount)) } ?? 0
        let known = declaredFrames ?? stream.size.map { ($0 - start) / Int64(format.frameByteCount) }
        return StreamSource(
            format: format.stream, kind: "pcm", path: name, duration: known.map { format.stream.seconds(at: $0) })
    }

    final func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> ReadResult {
        guard let stream else { preconditionFailure("read before open") }
        if state == .over { return .end }
        let room = samples.count / format.stream.channelCount
        precondition(room > 0, "the buffer holds no frame")
        let rest = declaredFrames.map { $0 - frames } ?? .max
        guard rest > 0 else { return try finishDeclared(stream) }
        let needed = state == .beginning ? max(Self.magicByteCount, format.frameByteCount) : format.frameByteCount
        if stream.count < needed {
            switch try stream.fill(waiting: 100) {
            case .bytes: if stream.count < needed { return .idle }
            case .idle: return .idle
            case .end: if stream.count < format.frameByteCount { return try finish(stream) }
            }
        }
        if state == .beginning { try begin(stream) }
        let count = Int(min(Int64(min(room, stream.count / format.frameByteCount)), rest))
        let sampleCount = count * format.stream.channelCount
        let encoding = format.encoding
        samples.withUnsafeMutableBufferPointer { encoding.convert(stream.bytes, count: sampleCount, to: $0.baseAddress!) }
        stream.consume(count * format.frameByteCount)
        frames += Int64(count)
        return .frames(count)
    }

    final func close() {
        if state == .over, declaredFrames != nil { stream?.drain() }
        stream = nil
    }

    // MARK: - Beginning and end

    /// Number of bytes that identify a WAV stream.
    private static let magicByteCount = 12

    /// Refuses a WAV stream that is read as raw samples: its header would be noise, and shift all samples after it.
    private func begin(_ stream: ByteStream) throws(CaptureError) {
        state = .running
        guard rawFormat != nil, stream.hasText("WAVE", at: 8), stream.hasText("RIFF") || stream.hasText("RF64") else { return }
        throw CaptureError("\(stream.name) is a WAV stream, whose header states the sample format; leave out --raw")
    }

    /// All declared frames are delivered.
    private func finishDeclared(_ stream: ByteStream) throws(CaptureError) -> ReadResult {
        if stream.count < declaredRemainder {
            switch try stream.fill(waiting: 100) {
            case .bytes, .idle: return .idle
            case .end: return try finish(stream)
            }
        }
        state = .over
        return .end
    }

    /// Handles the end of the stream.
    private func finish(_ stream: ByteStream) throws(CaptureError) -> ReadResult {
        state = .over
        if stream.count == 0, stream.consumed == 0 { throw WAVHeader.empty(stream.name) }
        if let declaredFrames { return .gap(Gap(frames: declaredFrames - frames, reason: .truncatedFile)) }
        return stream.count > 0 ? .gap(Gap(frames: 0, reason: .truncatedFile)) : .end
    }

    fileprivate final func restart() throws(CaptureError) {
        guard let stream else { preconditionFailure("rewind before open") }
        stream.rewind(to: start)
        frames = 0
        state = .running
    }
}

/// A capture that stores the stream in an unlinked file while it is read, so that it can be read again.
final class SpooledPCMCapture: PCMCapture, RewindableCapture {
    override var spools: Bool { true }

    func rewind() throws(CaptureError) {
        try restart()
    }
}
