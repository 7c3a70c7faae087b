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

    /// A name and the beginning of its description: the first sentence or clause, as much of it as fits in the line.
    private static func entry(_ name: String, _ description: some StringProtocol, _ columns: Int) -> String {
        let start = max(indent, name.count + 2)
        let words = description.split(separator: " ")
        var text = ""
        for word in words {
            let longer = text.isEmpty ? String(word) : "\(text) \(word)"
            // The mark of what is left out needs two columns.
            guard start + longer.count <= columns - 2 else { return line(name, start, text + (text.hasSuffix(",") ? " …" : "…")) }
            text = longer
            if word.hasSuffix(";") || word.hasSuffix(":") || word.hasSuffix(".") && !word.dropLast().contains(".") { break }
        }
        while let last = text.last, ".;:".contains(last) { text.removeLast() }
        return line(name, start, text)
    }

    private static func line(_ name: String, _ start: Int, _ text: String) -> String {
        name + String(repeating: " ", count: start - name.count) + text
    }
}
