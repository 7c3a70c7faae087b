internal import Synchronization

/// Standard error, for people: errors, warnings, what goes on, and a progress bar below them. Thread-safe.
final class Console: Sendable {
    /// How much a person wants to read.
    struct Verbosity: Sendable, Hashable {
        /// No progress bar, no warnings; errors only.
        var isQuiet = false
        /// 0: what went wrong; 1: also what runs and a line per input; 2: also all settings.
        var detail = 0
    }

    let verbosity: Verbosity
    private let output: @Sendable (String) -> Void
    private let barOutput: @Sendable (String) -> Void
    private let bar = Mutex(Bar())

    private struct Bar {
        /// As it stands on the screen.
        var line: String?
        /// Whether none may be drawn any more.
        var isOver = false
    }

    /// - Parameters:
    ///   - output: Takes what would be written to standard error.
    ///   - barOutput: Takes the bar; nil: the same.
    init(
        _ verbosity: Verbosity = Verbosity(), output: @escaping @Sendable (String) -> Void = Console.writeToStandardError,
        barOutput: (@Sendable (String) -> Void)? = nil
    ) {
        self.verbosity = verbosity
        self.output = output
        self.barOutput = barOutput ?? output
    }

    /// This console for somebody who wants to read more, or less.
    func with(_ verbosity: Verbosity) -> Console {
        Console(verbosity, output: output, barOutput: barOutput)
    }

    /// This console with its bar on standard output.
    func withBarOnStandardOutput() -> Console {
        Console(verbosity, output: output) { try? System.write($0, to: System.standardOutput) }
    }

    /// Something failed.
    func error(_ text: String) {
        print(text)
    }

    /// Something is odd, and the work goes on.
    func warning(_ text: String) {
        if !verbosity.isQuiet { print("warning: \(text)") }
    }

    /// Nothing is wrong, and everybody wants to know.
    func remark(_ text: String) {
        if !verbosity.isQuiet { print(text) }
    }

    /// What goes on, for those who asked.
    func note(_ text: @autoclosure () -> String, detail: Int = 1) {
        if verbosity.detail >= detail { print(text()) }
    }

    /// Draws the bar anew.
    func show(bar line: String) {
        bar.withLock { bar in
            guard !bar.isOver else { return }
            bar.line = line
            barOutput("\r\(line)\u{1B}[K")
        }
    }

    /// Takes the bar away for good, whoever may be about to draw it.
    func endBar() {
        bar.withLock { bar in
            if bar.line != nil { barOutput("\r\u{1B}[K") }
            bar = Bar(line: nil, isOver: true)
        }
    }

    private func print(_ text: String) {
        bar.withLock { bar in
            let line = "hemiola: \(text.onOneLine)\n"
            if bar.line != nil { barOutput("\r\u{1B}[K") }
            output(line)
            if let shown = bar.line { barOutput("\(shown)\u{1B}[K") }
        }
    }

    /// Nothing can be done where even this cannot be written.
    static let writeToStandardError: @Sendable (String) -> Void = { text in
        try? System.write(text, to: System.standardError)
    }
}

extension String {
    /// As it can stand in a line of a terminal: what would break the line, act upon the terminal or turn the direction of
    /// writing (all of which a file's name may hold) is written out.
    var onOneLine: String {
        guard unicodeScalars.contains(where: \.isDangerous) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case "\r": text += "\\r"
            case _ where scalar.isDangerous: text += "\\u{\(Self(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isDangerous: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        case .format: return (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
        default: return false
        }
    }
}
