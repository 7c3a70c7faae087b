internal import Hemiola

/// The destination that a path denotes: a file, a device, a named pipe, or a file descriptor such as standard output.
public struct OutputTarget: Sendable, Hashable {
    /// The path as the user wrote it.
    public let path: String

    /// Creates a target. Does not access the file system.
    public init(_ path: String) {
        self.path = path
    }

    /// The file descriptor that the path denotes: that of `StandardOutput` for `-`, `/dev/stdout` and number 1, 2 for `/dev/stderr`, N for
    /// `/dev/fd/N` and `/proc/self/fd/N`; nil for any other path.
    public var descriptor: Int32? {
        isStandardOutput ? StandardOutput.descriptor : number
    }

    /// Whether the path denotes standard output.
    public var isStandardOutput: Bool { number == 1 }

    /// The number of the descriptor for the caller of the program.
    private var number: Int32? {
        switch path {
        case "-", "/dev/stdout": return 1
        case "/dev/stderr": return 2
        default:
            for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
                return Int32(path.dropFirst(folder.count))
            }
            return nil
        }
    }

    /// Whether the path denotes a file descriptor of a terminal.
    public var isTerminal: Bool { descriptor.map { FileDescriptor($0).isTerminal } ?? false }

    /// The name for messages: the path, or `standard output` for `-`.
    public var name: String { path == "-" ? "standard output" : path }

    /// Whether the target is written in place: a file descriptor, or an existing device, pipe or folder.
    public var isSpecial: Bool {
        if descriptor != nil { return true }
        return (try? FileSystem.status(of: path)).map { $0.kind != .file } ?? false
    }

    /// Whether a regular file that is not empty exists at the path.
    public var isOccupied: Bool {
        descriptor == nil && ((try? FileSystem.status(of: path)).map { $0.kind == .file && $0.size > 0 } ?? false)
    }

    /// Removes `./` and repeated slashes. Two paths of one file are then equal unless they differ by links or `..`.
    static func normalized(_ path: String) -> String {
        let names = path.split(separator: "/").filter { $0 != "." }
        return (path.hasPrefix("/") ? "/" : "") + names.joined(separator: "/")
    }

    /// The absolute path of a file that exists or is to be created. Existing links are followed and `..` is resolved.
    ///
    /// - Parameters:
    ///   - path: The path, absolute or relative to the working directory.
    ///   - depth: Links followed so far; at most 40 dangling links are followed.
    public static func identity(of path: String, depth: Int = 0) -> String {
        let path = normalized(path)
        if let resolved = FileSystem.realPath(path.isEmpty ? "." : path) { return resolved }
        let target = depth < 40 ? OutputFile.followingDanglingLinks(path) : path
        if target != path { return identity(of: target, depth: depth + 1) }
        let (folder, name) = (FileSystem.folder(of: path), FileSystem.lastName(of: path))
        if path == "/" || path.isEmpty { return path }
        let parent = identity(of: folder, depth: depth)
        return name == ".." ? FileSystem.folder(of: parent) : (parent == "/" ? "" : parent) + "/" + name
    }
}
