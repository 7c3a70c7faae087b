import Foundation
import TestSupport
import Testing

/// The program with a page at its web server.
@Suite(.mayNotHang) struct WebTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(_ sinks: String...) throws -> ChildProcess {
        let arguments = ["analyze", Hemiola.minuet, "--analyzer", "levels"] + sinks.flatMap { ["--sink", $0] }
        return try ChildProcess(
            "/bin/sh", ["-c", #"exec "$0" "$@" 2>errors"#, Hemiola.path] + arguments, in: folder.path,
            environment: ["XDG_STATE_HOME": folder("state")])
    }

    /// The port and token that the program has printed.
    private func address() throws -> (port: Int, token: String) {
        for _ in 0..<3000 {
            if let text = try? folder.text(of: "errors"), let match = text.firstMatch(of: #/127\.0\.0\.1:(\d+)/\?token=([0-9a-f]+)\n/#) {
                return (try #require(Int(match.1)), String(match.2))
            }
            usleep(10_000)
        }
        throw CocoaError(.fileNoSuchFile)
    }

    private func client(_ address: (port: Int, token: String)) throws -> WebSocketClient {
        try WebSocketClient(port: address.port, headers: ["Cookie": "hemiola=\(address.token)"])
    }

    /// The next text message of a type.
    private func message(_ type: String, from client: WebSocketClient) throws -> JSON {
        while let frame = try client.readFrame() {
            guard frame.isText else { continue }
            let json = try JSON(frame.text)
            if json["type"]?.string == type { return json }
        }
        throw CocoaError(.fileReadUnknown)
    }

    @Test func `sinks web, socket and presets at once: a preset that a web page requests reaches all pages`() throws {
        let process = try start("web:0", "socket:s", "presets:mode=manual,names=Rain+Snow,order=sequential,state=none")
        let address = try address()
        let (web, unix) = (try client(address), try SocketClient(folder("s")))
        try web.send(#"{"type":"ready","presets":["Rain","Snow"]}"#)
        try unix.send(#"{"type":"ready","presets":["Rain","Snow"]}"#)
        try web.send(#"{"type":"loadPreset","name":"Snow","id":1}"#)
        while try message("loadPresetByName", from: web)["name"]?.string != "Snow" {}
        #expect(try message("reply", from: web)["ok"] == .bool(true))
        while try !unix.readLine(containing: "loadPresetByName").contains("Snow") {}
        let script = try SocketClient(port: address.port)
            .request("/hemiola.js?token=\(address.token)", headers: ["Host": "127.0.0.1:\(address.port)"])
        #expect(script.text.hasPrefix(#"const hemiolaInitial = {"presetB64":"U25vdw==","#))
        process.send(SIGINT)
        _ = try process.finish()
    }

    @Test func `sinks web and socket without presets: each control is handled once`() throws {
        let process = try start("web:0", "socket:s")
        let address = try address()
        let (web, unix) = (try client(address), try SocketClient(folder("s")))
        try unix.send(#"{"type":"subscribe","streams":["speed"],"id":1}"#)
        _ = try unix.readLine(containing: #""id":1"#)
        try web.send(#"{"type":"setSpeed","speed":0.5,"id":1}"#)
        #expect(try message("reply", from: web)["ok"] == .bool(true))
        try web.send(#"{"type":"setSpeed","speed":0.75,"id":2}"#)
        #expect(try message("reply", from: web)["ok"] == .bool(true))
        #expect(try JSON(unix.readLine(containing: #""speed""#))["speed"]?.double == 0.5)
        #expect(try JSON(unix.readLine(containing: #""speed""#))["speed"]?.double == 0.75)
        process.send(SIGINT)
        _ = try process.finish()
        // The page gets a closing message.
        while let frame = try web.readFrame() {
            if let code = frame.closeCode { return #expect(code == 1001) }
        }
        Issue.record("the connection ended without a closing message")
    }
}
