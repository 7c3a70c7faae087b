internal import HemiolaSystem

/// Writes to standard error: errors, warnings, progress, and a status line below them. Thread-safe; only `finish` waits.
final class Console: Sendable {
    /// Which messages are printed.
    struct Verbosity: Sendable, Hashable {
        /// Errors only: no progress bar, no warnings.
        var isQuiet = false
        /// 0: errors and warnings; 1: also the pipeline and a line per input; 2: also all settings.
        var detail = 0
    }

    let verbosity: Verbosity
    private let messages: MessagePrinter
    /// The printer of the status line: that of the messages, unless only one of the two goes to a terminal.
    private let status: MessagePrinter

    private init(_ verbosity: Verbosity, _ messages: MessagePrinter, status: MessagePrinter? = nil) {
        self.verbosity = verbosity
        self.messages = messages
        self.status = status ?? messages
    }

    /// Standard error.
    convenience init(_ verbosity: Verbosity = Verbosity()) {
        let write = Self.write(to: .standardError)
        self.init(verbosity, MessagePrinter(write: write, writeStatus: write))
    }

    /// A console that writes on the caller's thread, for tests.
    ///
    /// - Parameters:
    ///   - output: Receives the text for standard error.
    ///   - barOutput: Receives the status line; nil: `output` receives it.
    convenience init(
        _ verbosity: Verbosity = Verbosity(), output: @escaping @Sendable (String) -> Void,
        barOutput: (@Sendable (String) -> Void)? = nil
    ) {
        self.init(verbosity, MessagePrinter(hasThread: false, write: output, writeStatus: barOutput ?? output))
    }

    /// The same output with another verbosity.
    func with(_ verbosity: Verbosity) -> Console {
        Console(verbosity, messages, status: status)
    }

    /// This console with its status line on standard output, a terminal.
    ///
    /// Where standard error is a terminal too, one thread writes both, so that messages come above the line. Where it is not,
    /// each has a thread: a full pipe does not hold the status line.
    func withBarOnStandardOutput() -> Console {
        let writeStatus = Self.write(to: .standardOutput)
        let isShared = FileDescriptor.standardError.isTerminal
        let printer = MessagePrinter(write: isShared ? Self.write(to: .standardError) : writeStatus, writeStatus: writeStatus)
        return Console(verbosity, isShared ? printer : messages, status: printer)
    }

    /// Lets messages wait while something else fills the terminal, if they go there.
    ///
    /// - Parameter show: Receives each message.
    func hold(_ show: @escaping @Sendable (String) -> Void) {
        if FileDescriptor.standardError.isTerminal { messages.hold(show) }
    }

    /// Prints the messages that have waited.
    func release() {
        messages.release()
    }

    /// Prints an error.
    func error(_ text: String) {
        print(text)
    }

    /// Prints a warning: processing continues. Hidden by `--quiet`.
    func warning(_ text: String) {
        if !verbosity.isQuiet { print("warning: \(text)") }
    }

    /// Prints information for every user. Hidden by `--quiet`.
    ///
    /// - Parameter figure: Lines that are printed below if standard error is a terminal. They may contain control sequences.
    func remark(_ text: String, figure: [String] = []) {
        if !verbosity.isQuiet { announce(text, figure: figure) }
    }

    /// Prints what a user needs to use a sink, such as the URL of a page. Not hidden by `--quiet`.
    ///
    /// - Parameter figure: As that of `remark`.
    func announce(_ text: String, figure: [String]) {
        print(text)
        guard !figure.isEmpty, FileDescriptor.standardError.isTerminal else { return }
        messages.print(figure.joined(separator: "\n") + "\n", isFigure: true)
    }

    /// Prints details at a verbosity of at least `detail`.
    func note(_ text: @autoclosure () -> String, detail: Int = 1) {
        if verbosity.detail >= detail { print(text()) }
    }

    /// Draws the status line again.
    func show(bar line: String) {
        status.show(status: line)
    }

    /// Prints the status line as a line of its own, for a terminal that cannot move the cursor.
    func print(bar line: String) {
        status.print(line + "\n")
    }

    /// Removes the status line; none is drawn afterwards.
    func endBar() {
        status.endStatus()
    }

    /// Waits until all messages are written, or the output has accepted no text for two seconds.
    func finish() {
        messages.finish()
        if status !== messages { status.finish() }
    }

    private func print(_ text: String) {
        messages.print("hemiola: \(text.onOneLine)\n")
    }

    /// A failed write is ignored: there is no other place to report it.
    private static func write(to descriptor: FileDescriptor) -> @Sendable (String) -> Void {
        { text in try? descriptor.writeAll(text) }
    }
}
