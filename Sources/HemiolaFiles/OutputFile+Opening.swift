internal import Hemiola

// File system operations for opening an output.
extension OutputFile {
    /// The target of a chain of symbolic links that does not exist yet. Any other path is returned unchanged.
    static func followingDanglingLinks(_ path: String) -> String {
        var path = path
        while true {
            // A loop of links is another error (ELOOP), which opening the path reports.
            do { _ = try FileSystem.status(of: path) } catch {
                if error.code == .noSuchFileOrDirectory, let target = FileSystem.linkTarget(of: path) {
                    path = target.hasPrefix("/") ? target : FileSystem.folder(of: path) + "/" + target
                    continue
                }
            }
            return path
        }
    }

    /// The absolute path of an existing writable file with links resolved, so that renaming to it keeps the links.
    static func resolved(_ path: String, _ name: String) throws(Problem) -> String {
        guard let resolved = FileSystem.realPath(path) else { throw Problem.cannotOpen(name, .last) }
        // Renaming needs no write permission on the file, but a read-only file must not be replaced.
        do { try FileSystem.checkPermissions([.write], of: resolved) } catch {
            throw Problem.cannotOpen(name, error)
        }
        return resolved
    }

    /// What is at a path; nil: nothing yet.
    static func status(of path: String, _ name: String) throws(Problem) -> FileStatus? {
        do { return try FileSystem.status(of: path) } catch {
            if error.code == .noSuchFileOrDirectory { return nil }
            throw Problem.cannotOpen(name, error)
        }
    }

    /// Creates the missing folders of a path, as `mkdir -p`.
    static func createFolder(of path: String, _ name: String) throws(Problem) {
        guard !path.hasSuffix("/") else {
            throw Problem.isFolder(name)
        }
        let folder = FileSystem.folder(of: path)
        do { try FileSystem.createFolder(folder) } catch { throw Problem.cannotOpen(name, error) }
    }

    /// Locks a file until it is closed. Until the first stream begins it is empty, so that its size alone would not show that it is in use.
    static func lock(_ file: FileDescriptor, _ name: String, offersAppend: Bool) throws(Problem) {
        guard file.lock() else { throw Problem.inUse(name) }
        guard let status = try? file.status() else { return }
        // Another process may have written or removed the file between `open` and `flock`.
        if status.size > 0 { throw Problem.exists(name, offersAppend: offersAppend) }
        if status.linkCount == 0 { throw Problem.inUse(name) }
    }

    /// Opens an existing file for writing, or creates one.
    ///
    /// - Parameter isRead: Whether it is opened for reading too, if its permissions allow that.
    static func open(
        _ path: String, _ options: Set<FileDescriptor.Option>, isRead: Bool = false, _ name: String
    ) throws(Problem) -> FileDescriptor {
        let mode: FileDescriptor.Option = isRead ? .readWrite : .writeOnly
        do { return try FileDescriptor.open(path, options.union([mode])) } catch {
            if isRead, error.code == .permissionDenied { return try open(path, options, name) }
            throw Problem.cannotOpen(name, error)
        }
    }

    static func openPartial(for path: String, _ name: String) throws(Problem) -> PartialFile {
        PartialFile.removeLeftovers(of: path)
        do { return try PartialFile(for: path) } catch { throw Problem.cannotOpen(name, error) }
    }

    static func endsInsideLine(_ file: FileDescriptor, length: Int) -> Bool {
        guard length > 0, let last = try? file.bytes(at: Int64(length) - 1, count: 1) else { return false }
        return last.first.map { $0 != UInt8(ascii: "\n") } ?? false
    }
}
