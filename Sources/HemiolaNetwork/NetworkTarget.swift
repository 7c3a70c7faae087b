public import Hemiola

/// Where a sink sends messages: a host and a port, through UDP or TCP.
///
///     192.168.1.20:9000    lights.local    [fd00::1]:9000    tcp://127.0.0.1:9000
public struct NetworkTarget: Sendable, Hashable, CustomStringConvertible {
    /// The transport.
    public enum Transport: String, Sendable, Hashable {
        /// Datagrams: a message that is lost is not repeated.
        case udp
        /// A connection, which is made again when it ends.
        case tcp
    }

    /// The transport.
    public var transport: Transport
    /// Host and port.
    public var endpoint: NetworkEndpoint

    /// A target from its parts.
    public init(_ transport: Transport = .udp, host: String, port: Int) {
        self.transport = transport
        endpoint = NetworkEndpoint(host: host, port: port)
    }

    /// Reads `[TRANSPORT://]HOST[:PORT]`, as ``NetworkEndpoint/init(parsing:defaultPort:at:)`` does.
    ///
    /// - Parameters:
    ///   - text: The value of a setting.
    ///   - defaultPort: The port where the text has none.
    ///   - transports: The transports that the sink has; the first is that of a text without one.
    ///   - key: The key of the setting, for the error.
    /// - Throws: An error that names the text and the form.
    public init(
        parsing text: String, defaultPort: Int, transports: [Transport] = [.udp], at key: String
    ) throws(Problem) {
        transport = transports[0]
        var rest = text
        if let mark = text.firstRange(of: "://") {
            guard let named = Transport(rawValue: String(text[..<mark.lowerBound])), transports.contains(named) else {
                let names = transports.map { "\($0.rawValue)://" }.joined(separator: " or ")
                throw Problem("unknown transport in \"\(text)\"; use \(names)", at: key)
            }
            transport = named
            rest = String(text[mark.upperBound...])
        }
        endpoint = try NetworkEndpoint(parsing: rest, defaultPort: defaultPort, at: key)
    }

    /// As in messages: `192.168.1.20:9000`, `tcp://127.0.0.1:9000`.
    public var description: String { "\(transport == .udp ? "" : "tcp://")\(endpoint)" }
}
