internal import HemiolaSystem

/// The folder with the results of a corpus, locked until the end of the run.
struct OutputFolder: Sendable {
    /// The file that is locked.
    private static let lockName = ".hemiola-lock"

    /// The path as given, without a slash at the end.
    let path: String
    /// Identifies the folder.
    let identity: FileStatus.Identity
    private let lock: FileLock

    /// Creates the folder if it is missing, locks it, and removes what a killed run left incomplete.
    ///
    /// - Throws: The folder cannot be written, or another run writes into it.
    init(_ path: String) throws(Failure) {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = String(path)
        let lockPath = "\(path)/\(Self.lockName)"
        let lock: FileLock?
        do {
            try FileSystem.createFolder(self.path)
            identity = try FileSystem.status(of: self.path).identity
            lock = try FileLock(lockPath)
        } catch {
            throw Failure("cannot write into \(path): \(error); choose another --output-dir", status: .outputFailed)
        }
        guard let lock else {
            let holder = FileLock.holder(of: lockPath).map { " (process \($0))" } ?? ""
            throw Failure(
                "\(path): another run of hemiola\(holder) writes into this folder; wait for its end, or choose another --output-dir",
                status: .outputFailed)
        }
        self.lock = lock
        if lock.wasHeldByKilledProcess { Self.removePartialFiles(in: self.path) }
    }

    /// Ends the lock.
    func release() {
        lock.release()
    }

    /// Removes the files that a killed run was writing: `.NAME.XXXXXX.partial`.
    private static func removePartialFiles(in root: String) {
        var folders = [root]
        while let folder = folders.popLast() {
            for (name, kind) in (try? FileSystem.entries(of: folder)) ?? [] {
                let path = "\(folder)/\(name)"
                switch kind {
                case .folder: folders.append(path)
                case .file where isPartial(name): FileSystem.remove(path)
                default: break
                }
            }
        }
    }

    private static func isPartial(_ name: String) -> Bool {
        let parts = name.split(separator: ".")
        return name.hasPrefix(".") && parts.count >= 3 && parts.last == "partial" && parts[parts.count - 2].utf8.count == 6
    }
}
