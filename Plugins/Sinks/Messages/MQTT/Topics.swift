/// The names of topics: no other file contains one.
struct Topics: Sendable {
    /// The text before the first slash.
    let prefix: String

    /// Whether the sink is connected: `online` or `offline`.
    var status: String { "\(prefix)/status" }

    /// The records of a type.
    func record(_ type: String) -> String { "\(prefix)/\(type)" }

    /// The values of a feature.
    func feature(_ name: String, of analyzer: String) -> String { "\(prefix)/\(analyzer)/\(name)" }

    /// Why a prefix is invalid; nil: it is valid. By MQTT 3.1.1, section 4.7.
    static func fault(inPrefix prefix: String) -> String? {
        if prefix.isEmpty { return "the prefix is empty; write a topic, as in hemiola" }
        let isInvalid = prefix.unicodeScalars.contains {
            $0 == "+" || $0 == "#" || $0.properties.generalCategory == .control || $0.properties.isNoncharacterCodePoint
        }
        if isInvalid { return "\"\(prefix)\" is no topic: + and # are for subscribers, and control characters are not allowed" }
        if prefix.hasPrefix("/") || prefix.hasSuffix("/") { return "\"\(prefix)\" begins or ends with a slash; remove it" }
        if prefix.utf8.count > longest { return "the prefix is too long: \(prefix.utf8.count) bytes, maximum \(longest)" }
        return nil
    }

    /// Why the topic of a field map is invalid; nil: it is valid.
    static func fault(inTopic topic: String) -> String? { fault(inPrefix: topic) }

    /// Bytes of a prefix. A topic has at most 65535.
    private static let longest = 1000
}
