import Foundation
import TestSupport
import Testing

/// The program with a page at its web server.
@Suite(.mayNotHang) struct WebTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(_ sinks: String..., arguments: [String] = []) throws -> ChildProcess {
        let arguments = ["analyze", Hemiola.minuet, "--analyzer", "levels"] + arguments + sinks.flatMap { ["--sink", $0] }
        return try ChildProcess(
            "/bin/sh", ["-c", #"exec "$0" "$@" 2>errors"#, Hemiola.path] + arguments, in: folder.path,
            environment: ["XDG_STATE_HOME": folder("state")])
    }

    /// The port and token that the program has printed.
    private func address() throws -> (port: Int, token: String) {
        var found: (port: Int, token: String)?
        try folder.wait(for: "the URL of the page") {
            let match = try? folder.text(of: "errors").firstMatch(of: #/127\.0\.0\.1:(\d+)/\?token=([0-9a-f]+)\n/#)
            if let match, let port = Int(match.1) { found = (port, String(match.2)) }
            return found != nil
        }
        return try #require(found)
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

    @Test func `import: the page gets the file at an address that is served once, or the reason why it cannot be read`() throws {
        let process = try start("web:0", "socket:s")
        let address = try address()
        let (page, sender) = (try client(address), try SocketClient(folder("s")))
        try page.send(#"{"type":"ready","presets":["Rain"],"id":0}"#)
        _ = try message("reply", from: page)
        func get(_ path: String, token: String) throws -> WebReply {
            try SocketClient(port: address.port).request("/\(path)?token=\(token)", headers: ["Host": "127.0.0.1:\(address.port)"])
        }
        let content = String(repeating: "é", count: 200_000)
        try folder.write(content, to: "rain.milk")
        try folder.write("", to: "large")
        try FileHandle(forWritingTo: URL(filePath: folder("large"))).truncate(atOffset: 32 << 20 + 1)
        for (path, status, text) in [
            (folder("rain.milk"), 200, content), (folder("gone"), 404, "\(folder("gone")): No such file or directory\n"),
            (folder.path, 404, "\(folder.path): not a regular file\n"),
            (folder("large"), 404, "\(folder("large")): the file is larger than 32 MiB\n"),
        ] {
            try sender.send(#"{"type":"import","id":1,"name":"rain.milk","path":"\#(path)"}"#)
            let request = try message("import", from: page)
            #expect(request["name"]?.string == "rain.milk" && request["path"] == nil, "\(request)")
            let (target, call) = (try #require(request["url"]?.string), try #require(request["call"]?.int))
            #expect(try get(target, token: "wrong").status == 403)
            let reply = try get(target, token: address.token)
            #expect(reply.status == status && reply.text == text, "\(reply.status) \(reply.text.prefix(200))")
            #expect(try get(target, token: address.token).status == 404)
            try page.send("{\"type\":\"result\",\"call\":\(call),\"value\":true}")
            #expect(try sender.readLine(containing: #""type":"reply""#) == #"{"type":"reply","id":1,"ok":true,"error":null,"value":true}"#)
        }
        process.send(SIGINT)
        _ = try process.finish()
    }

    @Test func `sinks web, socket and presets at once: a preset that a web page requests reaches all pages`() throws {
        let process = try start("web:0", "socket:s", "presets:mode=manual,names=Rain+Snow,order=sequential,state=none")
        let address = try address()
        let (web, unix) = (try client(address), try SocketClient(folder("s")))
        try web.send(#"{"type":"ready","presets":["Rain","Snow"]}"#)
        try unix.send(#"{"type":"ready","presets":["Rain","Snow"]}"#)
        try web.send(#"{"type":"loadPreset","name":"Snow","id":1}"#)
        #expect(try message("reply", from: web)["ok"] == .bool(true))
        while try message("loadPresetByName", from: web)["name"]?.string != "Snow" {}
        while try !unix.readLine(containing: "loadPresetByName").contains("Snow") {}
        let script = try SocketClient(port: address.port)
            .request("/hemiola.js?token=\(address.token)", headers: ["Host": "127.0.0.1:\(address.port)"])
        #expect(script.text.hasPrefix(#"const hemiolaInitial = {"presetB64":"U25vdw==","#))
        process.send(SIGINT)
        _ = try process.finish()
    }

    /// Sends as much as the program accepts, until it has accepted nothing for half a second.
    private func flood(_ clients: [SocketClient], with text: String, upTo limit: Int) throws -> [Int] {
        let block = Array(String(repeating: text, count: (256 << 10) / text.utf8.count).utf8)
        var sent = clients.map { _ in 0 }
        while true {
            let open = clients.indices.filter { sent[$0] < limit }
            guard !open.isEmpty, SocketClient.canSend(open.map { clients[$0] }, within: 0.5) else { return sent }
            var isAccepted = false
            for index in open {
                // Where the text is cut, the next one begins.
                let count = clients[index].sendWhatFits(block[(sent[index] % block.count)...])
                if count > 0 { isAccepted = true }
                sent[index] += count
            }
            // Those that can send are closed.
            if !isAccepted { return sent }
        }
    }

    @Test(arguments: ["/hemiola.js", "/metrics", "/app/app.js", "/large.html"])
    func `clients that send requests and never read: memory is bounded, and others are served`(path: String) throws {
        try FileManager.default.createDirectory(atPath: folder("site"), withIntermediateDirectories: false)
        try folder.write("<head>" + String(repeating: "<p>text</p>\n", count: 400_000), to: "site/large.html")
        try folder.write("<p>", to: "site/index.html")
        let process = try start(path == "/large.html" ? "web:0,page=site" : "web:0", arguments: ["--realtime"])
        let address = try address()
        let clients = try (0..<30).map { _ in try SocketClient(port: address.port) }
        let before = try #require(process.residentPeak)
        let request =
            "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(address.port)\r\nCookie: hemiola=\(address.token)\r\nSec-Fetch-Site: same-origin\r\n\r\n"
        _ = try flood(clients, with: request, upTo: 4 << 20)
        let after = try #require(process.residentPeak)
        #expect(after - before < 40 << 20, "\((after - before) >> 20) MiB")
        let reply = try SocketClient(port: address.port)
            .request("/metrics?token=\(address.token)", headers: ["Host": "127.0.0.1:\(address.port)"])
        #expect(reply.status == 200)
        process.send(SIGINT)
        _ = try process.finish()
    }

    @Test(arguments: [
        #"{"type":"status","id":1}"#, #"{"type":"subscribe","streams":["header"],"id":1}"#, #"{"type":"getPresetNames","id":1}"#, "x",
        #"{"type":"clock","t":1}"#, #"{"type":"ready","presets":["a"],"id":2}"#,
    ])
    func `clients of the Unix socket that send messages and never read: memory is bounded`(message: String) throws {
        let process = try start("socket:s", arguments: ["--realtime"])
        let clients = try (0..<30).map { _ in try SocketClient(folder("s")) }
        let before = try #require(process.residentPeak)
        _ = try flood(clients, with: message + "\n", upTo: 4 << 20)
        let after = try #require(process.residentPeak)
        #expect(after - before < 80 << 20, "\((after - before) >> 20) MiB")
        process.send(SIGINT)
        _ = try process.finish()
    }

    @Test func `sinks web and socket: each control is handled once`() throws {
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
