internal import HemiolaSystem

/// The characters and colours of a terminal.
struct TerminalStyle: Sendable, Hashable {
    var usesUnicode = true
    var colors = ColorDepth.sixteen

    /// Stands for a value that there is not.
    var dash: String { usesUnicode ? "–" : "-" }

    /// A blank and eight heights.
    var eighths: [Character] { Array(usesUnicode ? " ▁▂▃▄▅▆▇█" : " .:-=+*%#") }
}

extension TerminalStyle {
    /// According to the locale and the variables of ``ColorDepth``.
    init(environment: (String) -> String?) {
        let locale = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? ""
        usesUnicode = ["utf-8", "utf8"].contains { locale.lowercased().contains($0) }
        colors = ColorDepth(environment: environment)
    }
}

extension String {
    /// The text, shortened to a width in columns.
    func shortened(to width: Int, _ style: TerminalStyle) -> String { shortened(to: width, dots: style.usesUnicode ? "…" : "~") }
}
