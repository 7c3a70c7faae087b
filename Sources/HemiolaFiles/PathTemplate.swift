public import Hemiola

/// An output path with placeholders.
///
/// | placeholder | value |
/// |---|---|
/// | `{stem}` | the input's file name without its extension |
/// | `{name}` | the input's file name |
/// | `{dir}` | the input's folder; `.` for a name without a folder; after other text without a leading `/` and without everything up to the last `..` |
/// | `{time}` | the start of the run in local time, `20261122-130501` |
/// | `{n}` | the number of the file: `0001`, `0002` … |
///
/// `{{` is a literal `{`. Braces that do not enclose letters only are literal.
public struct PathTemplate: Sendable, Hashable {
    /// A placeholder that the template replaces.
    private enum Placeholder: String, CaseIterable {
        /// The input's file name without its extension.
        case stem
        /// The input's file name.
        case name
        /// The input's folder.
        case dir
        /// The start of the run in local time.
        case time
        /// The number of the file.
        case number = "n"
    }

    /// The values of the placeholders for one file.
    public struct Values: Sendable {
        /// The input's path in the form of `PathText`, or the name of a live source. Bytes that are not UTF-8 are written as `%E9`.
        public var input: String
        /// The start of the run, as returned by `MonotonicTime.localText`.
        public var time: String
        /// The number of the file, from 1.
        public var number: Int

        /// Creates the values for one file.
        public init(input: String = "", time: String = "", number: Int = 1) {
            self.input = input
            self.time = time
            self.number = number
        }
    }

    private enum Part: Sendable, Hashable {
        case literal(String)
        case placeholder(Placeholder)
    }

    /// The template as the user wrote it.
    public let text: String
    private let parts: [Part]

    /// Parses a template.
    ///
    /// - Parameters:
    ///   - text: The path with placeholders.
    ///   - isNumbered: Whether `{n}` is a placeholder.
    /// - Throws: The first placeholder that does not exist.
    public init(_ text: String, isNumbered: Bool = false) throws(Problem) {
        self.text = text
        let allowed = Placeholder.allCases.filter { $0 != .number || isNumbered }
        var parts: [Part] = []
        var literal = ""
        var rest = text[...]
        while let character = rest.first {
            if rest.hasPrefix("{{") {
                literal.append("{")
                rest = rest.dropFirst(2)
            } else if character == "{", let word = Self.word(in: rest) {
                guard let placeholder = allowed.first(where: { $0.rawValue == word }) else {
                    let list = allowed.map { "{\($0.rawValue)}" }.joined(separator: ", ")
                    throw Problem(
                        "there is no placeholder {\(word)}; there are: \(list); for a brace in a name write {{")
                }
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = ""
                parts.append(.placeholder(placeholder))
                rest = rest.dropFirst(word.count + 2)
            } else {
                literal.append(character)
                rest = rest.dropFirst()
            }
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
        self.parts = parts
    }

    /// The letters between a leading `{` and the next `}`; nil if there is any other character.
    private static func word(in text: Substring) -> Substring? {
        guard let end = text.firstIndex(of: "}") else { return nil }
        let word = text[..<end].dropFirst()
        return !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "_") } ? word : nil
    }

    /// Whether each input is written to its own file: the template contains `{stem}`, `{name}` or `{dir}`.
    public var isPerInput: Bool {
        parts.contains { [.placeholder(.stem), .placeholder(.name), .placeholder(.dir)].contains($0) }
    }

    /// Whether the template contains `{n}`.
    public var isNumbered: Bool { parts.contains(.placeholder(.number)) }

    /// The target of the path with empty placeholders. For a path without placeholders, the target itself.
    public var target: OutputTarget { OutputTarget(path(Values())) }

    /// The path of one file: placeholders replaced by values.
    public func path(_ values: Values) -> String {
        let input = PathText.portable(values.input)
        return parts.enumerated().reduce(into: "") { path, item in
            switch item.element {
            case .literal(let text): path += text
            case .placeholder(.stem): path += Self.stem(of: input)
            case .placeholder(.name): path += Self.name(of: input)
            case .placeholder(.dir):
                let folder = FileSystem.folder(of: input)
                path += item.offset == 0 ? folder : Self.descending(folder)
            case .placeholder(.time): path += values.time
            case .placeholder(.number): path += String("0000\(values.number)".suffix(max(4, "\(values.number)".count)))
            }
        }
    }

    /// A template with `{n}`: this one if it contains `{n}`, else with `.{n}` before the extension: `a.jsonl.zst` → `a.{n}.jsonl.zst`.
    public func numbered() -> PathTemplate {
        if isNumbered { return self }
        let ending = Self.ending(of: text)
        let text = "\(text.dropLast(ending.count)).{n}\(ending)"
        guard let template = try? PathTemplate(text, isNumbered: true) else { preconditionFailure("\(text) was parsed before") }
        return template
    }

    /// The extension of a path's last name with its dot, and with the one before `.zst`: `.jsonl.zst`; empty if there is none.
    public static func ending(of path: String) -> String {
        let name = FileSystem.lastName(of: path)
        let plain = name.lowercased().hasSuffix(".zst") ? name.dropLast(4) : name[...]
        guard let dot = plain.lastIndex(of: "."), dot > plain.startIndex else { return String(name[plain.endIndex...]) }
        return String(name[dot...])
    }

    /// A folder without a leading `/` and without everything up to the last `..`. Appended to another folder, it stays inside.
    private static func descending(_ folder: String) -> String {
        let names = folder.split(separator: "/").filter { $0 != "." }
        let rest = names.lastIndex(of: "..").map { names[names.index(after: $0)...] } ?? names[...]
        return rest.isEmpty ? "." : rest.joined(separator: "/")
    }

    private static func name(of input: String) -> String {
        let name = FileSystem.lastName(of: input)
        if name == "-" || name == "standard input" { return "stdin" }
        return name.isEmpty ? "input" : name
    }

    private static func stem(of input: String) -> String {
        let name = name(of: input)
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }
}

extension PathTemplate {
    /// Parses the path of a setting.
    ///
    /// - Parameters:
    ///   - text: The path with placeholders.
    ///   - key: The key of the setting, for errors.
    ///   - isNumbered: Whether `{n}` is a placeholder.
    /// - Throws: The path is empty, or contains a placeholder that does not exist.
    public init(_ text: String, at key: String, isNumbered: Bool = false) throws(Problem) {
        if text.isEmpty { throw Problem("an empty path names no file; write - for standard output", at: key) }
        do {
            try self.init(text, isNumbered: isNumbered)
        } catch {
            throw Problem(error.message, at: key)
        }
    }
}
