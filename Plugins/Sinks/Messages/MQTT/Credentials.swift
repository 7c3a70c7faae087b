internal import Hemiola

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
            throw Problem("\(context.name): there is a password, but no user; set user= or HEMIOLA_MQTT_USER", at: "user")
        }
    }

    /// The first line of a file.
    private static func password(in path: String, _ context: SinkContext) throws(Problem) -> String {
        var bytes: [UInt8]
        do {
            bytes = try FileSystem.bytes(of: path, count: longestPassword + 2)
        } catch {
            throw Problem("cannot read \(path): \(error)", at: "password_file")
        }
        if let status = try? FileSystem.status(of: path), status.kind == .file, status.isOwn, !status.isPrivate {
            context.messages.warn("\(context.name): \(path) can be read by other users; remove the permission: chmod 600 '\(path)'")
        }
        bytes = Array(bytes.prefix { $0 != UInt8(ascii: "\n") })
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.count <= longestPassword, !bytes.contains(0) else {
            throw Problem(
                "\(context.name): the first line of \(path) is no password: it is empty, too long or has a NUL byte", at: "password_file")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
