internal import Glibc
internal import Hemiola
internal import HemiolaWire

/// An open output: standard output, a device or pipe, a file that is added to, or a new file that takes its name when it
/// is complete.
///
/// A new file is written beside its final name, so that readers see the old one or the whole new one, never a part. One that
/// is not finished disappears with this object.
final class OutputFile {
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
    private(set) var startsInsideLine = false
    private var isFinished = false

    init(_ target: OutputTarget, appends: Bool) throws(SinkError) {
        name = target.name
        if let descriptor = target.descriptor {
            let flags = fcntl(descriptor, F_GETFL)
            guard flags != -1, flags & O_ACCMODE != O_RDONLY else {
                throw SinkError("cannot write \(name): it is not open for writing; give a path instead")
            }
            (self.descriptor, ending) = (descriptor, .leave)
            return
        }
        let path = Self.followingDanglingLinks(target.path)
        var info = stat()
        if stat(path, &info) == 0 {
            switch info.st_mode & S_IFMT {
            case S_IFDIR:
                throw SinkError("cannot write \(name): it is a folder; name a file in it")
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
            throw SinkError.cannotOpen(name, errno)
        }
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
    /// Writes all of the buffer, however many calls and however much waiting it takes.
    func write(_ buffer: borrowing JSONBuffer) throws(SinkError) {
        // Unsafe: `write(2)` takes a pointer, which is good while the buffer lends it.
        try buffer.withUnsafeBytes { bytes throws(SinkError) in try write(bytes) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(SinkError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            } else if errno == EAGAIN {
                waitUntilWritable()
            } else if errno != EINTR {
                throw SinkError.cannotWrite(name, errno)
            }
        }
    }

    /// A terminal or pipe that another process made non-blocking.
    private func waitUntilWritable() {
        var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wish, 1, -1)
    }

    /// Closes the file and gives it its name. Whatever the system still has to say about the data, it says now.
    func finish() throws(SinkError) {
        if case .leave = ending { return }
        isFinished = true
        let closed = Glibc.close(descriptor)
        // Linux has closed it even when a signal came in between.
        if closed == -1, errno != EINTR {
            let code = errno
            if case .rename(let partial, _) = ending { unlink(partial) }
            throw SinkError.cannotWrite(name, code)
        }
        if case .rename(let partial, let final) = ending, rename(partial, final) == -1 {
            let code = errno
            unlink(partial)
            throw SinkError.cannotOpen(name, code)
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
    private static func resolved(_ path: String, _ name: String) throws(SinkError) -> String {
        guard let pointer = realpath(path, nil) else { throw SinkError.cannotOpen(name, errno) }
        defer { free(pointer) }
        // Renaming onto it would not ask, but whoever took the permission away meant something by it.
        guard access(pointer, W_OK) == 0 else { throw SinkError.cannotOpen(name, errno) }
        return String(cString: pointer)
    }

    private static func checkFolder(of path: String, _ name: String) throws(SinkError) {
        guard !path.hasSuffix("/") else {
            throw SinkError("cannot write \(name): it is a folder; name a file in it")
        }
        let folder = OutputTarget.folder(of: path)
        var info = stat()
        if stat(folder, &info) == -1 {
            throw errno == ENOENT
                ? SinkError(
                    "cannot write \(name): folder \(folder) does not exist; create it first: mkdir -p \(folder.shellQuoted)")
                : SinkError.cannotOpen(name, errno)
        }
    }

    private static func open(
        _ path: String, _ flags: Int32, orElse others: Int32? = nil, _ name: String
    ) throws(SinkError) -> Int32 {
        while true {
            let descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NOCTTY, 0o666)
            if descriptor != -1 { return descriptor }
            if errno == EACCES, let others { return try open(path, others, name) }
            if errno != EINTR { throw SinkError.cannotOpen(name, errno) }
        }
    }

    /// A new file beside the final one, with the permissions of the old file or those that any new file gets.
    ///
    /// `mkstemp` would make it private to its owner, and only the system knows what else applies (the umask, the folder's
    /// default access list): so the name is drawn here and the file made as any other is.
    private static func openPartial(for final: String, mode: mode_t?, _ name: String) throws(SinkError) -> (Int32, Ending) {
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
            if errno != EEXIST && errno != EINTR { throw SinkError.cannotOpen(name, errno) }
        }
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
