internal import ArgumentParser
internal import Hemiola

/// `hemiola`: finds the subcommand, runs it, tells what went wrong.
struct Root: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hemiola",
        abstract: "Hemiola tells what it hears: levels, spectra and more, as JSON Lines.",
        usage: "hemiola <subcommand>",
        discussion: """
            Examples:
              hemiola analyze song.flac
              hemiola analyze song.flac | jq -c '[.t, .levels.rms_db]'
              hemiola analyze *.wav -o levels.jsonl --analyzer levels
              hemiola schema

            Exit codes:
              0  all is well, also when the reader of the output went away
              1  some input could not be analysed, or not wholly; the others were
              2  the command line or the configuration is wrong; nothing was done
              3  output could not be written
              129, 130, 143  ended by SIGHUP, SIGINT or SIGTERM; standard output and recordings have their end,
                 and an old file that the result would have replaced is as it was

            Completion for bash, zsh and fish: hemiola --generate-completion-script <shell>
            """,
        version: HemiolaVersion.current,
        subcommands: [
            AnalyzeCommand.self, ListenCommand.self, BeatsCommand.self, DevicesCommand.self, RunCommand.self, CheckCommand.self,
            EvaluateCommand.self, SendCommand.self, PluginsCommand.self, DoctorCommand.self, SchemaCommand.self,
        ])

    /// Parses the arguments and does what they say.
    static func run(_ arguments: [String], with registry: PluginRegistry, on console: Console) async -> CommandStatus {
        Completions(registry).makeCurrent()
        do throws(Failure) {
            switch try parsed(arguments, columns: System.columns(of: System.standardOutput) ?? 80) {
            case .command(let command): return try await command.run(with: registry, on: console)
            case .text(let text): return try print(text)
            }
        } catch {
            for line in error.lines { console.error(line) }
            return error.status
        }
    }

    /// What arguments ask for.
    enum Request {
        case command(any Command)
        /// Help, the version, a completion script.
        case text(String)
    }

    /// - Parameter columns: The width of the terminal that help is written to; lines longer than 100 are hard to read.
    static func parsed(_ arguments: [String], columns: Int = 80) throws(Failure) -> Request {
        if let command = AnalyzeCommand(plain: arguments) { return .command(command) }
        if let unknown = UnknownCommand(in: arguments) { throw Failure(unknown.message) }
        if let command = subcommand(arguments) { return .command(command) }
        do {
            var command = try parseAsRoot(arguments)
            if let command = command as? any Command { return .command(command) }
            // Help is a command too: running it throws its text.
            try command.run()
            return .text("")
        } catch {
            if exitCode(for: error).isSuccess {
                let text = fullMessage(for: error, columns: min(max(columns, 40), 100))
                return .text(text.hasPrefix("#!/bin/bash") ? BashCompletion.joiningWords(in: text) : text)
            }
            throw Failure(UsageError.line(for: message(for: error), in: arguments))
        }
    }

    /// The subcommand, parsed without the commands above it: that takes 8 % off the processor time from start to first record.
    ///
    /// - Returns: nil for an error, help and the version: the whole tree has their text.
    private static func subcommand(_ arguments: [String]) -> (any Command)? {
        guard let name = arguments.first,
            let type = configuration.subcommands.first(where: { $0._commandName == name || $0.configuration.aliases.contains(name) })
        else { return nil }
        return try? type.parseAsRoot(Array(arguments.dropFirst())) as? any Command
    }

    /// Writes to standard output; that nobody reads it is no failure.
    static func print(_ text: String) throws(Failure) -> CommandStatus {
        do {
            try System.write(text.hasSuffix("\n") ? text : text + "\n", to: System.standardOutput)
        } catch {
            guard error.isBrokenPipe else { throw Failure("cannot write to standard output: \(error)", status: .outputFailed) }
        }
        return .success
    }

    static var commandNames: [String] {
        configuration.subcommands.flatMap { [$0._commandName] + $0.configuration.aliases } + ["help"]
    }
}

/// A word in a subcommand's place that is none.
struct UnknownCommand {
    private var name: String
    /// What stands before it: `help`, or nothing.
    private var isAskedForHelp: Bool

    /// - Returns: nil when the arguments name a subcommand, or begin with an option.
    init?(in arguments: [String]) {
        isAskedForHelp = arguments.first == "help"
        guard let name = isAskedForHelp ? arguments.dropFirst().first : arguments.first,
            !name.hasPrefix("-"), !Root.commandNames.contains(name)
        else { return nil }
        self.name = name
    }

    var message: String {
        if let nearest = name.nearest(in: Root.commandNames) {
            return "there is no command \"\(name)\"; did you mean \(nearest)?"
        }
        if !isAskedForHelp, System.FileIdentity(name) != nil {
            return "there is no command \"\(name)\"; to analyse that file: hemiola analyze \(name)"
        }
        return "there is no command \"\(name)\"; there are: \(Root.commandNames.joined(separator: ", "))"
    }
}

/// The argument parser's messages, brought into one line.
enum UsageError {
    /// - Parameter message: `Unknown option '--bach'. Did you mean '--batch'?`
    /// - Returns: `unknown option '--bach'; did you mean '--batch'? See hemiola analyze --help`
    static func line(for message: String, in arguments: [String]) -> String {
        var text = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if let range = text.firstRange(of: ". Did you mean") {
            text.replaceSubrange(range, with: "; did you mean")
        }
        if let range = text.firstRange(of: " or: Missing") {
            text.replaceSubrange(range, with: ", or missing")
        }
        if text.last == "." { text.removeLast() }
        let command = arguments.first.flatMap { Root.commandNames.contains($0) && $0 != "help" ? " \($0)" : nil } ?? ""
        return text.prefix(1).lowercased() + text.dropFirst() + (text.last == "?" ? " See" : "; see")
            + " hemiola\(command) --help"
    }
}
