import Foundation
import Testing

/// Whether the built hemiola passes tabs and requests to windows.
let hasWindowMessages: Bool = {
    guard missingTools.isEmpty, let help = try? RunningProgram(hemiolaPath, ["send", "--help"]) else { return false }
    _ = try? help.waitForEnd()
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

    /// Waits until one page gets its samples and the other one none, and expects that this stays so for three reports of both. Returns what the
    /// first page has reported in this time.
    @discardableResult
    private func expectShown(_ window: RunningProgram, _ shown: String, not hidden: String) throws -> [[String: Any]] {
        try window.wait(until: "\(shown) gets samples, \(hidden) none") {
            guard let last = try states(window, shown, after: 0).last, let other = try states(window, hidden, after: 0).last else {
                return false
            }
            return last["pushes"] as? Int ?? 0 > 0 && last["hidden"] as? Bool == false
                && other["pushes"] as? Int == 0 && other["hidden"] as? Bool == true
        }
        let start = window.lines.count
        try window.wait(until: "three more reports of both pages, and 40 pushes") {
            let reports = try states(window, shown, after: start)
            return try reports.count >= 3 && reports.reduce(0) { $0 + ($1["pushes"] as? Int ?? 0) } >= 40
                && states(window, hidden, after: start).count >= 3
        }
        let reports = try states(window, shown, after: start)
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
        try window.waitUntilReady("one")
        let first = window.lines.count
        try fixture.key("ctrl+Tab", shows: "two", in: window)
        try window.wait(for: "two: log: REPORT resumeAudio", after: first)
        try expectShown(window, "two", not: "one")
        try fixture.key("ctrl+Tab", shows: "one", in: window)
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
                "minimised",
                script: visualizer + """
                    report('loaded');
                    window.state = () => [pushes, document.hidden];
                    window.hasSamples = () => new Promise((resolve) => { window.pushSamples = () => resolve(true); });
                    addEventListener('visibilitychange', () => report('hidden', document.hidden));
                    """, body: "<h1>x</h1>")
        ])
        defer { window.stop() }
        try window.waitUntilReady("minimised")
        try window.wait(for: "REPORT connected")
        try fixture.xdotool("search", "--sync", "--onlyvisible", "--name", "minimised", "windowminimize")
        try window.wait(for: "REPORT hidden true")
        // What the change itself costs does not count; no event shows that WebKit has done it all.
        sleep(2)
        let first = try fixture.send("call", "function=state").output
        let before = try processorSeconds(below: window.id)
        // The processor time is measured over 20 s.
        sleep(20)
        let used = try (processorSeconds(below: window.id) - before) / 20 * 100
        let second = try fixture.send("call", "function=state").output
        print("minimised: \(used) % of a core; \(first) \(second)")
        #expect(first == second && first.contains("true"), "\(first) \(second)")
        #expect(used < 0.5, "\(used) % of a core")
        let count = window.lines.count
        try fixture.xdotool("search", "--name", "minimised", "windowmap", "windowactivate")
        try window.wait(for: "REPORT hidden false", after: count)
        try window.waitUntilReady("minimised", after: count)
        #expect(try fixture.send("call", "function=hasSamples").output.contains("true"))
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
            try fixture.sendTabs(active.map { "t\($0)" }, tabs)
        }
        let window = try fixture.window([pages[0], "--no-restore"])
        defer { window.stop() }
        try window.wait(for: "a: log: REPORT connected")
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
        #expect(try states(window, "c", after: removed).isEmpty)
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
        let last = window.lines.count
        try window.wait(until: "three more reports of the page a") { try states(window, "a", after: last).count >= 3 }
        #expect(try states(window, "d", after: last).isEmpty, "the page d has ended")
        #expect(["a", "b", "c", "d"].map { loads(window, $0) } == [1, 1, 1, 1])
        #expect(try states(window, "a", after: last).allSatisfy { ($0["seconds"] as? Int ?? 0) > seconds })
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
        try window.waitUntilReady("requests")
        try window.wait(for: "REPORT connected")
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
