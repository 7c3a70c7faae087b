internal import HemiolaRecords
internal import HemiolaSystem

/// A file that is passed to a page.
struct ImportFile {
    /// As the bridge limits it.
    private static let limit = 32 << 20
    /// Bytes per message: at most 64 KiB, and a multiple of three, so that only the last message has padding.
    private static let chunk = 65_535

    let name: String
    let bytes: [UInt8]

    init(_ path: String, name: String?) throws(Failure) {
        bytes = try Self.bytes(of: path, atMost: Self.limit, "the file is larger than 32 MiB, the limit of an import")
        self.name = name ?? path.split(separator: "/").last.map(String.init) ?? path
    }

    /// - Parameter excess: The error of a file with more bytes.
    static func bytes(of path: String, atMost limit: Int, _ excess: String) throws(Failure) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try CommandInput.bytes(of: path, atMost: limit + 1)
        } catch {
            throw Failure("\(CommandInput.title(of: path)): \(error)", status: .inputFailed)
        }
        guard bytes.count <= limit else { throw Failure("\(CommandInput.title(of: path)): \(excess)", status: .inputFailed) }
        return bytes
    }

    var starts: StrideTo<Int> { stride(from: 0, to: bytes.count, by: Self.chunk) }

    /// The message with the bytes from an index on.
    func line(from start: Int) -> [UInt8] {
        let data = Array(bytes[start..<min(start + Self.chunk, bytes.count)]).base64
        return Array("{\"type\":\"importData\",\"id\":\"\(ControlMessage.id)\",\"data\":\"\(data)\"}\n".utf8)
    }
}
