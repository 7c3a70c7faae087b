internal import HemiolaFiles
internal import HemiolaSystem

/// The files that a command reads. `-` is standard input.
enum CommandInput {
    /// The name of an input in messages: the path, or `standard input`.
    static func title(of path: String) -> String {
        path == "-" ? "standard input" : path
    }

    /// Whether the name of a file is that of a recording.
    static func isRecording(_ path: String) -> Bool {
        let ending = PathTemplate.ending(of: path).lowercased()
        return [".jsonl", ".json"].contains(ending.hasSuffix(".zst") ? String(ending.dropLast(4)) : ending)
    }

    /// The first bytes of an input; all of them by default.
    static func bytes(of path: String, atMost limit: Int = .max) throws(SystemCallError) -> [UInt8] {
        if path == "-" { return try FileDescriptor.standardInput.readAll(atMost: limit) }
        let file = try FileDescriptor.open(path)
        defer { file.close() }
        return try file.readAll(atMost: limit)
    }

    /// All bytes of an input.
    ///
    /// - Parameter excess: The error of an input with more bytes than the limit.
    static func bytes(of path: String, atMost limit: Int, _ excess: String) throws(Failure) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try Self.bytes(of: path, atMost: limit + 1)
        } catch {
            throw Failure("\(title(of: path)): \(error)", status: .inputFailed)
        }
        guard bytes.count <= limit else { throw Failure("\(title(of: path)): \(excess)", status: .inputFailed) }
        return bytes
    }
}
