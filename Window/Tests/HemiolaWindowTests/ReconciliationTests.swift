import Foundation
import Testing

/// The list of tabs of a server changes, with real pages. Each document has a random number and counts its seconds, which shows whether it was
/// loaded again.
extension WindowTests {
    /// What a document reports.
    private struct State {
        var document: Int
        var page: String
        var seconds: Int
        var pushes: Int
        var isHidden: Bool
    }

    /// A window with tabs that a server has sent, and what its documents report.
    private struct Tabs {
        let fixture: Fixture
        let window: RunningProgram
        let pages: [String: String]

        /// Sends a list of tabs: "id" or "id=page", where an id without a page is a page of the same name.
        func send(active: String, _ tabs: String...) throws {
            let list = tabs.map { tab in
                let parts = tab.split(separator: "=").map(String.init)
                return ["id": parts[0], "title": "Tab \(parts[0])", "path": pages[parts[parts.count - 1]] ?? ""]
            }
            let file = fixture.folder.appendingPathComponent("tabs.json")
            try JSONSerialization.data(withJSONObject: ["active": active, "tabs": list] as [String: Any]).write(to: file)
            let result = try fixture.send("tabs", file.path)
            #expect(result.code == 0, "\(result.output)")
        }

        /// The states that were reported after a line.
        func states(after line: Int) throws -> [State] {
            try window.lines.dropFirst(line).filter { $0.contains("REPORT state ") }.compactMap { line in
                guard let fields = try value(String(line), "state") as? [Any], fields.count == 5, let document = fields[0] as? Int,
                    let page = fields[1] as? String, let seconds = fields[2] as? Int, let pushes = fields[3] as? Int,
                    let isHidden = fields[4] as? Bool
                else { throw FixtureError(description: String(line)) }
                return State(document: document, page: page, seconds: seconds, pushes: pushes, isHidden: isHidden)
            }
        }

        /// Waits until the living documents are as many of each page as given, and returns their last states.
        func settle(_ expected: [String: Int]) throws -> [State] {
            var last: [State] = []
            try window.wait(until: "the documents \(expected)", seconds: 30) {
                let line = window.lines.count
                usleep(2_500_000)
                let states = try states(after: line)
                last = Set(states.map(\.document)).compactMap { document in states.last { $0.document == document } }
                return Dictionary(grouping: last, by: \.page).mapValues(\.count) == expected
            }
            return last
        }

        /// The document that is visible: it gets samples.
        func visible(_ states: [State]) throws -> State {
            let shown = states.filter { !$0.isHidden }
            #expect(shown.count == 1 && shown[0].pushes > 20, "\(states)")
            return try #require(shown.first)
        }

        /// Expects that a document was not loaded again: it has counted on.
        func expectAlive(_ document: State, in states: [State]) throws {
            let now = try #require(states.first { $0.document == document.document }, "\(document) is not among \(states)")
            #expect(now.seconds > document.seconds)
            #expect(now.isHidden == document.isHidden)
        }

