internal import Hemiola
internal import HemiolaRIFF
internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The bytes of a file descriptor, in blocks, through a buffer of its own.
///
/// Every wait is bounded: the reader says how long, and hears `.idle` when nothing came.
final class ByteStream: ChunkSource {
    /// Bytes in a block. A pipe is asked to hold as many.
    static let capacity = 1 << 17

    /// Linux's F_SETPIPE_SZ, which its headers show to GNU sources only.
    private static let setPipeSize: Int32 = 1024 + 7

    /// What a wait brought.
    enum Progress { case bytes, idle, end }

    /// What messages call it.
    let name: String
    /// The size of a file, in bytes from where reading began; nil for whatever is no regular file.
    let size: Int64?

    /// Whether nobody waits for these bytes any more.
    var isCancelled: @Sendable () -> Bool = { false }

    private let descriptor: Int32
    private let isOwner: Bool
    /// Where the descriptor stood at first.
    private let origin: Int64
    private let buffer: UnsafeMutableRawPointer
    /// The bytes that were read and not yet taken.
    private var head = 0
    private var tail = 0
    /// Bytes read from the descriptor, or heard again from the spool.
    private var position: Int64 = 0
    private var isOver = false
    private var spool: Spool?

    /// - Parameters:
    ///   - descriptor: Open for reading.
    ///   - isOwner: Whether to close it in the end.
    ///   - spools: Whether to keep what is read, so that `rewind` can go back. A regular file needs no keeping.
    init(_ descriptor: Int32, name: String, isOwner: Bool, spools: Bool) throws(CaptureError) {
        self.descriptor = descriptor
        self.name = name
        self.isOwner = isOwner
        do throws(CaptureError) {
            (origin, size) = try Self.inspect(descriptor, name: name)
            spool = spools && size == nil ? try Spool(for: name) : nil
        } catch {
            if isOwner { close(descriptor) }
            throw error
        }
        buffer = .allocate(byteCount: Self.capacity + PCMEncoding.spareByteCount, alignment: 64)
        buffer.initializeMemory(as: UInt8.self, repeating: 0, count: Self.capacity + PCMEncoding.spareByteCount)
        // Fewer turns between the writer and us; a pipe that may not grow is read all the same.
        if size == nil { _ = fcntl(descriptor, Self.setPipeSize, Int32(Self.capacity)) }
    }

    /// Opens a path. A FIFO that nobody writes to yet is `.idle`, not a reason to hang.
    convenience init(path: String, spools: Bool) throws(CaptureError) {
        let name = PathText.shown(path)
        let descriptor = open(PathText.systemPath(path), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw CaptureError("cannot open \(name): \(String.lastError)")
        }
        try self.init(descriptor, name: name, isOwner: true, spools: spools)
    }

    deinit {
        if isOwner { close(descriptor) }
        buffer.deallocate()
    }

    private static let example = "pipe audio in, as in ffmpeg -v error -i FILE -f wav - | hemiola analyze -"

    private static func inspect(_ descriptor: Int32, name: String) throws(CaptureError) -> (origin: Int64, size: Int64?) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw CaptureError("cannot read \(name): it is closed; \(example)")
        }
        if isatty(descriptor) == 1 {
            throw CaptureError("\(name) is a terminal; \(example)")
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            throw CaptureError("\(name) is a directory; name a pipe or a file")
        case S_IFREG:
            let origin = Int64(lseek(descriptor, 0, SEEK_CUR))
            return (max(0, origin), max(0, Int64(status.st_size) - max(0, origin)))
        default:
            return (0, nil)
        }
    }

    // MARK: - Reading

    /// Bytes that wait to be taken.
    var count: Int { tail - head }

    /// They begin here; good until the next `fill`.
    var bytes: UnsafeRawPointer { UnsafeRawPointer(buffer + head) }

    /// Bytes that were taken since the start.
    var taken: Int64 { position - Int64(count) }

    /// Takes bytes from the front.
    func take(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "more bytes than there are")
        head += count
    }

    /// Moves what is left to the front of the buffer, where it is aligned for every sample.
    func align() {
        if head == 0 { return }
        buffer.copyMemory(from: buffer + head, byteCount: count)
        (head, tail) = (0, count)
    }

    /// Reads on behind what is left. Call it when that is too short.
    ///
    /// - Returns: `.bytes` when there are more than before, `.idle` when none came in time, `.end` when none will come.
    func fill(waiting milliseconds: Int32) throws(CaptureError) -> Progress {
        if isOver { return .end }
        align()
        let room = Self.capacity - tail
        precondition(room > 0, "the buffer is full")
        if let spool, position < spool.count {
            advance(try spool.recall(into: buffer + tail, from: position, atMost: room))
            return .bytes
        }
        guard try isReady(within: milliseconds) else { return .idle }
        // A regular file may be shared with others that move it: it is read at our own place.
        let count =
            size == nil
            ? read(descriptor, buffer + tail, room) : pread(descriptor, buffer + tail, room, off_t(origin + position))
        if count < 0 {
            if errno == EINTR || errno == EAGAIN { return .idle }
            throw CaptureError("cannot read \(name): \(String.lastError)")
        }
        if count == 0 {
            isOver = true
            return .end
        }
        if let spool { try spool.keep(buffer + tail, count) }
        advance(count)
        return .bytes
    }

    private func advance(_ count: Int) {
        tail += count
        position += Int64(count)
    }

    private func isReady(within milliseconds: Int32) throws(CaptureError) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let ready = poll(&request, 1, milliseconds)
        if ready < 0 && errno != EINTR { throw CaptureError("cannot read \(name): \(String.lastError)") }
        // POLLHUP is ready, too: what the writer left behind can still be read.
        return ready > 0
    }

    /// Goes back to a place that was taken before.
    func rewind(to place: Int64) {
        precondition(size != nil || spool != nil, "these bytes were not kept")
        (head, tail, position, isOver) = (0, 0, place, false)
    }

    /// Reads away what the writer still has to say, until it pauses or has said too much, so that it is not killed in the middle of
    /// its last chunks.
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
    /// Waits until so many bytes wait to be taken.
    ///
    /// - Returns: false when the stream ends before.
    func holds(_ count: Int) throws(CaptureError) -> Bool {
        while self.count < count {
            if isCancelled() { throw CaptureError("\(name): interrupted before the sound began", remedy: .finish) }
            if try fill(waiting: 100) == .end { return false }
        }
        return true
    }

    /// Takes bytes up to an offset, in bytes since the start, that was not yet taken.
    ///
    /// - Returns: false when the stream ends before.
    func skip(to offset: Int64) throws(CaptureError) -> Bool {
        while taken < offset {
            guard try holds(1) else { return false }
            take(Int(min(offset - taken, Int64(count))))
        }
        return true
    }

    /// Waits for bytes at an offset and copies them; takes those before them.
    func bytes(at offset: Int64, count: Int) throws(CaptureError) -> [UInt8] {
        guard try skip(to: offset) else { return [] }
        _ = try holds(count)
        return Array(UnsafeRawBufferPointer(start: bytes, count: min(count, self.count)))
    }

    /// Whether these characters stand there.
    func spells(_ word: StaticString, at offset: Int = 0) -> Bool {
        count >= offset + word.utf8CodeUnitCount && memcmp(bytes + offset, word.utf8Start, word.utf8CodeUnitCount) == 0
    }
}

extension String {
    /// What the system says about the last call.
    static var lastError: String { String(cString: strerror(errno)) }
}
