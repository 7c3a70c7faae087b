internal import HemiolaRecords
public import HemiolaSystem

/// The settings of every plugin that starts a program: `command`, `timeout_s` and `on_error`.
///
/// They are all settings of a plugin, or a part of them: `program = ProgramSettings(&read)`. Call `check` where the plugin is made.
public struct ProgramSettings: PluginSettings {
    /// Longest pause before a program that fails is started again, in seconds.
    public static let longestPause = 10.0

    /// The program.
    public var command: ProgramCommand
    /// Seconds in which the program must read, answer or end; from files, processor time that it may use for that (`ProgramTimeLimit`).
    public var timeout: Double
    /// What happens when it fails: with `fail`, it is started again in real time.
    public var policy: FailurePolicy

    public init(_ read: inout SettingReader) {
        command = read.command(
            "command", example: "./PROGRAM",
            "The program: text for /bin/sh -c, or in a pipeline file a list of the program and its arguments.")
        timeout = read.seconds(
            "timeout_s", default: 10, in: 0.1...3600,
            "Time in which the program must read, answer or end; from files, processor time that it may use for that.")
        policy = read.failurePolicy()
    }

    /// Checks the command.
    ///
    /// - Throws: There is no command, or none that can be started.
    public func check() throws(Problem) {
        guard !command.isEmpty else {
            throw Problem("the command is empty; write exec:COMMAND, for example exec:./program", at: "command")
        }
        let words: [String] =
            switch command {
            case .shell(let text): [text]
            case .arguments(let words): words
            }
        if words.contains(where: { $0.unicodeScalars.contains("\0") }) {
            throw Problem("the command contains a NUL character", at: "command")
        }
    }

    /// The program's name in messages: `exec:./lights --port 9000`, at most 80 characters of the command, on one line.
    public var name: String {
        let text = PathText.shown(command.text).onOneLine
        return "exec:" + (text.count > 80 ? text.prefix(79) + "…" : text)
    }
}
