internal import Glibc
internal import HemiolaSignal

/// An output path with placeholders.
///
/// | placeholder | value |
/// |---|---|
/// | `{stem}` | the input's file name without its ending |
/// | `{name}` | the input's file name |
/// | `{dir}` | the input's folder; `.` for a mere name; after other parts without what leads out of them: `/`, `../` |
/// | `{time}` | the start of the run in local time, `20261122-130501` |
/// | `{n}` | the number of the file: `0001`, `0002` … |
///
/// `{{` is a literal `{`. Braces around anything but letters are literal.
package struct PathTemplate: Sendable, Hashable {
    package enum Placeholder: String, CaseIterable, Sendable {
        case stem, name, dir, time
        case number = "n"
    }

    /// A placeholder that does not exist.
    package struct UnknownPlaceholder: Error, Sendable {
        /// One line: which one, and which exist.
        package var message: String
    }

    /// The values of the placeholders for one file.
    package struct Values: Sendable {
        /// The input's path as `PathText` makes it, or the name of a source that is no file. Bytes that are not UTF-8 become `%E9`.
        package var input: String
        /// The start of the run.
        package var time: String
        /// The number of the file, from 1.
        package var number: Int

        package init(input: String = "", time: String = "", number: Int = 1) {
            self.input = input
            self.time = time
            self.number = number
        }
    }

    private enum Part: Sendable, Hashable {
        case literal(String)
        case placeholder(Placeholder)
    }

    /// As the user wrote it.
    package let text: String
    private let parts: [Part]

    /// - Parameter isNumbered: Whether `{n}` is a placeholder of this path.
    package init(_ text: String, isNumbered: Bool = false) throws(UnknownPlaceholder) {
        self.text = text
        let known = Placeholder.allCases.filter { $0 != .number || isNumbered }
        var parts: [Part] = []
        var literal = ""
        var rest = text[...]
        while let character = rest.first {
            if rest.hasPrefix("{{") {
                literal.append("{")
                rest = rest.dropFirst(2)
            } else if character == "{", let word = Self.word(in: rest) {
                guard let placeholder = known.first(where: { $0.rawValue == word }) else {
                    let list = known.map { "{\($0.rawValue)}" }.joined(separator: ", ")
                    throw UnknownPlaceholder(
                        message: "there is no placeholder {\(word)}; there are: \(list); for a brace in a name write {{")
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

    /// The letters between the brace that a text begins with and the next closing one.
    private static func word(in text: Substring) -> Substring? {
        guard let end = text.firstIndex(of: "}") else { return nil }
        let word = text[..<end].dropFirst()
        return !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "_") } ? word : nil
    }

    /// Whether every input has a file of its own.
    package var isPerInput: Bool {
        parts.contains { [.placeholder(.stem), .placeholder(.name), .placeholder(.dir)].contains($0) }
    }

    /// Whether the path contains the number of the file.
    package var isNumbered: Bool { parts.contains(.placeholder(.number)) }

    /// The path itself, or the paths that it stands for, as the target of a descriptor or a file.
    package var target: OutputTarget { OutputTarget(path(Values())) }

    /// The path of one file.
    package func path(_ values: Values) -> String {
        let input = PathText.portable(values.input)
        return parts.enumerated().reduce(into: "") { path, item in
            switch item.element {
            case .literal(let text): path += text
            case .placeholder(.stem): path += Self.stem(of: input)
            case .placeholder(.name): path += Self.name(of: input)
            case .placeholder(.dir):
                let folder = OutputTarget.folder(of: input)
                path += item.offset == 0 ? folder : Self.descending(folder)
            case .placeholder(.time): path += values.time
            case .placeholder(.number): path += String("0000\(values.number)".suffix(max(4, "\(values.number)".count)))
            }
        }
    }

    /// This path with `.{n}` before its ending, unless it has the number already: `a.jsonl.zst` → `a.{n}.jsonl.zst`.
    package func numbered() -> PathTemplate {
        if isNumbered { return self }
        let ending = Self.ending(of: text)
        let text = "\(text.dropLast(ending.count)).{n}\(ending)"
        guard let template = try? PathTemplate(text, isNumbered: true) else { preconditionFailure("\(text) was read before") }
        return template
    }

    /// The ending of a path's last name with its dot, `.zst` not counted by itself; empty when there is none.
    package static func ending(of path: String) -> String {
        let name = OutputTarget.lastName(of: path)
        let plain = name.lowercased().hasSuffix(".zst") ? name.dropLast(4) : name[...]
        guard let dot = plain.lastIndex(of: "."), dot > plain.startIndex else { return String(name[plain.endIndex...]) }
        return String(name[dot...])
    }

    /// A folder without `/` at its start and everything up to the last `..`, so that it stays in the folder that it is appended to.
    private static func descending(_ folder: String) -> String {
        let names = folder.split(separator: "/").filter { $0 != "." }
        let rest = names.lastIndex(of: "..").map { names[names.index(after: $0)...] } ?? names[...]
        return rest.isEmpty ? "." : rest.joined(separator: "/")
    }

    private static func name(of input: String) -> String {
        let name = OutputTarget.lastName(of: input)
        if name == "-" || name == "standard input" { return "stdin" }
        return name.isEmpty ? "input" : name
    }

    private static func stem(of input: String) -> String {
        let name = name(of: input)
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// `20261122-130501`, in local time.
    ///
    /// - Parameter seconds: Since 1970.
    package static func timeText(_ seconds: Int) -> String {
        var seconds = time_t(seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func digits(_ number: Int32, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1) + digits(parts.tm_mday) + "-" + digits(parts.tm_hour)
            + digits(parts.tm_min) + digits(parts.tm_sec)
    }
}
