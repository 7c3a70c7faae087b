/// Where an output sends to: a host and a port, through UDP or TCP.
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

    /// Why a text is no target: what is wrong and what to do.
    public struct Fault: Error, Sendable, Hashable {
        /// One line.
        public var message: String
    }

    /// The transport.
    public var transport: Transport
    /// A name, or an address without brackets.
    public var host: String
    /// 1…65535.
    public var port: UInt16

    /// A target from its parts.
    public init(_ transport: Transport = .udp, host: String, port: UInt16) {
        self.transport = transport
        self.host = host
        self.port = port
    }

    /// Reads `[TRANSPORT://]HOST[:PORT]`.
    ///
    /// - Parameters:
    ///   - text: The text. An IPv6 address is in brackets.
    ///   - defaultPort: The port of a text without one; nil: it has to have one.
    ///   - transports: The transports that the output has; the first is that of a text without one.
    public init(_ text: String, defaultPort: UInt16?, transports: [Transport] = [.udp]) throws(Fault) {
        var rest = text[...]
        transport = transports[0]
        if let mark = text.firstRange(of: "://") {
            guard let named = Transport(rawValue: String(text[..<mark.lowerBound])), transports.contains(named) else {
                let names = transports.map { "\($0.rawValue)://" }.joined(separator: " or ")
                throw Fault(message: "unknown transport in \"\(text)\"; use \(names)")
            }
            transport = named
            rest = text[mark.upperBound...]
        }
        var portText: Substring?
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { throw Fault(message: "\"\(text)\" has no ] after the IPv6 address") }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            let tail = rest[rest.index(after: end)...]
            if !tail.isEmpty {
                guard tail.hasPrefix(":") else { throw Fault(message: "\"\(text)\" is not HOST:PORT; write [ADDRESS]:PORT") }
                portText = tail.dropFirst()
            }
        } else if let colon = rest.lastIndex(of: ":") {
            guard rest.firstIndex(of: ":") == colon else {
                throw Fault(message: "\"\(text)\" is not HOST:PORT; write an IPv6 address in brackets: [ADDRESS]:PORT")
            }
            host = String(rest[..<colon])
            portText = rest[rest.index(after: colon)...]
        } else {
            host = String(rest)
        }
        guard Self.isHost(host) else { throw Fault(message: "\"\(text)\" has no valid host; write HOST:PORT") }
        if let portText {
            guard let number = UInt16(portText), number > 0, portText.allSatisfy(\.isNumber) else {
                throw Fault(message: "\"\(portText)\" is no port; use 1...65535")
            }
            port = number
        } else if let defaultPort {
            port = defaultPort
        } else {
            throw Fault(message: "\"\(text)\" has no port; write HOST:PORT")
        }
    }

    /// As in messages: `192.168.1.20:9000`, `tcp://127.0.0.1:9000`.
    public var description: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return "\(transport == .udp ? "" : "tcp://")\(host):\(port)"
    }

    /// At most 253 letters, digits and the marks of names and addresses; `%` names the interface of a link-local address.
    private static func isHost(_ host: String) -> Bool {
        !host.isEmpty && host.utf8.count <= 253
            && host.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.isASCII && ($0.properties.numericType != nil || "-._:%".unicodeScalars.contains($0))
            }
    }
}
