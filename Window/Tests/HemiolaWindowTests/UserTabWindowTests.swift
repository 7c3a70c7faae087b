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
        try xdotool("search", "--sync", "--onlyvisible", "--name", name, "windowmove", "0", "0", "windowactivate", "--sync")
        usleep(500_000)
    }

    func click(_ x: Int, _ y: Int, button: Int = 1) throws {
        try xdotool("mousemove", "\(x)", "\(y)", "sleep", "0.3", "click", "\(button)")
    }

    /// Sends a list of tabs to the window.
    func sendTabs(_ active: String?, _ tabs: [[String: Any]]) throws {
        let file = folder.appendingPathComponent("tabs.json")
        try JSONSerialization.data(withJSONObject: ["active": active as Any? ?? NSNull(), "tabs": tabs]).write(to: file)
        let result = try send("tabs", file.path)
        guard result.code == 0 else { throw FixtureError(description: result.output) }
        sleep(2)
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
    func pixels(_ red: UInt8, _ green: UInt8, _ blue: UInt8, rows: Int, _ name: String) throws -> Int {
        let pixels = try picture(name)
        return (0..<rows * 1280).count { index in
            let pixel = pixels[3 * index..<3 * index + 3].map { Int($0) }
            return abs(pixel[0] - Int(red)) < 12 && abs(pixel[1] - Int(green)) < 12 && abs(pixel[2] - Int(blue)) < 12
        }
    }
}

extension WindowTests {
    /// Whether a page reports within two seconds.
    private func isAlive(_ page: String, in window: RunningProgram) -> Bool {
        let count = window.lines.count
        sleep(2)
        return window.lines.dropFirst(count).contains { $0.contains(" \(page): log: REPORT seconds") }
    }

    private func loads(_ page: String, in window: RunningProgram) -> Int {
        window.lines.count { $0.contains(" \(page): log: REPORT loaded") }
    }

    @Test func `tabs of the user: Ctrl+W, the button and the middle button close, Ctrl+Shift+T opens again, the last closes the window`()
        throws
    {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let names = ["one", "two", "three", "four"]
        let window = try fixture.window(try names.map { try fixture.page($0, script: counting, body: "<h1>\($0)</h1>") })
        defer { window.stop() }
        try window.wait(for: "four: log: REPORT loaded")
        try fixture.moveToCorner("one")
        _ = try fixture.picture("tabs")
        // The visible tab is the first; its close button is at the end of its label.
        try fixture.key("ctrl+w")
        sleep(1)
        #expect(!isAlive("one", in: window))
        #expect(isAlive("two", in: window) && isAlive("four", in: window))
        // The second one is visible now.
        try window.wait(for: "two: log: REPORT seconds")
        #expect(try fixture.run(findTool("xdotool")!, ["search", "--onlyvisible", "--name", "^two$"]).code == 0)
        // Opened again in its place, with its page loaded again; the others were not loaded again.
        let count = window.lines.count
        try fixture.key("ctrl+shift+t")
        try window.wait(for: "one: log: REPORT loaded", after: count)
        sleep(1)
        #expect(names.dropFirst().allSatisfy { loads($0, in: window) == 1 })
        #expect(try fixture.run(findTool("xdotool")!, ["search", "--onlyvisible", "--name", "^one$"]).code == 0)
        // Ctrl+Shift+Tab from the first wraps to the last: the reopened tab is the first again.
        try fixture.key("ctrl+shift+Tab")
        sleep(1)
        #expect(try fixture.run(findTool("xdotool")!, ["search", "--onlyvisible", "--name", "^four$"]).code == 0)
        for _ in 0..<3 {
            try fixture.key("ctrl+w")
            sleep(1)
        }
        #expect(window.isRunning)
        #expect(isAlive("one", in: window))
        #expect(names.dropFirst().allSatisfy { !isAlive($0, in: window) })
        try fixture.key("ctrl+w")
        for _ in 0..<100 where window.isRunning { usleep(50_000) }
        #expect(!window.isRunning && window.stop() == 0)
    }

