public import Hemiola

/// Reads samples, raw or with a header, from a descriptor that may be endless, of unknown length and not seekable.
///
/// Nothing is dropped: while `read` is not called, the pipe fills and its writer blocks. A stream that declares more frames than it holds
/// ends with a gap of the missing frames; one without a declared length that ends within a frame ends with a gap of 0 frames.
/// In a live run, a FIFO does not end when its writer closes it: the next writer goes on after a gap of 0 frames, at the start of a frame.
///
/// A capture can be one, or read from one, as the captures `pcm` and `exec` do. Messages begin with the name of the stream.
///
/// - Complexity: O(bytes): one copy from the pipe, one conversion. No allocation after `open`.
public class PCMReader: Capture {
    /// Where the stream comes from.
    public enum Input: Sendable, Hashable {
        /// A pipe, a FIFO or a file.
        case path(String)
        /// A descriptor that stays open.
        case descriptor(Int32)
    }

    private let input: Input
    private let name: String
    private let kind: String
    private let advice: PCMAdvice
    private let rawFormat: PCMFormat?
    /// The header of a file that is parsed already.
    private let header: PCMHeader?

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

    /// Whether further writers are waited for, and whether the user was told.
    private var waitsForWriters = false
    private var warn: (@Sendable (String) -> Void)?

    private enum State {
        /// Nothing is delivered yet. Raw samples are still to be checked for a header.
        case beginning
        case running
        /// The declared frames are delivered, and the writer has not closed the FIFO yet.
        case skipping
        /// The next writer of the FIFO has not written yet.
        case waiting
        /// Only the end is left to deliver.
        case over
    }

    /// A reader of a stream. Opens nothing.
    ///
    /// - Parameters:
    ///   - input: Where the stream comes from.
    ///   - name: The name in messages and records.
    ///   - kind: The kind of source in records.
    ///   - format: The format of raw samples; nil: a stream with a header.
    ///   - advice: What messages suggest.
    ///   - header: The header of a file, if it is parsed already.
    public required init(
        _ input: Input, name: String, kind: String = "pcm", format: PCMFormat?, advice: PCMAdvice = .pipe, header: PCMHeader? = nil
    ) {
        self.input = input
        self.header = header
        self.name = name
        self.kind = kind
        self.advice = advice
        rawFormat = format
        self.format = format ?? PCMFormat(.f32le, StreamFormat(sampleRate: 1, channelCount: 1))
    }

    public final var isLive: Bool { false }

    /// Whether the stream is stored for a second pass.
    var spools: Bool { false }

