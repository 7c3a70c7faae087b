internal import Glibc

/// What a path setting stands for.
struct OutputTarget: Sendable {
    /// As the user wrote it.
    let path: String

    init(_ path: String) {
        self.path = path
    }

    /// The file descriptor that the path stands for: one that the process was given, and that is written to as it is.
    var descriptor: Int32? {
        switch path {
        case "-", "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default:
            for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
                return Int32(path.dropFirst(folder.count))
            }
            return nil
        }
    }

    var isStandardOutput: Bool { descriptor == STDOUT_FILENO }

    /// As messages name it.
    var name: String { path == "-" ? "standard output" : path }

    /// Up to the last slash; `.` for a mere name.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// What follows the last slash.
    static func lastName(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}
