import Testing
import WindowCore

/// The eleven cases of a list of tabs, and the two extensions.
@Suite struct TabReconcilerTests {
    private func tab(_ id: String, title: String? = nil, path: String? = nil, deprecated: Bool = false, replaces: String? = nil) -> Tab {
        Tab(id: id, title: title ?? "Title \(id)", path: path ?? "/pages/\(id)", isDeprecated: deprecated, replaces: replaces)
    }

    private func directive(_ active: String, _ ids: String...) -> TabDirective {
        TabDirective(active: active, tabs: ids.map { tab($0) })
    }

    /// A window with these tabs, of which one is visible.
    private func tabbed(_ ids: String..., selecting selected: String) -> TabState {
        var state = TabState(path: "/pages/start")
        _ = state.apply(TabDirective(active: selected, tabs: ids.map { tab($0) }))
        #expect(state.selected.tab?.id == selected)
        return state
    }

    private func names(_ state: TabState) -> [String?] { state.containers.map { $0.tab?.id } }

    private func container(_ id: String, of state: TabState) throws -> TabContainer {
        try #require(state.containers.first { $0.tab?.id == id })
    }

    @Test func `1 bootstrap to bootstrap: nothing changes`() {
        var state = TabState(path: "/pages/start")
        let old = state
        #expect(state.apply(TabDirective()).isEmpty)
        #expect(state.containers == old.containers)
        #expect(!state.isTabbed)
    }

    @Test func `2 bootstrap to tabbed: the container becomes the active tab, the others are new`() {
        var state = TabState(path: "/pages/b")
        let live = state.selection
        let changes = state.apply(directive("b", "a", "b", "c"))
        #expect(names(state) == ["a", "b", "c"])
        #expect(state.selection == live)
        #expect(state.selected.tab?.id == "b")
        #expect(changes.created.map { $0.tab?.id } == ["a", "c"])
        #expect(changes.updated.map(\.id) == [live])
        #expect(changes.loaded.isEmpty, "the page of the active tab is loaded already")
        #expect(changes.disposed.isEmpty)
        #expect(Set(state.containers.map(\.id)).count == 3)
        #expect(state.isTabbed)
    }

    @Test func `2 with another page: the page of the active tab is loaded`() {
        var state = TabState(path: "/pages/start")
        let live = state.selection
        let changes = state.apply(directive("a", "a", "b"))
        #expect(changes.loaded == [live])
        #expect(state.selected.path == "/pages/a")
    }

    @Test func `3 tabbed to bootstrap: the visible container stays, the others are disposed`() {
        var state = tabbed("a", "b", "c", selecting: "b")
        let (live, others) = (state.selected, state.containers.map(\.id).filter { $0 != state.selection })
        let changes = state.apply(TabDirective())
        #expect(state.containers.map(\.id) == [live.id])
        #expect(state.selected.tab == nil)
        #expect(state.selected.path == live.path)
        #expect(changes.disposed == others)
        #expect(changes.loaded.isEmpty && changes.created.isEmpty)
    }

    @Test func `4 the same tabs: nothing changes`() {
        var state = tabbed("a", "b", selecting: "a")
        let old = state.containers
        #expect(state.apply(directive("a", "a", "b")).isEmpty)
        #expect(state.containers == old)
    }

    @Test func `5 only another active: ignored`() {
        var state = tabbed("a", "b", selecting: "a")
        let (old, live) = (state.containers, state.selection)
        #expect(state.apply(directive("b", "a", "b")).isEmpty)
        #expect(state.containers == old)
        #expect(state.selection == live)
    }

    @Test func `6 only another order: ignored`() {
        var state = tabbed("a", "b", "c", selecting: "a")
        let old = state.containers
        #expect(state.apply(directive("a", "c", "b", "a")).isEmpty)
        #expect(state.containers == old)
    }

