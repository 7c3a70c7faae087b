import Foundation
import Testing

/// A page that counts its loads and its seconds.
private let counting = """
    report('loaded');
    let seconds = 0;
    setInterval(() => { seconds += 1; report('seconds', seconds); }, 1000);
    """

extension Fixture {
    /// Moves the window with a name to the upper left corner, so that its widgets are at known positions.
    func moveToCorner(_ name: String) throws {
        try xdotool("search", "--sync", "--onlyvisible", "--name", name, "windowmove", "--sync", "0", "0")
    }

    func click(_ x: Int, _ y: Int, button: Int = 1) throws {
        try xdotool("mousemove", "\(x)", "\(y)", "click", "\(button)")
    }

    /// Sends a list of tabs to the window, and waits until it has them.
    func sendTabs(_ active: String?, _ tabs: [[String: Any]]) throws {
        let file = folder.appendingPathComponent("tabs.json")
        try JSONSerialization.data(withJSONObject: ["active": active as Any? ?? NSNull(), "tabs": tabs]).write(to: file)
        let result = try send("tabs", file.path)
        guard result.code == 0 else { throw FixtureError(description: result.output) }
        // The window answers this request, which changes nothing, after it has set the tabs.
        let request = try send("window", "tab", "no such tab")
        guard request.output.contains("no tab has") else { throw FixtureError(description: request.output) }
    }

    /// Writes a picture of one colour, such as `#ff00ff`.
    func colourPicture(_ name: String, _ colour: String, _ width: Int = 64, _ height: Int = 64) throws -> String {
        let path = folder.appendingPathComponent(name).path
        try run(
            findTool("ffmpeg")!,
            ["-v", "error", "-y", "-f", "lavfi", "-i", "color=\(colour):s=\(width)x\(height)", "-frames:v", "1", path])
        return path
    }

    /// The number of pixels of the display with a colour, in the rows from 0 to `rows`.
    func pixels(_ colour: (red: Int, green: Int, blue: Int), rows: Int, _ name: String) throws -> Int {
        let pixels = try picture(name)
        return (0..<rows * 1280).count { index in
            abs(Int(pixels[3 * index]) - colour.red) < 12 && abs(Int(pixels[3 * index + 1]) - colour.green) < 12
                && abs(Int(pixels[3 * index + 2]) - colour.blue) < 12
        }
    }
}

extension WindowTests {
    /// Waits until these pages have reported twice from now on, and expects that no other page has. A page that is closed reports nothing any
    /// more; so nothing else would show that it has ended.
    private func expectAlive(_ pages: [String], of all: [String], in window: RunningProgram) throws {
        let start = window.lines.count
        func reports(_ page: String) -> Int {
            window.lines.dropFirst(start).count { $0.contains(" \(page): log: REPORT seconds") }
        }
        try window.wait(until: "two reports of \(pages)") { pages.allSatisfy { reports($0) >= 2 } }
        #expect(all.filter { reports($0) > 0 } == pages)
    }

    private func loads(_ page: String, in window: RunningProgram) -> Int {
        window.lines.count { $0.contains(" \(page): log: REPORT loaded") }
    }

