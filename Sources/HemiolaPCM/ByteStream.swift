internal import Hemiola

/// A buffered reader of a file descriptor.
///
/// Waits are bounded: `fill` returns `.idle` when no bytes arrive in time.
final class ByteStream: ChunkSource {
    /// Size of the buffer in bytes, and the requested size of a pipe.
    static let capacity = 1 << 17

    /// The result of `fill`.
    enum Progress { case bytes, idle, end }

    /// The name in messages.
    let name: String
    /// Bytes of a regular file from the position where reading began; nil for anything else.
    let size: Int64?

    /// What messages suggest.
    var advice = PCMAdvice.pipe

    /// Whether the run is cancelled; ends a wait for the header.
    var isCancelled: @Sendable () -> Bool = { false }

    private var file: FileDescriptor
    private let isOwner: Bool
    /// The path of a FIFO that further writers can open; nil for anything else, such as a pipe in /dev/fd.
    private let fifo: String?
    /// The initial position of the descriptor.
    private let origin: Int64
    private let buffer: UnsafeMutableRawPointer
    /// The range of buffered bytes.
    private var head = 0
    private var tail = 0
    /// Bytes read so far from the descriptor or, after a rewind, from the spool file.
    private var position: Int64 = 0
    private var isOver = false
    private var spool: Spool?

    /// - Parameters:
    ///   - file: Open for reading.
    ///   - isOwner: Whether to close it in deinit.
    ///   - spools: Whether to store the bytes, so that `rewind` works. A regular file is reread instead.
    ///   - origin: Where in a regular file to begin, in bytes; nil: at the position of the descriptor.
    ///   - fifo: The path of the FIFO that the descriptor is of.
    init(
        _ file: FileDescriptor, name: String, isOwner: Bool, spools: Bool, from origin: Int64? = nil, fifo: String? = nil
    ) throws(Problem) {
        self.file = file
        self.fifo = fifo
        self.name = name
        self.isOwner = isOwner
        do {
            (self.origin, size) = try Self.inspect(file, name: name, from: origin)
            spool = spools && size == nil ? try Spool(for: name) : nil
        } catch {
            if isOwner { file.close() }
            throw error
        }
        buffer = .allocate(byteCount: Self.capacity + PCMEncoding.spareByteCount, alignment: 64)
        buffer.initializeMemory(as: UInt8.self, repeating: 0, count: Self.capacity + PCMEncoding.spareByteCount)
        enlargePipe()
    }

    /// A larger pipe needs fewer context switches. Failure is harmless.
    private func enlargePipe() {
        if size == nil { file.setPipeSize(Self.capacity) }
    }

    /// Opens a path. Does not block on a FIFO without a writer: `fill` then returns `.idle`.
    convenience init(path: String, spools: Bool) throws(Problem) {
        let file = try Self.open(path)
        let isFIFO = (try? file.status().kind) == .pipe && FileSystem.realPath(path) != nil
        try self.init(file, name: PathText.shown(path), isOwner: true, spools: spools, fifo: isFIFO ? path : nil)
    }

    private static func open(_ path: String) throws(Problem) -> FileDescriptor {
        do { return try FileDescriptor.open(path, [.nonBlocking]) } catch {
            throw Problem("cannot open \(PathText.shown(path)): \(error)")
        }
    }

    deinit {
        if isOwner { file.close() }
        buffer.deallocate()
    }

    private static let example = "pipe audio into it, for example ffmpeg -v error -i FILE -f wav - | hemiola analyze -"

    private static func inspect(
        _ file: FileDescriptor, name: String, from start: Int64?
    ) throws(Problem) -> (origin: Int64, size: Int64?) {
        guard let status = try? file.status() else {
            throw Problem("cannot read \(name): it is closed; \(example)")
        }
        if file.isTerminal {
            throw Problem("\(name) is a terminal; \(example)")
        }
        switch status.kind {
        case .folder:
            throw Problem("\(name) is a directory; specify a pipe or a file")
        case .file:
            let origin = max(0, start ?? file.offset ?? 0)
            return (origin, max(0, Int64(status.size) - origin))
        default:
            return (0, nil)
        }
    }

    // MARK: - Reading

    /// Number of buffered bytes.
    var count: Int { tail - head }

