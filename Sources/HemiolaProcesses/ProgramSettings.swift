public import Hemiola
internal import HemiolaSignal

/// What happens when a program fails: it ends with an error, does not answer, or sends what it must not send.
public enum FailurePolicy: String, SettingChoice {
    /// `retry` in real time, `fail` from files.
    case auto
    /// The failure ends the input or the sink.
    case fail
    /// The program is started again.
    case retry
    /// The rest of the stream is processed without the program.
    case skip

    /// The policy in a run.
    ///
    /// - Parameter isLive: Whether the run takes place in real time.
    public func resolved(isLive: Bool) -> FailurePolicy {
        self == .auto ? isLive ? .retry : .fail : self
    }
}

/// The settings of every plugin that starts a program.
public struct ProgramSettings: Sendable {
    private static let command = Setting(
        "command", default: ProgramCommand.shell(""), example: "./PROGRAM",
        "The program: text for /bin/sh -c, or in a pipeline file a list of the program and its arguments.")
    private static let timeout = Setting(
        "timeout_s", default: 10.0, in: 0.1...3600, unit: .seconds, "Time in which the program must read, answer or end.")
    private static let onError = Setting(
        "on_error", default: FailurePolicy.auto,
        "When the program fails: end with an error (fail), start it again (retry), go on without it (skip); auto: retry in real time, "
            + "else fail.")

    /// Their declarations, in order. The first is the primary one.
    public static var declared: [DeclaredSetting] { [command.declared, timeout.declared, onError.declared] }
    /// The key of the primary one.
    public static var primary: String { command.key }

    /// The program.
    public var command: ProgramCommand
    /// Seconds in which the program must read, answer or end.
    public var timeout: Double
    /// What happens when it fails.
    public var policy: FailurePolicy

    /// The values of the settings.
    ///
    /// - Throws: There is no command.
    public init(_ settings: SettingValues) throws(ConfigurationError) {
        command = settings[Self.command]
        timeout = settings[Self.timeout]
        policy = settings[Self.onError]
        guard !command.isEmpty else {
            throw ConfigurationError("the command is empty; write exec:COMMAND, for example exec:./program", at: Self.command.key)
        }
        let words: [String] =
            switch command {
            case .shell(let text): [text]
            case .arguments(let words): words
            }
        if words.contains(where: { $0.unicodeScalars.contains("\0") }) {
            throw ConfigurationError("the command contains a NUL character", at: Self.command.key)
        }
    }

    /// The program's name in messages: `exec:./lights --port 9000`, at most 80 characters of the command, on one line.
    public var name: String {
        let text = PathText.shown(command.text).onOneLine
        return "exec:" + (text.count > 80 ? text.prefix(79) + "…" : text)
    }
}
