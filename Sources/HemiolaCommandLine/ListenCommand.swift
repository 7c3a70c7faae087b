internal import ArgumentParser
internal import Hemiola

/// `hemiola listen`
struct ListenCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Analyse what this machine is playing, as it plays.",
        usage: "hemiola listen [<options>]",
        discussion: """
            Hears the monitor of the default output and follows it when it changes; never a microphone, unless one is named. \
            On a terminal it shows one live line: source, level, bars, tempo, losses; also when records go to a file (-o) or to \
            sinks that do not write to standard output. Into a pipe or a file go JSON Lines, a line per batch, each written at \
            once. --json, --select and --sink json-lines write them to a terminal too.

            Keys in the live line: space taps a beat; l locks or unlocks the tempo; h and d take half or double the tempo; \
            left and right (or up and down) go to the previous or next preset; q quits.

            Examples:
              hemiola listen
              hemiola listen --json | jq -c '[.t, .levels.rms_db]'
              hemiola listen --device app:Firefox -o 'evening-{time}.jsonl'
              hemiola listen --wait --sink socket --sink presets
              hemiola listen --capture tone:clicks

            A <device> is a name or description that "hemiola devices" lists, auto (what the default output plays), auto-input (the \
            default input, unless it is a headset's), or app:NAME (the sound of one application, silence while it has none).

            A file grows line by line and is kept when the disk is full or the program is killed. One that exists is never \
            replaced: write {time}, the start of the run, into the path. rotate_s=3600 begins a new file every hour: \
            --sink json-lines:evening.jsonl,rotate_s=3600

            When the sound server or the device goes, it waits until it is back and tells the loss as a gap.

            Exit codes: 0 all is well; 1 the source could not be opened; 2 the command line is wrong; 3 output could not be \
            written; 130 ended by Ctrl-C. See "hemiola --help".
            """)

    @Option(
        help: ArgumentHelp("What to capture: a name, a description, auto, auto-input or app:NAME.", valueName: "device"),
        completion: Completions.device)
    var device: String?

    @Option(
        help: ArgumentHelp(
            "Frames a second that the sound server is asked for; native: those of the device.", valueName: "hertz"))
    var rate: SampleRateOption = .hertz(44_100)

    @Flag(help: "Wait for a sound server and a device that are not there yet.")
    var wait = false

    @OptionGroup var capture: CaptureOptions

    @Flag(help: "JSON Lines, also on a terminal.")
    var json = false

    @OptionGroup(title: "Pipeline") var options: PipelineOptions

    @OptionGroup var replay: ReplayOptions

    @OptionGroup var console: ConsoleOptions

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        var console = console.with(self.console.verbosity)
        var registry = registry
        let output = System.destination(of: System.standardOutput)
        let showsLine = showsLine(on: output, terminal: System.environment("TERM"))
        if showsLine {
            console = console.withBarOnStandardOutput()
            registry = registry.adding(sinks: [.liveLine(on: console)])
        }
        let plan = try plan(with: registry, showsLine: showsLine)
        return await PipelineSession(
            try plan.assemble(), usesStandardOutput: plan.usesStandardOutput, replay: try replay.read(registry.catalog), console: console,
            showsProgress: false
        ).run()
    }

    /// - Parameter showsLine: Whether the live line is shown, unless a sink needs standard output.
    func plan(with registry: PluginRegistry, showsLine: Bool) throws(Failure) -> PipelinePlan {
        var plan = try PipelinePlan(
            registry, device: device, captures: capture.captures, waits: wait, rate: rate.sampleRate, options: options,
            defaultSink: showsLine ? SinkPlugin.liveLineID : PipelinePlan.jsonLines)
        if json { plan.addJSONLines() }
        if showsLine { plan.addLiveLine() }
        return plan
    }

    /// Whether a live line can be shown, and the user did not ask for records on the terminal.
    func showsLine(on output: System.Destination, terminal: String?) -> Bool {
        let hasOtherOutput = !options.sinks.isEmpty || options.output != nil
        return output == .terminal && ProgressLine.canMoveCursor(terminal) && !json
            && (options.select.isEmpty || hasOtherOutput) && !(console.quiet && hasOtherOutput)
    }
}

/// `--rate`: a number of hertz, or whatever the device has.
enum SampleRateOption: ExpressibleByArgument, Hashable {
    case hertz(Int)
    case native

    init?(argument: String) {
        if argument == "native" || argument == "0" {
            self = .native
        } else if let rate = Int(argument) {
            self = .hertz(rate)
        } else {
            return nil
        }
    }

    var defaultValueDescription: String {
        switch self {
        case .hertz(let rate): "\(rate)"
        case .native: "native"
        }
    }

    /// As a pipeline's configuration has it.
    var sampleRate: Int? {
        switch self {
        case .hertz(let rate): rate
        case .native: 0
        }
    }
}
