internal import Glibc
internal import Hemiola
internal import HemiolaSystem

/// User and password for a broker. The password is never a setting: other users see the command line of a process.
struct Credentials {
    /// The longest password of MQTT, in bytes.
    private static let longestPassword = 65_535

    var user: String?
    var password: String?

    /// Reads the variables `HEMIOLA_MQTT_USER` and `HEMIOLA_MQTT_PASSWORD` for what the settings do not have.
    init(user: String?, passwordFile: String?, _ context: SinkContext) throws(Problem) {
        self.user = user ?? EnvironmentVariable.value("HEMIOLA_MQTT_USER")
        password =
            if let passwordFile { try Self.password(in: passwordFile, context) } else { EnvironmentVariable.value("HEMIOLA_MQTT_PASSWORD") }
        if password != nil, self.user == nil {
            throw Problem("\(context.name): there is a password, but no user; set user= or HEMIOLA_MQTT_USER")
        }
    }

    /// The first line of a file.
    private static func password(in path: String, _ context: SinkContext) throws(Problem) -> String {
        let descriptor = systemOpen(path)
        guard descriptor >= 0 else { throw error("read", path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw error("read", path) }
        if status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0, status.st_uid == geteuid() {
            context.warn("\(context.name): \(path) can be read by other users; remove the permission: chmod 600 '\(path)'")
        }
        var bytes = [UInt8](repeating: 0, count: longestPassword + 2)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress! + count, $0.count - count) }
            guard more >= 0 else { throw error("read", path) }
            if more == 0 { break }
            count += more
            if bytes[..<count].contains(UInt8(ascii: "\n")) { break }
        }
        var line = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty, line.count <= longestPassword, !line.contains(0) else {
            throw Problem("\(context.name): the first line of \(path) is no password: it is empty, too long or has a NUL byte")
        }
        return String(decoding: line, as: UTF8.self)
    }

    private static func error(_ action: String, _ path: String) -> Problem {
        Problem("cannot \(action) \(path): \(SystemCallError.last)")
    }
}

/// `open`, whose name is also that of a method here. A named pipe without a writer is not waited for.
private func systemOpen(_ path: String) -> Int32 { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }

/// `read`, whose name is also that of a method here.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int { read(descriptor, bytes, count) }
