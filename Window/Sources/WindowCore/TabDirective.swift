public import FoundationEssentials
public import HemiolaSystem

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

/// The list of tabs that a window shows: the control `tabs`.
///
/// An empty list describes a window with one page and no tab bar. A list that is not empty has at least two tabs that are not deprecated.
public struct TabDirective: Sendable, Hashable {
    /// Maximum number of tabs.
    public static let tabLimit = 64
    /// Maximum length of a text in bytes.
    public static let textLimit = 1024

    /// The id of a tab that is not deprecated; nil only for an empty list.
    public let active: String?
    /// The tabs in the order of the tab bar. The ids are unique.
    public let tabs: [Tab]

    /// A window with one page.
    public static let bootstrap = TabDirective()

    private init() {
        active = nil
        tabs = []
    }

    /// Checks a list.
    ///
    /// - Throws: The reason why it is not valid.
    public init(active: String?, tabs: [Tab]) throws(Problem) {
        guard !tabs.isEmpty else {
            self = .bootstrap
            return
        }
        guard tabs.count <= Self.tabLimit else { throw Problem("\"tabs\" has more than \(Self.tabLimit) tabs") }
        for tab in tabs {
            let texts = [("id", tab.id), ("title", tab.title), ("path", tab.path), ("replaces", tab.replaces ?? "")]
            for (key, text) in texts where text.utf8.count > Self.textLimit {
                throw Problem("\"\(key)\" of a tab is longer than \(Self.textLimit) bytes")
            }
        }
        var ids: Set<String> = []
        var replaced: Set<String> = []
        let deprecated = Set(tabs.filter(\.isDeprecated).map(\.id))
        for tab in tabs {
            guard !tab.id.isEmpty else { throw Problem("the \"id\" of a tab is empty") }
            guard !tab.path.isEmpty else { throw Problem("the \"path\" of the tab \"\(tab.id)\" is empty") }
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
        self.active = active
        self.tabs = tabs.map { tab in
            var tab = tab
            tab.isOpened = false
            return tab
        }
    }
}

extension TabDirective {
    private struct Fields: Decodable {
        var active: String?
        var tabs: [Tab]
    }

    /// Parses `{"active":…,"tabs":[…]}`.
    ///
    /// - Throws: The reason why the text is not a valid list.
    /// - Complexity: O(bytes).
    public init(json: Data) throws(Problem) {
        let fields: Fields
        do {
            fields = try JSONDecoder().decode(Fields.self, from: json)
        } catch DecodingError.keyNotFound(let key, _) {
            throw Problem("missing \"\(key.stringValue)\"")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
            throw Problem(path.isEmpty ? "not a JSON object" : "\"\(path)\" has the wrong type")
        } catch {
            throw Problem("invalid JSON")
        }
        try self.init(active: fields.active, tabs: fields.tabs)
    }
}
