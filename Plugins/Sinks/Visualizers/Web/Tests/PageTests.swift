import BridgeSupport
import Foundation
import Hemiola
import HemiolaBridge
import HemiolaVisualizer
import TestSupport
import Testing

@testable import WebSink

/// The pages and files that the server sends.
@Suite(.mayNotHang) struct PageTests {
    private static let element = #"<script src="/hemiola.js"></script>"#

    /// The files of Plugins/Sinks/Visualizers/Web/Page by their paths on the server.
    private static func pageFiles() throws -> [String: [UInt8]] {
        let root = Repository.root.appending(path: "Plugins/Sinks/Visualizers/Web/Page")
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: root.appending(path: name).path, isDirectory: &isFolder)
            return !isFolder.boolValue && !["embed.h", "jsconfig.json", "package.json"].contains(name)
                && !["tests/", "script/"].contains { name.hasPrefix($0) }
        }
        func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: root.appending(path: name))) }
        var files = try Dictionary(uniqueKeysWithValues: names.map { ("/\($0)", try bytes($0)) })
        files["/hemiola.d.ts"] = try bytes("script/hemiola.d.ts")
        // The parts of the page script, in the order of the list.
        let list = String(decoding: try bytes("script/embed.h"), as: UTF8.self)
        files["/hemiola.js"] = try list.matches(of: /#embed "(.+)"/).flatMap { try bytes("script/\($0.1)") }
        return files
    }

    @Test func `built-in page: every file is in the program, and is served unchanged`() async throws {
        let files = try Self.pageFiles()
        #expect(Set(files.keys) == Set(PageFiles.all.keys))
        let fixture = try await WebSinkFixture()
        for (path, bytes) in files where path != "/hemiola.js" && path != "/index.html" {
            let response = try fixture.get(path)
            #expect(response.status == 200 && response.body == bytes, "\(path)")
            #expect(response.headers["x-content-type-options"] == "nosniff" && response.headers["referrer-policy"] == "same-origin")
            let types = ["html": "text/html", "js": "text/javascript", "css": "text/css", "ts": "text/plain"]
            let type = try #require(types[(path as NSString).pathExtension], "\(path)")
            #expect(response.headers["content-type"] == "\(type); charset=utf-8")
        }
        #expect(try fixture.get("/none.js").status == 404)
        try await fixture.close()
    }

    @Test func `built-in page: the file, with a line for each of its modules`() async throws {
        let files = try Self.pageFiles()
        let fixture = try await WebSinkFixture()
        let page = try fixture.get("/")
        #expect(page.status == 200 && page.headers["content-type"] == "text/html; charset=utf-8")
        #expect(try fixture.get("/index.html").body == page.body)
        let line = /<link rel="modulepreload" href="(.+)">\n/
        #expect(page.text.replacing(line, with: "") == String(decoding: try #require(files["/index.html"]), as: UTF8.self))
        let modules = page.text.matches(of: line).map { "/\($0.1)" }
        #expect(modules.count > 40 && Set(modules).isSubset(of: files.keys))
        // Each import of one of them names another.
        for module in modules {
            let text = String(decoding: try #require(files[module]), as: UTF8.self)
            for name in text.matches(of: /from "(\.[^"]+)";/) {
                let path = URL(filePath: module).deletingLastPathComponent().appending(path: String(name.1)).standardizedFileURL.path
                #expect(modules.contains(path), "\(module) imports \(path)")
            }
        }
        try await fixture.close()
    }

    @Test func `page script: only its first line differs from the file`() async throws {
        let file = String(decoding: try #require(try Self.pageFiles()["/hemiola.js"]), as: UTF8.self)
        #expect(file.hasPrefix("const hemiolaInitial = null;\n"))
        let fixture = try await WebSinkFixture("handlers=lights+$fog_2")
        let response = try fixture.get("/hemiola.js")
        #expect(response.headers["cache-control"] == "no-store" && response.headers["content-type"] == "text/javascript; charset=utf-8")
        let lines = response.text.split(separator: "\n", maxSplits: 1)
        #expect(lines[0] == #"const hemiolaInitial = {"presetB64":null,"speed":null,"handlers":["lights","$fog_2"]};"#)
        #expect(lines[1] == file.split(separator: "\n", maxSplits: 1)[1])
        try await fixture.close()
    }

    @Test func `page script after changes of preset and speed: contains the current state as data`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let client = try fixture.webClient()
        let name = "</script>\u{2028}\"; alert(1) // é😀"
        try await fixture.play(events: [
            PresetChange(name: "old", cut: .soft, blend: 1, reason: .timer), PresetChange(name: name, cut: .soft, blend: 1, reason: .timer),
            SpeedChange(0.35),
        ])
        _ = try client.line()
        let line = try #require(try fixture.get("/hemiola.js").text.split(separator: "\n").first)
        let json = try Line(String(line.dropFirst("const hemiolaInitial = ".count).dropLast()))
        #expect(json["presetB64"] == Data(name.utf8).base64EncodedString() && json.double("speed") == 0.35)
        try await fixture.close()
    }

    @Test func `policy: only the built-in HTML has it, with the WebSocket of this server`() async throws {
        let fixture = try await WebSinkFixture(files: [:])
        let policy = try #require(try fixture.get("/").headers["content-security-policy"])
        #expect(
            policy
                == "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws://\(fixture.host); "
                + "font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
        #expect(try fixture.get("/hemiola.js").headers["content-security-policy"] == nil)
        try await fixture.close()
    }

    @Test func `known version of a file: 304 without a body; HEAD: the header only; other methods: 405`() async throws {
        let fixture = try await WebSinkFixture()
        let connection = try fixture.connection()
        let first = try connection.request("/", headers: fixture.fields)
        let tag = try #require(first.headers["etag"])
        #expect(first.headers["cache-control"] == "no-cache")
        let second = try connection.request("/", headers: fixture.fields.merging(["If-None-Match": tag]) { $1 })
        #expect(second.status == 304 && second.body.isEmpty)
        #expect(try connection.request("/", headers: fixture.fields.merging(["If-None-Match": "\"x\""]) { $1 }).status == 200)
        let head = try connection.request("/", method: "HEAD", headers: fixture.fields)
        #expect(head.status == 200 && head.headers["content-length"] == "\(first.body.count)")
        let delete = try connection.request("/", method: "DELETE", headers: fixture.fields)
        #expect(delete.status == 405 && delete.headers["allow"] == "GET, HEAD")
        #expect(try connection.request("/", headers: fixture.fields).body == first.body)
        try await fixture.close()
    }

    // MARK: - The user's presets

    @Test func `presets: the list of the folder and its files, as bytes; nothing beside, below or outside of it`() async throws {
        let files = [
            "presets/Été 1.json": "{}", "presets/butterchurn.min.js": "let a", "presets/notes.txt": "x", "presets/.hidden.json": "x",
            "presets/page.html": "<script>", "presets/sub/x.json": "x", "secret.json": "x",
        ]
        let fixture = try await WebSinkFixture(files: files)
        try FileManager.default.createSymbolicLink(
            atPath: fixture.folder("presets/link.json"), withDestinationPath: fixture.folder("secret.json"))
        let list = try fixture.get("/presets/")
        #expect(list.text == #"["butterchurn.min.js","Été 1.json"]"# + "\n" && list.headers["cache-control"] == "no-store")
        for path in ["/presets/%C3%89t%C3%A9%201.json", "/presets/butterchurn.min.js", "/presets/page.html"] {
            let response = try fixture.get(path)
            #expect(response.status == 200 && response.headers["content-type"] == "application/octet-stream", "\(path)")
            #expect(response.headers["x-content-type-options"] == "nosniff" && !response.text.contains("hemiola.js"))
        }
        for path in ["/presets", "/presets/link.json", "/presets/.hidden.json", "/presets/sub/x.json", "/presets/../secret.json"] {
            #expect(try fixture.get(path).status >= 400, "\(path)")
        }
        try FileManager.default.removeItem(atPath: fixture.folder("presets"))
        #expect(try fixture.get("/presets/").text == "[]\n" && fixture.get("/presets/butterchurn.min.js").status == 404)
        try await fixture.close()
    }

    @Test func `frame of presets: any code, in a sandbox without the network and without this server's files`() async throws {
        let fixture = try await WebSinkFixture(files: [:])
        let response = try fixture.get("/stage/frame.html")
        #expect(response.headers["content-security-policy"] == "sandbox allow-scripts; frame-ancestors 'self'")
        // Its own policy stands before everything that it limits.
        let policy = try #require(response.text.firstMatch(of: /<meta http-equiv="Content-Security-Policy" content="(.*?)">/))
        // Of the scripts in documents only its own, by its hash.
        #expect(policy.1.hasPrefix("default-src 'none'; script-src 'sha256-") && policy.1.contains("=' 'unsafe-eval' blob:; "))
        #expect(!policy.1.contains("-src *") && !policy.1.contains("http") && !policy.1.contains("connect-src"))
        let element = try #require(response.text.firstRange(of: "<style"))
        #expect(policy.range.upperBound <= element.lowerBound)
        try await fixture.close()
    }

    // MARK: - The user's page

    @Test func `page=DIR: its files are served, with the script in HTML, and the paths of the server remain`() async throws {
        let files = [
            "site/index.html": "<!doctype html><html><head><title>x</title></head></html>", "site/a b/ü.css": "p {}",
            "site/app.js": "let a = 1", "site/sub/index.html": "<p>sub", "site/hemiola.js": "mine", "site/metrics": "mine",
            "site/hemiola/x.js": "mine", "site/page.css": "body {}", "site/data.bin": "\u{1}\u{2}", "site/empty.txt": "",
        ]
        let fixture = try await WebSinkFixture("page=DIR/site", files: files)
        let page = try fixture.get("/")
        #expect(page.text == "<!doctype html><html><head>\(Self.element)<title>x</title></head></html>")
        #expect(page.headers["content-type"] == "text/html" && page.headers["content-security-policy"] == nil)
        #expect(try fixture.get("/index.html").body == page.body)
        #expect(try fixture.get("/sub/").text == "\(Self.element)<p>sub")
        #expect(try fixture.get("/a%20b/%C3%BC.css").text == "p {}")
        let script = try fixture.get("/app.js")
        #expect(script.text == "let a = 1" && script.headers["content-type"] == "text/javascript")
        #expect(try fixture.get("/data.bin").headers["content-type"] == "application/octet-stream")
        #expect(try fixture.get("/empty.txt").status == 200)
        #expect(try fixture.get("/page.css").text == "body {}")
        for path in ["/hemiola.js", "/metrics"] { #expect(try fixture.get(path).text != "mine") }
        for path in ["/hemiola/x.js", "/sub", "/app/app.js", "/none", "//index.html", "/sub//index.html"] {
            #expect(try fixture.get(path).status == 404, "\(path)")
        }
        let tag = try #require(script.headers["etag"])
        #expect(try fixture.get("/app.js", ["If-None-Match": tag]).status == 304)
        try fixture.folder.write("let a = 2 // new", to: "site/app.js")
        #expect(try fixture.get("/app.js", ["If-None-Match": tag]).text == "let a = 2 // new")
        try await fixture.close()
    }

    @Test func `page=FILE: is the page, and the files beside it are served`() async throws {
        let fixture = try await WebSinkFixture("page=DIR/show.html", files: ["show.html": "<body>", "other.html": "<head><p>"])
        #expect(try fixture.get("/").text == "\(Self.element)<body>")
        #expect(try fixture.get("/other.html").text == "<head>\(Self.element)<p>")
        try await fixture.close()
    }

    @Test func `paths out of the folder, hidden files, links out of it, folders and pipes: 404`() async throws {
        let files = ["site/index.html": "x", "site/.secret": "s", "site/.git/config": "s", "site/in.txt": "in", "outside.txt": "secret"]
        let fixture = try await WebSinkFixture("page=DIR/site", files: files)
        let (manager, folder) = (FileManager.default, fixture.folder)
        try manager.createSymbolicLink(atPath: folder("site/out.txt"), withDestinationPath: folder("outside.txt"))
        try manager.createSymbolicLink(atPath: folder("site/up"), withDestinationPath: "..")
        try manager.createSymbolicLink(atPath: folder("site/hidden.txt"), withDestinationPath: ".secret")
        try manager.createSymbolicLink(atPath: folder("site/loop"), withDestinationPath: "loop")
        try manager.createSymbolicLink(atPath: folder("site/link.txt"), withDestinationPath: "in.txt")
        mkfifo(folder("site/pipe"), 0o600)
        // A sibling whose name begins with that of the folder.
        try manager.createDirectory(atPath: folder("site2"), withIntermediateDirectories: false)
        try folder.write("secret", to: "site2/a.txt")
        try manager.createSymbolicLink(atPath: folder("site/two.txt"), withDestinationPath: "../site2/a.txt")
        #expect(try fixture.get("/link.txt").text == "in")
        for path in [
            "/../outside.txt", "/%2e%2e/outside.txt", "/%2E%2E%2Foutside.txt", "/..%2foutside.txt", "/./in.txt", "/up/outside.txt",
            "/out.txt", "/.secret", "/%2esecret", "/.git/config", "/hidden.txt", "/loop", "/pipe", "/two.txt", "/in.txt/", "/up/",
            "/\\..\\outside.txt", "/....//outside.txt", "/site/../../outside.txt",
        ] {
            let response = try fixture.get(path)
            #expect(response.status == 404 && !response.text.contains("secret"), "\(path)")
        }
        for path in ["/%", "/%2", "/%zz", "/in.txt%00", "/%ff", "/%0a", "http://x/", "*"] {
            #expect(try fixture.get(path).status == 400, "\(path)")
        }
        try await fixture.close()
    }

    @Test func `large file: is sent completely; a client that does not read it delays no other client`() async throws {
        let fixture = try await WebSinkFixture("page=DIR", files: ["index.html": "x"])
        let bytes = (0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try fixture.folder.write(bytes, to: "large.bin")
        let stalled = try (0..<20).map { _ in
            let connection = try fixture.connection()
            try connection.sendRequest("/large.bin", headers: fixture.fields)
            return connection
        }
        #expect(try fixture.get("/large.bin").body == bytes)
        try await fixture.close()
        withExtendedLifetime(stalled) {}
    }

    @Test func `large HTML file: is sent completely, with the script in its head`() async throws {
        let text = "<!doctype html><head>" + String(repeating: "<!-- 0123456789 -->\n", count: 500_000)
        let fixture = try await WebSinkFixture("page=DIR", files: ["index.html": text])
        let head = "<!doctype html><head>"
        #expect(try fixture.get("/").text == head + Self.element + text.dropFirst(head.count))
        try await fixture.close()
    }

    @Test(arguments: [
        ("page=DIR/none", "No such file"), ("page=DIR", "no readable index.html"), ("page=DIR/a.txt", "not an HTML file"),
    ]) func `page= without a page: the sink cannot be opened, and the message names the path`(setting: String, message: String) async throws
    {
        let error = await #expect(throws: Problem.self) { _ = try await WebSinkFixture(setting, files: ["a.txt": "x"]) }
        #expect(error?.message.contains(message) == true && error?.place == .key("page"), "\(String(describing: error))")
    }
}
