internal import HemiolaRecords
internal import HemiolaSystem

/// The progress of a request on standard error, if that is a terminal.
final class RequestProgress {
    private let title: String
    private let console: Console?
    private var isShown = false

    /// - Parameter console: nil: the progress is not shown.
    init(_ title: String, on console: Console?) {
        self.title = title
        let fits = FileDescriptor.standardError.isTerminal && ProgressLine.canMoveCursor(EnvironmentVariable.value("TERM"))
        self.console = fits ? console : nil
    }

    /// Shows the progress that a page reports: a number from 0 to 1, or a text.
    func show(_ value: JSONValue?) {
        if let number = value?.double, (0...1).contains(number) {
            return show { ProgressLine(name: title, fraction: number, seconds: 0).rendered(width: $0, style: $1) }
        }
        guard let text = value?.string else { return }
        show { "\(title): \(text)".onOneLine.shortened(to: $0 - 1, $1) }
    }

    private func show(_ text: (_ width: Int, TerminalStyle) -> String) {
        guard let console else { return }
        isShown = true
        let width = FileDescriptor.standardError.columns
        console.show(bar: text(width, TerminalStyle(environment: EnvironmentVariable.value)))
    }

    /// Removes the line before the result is printed.
    func end() {
        guard let console, isShown else { return }
        console.endBar()
        console.finish()
    }
}
