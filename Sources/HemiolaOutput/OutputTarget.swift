internal import Glibc

/// What a path setting stands for.
package struct OutputTarget: Sendable, Hashable {
    /// As the user wrote it.
    package let path: String

    package init(_ path: String) {
        self.path = path
    }

    /// The file descriptor that the path stands for: one that the process was given, and that is written to as it is.
    package var descriptor: Int32? {
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

    package var isStandardOutput: Bool { descriptor == STDOUT_FILENO }

    /// Whether it is a descriptor that leads to a terminal.
    package var isTerminal: Bool { descriptor.map { isatty($0) == 1 } ?? false }

    /// As messages name it.
    package var name: String { path == "-" ? "standard output" : path }

    /// Whether it is no file of its own: a descriptor, or a device, pipe or folder that is there.
    package var isSpecial: Bool {
        if descriptor != nil { return true }
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT != S_IFREG
    }

    /// Whether a regular file with data is there.
    package var isOccupied: Bool {
        var info = stat()
        return descriptor == nil && stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG && info.st_size > 0
    }

    /// A path without what changes nothing in it: `./`, `//`. Two texts for one file are then the same, unless links are involved.
    package static func normalized(_ path: String) -> String {
        let names = path.split(separator: "/").filter { $0 != "." }
        return (path.hasPrefix("/") ? "/" : "") + names.joined(separator: "/")
    }

    /// The absolute path of the file that a path leads to, now or once it exists: links of what exists are followed, and `..` is resolved.
    ///
    /// - Parameter folders: The identities of folders, by path, which are looked up once. Begin with none.
    package static func identity(of path: String, folders: inout [String: String], depth: Int = 0) -> String {
        let path = normalized(path)
        if let pointer = realpath(path.isEmpty ? "." : path, nil) {
            defer { free(pointer) }
            return String(cString: pointer)
        }
        let target = depth < 40 ? OutputFile.followingDanglingLinks(path) : path
        if target != path { return identity(of: target, folders: &folders, depth: depth + 1) }
        let (folder, name) = (folder(of: path), lastName(of: path))
        if path == "/" || path.isEmpty { return path }
        let parent = folders[folder] ?? identity(of: folder, folders: &folders, depth: depth)
        folders[folder] = parent
        return name == ".." ? Self.folder(of: parent) : (parent == "/" ? "" : parent) + "/" + name
    }

    /// Up to the last slash; `.` for a mere name.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// What follows the last slash.
    package static func lastName(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}
