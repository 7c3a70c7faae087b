package import Hemiola

/// The tabs of windows, as clients set them: the rules of the message `tabs`, which is passed on to the windows as it is.
package enum TabList {
    /// Maximum number of tabs.
    private static let limit = 64
    /// Maximum length of a text in bytes.
    private static let textLimit = 1024

    /// Checks a list. An empty one describes a window with one page and no tab bar.
    ///
    /// - Throws: Why it is refused.
    package static func check(_ message: JSONValue) throws(Problem) {
        let tabs = try message.objects("tabs")
        let active = try message.optionalText("active")
        if tabs.isEmpty { return }
        guard tabs.count <= limit else { throw Problem("\"tabs\" has more than \(limit) tabs") }
        var deprecated: Set<String> = []
        for tab in tabs {
            try check("id", try tab.text("id"))
            try check("title", try tab.text("title"))
            try check("icon", try tab.optionalText("icon"))
            try check("path", try tab.text("path"))
            try check("replaces", try tab.optionalText("replaces"))
            if try tab.optionalFlag("deprecated") == true { deprecated.insert(try tab.text("id")) }
        }
        var (ids, replaced): (Set<String>, Set<String>) = ([], [])
        for tab in tabs {
            let id = try tab.text("id")
            if id.isEmpty { throw Problem("the \"id\" of a tab is empty") }
            if try tab.text("path").isEmpty { throw Problem("the \"path\" of the tab \"\(id)\" is empty") }
            guard ids.insert(id).inserted else { throw Problem("two tabs have the id \"\(id)\"") }
            guard let other = try tab.optionalText("replaces") else { continue }
            if deprecated.contains(id) { throw Problem("the tab \"\(id)\" is deprecated and replaces another") }
            guard deprecated.contains(other) else {
                throw Problem("the tab \"\(id)\" replaces \"\(other)\", which is not a deprecated tab of the list")
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
    }

    private static func check(_ key: String, _ text: String?) throws(Problem) {
        if let text, text.utf8.count > textLimit { throw Problem("\"\(key)\" of a tab is longer than \(textLimit) bytes") }
    }
}