    public final func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        let stream: ByteStream
        switch input {
        case .path(let path): stream = try ByteStream(path: path, spools: spools)
        case .descriptor(let number):
            stream = try ByteStream(FileDescriptor(number), name: name, isOwner: false, spools: spools, from: header == nil ? nil : 0)
        }
        stream.advice = advice
        stream.isCancelled = request.isCancelled
        waitsForWriters = request.waitsForWriters && stream.isFIFO
        warn = request.warn
        if waitsForWriters, try stream.fill(waiting: 100) == .idle { sayThatItWaits() }
        // A header has to come from somewhere.
        while waitsForWriters, rawFormat == nil, try !stream.load(1) { try stream.reopen() }
        try begin(stream, with: header)
        if let header { stream.rewind(to: header.offset) }
        stream.align()
        self.stream = stream
        start = stream.consumed
        let known = declaredFrames ?? stream.size.map { ($0 - start) / Int64(format.frameByteCount) }
        return StreamSource(
            format: format.stream, kind: kind, path: name, duration: known.map { format.stream.seconds(at: $0) })
    }

    /// Determines the format of what the writer writes: reads its header.
    private func begin(_ stream: ByteStream, with known: PCMHeader? = nil) throws(Problem) {
        (frames, declaredFrames, declaredRemainder) = (0, nil, 0)
        if let rawFormat {
            (format, state) = (rawFormat, .beginning)
            return
        }
        let header: PCMHeader
        if let known { header = known } else { header = try PCMHeader(reading: stream) }
        format = try header.supportedFormat(of: stream)
        state = .running
        guard let bytes = header.byteCount else { return }
        declaredFrames = bytes / Int64(format.frameByteCount)
        declaredRemainder = Int(bytes % Int64(format.frameByteCount))
    }

    public final func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        guard let stream else { preconditionFailure("read before open") }
        switch state {
        case .over: return .end
        case .skipping, .waiting: return try wait(for: stream)
        case .beginning, .running: break
        }
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
        if state == .beginning { try checkRaw(stream) }
        let count = Int(min(Int64(min(room, stream.count / format.frameByteCount)), rest))
        let sampleCount = count * format.stream.channelCount
        let encoding = format.encoding
        samples.withUnsafeMutableBufferPointer { encoding.convert(stream.bytes, count: sampleCount, to: $0.baseAddress!) }
        stream.consume(count * format.frameByteCount)
        frames += Int64(count)
        return .frames(count)
    }

    public final func close() {
        if state == .over, declaredFrames != nil { stream?.drain() }
        stream = nil
    }

    // MARK: - Beginning and end

    /// Number of bytes that identify a container.
    private static let magicByteCount = WaveFileHeader.size

    /// Refuses a stream with a header that is read as raw samples: its header would be noise, and shift all samples after it.
    private func checkRaw(_ stream: ByteStream) throws(Problem) {
        state = .running
        let head = try stream.bytes(at: stream.consumed, count: Self.magicByteCount)
        guard rawFormat != nil, let container = PCMHeader.Container(head) else { return }
        throw Problem(
            "\(stream.name) is a \(container.rawValue) stream, whose header states the sample format; "
                + "leave out \(stream.advice.rawOption)")
    }

    /// All declared frames are delivered.
    private func finishDeclared(_ stream: ByteStream) throws(Problem) -> ReadResult {
        if stream.count < declaredRemainder {
            switch try stream.fill(waiting: 100) {
            case .bytes, .idle: return .idle
            case .end: return try finish(stream)
            }
        }
        state = waitsForWriters ? .skipping : .over
        return waitsForWriters ? .idle : .end
    }

    /// Waits until the writer closes the FIFO, then for what the next one writes.
    private func wait(for stream: ByteStream) throws(Problem) -> ReadResult {
        if state == .skipping { stream.consume(stream.count) }
        switch try stream.fill(waiting: 100) {
        case .idle: return .idle
        case .end: return try finish(stream)
        case .bytes: if state == .skipping { return .idle }
        }
        let before = format.stream
        try begin(stream)
        stream.align()
        return format.stream == before ? .gap(Gap(frames: 0, reason: .suspended)) : .format(format.stream)
    }

    private func sayThatItWaits() {
        warn?("waiting for sound in \(name)")
        warn = nil
    }

    /// Handles the end of the stream.
    private func finish(_ stream: ByteStream) throws(Problem) -> ReadResult {
        if waitsForWriters {
            // Drops the rest of a frame, so that the next writer's channels stay in their places.
            try stream.reopen()
            state = .waiting
            sayThatItWaits()
            return .idle
        }
        state = .over
        if stream.count == 0, stream.consumed == 0 { throw UnsupportedFormat.empty(stream.name) }
        if let declaredFrames { return .gap(Gap(frames: declaredFrames - frames, reason: .truncatedFile)) }
        return stream.count > 0 ? .gap(Gap(frames: 0, reason: .truncatedFile)) : .end
    }

    /// Goes on in a regular file without reading what lies between, before the first `read`.
    ///
    /// - Parameter count: The number of frames.
    /// - Returns: The number of frames that are skipped: `count`, or as many as the file holds; 0 of a pipe.
    public final func skip(_ count: Int64) -> Int64 {
        guard let stream, let size = stream.size else { return 0 }
        let frameSize = Int64(format.frameByteCount)
        frames = max(0, min(count, (size - start) / frameSize, declaredFrames ?? .max))
        stream.rewind(to: start + frames * frameSize)
        return frames
    }

    fileprivate final func restart() throws(Problem) {
        guard let stream else { preconditionFailure("rewind before open") }
        stream.rewind(to: start)
        frames = 0
        state = .running
    }
}

/// A reader that stores the stream in an unlinked file in `$TMPDIR` while it is read, so that it can be read again. A regular file is not
/// stored.
public final class SpooledPCMReader: PCMReader, RewindableCapture {
    override var spools: Bool { true }

    public func rewind() throws(Problem) {
        try restart()
    }
}

extension SettingReader {
    /// The setting `spool`, false by default, which selects a ``SpooledPCMReader``.
    public mutating func spool() -> Bool {
        boolean("spool", default: false, "Store the stream in an unlinked file in $TMPDIR, so that it can be read twice.")
    }
}
