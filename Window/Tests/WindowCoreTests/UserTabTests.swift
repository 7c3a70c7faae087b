import Foundation
import Testing
import WindowCore

/// Tabs that the user closes and opens, alone and together with lists of the server.
@Suite struct UserTabTests {
    private func tab(_ id: String, title: String? = nil, deprecated: Bool = false, replaces: String? = nil) -> Tab {
        Tab(id: id, title: title ?? "Title \(id)", path: "/pages/\(id)", isDeprecated: deprecated, replaces: replaces)
    }

    private func directive(_ active: String, _ ids: String...) -> TabDirective {
        TabDirective(active: active, tabs: ids.map { tab($0) })
    }

    private func tabbed(_ ids: String..., selecting selected: String) -> TabState {
        var state = TabState(path: "/pages/start")
        _ = state.apply(TabDirective(active: selected, tabs: ids.map { tab($0) }))
        return state
    }

    private func some<Value>(_ value: Value?) throws -> Value { try #require(value) }

    private func names(_ state: TabState) -> [String] {
        state.containers.map { $0.isOpened ? "+\($0.path)" : $0.tab?.id ?? "" }
    }

    private func id(_ name: String, of state: TabState) throws -> UUID {
        try #require(state.containers.first { $0.tab?.id == name || $0.path == name }).id
    }

    private func close(_ name: String, of state: inout TabState) throws -> TabState.Changes {
        try some(state.close(try id(name, of: state)))
    }

    // MARK: - Closing

    @Test func `close the visible tab: the one after it is selected, after the last one the one before it`() throws {
        var state = tabbed("a", "b", "c", selecting: "b")
        let b = state.selection
        let changes = try close("b", of: &state)
        #expect(changes.disposed == [b] && changes.created.isEmpty && changes.updated.isEmpty)
        #expect(names(state) == ["a", "c"])
        #expect(state.selected.tab?.id == "c")
        _ = try close("c", of: &state)
        #expect(state.selected.tab?.id == "a")
        #expect(!state.isTabbed)
    }

    @Test func `close an invisible tab: the visible one stays`() throws {
        var state = tabbed("a", "b", "c", selecting: "b")
        let live = state.selection
        _ = try close("a", of: &state)
        #expect(state.selection == live)
        #expect(names(state) == ["b", "c"])
    }

    @Test func `the only tab is not closed: the window is`() {
        var state = TabState(path: "/pages/start")
        let old = state
        #expect(state.close(state.selection) == nil)
        #expect(state == old)
    }

    @Test func `close an unknown container: nothing changes`() {
        var state = tabbed("a", "b", selecting: "a")
        let old = state
        #expect(state.close(UUID())?.isEmpty == true)
        #expect(state == old)
    }

    @Test func `the same tabs again, with another active, order or title: a closed tab does not come back`() throws {
        var state = tabbed("a", "b", "c", selecting: "a")
        _ = try close("b", of: &state)
        #expect(state.apply(directive("a", "a", "b", "c")).isEmpty)
        #expect(state.apply(directive("b", "c", "b", "a")).isEmpty)
        let titled = TabDirective(active: "a", tabs: [tab("a"), tab("b", title: "New"), tab("c", title: "New")])
        #expect(state.apply(titled).updated.map { $0.tab?.id } == ["c"])
        #expect(names(state) == ["a", "c"])
    }

    @Test func `the same tabs again after all but one were closed: that one stays`() throws {
        var state = tabbed("a", "b", "c", selecting: "a")
        _ = try close("a", of: &state)
        _ = try close("b", of: &state)
        let live = state.selection
        #expect(state.apply(directive("a", "a", "b", "c")).isEmpty)
        #expect(names(state) == ["c"] && state.selection == live)
    }

    @Test func `a list with other tabs shows all of them, also those that the user has closed`() throws {
        var state = tabbed("a", "b", selecting: "a")
        let live = state.selection
        _ = try close("b", of: &state)
        let changes = state.apply(directive("a", "a", "b", "c"))
        #expect(names(state) == ["a", "b", "c"] && state.selection == live)
        #expect(changes.created.map { $0.tab?.id } == ["b", "c"])
    }

    @Test func `an empty list and then the first one again: a closed tab comes back`() throws {
        var state = tabbed("a", "b", selecting: "a")
        let live = state.selection
        _ = try close("b", of: &state)
        #expect(state.apply(TabDirective()).updated.map(\.id) == [live])
        #expect(state.selected.tab == nil)
        _ = state.apply(directive("a", "a", "b"))
        #expect(names(state) == ["a", "b"] && state.selection == live)
    }

    @Test func `close a visible deprecated tab: the tab that replaces it is added`() throws {
        var state = tabbed("a", "b", selecting: "b")
        _ = state.apply(TabDirective(active: "a", tabs: [tab("a"), tab("b", deprecated: true), tab("b2", replaces: "b")]))
        #expect(names(state) == ["a", "b"])
        let b = state.selection
        let changes = try close("b", of: &state)
        #expect(changes.disposed == [b])
        #expect(changes.created.map { $0.tab?.id } == ["b2"])
        #expect(names(state) == ["a", "b2"] && state.selected.tab?.id == "a")
    }

    // MARK: - Opening

    @Test func `open a page in a window with one: two tabs, the new one is visible`() throws {
        var state = TabState(path: "/pages/start")
        let first = state.selection
        let changes = try some(state.open("/pages/new.html"))
        #expect(state.isTabbed && names(state) == ["", "+/pages/new.html"])
        #expect(changes.created.map(\.id) == [state.selection] && changes.disposed.isEmpty)
        #expect(state.selected.label() == "new")
        // Back to one page.
        _ = try close("/pages/new.html", of: &state)
        #expect(!state.isTabbed && state.selection == first && state.selected.tab == nil)
    }

    @Test func `lists neither remove nor change an opened tab`() {
        var state = tabbed("a", "b", selecting: "a")
        _ = state.open("/pages/new")
        let live = state.selection
        _ = state.apply(directive("c", "c", "d"))
        #expect(names(state) == ["c", "d", "+/pages/new"])
        #expect(state.selection == live)
        let changes = state.apply(TabDirective())
        #expect(names(state) == ["+/pages/new"] && state.selection == live)
        #expect(changes.disposed.count == 2)
        let back = state.apply(directive("a", "a", "b"))
        #expect(names(state) == ["a", "b", "+/pages/new"] && state.selection == live)
        #expect(back.created.count == 2 && back.disposed.isEmpty)
    }

    @Test func `a list for a window with one page and an opened tab: the page becomes the active tab`() throws {
        var state = TabState(path: "/pages/b")
        let page = state.selection
        _ = state.open("/pages/new")
        let live = state.selection
        let changes = state.apply(directive("b", "a", "b"))
        #expect(names(state) == ["a", "b", "+/pages/new"] && state.selection == live)
        #expect(try id("b", of: state) == page)
        #expect(changes.loaded.isEmpty && changes.created.map { $0.tab?.id } == ["a"])
    }

    @Test func `open a page while a deprecated tab is visible: that one is removed`() throws {
        var state = tabbed("a", "b", selecting: "b")
        _ = state.apply(TabDirective(active: "a", tabs: [tab("a"), tab("b", deprecated: true), tab("c")]))
        let b = state.selection
        let changes = try some(state.open("/pages/new"))
        #expect(changes.disposed == [b] && changes.created.count == 1)
        #expect(names(state) == ["a", "c", "+/pages/new"])
    }

    @Test func `at most 64 tabs are opened`() {
        var state = TabState(path: "/pages/start")
        for number in 1..<TabDirective.tabLimit { #expect(state.open("/pages/\(number)") != nil) }
        #expect(state.open("/pages/more") == nil)
        #expect(state.containers.count == TabDirective.tabLimit)
    }

    @Test func `a server cannot send an opened tab`() throws {
        let json = #"{"active":"a","tabs":[{"id":"a","title":"","path":"/a","opened":true},{"id":"b","title":"","path":"/b"}]}"#
        #expect(try JSONDecoder().decode(TabDirective.self, from: Data(json.utf8)).tabs.allSatisfy { !$0.isOpened })
    }

    @Test func `stored tabs: an opened one stays opened, and a single listed page is a window without tabs of a list`() throws {
        let tabs = [tab("page"), Tab.opened("/pages/new")]
        let stored = try JSONDecoder().decode([Tab].self, from: JSONEncoder().encode(tabs))
        #expect(stored == tabs)
        var state = try #require(TabState(stored))
        #expect(names(state) == ["", "+/pages/new"])
        _ = state.apply(directive("page", "page", "b"))
        #expect(names(state) == ["page", "b", "+/pages/new"])
    }

    // MARK: - Labels

    @Test(arguments: [("Stars", "Document", "Stars"), ("", "Document", "Document"), ("", "", "rain"), ("", nil, "rain")])
    func `label: the title of the list, else of the document, else the name of the page`(
        _ title: String, _ document: String?, _ label: String
    ) {
        let container = TabContainer(tab: Tab(id: "a", title: title, path: "/pages/rain.html"), path: "/pages/rain.html")
        #expect(container.label(documentTitle: document) == label)
    }

    @Test func `a tab is found by its id, label and name`() {
        var state = TabState(path: "/pages/start.html")
        _ = state.open("/pages/new.html")
        let (first, second) = (state.containers[0].id, state.containers[1].id)
        #expect(state.container(named: "start")?.id == first)
        #expect(state.container(named: "Rain", titles: [second: "Rain"])?.id == second)
        #expect(state.container(named: "new", titles: [second: "Rain"])?.id == second)
        #expect(state.container(named: "Rain") == nil)
    }

    /// After each of many random steps: unique identities and ids, a visible container, listed tabs before opened ones, no closed tab in a
    /// repeated list, and the changes lead from the containers before to those after.
    @Test func `any sequence of lists, selections, closed and opened tabs keeps the invariants`() {
        var seed: UInt64 = 11
        func random(_ count: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % count
        }
        var state = TabState(path: "/pages/start")
        var last = TabDirective()
        var steps: [Int: Int] = [:]
        for _ in 0..<5000 {
            let before = state
            let step = random(6)
            var changes: TabState.Changes?
            switch step {
            case 0: changes = state.select(state.containers[random(state.containers.count)].id)
            case 1, 2: changes = state.close(state.containers[random(state.containers.count)].id)
            case 3: changes = state.containers.count < 12 ? state.open("/new/\(random(3))") : nil
            case 4: changes = state.apply(last)
            default:
                var tabs = (0..<random(9)).map { _ in tab("\(random(12))", deprecated: random(4) == 0) }
                var seen: Set<String> = []
                tabs = tabs.filter { seen.insert($0.id).inserted }
                if let old = tabs.first(where: \.isDeprecated), let new = tabs.firstIndex(where: { !$0.isDeprecated }) {
                    tabs[new].replaces = old.id
                }
                // A list that Hemiola passes on.
                let actives = tabs.filter { !$0.isDeprecated }
                guard tabs.isEmpty || actives.count >= 2 else { continue }
                last = TabDirective(active: actives.first?.id, tabs: tabs)
                changes = state.apply(last)
            }
            guard let changes else {
                #expect(state.containers == before.containers && state.selection == before.selection)
                continue
            }
            steps[step, default: 0] += 1
            let (old, new) = (Set(before.containers.map(\.id)), Set(state.containers.map(\.id)))
            #expect(new.count == state.containers.count && new.contains(state.selection))
            #expect(Set(changes.created.map(\.id)).intersection(new) == new.subtracting(old))
            #expect(Set(changes.disposed).intersection(old) == old.subtracting(new))
            let ids = state.containers.compactMap { $0.tab?.id }
            #expect(Set(ids).count == ids.count)
            let kinds = state.containers.map(\.isOpened)
            #expect(kinds == kinds.sorted { !$0 && $1 }, "listed tabs come first: \(names(state))")
            let listed = state.containers.filter { !$0.isOpened }
            #expect(listed.count <= 1 || listed.allSatisfy { $0.tab != nil }, "\(names(state))")
            if step >= 4 { #expect(state.selection == before.selection || !old.contains(before.selection)) }
            if step == 4 {
                let returned = Set(ids).subtracting(before.containers.compactMap { $0.tab?.id })
                #expect(returned.isEmpty, "\(returned) came back")
            }
        }
        #expect((0...5).allSatisfy { steps[$0, default: 0] > 100 }, "\(steps)")
    }
}
