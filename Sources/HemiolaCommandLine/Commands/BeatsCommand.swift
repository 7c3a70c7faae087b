internal import ArgumentParser
internal import Hemiola
internal import HemiolaRecords

/// `hemiola beats FILE…`
struct BeatsCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "beats",
        abstract: "Detect the beats of sound files and print their times.",
        usage: "hemiola beats [<options>] <file> ...",
        discussion: """
            One line per beat: the time in seconds, a tab, the position in the bar (1 = downbeat). The whole file is read before \
            the first beat is written, which is more accurate than "analyze" and "listen": those detect each beat from the \
            preceding audio only. --causal selects that method here.

            Examples:
              hemiola beats song.flac
              hemiola beats song.flac -o song.mid
              hemiola beats song.flac --format audacity > labels.txt
              hemiola beats *.flac -j0 -o 'beats/{stem}.beats'
              hemiola beats *.flac -j0 -o rekordbox.xml

            Formats: text, audacity (label track), json, jams, midi (tempo map and clicks), rekordbox (XML collection), \
            mixxx (SQL script). Default: by the extension of the output path, else text. Details: hemiola plugins beats.

            Placeholders in the output path: {stem} (input file name without extension), {name} (file name), {dir} (folder), \
            {time} (start of the run). Missing folders are created. An existing file is replaced only when the run is complete.

            Exit codes: 0 success; 1 at least one file failed or was incomplete; 2 invalid arguments; 3 output could not be \
            written.
            """)

    @OptionGroup(title: "Input") var input: InputOptions

    @Flag(help: "Detect each beat from the preceding audio only, as \"listen\" does.")
    var causal = false

    @Option(
        help: ArgumentHelp("Output format: text, audacity, json, jams, midi, rekordbox or mixxx.", valueName: "format"),
        completion: .list(["text", "audacity", "json", "jams", "midi", "rekordbox", "mixxx"]))
    var format: String?

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: ArgumentHelp(
            "Write to this file instead of standard output. Placeholders: {stem}, {name}, {dir}, {time}.", valueName: "path"),
        completion: .file())
    var outputs: [String] = []

    /// The only output path.
    var output: String? { outputs.first }

    @OptionGroup var writing: WritingOptions

    @OptionGroup var replay: ReplayOptions

    @OptionGroup var console: ConsoleOptions

    func validate() throws {
        try OutputOptions.checkSingle(outputs)
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        let builder = try builder(with: registry)
        return try builder.assemble().run(
            on: console.with(self.console.verbosity), usesStandardOutput: builder.usesStandardOutput,
            replaying: try replay.read(registry.catalog))
    }

    private func builder(with registry: PluginRegistry) throws(Failure) -> ConfigurationBuilder {
        var builder = ConfigurationBuilder(registry)
        builder.configuration.captures = try input.captures(registry.soundFileTypes)
        builder.configuration.usesLookAhead = !causal
        builder.configuration.jobCount = input.jobCount
        builder.configuration.syncsFiles = writing.sync
        try builder.setAnalyzers(["beat"])
        var sink = PluginSpec("beats")
        sink.settings["path"] = output.map { .text($0) }
        sink.settings["format"] = format.map { .text($0) }
        try builder.addSink(sink, output: output)
        try builder.checkThatNoInputIsOverwritten()
        return builder
    }
}
