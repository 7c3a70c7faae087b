internal import ArgumentParser
internal import Hemiola

/// `hemiola`: parses the arguments, runs the subcommand and prints its errors.
struct Root: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hemiola",
        abstract: "Analyse sound files and live audio: levels, spectrum, beats and visualizer data, as JSON Lines.",
        usage: "hemiola <subcommand>",
        discussion: """
            Examples:
              hemiola analyze song.flac
              hemiola analyze song.flac | jq -c '[.t, .levels.rms_db]'
              hemiola analyze *.wav -o levels.jsonl --analyzer levels
              hemiola beats song.flac
              hemiola schema

            Exit codes:
              0  success; also when the reader of standard output closed it early
              1  at least one input failed or was incomplete; the others were analysed
              2  invalid arguments or configuration; nothing was done
              3  output could not be written
              129, 130, 138, 140, 143  ended by SIGHUP, SIGINT, SIGUSR1, SIGUSR2 or SIGTERM;
                 standard output and recordings have an end record, other existing files are
                 unchanged

            Shell completion (bash, zsh, fish): hemiola --generate-completion-script bash
            Version, commit, compiler and libraries: hemiola --version --verbose
            """,
        version: HemiolaVersion.current,
        subcommands: [
            AnalyzeCommand.self, ListenCommand.self, BeatsCommand.self, RenderCommand.self, FilmCommand.self, ReplayCommand.self,
            DevicesCommand.self, RunCommand.self, CheckCommand.self, EvaluateCommand.self, SendCommand.self, WindowCommand.self,
            PluginsCommand.self,
            PresetsCommand.self, DemoCommand.self, DoctorCommand.self, SchemaCommand.self,
        ])

    /// The text of `hemiola` without arguments: at most 10 lines of 80 columns, each command alone on its line.
    private static let firstSteps = """
        Hemiola \(HemiolaVersion.current): levels, spectrum, beats and more of music, as JSON Lines.

        See it work, with generated music, in this terminal and in a browser:
          hemiola demo

        Print the beats of a song, with their positions in the bar:
          hemiola beats song.flac

        The music that this computer plays: hemiola listen. All commands: hemiola --help
        Does anything fail? hemiola doctor checks this computer and suggests fixes.
        """

    /// Parses the arguments and runs the command.
    static func run(_ arguments: [String], with plugins: PluginRegistry, on console: Console) -> CommandStatus {
        let registry = plugins.adding(sinks: [.terminal(on: console)])
        Completions(registry).makeCurrent()
        do {
            switch try parsed(arguments, columns: FileDescriptor.standardOutput.columns) {
            case .command(let command): return try command.run(with: registry, on: console.with(command.verbosity))
            case .text(let text): return try print(text)
            case .versionReport: return try print(VersionReport.current(registry).text)
            }
        } catch {
            for line in error.lines { console.error(line) }
            return error.status
        }
    }

    /// The result of parsing the arguments.
    enum Request {
        case command(any Command)
        /// Text to print: help, the version or a completion script.
        case text(String)
        /// The version, with the libraries of the program and its plugins.
        case versionReport
    }

    /// - Parameter columns: The width of the terminal. Help is wrapped at this width, at most 100 columns.
    static func parsed(_ arguments: [String], columns: Int = 80) throws(Failure) -> Request {
        if arguments.isEmpty { return .text(firstSteps) }
        if VersionReport.isRequested(by: arguments) { return .versionReport }
        if let message = UsageError.unknownCommand(in: arguments) { throw Failure(message) }
        let options = arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("-") && $0 != "-" }
        // A shell replaces *.flac by all names, and -dash.flac contains the option -h.
        if let name = options.first(where: FileSystem.exists) { throw UsageError.dash(name) }
        do {
            var command = try parseAsRoot(arguments)
            if let command = command as? any Command { return .command(command) }
            // `help` is parsed as a command; running it throws its text.
            try command.run()
            return .text("")
        } catch {
            if exitCode(for: error).isSuccess {
                let isRequested = ["-h", "-help", "--help"].contains(where: options.contains)
                if !isRequested, let name = options.first(where: { !$0.hasPrefix("--") && $0.contains("h") }) {
                    throw UsageError.dash(name)
                }
                let isShort = arguments.contains("-h") && !arguments.contains("--help")
                if isShort { return .text(ShortHelp.text(of: fullMessage(for: error, columns: 10_000), columns: columns)) }
                let text = fullMessage(for: error, columns: min(max(columns, 40), 100))
                return .text(text.hasPrefix("#!/bin/bash") ? BashCompletion.joiningWords(in: text) : text)
            }
            throw Failure(UsageError.line(for: message(for: error), in: arguments))
        }
    }

    /// Writes text for people, or JSON, to standard output. A closed pipe (EPIPE) is not an error.
    static func print(_ text: String) throws(Failure) -> CommandStatus {
        do {
            try FileDescriptor.standardOutput.writeAll((text.hasSuffix("\n") ? text : text + "\n").printable)
        } catch {
            guard error.code == .brokenPipe else { throw Failure("cannot write to standard output: \(error)", status: .outputFailed) }
        }
        return .success
    }

    static var commandNames: [String] {
        configuration.subcommands.flatMap { [$0._commandName] + $0.configuration.aliases } + ["help"]
    }
}

