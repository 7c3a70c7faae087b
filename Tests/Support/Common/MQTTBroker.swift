import Foundation
import Glibc

/// A private mosquitto on a port of the loopback interface. Use from one thread.
public final class MQTTBroker {
    public static let tool = Tool.program("mosquitto")
    public static let subscriber = Tool.program("mosquitto_sub")

    /// Whether a test that requires a broker and a subscriber runs, and the reason if it does not.
    public static var isExpected: Bool { tool.isExpected && subscriber.isExpected }
    public static var reason: String { tool.isThere ? subscriber.reason : tool.reason }

    public let port: Int
    private let folder: TemporaryFolder
    private var program: ChildProcess?

    /// Starts the broker.
    ///
    /// - Parameters:
    ///   - user: The only user that may connect; nil: there are no users.
    ///   - certificate: Paths of the certificate and the key of an encrypted listener; nil: it is not encrypted.
    public init(user: (name: String, password: String)? = nil, certificate: (file: String, key: String)? = nil) throws {
        port = try LoopbackPort.reserve()
        folder = try TemporaryFolder()
        // As root, mosquitto becomes another user otherwise, who cannot read the folder.
        var lines = [
            "listener \(port) 127.0.0.1", "allow_anonymous \(user == nil)", "persistence false", "user \(NSUserName())",
            "max_queued_messages 100000", "log_type error",
            // Says when it listens.
            "log_type information",
        ]
        if let user {
            let program = try Self.path(of: "mosquitto_passwd")
            let outcome = try ChildProcess.run(program, ["-b", "-c", folder("passwords"), user.name, user.password])
            guard outcome.status == 0 else { throw ChildProcess.Failure(description: outcome.errors) }
            lines.append("password_file \(folder("passwords"))")
        }
        if let certificate { lines += ["certfile \(certificate.file)", "keyfile \(certificate.key)"] }
        try folder.write(lines.joined(separator: "\n") + "\n", to: "mosquitto.conf")
        try start()
    }

    /// Starts the broker again, on the same port.
    public func start() throws {
        let program = try ChildProcess(try Self.path(of: "mosquitto"), ["-c", folder("mosquitto.conf")])
        self.program = program
        _ = try program.readErrorLine(containing: " running")
    }

    /// The path of a program that the condition of a test requires.
    fileprivate static func path(of name: String) throws -> String {
        guard let path = Tool.location(of: name) else { throw ChildProcess.Failure(description: "\(name) is not installed") }
        return path
    }

    /// Kills the broker.
    public func kill() {
        program?.send(SIGKILL)
        program = nil
    }

    /// Stops the broker's process, or lets it go on.
    public func pause(_ isPaused: Bool) {
        program?.send(isPaused ? SIGSTOP : SIGCONT)
    }

    /// A subscriber of all topics below a prefix, which is ready when this returns.
    public func subscribe(_ filter: String = "hemiola/#", arguments: [String] = []) throws -> MQTTSubscriber {
        try MQTTSubscriber(port: port, filter, arguments)
    }
}

/// The messages that mosquitto_sub receives. Use from one thread.
public final class MQTTSubscriber {
    public struct Message: Sendable, Hashable {
        public var topic: String
        public var payload: String
        /// Whether it was kept by the broker from before the subscription.
        public var isRetained: Bool
        public var qualityOfService: Int

        public init(topic: String, payload: String, isRetained: Bool, qualityOfService: Int) {
            (self.topic, self.payload, self.isRetained, self.qualityOfService) = (topic, payload, isRetained, qualityOfService)
        }
    }

    private let program: ChildProcess

    fileprivate init(port: Int, _ filter: String, _ arguments: [String]) throws {
        program = try ChildProcess(
            // To a pipe it would write whole blocks.
            "/usr/bin/stdbuf",
            [
                "-oL", try MQTTBroker.path(of: "mosquitto_sub"), "-d", "-h", "127.0.0.1", "-p", "\(port)", "-t", filter, "-q", "2", "-F",
                "message %r %q %t %p",
            ] + arguments)
        while let line = try program.readLine() {
            if line.hasPrefix("Subscribed ") { return }
        }
        throw ChildProcess.Failure(description: "mosquitto_sub: \(try program.finish(timeout: 1).errors)")
    }

    /// The next message.
    ///
    /// - Throws: There is none in time.
    public func next(timeout seconds: Double = 60) throws -> Message {
        while let line = try program.readLine(timeout: seconds) {
            let parts = line.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
            guard parts.count == 5, parts[0] == "message", let qualityOfService = Int(parts[2]) else { continue }
            return Message(
                topic: String(parts[3]), payload: String(parts[4]), isRetained: parts[1] == "1", qualityOfService: qualityOfService)
        }
        throw ChildProcess.Failure(description: "mosquitto_sub has ended: \(try program.finish(timeout: 1).errors)")
    }

    /// The next message of a topic; messages of other topics are skipped.
    public func next(_ topic: String, timeout seconds: Double = 60) throws -> Message {
        while true {
            let message = try next(timeout: seconds)
            if message.topic == topic { return message }
        }
    }
}