    /// The buffered bytes; valid until the next `fill`.
    var bytes: UnsafeRawPointer { UnsafeRawPointer(buffer + head) }

    /// Bytes consumed since the start.
    var consumed: Int64 { position - Int64(count) }

    /// Consumes buffered bytes.
    func consume(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "cannot consume more bytes than are buffered")
        head += count
    }

    /// Moves the buffered bytes to the front of the buffer, where samples of every encoding are aligned.
    func align() {
        if head == 0 { return }
        buffer.copyMemory(from: buffer + head, byteCount: count)
        (head, tail) = (0, count)
    }

    /// Reads more bytes into the buffer, which must not be full.
    ///
    /// - Returns: `.bytes` when bytes were added, `.idle` when none arrived in time, `.end` at the end of the stream.
    func fill(waiting milliseconds: Int32) throws(Problem) -> Progress {
        if isOver { return .end }
        align()
        let room = Self.capacity - tail
        precondition(room > 0, "the buffer is full")
        let target = UnsafeMutableRawBufferPointer(start: buffer + tail, count: room)
        if let spool, position < spool.count {
            advance(try spool.read(into: target, from: position))
            return .bytes
        }
        // What is ready may be the end, or an error.
        guard file.isReadable(within: Double(milliseconds) / 1000) else { return .idle }
        let count: Int
        do {
            // At an offset, because another process may share the descriptor and move its position.
            count = try file.read(into: target, at: size == nil ? nil : origin + position)
        } catch {
            if error.code == .wouldBlock { return .idle }
            throw Problem("cannot read \(name): \(error)")
        }
        if count == 0 {
            isOver = true
            return .end
        }
        if let spool { try spool.append(UnsafeRawBufferPointer(start: buffer + tail, count: count)) }
        advance(count)
        return .bytes
    }

    /// Whether another writer may come when the last one has closed its end.
    var isFIFO: Bool { fifo != nil }

    /// Drops what is buffered, and goes on with what the next writer of a FIFO writes, as at its beginning.
    ///
    /// A descriptor that has seen a writer is at its end, and ready, until the next one comes; a new one waits.
    func reopen() throws(Problem) {
        guard let fifo else { preconditionFailure("not a FIFO") }
        let new = try Self.open(fifo)
        file.close()
        file = new
        (head, tail, isOver) = (0, 0, false)
        enlargePipe()
    }

    private func advance(_ count: Int) {
        tail += count
        position += Int64(count)
    }

    /// Continues at an offset that was read before, or at any offset of a regular file.
    func rewind(to offset: Int64) {
        precondition(size != nil || spool != nil, "the stream was not stored")
        (head, tail, position, isOver) = (0, 0, offset, false)
    }

    /// Discards the rest of the stream until the writer pauses, at most 64 buffers, so that SIGPIPE does not kill the writer while it
    /// writes its last chunks.
    func drain() {
        guard size == nil else { return }
        for _ in 0..<64 where !isOver {
            (head, tail) = (0, 0)
            guard (try? fill(waiting: 50)) == .bytes else { return }
        }
    }
}

// MARK: - Reading a header

extension ByteStream {
    /// Waits until `count` bytes are buffered.
    ///
    /// - Returns: false when the stream ends before.
    func load(_ count: Int) throws(Problem) -> Bool {
        while self.count < count {
            if isCancelled() { throw Problem("\(name): interrupted before the audio began", remedy: .finish) }
            if try fill(waiting: 100) == .end { return false }
        }
        return true
    }

    /// Discards bytes up to an offset in bytes since the start, which must not be consumed yet.
    ///
    /// - Returns: false when the stream ends before.
    func skip(to offset: Int64) throws(Problem) -> Bool {
        while consumed < offset {
            guard try load(1) else { return false }
            consume(Int(min(offset - consumed, Int64(count))))
        }
        return true
    }

    /// Waits for bytes at an offset and copies them. Discards the bytes before.
    func bytes(at offset: Int64, count: Int) throws(Problem) -> [UInt8] {
        guard try skip(to: offset) else { return [] }
        _ = try load(count)
        return Array(UnsafeRawBufferPointer(start: bytes, count: min(count, self.count)))
    }
}
