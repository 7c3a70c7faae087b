import Foundation
import Testing

/// Whether the built hemiola passes tabs and requests to windows.
let hasWindowMessages: Bool = {
    guard missingTools.isEmpty, let help = try? RunningProgram(hemiolaPath, ["send", "--help"]) else { return false }
    let end = Date(timeIntervalSinceNow: 20)
    while help.isRunning, Date() < end { usleep(20_000) }
    usleep(100_000)
    return help.output.contains("fullscreen")
}()

extension WindowTests {
    /// A page that counts its loads and its seconds, and reports whether it is shown.
    private func counter(_ fixture: Fixture, _ name: String) throws -> String {
        try fixture.page(
            name,
            script: visualizer + """
                report('loaded');
                let seconds = 0, last = 0;
                const gl = document.createElement('canvas').getContext('webgl2');
                setInterval(() => { seconds += 1; report('state', { seconds, pushes: pushes - last, hidden: document.hidden, lost: gl.isContextLost() }); last = pushes; }, 1000);
                """, body: "<h1>\(name)</h1>")
    }

    /// The values of `state` that a page has reported since a line.
    private func states(_ window: RunningProgram, _ page: String, after skip: Int) throws -> [[String: Any]] {
        try window.lines.dropFirst(skip).filter { $0.contains(" \(page): log: REPORT state") }
            .map { try value(String($0), "state") as? [String: Any] ?? [:] }
    }

    /// Waits until one page gets its samples and the other one none, and expects that this stays so for three seconds. Returns what the first
    /// page has reported in this time.
    @discardableResult
    private func expectShown(_ window: RunningProgram, _ shown: String, not hidden: String) throws -> [[String: Any]] {
        try window.wait(until: "\(shown) gets samples, \(hidden) none") {
            guard let last = try states(window, shown, after: 0).last, let other = try states(window, hidden, after: 0).last else {
                return false
            }
            return last["pushes"] as? Int ?? 0 >= 40 && other["pushes"] as? Int == 0 && other["hidden"] as? Bool == true
        }
        let start = window.lines.count
        try window.wait(until: "three more reports of both pages") {
            try states(window, shown, after: start).count >= 3 && states(window, hidden, after: start).count >= 3
        }
        let reports = try states(window, shown, after: start)
        #expect(reports.contains { $0["pushes"] as? Int ?? 0 >= 40 }, "\(reports)")
        #expect(try states(window, hidden, after: start).allSatisfy { $0["pushes"] as? Int == 0 && $0["hidden"] as? Bool == true })
        return reports
    }

    private func loads(_ window: RunningProgram, _ page: String) -> Int {
        window.lines.filter { $0.contains(" \(page): log: REPORT loaded") }.count
    }

