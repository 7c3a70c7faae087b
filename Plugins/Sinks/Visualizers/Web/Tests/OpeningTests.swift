import BridgeSupport
import Foundation
import Glibc
import Hemiola
import TestSupport
import Testing

@testable import WebSink

/// The port, the address, the token file and the settings.
@Suite(.mayNotHang) struct OpeningTests {
    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func `opened sink: prints one line with the URL; a new run has the same token`() async throws {
        let fixture = try await WebSinkFixture()
        #expect(fixture.information.count == 1 && fixture.information[0].figure == [] && fixture.warnings == [])
        #expect(fixture.information[0].text == "web: open http://127.0.0.1:\(fixture.port)/?token=\(fixture.token)")
        let path = fixture.folder("state/hemiola/web-token")
        #expect(mode(path) == 0o600 && mode(fixture.folder("state/hemiola")) == 0o700)
        #expect(try fixture.folder.text(of: "state/hemiola/web-token") == "\(fixture.token)\n")
        try await fixture.reopen()
        #expect(fixture.information.count == 2 && fixture.information[1].text.hasSuffix("?token=\(fixture.token)"))
        try await fixture.close()
    }

    @Test func `token file that others can read, or that is damaged or a link: is replaced by a new token`() throws {
        let folder = try TemporaryFolder()
        let file = TokenFile(path: folder("a/b/token"))
        let first = try file.token()
        #expect(try first.count == 32 && file.token() == first)
        chmod(file.path, 0o644)
        let second = try file.token()
        #expect(second != first && mode(file.path) == 0o600)
        for text in ["", "short", "with space and so on 1234567890abcdef", String(repeating: "a", count: 200)] {
            try folder.write(text, to: "a/b/token")
            chmod(file.path, 0o600)
            let token = try file.token()
            #expect(try token.count == 32 && file.token() == token, "\(text)")
        }
        try folder.write(first, to: "other")
        chmod(folder("other"), 0o600)
        unlink(file.path)
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: folder("other"))
        #expect(try file.token() != first)
        #expect(try folder.text(of: "other") == first)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("a/b")) == ["token"])
    }

    /// A browser whose `xdg-open` writes its argument to a file.
    private func browser(_ folder: TemporaryFolder, _ variables: [String: String] = ["DISPLAY": ":9"]) throws -> DesktopBrowser? {
        try folder.write(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >'\(folder("url.new"))'; mv '\(folder("url.new"))' '\(folder("url"))'\n", to: "xdg-open")
        chmod(folder("xdg-open"), 0o755)
        return DesktopBrowser { variables.merging(["PATH": "/nonexistent:\(folder.path)"]) { $1 }[$0] }
    }

    @Test func `open=true: xdg-open gets a URL with a token of this run, not that of the file`() async throws {
        let tools = try TemporaryFolder()
        let browser = try #require(try browser(tools))
        let fixture = try await WebSinkFixture { folder in
            SinkPlugin.web(tokenFile: { TokenFile(path: folder("state/hemiola/web-token")) }, browser: { browser })
        } spec: { _ in
            "web:0,open=true"
        }
        try tools.wait(for: "a URL") { (try? tools.text(of: "url").isEmpty) == false }
        let opened = try tools.text(of: "url")
        #expect(opened == "http://127.0.0.1:\(fixture.port)/?token=\(fixture.token)\n")
        #expect(fixture.information.count == 1 && fixture.announcements == [])
        #expect(try fixture.get("/").status == 200 && fixture.warnings == [])
        #expect(!FileManager.default.fileExists(atPath: fixture.folder("state/hemiola/web-token")))
        try await fixture.close()
    }

    @Test func `no desktop session or no xdg-open: no browser, and the token of the file`() async throws {
        let tools = try TemporaryFolder()
        #expect(try browser(tools, [:]) == nil)
        #expect(try browser(tools, ["WAYLAND_DISPLAY": "wayland-0"]) != nil)
        #expect(DesktopBrowser { ["DISPLAY": ":0", "PATH": "/nonexistent"][$0] } == nil)
        let fixture = try await WebSinkFixture { folder in
            SinkPlugin.web(tokenFile: { TokenFile(path: folder("token")) }, browser: { nil })
        } spec: { _ in
            "web:0,open=true"
        }
        #expect(try fixture.folder.text(of: "token") == "\(fixture.token)\n")
        // Without a browser, only the printed line has the URL.
        #expect(fixture.announcements == fixture.information.map(\.text) && fixture.announcements.count == 1)
        try await fixture.close()
    }

    @Test(arguments: ["not a folder", "of all users", "none"])
    func `folder for the token that cannot be used: a token of this run, and one warning`(fault: String) async throws {
        let fixture = try await WebSinkFixture { folder in
            switch fault {
            case "not a folder": _ = try? folder.write("", to: "state")
            case "of all users":
                try? FileManager.default.createDirectory(atPath: folder("state"), withIntermediateDirectories: true)
                chmod(folder("state"), 0o777)
            default: return SinkPlugin.web(tokenFile: { nil })
            }
            return SinkPlugin.web(tokenFile: { TokenFile(path: folder("state/web-token")) })
        } spec: { _ in
            "web:0"
        }
        #expect(fixture.warnings.count == 1 && fixture.warnings[0].contains("this run only"), "\(fixture.warnings)")
        #expect(!FileManager.default.fileExists(atPath: fixture.folder("state/web-token")))
        #expect(try fixture.get("/").status == 200)
        try await fixture.close()
    }

    @Test func `folder of the token file is a file: the error names it and the remedy`() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "state")
        let error = #expect(throws: Problem.self) { try TokenFile(path: folder("state/token")).token() }
        #expect(error?.message.contains(folder("state/token")) == true && error?.message.contains("XDG_STATE_HOME") == true)
    }

    @Test func `tokens: differ and are hexadecimal`() {
        let tokens = Set((0..<100).map { _ in TokenFile.makeToken() })
        #expect(tokens.count == 100 && tokens.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
    }

    @Test func `port in use: the next free one is used, with a warning`() async throws {
        let first = try await WebSinkFixture()
        let second = try await WebSinkFixture(port: first.port)
        #expect(second.port > first.port && second.port <= first.port + ListeningSocket.furtherPorts)
        #expect(second.warnings == ["web: port \(first.port) is in use; using port \(second.port)"])
        #expect(try second.get("/").status == 200)
        try await second.close()
        try await first.close()
        // A closed port can be used again at once.
        let third = try await WebSinkFixture(port: first.port)
        #expect(third.port == first.port)
        try await third.close()
    }

    @Test func `bind=::1: is served at the IPv6 address, without a warning`() async throws {
        let fixture = try await WebSinkFixture("bind=::1")
        #expect(fixture.information[0].text.contains("http://[::1]:\(fixture.port)/?token="))
        #expect(fixture.warnings == [])
        let host = ["Host": "[::1]:\(fixture.port)"]
        #expect(try SocketClient(port: fixture.port, address: "::1").request("/?token=\(fixture.token)", headers: host).status == 200)
        let client = try WebSocketClient(port: fixture.port, address: "::1", headers: ["Cookie": "hemiola=\(fixture.token)"])
        #expect(client.response.status == 101)
        try await fixture.close()
    }

    @Test func `bind=0.0.0.0: warns, shows a QR code, and accepts IP addresses as Host, but no other name`() async throws {
        let fixture = try await WebSinkFixture("bind=0.0.0.0")
        #expect(fixture.warnings.count == 1 && fixture.warnings[0].contains("other machines can connect"))
        #expect(fixture.url.host() != "0.0.0.0")
        for host in ["192.168.1.2:\(fixture.port)", "[fe80::1]:\(fixture.port)", "127.0.0.1:\(fixture.port)"] {
            #expect(try fixture.get("/", ["Host": host]).status == 200, "\(host)")
        }
        for host in ["evil.example:\(fixture.port)", "1.2.3.4.evil.example:\(fixture.port)", "192.168.1.2:1", "192.168.1.2"] {
            #expect(try fixture.get("/", ["Host": host]).status == 421, "\(host)")
        }
        try await fixture.close()
    }

    @Test(arguments: [
        "web:bind=example.org", "web:bind=", "web:port=65536", "web:port=-1", "web:origin=localhost", "web:origin=http://x/path",
        "web:origin=null", "web:handlers=a-b", "web:handlers=1a", "web:page=", "web:max_clients=0",
    ]) func `invalid settings: are refused when the sink is made`(spec: String) {
        #expect(throws: Problem.self) { try WebSinkFixture.sink(spec) }
    }

    @Test func `address of another machine: the error names it`() async {
        let error = await #expect(throws: Problem.self) { _ = try await WebSinkFixture("bind=192.0.2.1") }
        #expect(error?.message.contains("192.0.2.1:0") == true && error?.message.contains("address of this machine") == true)
    }

    @Test(.enabled(if: QRCode.isAvailable, "libqrencode is missing"))
    func `QR code: has the three position patterns and a light margin`() throws {
        let code = try QRCode("http://192.168.1.2:8043/?token=0123456789abcdef0123456789abcdef")
        // Version 4: 33 modules and a margin of 4 on each side.
        #expect(code.lines.count == 21)
        let rows = code.lines.map { line in Array(line.drop { $0 != "m" }.dropFirst().prefix { $0 != "\u{1B}" }) }
        #expect(rows.allSatisfy { $0.count == 41 })
        func isDark(_ row: Int, _ column: Int) -> Bool {
            let character = rows[row / 2][column]
            return character == "█" || character == (row.isMultiple(of: 2) ? "▀" : "▄")
        }
        let pattern = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"].map { $0.map { $0 == "1" } }
        for (top, left) in [(4, 4), (4, 30), (30, 4)] {
            for row in 0..<7 {
                for column in 0..<7 { #expect(isDark(top + row, left + column) == pattern[row][column], "\(top) \(left) \(row) \(column)") }
            }
        }
        for index in 0..<41 {
            for edge in [0, 3, 37, 40] { #expect(!isDark(edge, index) && !isDark(index, edge)) }
        }
        #expect(throws: Problem.self) { try QRCode(String(repeating: "x", count: 5000)) }
    }
}

extension QRCode {
    static var isAvailable: Bool { (try? QRCode("x")) != nil }
}
