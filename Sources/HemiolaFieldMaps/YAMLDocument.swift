package import HemiolaRecords
package import HemiolaSystem

extension SharedLibrary {
    package static let yaml = SharedLibrary(
        "libyaml", soname: "libyaml-0.so.2", package: "libyaml-0-2", licence: "MIT", relation: .depends, use: "files in YAML",
        versionSymbol: .textFunction("yaml_get_version_string"))
}

/// A YAML document.
///
/// Scalars have the types of YAML 1.2's core schema (`on` and `no` are text), provided that the value prints as it was written:
/// `007` and `1e3` stay text, which a numeric setting reads as the number. Anchors, aliases and tags are refused.
package struct YAMLNode: Sendable {
    package enum Content: Sendable {
        case null
        /// A scalar; its type is that of a setting.
        case value(ParameterValue)
        case list([YAMLNode])
        /// In the order of the document; each key once.
        case map([Entry])
    }

    /// A key, where it begins, and its value.
    package typealias Entry = (key: String, place: TextPosition, node: YAMLNode)

    package var content: Content
    package var place: TextPosition
}

extension YAMLNode {
    /// Limits the memory for the nodes: a node needs more memory than its one or two characters of text.
    static let maxNodeCount = 100_000
    /// Limits the depth of the stack. A pipeline needs 4 levels.
    static let maxDepth = 64

    /// Reads a text that holds at most one document. A byte order mark at its start is ignored.
    ///
    /// - Parameter text: The caller limits its length.
    /// - Returns: nil for a text without a document.
    package static func parse(_ text: String) throws(Problem) -> YAMLNode? {
        let marked = text.unicodeScalars
        var composer = try Composer(marked.first == "\u{FEFF}" ? String(marked.dropFirst()) : text)
        return try composer.document()
    }

    /// The value in an error message.
    package var shown: String {
        switch content {
        case .null, .value(.none): "nothing"
        case .value(.boolean(let flag)): "\"\(flag)\""
        case .value(.integer(let number)): "\"\(number)\""
        case .value(.number(let number)): "\"\(number)\""
        case .value(.text(let text)): "\"\(text)\""
        case .value(.list), .list: "a list"
        case .map: "a map"
        }
    }

    /// The value of a scalar without quotes.
    private static func plain(_ text: String) -> Content {
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .value(.boolean(true))
        case "false", "False", "FALSE": return .value(.boolean(false))
        default: break
        }
        if let number = Int(text), String(number) == text { return .value(.integer(number)) }
        if let number = Double(text), number.isFinite, String(number) == text { return .value(.number(number)) }
        return .value(.text(text))
    }

    // MARK: - Events to nodes

    private struct Composer: ~Copyable {
        private var reader: YAMLEventReader
        private var nodeCount = 0
        private var depth = 0

        init(_ text: String) throws(Problem) {
            reader = try YAMLEventReader(text)
        }

        mutating func document() throws(Problem) -> YAMLNode? {
            guard try reader.next().kind == .documentStart else { return nil }
            let root = try node(reader.next())
            _ = try reader.next()
            let end = try reader.next()
            guard end.kind == .streamEnd else {
                throw Problem("a second document starts here; write one document per file", at: Place(end.place))
            }
            return root
        }

        /// The node that starts with an event.
        private mutating func node(_ event: YAMLEventReader.Event) throws(Problem) -> YAMLNode {
            let place = event.place
            guard event.kind != .alias, !event.hasAnchor else {
                throw Problem(
                    "anchors and aliases (&name, *name) are not supported; write the value itself, text in quotes",
                    at: Place(place))
            }
            guard !event.hasTag else {
                throw Problem("tags (!name) are not supported; write text in quotes", at: Place(place))
            }
            nodeCount += 1
            guard nodeCount <= maxNodeCount else {
                throw Problem("the document has more than \(maxNodeCount) values", at: Place(place))
            }
            if case .scalar(let text, let isPlain) = event.kind {
                return YAMLNode(content: isPlain ? plain(text) : .value(.text(text)), place: place)
            }
            depth += 1
            defer { depth -= 1 }
            guard depth <= maxDepth else {
                throw Problem("lists and maps are nested more than \(maxDepth) deep", at: Place(place))
            }
            let content: Content = event.kind == .sequenceStart ? .list(try items()) : .map(try entries())
            return YAMLNode(content: content, place: place)
        }

        private mutating func items() throws(Problem) -> [YAMLNode] {
            var items: [YAMLNode] = []
            while true {
                let event = try reader.next()
                if event.kind == .sequenceEnd { return items }
                items.append(try node(event))
            }
        }

        private mutating func entries() throws(Problem) -> [Entry] {
            var entries: [Entry] = []
            var lines: [String: Int] = [:]
            while true {
                let event = try reader.next()
                if event.kind == .mappingEnd { return entries }
                _ = try node(event)
                guard case .scalar(let key, _) = event.kind else {
                    throw Problem("a key must be text", at: Place(event.place))
                }
                if let line = lines.updateValue(event.place.line, forKey: key) {
                    throw Problem("\(key) is already given in line \(line)", at: Place(event.place))
                }
                entries.append((key: key, place: event.place, node: try node(reader.next())))
            }
        }
    }
}
