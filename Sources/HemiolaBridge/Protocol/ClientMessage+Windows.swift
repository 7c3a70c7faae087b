internal import HemiolaRecords
internal import HemiolaSystem

// The messages of windows: programs that show pages, and their tabs.

extension ClientMessage {
    /// A tab of a window.
    public struct Tab: Sendable, Hashable {
        /// Its name, unique in the list.
        public var id: String
        /// The text on the tab.
        public var title: String
        /// The path of a picture; nil: none.
        public var icon: String?
        /// The page: a path or an address.
        public var path: String
        /// Whether the tab is shown only until the user leaves it.
        public var isDeprecated: Bool
        /// The id of the deprecated tab whose place this tab takes; nil: none.
        public var replaces: String?
    }

    /// The tabs of a window. An empty list: one page without tabs; else at least two tabs are not deprecated.
    public struct Tabs: Sendable, Hashable {
        /// The id of a tab that is not deprecated; nil only for an empty list.
        public var active: String?
        /// The tabs, in their order.
        public var tabs: [Tab]
    }

    /// What a window does on request.
    public enum WindowAction: Sendable, Hashable {
        /// Fills the screen or not; nil: changes between the two.
        case fullScreen(Bool?)
        /// Makes the tab with this id or title visible.
        case tab(String)
        /// Loads the visible page again.
        case reload
        /// Writes a picture of the visible page into a file.
        case snapshot

        /// Its name in messages.
        var name: String {
            switch self {
            case .fullScreen: "fullscreen"
            case .tab: "tab"
            case .reload: "reload"
            case .snapshot: "snapshot"
            }
        }
    }

    /// Maximum number of tabs.
    public static let tabLimit = 64
}

extension ClientMessage.Tab {
    init(_ tab: JSONValue) throws(Problem) {
        id = try tab.text("id")
        title = try tab.text("title")
        icon = try tab.optionalText("icon")
        path = try tab.text("path")
        isDeprecated = try tab.optionalFlag("deprecated") ?? false
        replaces = try tab.optionalText("replaces")
    }
}

extension ClientMessage.Tabs {
    /// Checks a list.
    init(active: String?, checking tabs: [ClientMessage.Tab]) throws(Problem) {
        guard !tabs.isEmpty else {
            self.init(active: nil, tabs: [])
            return
        }
        guard tabs.count <= ClientMessage.tabLimit else {
            throw Problem("\"tabs\" has more than \(ClientMessage.tabLimit) tabs")
        }
        for tab in tabs { try Self.check(tab) }
        let deprecated = Set(tabs.filter(\.isDeprecated).map(\.id))
        var ids: Set<String> = []
        var replaced: Set<String> = []
        for tab in tabs {
            guard ids.insert(tab.id).inserted else { throw Problem("two tabs have the id \"\(tab.id)\"") }
            guard let other = tab.replaces else { continue }
            if tab.isDeprecated { throw Problem("the tab \"\(tab.id)\" is deprecated and replaces another") }
            guard deprecated.contains(other) else {
                throw Problem("the tab \"\(tab.id)\" replaces \"\(other)\", which is not a deprecated tab of the list")
            }
            guard replaced.insert(other).inserted else { throw Problem("two tabs replace \"\(other)\"") }
        }
        guard tabs.count - deprecated.count >= 2 else {
            throw Problem("\"tabs\" needs at least two tabs that are not deprecated, or none for a window without tabs")
        }
        guard let active else { throw Problem("missing \"active\"") }
        guard ids.contains(active), !deprecated.contains(active) else {
            throw Problem("\"active\" is not the id of a tab of the list that is not deprecated")
        }
        self.init(active: active, tabs: tabs)
    }

    private static func check(_ tab: ClientMessage.Tab) throws(Problem) {
        for (key, text) in [("id", tab.id), ("title", tab.title), ("icon", tab.icon), ("path", tab.path), ("replaces", tab.replaces)] {
            guard let text else { continue }
            if text.utf8.count > ClientMessage.longestText {
                throw Problem("\"\(key)\" of a tab is longer than \(ClientMessage.longestText) bytes")
            }
            // Without them, the line to the windows is at most twice as long as the texts.
            if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                throw Problem("\"\(key)\" of a tab has control characters")
            }
        }
        if tab.id.isEmpty { throw Problem("the \"id\" of a tab is empty") }
        if tab.path.isEmpty { throw Problem("the \"path\" of the tab \"\(tab.id)\" is empty") }
    }
}
