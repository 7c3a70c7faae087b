public import FoundationEssentials

/// A place of the window that holds a live page: its web view, history and scroll position. Its identity never changes; what it shows can.
public struct TabContainer: Sendable, Hashable, Identifiable {
    /// The identity of the container.
    public let id: UUID
    /// The tab that the container represents; nil in a window without tabs.
    public var tab: Tab?
    /// The page that the container has loaded: that of its tab, or that of the tab whose place its tab has taken.
    public var path: String

    /// A container for a tab or, without one, for a page.
    public init(id: UUID = UUID(), tab: Tab? = nil, path: String) {
        self.id = id
        self.tab = tab
        self.path = path
    }

    /// Whether the user has opened the tab: no list of the server contains it.
    public var isOpened: Bool { tab?.isOpened == true }

    /// The text on the tab: the title that the server has set, else that of the document, else the name of the page.
    ///
    /// - Parameter documentTitle: nil or empty: the document has none.
    public func label(documentTitle: String? = nil) -> String {
        if let title = tab?.title, !title.isEmpty { return title }
        if let title = documentTitle, !title.isEmpty { return title }
        return WindowArguments.title(of: path)
    }
}

/// The containers of a window, and which of them is visible.
///
/// The window has the *listed* tabs, which come from the command line or the server, and after them those that the user has *opened*. The
/// listed ones are *bootstrap* (one container without a tab) or *tabbed*. The functions change the state and return what the window has to
/// do with its web views: they are pure, except for the new identities.
///
/// Rules for the tabs that the user closes and opens:
/// - A list with the same tabs as the last one, in any order, does not bring back a tab that the user has closed. A list with other tabs
///   shows all of its tabs.
/// - A list neither removes nor changes a tab that the user has opened.
/// - When the visible tab is closed, the one after it is selected, or the one before if it was the last.
public struct TabState: Sendable, Hashable {
    /// In the order of the tab bar. Never empty.
    public private(set) var containers: [TabContainer]
    /// The visible container.
    public private(set) var selection: UUID
    /// The last list of tabs; nil: none was received.
    private var directive: TabDirective?
    /// The ids of the listed tabs that the user has closed since the list has other tabs.
    private var closedIDs: Set<String> = []

    /// A window with one page and no tab bar.
    public init(path: String) {
        let container = TabContainer(path: path)
        containers = [container]
        selection = container.id
    }

    /// A window with these pages: tabs if there are two or more.
    ///
    /// - Parameter tabs: At least one; of several, the first is visible.
    public init?(_ tabs: [Tab]) {
        guard !tabs.isEmpty else { return nil }
        let listed = tabs.filter { !$0.isOpened }
        containers = (listed + tabs.filter(\.isOpened)).map { tab in
            TabContainer(tab: listed.count == 1 && !tab.isOpened ? nil : tab, path: tab.path)
        }
        selection = containers[0].id
    }

    /// Whether the tab bar is visible.
    public var isTabbed: Bool { containers.count > 1 }

    /// The visible container.
    public var selected: TabContainer { containers[selectedIndex] }

    private var listed: [TabContainer] { containers.filter { !$0.isOpened } }
    private var opened: [TabContainer] { containers.filter(\.isOpened) }

    private var selectedIndex: Int { containers.firstIndex { $0.id == selection } ?? 0 }

    /// What a window does after a change of the state: first create, then update and load, then arrange and select, then dispose.
    public struct Changes: Sendable, Hashable {
        /// New containers, in the order of the tab bar. Their page is to be loaded.
        public var created: [TabContainer] = []
        /// Containers that represent another tab, or whose tab has another title.
        public var updated: [TabContainer] = []
        /// Those of `updated` whose page is to be loaded.
        public var loaded: Set<UUID> = []
        /// Containers that are no longer part of the window.
        public var disposed: [UUID] = []

        /// Whether there is nothing to do. The order of the containers changes only together with one of these.
        public var isEmpty: Bool { created.isEmpty && updated.isEmpty && disposed.isEmpty }

