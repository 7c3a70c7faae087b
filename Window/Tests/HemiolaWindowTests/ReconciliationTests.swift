import Foundation
import Testing

/// A server changes its list of tabs, with real pages. Each document has a random number, an entry in its history and a scroll position, which
/// show whether it was loaded again.
extension WindowTests {
    /// What a document reports each second.
    private struct State {
        var document: Int
        var page: String
        var history: Int
        var scroll: Int
        var pushes: Int
        var isHidden: Bool

        init(_ line: Substring) throws {
            guard let fields = try value(String(line), "state") as? [Any], fields.count == 6, let document = fields[0] as? Int,
                let page = fields[1] as? String, let history = fields[2] as? Int, let scroll = fields[3] as? Int,
                let pushes = fields[4] as? Int, let isHidden = fields[5] as? Bool
            else { throw FixtureError(description: String(line)) }
            (self.document, self.page, self.history, self.scroll) = (document, page, history, scroll)
            (self.pushes, self.isHidden) = (pushes, isHidden)
        }
    }

    /// A list of tabs, and what the window shows afterwards.
    private struct Step {
        let condition: String
        /// The tabs with their pages; none: a window without tabs.
        let tabs: KeyValuePairs<String, String>
        let active: String
        /// The tab that is visible afterwards.
        let visible: String
        /// All documents that live afterwards, with their pages, the visible one first. A name stands for the same document in all steps.
        let documents: KeyValuePairs<String, String>

        init(
            _ condition: String, _ tabs: KeyValuePairs<String, String>, active: String = "", visible: String = "",
            _ documents: KeyValuePairs<String, String>
        ) {
            (self.condition, self.tabs, self.active, self.visible, self.documents) = (condition, tabs, active, visible, documents)
        }
    }

    /// The eleven cases of `TabState.apply`, in an order in which each begins with what the one before has left.
    private static let steps = [
        Step("1 bootstrap to bootstrap", [:], ["A": "one"]),
        Step(
            "2 bootstrap to tabbed: the page becomes the active tab", ["a": "two", "b": "one", "c": "three"], active: "b", visible: "b",
            ["A": "one", "B": "two", "C": "three"]),
        Step(
            "4 the same tabs", ["a": "two", "b": "one", "c": "three"], active: "b", visible: "b", ["A": "one", "B": "two", "C": "three"]),
        Step(
            "5 only another active", ["a": "two", "b": "one", "c": "three"], active: "a", visible: "b",
            ["A": "one", "B": "two", "C": "three"]),
        Step(
            "6 only another order", ["c": "three", "b": "one", "a": "two"], active: "a", visible: "b",
            ["A": "one", "B": "two", "C": "three"]),
        Step(
            "7 a tab added", ["d": "four", "c": "three", "b": "one", "a": "two"], active: "d", visible: "b",
            ["A": "one", "B": "two", "C": "three", "D": "four"]),
        Step(
            "8 an invisible tab removed", ["d": "four", "b": "one", "c": "three"], active: "d", visible: "b",
            ["A": "one", "C": "three", "D": "four"]),
        Step(
            "10 an invisible tab replaced", ["d": "four", "b": "one", "x": "two"], active: "d", visible: "b",
            ["A": "one", "D": "four", "E": "two"]),
        Step(
            "10 the visible tab replaced by one with another page", ["d": "four", "y": "three", "x": "two"], active: "d", visible: "y",
            ["A": "one", "D": "four", "E": "two"]),
        Step("9 the visible tab removed", ["d": "four", "x": "two"], active: "x", visible: "x", ["A": "one", "D": "four"]),
        Step("11 all tabs replaced", ["p": "one", "q": "two"], active: "q", visible: "q", ["A": "one", "F": "one"]),
        Step("3 tabbed to bootstrap", [:], ["A": "one"]),
        Step(
            "2 with another page: that of the active tab is loaded", ["m": "two", "n": "three"], active: "m", visible: "m",
            ["G": "two", "H": "three"]),
        Step(
            "10 again, before the tab is loaded again", ["k": "four", "n": "three"], active: "n", visible: "k",
            ["G": "two", "H": "three"]),
    ]

