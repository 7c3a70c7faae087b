import BridgeSupport
import Foundation
import Hemiola
import TestSupport
import Testing

@testable import WebSink

/// The sink with a token file in a temporary folder, at any free port.
typealias WebSinkFixture = ClientSinkFixture

extension ClientSinkFixture {
    /// Opens the sink.
    ///
    /// - Parameters:
    ///   - settings: The part of the SPEC after the port.
    ///   - files: Files that are written into the folder first, for `page=`, and those of presets/: names and contents.
    convenience init(_ settings: String = "", port: Int = 0, files: [String: String] = [:]) async throws {
        try await self.init { folder in
            SinkPlugin.web(tokenFile: { TokenFile(path: folder("state/hemiola/web-token")) }, presets: { folder("presets") })
        } spec: { folder in
            for (name, text) in files {
                let parent = (folder(name) as NSString).deletingLastPathComponent
                try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
                _ = try? folder.write(text, to: name)
            }
            return "web:\(port)" + (settings.isEmpty ? "" : ",\(settings.replacingOccurrences(of: "DIR", with: folder.path))")
        }
    }

    static func sink(_ spec: String) throws -> any Sink { try sink(.web(tokenFile: { nil }), spec) }

    /// The URL that the sink has printed.
    var url: URL {
        let text = information.first?.text.split(separator: " ").first { $0.hasPrefix("http://") }
        return URL(string: String(text ?? "http://none")) ?? URL(filePath: "/")
    }

    var port: Int { url.port ?? 0 }
    var host: String { "127.0.0.1:\(port)" }
    var token: String { url.query()?.split(separator: "=").last.map(String.init) ?? "" }
    /// The header fields of a request that is permitted.
    var fields: [String: String] { ["Host": host, "Cookie": "hemiola=\(token)", "Sec-Fetch-Site": "same-origin"] }

    func connection() throws -> SocketClient { try SocketClient(port: port) }

    /// A request with the cookie, on a connection of its own.
    func get(_ target: String, method: String = "GET", _ headers: [String: String] = [:]) throws -> WebReply {
        try connection().request(target, method: method, headers: fields.merging(headers) { $1 }.filter { !$0.value.isEmpty })
    }

    /// A client of the WebSocket that has read its first messages.
    func webClient() throws -> WebSocketClient {
        let client = try WebSocketClient(port: port, headers: ["Cookie": "hemiola=\(token)"])
        try #require(client.response.status == 101)
        #expect(try client.line().type == "hello")
        #expect(try client.line().type == "resumeAudio")
        return client
    }
}

extension WebSocketClient {
    /// The next text message.
    func line() throws -> Line {
        var frame = try #require(try readFrame(), "the connection was closed")
        // The server sends a ping every 30 s.
        while frame.kind == 0x89 { frame = try #require(try readFrame(), "the connection was closed") }
        try #require(frame.isText, "\(frame)")
        return try Line(frame.text)
    }

    /// The next binary message.
    func samples() throws -> SampleMessage {
        let frame = try #require(try readFrame(), "the connection was closed")
        try #require(frame.isBinary, "\(frame.text)")
        return try SampleMessage(frame.bytes)
    }

    /// Sends a request and waits for its reply.
    func request(_ text: String) throws -> Line {
        try send(text)
        while true {
            let frame = try #require(try readFrame(), "the connection was closed")
            guard frame.isText else { continue }
            let line = try Line(frame.text)
            if line.type == "reply" { return line }
        }
    }

    func expectClose(_ code: Int) throws {
        while let frame = try readFrame() {
            if let received = frame.closeCode {
                #expect(received == code)
                return
            }
        }
        Issue.record("the connection ended without a closing message")
    }
}

/// A binary message, decoded independently of the sink.
struct SampleMessage {
    let kind: UInt32
    let sequence: UInt32
    let frame: Double
    let hostMilliseconds: Double
    let samples: [Float]

    init(_ bytes: [UInt8]) throws {
        try #require(bytes.count == 8216)
        func integer(_ position: Int, _ count: Int) -> UInt64 {
            (0..<count).reduce(0) { $0 | UInt64(bytes[position + $1]) << (8 * UInt64($1)) }
        }
        kind = UInt32(integer(0, 4))
        sequence = UInt32(integer(4, 4))
        frame = Double(bitPattern: integer(8, 8))
        hostMilliseconds = Double(bitPattern: integer(16, 8))
        samples = (0..<2048).map { Float(bitPattern: UInt32(integer(24 + 4 * $0, 4))) }
    }
}
