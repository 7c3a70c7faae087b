internal import ArgumentParser
internal import Hemiola
internal import HemiolaEngine

struct ReplayCommand: PipelineCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send recorded records to sinks, at the speed of the music.",
        usage: "hemiola replay [<options>] <recording>",
        discussion: """
            A recording is the JSON Lines of "analyze" or "listen", plain or compressed with zstd, with one or more streams. \
            Nothing is analysed: each batch with its events is sent when its audio has ended, as in "listen". Sinks that send \
            samples to visualizers get those of --audio, or silence. On a terminal, the view of "listen" shows the recording.

            Examples:
              hemiola replay song.jsonl --audio song.flac --sink socket
              hemiola replay evening.jsonl.zst --sink socket --sink presets:list=presets/
              hemiola replay song.jsonl --no-realtime -o song.csv
              hemiola listen --json | hemiola replay - --sink socket

            The recording needs its header records. A sink that needs the outputs of an analyzer needs them in the recording. \
            Presets that a sink derives replace the recorded ones; recorded controls are applied to it again.

            A paced replay writes output files line by line and never replaces an existing file; with --no-realtime, files are \
            created when the replay is complete. Records that are written again without changes are the same, byte for byte.

            Exit codes: 0 success; 1 the recording could not be read, or is cut off or damaged (the records before were sent); 2 \
            invalid arguments; 3 output could not be written; 130 ended by Ctrl-C.
            """)

    @Argument(
        help: ArgumentHelp("JSON Lines that \"analyze\" or \"listen\" wrote; - reads standard input.", valueName: "recording"),
        completion: .file())
    var recording: String

    @Option(
        help: ArgumentHelp(
            "The recorded sound file, for sinks that send samples; repeatable: one for each stream, in order.", valueName: "file"),
        completion: .file())
    var audio: [String] = []

    @Flag(inversion: .prefixedNo, help: "At the speed of the music, or as fast as possible.")
    var realtime = true

    @OptionGroup var writing: OutputOptions

    @OptionGroup var console: ConsoleOptions

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        try builder(with: registry).assemble(replaying: recording).run(on: console)
    }

    private func builder(with registry: PluginRegistry) throws(Failure) -> ConfigurationBuilder {
        if recording.isEmpty || audio.contains("") { throw Failure("a file name is empty; is a variable of the shell unset?") }
        if ([recording] + audio).count(where: { $0 == "-" }) > 1 {
            throw Failure("- is given more than once; standard input can be read only once")
        }
        var builder = ConfigurationBuilder(registry)
        builder.configuration.captures = audio.map { captureSpec(for: $0) }
        builder.configuration.isPaced = realtime
        try builder.set(writing, defaultSink: realtime && writing.showsView ? SinkPlugin.terminalID : SinkPlugin.jsonLinesID)
        return builder
    }
}