        /// Adds what a following change does.
        fileprivate mutating func add(_ other: Changes) {
            created += other.created
            updated += other.updated
            loaded.formUnion(other.loaded)
            disposed += other.disposed
        }
    }

    // MARK: - Changes by the server

    /// Applies a list of tabs so that as many live pages as possible stay.
    ///
    /// 1. bootstrap to bootstrap: no change.
    /// 2. bootstrap to tabbed: the container becomes the `active` tab, the others are created. Only here the server selects, and the page
    ///    of that tab is loaded if the container shows another.
    /// 3. tabbed to bootstrap: the visible container stays, the others are disposed.
    /// 4. The same tabs: no change. 5. Only another `active`: no change. 6. Only another order: no change.
    /// 7. Tabs added: they are created, the order is adopted, the visible tab stays.
    /// 8. Tabs removed: they are disposed, the order is adopted.
    /// 9. The visible tab removed: its container becomes the `active` tab, and the container that represented that tab is disposed.
    /// 10. As many tabs added as removed: an invisible one is disposed and the new one created; the visible container becomes the new tab
    ///     that takes its place in the order of the added tabs.
    /// 11. All tabs replaced: the visible container becomes the `active` tab, the others are new.
    ///
    /// In the cases 9 to 11 the visible container keeps its live page, also when the page of the new tab is another: that one is shown when
    /// the user or a request loads the tab again. A tab that stays is loaded when its own path changes.
    ///
    /// A `deprecated` tab is part of the list only while it is visible, and a tab that `replaces` it only when it is not.
    ///
    /// - Complexity: O(tabs).
    public mutating func apply(_ directive: TabDirective) -> Changes {
        if Set(directive.tabs.map(\.id)) != Set(self.directive?.tabs.map(\.id) ?? []) { closedIDs = [] }
        self.directive = directive
        return reconcile()
    }

    private mutating func reconcile() -> Changes {
        guard let directive else { return Changes() }
        guard let active = directive.active else { return demote() }
        let tabs = visibleTabs(of: directive)
        let listed = listed
        if listed.count == 1, listed[0].tab == nil { return arrange(tabs, [active: listed[0]]) }
        return update(tabs, active: active)
    }

    /// The tabs without those that the user has closed, those that are deprecated and invisible, and those whose place such a visible one
    /// has.
    private func visibleTabs(of directive: TabDirective) -> [Tab] {
        let kept = selected.tab?.id
        return directive.tabs.filter { tab in
            if closedIDs.contains(tab.id) { return false }
            if tab.isDeprecated { return tab.id == kept }
            guard let replaced = tab.replaces else { return true }
            return replaced != kept
        }
    }

    /// Tabbed to bootstrap.
    private mutating func demote() -> Changes {
        let listed = listed
        guard listed.contains(where: { $0.tab != nil }) else { return Changes() }
        var changes = Changes()
        changes.disposed = listed.map(\.id).filter { $0 != selection }
        var rest = opened
        if !selected.isOpened {
            var container = selected
            container.tab = nil
            changes.updated = [container]
            rest.insert(container, at: 0)
        }
        containers = rest
        return changes
    }

    /// Tabbed to tabbed.
    private mutating func update(_ tabs: [Tab], active: String) -> Changes {
        let listed = listed
        let old = listed.compactMap { $0.tab?.id }
        let new = tabs.map(\.id)
        var known: [String: TabContainer] = [:]
        for container in listed {
            if let id = container.tab?.id { known[id] = container }
        }
        if Set(old) == Set(new) {
            // The order stays.
            var described: [String: Tab] = [:]
            for tab in tabs { described[tab.id] = tab }
            return arrange(old.compactMap { described[$0] }, known)
        }
        let isKept = Set(new)
        if !selected.isOpened, let id = selected.tab?.id, !isKept.contains(id) {
            let removed = old.filter { !isKept.contains($0) }
            let added = new.filter { known[$0] == nil }
            var successor = isKept.contains(active) ? active : new.first ?? active
            if removed.count == added.count, removed.count < old.count, let index = removed.firstIndex(of: id) {
                successor = added[index]
            }
            known[successor] = selected
        }
        return arrange(tabs, known)
    }

