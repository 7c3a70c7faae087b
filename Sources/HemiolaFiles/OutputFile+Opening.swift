internal import Glibc
internal import Hemiola

// File system operations for opening an output.
extension OutputFile {
    /// The target of a chain of symbolic links that does not exist yet. Any other path is returned unchanged.
    static func followingDanglingLinks(_ path: String) -> String {
        var path = path
        var info = stat()
        // A loop of links is another error (ELOOP), which opening the path reports.
        while stat(PathText.systemPath(path), &info) == -1, errno == ENOENT, let target = FileSystem.linkTarget(of: path) {
            path = target.hasPrefix("/") ? target : FileSystem.folder(of: path) + "/" + target
        }
        return path
    }

    /// The absolute path of an existing writable file with links resolved, so that renaming to it keeps the links.
    static func resolved(_ path: String, _ name: String) throws(Problem) -> String {
        guard let resolved = FileSystem.realPath(path) else { throw Problem.cannotOpen(name, errno) }
        // Renaming needs no write permission on the file, but a read-only file must not be replaced.
        guard access(PathText.systemPath(resolved), W_OK) == 0 else { throw Problem.cannotOpen(name, errno) }
        return resolved
    }

    /// Creates the missing folders of a path, as `mkdir -p`.
    static func createFolder(of path: String, _ name: String) throws(Problem) {
        guard !path.hasSuffix("/") else {
            throw Problem.isFolder(name)
        }
        let folder = FileSystem.folder(of: path)
        do throws(SystemCallError) { try FileSystem.createFolder(folder) } catch { throw Problem.cannotOpen(name, error.number) }
    }

    /// Locks a file until it is closed. Until the first stream begins it is empty, so that its size alone would not show that it is in use.
    static func lock(_ descriptor: Int32, _ name: String, offersAppend: Bool) throws(Problem) {
        while flock(descriptor, LOCK_EX | LOCK_NB) == -1 {
            if errno == EWOULDBLOCK { throw Problem.inUse(name) }
            // Not every file system supports locks.
            guard errno == EINTR else { return }
        }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return }
        // Another process may have written or removed the file between `open` and `flock`.
        if info.st_size > 0 { throw Problem.exists(name, offersAppend: offersAppend) }
        if info.st_nlink == 0 { throw Problem.inUse(name) }
    }

    static func open(
        _ path: String, _ flags: Int32, orElse others: Int32? = nil, _ name: String
    ) throws(Problem) -> Int32 {
        while true {
            let descriptor = Glibc.open(PathText.systemPath(path), flags | O_CLOEXEC | O_NOCTTY, 0o666)
            if descriptor != -1 { return descriptor }
            if errno == EACCES, let others { return try open(path, others, name) }
            if errno != EINTR { throw Problem.cannotOpen(name, errno) }
        }
    }

    static func openPartial(for path: String, _ name: String) throws(Problem) -> PartialFile {
        PartialFile.removeLeftovers(of: path)
        do throws(SystemCallError) { return try PartialFile(for: path) } catch { throw Problem.cannotOpen(name, error.number) }
    }

    static func endsInsideLine(_ descriptor: Int32, length: off_t) -> Bool {
        var last: UInt8 = 0
        return length > 0 && pread(descriptor, &last, 1, length - 1) == 1 && last != UInt8(ascii: "\n")
    }
}