    @Test func `7 tabs added: the others stay, the order is adopted, the selection stays`() throws {
        var state = tabbed("a", "b", selecting: "a")
        let (a, b) = (try container("a", of: state).id, try container("b", of: state).id)
        let changes = state.apply(directive("c", "c", "b", "a", "d"))
        #expect(names(state) == ["c", "b", "a", "d"])
        #expect(try container("a", of: state).id == a)
        #expect(try container("b", of: state).id == b)
        #expect(state.selection == a)
        #expect(changes.created.map { $0.tab?.id } == ["c", "d"])
        #expect(changes.updated.isEmpty && changes.disposed.isEmpty)
    }

    @Test func `8 tabs removed: they are disposed, the order is adopted`() throws {
        var state = tabbed("a", "b", "c", selecting: "a")
        let (a, b) = (state.selection, try container("b", of: state).id)
        let changes = state.apply(directive("c", "c", "a"))
        #expect(names(state) == ["c", "a"])
        #expect(state.selection == a)
        #expect(changes.disposed == [b])
        #expect(changes.created.isEmpty && changes.updated.isEmpty)
    }

    @Test func `9 the visible tab removed: its container becomes the active tab, and that tab's container is disposed`() throws {
        var state = tabbed("a", "b", "c", selecting: "a")
        let (live, b) = (state.selection, try container("b", of: state).id)
        let changes = state.apply(directive("b", "b", "c"))
        #expect(names(state) == ["b", "c"])
        #expect(state.selection == live)
        #expect(state.selected.tab?.id == "b")
        #expect(changes.disposed == [b])
        #expect(changes.created.isEmpty)
        #expect(changes.loaded.isEmpty && state.selected.path == "/pages/a", "the live page stays")
    }

    @Test func `10 an invisible tab replaced: removed and added`() throws {
        var state = tabbed("a", "b", selecting: "a")
        let (live, b) = (state.selection, try container("b", of: state).id)
        let changes = state.apply(directive("a", "a", "x"))
        #expect(names(state) == ["a", "x"])
        #expect(state.selection == live)
        #expect(changes.disposed == [b])
        #expect(changes.created.map { $0.tab?.id } == ["x"])
        #expect(changes.updated.isEmpty)
    }

    @Test func `10 the visible tab replaced: its container becomes the new tab`() throws {
        var state = tabbed("a", "b", "c", selecting: "b")
        let (a, live) = (try container("a", of: state).id, state.selection)
        let changes = state.apply(directive("a", "a", "x", "c"))
        #expect(names(state) == ["a", "x", "c"])
        #expect(state.selection == live)
        #expect(state.selected.tab?.id == "x")
        #expect(try container("a", of: state).id == a)
        #expect(changes.loaded.isEmpty && state.selected.path == "/pages/b", "the live page stays")
        #expect(changes.created.isEmpty && changes.disposed.isEmpty)
    }

    @Test func `10 two tabs replaced: the visible one becomes the one at its place`() {
        var state = tabbed("a", "b", "c", selecting: "c")
        let live = state.selection
        let changes = state.apply(directive("a", "a", "x", "y"))
        #expect(state.selected.tab?.id == "y")
        #expect(state.selection == live)
        #expect(changes.created.map { $0.tab?.id } == ["x"])
        #expect(changes.disposed.count == 1)
    }

    @Test func `11 all tabs replaced: the container becomes the active tab, the others are new`() {
        var state = tabbed("a", "b", "c", selecting: "a")
        let (live, others) = (state.selection, state.containers.map(\.id).dropFirst())
        let changes = state.apply(directive("z", "x", "y", "z"))
        #expect(names(state) == ["x", "y", "z"])
        #expect(state.selection == live)
        #expect(state.selected.tab?.id == "z")
        #expect(changes.created.map { $0.tab?.id } == ["x", "y"])
        #expect(changes.disposed == Array(others))
        #expect(changes.loaded.isEmpty && state.selected.path == "/pages/a", "the live page stays")
    }

