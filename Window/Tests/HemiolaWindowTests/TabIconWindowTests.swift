import Foundation
import Testing

extension WindowTests {
    /// An HTTP server on a port of its choice, for the pages of a folder.
    func serve(_ folder: String) throws -> RunningProgram {
        try RunningProgram(findTool("python3")!, ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder])
    }

    func port(of server: RunningProgram) throws -> Int {
        try #require(try server.wait(for: "port").split(separator: " ").compactMap { Int($0) }.first)
    }

    /// A page with a title.
    private func page(_ fixture: Fixture, _ name: String, title: String, head: String = "") throws -> String {
        let path = try fixture.page(name, script: visualizer + "report('loaded');", head: head)
        let file = URL(fileURLWithPath: "\(path)/index.html")
        let html = try String(contentsOf: file, encoding: .utf8)
        try html.replacingOccurrences(of: "<title>\(name)</title>", with: "<title>\(title)</title>").write(
            to: file, atomically: true, encoding: .utf8)
        return path
    }

    @Test(.releaseCheck)
    func `tab labels: the title of the list, else of the document; a long one is shortened and does not widen the window`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let long = String(repeating: "A long title ", count: 40)
        let paths = [
            try page(fixture, "listed", title: "Not shown"), try page(fixture, "titled", title: "Northern Lights"),
            try page(fixture, "untitled", title: ""), try page(fixture, "long", title: long),
        ]
        let window = try fixture.window(paths + ["--size", "800x500"])
        defer { window.stop() }
        for name in ["listed", "titled", "untitled", "long"] { try window.wait(for: "\(name): log: REPORT connected") }
        try window.waitUntilReady("listed")
        // Pages of the command line have the titles of their documents; their names select them too.
        for name in ["Northern Lights", "untitled", "titled", "Not shown"] {
            // The window gets the title after the page is loaded.
            try fixture.wait(until: "the tab \(name) is selected") { try fixture.send("window", "tab", name).code == 0 }
        }
        try fixture.moveToCorner("Not shown")
        try fixture.sendTabs(
            "t0", paths.enumerated().map { ["id": "t\($0.offset)", "title": $0.offset == 0 ? "Listed" : "", "path": $0.element] })
        for name in ["Listed", "Northern Lights", "untitled", String(long.dropLast())] {
            try fixture.wait(until: "the tab \(name) is selected") { try fixture.send("window", "tab", name).code == 0 }
        }
        #expect(try fixture.send("window", "tab", "Not shown").code == 1)
        _ = try fixture.picture("titles")
        let size = try fixture.run(findTool("xdotool")!, ["getactivewindow", "getwindowgeometry"]).output
        #expect(size.contains("Geometry: 800x"), "\(size)")
    }

    @Test(.releaseCheck, .enabled(if: findTool("python3") != nil, "needs python3"))
    func `tab icon: the favicon of a page of an HTTP server`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let folder = try page(fixture, "web", title: "Web", head: #"<link rel="icon" type="image/png" href="mark.png">"#)
        try FileManager.default.moveItem(atPath: try fixture.colourPicture("mark.png", "#ff00ff", 32, 32), toPath: "\(folder)/mark.png")
        let server = try serve(folder)
        defer { server.stop() }
        let address = "http://127.0.0.1:\(try port(of: server))/"
        let window = try fixture.window([address, try page(fixture, "file", title: "File")])
        defer { window.stop() }
        try window.wait(for: "REPORT connected")
        func isDrawn() throws -> Bool { try fixture.pixels((255, 0, 255), rows: 200, "favicon") > 200 }
        try fixture.wait(until: "the favicon is drawn") { try isDrawn() }
        // The icon of a list is that of other windows.
        let icon = try fixture.colourPicture("green.png", "#00ff00")
        try fixture.sendTabs("a", [["id": "a", "title": "", "path": address, "icon": icon], ["id": "b", "title": "", "path": folder]])
        try fixture.wait(until: "the favicon is still drawn, and nothing else") {
            try isDrawn() && fixture.pixels((0, 255, 0), rows: 200, "favicon") == 0
        }
    }

    @Test(.releaseCheck, .enabled(if: findTool("python3") != nil, "needs python3"))
    func `another spelling of a page's address or path: the page is shown, and not loaded again`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let (web, file) = (try page(fixture, "web", title: "Web"), try page(fixture, "file", title: "File"))
        let server = try serve(web)
        defer { server.stop() }
        let port = try port(of: server)
        let window = try fixture.window(["http://LOCALHOST:\(port)", file])
        defer { window.stop() }
        func loads() -> Int { window.lines.count { $0.contains("REPORT loaded") } }
        try window.wait(until: "both pages are loaded") { loads() == 2 }
        try window.wait(until: "both pages are connected") { window.lines.count { $0.contains("REPORT connected") } == 2 }
        for (address, path) in [("http://localhost:\(port)/", "\(file)/"), ("http://Localhost:\(port)", "\(file)/../file/index.html")] {
            try fixture.sendTabs("a", [["id": "a", "title": "", "path": address], ["id": "b", "title": "", "path": path]])
            #expect(try fixture.send("window", "tab", "b").code == 0)
        }
        try window.wait(until: "the new page is loaded") { loads() >= 3 }
        #expect(loads() == 3, "the window has the tabs of its arguments at first: the second of them is new")
    }
}