    @Test func `tabs of the user: Ctrl+W closes the visible tab, the others stay loaded, the last one closes the window`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let names = ["one", "two", "three", "four"]
        let window = try fixture.window(try names.map { try fixture.page($0, script: counting, body: "<h1>\($0)</h1>") })
        defer { window.stop() }
        for name in names { try window.wait(for: "\(name): log: REPORT loaded") }
        try window.waitUntilReady("one")
        try fixture.moveToCorner("one")
        _ = try fixture.picture("tabs")
        try fixture.key("ctrl+w", shows: "two", in: window)
        try expectAlive(["two", "three", "four"], of: names, in: window)
        // Ctrl+Shift+Tab from the first wraps to the last.
        try fixture.key("ctrl+shift+Tab", shows: "four", in: window)
        for next in ["three", "two"] { try fixture.key("ctrl+w", shows: next, in: window) }
        try expectAlive(["two"], of: names, in: window)
        #expect(names.map { loads($0, in: window) } == [1, 1, 1, 1])
        #expect(window.isRunning)
        try fixture.key("ctrl+w")
        #expect(try window.waitForEnd() == 0)
    }

    @Test(.releaseCheck, .enabled(if: findTool("python3") != nil, "needs python3"))
    func `tab labels: the close button and the middle button close the tab that they are on`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let names = ["left", "middle", "right"]
        // The icons show where the labels are. The window has those of pages of an HTTP server.
        _ = try fixture.colourPicture("pages/mark.png", "#ff00ff", 32, 32)
        let head = #"<link rel="icon" type="image/png" href="/mark.png">"#
        for name in names { _ = try fixture.page(name, script: counting, body: "<h1>\(name)</h1>", head: head) }
        let server = try serve(fixture.folder.appendingPathComponent("pages").path)
        defer { server.stop() }
        let port = try port(of: server)
        let pages = names.map { "http://127.0.0.1:\(port)/\($0)/" }
        let window = try fixture.window(pages + ["--size", "900x600"])
        defer { window.stop() }
        for page in pages { try window.wait(for: "\(page): log: REPORT loaded") }
        try window.waitUntilReady(pages[0])
        try fixture.moveToCorner("left")
        let tabs = zip(names, pages).map { ["id": $0, "title": $0, "path": $1] }
        try fixture.sendTabs("left", tabs)
        try window.wait(until: "the pages of the list are loaded") { pages.map { loads($0, in: window) } == [1, 2, 2] }
        // Middle click on the last label.
        let first = try iconColumns(fixture, count: 3)
        let y = try tabBarRow(fixture)
        try fixture.click(first[2] + 30, y, button: 2)
        // The close button of the second label is before its end.
        let second = try iconColumns(fixture, count: 2)
        try expectAlive(Array(pages.prefix(2)), of: pages, in: window)
        try fixture.click(second[1] + (second[1] - second[0]) - 32, y)
        // One page: no tab bar. The unchanged list does not bring the others back.
        _ = try iconColumns(fixture, count: 0)
        try expectAlive([pages[0]], of: pages, in: window)
        try fixture.sendTabs("right", tabs.reversed())
        try expectAlive([pages[0]], of: pages, in: window)
        #expect(pages.map { loads($0, in: window) } == [1, 2, 2])
        _ = try iconColumns(fixture, count: 0)
        // Another list has all of its tabs.
        try fixture.sendTabs("left", tabs + [["id": "new", "title": "new", "path": fixture.page("new", script: counting)]])
        try window.wait(until: "the closed pages are loaded again") { pages.map { loads($0, in: window) } == [1, 3, 3] }
        _ = try iconColumns(fixture, count: 3)
    }

    /// Waits until the display shows this number of icons of tabs, and returns the columns at which they begin.
    private func iconColumns(_ fixture: Fixture, count: Int) throws -> [Int] {
        var columns: [Int] = []
        try fixture.wait(until: "\(count) icons") {
            columns = iconColumns(try fixture.picture("labels"))
            return columns.count == count
        }
        return columns
    }

    private func iconColumns(_ pixels: [UInt8]) -> [Int] {
        var columns: [Int] = []
        for x in 0..<900 {
            let isMark = (30..<100).count { y in
                let pixel = pixels[3 * (1280 * y + x)..<3 * (1280 * y + x) + 3].map { Int($0) }
                return pixel[0] > 240 && pixel[1] < 12 && pixel[2] > 240
            }
            if isMark >= 12 { columns.append(x) }
        }
        return columns.enumerated().filter { $0.offset == 0 || columns[$0.offset - 1] < $0.element - 1 }.map(\.element)
    }

    /// The row of the display in the middle of the icons.
    private func tabBarRow(_ fixture: Fixture) throws -> Int {
        let pixels = try fixture.picture("row")
        let rows = (30..<100).filter { y in
            (0..<900).contains { x in
                let pixel = pixels[3 * (1280 * y + x)..<3 * (1280 * y + x) + 3].map { Int($0) }
                return pixel[0] > 240 && pixel[1] < 12 && pixel[2] > 240
            }
        }
        return try #require(rows.first) + rows.count / 2
    }

    @Test func `closeViz: closes the tab of the page, and the window when it is the last one`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        // Ctrl is a key too.
        let closing = "addEventListener('keydown', ({ key }) => { if (key === 'x') webkit.messageHandlers.closeViz.postMessage(null); });"
        let window = try fixture.window([
            try fixture.page("stays", script: visualizer + counting + closing),
            try fixture.page("leaves", script: visualizer + counting + closing),
        ])
        defer { window.stop() }
        for name in ["stays", "leaves"] { try window.wait(for: "\(name): log: REPORT loaded") }
        try window.waitUntilReady("stays")
        try fixture.key("ctrl+Tab", shows: "leaves", in: window)
        try fixture.key("x", shows: "stays", in: window)
        try expectAlive(["stays"], of: ["stays", "leaves"], in: window)
        #expect(window.isRunning && loads("stays", in: window) == 1)
        try fixture.key("x")
        #expect(try window.waitForEnd() == 0)
    }

    @Test func `Ctrl+O: the chosen file is opened in a tab, which lists of the server leave alone and the next start restores`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let first = try fixture.page("first", script: visualizer + counting)
        let chosen = try fixture.page("chosen", script: visualizer + counting)
        var window = try fixture.window([first])
        try window.waitUntilReady("first")
        try fixture.key("ctrl+o")
        try fixture.waitForFocus(ofWindowNamed: "Open a page")
        _ = try fixture.picture("dialog")
        try fixture.xdotool("type", "--delay", "20", "\(chosen)/index.html")
        try fixture.key("Return", shows: "chosen", in: window)
        _ = try fixture.picture("opened")
        let other = try fixture.page("other", script: visualizer + counting)
        try fixture.sendTabs("a", [["id": "a", "title": "A", "path": first], ["id": "b", "title": "B", "path": other]])
        try fixture.sendTabs(nil, [])
        // An empty list: the visible page only.
        try expectAlive(["chosen"], of: ["first", "other", "chosen"], in: window)
        #expect(loads("chosen", in: window) == 1)
        try fixture.sendTabs("a", [["id": "a", "title": "A", "path": first], ["id": "b", "title": "B", "path": other]])
        #expect(try fixture.send("window", "tab", "chosen").code == 0)
        #expect(window.stop() == 0)
        // Escape closes the dialog, and nothing is opened.
        window = try fixture.window([])
        defer { window.stop() }
        for name in ["first", "other", "chosen"] { try window.wait(for: "\(name): log: REPORT connected") }
        try window.waitUntilReady("chosen")
        try fixture.key("ctrl+t")
        try fixture.waitForFocus(ofWindowNamed: "Open a page")
        try fixture.key("Escape", shows: "chosen", in: window)
        #expect(window.lines.count { $0.contains("REPORT loaded") } == 3)
        try fixture.sendTabs("x", [["id": "x", "title": "X", "path": other], ["id": "y", "title": "Y", "path": first]])
        // A restored tab of the user stays.
        let start = window.lines.count
        try window.wait(for: "chosen: log: REPORT seconds", after: start)
    }
}
