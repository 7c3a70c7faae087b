internal import HemiolaSystem

/// The files that a command reads. `-` is standard input.
enum CommandInput {
    /// The name of an input in messages: the path, or `standard input`.
    static func title(of path: String) -> String {
        path == "-" ? "standard input" : path
    }

    /// The first bytes of an input; all of them by default.
    static func bytes(of path: String, atMost limit: Int = .max) throws(SystemCallError) -> [UInt8] {
        if path == "-" { return try FileDescriptor.standardInput.readAll(atMost: limit) }
        let file = try FileDescriptor.open(path)
        defer { file.close() }
        return try file.readAll(atMost: limit)
    }
}