    @Test(.releaseCheck) func `tabs are moved by Ctrl+Shift+Page Up and Down, and by dragging`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let names = ["one", "two", "three"]
        let window = try fixture.window(
            try names.map { try fixture.page($0, script: counting, body: "<h1>\($0)</h1>") } + ["--size", "900x600"])
        defer { window.stop() }
        try window.wait(for: "three: log: REPORT loaded")
        try fixture.moveToCorner("one")
        // The icons show where the labels are.
        let icon = try fixture.colourPicture("mark.png", "#ff00ff")
        try fixture.sendTabs(
            "one", names.map { ["id": $0, "title": $0, "path": fixture.folder.appendingPathComponent("pages/\($0)").path, "icon": icon] })
        for _ in 0..<100 where loads("two", in: window) < 2 || loads("three", in: window) < 2 { usleep(100_000) }
        /// Presses a key and waits for the title of the window.
        func press(_ key: String, shows name: String) throws {
            try fixture.key(key)
            try fixture.wait(until: "\(name) is visible after \(key)") {
                try fixture.run(findTool("xdotool")!, ["search", "--onlyvisible", "--name", "^\(name)$"]).code == 0
            }
        }
        try fixture.key("ctrl+shift+Page_Down")
        try press("ctrl+Page_Down", shows: "three")
        try press("ctrl+Page_Down", shows: "two")
        try press("ctrl+Page_Down", shows: "one")
        try fixture.key("ctrl+shift+Page_Up")
        try press("ctrl+Page_Down", shows: "two")
        try press("ctrl+Page_Down", shows: "three")
        // The first tab is dragged behind the second one.
        try press("ctrl+Page_Down", shows: "one")
        let icons = try iconColumns(fixture)
        try #require(icons.count == 3, "icons at \(icons)")
        let (from, distance, y) = (icons[0] + 8, icons[1] - icons[0] + 30, try tabBarRow(fixture))
        try fixture.xdotool("mousemove", "\(from)", "\(y)", "mousedown", "1")
        for step in 1...12 { try fixture.xdotool("mousemove", "\(from + distance * step / 12)", "\(y)", "sleep", "0.05") }
        try fixture.xdotool("mouseup", "1")
        sleep(1)
        try press("ctrl+Page_Down", shows: "three")
        try press("ctrl+Page_Down", shows: "two")
        #expect(names.map { loads($0, in: window) } == [1, 2, 2])
    }

    @Test(.releaseCheck) func `tab labels: the close button and the middle button close the tab that they are on`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let names = ["left", "middle", "right"]
        let window = try fixture.window(
            try names.map { try fixture.page($0, script: counting, body: "<h1>\($0)</h1>") } + ["--size", "900x600"])
        defer { window.stop() }
        try window.wait(for: "right: log: REPORT loaded")
        try fixture.moveToCorner("left")
        let icon = try fixture.colourPicture("mark.png", "#ff00ff")
        // The icons show where the labels are.
        let paths = names.map { fixture.folder.appendingPathComponent("pages/\($0)").path }
        let tabs = zip(names, paths).map { ["id": $0, "title": $0, "path": $1, "icon": icon] }
        try fixture.sendTabs("left", tabs)
        for _ in 0..<100 where loads("middle", in: window) < 2 || loads("right", in: window) < 2 { usleep(100_000) }
        func marks() throws -> [Int] { try iconColumns(fixture) }
        let first = try marks()
        try #require(first.count == 3, "icons at \(first)")
        // Middle click on the last label.
        let y = try tabBarRow(fixture)
        try fixture.click(first[2] + 30, y, button: 2)
        sleep(1)
        #expect(!isAlive("right", in: window) && isAlive("middle", in: window) && isAlive("left", in: window))
        // The close button of the second label is before its end.
        let second = try marks()
        try #require(second.count == 2, "icons at \(second)")
        try fixture.click(second[1] + (second[1] - second[0]) - 32, y)
        sleep(1)
        #expect(!isAlive("middle", in: window) && isAlive("left", in: window))
        // One page: no tab bar. The unchanged list does not bring the others back.
        #expect(try marks().isEmpty)
        try fixture.sendTabs("right", tabs.reversed())
        #expect(loads("middle", in: window) == 2 && loads("right", in: window) == 2)
        #expect(try marks().isEmpty)
        // Another list has all of its tabs.
        try fixture.sendTabs("left", tabs + [["id": "new", "title": "new", "path": paths[0]]])
        for _ in 0..<100 where loads("middle", in: window) < 3 || loads("right", in: window) < 3 { usleep(100_000) }
        #expect(loads("middle", in: window) == 3 && loads("right", in: window) == 3)
        #expect(try marks().count == 3)
    }

    /// The columns of the display at which the icons of the tabs begin.
    private func iconColumns(_ fixture: Fixture) throws -> [Int] {
        let pixels = try fixture.picture("labels")
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
        let closing = "window.leave = () => { webkit.messageHandlers.closeViz.postMessage(null); };"
        let window = try fixture.window([
            try fixture.page("keeps", script: visualizer + counting),
            try fixture.page("leaves", script: visualizer + counting + closing + "window.addEventListener('keydown', leave);"),
        ])
        defer { window.stop() }
        try window.wait(for: "leaves: log: REPORT loaded")
        sleep(1)
        try fixture.key("ctrl+Tab")
        sleep(1)
        try fixture.key("x")
        sleep(2)
        #expect(window.isRunning && !isAlive("leaves", in: window) && isAlive("keeps", in: window))
        #expect(loads("keeps", in: window) == 1)
        try fixture.key("ctrl+shift+t")
        try window.wait(for: "leaves: log: REPORT seconds 2")
        try fixture.key("ctrl+shift+Tab")
        sleep(1)
        try fixture.key("ctrl+w")
        sleep(1)
        try fixture.key("x")
        for _ in 0..<100 where window.isRunning { usleep(50_000) }
        #expect(!window.isRunning && window.stop() == 0)
    }

    @Test func `Ctrl+O: the chosen file is opened in a tab, which lists of the server leave alone and the next start restores`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let first = try fixture.page("first", script: visualizer + counting)
        let chosen = try fixture.page("chosen", script: visualizer + counting)
        var window = try fixture.window([first])
        try window.wait(for: "first: log: REPORT seconds")
        try fixture.key("ctrl+o")
        try fixture.xdotool("search", "--sync", "--onlyvisible", "--name", "Open a page", "windowactivate", "--sync")
        sleep(1)
        _ = try fixture.picture("dialog")
        try fixture.xdotool("type", "--delay", "20", "\(chosen)/index.html")
        sleep(1)
        try fixture.key("Return")
        try window.wait(for: "chosen: log: REPORT loaded")
        sleep(1)
        #expect(try fixture.run(findTool("xdotool")!, ["search", "--onlyvisible", "--name", "^chosen$"]).code == 0)
        _ = try fixture.picture("opened")
        let other = try fixture.page("other", script: visualizer + counting)
        try fixture.sendTabs("a", [["id": "a", "title": "A", "path": first], ["id": "b", "title": "B", "path": other]])
        try fixture.sendTabs(nil, [])
        #expect(isAlive("chosen", in: window) && loads("chosen", in: window) == 1)
        #expect(!isAlive("other", in: window) && !isAlive("first", in: window), "an empty list: the visible page only")
        try fixture.sendTabs("a", [["id": "a", "title": "A", "path": first], ["id": "b", "title": "B", "path": other]])
        #expect(try fixture.send("window", "tab", "chosen").code == 0)
        #expect(window.stop() == 0)
        // Escape closes the dialog, and nothing is opened.
        window = try fixture.window([])
        defer { window.stop() }
        for name in ["first", "other", "chosen"] { try window.wait(for: "\(name): log: REPORT loaded") }
        sleep(1)
        try fixture.key("ctrl+t")
        try fixture.xdotool("search", "--sync", "--onlyvisible", "--name", "Open a page", "windowactivate", "--sync")
        try fixture.key("Escape")
        sleep(1)
        #expect(window.lines.count { $0.contains("REPORT loaded") } == 3)
        try fixture.sendTabs("x", [["id": "x", "title": "X", "path": other], ["id": "y", "title": "Y", "path": first]])
        #expect(isAlive("chosen", in: window), "a restored tab of the user stays")
    }
}
