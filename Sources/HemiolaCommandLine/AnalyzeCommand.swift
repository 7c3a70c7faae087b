internal import ArgumentParser
internal import Hemiola

/// `hemiola analyze FILE…`
struct AnalyzeCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "analyze",
        abstract: "Analyse sound files and write what is heard as JSON Lines.",
        usage: "hemiola analyze [<options>] <file> ...",
        discussion: """
            Every file becomes a header line, a line per batch of 1024 frames, and an end line; with several files \
            each line says of which it is. "hemiola schema" describes them.

            Examples:
              hemiola analyze song.flac -o song.jsonl --analyzer +spectrum:bands=8
              hemiola analyze *.flac -j0 -o 'out/{dir}/{stem}.jsonl'
              find . -name '*.wav' | hemiola analyze --files-from - -j0 -o all.jsonl
              ffmpeg -v error -i song.m4a -f wav - | hemiola analyze -
              hemiola analyze --capture tone:sine,seconds=1

            The ending of an output path chooses the format: .jsonl, .json or none for JSON Lines, .csv for a table, each also \
            compressed with .zst. A file appears when it is complete; with --realtime it grows line by line and never \
            replaces another. Placeholders in a path: {stem}, {name} and {dir} of the input, so that each input has a file, \
            and {time}, the start of the run. Missing folders are created.

            When a run is interrupted, an old file stays as it was; a new one holds what was written until then, and its \
            last line says "interrupted".

            Beats are found from what came before them, so that the records are those that "listen" writes of the same sound. \
            --whole-file lets analyzers read the whole file first, as "beats" does: better beats, which no live run can have.

            A <spec> is a plugin's id and its settings: id:key=value,key=value. A value without a key is the plugin's \
            main setting, as in json-lines:song.jsonl,select=header+end. \\, is a comma in a value, and as=NAME names \
            a second plugin of a kind.

            A progress bar appears on a terminal when the work takes a while and no records go there, nor into a pipe. \
            NO_COLOR and TERM=dumb are honoured.

            Exit codes: 0 all is well; 1 some file could not be analysed, or not wholly; 2 the command line is wrong; \
            3 output could not be written. See "hemiola --help".
            """)

    @OptionGroup(title: "Input") var input: InputOptions

    @OptionGroup(title: "Input") var capture: CaptureOptions

    @OptionGroup(title: "Pipeline") var options: PipelineOptions

    @Flag(help: "Take the time that the sound takes.")
    var realtime = false

    @Flag(
        help: """
            Let analyzers look at the whole file before they answer: better beats, not what "listen" would print.
            """)
    var wholeFile = false

    @OptionGroup var replay: ReplayOptions

    @OptionGroup var console: ConsoleOptions

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        let plan = try plan(with: registry)
        let pipeline = try plan.assemble()
        return await PipelineSession(
            pipeline, usesStandardOutput: plan.usesStandardOutput, replay: try replay.read(registry.catalog),
            console: console.with(self.console.verbosity)
        ).run()
    }

    func plan(with registry: PluginRegistry) throws(Failure) -> PipelinePlan {
        try PipelinePlan(
            registry, input, captures: capture.captures, options: options, isPaced: realtime, usesLookAhead: wholeFile)
    }
}