    @Test func `a tab that shows the page of another: kept with another title; its own is loaded by reload, or with another path`() {
        var state = tabbed("a", "b", "c", selecting: "a")
        let live = state.selection
        _ = state.apply(directive("b", "b", "c"))
        #expect(state.apply(TabDirective(active: "b", tabs: [tab("b", title: "New"), tab("c")])).loaded.isEmpty)
        #expect(state.selected.path == "/pages/a")
        var other = state
        #expect(state.reload() == "/pages/b" && state.selected.path == "/pages/b")
        #expect(other.apply(TabDirective(active: "b", tabs: [tab("b", path: "/pages/new"), tab("c")])).loaded == [live])
        #expect(other.selected.path == "/pages/new")
        #expect(state.apply(TabDirective()).loaded.isEmpty && state.reload() == "/pages/b")
    }

    // MARK: - Extensions

    @Test func `a visible deprecated tab stays until the user leaves it`() throws {
        var state = tabbed("a", "b", "c", selecting: "b")
        let (a, b) = (try container("a", of: state).id, state.selection)
        let tabs = [tab("a"), tab("b", deprecated: true), tab("c")]
        #expect(state.apply(TabDirective(active: "a", tabs: tabs)).disposed.isEmpty)
        #expect(names(state) == ["a", "b", "c"])
        #expect(state.selection == b)
        let changes = state.select(a)
        #expect(names(state) == ["a", "c"])
        #expect(state.selection == a)
        #expect(changes.disposed == [b])
        #expect(changes.created.isEmpty && changes.updated.isEmpty)
        #expect(state.apply(TabDirective(active: "a", tabs: tabs)).isEmpty, "it does not come back")
    }

    @Test func `an invisible deprecated tab is removed at once`() throws {
        var state = tabbed("a", "b", "c", selecting: "a")
        let b = try container("b", of: state).id
        let changes = state.apply(TabDirective(active: "a", tabs: [tab("a"), tab("b", deprecated: true), tab("c")]))
        #expect(names(state) == ["a", "c"])
        #expect(changes.disposed == [b])
    }

    @Test func `a tab that replaces a visible one is added when the user leaves that one`() throws {
        var state = tabbed("a", "b", selecting: "b")
        let (a, b) = (try container("a", of: state).id, state.selection)
        let tabs = [tab("a"), tab("b", deprecated: true), tab("b2", replaces: "b")]
        let before = state.apply(TabDirective(active: "a", tabs: tabs))
        #expect(names(state) == ["a", "b"])
        #expect(before.created.isEmpty && before.disposed.isEmpty)
        let changes = state.select(a)
        #expect(names(state) == ["a", "b2"])
        #expect(state.selection == a)
        #expect(changes.disposed == [b])
        #expect(changes.created.map { $0.tab?.id } == ["b2"])
    }

    @Test func `a tab that replaces an invisible one is added at once`() throws {
        var state = tabbed("a", "b", selecting: "a")
        let b = try container("b", of: state).id
        let changes = state.apply(
            TabDirective(active: "a", tabs: [tab("a"), tab("b", deprecated: true), tab("b2", replaces: "b")]))
        #expect(names(state) == ["a", "b2"])
        #expect(changes.disposed == [b])
        #expect(changes.created.map { $0.tab?.id } == ["b2"])
    }

    @Test func `a new list replaces the one that waits for the user`() throws {
        var state = tabbed("a", "b", selecting: "b")
        let a = try container("a", of: state).id
        _ = state.apply(TabDirective(active: "a", tabs: [tab("a"), tab("b", deprecated: true), tab("b2", replaces: "b")]))
        #expect(state.apply(directive("a", "a", "b")).disposed.isEmpty)
        #expect(state.select(a).isEmpty)
        #expect(names(state) == ["a", "b"])
    }

    // MARK: - Titles, paths and the user's selection

    @Test func `another title: the page is not loaded again; another path: it is`() throws {
        var state = tabbed("a", "b", selecting: "a")
        let (a, b) = (state.selection, try container("b", of: state).id)
        let changes = state.apply(TabDirective(active: "a", tabs: [tab("a", title: "New"), tab("b", path: "/pages/new")]))
        #expect(changes.updated.map(\.id) == [a, b])
        #expect(changes.loaded == [b])
        #expect(changes.created.isEmpty && changes.disposed.isEmpty)
        #expect(state.selected.tab?.title == "New")
    }

