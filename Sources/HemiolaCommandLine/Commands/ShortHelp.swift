/// The help of `-h`: one screen, with a line per option or command. `--help` has the whole text.
enum ShortHelp {
    /// The column at which the descriptions begin, as in the whole text.
    private static let indent = 26

    /// - Parameters:
    ///   - help: The whole text, with each description on one line.
    ///   - columns: The width of the terminal.
    static func text(of help: String, columns: Int) -> String {
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        let overview = "OVERVIEW: "
        var result = lines.first { $0.hasPrefix(overview) }.map { [String($0.dropFirst(overview.count))] } ?? []
        guard let usage = lines.firstIndex(where: { $0.hasPrefix("USAGE: ") }) else { return help }
        result += lines[usage...].prefix { !$0.isEmpty }.map(String.init) + [""]
        var name = ""
        for line in lines[usage...] {
            if line.hasPrefix("  "), line.dropFirst(2).first != " " {
                // A long name stands alone, and its description on the next line.
                guard line.count > indent, line.prefix(indent).last == " " else {
                    name = String(line)
                    continue
                }
                let end = line.prefix(indent).lastIndex { $0 != " " } ?? line.startIndex
                result.append(entry(String(line[...end]), line.dropFirst(indent), columns))
            } else if !name.isEmpty, line.hasPrefix("   ") {
                result.append(entry(name, line, columns))
            }
            name = ""
        }
        let command = lines[usage].split(separator: " ").dropFirst().prefix { !$0.hasPrefix("[") && !$0.hasPrefix("<") }
        return (result + ["", "All of it, with examples: \(command.joined(separator: " ")) --help"]).joined(separator: "\n")
    }

    /// A name and the beginning of its description: as many sentences and clauses as fit in the line, but at least one, which is wrapped.
    private static func entry(_ name: String, _ description: some StringProtocol, _ columns: Int) -> String {
        let start = max(indent, name.count + 2)
        let width = max(columns - start, 20)
        var text = ""
        var clause = ""
        for word in description.split(separator: " ") {
            clause += (clause.isEmpty ? "" : " ") + word
            guard let last = word.last, ".;".contains(last) else { continue }
            if !text.isEmpty, text.count + clause.count > width { break }
            text += (text.isEmpty ? "" : " ") + clause
            clause = ""
        }
        if text.isEmpty { text = clause }
        if let last = text.last, ".;".contains(last) { text.removeLast() }
        return name + text.wrapped(indent: start, columns: columns).dropFirst(name.count).dropLast()
    }
}
