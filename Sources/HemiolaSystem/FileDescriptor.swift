internal import Glibc

/// An open file, pipe, socket or device, by its number. It stays open until ``close()``, whatever becomes of this value.
///
/// Calls that a signal interrupts are repeated.
public struct FileDescriptor: Sendable, Hashable {
    /// How a file is opened: without an option for reading only, and as it is.
    public enum Option: Sendable {
        /// For writing only (`O_WRONLY`).
        case writeOnly
        /// For reading and writing (`O_RDWR`).
        case readWrite
        /// Every write is added to the end of the file (`O_APPEND`).
        case append
        /// A missing file is created, with the permissions that the umask leaves (`O_CREAT`).
        case create
        /// With `create`: an existing file is an error (`O_EXCL`).
        case exclusive
        /// The bytes of an existing file are removed (`O_TRUNC`).
        case truncate
        /// No call waits, not even this one for the other end of a named pipe (`O_NONBLOCK`).
        case nonBlocking
        /// A symbolic link at the end of the path is an error (`O_NOFOLLOW`).
        case noFollow

        fileprivate static let flags: [Option: Int32] = [
            .writeOnly: O_WRONLY, .readWrite: O_RDWR, .append: O_APPEND, .create: O_CREAT, .exclusive: O_EXCL, .truncate: O_TRUNC,
            .nonBlocking: O_NONBLOCK, .noFollow: O_NOFOLLOW,
        ]
    }

    /// Standard input of this process.
    package static let standardInput = FileDescriptor(STDIN_FILENO)
    /// Standard output of this process, as ``StandardOutput`` has it.
    package static var standardOutput: FileDescriptor { FileDescriptor(StandardOutput.descriptor) }
    /// Standard error of this process.
    package static let standardError = FileDescriptor(STDERR_FILENO)

    /// The number, as the system has it.
    public let number: Int32

    /// What is open under a number.
    public init(_ number: Int32) {
        self.number = number
    }

    /// Opens a file. It does not become the terminal of this process, and programs that this process starts do not inherit it.
    ///
    /// - Parameters:
    ///   - path: Its path, in the form of ``PathText``.
    ///   - options: How it is opened.
    /// - Throws: It does not exist, or cannot be opened in this way.
    public static func open(_ path: String, _ options: Set<Option> = []) throws(SystemCallError) -> FileDescriptor {
        let flags = options.reduce(O_CLOEXEC | O_NOCTTY) { $0 | Option.flags[$1]! }
        let systemPath = PathText.systemPath(path)
        return FileDescriptor(Int32(try repeated { Int(Glibc.open(systemPath, flags, 0o666)) }))
    }

    /// The result of a call, which is repeated where a signal interrupts it.
    private static func repeated(_ call: () -> Int) throws(SystemCallError) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw SystemCallError.last }
        }
    }

    /// Closes it, also where an error is returned.
    ///
    /// - Returns: Why bytes that were written may be lost; nil: none are.
    @discardableResult
    public func close() -> SystemCallError? {
        // After EINTR, Linux has closed the descriptor all the same.
        Glibc.close(number) == 0 || errno == EINTR ? nil : SystemCallError.last
    }

    /// A second descriptor of the same open file. Programs that this process starts do not inherit it.
    public func duplicate() throws(SystemCallError) -> FileDescriptor {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemCallError.last }
        return FileDescriptor(copy)
    }

    /// What the system reports about the open file.
    public func status() throws(SystemCallError) -> FileStatus {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw SystemCallError.last }
        return FileStatus(status)
    }

    /// Whether it is a terminal.
    package var isTerminal: Bool { isatty(number) == 1 }

    /// The size of a terminal in cells; nil: it is not known, or this is no terminal.
    package var terminalSize: (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether it is open, and not for reading only.
    package var isWritable: Bool {
        let flags = fcntl(number, F_GETFL)
        return flags != -1 && flags & O_ACCMODE != O_RDONLY
    }

    /// Locks the file for this process until it is closed, if no other process has locked it. Does not wait.
    ///
    /// - Returns: false: another process has the lock. true also where a file system has no locks.
    public func lock() -> Bool {
        while flock(number, LOCK_EX | LOCK_NB) == -1 {
            if errno != EINTR { return errno != EWOULDBLOCK }
        }
        return true
    }

    /// Sets the size of a pipe, at least a page: a larger one needs fewer switches between processes. After an error it keeps its size.
    package func setPipeSize(_ byteCount: Int) {
        // Linux's F_SETPIPE_SZ, which the headers declare for GNU sources only.
        _ = fcntl(number, 1024 + 7, Int32(byteCount))
    }

    /// Lets a terminal pass on all bytes as they are. Anything else stays as it is.
    package func makeRaw() {
        var modes = termios()
        guard tcgetattr(number, &modes) == 0 else { return }
        cfmakeraw(&modes)
        tcsetattr(number, TCSANOW, &modes)
    }
}

// MARK: - Reading

