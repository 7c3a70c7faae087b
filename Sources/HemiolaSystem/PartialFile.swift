internal import Glibc

/// A file that is written beside its path, as `.NAME.XXXXXX.partial`, and gets the path when it is complete: a reader of the path finds
/// the old file or the whole new one. A process that is killed meanwhile leaves the path as it was.
///
///     try PartialFile.write(bytes, to: path)
///
/// For a file that is written bit by bit: ``init(for:permissions:)``, ``write(_:)``, ``close(syncs:)`` and ``moveToPath(replaces:syncs:)``, or
/// ``discard()`` after an error of ``write(_:)``.
public struct PartialFile: Sendable {
    /// The path that the complete file gets, in the form of ``PathText``.
    public let path: String
    /// The descriptor of the partial file, for writing until ``close(syncs:)``.
    public let descriptor: Int32
    private let partialPath: String

    /// Creates the file.
    ///
    /// `mkstemp` would restrict the permissions to the owner. Only `open` applies the umask and the folder's default access control
    /// list: so the random name is chosen here.
    ///
    /// - Parameters:
    ///   - path: The path of the complete file; its folder exists.
    ///   - permissions: Of the new file; nil: those of the old file at the path, else the default ones.
    /// - Throws: The folder does not exist or cannot be written.
    public init(for path: String, permissions: UInt32? = nil) throws(SystemCallError) {
        self.path = path
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        var stem = FileSystem.lastName(of: path)
        // A name has 255 bytes at most, 16 of which are added below.
        while PathText.bytes(of: stem).count > 239 { stem.removeLast() }
        while true {
            let suffix = String((0..<6).map { _ in letters.randomElement()! })
            let partial = "\(FileSystem.folder(of: path))/.\(stem).\(suffix).partial"
            let descriptor = open(PathText.systemPath(partial), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions ?? 0o666)
            if descriptor != -1 {
                // The lock shows that the file is being written: one without a lock is a leftover of a killed process.
                _ = flock(descriptor, LOCK_EX | LOCK_NB)
                var status = stat()
                if fstat(descriptor, &status) == 0, status.st_nlink == 0 {
                    // Another process took it for a leftover before it was locked.
                    _ = Glibc.close(descriptor)
                    continue
                }
                (self.descriptor, partialPath) = (descriptor, partial)
                break
            }
            if errno != EEXIST && errno != EINTR { throw SystemCallError.last }
        }
        if permissions == nil, let old = try? FileSystem.status(of: path), old.kind == .file { _ = fchmod(descriptor, old.permissions) }
    }

    /// Removes what killed processes left of earlier files for a path. Reads the names of its folder.
    public static func removeLeftovers(of path: String) {
        let (folder, name) = (FileSystem.folder(of: path), FileSystem.lastName(of: path))
        guard let stream = opendir(PathText.systemPath(folder)) else { return }
        defer { closedir(stream) }
        let start = PathText.bytes(of: ".\(name).")
        let ending = Array(".partial".utf8)
        while let entry = readdir(stream) {
            // By bytes: the folder may have many thousand files. Safe: the system ends the name with a zero byte.
            let found = withUnsafeBytes(of: &entry.pointee.d_name) { bytes -> [UInt8]? in
                let name = bytes.prefix { $0 != 0 }
                guard name.count == start.count + 6 + ending.count, name.starts(with: start),
                    name.suffix(ending.count).elementsEqual(ending)
                else { return nil }
                return Array(name)
            }
            guard let found else { continue }
            let leftover = PathText.systemPath("\(folder)/\(PathText.text(of: found))")
            let descriptor = open(leftover, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor != -1 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(leftover) }
            _ = Glibc.close(descriptor)
        }
    }

    /// Adds bytes to the file.
    ///
    /// - Throws: Not all could be written; call ``discard()``.
    public func write(_ bytes: [UInt8]) throws(SystemCallError) {
        try FileDescriptor(descriptor).writeAll(bytes)
    }

    /// Closes the file. After an error it is removed.
    ///
    /// - Parameter syncs: Whether it is written to the disk first (`fsync`).
    /// - Throws: The file may be incomplete.
    public func close(syncs: Bool = false) throws(SystemCallError) {
        let notSynced = syncs && fsync(descriptor) == -1 ? SystemCallError.last : nil
        let notClosed = FileDescriptor(descriptor).close()
        if let error = notSynced ?? notClosed {
            FileSystem.remove(partialPath)
            throw error
        }
    }

    /// Gives the closed file its path, or removes it.
    ///
    /// - Parameters:
    ///   - replaces: Whether an old file is replaced; false: only an empty one.
    ///   - syncs: Whether the folder is written to the disk too.
    /// - Returns: Whether the file has its path; false: an old file is there that must not be replaced.
    /// - Throws: The path is that of a folder, or its folder cannot be written any more.
    @discardableResult
    public func moveToPath(replaces: Bool, syncs: Bool = false) throws(SystemCallError) -> Bool {
        let (partial, final) = (PathText.systemPath(partialPath), PathText.systemPath(path))
        if !replaces {
            if link(partial, final) == 0 {
                unlink(partial)
                if syncs { FileSystem.synchronizeFolder(of: path) }
                return true
            }
            // On file systems without hard links, `link` fails with another error.
            if errno == EEXIST ? !FileSystem.isEmptyFile(path) : access(final, F_OK) == 0 {
                unlink(partial)
                return false
            }
        }
        guard rename(partial, final) == 0 else {
            let error = SystemCallError.last
            unlink(partial)
            throw error
        }
        if syncs { FileSystem.synchronizeFolder(of: path) }
        return true
    }

    /// Closes and removes the file.
    public func discard() {
        _ = Glibc.close(descriptor)
        FileSystem.remove(partialPath)
    }

    /// Writes a whole file.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the file.
    ///   - path: Its path; its folder exists.
    ///   - permissions: Of the new file; nil: those of the old file at the path, else the default ones.
    ///   - replaces: Whether an old file is replaced; false: only an empty one.
    /// - Returns: Whether the file has its path; false: an old file is there that must not be replaced.
    /// - Throws: The file cannot be written; an old one is as it was.
    @discardableResult
    public static func write(
        _ bytes: [UInt8], to path: String, permissions: UInt32? = nil, replaces: Bool = true
    ) throws(SystemCallError) -> Bool {
        let file = try PartialFile(for: path, permissions: permissions)
        do {
            try file.write(bytes)
        } catch {
            file.discard()
            throw error
        }
        try file.close()
        return try file.moveToPath(replaces: replaces)
    }
}
