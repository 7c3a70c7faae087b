public import HemiolaSignal

/// Which plugin, with which settings: `id[:primary][,key=value…]` on the command line.
///
///     spectrum:bands=32,scale=mel-slaney
///     json-lines:/tmp/out.jsonl,select=beat+onset
///
/// The first item without `=` is the plugin's primary setting; `\,` is a comma; a value may be quoted as a JSON string;
/// `+` joins a list; `as=NAME` names a second instance.
public struct PluginSpec: Sendable, Hashable {
    public var id: String
    /// Its name in the pipeline when that is not the id.
    public var alias: String?
    /// The item without `=`.
    public var primary: ParameterValue?
    public var settings: [String: ParameterValue]

    public init(_ id: String, as alias: String? = nil, primary: ParameterValue? = nil, settings: [String: ParameterValue] = [:]) {
        self.id = id
        self.alias = alias
        self.primary = primary
        self.settings = settings
    }

    /// Its name in the pipeline.
    public var name: String { alias ?? id }

    /// Ids that take everything after the colon as it stands.
    private static let verbatim: Set<String> = ["exec"]

    /// Reads a SPEC.
    public init(parsing text: String) throws(ConfigurationError) {
        let colon = text.firstIndex(of: ":")
        let id = String(text[..<(colon ?? text.endIndex)])
        guard !id.isEmpty, id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }) else {
            throw ConfigurationError("\"\(text)\" is no plugin SPEC; write id or id:key=value,key=value")
        }
        self.init(id)
        guard let colon else { return }
        let rest = text[text.index(after: colon)...]
        if Self.verbatim.contains(id) {
            primary = .text(String(rest))
            return
        }
        for (index, item) in try Self.items(of: rest, in: text).enumerated() {
            guard let key = item.key else {
                guard index == 0 else {
                    throw ConfigurationError("\"\(item.value)\" in \"\(text)\" has no key; write key=value (\\, is a comma)")
                }
                if !item.value.isEmpty || item.isQuoted { primary = .text(item.value) }
                continue
            }
            if key == "as" {
                guard alias == nil else { throw ConfigurationError("\"as\" stands twice in \"\(text)\"") }
                alias = item.value
            } else if settings.updateValue(.text(item.value), forKey: key) != nil {
                throw ConfigurationError("\"\(key)\" stands twice in \"\(text)\"")
            }
        }
    }

    private struct Item {
        var key: String?
        var value = ""
        var isQuoted = false
    }

    private static func items(of text: Substring, in whole: String) throws(ConfigurationError) -> [Item] {
        var items: [Item] = []
        var item = Item()
        var characters = text.makeIterator()
        while let character = characters.next() {
            switch character {
            case ",":
                items.append(item)
                item = Item()
            case "\\":
                guard let next = characters.next() else {
                    throw ConfigurationError("\"\(whole)\" ends with a backslash")
                }
                // Only a comma, an equals sign, a quote and a backslash need one; before anything else it stands for itself.
                if !",=\"\\".contains(next) { item.value.append("\\") }
                item.value.append(next)
            case "=" where item.key == nil && !item.isQuoted && item.value.isSettingKey:
                item.key = item.value
                item.value = ""
            case "\"" where item.value.isEmpty && !item.isQuoted:
                item.value = try quoted(&characters, in: whole)
                item.isQuoted = true
            default:
                item.value.append(character)
            }
        }
        items.append(item)
        return items
    }

    /// What follows a `\u`: four hexadecimal digits, or twice four with another `\u` between them for what lies beyond.
    private static func escaped(
        _ characters: inout Substring.Iterator, in whole: String
    ) throws(ConfigurationError) -> Character {
        let digits = String((0..<4).compactMap { _ in characters.next() })
        guard digits.count == 4, let code = UInt16(digits, radix: 16) else {
            throw ConfigurationError("\\u\(digits) in \"\(whole)\" is no character")
        }
        if let scalar = Unicode.Scalar(code) { return Character(scalar) }
        var rest = characters
        let low = String((0..<6).compactMap { _ in rest.next() })
        guard UTF16.isLeadSurrogate(code), low.hasPrefix("\\u"), let second = UInt16(low.dropFirst(2), radix: 16),
            UTF16.isTrailSurrogate(second)
        else { throw ConfigurationError("\\u\(digits) in \"\(whole)\" is no character") }
        characters = rest
        return Character(String(decoding: [code, second], as: UTF16.self))
    }

    /// The rest of a JSON string, up to its closing quote.
    private static func quoted(_ characters: inout Substring.Iterator, in whole: String) throws(ConfigurationError) -> String {
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
                case "u":
                    value.append(try escaped(&characters, in: whole))
                default: value.append(escape)
                }
            default:
                value.append(character)
            }
        }
        throw ConfigurationError("a quote in \"\(whole)\" is not closed")
    }
}

extension String {
    /// Letters, digits and `_`: so that a path with `=` in it stays a value.
    fileprivate var isSettingKey: Bool {
        !isEmpty && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }
}
