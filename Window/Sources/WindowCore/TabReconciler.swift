public import FoundationEssentials

/// A place of the window that holds a live page: its web view, history and scroll position. Its identity never changes; what it shows can.
public struct TabContainer: Sendable, Hashable, Identifiable {
    /// The identity of the container.
    public let id: UUID
    /// The tab that the container represents; nil in a window without tabs.
    public var tab: Tab?
    /// The page that the container has loaded.
    public var path: String

    /// A container for a tab or, without one, for a page.
    public init(id: UUID = UUID(), tab: Tab? = nil, path: String) {
        self.id = id
        self.tab = tab
        self.path = path
    }
}

/// The containers of a window, and which of them is visible.
///
/// The state is *bootstrap* (one container, no tab bar) or *tabbed* (two or more). The functions change the state and return what the
/// window has to do with its web views: they are pure, except for the new identities.
public struct TabState: Sendable, Hashable {
    /// In the order of the tab bar. Never empty.
    public private(set) var containers: [TabContainer]
    /// The visible container.
    public private(set) var selection: UUID
    /// The last list of tabs; nil: none was received.
    private var directive: TabDirective?

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
        guard let first = tabs.first else { return nil }
        containers = tabs.map { TabContainer(tab: tabs.count > 1 ? $0 : nil, path: $0.path) }
        if tabs.count == 1 { containers[0].path = first.path }
        selection = containers[0].id
    }

    /// Whether the tab bar is visible.
    public var isTabbed: Bool { containers.count > 1 }

    /// The visible container.
    public var selected: TabContainer { containers[selectedIndex] }

    private var selectedIndex: Int { containers.firstIndex { $0.id == selection } ?? 0 }

    /// What a window does after a change of the state: first create, then update and load, then arrange and select, then dispose.
    public struct Changes: Sendable, Hashable {
        /// New containers, in the order of the tab bar. Their page is to be loaded.
        public var created: [TabContainer] = []
        /// Containers that represent another tab, or whose tab has another title or icon.
        public var updated: [TabContainer] = []
        /// Those of `updated` whose page is to be loaded, because its path differs from that of the loaded page.
        public var loaded: Set<UUID> = []
        /// Containers that are no longer part of the window.
        public var disposed: [UUID] = []
        /// Whether the order of the containers has changed, or containers were added or removed.
        public var rearranged = false

        /// Whether there is nothing to do.
        public var isEmpty: Bool { created.isEmpty && updated.isEmpty && disposed.isEmpty && !rearranged }
    }

    // MARK: - Changes by the server

    /// Applies a list of tabs so that as many live pages as possible stay.
    ///
    /// 1. bootstrap to bootstrap: no change.
    /// 2. bootstrap to tabbed: the container becomes the `active` tab, the others are created. Only here the server selects.
    /// 3. tabbed to bootstrap: the visible container stays, the others are disposed.
    /// 4. The same tabs: no change. 5. Only another `active`: no change. 6. Only another order: no change.
    /// 7. Tabs added: they are created, the order is adopted, the visible tab stays.
    /// 8. Tabs removed: they are disposed, the order is adopted.
    /// 9. The visible tab removed: its container becomes the `active` tab, and the container that represented that tab is disposed.
    /// 10. As many tabs added as removed: an invisible one is disposed and the new one created; the visible container becomes the new tab
    ///     that takes its place in the order of the added tabs.
    /// 11. All tabs replaced: the visible container becomes the `active` tab, the others are new.
    ///
    /// A `deprecated` tab is part of the list only while it is visible, and a tab that `replaces` it only when it is not.
    ///
    /// - Complexity: O(tabs).
    public mutating func apply(_ directive: TabDirective) -> Changes {
        self.directive = directive
        return reconcile()
    }

    private mutating func reconcile() -> Changes {
        guard let directive else { return Changes() }
        guard let active = directive.active else { return demote() }
        let tabs = visibleTabs(of: directive)
        return isTabbed ? update(tabs, active: active) : promote(tabs, active: active)
    }

    /// The tabs without those that are deprecated and invisible, and those whose place such a visible one has.
    private func visibleTabs(of directive: TabDirective) -> [Tab] {
        let kept = selected.tab?.id
        return directive.tabs.filter { tab in
            if tab.isDeprecated { return tab.id == kept }
            guard let replaced = tab.replaces else { return true }
            return replaced != kept
        }
    }

    /// Tabbed to bootstrap.
    private mutating func demote() -> Changes {
        guard isTabbed else { return Changes() }
        var changes = Changes(rearranged: true)
        changes.disposed = containers.map(\.id).filter { $0 != selection }
        var container = selected
        container.tab = nil
        containers = [container]
        changes.updated = [container]
        return changes
    }

    /// Bootstrap to tabbed.
    private mutating func promote(_ tabs: [Tab], active: String) -> Changes {
        let container = selected
        return arrange(tabs, [active: container])
    }

    /// Tabbed to tabbed.
    private mutating func update(_ tabs: [Tab], active: String) -> Changes {
        let old = containers.compactMap { $0.tab?.id }
        let new = tabs.map(\.id)
        var known: [String: TabContainer] = [:]
        for container in containers {
            if let id = container.tab?.id { known[id] = container }
        }
        if Set(old) == Set(new) {
            // The order stays.
            var described: [String: Tab] = [:]
            for tab in tabs { described[tab.id] = tab }
            return arrange(old.compactMap { described[$0] }, known)
        }
        let isKept = Set(new)
        if let id = selected.tab?.id, !isKept.contains(id) {
            let removed = old.filter { !isKept.contains($0) }
            let added = new.filter { known[$0] == nil }
            var successor = active
            if removed.count == added.count, removed.count < old.count, let index = removed.firstIndex(of: id) {
                successor = added[index]
            }
            known[successor] = selected
        }
        return arrange(tabs, known)
    }

    /// Sets the containers to one for each tab.
    ///
    /// - Parameter known: The containers that stay, by the id of the tab that they represent from now on.
    private mutating func arrange(_ tabs: [Tab], _ known: [String: TabContainer]) -> Changes {
        var changes = Changes()
        let old = containers
        containers = tabs.map { tab in
            guard var container = known[tab.id] else {
                let container = TabContainer(tab: tab, path: tab.path)
                changes.created.append(container)
                return container
            }
            if container.tab != tab {
                if container.path != tab.path { changes.loaded.insert(container.id) }
                container.tab = tab
                container.path = tab.path
                changes.updated.append(container)
            }
            return container
        }
        let remaining = Set(containers.map(\.id))
        changes.disposed = old.map(\.id).filter { !remaining.contains($0) }
        changes.rearranged = old.map(\.id) != containers.map(\.id)
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

    /// The container that a request names: by the id of its tab, else by its title.
    ///
    /// - Returns: nil if there is none.
    public func container(named name: String) -> TabContainer? {
        containers.first { $0.tab?.id == name } ?? containers.first { $0.tab?.title == name }
    }

    /// The container after the visible one, after the last the first.
    public var next: TabContainer { containers[(selectedIndex + 1) % containers.count] }

    /// The container before the visible one, before the first the last.
    public var previous: TabContainer { containers[(selectedIndex + containers.count - 1) % containers.count] }

    /// Sets the page of a window without tabs, or of a container that the user has moved to another page.
    public mutating func setPath(_ path: String, of id: UUID) {
        guard let index = containers.firstIndex(where: { $0.id == id }) else { return }
        containers[index].path = path
    }
}