    @Test(.releaseCheck, .enabled(if: hasWindowMessages, "this hemiola has no `send tabs`"))
    func `list of tabs changes: pages that stay are not loaded again, in each of the eleven cases`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola(seconds: 300)
        var pages: [String: String] = [:]
        for name in ["one", "two", "three", "four"] {
            pages[name] = try fixture.page(
                name,
                script: visualizer + """
                    const [number] = crypto.getRandomValues(new Uint32Array(1));
                    let last = 0;
                    addEventListener('load', () => { history.pushState(null, '', '#second'); scrollTo(0, 700); });
                    setInterval(() => {
                        report('state', [number, '\(name)', history.length, Math.round(scrollY), pushes - last, document.hidden]);
                        last = pushes;
                    }, 1000);
                    """, body: "<h1>\(name)</h1><div style='height: 5000px'></div>")
        }
        let window = try fixture.window([pages["one"]!, "--no-restore"])
        defer { window.stop() }
        try window.wait(for: "REPORT connected")

        /// Waits until these pages have a living document each, of which one gets samples, and returns the last states of all documents. Each
        /// has reported three times since the change: the first report can tell of the time before it.
        func settle(_ expected: [String]) throws -> [State] {
            var last: [State] = []
            let start = window.lines.count
            try window.wait(until: "documents of \(expected)") {
                let states = try window.lines.dropFirst(start).filter { $0.contains("REPORT state ") }.map(State.init)
                let documents = Set(states.map(\.document))
                last = documents.compactMap { document in states.last { $0.document == document } }
                return last.map(\.page).sorted() == expected.sorted() && last.contains { $0.pushes > 20 }
                    && documents.allSatisfy { document in states.count { $0.document == document } >= 3 }
            }
            return last
        }

        var known: [String: State] = [:]
        var ids: [String] = []
        for step in Self.steps {
            let list = step.tabs.map { ["id": $0, "title": "Tab \($0)", "path": pages[$1]!] }
            try fixture.sendTabs(step.active, list)
            let states = try settle(step.documents.map(\.value))
            #expect(states.count == step.documents.count, "\(step.condition): \(states)")
            for (name, page) in step.documents {
                let isNew = known[name] == nil
                let others = known.filter { $0.key != name }.values.map(\.document)
                let state = states.first { $0.document == known[name]?.document }
                #expect(isNew || state?.page == page, "\(step.condition): \(name) was loaded again; \(states)")
                if let state, let before = known[name] {
                    #expect(
                        state.history == before.history && state.scroll == before.scroll, "\(step.condition): \(before) became \(state)")
                }
                let new = states.first { $0.page == page && !others.contains($0.document) }
                let living: State = try #require(state ?? new, "\(step.condition): \(states)")
                known[name] = living
            }
            let visible = try #require(step.documents.first.flatMap { known[$0.key] })
            #expect(visible.history >= 2 && visible.scroll == 700, "\(step.condition): \(visible)")
            #expect(visible.pushes > 20, "\(step.condition): the visible page gets no samples; \(states)")
            #expect(states.filter { !$0.isHidden }.map(\.document) == [visible.document], "\(step.condition): \(states)")
            let new = step.tabs.map(\.key)
            for id in ids where !new.contains(id) {
                #expect(try fixture.send("window", "tab", id).code != 0, "\(step.condition): \(id) is still a tab")
            }
            // The next step finds another document visible unless the visible one is this tab.
            for id in new.filter({ $0 != step.visible }) + new.filter({ $0 == step.visible }) {
                #expect(try fixture.send("window", "tab", id).code == 0, "\(step.condition): \(id) is no tab")
            }
            ids = new
        }
        // The tab k has its own page from now on.
        #expect(try fixture.send("window", "reload").code == 0)
        let states = try settle(["four", "three"])
        #expect(states.map(\.page).sorted() == ["four", "three"] && states.first { !$0.isHidden }?.page == "four", "\(states)")
        #expect(states.contains { $0.document == known["H"]?.document })
    }
}