    @Test func `the user's selection keeps all tabs, and survives further lists`() throws {
        var state = tabbed("a", "b", selecting: "a")
        let b = try container("b", of: state)
        #expect(state.select(b.id).isEmpty)
        #expect(state.selection == b.id)
        #expect(state.apply(directive("a", "a", "b", "c")).disposed.isEmpty)
        #expect(state.selection == b.id)
        let unknown = TabContainer(path: "/")
        #expect(state.select(unknown.id).isEmpty)
        #expect(state.selection == b.id)
    }

    @Test func `a tab is found by its id before another's title`() {
        var state = TabState(path: "/")
        _ = state.apply(TabDirective(active: "a", tabs: [tab("a", title: "b"), tab("b", title: "Stars")]))
        #expect(state.container(named: "b")?.tab?.id == "b")
        #expect(state.container(named: "Stars")?.tab?.id == "b")
        #expect(state.container(named: "none") == nil)
    }

    @Test func `the next and the previous container wrap around`() {
        let state = tabbed("a", "b", "c", selecting: "c")
        #expect(state.next.tab?.id == "a")
        #expect(state.previous.tab?.id == "b")
    }

    @Test func `pages of the arguments are tabs if there are several`() throws {
        #expect(TabState([]) == nil)
        let one = try #require(TabState([tab("a")]))
        #expect(!one.isTabbed && one.selected.tab == nil && one.selected.path == "/pages/a")
        var two = try #require(TabState([tab("a"), tab("b")]))
        #expect(two.isTabbed && two.selected.tab?.id == "a")
        let live = two.selection
        let changes = two.apply(directive("x", "x", "y"))
        #expect(two.selection == live && two.selected.tab?.id == "x")
        #expect(changes.loaded.isEmpty)
    }

    /// After each of many random lists: one container for each tab, unique identities, the visible container kept, and the changes lead
    /// from the containers before to those after.
    @Test func `any sequence of lists and selections keeps the invariants`() {
        var seed: UInt64 = 7
        func random(_ count: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % count
        }
        var state = TabState(path: "/pages/start")
        for _ in 0..<2000 {
            let (before, live) = (state, state.selection)
            let changes: TabState.Changes
            if random(4) == 0 {
                changes = state.select(state.containers[random(state.containers.count)].id)
            } else {
                var tabs = (0..<random(9)).map { _ in tab("\(random(12))", path: "/\(random(3))", deprecated: random(4) == 0) }
                var seen: Set<String> = []
                tabs = tabs.filter { seen.insert($0.id).inserted }
                if let old = tabs.first(where: \.isDeprecated), let new = tabs.firstIndex(where: { !$0.isDeprecated }) {
                    tabs[new].replaces = old.id
                }
                let actives = tabs.filter { !$0.isDeprecated }
                // A list that Hemiola passes on.
                guard tabs.isEmpty || actives.count >= 2 else { continue }
                changes = state.apply(TabDirective(active: actives.first?.id, tabs: tabs))
                #expect(state.selection == live)
            }
            let (old, new) = (Set(before.containers.map(\.id)), Set(state.containers.map(\.id)))
            #expect(new.count == state.containers.count)
            #expect(new.contains(state.selection))
            #expect(Set(changes.created.map(\.id)) == new.subtracting(old))
            #expect(Set(changes.disposed) == old.subtracting(new))
            #expect(changes.loaded.isSubset(of: changes.updated.map(\.id)))
            #expect(state.isTabbed == (state.containers.count >= 2))
            #expect(state.containers.allSatisfy { ($0.tab != nil) == state.isTabbed })
            for container in state.containers {
                let kept = before.containers.first { $0.id == container.id && !changes.loaded.contains($0.id) }
                #expect(container.path == kept?.path ?? container.tab?.path)
            }
        }
    }
}
