public import Hemiola
internal import HemiolaSignal

extension CapturePlugin {
    /// Samples from standard input, a pipe, a FIFO or a file: a WAV stream, or raw.
    public static let pcm = CapturePlugin(
        "pcm", "Samples from standard input, a pipe or a FIFO: a WAV stream, or raw.",
        settings: PCMSettings.declared, primary: "path"
    ) { settings throws(ConfigurationError) in
        let settings = try PCMSettings(settings)
        return settings.spools ? SpooledPCMCapture(settings) : PCMCapture(settings)
    }
}

/// Reads samples from a descriptor that may have no end, no length and no place to go back to.
///
/// Nothing is dropped: while nobody reads, the pipe fills and its writer waits. A stream that promises more frames than it holds
/// ends with a gap of those that are missing; one that promises nothing and ends within a frame, with a gap of none.
///
/// - Complexity: O(bytes): one copy out of the pipe, one conversion. No allocation after `open`.
class PCMCapture: Capture {
    private let path: String
    /// The descriptor that is read instead of the path's.
    private let descriptor: Int32?
    private let rawFormat: PCMFormat?

    private var stream: ByteStream?
    private var format: PCMFormat
    /// Frames that the header promises, or nil when there is no telling.
    private var promise: Int64?
    /// Bytes that it promises beyond them: a part of a frame.
    private var promisedRest = 0
    private var frames: Int64 = 0
    /// Where the samples begin in the stream.
    private var start: Int64 = 0
    private var state = State.beginning

    private enum State {
        /// Nothing was delivered, and raw samples may yet turn out to be a WAV stream.
        case beginning
        case running
        /// Everything has been delivered but the end.
        case over
    }

    init(_ settings: PCMSettings, descriptor: Int32? = nil) {
        path = settings.path
        rawFormat = settings.format
        format = settings.format ?? PCMFormat(.f32le, StreamFormat(sampleRate: 1, channelCount: 1))
        self.descriptor = descriptor ?? (settings.path == "-" ? 0 : nil)
    }

    final var isLive: Bool { false }

    /// Whether what is read is kept.
    var spools: Bool { false }

    final func open(_ wish: FormatWish) throws(CaptureError) -> StreamSource {
        let stream: ByteStream
        let name = path == "-" ? "standard input" : path
        if let descriptor {
            stream = try ByteStream(descriptor, name: name, isOwner: false, spools: spools)
        } else {
            stream = try ByteStream(path: path, spools: spools)
        }
        stream.isCancelled = wish.isCancelled
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
        start = stream.taken
        promise = bytes.map { $0 / Int64(format.frameByteCount) }
        promisedRest = bytes.map { Int($0 % Int64(format.frameByteCount)) } ?? 0
        let known = promise ?? stream.size.map { ($0 - start) / Int64(format.frameByteCount) }
        return StreamSource(
            format: format.stream, kind: "pcm", path: name, duration: known.map { format.stream.seconds(at: $0) })
    }

    final func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> Delivery {
        guard let stream else { preconditionFailure("a capture is opened before it is read") }
        if state == .over { return .end }
        let room = samples.count / format.stream.channelCount
        precondition(room > 0, "there is no room for a frame")
        let rest = promise.map { $0 - frames } ?? .max
        guard rest > 0 else { return try finishPromise(stream) }
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
        stream.take(count * format.frameByteCount)
        frames += Int64(count)
        return .frames(count)
    }

    final func close() {
        if state == .over, promise != nil { stream?.drain() }
        stream = nil
    }

    // MARK: - Beginning and end

    /// As many bytes as tell a WAV stream.
    private static let magicByteCount = 12

    /// A header that is heard as samples is a burst of noise, and then everything is shifted.
    private func begin(_ stream: ByteStream) throws(CaptureError) {
        state = .running
        guard rawFormat != nil, stream.spells("WAVE", at: 8), stream.spells("RIFF") || stream.spells("RF64") else { return }
        throw CaptureError("\(stream.name) is a WAV stream and says itself how its samples are written; leave out --raw")
    }

    /// All promised frames were delivered.
    private func finishPromise(_ stream: ByteStream) throws(CaptureError) -> Delivery {
        if stream.count < promisedRest {
            switch try stream.fill(waiting: 100) {
            case .bytes, .idle: return .idle
            case .end: return try finish(stream)
            }
        }
        state = .over
        return .end
    }

    /// The stream ends here.
    private func finish(_ stream: ByteStream) throws(CaptureError) -> Delivery {
        state = .over
        if stream.count == 0, stream.taken == 0 { throw WAVHeader.empty(stream.name) }
        if let promise { return .gap(Gap(frames: promise - frames, reason: .truncatedFile)) }
        return stream.count > 0 ? .gap(Gap(frames: 0, reason: .truncatedFile)) : .end
    }

    fileprivate final func goBack() throws(CaptureError) {
        guard let stream else { preconditionFailure("a capture is opened before it is rewound") }
        stream.rewind(to: start)
        frames = 0
        state = .running
    }
}

/// The same stream, kept in a file without a name as it is read, so that it can be heard again.
final class SpooledPCMCapture: PCMCapture, RewindableCapture {
    override var spools: Bool { true }

    func rewind() throws(CaptureError) {
        try goBack()
    }
}