    @Test func `tabs by hand: the hidden page gets no samples, keeps its state, and goes on when it is shown`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let window = try fixture.window([try counter(fixture, "one"), try counter(fixture, "two")])
        defer { window.stop() }
        try expectShown(window, "one", not: "two")
        let first = window.lines.count
        try fixture.key("ctrl+Tab")
        try window.wait(for: "two: log: REPORT resumeAudio", after: first)
        try expectShown(window, "two", not: "one")
        try fixture.key("ctrl+Tab")
        let last = try expectShown(window, "one", not: "two")
        #expect(last.allSatisfy { $0["lost"] as? Bool == false && $0["hidden"] as? Bool == false })
        #expect(loads(window, "one") == 1 && loads(window, "two") == 1)
    }

    @Test(.releaseCheck) func `minimised window: no samples and less than 0.5 % of a core in a debug build; afterwards the page goes on`()
        throws
    {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let window = try fixture.window([
            try fixture.page(
                "minimised", script: visualizer + "report('loaded'); window.state = () => [pushes, document.hidden];", body: "<h1>x</h1>")
        ])
        defer { window.stop() }
        try window.wait(for: "REPORT resumeAudio")
        sleep(1)
        try fixture.xdotool("search", "--sync", "--onlyvisible", "--name", "minimised", "windowminimize")
        try fixture.wait(until: "the page is hidden") { try fixture.send("call", "function=state").output.contains("true") }
        sleep(1)
        let first = try fixture.send("call", "function=state").output
        sleep(1)
        let before = try processorSeconds(below: window.id)
        sleep(20)
        let used = try (processorSeconds(below: window.id) - before) / 20 * 100
        let second = try fixture.send("call", "function=state").output
        print("minimised: \(used) % of a core; \(first) \(second)")
        #expect(first == second && first.contains("true"), "\(first) \(second)")
        #expect(used < 0.5, "\(used) % of a core")
        try fixture.xdotool("search", "--name", "minimised", "windowmap", "windowactivate")
        try fixture.wait(until: "the page is visible and gets samples") {
            let third = try fixture.send("call", "function=state").output
            return third != second && third.contains("false")
        }
        #expect(window.lines.filter { $0.contains("REPORT loaded") }.count == 1)
    }

    /// Processor time of a process and all below it, in seconds.
    private func processorSeconds(below parent: Int32) throws -> Double {
        var parents: [Int32: Int32] = [:]
        var ticks: [Int32: Int] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let id = Int32(name), let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
                let end = status.lastIndex(of: ")")
            else { continue }
            let fields = status[end...].split(separator: " ")
            parents[id] = Int32(fields[2])
            ticks[id] = (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0)
        }
        func isBelow(_ id: Int32) -> Bool {
            if id == parent { return true }
            guard let above = parents[id], above > 1 else { return false }
            return isBelow(above)
        }
        return Double(ticks.filter { isBelow($0.key) }.values.reduce(0, +)) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    @Test(.enabled(if: hasWindowMessages, "this hemiola has no `send tabs`"))
    func `tabs of the server: live pages survive every change of the list`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let pages = try ["a", "b", "c", "d"].map { try counter(fixture, $0) }
        func tab(_ index: Int, _ more: [String: Any] = [:]) -> [String: Any] {
            ["id": "t\(index)", "title": "Tab \(index)", "path": pages[index]].merging(more) { $1 }
        }
        func sendTabs(_ active: Int?, _ tabs: [[String: Any]]) throws {
            let file = fixture.folder.appendingPathComponent("tabs.json")
            try JSONSerialization.data(withJSONObject: ["active": active.map { "t\($0)" } as Any? ?? NSNull(), "tabs": tabs]).write(
                to: file)
            let result = try fixture.send("tabs", file.path)
            #expect(result.code == 0, "\(result.output)")
        }
        let window = try fixture.window([pages[0], "--no-restore"])
        defer { window.stop() }
        try window.wait(for: "a: log: REPORT loaded")
        // The page of the window becomes the active tab and is not loaded again, as its path is the same.
        try sendTabs(0, [tab(0), tab(1)])
        try expectShown(window, "a", not: "b")
        // Another active, another order.
        try sendTabs(1, [tab(0), tab(1)])
        try sendTabs(0, [tab(1), tab(0)])
        // One more, then one fewer.
        try sendTabs(0, [tab(2), tab(0), tab(1)])
        try expectShown(window, "a", not: "c")
        try sendTabs(0, [tab(0), tab(1)])
        let removed = window.lines.count
        try expectShown(window, "a", not: "b")
        #expect(try states(window, "c", after: removed).count <= 1)
        #expect(["a", "b", "c"].map { loads(window, $0) } == [1, 1, 1])
        // A request selects a tab; the page was not loaded again.
        #expect(try fixture.send("window", "tab", "Tab 1").code == 0)
        try expectShown(window, "b", not: "a")
        // A deprecated tab stays until it is left, and then the tab that replaces it appears.
        try sendTabs(0, [tab(0), tab(1, ["deprecated": true]), tab(3, ["replaces": "t1"])])
        let seconds = try states(window, "a", after: 0).last?["seconds"] as? Int ?? 0
        try expectShown(window, "b", not: "a")
        #expect(loads(window, "d") == 0)
        #expect(try fixture.send("window", "tab", "t0").code == 0)
        try expectShown(window, "a", not: "d")
        #expect(loads(window, "d") == 1)
        // Back to one page: the visible one stays.
        try sendTabs(nil, [])
        try window.wait(until: "the page d has ended") {
            let line = window.lines.count
            sleep(2)
            return try states(window, "d", after: line).isEmpty
        }
        #expect(["a", "b", "c", "d"].map { loads(window, $0) } == [1, 1, 1, 1])
        let last = window.lines.count
        try window.wait(for: "a: log: REPORT state", after: last)
        #expect(try states(window, "a", after: last).allSatisfy { ($0["seconds"] as? Int ?? 0) > max(seconds, 10) })
        #expect(try fixture.send("window", "tab", "t9").code != 0)
    }

    @Test(.enabled(if: hasWindowMessages, "this hemiola has no `send window`"))
    func `requests: snapshot, full screen and reload`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "requests",
            script: visualizer + "report('loaded'); addEventListener('resize', () => report('size', [innerWidth, innerHeight]));",
            body: "<style>body { background: #c02040 }</style>")
        let window = try fixture.window([page, "--size", "640x480"])
        defer { window.stop() }
        try window.wait(for: "REPORT resumeAudio")
        sleep(1)
        let file = fixture.folder.appendingPathComponent("shot.png")
        let shot = try fixture.send("window", "snapshot", file.path)
        #expect(shot.code == 0, "\(shot.output)")
        #expect(try Data(contentsOf: file).prefix(4) == Data([0x89, 0x50, 0x4E, 0x47]))
        #expect(try fixture.send("window", "fullscreen").code == 0)
        try window.wait(for: "REPORT size [1280,800]")
        let count = window.lines.count
        #expect(try fixture.send("window", "reload").code == 0)
        try window.wait(for: "REPORT loaded", after: count)
    }
}
