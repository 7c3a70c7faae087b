internal import Glibc
package import Hemiola

// File system operations for opening an output.
extension OutputFile {
    /// The target of a chain of symbolic links that does not exist yet. Any other path is returned unchanged.
    static func followingDanglingLinks(_ path: String) -> String {
        var path = path
        var info = stat()
        // A loop of links is another error (ELOOP), which opening the path reports.
        while stat(path, &info) == -1, errno == ENOENT, let target = linkText(at: path) {
            path = target.hasPrefix("/") ? target : OutputTarget.folder(of: path) + "/" + target
        }
        return path
    }

    /// The text of a symbolic link; nil for anything else.
    private static func linkText(at path: String) -> String? {
        let text = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { text in
                count = max(0, readlink(path, text.baseAddress!, text.count))
            }
        }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    /// The absolute path of an existing writable file with links resolved, so that renaming to it keeps the links.
    static func resolved(_ path: String, _ name: String) throws(OutputError) -> String {
        guard let pointer = realpath(path, nil) else { throw OutputError.cannotOpen(name, errno) }
        defer { free(pointer) }
        // `rename` needs no write permission on the file, but a read-only file must not be replaced.
        guard access(pointer, W_OK) == 0 else { throw OutputError.cannotOpen(name, errno) }
        return String(cString: pointer)
    }

    /// Creates the missing folders of a path, as `mkdir -p`.
    static func createFolder(of path: String, _ name: String) throws(OutputError) {
        guard !path.hasSuffix("/") else {
            throw OutputError.isFolder(name)
        }
        let folder = OutputTarget.folder(of: path)
        var info = stat()
        if stat(folder, &info) == 0 { return }
        guard errno == ENOENT else { throw OutputError.cannotOpen(name, errno) }
        try createFolder(of: folder, name)
        // EEXIST: another process has created it since.
        if mkdir(folder, 0o777) == -1, errno != EEXIST { throw OutputError.cannotOpen(name, errno) }
    }

    /// Calls `fsync` for the folder of a path. Errors are ignored: not every file system supports it, and the data does not depend on it.
    static func synchronizeFolder(of path: String) {
        let descriptor = Glibc.open(OutputTarget.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor != -1 else { return }
        _ = fsync(descriptor)
        _ = Glibc.close(descriptor)
    }

    /// Locks a file until it is closed. Until the first stream begins it is empty, so that its size alone would not show that it is in use.
    static func lock(_ descriptor: Int32, _ name: String, offersAppend: Bool) throws(OutputError) {
        while flock(descriptor, LOCK_EX | LOCK_NB) == -1 {
            if errno == EWOULDBLOCK { throw OutputError.inUse(name) }
            // Not every file system supports locks.
            guard errno == EINTR else { return }
        }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return }
        // Another process may have written or removed the file between `open` and `flock`.
        if info.st_size > 0 { throw OutputError.exists(name, offersAppend: offersAppend) }
        if info.st_nlink == 0 { throw OutputError.inUse(name) }
    }

    /// Implements `OutputTarget.checkWritable`.
    fileprivate static func check(
        _ target: OutputTarget, replaces: Bool, isRealTime: Bool, folders: inout Set<String>
    ) throws(OutputError) {
        let name = target.name
        if target.descriptor != nil { return }
        if replaces, isRealTime, target.isOccupied { throw OutputError.exists(name, offersAppend: false) }
        var path = followingDanglingLinks(target.path)
        var info = stat()
        if stat(path, &info) == 0 {
            if info.st_mode & S_IFMT == S_IFDIR { throw OutputError.isFolder(name) }
            guard replaces, info.st_mode & S_IFMT == S_IFREG else { return }
            path = try resolved(path, name)
        } else {
            guard errno == ENOENT else { throw OutputError.cannotOpen(name, errno) }
            try createFolder(of: path, name)
        }
        let folder = OutputTarget.folder(of: path)
        if folders.contains(folder) { return }
        let probe = try openPartial(for: path, mode: nil, name)
        folders.insert(folder)
        _ = Glibc.close(probe.descriptor)
        unlink(probe.partial)
    }

    static func isEmptyFile(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG && info.st_size == 0
    }

    static func open(
        _ path: String, _ flags: Int32, orElse others: Int32? = nil, _ name: String
    ) throws(OutputError) -> Int32 {
        while true {
            let descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NOCTTY, 0o666)
            if descriptor != -1 { return descriptor }
            if errno == EACCES, let others { return try open(path, others, name) }
            if errno != EINTR { throw OutputError.cannotOpen(name, errno) }
        }
    }

    /// Creates a file beside the final one, with the permissions of the old file or the default ones.
    ///
    /// `mkstemp` would restrict the permissions to the owner. Only `open` applies the umask and the folder's default access control
    /// list: so the random name is chosen here.
    static func openPartial(for final: String, mode: mode_t?, _ name: String) throws(OutputError) -> (descriptor: Int32, partial: String) {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        var stem = OutputTarget.lastName(of: final)
        // A name has 255 bytes at most, 16 of which are added below.
        while stem.utf8.count > 239 { stem.removeLast() }
        while true {
            let suffix = String((0..<6).map { _ in letters.randomElement()! })
            let partial = "\(OutputTarget.folder(of: final))/.\(stem).\(suffix).partial"
            let descriptor = Glibc.open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            if descriptor != -1 {
                if let mode { _ = fchmod(descriptor, mode) }
                return (descriptor, partial)
            }
            if errno != EEXIST && errno != EINTR { throw OutputError.cannotOpen(name, errno) }
        }
    }

    static func endsInsideLine(_ descriptor: Int32, length: off_t) -> Bool {
        var last: UInt8 = 0
        return length > 0 && pread(descriptor, &last, 1, length - 1) == 1 && last != UInt8(ascii: "\n")
    }
}

extension OutputTarget {
    /// Checks that a file can be written, before any output of the run is opened. Creates the missing folders of the path, and creates
    /// and removes a file in its folder.
    ///
    /// - Parameters:
    ///   - replaces: Whether an existing file is replaced by a new one.
    ///   - isRealTime: Whether replacing a file with data is refused.
    ///   - folders: Folders in which a file could be created, which are not checked again.
    package func checkWritable(replaces: Bool, isRealTime: Bool, folders: inout Set<String>) throws(SinkError) {
        do throws(OutputError) {
            try OutputFile.check(self, replaces: replaces, isRealTime: isRealTime, folders: &folders)
        } catch {
            throw SinkError(error)
        }
    }
}