extension FileDescriptor {
    /// Reads once: fewer bytes than there is room for, where no more have arrived or the file ends.
    ///
    /// - Parameters:
    ///   - bytes: Room for the bytes.
    ///   - offset: Where in the file; nil: at the position of the descriptor, which advances.
    /// - Returns: The number of bytes; 0 at the end.
    /// - Throws: An error; ``SystemCallError/Code/wouldBlock`` where the descriptor does not wait and there are none yet.
    public func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int64? = nil) throws(SystemCallError) -> Int {
        try Self.repeated {
            if let offset { return pread(number, bytes.baseAddress, bytes.count, off_t(offset)) }
            return Glibc.read(number, bytes.baseAddress, bytes.count)
        }
    }

    /// Reads once, at the position of the descriptor: at most so many bytes; none at the end.
    ///
    /// - Throws: An error, as ``read(into:at:)``.
    public func read(atMost count: Int) throws(SystemCallError) -> [UInt8] {
        try Self.bytes(count) { bytes throws(SystemCallError) in try read(into: bytes) }
    }

    /// The bytes at an offset. Takes memory for all of them.
    ///
    /// - Returns: Fewer than `count` where the file ends.
    public func bytes(at offset: Int64, count: Int) throws(SystemCallError) -> [UInt8] {
        try Self.bytes(count) { bytes throws(SystemCallError) in
            var filled = 0
            while filled < bytes.count {
                let step = try read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]), at: offset + Int64(filled))
                if step == 0 { break }
                filled += step
            }
            return filled
        }
    }

    /// Waits for bytes at the position of the descriptor, and reads at most so many; none at the end.
    package func next(atMost count: Int) throws(SystemCallError) -> [UInt8] {
        while true {
            do {
                return try read(atMost: count)
            } catch {
                // Another process has set the shared terminal or pipe to non-blocking.
                guard error.code == .wouldBlock else { throw error }
                waits(for: POLLIN, milliseconds: -1)
            }
        }
    }

    /// All bytes from the position of the descriptor to the end. Waits for those of a pipe.
    ///
    /// - Parameter limit: How many are read at most.
    public func readAll(atMost limit: Int = .max) throws(SystemCallError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            let more = try next(atMost: min(1 << 16, limit - bytes.count))
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }

    /// Waits until a read does not wait: there are bytes, the end, or an error.
    ///
    /// - Returns: false: the time is over, or a signal has come.
    package func isReadable(within seconds: Double) -> Bool {
        waits(for: POLLIN, milliseconds: Int32((seconds * 1000).rounded()))
    }

    @discardableResult
    private func waits(for events: Int32, milliseconds: Int32) -> Bool {
        var request = pollfd(fd: number, events: Int16(events), revents: 0)
        return poll(&request, 1, milliseconds) > 0
    }

    private static func bytes(
        _ count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int
    ) throws(SystemCallError) -> [UInt8] {
        var failure: SystemCallError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // Safe: as many bytes are initialized as were read.
            do throws(SystemCallError) {
                filled = try fill(UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}

// MARK: - Writing

extension FileDescriptor {
    /// Writes once: maybe only a part.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - offset: Where in the file; nil: at the position of the descriptor, which advances.
    /// - Returns: The number of bytes that were written.
    /// - Throws: An error; ``SystemCallError/Code/wouldBlock`` where the descriptor does not wait and accepts none now.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64? = nil) throws(SystemCallError) -> Int {
        try Self.repeated {
            if let offset { return pwrite(number, bytes.baseAddress, bytes.count, off_t(offset)) }
            return Glibc.write(number, bytes.baseAddress, bytes.count)
        }
    }

    /// Writes all bytes, as ``write(_:at:)``. Waits while the descriptor accepts none, also where another process has set a shared terminal
    /// or pipe to non-blocking. After an error, a part may be written.
    package func writeAll(_ bytes: UnsafeRawBufferPointer, at offset: Int64? = nil) throws(SystemCallError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            do {
                let done = Int64(written)
                written += try write(rest, at: offset.map { $0 + done })
            } catch {
                guard error.code == .wouldBlock else { throw error }
                waitUntilWritable()
            }
        }
    }

    /// Writes all bytes, as the other.
    package func writeAll(_ bytes: [UInt8]) throws(SystemCallError) {
        try bytes.span.bytes.withUnsafeBytes { bytes throws(SystemCallError) in try writeAll(bytes) }
    }

    /// Waits until a write is accepted, or would fail.
    package func waitUntilWritable() {
        waits(for: POLLOUT, milliseconds: -1)
    }

    /// Cuts off what is behind a size.
    public func truncate(to size: Int64) throws(SystemCallError) {
        guard ftruncate(number, off_t(size)) == 0 else { throw SystemCallError.last }
    }

    /// Waits until what was written is on the disk (`fdatasync`).
    ///
    /// - Returns: Why bytes that were written may be lost; nil: none are.
    package func synchronize() -> SystemCallError? {
        fdatasync(number) == 0 ? nil : SystemCallError.last
    }

    /// The position of the descriptor; nil: it has none, as a pipe.
    package var offset: Int64? {
        let offset = lseek(number, 0, SEEK_CUR)
        return offset < 0 ? nil : Int64(offset)
    }

    /// Moves the position to the end.
    package func seekToEnd() {
        _ = lseek(number, 0, SEEK_END)
    }
}
