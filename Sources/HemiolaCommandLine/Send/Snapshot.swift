internal import Hemiola

/// The picture that a window has written.
enum Snapshot {
    /// Maximum size of the picture in bytes.
    private static let limit = 256 << 20
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Moves the picture to another path.
    ///
    /// - Parameters:
    ///   - value: The answer of the window: the path of a PNG file as JSON text. Any other file, and one of another user, is refused: the
    ///     program at the other end of the socket could name one that is not its own.
    ///   - target: The path of the new file.
    static func move(_ value: String, to target: String) throws(Failure) {
        guard let path = (try? JSONValue(Array(value.utf8)))?.string, path.hasPrefix("/") else {
            throw Failure("window snapshot: the window has not answered with a path", status: .refused)
        }
        let bytes: [UInt8]
        do {
            bytes = try FileSystem.ownBytes(of: path, atMost: limit)
        } catch {
            throw Failure("\(path): cannot read the picture of the window: \(error)", status: .refused)
        }
        guard bytes.starts(with: signature) else {
            throw Failure("\(path): the picture of the window is not a PNG file", status: .refused)
        }
        do {
            try LineFile(creating: target).append(bytes)
        } catch {
            throw Failure("cannot write \(target): \(error)", status: .outputFailed)
        }
        FileSystem.remove(path)
    }
}
