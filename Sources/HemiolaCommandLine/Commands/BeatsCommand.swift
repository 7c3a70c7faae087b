internal import ArgumentParser
internal import Hemiola

struct BeatsCommand: PipelineCommand {
    static let configuration = CommandConfiguration(
        commandName: "beats",
        abstract: "Detect the beats of sound files and print their times.",
        usage: "hemiola beats [<options>] <file> ...",
        discussion: """
            One line per beat: the time in seconds, a tab, the position in the bar (1 = downbeat). A file is read as a whole before \
            the first beat is written. --causal detects each beat from the preceding audio only, as "listen" does; so do pipes.

            Examples:
              hemiola beats song.flac
              hemiola beats song.flac -o song.mid
              hemiola beats song.flac --format audacity > labels.txt
              hemiola beats *.flac -o 'beats/{stem}.beats'
              hemiola beats *.flac -o rekordbox.xml
              hemiola beats *.flac --tempo
              hemiola beats music --output-dir beats --format json --resume

            Formats: text, audacity (label track), json, jams, midi (tempo map and clicks), rekordbox (XML collection), \
            xtiming (timing tracks of xLights: beats, bars and sections), edl (markers on them for DaVinci Resolve; needs --fps). \
            Default: by the extension of the output path, else text. Details: hemiola plugins beats.

            Placeholders in the output path: {stem} (input file name without extension), {name} (file name), {dir} (folder), \
            {time} (start of the run). Missing folders are created. An existing file is replaced only when the run is complete.

            Exit codes: 0 success; 1 at least one file failed or was incomplete; 2 invalid arguments; 3 output could not be \
            written.
            """)

    @OptionGroup(title: "Input") var input: InputOptions

    @OptionGroup var lookAhead: LookAheadOptions

    @Option(
        name: .customLong("analyzer"),
        help: ArgumentHelp("Settings of beat, as in beat:min_bpm=90,max_bpm=180.", valueName: "spec"),
        completion: Completions.analyzer)
    var analyzers: [String] = []

    @Option(
        help: ArgumentHelp(
            "Output format: \(Self.endings.map(\.key).joined(separator: ", ")). Default: by the extension of the output path, else text.",
            valueName: "format"),
        completion: .list(Self.endings.map(\.key)))
    var format: String?

    @Option(help: ArgumentHelp("Frame rate of the timeline for which the markers of edl are, as in 25 or 29.97.", valueName: "rate"))
    var fps: Double?

    @Flag(
        help: """
            Print the tempo of each file in BPM, and not its beats; where it changes, all tempi. A file without a tempo has -. Of several files, the name and a tab precede it.
            """)
    var tempo = false

    /// The formats, and the extensions of their files below `--output-dir`.
    private static let endings: KeyValuePairs = [
        "text": "beats", "audacity": "txt", "json": "json", "jams": "jams", "midi": "mid", "rekordbox": "xml",
        "xtiming": "xtiming", "edl": "edl",
    ]

    @OptionGroup(title: "Many files") var corpus: CorpusOptions

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: ArgumentHelp(
            "Write to this file, one per input with '{stem}.txt'. Default: standard output. Placeholders: {stem}, {name}, {dir}, {time}.",
            valueName: "path"),
        completion: .file())
    var outputs: [String] = []

    var output: String? { outputs.first }

    @OptionGroup var writing: WritingOptions

    @OptionGroup var replay: ReplayOptions

    @OptionGroup var console: ConsoleOptions

    func validate() throws {
        try OutputOptions.checkSingle(outputs)
        if tempo, format != nil { throw ValidationError("--tempo and --format exclude each other; leave one out") }
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        if let folder = try corpus.folder(input, replay) {
            return try corpusRun(with: registry).run(into: folder, with: registry, on: console)
        }
        return try builder(with: registry).assemble().run(on: console, replaying: try replay.read(registry.catalog))
    }

    private func builder(with registry: PluginRegistry) throws(Failure) -> ConfigurationBuilder {
        var builder = try analysis(with: registry)
        try builder.setInputs(input)
        builder.configuration.jobCount = input.jobCount
        var sink = PluginSpec("beats")
        sink.settings["path"] = output.map { .text($0) }
        sink.settings["format"] = (tempo ? "tempo" : format).map { .text($0) }
        sink.settings["fps"] = fps.map { .number($0) }
        try builder.addSink(sink, output: output)
        return builder
    }

    /// The configuration without inputs and sinks.
    private func analysis(with registry: PluginRegistry) throws(Failure) -> ConfigurationBuilder {
        var builder = ConfigurationBuilder(registry)
        builder.configuration.usesLookAhead = lookAhead.usesLookAhead
        builder.configuration.syncsFiles = writing.sync
        try builder.setAnalyzers(analyzers, besides: [PluginSpec("beat")])
        if builder.configuration.analyzers.count > 1 || builder.configuration.analyzers.contains(where: { $0.id != "beat" }) {
            throw Failure("--analyzer: beats are those of the analyzer \"beat\"; for other analyzers, use hemiola analyze")
        }
        return builder
    }

    private func corpusRun(with registry: PluginRegistry) throws(Failure) -> CorpusRun {
        if output != nil { throw Failure("--output-dir and --output exclude each other: the results are in the folder") }
        if tempo { throw Failure("--output-dir and --tempo exclude each other; write one table of all songs with --tempo -o FILE") }
        let format = format ?? "text"
        var sink = PluginSpec("beats", settings: ["format": .text(format)])
        sink.settings["fps"] = fps.map { .number($0) }
        return CorpusRun(
            builder: try analysis(with: registry), input: input, sink: sink,
            ending: Self.endings.first { $0.key == format }?.value ?? format, hasHeader: false, resumes: corpus.resume)
    }
}
