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
            On a terminal it shows one live line: source, level, bars, tempo, losses. Into a pipe or a file go JSON Lines, \
            a line per batch, each written at once.

            Examples:
              hemiola listen
              hemiola listen --json | jq -c '[.t, .levels.rms_db]'
              hemiola listen --device app:Firefox -o evening.jsonl
              hemiola listen --device auto-input --select levels
              hemiola listen --wait --sink json-lines:/tmp/now.jsonl

            A <device> is a name that "hemiola devices" lists, auto (what the default output plays), auto-input (the \
            default input, unless it is a headset's), or app:NAME (the sound of one application, silence while it has none).

            When the sound server or the device goes, it waits until it is back and tells the loss as a gap.

            Exit codes: 0 all is well; 1 the source could not be opened; 2 the command line is wrong; 3 output could not be \
            written; 130 ended by Ctrl-C. See "hemiola --help".
            """)

    @Option(help: ArgumentHelp("What to hear: a name, auto, auto-input or app:NAME.", valueName: "device"))
    var device: String?

    @Option(
        help: ArgumentHelp(
            "Frames a second that the sound server is asked for; native: those of the device.", valueName: "hertz"))
    var rate: RateWish = .hertz(44_100)

    @Flag(help: "Wait for a sound server and a device that are not there yet.")
    var wait = false

    @Flag(help: "JSON Lines, also on a terminal.")
    var json = false

    @OptionGroup(title: "Pipeline") var options: PipelineOptions

    @OptionGroup var replay: ReplayOptions

    @OptionGroup var console: ConsoleOptions

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        var console = console.with(self.console.verbosity)
        var registry = registry
        let showsLine = showsLine(on: System.destination(of: System.standardOutput))
        if showsLine {
            console = console.withBarOnStandardOutput()
            registry = registry.adding(sinks: [.liveLine(on: console)])
        }
        let plan = try PipelinePlan(
            registry, device: device, waits: wait, rate: rate.sampleRate, options: options,
            defaultSink: showsLine ? SinkPlugin.liveLineID : PipelinePlan.jsonLines, isQuiet: self.console.quiet)
        return await PipelineSession(
            try plan.assemble(), usesStandardOutput: plan.usesStandardOutput, replay: try replay.read(), console: console,
            showsProgress: false
        ).run()
    }

    /// The live line stands in for JSON where a person looks and nothing else was asked for.
    func showsLine(on output: System.Destination) -> Bool {
        output == .terminal && !json && options.sinks.isEmpty && options.output == nil && options.select.isEmpty
    }
}

/// `--rate`: a number of hertz, or whatever the device has.
enum RateWish: ExpressibleByArgument, Hashable {
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
