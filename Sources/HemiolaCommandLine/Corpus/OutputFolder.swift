internal import HemiolaSystem

/// The folder with the results of a corpus, locked until the end of the run.
///
/// The lock is on a file in it, and ends with the process. The file contains the number of the process as long as the lock is held, and
/// also after the process was killed.
struct OutputFolder: Sendable {
    private static let lockName = ".hemiola-lock"

    let path: String
    /// Identifies the folder.
    let identity: FileStatus.Identity
    private let lock: FileDescriptor

    /// Creates the folder if it is missing, locks it, and removes what a killed run left incomplete.
    ///
    /// - Throws: The folder cannot be written, or another run writes into it.
    init(_ path: String) throws(Failure) {
        self.path = path
        let lockPath = "\(path)/\(Self.lockName)"
        do {
            try FileSystem.createFolder(path)
            identity = try FileSystem.status(of: path).identity
            lock = try FileDescriptor.open(lockPath, [.readWrite, .create])
        } catch {
            throw Failure("cannot write into \(path): \(error); choose another --output-dir", status: .outputFailed)
        }
        guard lock.lock() else {
            lock.close()
            let holder = Self.process(in: lockPath).map { " (process \($0))" } ?? ""
            throw Failure(
                "\(path): another run of hemiola\(holder) writes into this folder; wait for its end, or choose another --output-dir",
                status: .outputFailed)
        }
        if (try? lock.status().size) ?? 0 > 0 { Self.removePartialFiles(in: path) }
        try? lock.truncate(to: 0)
        try? lock.writeAll(Array("\(CurrentProcess.identifier)\n".utf8))
    }

    /// Ends the lock.
    func release() {
        try? lock.truncate(to: 0)
        lock.close()
    }

    /// The number of the process that holds a lock; nil when it is not known.
    private static func process(in lockPath: String) -> Int? {
        guard let bytes = try? FileSystem.bytes(of: lockPath, count: 20) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
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
