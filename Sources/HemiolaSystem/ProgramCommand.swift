/// The value of a setting that names a program to start: `exec:COMMAND` in a SPEC, text or a list in a pipeline file.
public enum ProgramCommand: Sendable, Hashable {
    /// Text that `/bin/sh -c` runs.
    case shell(String)
    /// A program, by its path or by its name in `$PATH`, and its arguments. No shell reads them.
    case arguments([String])

    /// Whether no program is named.
    public var isEmpty: Bool {
        switch self {
        case .shell(let text): !text.unicodeScalars.contains { !$0.properties.isWhitespace }
        case .arguments(let words): words.first?.isEmpty ?? true
        }
    }

    /// The text as given, or the arguments with spaces between them. Not a form that a shell could run.
    public var text: String {
        switch self {
        case .shell(let text): text
        case .arguments(let words): words.joined(separator: " ")
        }
    }
}
