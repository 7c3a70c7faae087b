internal import Hemiola

/// The file that keeps the token of the web server, so that a bookmark remains valid.
struct TokenFile {
    /// Random bytes in a token: 128 bits.
    private static let byteCount = 16

    let path: String

    /// `hemiola/web-token` in the user's state directory.
    ///
    /// - Returns: nil when the environment has neither `XDG_STATE_HOME` nor `HOME`.
    static func standard() -> TokenFile? {
        EnvironmentVariable.stateFolder().map { TokenFile(path: "\($0)/web-token") }
    }

    /// 32 hexadecimal digits of the system's random numbers.
    static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<byteCount).map { _ in
            let byte = UInt8.random(in: 0...255, using: &generator)
            return String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }

    /// The token in the file. If there is none, or other users can read the file, a new token is written.
    ///
    /// - Throws: A message if the file cannot be read or written, or another user can replace it.
    func token() throws(Problem) -> String {
        let folder = FileSystem.folder(of: path)
        // A folder that is missing is made below.
        if FileSystem.exists(folder) { try TrustedPath.check(folder, for: "the token of the page") }
        if let token = try read() { return token }
        try makeFolder()
        let token = Self.makeToken()
        // A complete file gets the name, so that two programs that start at the same time use one token.
        if try write(token, replaces: false) { return token }
        if let token = try read() { return token }
        // The file was unsuitable.
        _ = try write(token, replaces: true)
        return token
    }

    /// - Returns: false if there is a file that must not be replaced.
    private func write(_ token: String, replaces: Bool) throws(Problem) -> Bool {
        do {
            return try PartialFile.write(Array("\(token)\n".utf8), to: path, permissions: 0o600, replaces: replaces)
        } catch {
            throw self.error("write", error)
        }
    }

    /// The token in the file; nil if there is no file, or it is not a private file with a token.
    private func read() throws(Problem) -> String? {
        let file: FileDescriptor
        do { file = try FileDescriptor.open(path, [.noFollow, .nonBlocking]) } catch {
            if error.code == .noSuchFileOrDirectory || error.code == .tooManySymbolicLinks { return nil }
            throw self.error("read", error)
        }
        defer { file.close() }
        guard let status = try? file.status(), status.kind == .file, status.isPrivate, let bytes = try? file.bytes(at: 0, count: 256) else {
            return nil
        }
        let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let isToken =
            text.utf8.count >= 2 * Self.byteCount && text.utf8.count <= 128
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return isToken ? text : nil
    }

    /// Creates the folders above the file. New ones are private.
    private func makeFolder() throws(Problem) {
        do { try FileSystem.createFolder(FileSystem.folder(of: path), permissions: 0o700) } catch {
            throw self.error("create the folder of", error)
        }
    }

    private func error(_ action: String, _ error: SystemCallError) -> Problem {
        Problem("cannot \(action) \(path): \(error); set XDG_STATE_HOME to a folder that you can write")
    }
}