        /// Expects that the window has tabs with these ids, and none with those.
        func expect(tabs: [String], not removed: [String]) throws {
            for id in removed { #expect(try fixture.send("window", "tab", id).code != 0, "\(id) is still a tab") }
            // The visible tab comes last, so that the selection does not change.
            for id in tabs { #expect(try fixture.send("window", "tab", id).code == 0, "\(id) is no tab") }
        }
    }

    /// Makes the pages one … four, and starts a window with the first.
    private func start(_ fixture: Fixture) throws -> Tabs {
        try fixture.startHemiola()
        var pages: [String: String] = [:]
        for name in ["one", "two", "three", "four"] {
            pages[name] = try fixture.page(
                name,
                script: visualizer + """
                    const [number] = crypto.getRandomValues(new Uint32Array(1));
                    let seconds = 0, last = 0;
                    setInterval(() => { seconds += 1; report('state', [number, '\(name)', seconds, pushes - last, document.hidden]); last = pushes; }, 1000);
                    """, body: "<h1>\(name)</h1>")
        }
        let window = try fixture.window([pages["one"]!, "--no-restore"])
        try window.wait(for: "REPORT state")
        return Tabs(fixture: fixture, window: window, pages: pages)
    }

    @Test(.releaseCheck, .enabled(if: hasWindowMessages, "this hemiola has no `send tabs`"))
    func `9 the visible tab removed: its page becomes the active tab, and that tab's page ends`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        let tabs = try start(fixture)
        defer { tabs.window.stop() }
        try tabs.send(active: "a", "a=one", "b=one", "c=two")
        let before = try tabs.settle(["one": 2, "two": 1])
        let visible = try tabs.visible(before)
        let other = try #require(before.first { $0.page == "two" })
        // b has the page of a: the visible document goes on as b, and the document that was b ends.
        try tabs.send(active: "b", "b=one", "c=two")
        var after = try tabs.settle(["one": 1, "two": 1])
        try tabs.expectAlive(visible, in: after)
        try tabs.expectAlive(other, in: after)
        try tabs.expect(tabs: ["b"], not: ["a"])
        // Again with pages that differ: the page of the active tab is loaded in the visible container, and the others go on.
        try tabs.send(active: "b", "b=one", "c=two", "d=three")
        after = try tabs.settle(["one": 1, "two": 1, "three": 1])
        let third = try #require(after.first { $0.page == "three" })
        try tabs.send(active: "c", "c=two", "d=three")
        let last = try tabs.settle(["two": 1, "three": 1])
        let loaded = try tabs.visible(last)
        #expect(loaded.page == "two" && loaded.document != other.document)
        try tabs.expectAlive(third, in: last)
        try tabs.expect(tabs: ["d", "c"], not: ["b"])
    }

    @Test(.releaseCheck, .enabled(if: hasWindowMessages, "this hemiola has no `send tabs`"))
    func `10 one tab replaced: an invisible page ends, a visible one becomes the new tab`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        let tabs = try start(fixture)
        defer { tabs.window.stop() }
        try tabs.send(active: "a", "a=one", "b=two")
        let before = try tabs.settle(["one": 1, "two": 1])
        let visible = try tabs.visible(before)
        // The invisible b is replaced by c.
        try tabs.send(active: "a", "a=one", "c=three")
        var after = try tabs.settle(["one": 1, "three": 1])
        try tabs.expectAlive(visible, in: after)
        let third = try #require(after.first { $0.page == "three" })
        // The visible a is replaced by x with the same page: the document goes on.
        try tabs.send(active: "c", "x=one", "c=three")
        try tabs.expect(tabs: ["x"], not: ["a"])
        after = try tabs.settle(["one": 1, "three": 1])
        try tabs.expectAlive(visible, in: after)
        try tabs.expectAlive(third, in: after)
        // The visible x is replaced by y with another page: it is loaded in its place, and c goes on.
        try tabs.send(active: "c", "y=four", "c=three")
        after = try tabs.settle(["four": 1, "three": 1])
        #expect(try tabs.visible(after).page == "four")
        try tabs.expectAlive(third, in: after)
        try tabs.expect(tabs: ["y"], not: ["x"])
    }

    @Test(.releaseCheck, .enabled(if: hasWindowMessages, "this hemiola has no `send tabs`"))
    func `11 all tabs replaced: the visible page becomes the active tab, the others are new`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        let tabs = try start(fixture)
        defer { tabs.window.stop() }
        try tabs.send(active: "a", "a=one", "b=two", "c=three")
        let before = try tabs.settle(["one": 1, "two": 1, "three": 1])
        let visible = try tabs.visible(before)
        let third = try #require(before.first { $0.page == "three" })
        // z has the page of a: the visible document goes on. y has that of c, which nevertheless is new.
        try tabs.send(active: "z", "y=three", "z=one", "w=four")
        try tabs.expect(tabs: ["z"], not: ["a", "b", "c"])
        let after = try tabs.settle(["one": 1, "three": 1, "four": 1])
        try tabs.expectAlive(visible, in: after)
        #expect(after.first { $0.page == "three" }?.document != third.document)
        try tabs.expect(tabs: ["y", "w", "z"], not: [])
    }
}
