internal import Glibc

/// An open output: standard output, a device or pipe, a file that is added to, or a new file that takes its name when it
/// is complete.
///
/// A new file is written beside its final name, so that readers see the old one or the whole new one, never a part. One that
/// is not finished disappears with this object.
///
/// What is written may be compressed on its way: then it is one zstd frame from the first byte to `finish`.
package final class OutputFile {
    /// What becomes of the file in the end.
    private enum Ending {
        /// It was open before and stays so.
        case leave
        case close
        /// Nobody had the file before: it is removed when nothing is written.
        case closeNew(String)
        /// The partial file takes the final name.
        case rename(partial: String, final: String)
    }

    private let descriptor: Int32
    private let name: String
    private let ending: Ending
    /// Whether a file that is added to ends in the middle of a line, which a line of ours shall not continue.
    package private(set) var startsInsideLine = false
    /// The most bytes that a pipe takes in one piece.
    package static let longestPiece = Int(PIPE_BUF)
    /// Whether it is a pipe, into which the bytes go as they are.
    package let isPipe: Bool
    private let compressor: ZstdStream?
    private var isFinished = false

    /// - Parameter compression: nil writes the bytes as they are. What is added to a file cannot be compressed.
    package init(_ target: OutputTarget, appends: Bool, compression: Compression? = nil) throws(OutputError) {
        precondition(!appends || compression == nil, "a frame cannot be added to a file safely")
        name = target.name
        compressor = compression.map { ZstdStream(level: $0.level) }
        if let descriptor = target.descriptor {
            let flags = fcntl(descriptor, F_GETFL)
            guard flags != -1, flags & O_ACCMODE != O_RDONLY else {
                throw OutputError("cannot write \(name): it is not open for writing; give a path instead")
            }
            (self.descriptor, ending) = (descriptor, .leave)
            isPipe = compressor == nil && Self.isPipe(descriptor)
            return
        }
        let path = Self.followingDanglingLinks(target.path)
        var info = stat()
        if stat(path, &info) == 0 {
            switch info.st_mode & S_IFMT {
            case S_IFDIR:
                throw OutputError("cannot write \(name): it is a folder; name a file in it")
            case S_IFREG where appends:
                descriptor = try Self.open(path, O_RDWR | O_APPEND, orElse: O_WRONLY | O_APPEND, name)
                ending = .close
                startsInsideLine = Self.endsInsideLine(descriptor, length: info.st_size)
            case S_IFREG:
                (descriptor, ending) = try Self.openPartial(for: try Self.resolved(path, name), mode: info.st_mode & 0o7777, name)
            default:
                descriptor = try Self.open(path, O_WRONLY | O_APPEND, name)
                ending = .close
            }
        } else if errno == ENOENT {
            try Self.checkFolder(of: path, name)
            if appends {
                descriptor = try Self.open(path, O_WRONLY | O_APPEND | O_CREAT, name)
                ending = .closeNew(path)
            } else {
                (descriptor, ending) = try Self.openPartial(for: path, mode: nil, name)
            }
        } else {
            throw OutputError.cannotOpen(name, errno)
        }
        isPipe = compressor == nil && Self.isPipe(descriptor)
    }

    private static func isPipe(_ descriptor: Int32) -> Bool {
        var info = stat()
        return fstat(descriptor, &info) == 0 && info.st_mode & S_IFMT == S_IFIFO
    }

    deinit {
        guard !isFinished else { return }
        switch ending {
        case .leave: break
        case .close: _ = Glibc.close(descriptor)
        case .closeNew(let path):
            var info = stat()
            if fstat(descriptor, &info) == 0, info.st_size == 0 { unlink(path) }
            _ = Glibc.close(descriptor)
        case .rename(let partial, _):
            _ = Glibc.close(descriptor)
            unlink(partial)
        }
    }
}

// MARK: - Writing

extension OutputFile {
    /// Writes all of the bytes, however many calls and however much waiting it takes.
    ///
    /// - Parameter flushes: Whether a reader can have them at once. Compressed bytes else wait for more of their kind.
    package func write(_ bytes: UnsafeRawBufferPointer, flushes: Bool = true) throws(OutputError) {
        guard compressor != nil else { return try send(bytes) }
        try compress(bytes, flushes ? .flush : .more)
    }

    /// Writes all of the bytes if a pipe has room for them now, and else nothing.
    ///
    /// Any pipe that can be written to has room for as many as are never torn (POSIX: `PIPE_BUF`), if nobody else writes there at the
    /// same moment. Of other outputs nobody knows how long they take.
    ///
    /// - Returns: Whether they are written.
    package func writeAtOnce(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard isPipe, bytes.count <= Self.longestPiece else { return false }
        var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&wish, 1, 0) == 1, wish.revents == Int16(POLLOUT) else { return false }
        return Glibc.write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
    }

    private func compress(_ bytes: UnsafeRawBufferPointer, _ step: ZstdStream.Step) throws(OutputError) {
        try compressor?.compress(bytes, step) { bytes throws(OutputError) in try send(bytes) }
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            } else if errno == EAGAIN {
                waitUntilWritable()
            } else if errno != EINTR {
                throw OutputError.cannotWrite(name, errno)
            }
        }
    }

    /// A terminal or pipe that another process made non-blocking.
    private func waitUntilWritable() {
        var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wish, 1, -1)
    }

    /// Closes the file and gives it its name. Whatever the system still has to say about the data, it says now.
    package func finish() throws(OutputError) {
        try compress(UnsafeRawBufferPointer(start: nil, count: 0), .end)
        if case .leave = ending { return }
        isFinished = true
        let closed = Glibc.close(descriptor)
        // Linux has closed it even when a signal came in between.
        if closed == -1, errno != EINTR {
            let code = errno
            if case .rename(let partial, _) = ending { unlink(partial) }
            throw OutputError.cannotWrite(name, code)
        }
        if case .rename(let partial, let final) = ending, rename(partial, final) == -1 {
            let code = errno
            unlink(partial)
            throw OutputError.cannotOpen(name, code)
        }
    }
}

