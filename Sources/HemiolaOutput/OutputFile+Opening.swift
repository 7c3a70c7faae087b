internal import Glibc

// Files and folders that are found or made when an output is opened.
extension OutputFile {
    /// The place that the last of a chain of links points to, when it does not exist yet. Any other path stays as it is.
    static func followingDanglingLinks(_ path: String) -> String {
        var path = path
        var info = stat()
        // An endless chain of links is another error, which opening the path reports.
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
    static func resolved(_ path: String, _ name: String) throws(OutputError) -> String {
        guard let pointer = realpath(path, nil) else { throw OutputError.cannotOpen(name, errno) }
        defer { free(pointer) }
        // Renaming needs no write permission on the file, but a read-only file is meant to stay as it is.
        guard access(pointer, W_OK) == 0 else { throw OutputError.cannotOpen(name, errno) }
        return String(cString: pointer)
    }

    /// Creates the folders of a path that are missing, as `mkdir -p` does.
    static func createFolder(of path: String, _ name: String) throws(OutputError) {
        guard !path.hasSuffix("/") else {
            throw OutputError("cannot write \(name): it is a folder; name a file in it")
        }
        let folder = OutputTarget.folder(of: path)
        var info = stat()
        if stat(folder, &info) == 0 { return }
        guard errno == ENOENT else { throw OutputError.cannotOpen(name, errno) }
        try createFolder(of: folder, name)
        // Another process may have been faster.
        if mkdir(folder, 0o777) == -1, errno != EEXIST { throw OutputError.cannotOpen(name, errno) }
    }

    /// Brings the names in a folder to the disk. Not every file system can, and the data does not depend on it.
    static func synchronizeFolder(of path: String) {
        let descriptor = Glibc.open(OutputTarget.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor != -1 else { return }
        _ = fsync(descriptor)
        _ = Glibc.close(descriptor)
    }

    /// Locks a file for one recorder until the file is closed. It is empty until the first stream begins, and would else be taken for free.
    static func lock(_ descriptor: Int32, _ name: String, offersAppend: Bool) throws(OutputError) {
        while flock(descriptor, LOCK_EX | LOCK_NB) == -1 {
            if errno == EWOULDBLOCK { throw OutputError.inUse(name) }
            // Not every file system has locks.
            guard errno == EINTR else { return }
        }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return }
        // Another recorder may have ended between the opening and the lock: it wrote to the file, or removed it.
        if info.st_size > 0 { throw OutputError.exists(name, offersAppend: offersAppend) }
        if info.st_nlink == 0 { throw OutputError.inUse(name) }
    }

    /// Checks that a file can be written, and creates its folder, before it is opened.
    ///
    /// A folder is checked by creating a file in it, for only that proves it.
    ///
    /// - Parameters:
    ///   - replaces: Whether a file at the path is replaced by a new one.
    ///   - isRealTime: Whether replacing a file that has data is refused.
    ///   - folders: Folders that were checked before.
    package static func check(
        _ target: OutputTarget, replaces: Bool, isRealTime: Bool, folders: inout Set<String>
    ) throws(OutputError) {
        let name = target.name
        if target.descriptor != nil { return }
        if replaces, isRealTime, target.isOccupied { throw OutputError.exists(name, offersAppend: false) }
        var path = followingDanglingLinks(target.path)
        var info = stat()
        if stat(path, &info) == 0 {
            if info.st_mode & S_IFMT == S_IFDIR { throw OutputError("cannot write \(name): it is a folder; name a file in it") }
            guard replaces, info.st_mode & S_IFMT == S_IFREG else { return }
            path = try resolved(path, name)
        } else {
            guard errno == ENOENT else { throw OutputError.cannotOpen(name, errno) }
            try createFolder(of: path, name)
        }
        guard folders.insert(OutputTarget.folder(of: path)).inserted else { return }
        let probe = try openPartial(for: path, mode: nil, name)
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

    /// A new file beside the final one, with the permissions of the old file or those that any new file gets.
    ///
    /// `mkstemp` would make it private to its owner, and only the system knows what else applies (the umask, the folder's
    /// default access list): so the name is drawn here and the file made as any other is.
    static func openPartial(for final: String, mode: mode_t?, _ name: String) throws(OutputError) -> (descriptor: Int32, partial: String) {
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
