public import HemiolaRecords
public import HemiolaSystem

/// Which plugin, with which settings: `id[:primary][,key=value…]` on the command line.
///
///     spectrum:bands=32,scale=mel-slaney
///     json-lines:/tmp/out.jsonl,select=beat+onset
///
/// The first item without `=` is the plugin's primary setting; `\,` is a comma; a value may be quoted as a JSON string;
/// `+` joins a list; `as=NAME` names a second instance.
public struct PluginSpec: Sendable, Hashable {
    /// The plugin's id.
    public var id: String
    /// Its name in the pipeline when that is not the id.
    public var alias: String?
    /// The item without `=`.
    public var primary: ParameterValue?
    /// What is set, by key; the primary setting may stand apart.
    public var settings: [String: ParameterValue]

    /// A SPEC from its parts.
    public init(_ id: String, as alias: String? = nil, primary: ParameterValue? = nil, settings: [String: ParameterValue] = [:]) {
        self.id = id
        self.alias = alias
        self.primary = primary
        self.settings = settings
    }

    /// The name of a capture or a sink in the pipeline.
    public var name: String { alias ?? id }

    /// The name of an analyzer in the pipeline and in its records: `musical_key` for the id `musical-key`.
    public var analyzerName: String { alias ?? id.recordName }

    /// The name of a control source in the pipeline and in the records of its controls: `midi-control` for the id `midi`, which may also be
    /// that of a sink.
    public var controlName: String { alias ?? "\(id)-control" }

    /// Reads a SPEC.
    public init(parsing text: String) throws(Problem) {
        // By scalars, here and below: a combining mark behind a colon, a comma or a quote would hide it in a character of its own.
        let colon = text.unicodeScalars.firstIndex(of: ":")
        let id = String(text[..<(colon ?? text.endIndex)])
        guard !id.isEmpty, id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }) else {
            throw Problem("\"\(text)\" is no plugin SPEC; write id or id:key=value,key=value")
        }
        self.init(id)
        guard let colon else { return }
        let rest = text[text.unicodeScalars.index(after: colon)...]
        for (index, item) in try Self.items(of: rest, in: text).enumerated() {
            guard let key = item.key else {
                guard index == 0 else {
                    throw Problem("\"\(item.value)\" in \"\(text)\" has no key; write key=value (\\, is a comma)")
                }
                if !item.value.isEmpty || item.isQuoted { primary = .text(item.value) }
                continue
            }
            if key == "as" {
                guard alias == nil else { throw Problem("\"as\" stands twice in \"\(text)\"") }
                alias = item.value
            } else if settings.updateValue(.text(item.value), forKey: key) != nil {
                throw Problem("\"\(key)\" stands twice in \"\(text)\"")
            }
        }
    }

    private struct Item {
        var key: String?
        var value = ""
        var isQuoted = false
    }

    private static func items(of text: Substring, in whole: String) throws(Problem) -> [Item] {
        var items: [Item] = []
        var item = Item()
        var characters = text.unicodeScalars.makeIterator()
        while let character = characters.next() {
            switch character {
            case ",":
                items.append(item)
                item = Item()
            case "\\":
                guard let next = characters.next() else {
                    throw Problem("\"\(whole)\" ends with a backslash")
                }
                // Only a comma, an equals sign, a quote and a backslash need one; before anything else it stands for itself.
                if !",=\"\\".unicodeScalars.contains(next) { item.value.append("\\") }
                item.value.unicodeScalars.append(next)
            case "=" where item.key == nil && !item.isQuoted && item.value.isSettingKey:
                item.key = item.value
                item.value = ""
            case "\"" where item.value.isEmpty && !item.isQuoted:
                item.value = try quoted(&characters, in: whole)
                item.isQuoted = true
            default:
                item.value.unicodeScalars.append(character)
            }
        }
        items.append(item)
        return items
    }

    /// What follows a `\u`: four hexadecimal digits, or twice four with another `\u` between them for what lies beyond.
    private static func escaped(
        _ characters: inout Substring.UnicodeScalarView.Iterator, in whole: String
    ) throws(Problem) -> Unicode.Scalar {
        let digits = taken(4, from: &characters)
        guard let code = codeUnit(digits) else { throw Problem("\\u\(digits) in \"\(whole)\" is no character") }
        if let scalar = Unicode.Scalar(code) { return scalar }
        var rest = characters
        let isEscape = taken(2, from: &rest) == "\\u"
        guard UTF16.isLeadSurrogate(code), isEscape, let second = codeUnit(taken(4, from: &rest)), UTF16.isTrailSurrogate(second)
        else { throw Problem("\\u\(digits) in \"\(whole)\" is no character") }
        characters = rest
        return UTF16.decode(UTF16.EncodedScalar([code, second]))
    }

    private static func taken(_ count: Int, from characters: inout Substring.UnicodeScalarView.Iterator) -> String {
        var text = ""
        for _ in 0..<count {
            if let character = characters.next() { text.unicodeScalars.append(character) }
        }
        return text
    }

    /// Four hexadecimal digits and nothing else; `UInt16` would take a sign for one.
    private static func codeUnit(_ digits: String) -> UInt16? {
        digits.utf8.count == 4 && digits.allSatisfy(\.isHexDigit) ? UInt16(digits, radix: 16) : nil
    }

    /// The rest of a JSON string, up to its closing quote.
    private static func quoted(
        _ characters: inout Substring.UnicodeScalarView.Iterator, in whole: String
    ) throws(Problem) -> String {
        var value = ""
        while let character = characters.next() {
            switch character {
            case "\"":
                return value
            case "\\":
                guard let escape = characters.next() else { break }
                switch escape {
                case "n": value.append("\n")
                case "t": value.append("\t")
                case "r": value.append("\r")
                case "b": value.append("\u{8}")
                case "f": value.append("\u{c}")
                case "u": value.unicodeScalars.append(try escaped(&characters, in: whole))
                default: value.unicodeScalars.append(escape)
                }
            default:
                value.unicodeScalars.append(character)
            }
        }
        throw Problem("a quote in \"\(whole)\" is not closed")
    }
}

extension String {
    /// Letters, digits and `_`: so that a path with `=` in it stays a value.
    fileprivate var isSettingKey: Bool {
        !isEmpty && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }
}
