internal import HemiolaSignal
internal import Yams

/// A YAML document as Hemiola reads it. The only file that knows the YAML library.
///
/// Scalars have the types of YAML 1.2's core schema (so that `on` and `no` are text), as far as a text comes out again as it
/// was written: `007` and `1e3` stay text, which a numeric setting reads as the number.
struct YAMLNode {
    enum Content {
        case null
        /// A scalar; its type is that of a setting.
        case value(ParameterValue)
        case list([YAMLNode])
        /// In the order of the document.
        case map([Entry])
    }

    struct Entry {
        var key: String
        var place: Place?
        var node: YAMLNode
    }

    /// Both from 1.
    struct Place: Hashable {
        var line: Int
        var column: Int
    }

    var content: Content
    var place: Place?
}

extension YAMLNode {
    /// What makes a text no document.
    struct SyntaxError: Error {
        var message: String
        var place: Place?
    }

    /// More nodes than this come from references to references, not from a person.
    private static let largestCount = 100_000

    /// References to references multiply: as keys, some sixty of them keep the library hashing for ever, before any node is seen.
    private static let mostReferences = 32

    /// Reads a document.
    ///
    /// - Returns: nil for an empty one.
    static func parse(_ text: String) throws(SyntaxError) -> YAMLNode? {
        // Also counts asterisks in comments and quotes, which do no harm as few as they are.
        let references = zip([UInt8(ascii: " ")] + Array(text.utf8), text.utf8).count { before, byte in
            byte == UInt8(ascii: "*") && " \n\r\t[{,:?-".utf8.contains(before)
        }
        guard references <= mostReferences else {
            throw SyntaxError(message: "there are \(references) references (*name), at most \(mostReferences) are read", place: nil)
        }
        var room = largestCount
        return try root(of: text).map { node throws(SyntaxError) in try convert(node, &room) }
    }

    private static func root(of text: String) throws(SyntaxError) -> Node? {
        do {
            return try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw SyntaxError(error)
        } catch {
            throw SyntaxError(message: "\(error)", place: nil)
        }
    }

    private static func convert(_ node: Node, _ room: inout Int) throws(SyntaxError) -> YAMLNode {
        let place = node.mark.map(Place.init)
        room -= 1
        guard room > 0 else { throw SyntaxError(message: "the document unfolds into too many values", place: place) }
        switch node {
        case .scalar(let scalar):
            return YAMLNode(content: content(of: scalar), place: place)
        case .sequence(let sequence):
            var items: [YAMLNode] = []
            for item in sequence { items.append(try convert(item, &room)) }
            return YAMLNode(content: .list(items), place: place)
        case .mapping(let mapping):
            var entries: [Entry] = []
            for (key, value) in mapping {
                guard case .scalar(let name) = key else {
                    throw SyntaxError(message: "a key must be text", place: key.mark.map(Place.init))
                }
                entries.append(
                    Entry(key: name.string, place: name.mark.map(Place.init), node: try convert(value, &room)))
            }
            return YAMLNode(content: .map(entries), place: place)
        case .alias:
            throw SyntaxError(message: "this reference has no value", place: place)
        }
    }

    private static func content(of scalar: Node.Scalar) -> Content {
        let text = scalar.string
        guard scalar.style == .plain || scalar.style == .any else { return .value(.text(text)) }
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
}

extension YAMLNode.Place {
    fileprivate init(_ mark: Mark) {
        self.init(line: mark.line, column: mark.column)
    }
}

extension YAMLNode.SyntaxError {
    fileprivate init(_ error: YamlError) {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let text = [context?.text, problem].compactMap { $0 }.joined(separator: ": ")
            self.init(message: text, place: YAMLNode.Place(mark))
        case .duplicatedKeysInMapping(let keys, let context):
            self.init(
                message: "given twice in one map: \(keys.sorted().joined(separator: ", "))", place: YAMLNode.Place(context.mark))
        case .reader(let problem, let offset, _, let text):
            // The library counts characters, of which a carriage return and a line feed are one, but scalars in all other marks.
            let before = offset.map { text.prefix($0) } ?? ""
            let lines = before.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            self.init(
                message: problem,
                place: offset == nil ? nil : YAMLNode.Place(line: max(1, lines.count), column: (lines.last?.unicodeScalars.count ?? 0) + 1))
        default:
            self.init(message: "\(error)", place: nil)
        }
    }
}
