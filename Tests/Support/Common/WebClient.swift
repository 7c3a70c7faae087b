import Foundation

/// A response of a web server.
public struct WebReply: Sendable {
    public var status: Int
    /// The header fields by their names in lower case.
    public var headers: [String: String]
    public var body: [UInt8]
    public var text: String { String(decoding: body, as: UTF8.self) }
}

extension SocketClient {
    /// Sends a request of HTTP/1.1 without a body.
    public func sendRequest(_ target: String, method: String = "GET", headers: [String: String]) throws {
        let fields = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        try send(bytes: Array("\(method) \(target) HTTP/1.1\r\n\(fields)\r\n".utf8))
    }

    /// Reads a response, whose body has a length.
    public func readResponse(hasBody: Bool = true, timeout: Double = 30) throws -> WebReply {
        guard let first = try readLine(timeout: timeout) else { throw Failure(description: "the connection ended before a response") }
        let parts = first.split(separator: " ")
        guard parts.count > 1, parts[0] == "HTTP/1.1", let status = Int(parts[1]) else {
            throw Failure(description: "no response: \(first)")
        }
        var headers: [String: String] = [:]
        while let line = try readLine()?.trimmingCharacters(in: .whitespacesAndNewlines), !line.isEmpty {
            let field = line.split(separator: ":", maxSplits: 1)
            headers[field[0].lowercased()] = field.count > 1 ? field[1].trimmingCharacters(in: .whitespaces) : ""
        }
        let count = hasBody && status != 304 && status != 101 ? Int(headers["content-length"] ?? "") ?? 0 : 0
        guard let body = try readBytes(count) else { throw Failure(description: "the connection ended within a response") }
        return WebReply(status: status, headers: headers, body: body)
    }

    /// Sends a request and reads its response.
    public func request(_ target: String, method: String = "GET", headers: [String: String]) throws -> WebReply {
        try sendRequest(target, method: method, headers: headers)
        return try readResponse(hasBody: method != "HEAD")
    }
}

/// A client of a WebSocket. Use from one thread. All calls block it, each with a time limit.
public final class WebSocketClient {
    /// A frame that the server has sent.
    public struct Frame: Sendable {
        /// The first byte: final bit and opcode.
        public var kind: UInt8
        public var bytes: [UInt8]
        public var text: String { String(decoding: bytes, as: UTF8.self) }
        public var isText: Bool { kind == 0x81 }
        public var isBinary: Bool { kind == 0x82 }
        /// The code of a closing frame; nil for other frames.
        public var closeCode: Int? { kind == 0x88 && bytes.count >= 2 ? Int(bytes[0]) << 8 | Int(bytes[1]) : nil }
    }

    public let socket: SocketClient
    /// The response to the upgrade.
    public let response: WebReply

    /// Connects and requests the upgrade.
    public init(port: Int, address: String = "127.0.0.1", target: String = "/hemiola/socket", headers: [String: String] = [:]) throws {
        socket = try SocketClient(port: port, address: address)
        var fields = [
            "Host": "\(address.contains(":") ? "[\(address)]" : address):\(port)", "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        ]
        fields.merge(headers) { _, new in new }
        response = try socket.request(target, headers: fields.filter { !$0.value.isEmpty })
    }

    /// Sends a text message.
    public func send(_ text: String) throws {
        try send(kind: 0x81, Array(text.utf8))
    }

    /// Sends a frame.
    ///
    /// - Parameter kind: The first byte: final bit and opcode.
    public func send(kind: UInt8, _ bytes: [UInt8], isMasked: Bool = true) throws {
        try socket.send(bytes: Self.frame(kind: kind, bytes, isMasked: isMasked))
    }

    /// The bytes of a frame.
    public static func frame(kind: UInt8, _ bytes: [UInt8], isMasked: Bool = true) -> [UInt8] {
        var frame: [UInt8] = [kind]
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch bytes.count {
        case 0..<126: frame.append(mask | UInt8(bytes.count))
        case 126..<65_536: frame += [mask | 126, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
        default: frame += [mask | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
        }
        let key: [UInt8] = [0x12, 0x34, 0x56, 0x78]
        if isMasked { frame += key }
        return frame + (isMasked ? bytes.enumerated().map { $1 ^ key[$0 & 3] } : bytes)
    }

    /// The next frame; nil at the end of the connection.
    public func readFrame(timeout: Double = 30) throws -> Frame? {
        guard let head = try socket.readBytes(2, timeout: timeout) else { return nil }
        var count = Int(head[1] & 0x7F)
        if count > 125 {
            guard let bytes = try socket.readBytes(count == 126 ? 2 : 8) else { return nil }
            count = bytes.reduce(0) { $0 << 8 | Int($1) }
        }
        return try socket.readBytes(count).map { Frame(kind: head[0], bytes: $0) }
    }
}
