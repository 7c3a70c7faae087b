internal import Glibc
internal import HemiolaSystem

extension FileSystem {
    /// Identifies the regular file at a path, links followed; nil when there is none.
    static func fileIdentity(of path: String) -> FileStatus.Identity? {
        (try? status(of: path)).flatMap { $0.kind == .file ? $0.identity : nil }
    }

    /// Whether a path is a file that the user can execute.
    static func isExecutable(_ path: String) -> Bool {
        fileIdentity(of: path) != nil && access(PathText.systemPath(path), X_OK) == 0
    }
}
