/// Standard error, for people: errors, warnings, progress, and a status line below them. Thread-safe; only `finish` waits.
final class Console: Sendable {
    /// How much a person wants to read.
    struct Verbosity: Sendable, Hashable {
        /// No progress bar, no warnings; errors only.
        var isQuiet = false
        /// 0: what went wrong; 1: also what runs and a line per input; 2: also all settings.
        var detail = 0
    }

    let verbosity: Verbosity
    private let messages: MessagePrinter
    /// The printer of the status line: that of the messages, unless only one of the two goes to a terminal.
    private let status: MessagePrinter

    /// Standard error.
    convenience init(_ verbosity: Verbosity = Verbosity()) {
        let printer = MessagePrinter(write: Self.write(to: System.standardError), writeStatus: Self.write(to: System.standardError))
        self.init(verbosity, messages: printer, status: printer)
    }

    /// A console that writes on the caller's thread, for tests.
    ///
    /// - Parameters:
    ///   - output: Takes what would be written to standard error.
    ///   - barOutput: Takes the status line; nil: the same.
    convenience init(
        _ verbosity: Verbosity = Verbosity(), output: @escaping @Sendable (String) -> Void,
        barOutput: (@Sendable (String) -> Void)? = nil
    ) {
        let printer = MessagePrinter(hasThread: false, write: output, writeStatus: barOutput ?? output)
        self.init(verbosity, messages: printer, status: printer)
    }

    private init(_ verbosity: Verbosity, messages: MessagePrinter, status: MessagePrinter) {
        self.verbosity = verbosity
        self.messages = messages
        self.status = status
    }

    /// The same output for a person who wants to read more, or less.
    func with(_ verbosity: Verbosity) -> Console {
        Console(verbosity, messages: messages, status: status)
    }

    /// This console with its status line on standard output, a terminal.
    ///
    /// Where standard error is a terminal too, one thread writes both, so that messages come above the line. Where it is not,
    /// each has a thread: a full pipe does not hold the status line.
    func withBarOnStandardOutput() -> Console {
        let writeStatus = Self.write(to: System.standardOutput)
        let isShared = System.destination(of: System.standardError) == .terminal
        let write = isShared ? Self.write(to: System.standardError) : writeStatus
        let printer = MessagePrinter(write: write, writeStatus: writeStatus)
        return Console(verbosity, messages: isShared ? printer : messages, status: printer)
    }

    /// Something failed.
    func error(_ text: String) {
        print(text)
    }

    /// Something is odd, and the work goes on.
    func warning(_ text: String) {
        if !verbosity.isQuiet { print("warning: \(text)") }
    }

    /// Nothing is wrong, and every user is to read it.
    func remark(_ text: String) {
        if !verbosity.isQuiet { print(text) }
    }

    /// Progress, for users who asked for it.
    func note(_ text: @autoclosure () -> String, detail: Int = 1) {
        if verbosity.detail >= detail { print(text()) }
    }

    /// Draws the status line again.
    func show(bar line: String) {
        status.show(status: line)
    }

    /// Removes the status line; none is drawn afterwards.
    func endBar() {
        status.endStatus()
    }

    /// Starts the threads that write, before the first message does.
    func start() {
        messages.start()
        status.start()
    }

    /// Waits until everything is written; gives up when the output accepts nothing for two seconds.
    func finish() {
        messages.finish()
        if status !== messages { status.finish() }
    }

    private func print(_ text: String) {
        messages.print("hemiola: \(text.onOneLine)\n")
    }

    /// A failed write is ignored: there is no other place to report it.
    private static func write(to descriptor: Int32) -> @Sendable (String) -> Void {
        { text in try? System.write(text, to: descriptor) }
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
