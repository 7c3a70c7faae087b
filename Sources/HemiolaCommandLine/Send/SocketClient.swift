internal import Hemiola

/// A connection to the socket of a running hemiola. Its errors name the path of the socket.
struct SocketClient {
    /// Seconds between two attempts to connect.
    private static let pause = 0.05

    private let connection: UnixConnection
    private let path: String

    /// Connects. At the default path nothing is sent to another user's program: such a program could read what is sent, and forge replies.
    ///
    /// - Parameters:
    ///   - deadline: When to give up.
    ///   - waits: Whether to wait for a program that listens there.
    init(_ location: SocketPath, until deadline: Deadline, waits: Bool = false) throws(Failure) {
        path = location.path
        do {
            connection = try Self.connection(to: path, until: deadline, waits: waits)
        } catch {
            throw Self.failure(error, path)
        }
        if location.origin == .named { return }
        do {
            try location.checkFolder()
        } catch {
            throw Failure(error.message, status: .refused)
        }
        guard let user = connection.serverUser, TrustedPath.isTrusted(user) else {
            throw failure("the program that listens there belongs to another user; name the socket to connect anyway: --socket PATH")
        }
    }

    private static func connection(to path: String, until deadline: Deadline, waits: Bool) throws(SystemCallError) -> UnixConnection {
        while true {
            do {
                return try UnixConnection(to: path, until: deadline)
            } catch {
                guard waits, isUnreachable(error), deadline.rest > Self.pause else { throw error }
                MonotonicTime.sleep(for: Self.pause)
            }
        }
    }

    /// Whether the socket does not exist, or no process accepts connections.
    private static func isUnreachable(_ error: SystemCallError) -> Bool {
        error.code == .noSuchFileOrDirectory || error.code == .connectionRefused
    }

    func write(_ bytes: [UInt8], until deadline: Deadline) throws(Failure) {
        do {
            try connection.write(bytes, until: deadline)
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// The next message.
    ///
    /// - Throws: The connection has failed or is closed.
    func next(until deadline: Deadline) throws(Failure) -> SocketMessage {
        do {
            if let line = try connection.readLine(until: deadline) { return SocketMessage(line) }
        } catch {
            throw Self.failure(error, path)
        }
        throw failure("the connection was closed without a reply")
    }

    /// The reply to what was sent.
    ///
    /// - Parameter receive: Receives the messages before it.
    func reply(until deadline: Deadline, _ receive: (SocketMessage) throws(Failure) -> Void) throws(Failure) -> SocketMessage {
        while true {
            let message = try next(until: deadline)
            if message.isReply { return message }
            try receive(message)
        }
    }

    /// The running program has refused.
    func failure(_ text: String) -> Failure { Failure("\(path): \(text)", status: .refused) }

    private static func failure(_ error: SystemCallError, _ path: String) -> Failure {
        let text =
            if isUnreachable(error) {
                "no running hemiola accepts connections; start one: hemiola listen --sink socket"
            } else if error.code == .timedOut {
                "no answer within the time limit; raise it with --timeout SECONDS"
            } else {
                "\(error)"
            }
        return Failure("\(path): \(text)", status: .refused)
    }
}

/// A line of a running hemiola.
struct SocketMessage {
    /// null for a line that is no message.
    let value: JSONValue
    private let bytes: [UInt8]

    fileprivate init(_ line: [UInt8]) {
        value = (try? JSONValue(message: line)) ?? .null
        bytes = line
    }

    /// The line as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    var type: String? { value["type"]?.string }

    /// Whether it is a message of this type to this program.
    func isAnswer(_ type: String) -> Bool { self.type == type && value["id"]?.string == ControlMessage.id }

    // MARK: - Replies

    /// Whether it is the reply to what was sent, or a refusal.
    var isReply: Bool { isRefusal || isAnswer("reply") }
    /// Whether the program has refused what was sent, or the connection.
    var isRefusal: Bool { type == "error" }
    var ok: Bool { !isRefusal && value["ok"]?.flag == true }
    var error: String { value["error"]?.string ?? "refused" }

    /// The value of a reply as JSON text: the bytes of the message, so that numbers keep their digits.
    var result: String {
        let source = value.members?.first { $0.key == "value" }?.source
        return source.map { String(decoding: bytes[$0], as: UTF8.self) } ?? "null"
    }
}
