internal import FoundationEssentials

/// What a tab shows: as the server describes it, or a page that the user has opened.
public struct Tab: Sendable, Hashable, Codable {
    /// The server's name of the tab, unique in a list. Not empty.
    public var id: String
    /// The text on the tab; empty: the title of the page's document.
    public var title: String
    /// The page: a folder, an HTML file or an http(s) address.
    public var path: String
    /// Whether the tab is shown only until the user leaves it.
    public var isDeprecated: Bool
    /// The id of the deprecated tab whose place this tab takes when the user leaves that one; nil: none.
    public var replaces: String?
    /// Whether the user has opened the tab. It is in no list of the server, and stays when the list changes.
    public var isOpened = false

    private enum CodingKeys: String, CodingKey {
        case id, title, path, replaces
        case isOpened = "opened"
        case isDeprecated = "deprecated"
    }

    /// A tab with these contents.
    public init(id: String, title: String, path: String, isDeprecated: Bool = false, replaces: String? = nil) {
        self.id = id
        self.title = title
        self.path = path
        self.isDeprecated = isDeprecated
        self.replaces = replaces
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decode(String.self, forKey: .id)
        title = try fields.decode(String.self, forKey: .title)
        path = try fields.decode(String.self, forKey: .path)
        isDeprecated = try fields.decodeIfPresent(Bool.self, forKey: .isDeprecated) ?? false
        replaces = try fields.decodeIfPresent(String.self, forKey: .replaces)
        isOpened = try fields.decodeIfPresent(Bool.self, forKey: .isOpened) ?? false
    }

    /// The tab of a page that the user opens. Its id is that of no other tab.
    public static func opened(_ path: String) -> Tab {
        var tab = Tab(id: "opened:\(UUID().uuidString)", title: "", path: path)
        tab.isOpened = true
        return tab
    }
}

/// The list of tabs that a window shows: the message `tabs`, which Hemiola has checked.
///
/// An empty list describes a window with one page and no tab bar. A list that is not empty has at least two tabs that are not deprecated.
public struct TabDirective: Sendable, Hashable, Decodable {
    /// Maximum number of tabs.
    public static let tabLimit = 64

    /// The id of a tab that is not deprecated; nil only for an empty list.
    public let active: String?
    /// The tabs in the order of the tab bar. The ids are unique.
    public let tabs: [Tab]

    private enum CodingKeys: CodingKey {
        case active, tabs
    }

    /// A list; by default that of a window with one page.
    public init(active: String? = nil, tabs: [Tab] = []) {
        self.active = tabs.isEmpty ? nil : active
        self.tabs = tabs.map { tab in
            var tab = tab
            tab.isOpened = false
            return tab
        }
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(active: try fields.decodeIfPresent(String.self, forKey: .active), tabs: try fields.decode([Tab].self, forKey: .tabs))
    }
}