    /// Sets the listed containers to one for each tab.
    ///
    /// - Parameter known: The containers that stay, by the id of the tab that they represent from now on.
    private mutating func arrange(_ tabs: [Tab], _ known: [String: TabContainer]) -> Changes {
        var changes = Changes()
        let old = containers
        let opened = opened
        guard !tabs.isEmpty || !opened.isEmpty else { return Changes() }
        containers = tabs.map { tab in
            guard var container = known[tab.id] else {
                let container = TabContainer(tab: tab, path: tab.path)
                changes.created.append(container)
                return container
            }
            if container.tab != tab {
                let hasNewPath = container.tab.map { $0.id == tab.id && $0.path != tab.path } ?? true
                container.tab = tab
                if hasNewPath, container.path != tab.path {
                    container.path = tab.path
                    changes.loaded.insert(container.id)
                }
                changes.updated.append(container)
            }
            return container
        }
        containers += opened
        let remaining = Set(containers.map(\.id))
        if !remaining.contains(selection) { selection = containers[0].id }
        changes.disposed = old.map(\.id).filter { !remaining.contains($0) }
        return changes
    }

    // MARK: - Changes by the user

    /// Makes a container visible: by the user, or by a request. A deprecated tab that was visible is removed, and the tab that replaces it
    /// is added.
    ///
    /// - Parameter id: The container. An unknown one changes nothing.
    public mutating func select(_ id: UUID) -> Changes {
        guard id != selection, containers.contains(where: { $0.id == id }) else { return Changes() }
        let left = selected.tab
        selection = id
        guard left?.isDeprecated == true else { return Changes() }
        return reconcile()
    }

    /// Loads the visible tab again.
    ///
    /// - Returns: The page to load: that of the tab, also when its container has kept another one.
    public mutating func reload() -> String {
        let path = selected.tab?.path ?? selected.path
        containers[selectedIndex].path = path
        return path
    }

    /// Opens a page in a new tab, which becomes visible, after all others. A deprecated tab that was visible is removed.
    ///
    /// - Returns: nil if the window has ``TabDirective/tabLimit`` tabs.
    public mutating func open(_ path: String) -> Changes? {
        guard containers.count < TabDirective.tabLimit else { return nil }
        let container = TabContainer(tab: .opened(path), path: path)
        containers.append(container)
        var changes = Changes()
        changes.created = [container]
        changes.add(select(container.id))
        return changes
    }

    /// Closes a tab by the user or by its page. If it was visible, the tab after it is selected, after the last one the tab before it. The
    /// tab that replaces a deprecated one is added.
    ///
    /// - Returns: nil if it is the only one: the window is to be closed.
    public mutating func close(_ id: UUID) -> Changes? {
        guard let index = containers.firstIndex(where: { $0.id == id }) else { return Changes() }
        guard isTabbed else { return nil }
        let container = containers.remove(at: index)
        if let tab = container.tab, !tab.isOpened { closedIDs.insert(tab.id) }
        var changes = Changes()
        changes.disposed = [id]
        guard selection == id else { return changes }
        selection = containers[min(index, containers.count - 1)].id
        if container.tab?.isDeprecated == true { changes.add(reconcile()) }
        return changes
    }

    /// The container that a request names: by the id of its tab, else by its label.
    ///
    /// - Parameter titles: The titles of the documents.
    /// - Returns: nil if there is none.
    public func container(named name: String, titles: [UUID: String] = [:]) -> TabContainer? {
        containers.first { $0.tab?.id == name } ?? containers.first { $0.label(documentTitle: titles[$0.id]) == name }
            ?? containers.first { $0.label() == name }
    }

    /// The container after the visible one, after the last the first.
    public var next: TabContainer { containers[(selectedIndex + 1) % containers.count] }

    /// The container before the visible one, before the first the last.
    public var previous: TabContainer { containers[(selectedIndex + containers.count - 1) % containers.count] }
}
