internal import HemiolaSignal
internal import HemiolaSystem

/// The characters and colours of a terminal.
struct TerminalStyle: Sendable, Hashable {
    var usesUnicode = true
    var colors = ColorDepth.sixteen

    /// Stands for a value that there is not.
    var dash: String { usesUnicode ? "–" : "-" }

    /// A blank and eight heights.
    var eighths: [Unicode.Scalar] { Array((usesUnicode ? " ▁▂▃▄▅▆▇█" : " .:-=+*%#").unicodeScalars) }

    /// A bar of which a part is full, with the colours of both parts as parameters of SGR.
    func bar(_ full: Int, of width: Int, color: Int, rest restColor: String = "2") -> String {
        let done = String(repeating: usesUnicode ? "█" : "#", count: full)
        let rest = String(repeating: usesUnicode ? "░" : ".", count: width - full)
        return colors > .none ? "\u{1B}[\(color)m\(done)\u{1B}[\(restColor)m\(rest)\u{1B}[0m" : done + rest
    }
}

extension TerminalStyle {
    /// According to the locale and the variables of ``ColorDepth``.
    init(environment: (String) -> String?) {
        usesUnicode = Self.locale(environment).map(Self.isUnicode) ?? false
        colors = ColorDepth(environment: environment)
    }

    /// The locale, which selects the text encoding: `de_DE.UTF-8`.
    static func locale(_ environment: (String) -> String?) -> String? {
        environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG")
    }

    static func isUnicode(_ locale: String) -> Bool { ["utf-8", "utf8"].contains { locale.lowercased().contains($0) } }
}

extension String {
    /// The text, shortened to a width in columns.
    func shortened(to width: Int, _ style: TerminalStyle) -> String { shortened(to: width, dots: style.usesUnicode ? "…" : "~") }
}

extension Float {
    /// The number within a range.
    func clamped(to range: ClosedRange<Float>) -> Float { Swift.min(Swift.max(self, range.lowerBound), range.upperBound) }

    /// A level in decibels, for people: `-18`, and `-inf` for silence.
    var levelText: String { isFinite && self > -100 ? "\(Int(clamping: rounded()))" : "-inf" }

    /// The part of a meter from -60 to 0 dB that a level fills.
    var meterPart: Float { isFinite ? ((self + 60) / 60).clamped(to: 0...1) : 0 }
}
