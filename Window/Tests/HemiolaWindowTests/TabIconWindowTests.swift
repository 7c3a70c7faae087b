import Foundation
import Testing

extension WindowTests {
    /// A page with a title.
    private func page(_ fixture: Fixture, _ name: String, title: String, head: String = "") throws -> String {
        let path = try fixture.page(name, script: visualizer + "report('loaded');", head: head)
        let file = URL(fileURLWithPath: "\(path)/index.html")
        let html = try String(contentsOf: file, encoding: .utf8)
        try html.replacingOccurrences(of: "<title>\(name)</title>", with: "<title>\(title)</title>").write(
            to: file, atomically: true, encoding: .utf8)
        return path
    }

    @Test(.releaseCheck) func `tab icons: PNG and SVG files are drawn; each that cannot be used is one message, and its tab has no icon`()
        throws
    {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let path = try fixture.page("icons", script: visualizer + "report('loaded');")
        let window = try fixture.window([path])
        defer { window.stop() }
        try window.waitUntilReady("icons")
        try window.wait(for: "REPORT connected")
        try fixture.moveToCorner("icons")
        func file(_ name: String, _ content: Data) throws -> String {
            let file = fixture.folder.appendingPathComponent(name)
            try content.write(to: file)
            return file.path
        }
        let svg = ##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><rect width="10" height="10" fill="#00ff00"/></svg>"##
        let icons = [
            try fixture.colourPicture("good.png", "#ff00ff", 200, 100), try file("good.svg", Data(svg.utf8)),
            try fixture.colourPicture("wide.png", "#ff0000", 1026, 2), try file("text.png", Data("GIF89a".utf8)),
            try file("long.svg", Data("<svg>".utf8) + Data(repeating: 32, count: 1 << 20)), try file("broken.svg", Data("<svg".utf8)),
            fixture.folder.path, fixture.folder.appendingPathComponent("none.png").path,
        ]
        func tabs(_ title: String) -> [[String: Any]] {
            icons.enumerated().map { ["id": "\($0.offset)", "title": "\(title) \($0.offset)", "path": path, "icon": $0.element] }
        }
        try fixture.sendTabs("0", tabs("Tab"))
        try fixture.sendTabs("0", tabs("Title"))
        try fixture.wait(until: "icons of 16 × 8 and 16 × 16 pixels") {
            let counts = try fixture.pixels([(255, 0, 255), (0, 255, 0), (255, 0, 0)], rows: 120, "icons")
            return (100...128).contains(counts[0]) && (200...256).contains(counts[1]) && counts[2] == 0
        }
        let reasons = [
            "wide.png: 1026×2 pixels; the maximum is 1024×1024", "text.png: not a PNG or SVG file", "long.svg: larger than 1 MiB",
            "broken.svg: ", "\(fixture.folder.path): Invalid argument", "none.png: No such file or directory",
        ]
        for reason in reasons {
            try window.wait(for: reason)
            let lines = window.lines.filter { $0.contains(reason) && $0.hasSuffix("; the tab has no icon") }
            #expect(lines.count == 1, "\(reason): \(lines)")
        }
        #expect(window.lines.count { $0.contains("the tab has no icon") } == reasons.count)
        #expect(window.isRunning, "\(window.output.suffix(2000))")
        // A list without icons.
        try fixture.sendTabs("0", (0..<icons.count).map { ["id": "\($0)", "title": "Title \($0)", "path": path] })
        try fixture.wait(until: "no icons") { try fixture.pixels([(255, 0, 255), (0, 255, 0)], rows: 120, "icons") == [0, 0] }
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
    func `tab icon: the favicon of a page of an HTTP server, unless the list has an icon`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let folder = try page(fixture, "web", title: "Web", head: #"<link rel="icon" type="image/png" href="mark.png">"#)
        try FileManager.default.moveItem(atPath: try fixture.colourPicture("mark.png", "#ff00ff", 32, 32), toPath: "\(folder)/mark.png")
        let server = try RunningProgram(
            findTool("python3")!, ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder])
        defer { server.stop() }
        let port = try #require(try server.wait(for: "port").split(separator: " ").compactMap { Int($0) }.first)
        let address = "http://127.0.0.1:\(port)/"
        let window = try fixture.window([address, try page(fixture, "file", title: "File")])
        defer { window.stop() }
        try window.wait(for: "REPORT connected")
        try fixture.wait(until: "the favicon is drawn") { try fixture.pixels([(255, 0, 255)], rows: 200, "favicon")[0] > 200 }
        let icon = try fixture.colourPicture("green.png", "#00ff00")
        let tabs = [["id": "a", "title": "", "path": address, "icon": icon], ["id": "b", "title": "", "path": folder]]
        try fixture.sendTabs("a", tabs)
        try fixture.wait(until: "the icon of the list is drawn instead") {
            let counts = try fixture.pixels([(255, 0, 255), (0, 255, 0)], rows: 200, "favicon")
            return counts[0] == 0 && counts[1] > 200
        }
    }

    @Test(.releaseCheck, .enabled(if: findTool("python3") != nil, "needs python3"))
    func `another spelling of a page's address or path: the page is shown, and not loaded again`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let (web, file) = (try page(fixture, "web", title: "Web"), try page(fixture, "file", title: "File"))
        let server = try RunningProgram(findTool("python3")!, ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", web])
        defer { server.stop() }
        let port = try #require(try server.wait(for: "port").split(separator: " ").compactMap { Int($0) }.first)
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