/// Converts a message of the argument parser to one line.
enum UsageError {
    /// What leads to the result that an option of another program, or a likely one, names.
    private static let answers = [
        "--csv": "for a table: -o FILE.csv", "--bpm": "for the tempo of songs: hemiola beats --tempo FILE",
        "--parquet": "for Parquet: -o FILE.jsonl, then python3 -m hemiola_audio to-parquet FILE.jsonl",
        "--format": "the extension of -o FILE selects the format: .jsonl, .csv; beats has --format",
        "--key": "for the key of songs: hemiola analyze --summary --select key FILE",
        "--live": "for live sound: hemiola listen",
    ]

    /// The message for a first argument that is neither an option nor the name of a subcommand, also after `help`; nil: it is one.
    static func unknownCommand(in arguments: [String]) -> String? {
        let isHelpRequest = arguments.first == "help"
        guard let name = arguments.dropFirst(isHelpRequest ? 1 : 0).first, !name.hasPrefix("-"), !Root.commandNames.contains(name)
        else { return nil }
        let isFile = !isHelpRequest && (try? FileSystem.status(of: name).kind) == .file && name.nearest(in: Root.commandNames) == nil
        let hint = isFile ? "to analyse that file: hemiola analyze \(name)" : name.suggestion(among: Root.commandNames, "commands")
        return "unknown command \"\(name)\"; \(hint)"
    }

    /// The fault of a file name that the parser takes for options.
    static func dash(_ name: String) -> Failure {
        let name = PathText.shown(name).onOneLine
        return Failure("\(name): a name that begins with - is read as options; write ./\(name)")
    }

    /// - Parameter message: `Unknown option '--bach'. Did you mean '--batch'?`
    /// - Returns: `unknown option '--bach'; did you mean '--batch'? See hemiola analyze --help`
    static func line(for message: String, in arguments: [String]) -> String {
        var text = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if let range = text.firstRange(of: ". Did you mean") {
            // What is suggested may have little more than its dashes in common with what was typed.
            let names = text.split(separator: "'").filter { $0.hasPrefix("-") }.map { String($0.drop { $0 == "-" }) }
            let isLike = names.count == 2 && names[0].nearest(in: [names[1]]) != nil
            text.replaceSubrange(isLike ? range : range.lowerBound..<text.endIndex, with: isLike ? "; did you mean" : "")
        }
        if let range = text.firstRange(of: " or: Missing") {
            text.replaceSubrange(range, with: ", or missing")
        }
        if text.last == "." { text.removeLast() }
        // The name of what others call it: the answer is another option.
        if let option = text.split(separator: "'").dropFirst().first, text.hasPrefix("Unknown option"), let answer = answers[String(option)]
        {
            return "unknown option '\(option)'; \(answer)"
        }
        let command = arguments.first.flatMap { Root.commandNames.contains($0) && $0 != "help" ? " \($0)" : nil } ?? ""
        return text.prefix(1).lowercased() + text.dropFirst() + (text.last == "?" ? " See" : "; see")
            + " hemiola\(command) --help"
    }
}
