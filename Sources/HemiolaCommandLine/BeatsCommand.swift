internal import ArgumentParser
internal import Hemiola

/// `hemiola beats FILE…`
struct BeatsCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "beats",
        abstract: "Find the beats of sound files, and write nothing else.",
        usage: "hemiola beats [<options>] <file> ...",
        discussion: """
            A line per beat: seconds, a tab, the place in the bar (1 = downbeat). The whole file is read before the first beat is \
            written: what follows a beat helps to find it. "analyze" and "listen" find each beat from what came before it; --causal \
            does so here.

            Examples:
              hemiola beats song.flac
              hemiola beats song.flac -o song.mid
              hemiola beats song.flac --format audacity > labels.txt
              hemiola beats *.flac -j0 -o 'beats/{stem}.beats'

            Formats: text, audacity (label tracks), json, jams, midi (a tempo map and clicks). A path's ending names one, \
            too. Placeholders in a path: {stem}, {name} and {dir} of the input (its name without its ending, its name, its \
            folder), and {time}, the start of the run. Missing folders are created. A file replaces an old one only when the \
            run is complete. More of each format: hemiola plugins beats.

            Exit codes: 0 all is well; 1 some file could not be analysed, or not wholly; 2 the command line is wrong; \
            3 output could not be written.
            """)

    @OptionGroup(title: "Input") var input: InputOptions

    @Flag(help: "Find each beat from what came before it, as listen does.")
    var causal = false

    @Option(
        help: ArgumentHelp("How beats are written: text, audacity, json, jams or midi.", valueName: "format"),
        completion: .list(["text", "audacity", "json", "jams", "midi"]))
    var format: String?

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp("Write to this file; {stem}, {name}, {dir} and {time} in it are placeholders.", valueName: "path"),
        completion: .file())
    var output: String?

    @OptionGroup var writing: WritingOptions

    @OptionGroup var replay: ReplayOptions

    @OptionGroup var console: ConsoleOptions

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        let plan = try PipelinePlan(registry, self)
        return await PipelineSession(
            try plan.assemble(), usesStandardOutput: plan.usesStandardOutput, replay: try replay.read(registry.catalog),
            console: console.with(self.console.verbosity)
        ).run()
    }
}