// MARK: - Opening

extension OutputFile {
    /// The place that the last of a chain of links points to, when it does not exist yet. Any other path stays as it is.
    private static func followingDanglingLinks(_ path: String) -> String {
        var path = path
        var info = stat()
        // A chain that never ends is another error than this, and is told by whoever opens the path.
        while stat(path, &info) == -1, errno == ENOENT, let target = linkText(at: path) {
            path = target.hasPrefix("/") ? target : OutputTarget.folder(of: path) + "/" + target
        }
        return path
    }

    /// What a link says; nil for anything else.
    private static func linkText(at path: String) -> String? {
        let text = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { room, count in
            room.withMemoryRebound(to: CChar.self) { room in
                count = max(0, readlink(path, room.baseAddress!, room.count))
            }
        }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    /// Where a path really leads, so that a link stays a link.
    private static func resolved(_ path: String, _ name: String) throws(OutputError) -> String {
        guard let pointer = realpath(path, nil) else { throw OutputError.cannotOpen(name, errno) }
        defer { free(pointer) }
        // Renaming onto it would not ask, but whoever took the permission away meant something by it.
        guard access(pointer, W_OK) == 0 else { throw OutputError.cannotOpen(name, errno) }
        return String(cString: pointer)
    }

    private static func checkFolder(of path: String, _ name: String) throws(OutputError) {
        guard !path.hasSuffix("/") else {
            throw OutputError("cannot write \(name): it is a folder; name a file in it")
        }
        let folder = OutputTarget.folder(of: path)
        var info = stat()
        if stat(folder, &info) == -1 {
            throw errno == ENOENT
                ? OutputError(
                    "cannot write \(name): folder \(folder) does not exist; create it first: mkdir -p \(folder.shellQuoted)")
                : OutputError.cannotOpen(name, errno)
        }
    }

    private static func open(
        _ path: String, _ flags: Int32, orElse others: Int32? = nil, _ name: String
    ) throws(OutputError) -> Int32 {
        while true {
            let descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NOCTTY, 0o666)
            if descriptor != -1 { return descriptor }
            if errno == EACCES, let others { return try open(path, others, name) }
            if errno != EINTR { throw OutputError.cannotOpen(name, errno) }
        }
    }

    /// A new file beside the final one, with the permissions of the old file or those that any new file gets.
    ///
    /// `mkstemp` would make it private to its owner, and only the system knows what else applies (the umask, the folder's
    /// default access list): so the name is drawn here and the file made as any other is.
    private static func openPartial(for final: String, mode: mode_t?, _ name: String) throws(OutputError) -> (Int32, Ending) {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        var stem = OutputTarget.lastName(of: final)
        // A name has 255 bytes at most, and 16 of them are ours.
        while stem.utf8.count > 239 { stem.removeLast() }
        while true {
            let draw = String((0..<6).map { _ in letters.randomElement()! })
            let partial = "\(OutputTarget.folder(of: final))/.\(stem).\(draw).partial"
            let descriptor = Glibc.open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            if descriptor != -1 {
                if let mode { _ = fchmod(descriptor, mode) }
                return (descriptor, .rename(partial: partial, final: final))
            }
            if errno != EEXIST && errno != EINTR { throw OutputError.cannotOpen(name, errno) }
        }
    }

    /// The first line of a file that is added to, without its end; empty when there is none.
    ///
    /// - Parameter limit: Bytes that are looked at.
    package func firstLine(limit: Int = 1 << 20) -> String {
        guard case .close = ending else { return "" }
        var line: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4096)
        while line.count < limit {
            let count = pread(descriptor, &room, room.count, off_t(line.count))
            guard count > 0 else { break }
            if let end = room.prefix(count).firstIndex(of: UInt8(ascii: "\n")) {
                line += room[..<end]
                break
            }
            line += room.prefix(count)
        }
        return String(decoding: line, as: UTF8.self)
    }

    private static func endsInsideLine(_ descriptor: Int32, length: off_t) -> Bool {
        var last: UInt8 = 0
        return length > 0 && pread(descriptor, &last, 1, length - 1) == 1 && last != UInt8(ascii: "\n")
    }
}

extension String {
    /// As one word of a shell command.
    fileprivate var shellQuoted: String {
        let isPlain = allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+,:@%".contains($0)) }
        return isPlain ? self : "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
