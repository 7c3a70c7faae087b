internal import Hemiola

/// Parts of documents in XML 1.0.
enum XML {
    /// An element with attributes and child elements, each on a line.
    static func element(
        _ name: String, indent: Int, _ attributes: [(name: String, value: String?)], _ children: [String] = []
    ) -> String {
        let space = String(repeating: " ", count: indent)
        let texts = attributes.map { name, value in value.map { " \(name)=\"\(escaped($0))\"" } ?? "" }
        let start = "\(space)<\(name)" + texts.joined()
        return children.isEmpty ? "\(start)/>\n" : "\(start)>\n\(children.joined())\(space)</\(name)>\n"
    }

    /// The value of an attribute. A character that XML 1.0 does not allow is replaced by U+FFFD.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            // Readers replace white space other than spaces in attributes, unless it is escaped.
            case "\t", "\n", "\r": "&#\(scalar.value);"
            case "\0"..<" ", "\u{fffe}", "\u{ffff}": "\u{fffd}"
            case _ where scalar.isUnsafeForReaders: "&#\(scalar.value);"
            default: String(scalar)
            }
        }.joined()
    }
}
