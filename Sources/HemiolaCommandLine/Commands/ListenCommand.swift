internal import ArgumentParser
internal import Hemiola

struct ListenCommand: PipelineCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Analyse live audio: what this computer plays, or an input device.",
        usage: "hemiola listen [<options>]",
        discussion: """
            Captures the monitor of the default output, and switches when the default output changes. A microphone is captured \
            only if --device names it.

            On a terminal, a view fills the screen: bars (1), spectrogram (2), waveform (3) or dashboard (4) with beats, tempo, \
            key and chords; ? shows all keys. With --line, and while records are written to a file (-o) or to sinks, it is one \
            line with source, level, bars, tempo and beats; where TERM is unset or dumb, the line is printed anew every 10 s. To a \
            pipe or a file, standard output is JSON Lines: one line per batch, written immediately. --json, --select or \
            --sink json-lines write JSON Lines to a terminal.

            Keys of view and line: space taps a beat; l locks or unlocks the tempo; h and d halve and double the tempo; left \
            and right (or up and down) select the previous and next preset; q quits. Beats light up when the sound arrives; with \
            --sink terminal:lead_ms=-200 they do so 200 ms later, for loudspeakers that are late.

            Examples:
              hemiola listen
              hemiola listen --json | jq -c '[.t, .levels.rms_db]'
              hemiola listen --device app:Firefox -o 'evening-{time}.jsonl'
              hemiola listen --wait --sink socket --sink presets
              hemiola listen --capture tone:clicks,seconds=0

            A <device> is a name or description from "hemiola devices", auto (monitor of the default output), auto-input (the \
            default input, unless it is a headset), or app:NAME (the sound of one application; silence while it plays nothing).

            Output files are written line by line and are kept if the disk is full or the program is killed; they are not \
            compressed. An existing file is never replaced: use {time}, the start of the run, in the path. rotate_s=3600 starts a new file every hour: \
            --sink json-lines:evening.jsonl,rotate_s=3600

            $XDG_CONFIG_HOME/hemiola/defaults.yaml (by default ~/.config/hemiola/defaults.yaml) can set device, analyzers, sinks \
            and controls in the form of a pipeline file. Options replace them: --device and --capture the device, --analyzer the \
            analyzers (+<spec> adds to them), --sink the sinks, which are written besides the status line or JSON Lines, and \
            --control the control sources. --no-defaults ignores the file, "hemiola check --print" shows the result. Other \
            commands do not read it.

            If the sound server or the device disappears, capture resumes when it is back. Lost audio is recorded as a gap.

            Exit codes: 0 success; 1 the source could not be opened; 2 invalid arguments; 3 output could not be written; 130 \
            ended by Ctrl-C. See "hemiola --help".
            """)

    @Option(
        help: ArgumentHelp("Device to capture: a name, a description, auto, auto-input or app:NAME. Default: auto.", valueName: "device"),
        completion: Completions.device)
    var device: String?

    @Option(
        help: ArgumentHelp(
            "Sample rate to request from the sound server, in Hz; server: its default rate; native: that of the device, also when it changes.",
            valueName: "hertz"))
    var rate = SampleRateOption.server

    @Flag(help: "If the sound server or the device is not available, wait for it instead of exiting.")
    var wait = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("End after this much sound, in seconds or as [h:]mm:ss. Default: Ctrl-C ends.", valueName: "time"))
    var duration: String?

    @OptionGroup var capture: CaptureOptions

    @OptionGroup var defaults: DefaultsOptions

    @Flag(help: "Show one line on a terminal, and not the full-screen view.")
    var line = false

    @Flag(help: "Write JSON Lines to standard output, also on a terminal.")
    var json = false

    @OptionGroup(title: "Pipeline") var options: PipelineOptions

    @OptionGroup var replay: ReplayOptions

    @OptionGroup var console: ConsoleOptions

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        var console = console
        let defaults = defaults.noDefaults ? nil : try DefaultsFile.read(registry).map(remaining(of:))
        var registry = registry
        let display = display(
            on: FileDescriptor.standardOutput.destination, terminal: EnvironmentVariable.value("TERM"), defaults)
        if display == SinkPlugin.liveLineID {
            console = console.withBarOnStandardOutput()
            registry = registry.adding(sinks: [.liveLine(on: console)])
        }
        let builder = try builder(with: registry, defaults: defaults, display: display)
        if let defaults, !defaults.keys.isEmpty {
            console.remark("using \(defaults.keys.joined(separator: ", ")) of \(PathText.shown(defaults.path)); --no-defaults ignores it")
        }
        return try builder.assemble().run(
            on: console, replaying: try replay.read(registry.catalog), showsProgress: false, saysEnd: display != nil)
    }

    /// - Parameters:
    ///   - defaults: Device, analyzers, sinks and control sources for which no option is given.
    ///   - display: The sink that shows the sound on a terminal; nil: none. A sink that needs standard output replaces it.
    func builder(
        with registry: PluginRegistry, defaults: DefaultsFile? = nil, display: String? = nil
    ) throws(Failure) -> ConfigurationBuilder {
        var registry = registry
        let defaults = defaults.map(remaining(of:))
        if let analyzers = defaults?.analyzers { registry.defaultAnalyzers = analyzers }
        let defaultSink = display ?? SinkPlugin.jsonLinesID
        var builder = ConfigurationBuilder(registry)
        if capture.captures.isEmpty {
            builder.configuration.captures = [try liveCapture(of: defaults?.device ?? device, with: registry)]
        } else if device != nil || wait {
            throw Failure(
                "--device and --wait apply to the default live capture only; set them in --capture, as in pulse:auto,wait=true")
        }
        try builder.set(
            options, defaultSink: defaultSink, analyzers: display == SinkPlugin.terminalID ? registry.viewAnalyzers : [])
        if !capture.captures.isEmpty {
            try builder.add(capture.captures, to: .captures)
            // A capture that is not live runs at real-time speed too.
            builder.configuration.isPaced = true
            builder.configuration.waitsForWriters = true
        }
        builder.configuration.sampleRate = rate.sampleRate
        builder.configuration.duration = try ExcerptOptions.seconds(duration, of: "--duration")
        if let sinks = defaults?.sinks {
            // The view of the file is the one that a terminal shows.
            builder.add(sinks.filter { $0.id != SinkPlugin.terminalID || display == $0.id }, besides: defaultSink)
        }
        builder.configuration.controls += defaults?.controls ?? []
        if json { builder.addStandardOutputSink(SinkPlugin.jsonLinesID) }
        if let display { builder.addStandardOutputSink(display) }
        return builder
    }

    private func liveCapture(of device: String?, with registry: PluginRegistry) throws(Failure) -> PluginSpec {
        guard var capture = registry.liveCapture else { throw Failure("this program contains no live capture plugin") }
        if let device { capture.primary = .text(device) }
        if wait { capture.settings["wait"] = .boolean(true) }
        return capture
    }

    /// The defaults that no option replaces.
    private func remaining(of defaults: DefaultsFile) -> DefaultsFile {
        var defaults = defaults
        if device != nil || !capture.captures.isEmpty { defaults.device = nil }
        if !options.analyzing.analyzers.allSatisfy({ $0.hasPrefix("+") }) { defaults.analyzers = nil }
        if !options.writing.sinks.isEmpty { defaults.sinks = nil }
        if !options.writing.controls.isEmpty { defaults.controls = nil }
        return defaults
    }

    static func withoutOptions() throws(Failure) -> ListenCommand {
        guard case .command(let command as ListenCommand) = try Root.parsed([configuration.commandName ?? ""]) else {
            throw Failure("\"hemiola listen\" cannot be parsed")
        }
        return command
    }

    /// The sink that shows the sound on a terminal: the view, or the line where `--line` says so, an option writes anything else, or the
    /// defaults file has sinks without the view; nil: standard output is not a terminal, or records are requested on it.
    ///
    /// - Parameter terminal: The value of TERM.
    func display(on output: FileDescriptor.Destination, terminal: String?, _ defaults: DefaultsFile? = nil) -> String? {
        let hasOtherOutput = !options.writing.sinks.isEmpty || options.writing.output != nil
        let isRequested =
            output == .terminal && !json
            && (options.writing.select.isEmpty || hasOtherOutput) && !(console.quiet && hasOtherOutput)
        guard isRequested else { return nil }
        let mayBeView = defaults?.sinks.map { $0.contains { $0.id == SinkPlugin.terminalID } } ?? true
        let isView = !line && mayBeView && options.writing.showsView(on: output, terminal: terminal)
        return isView ? SinkPlugin.terminalID : SinkPlugin.liveLineID
    }
}

/// `--rate`: a number of hertz, `server` for the default rate of the sound server, or `native` for that of the device.
struct SampleRateOption: ExpressibleByArgument {
    /// The value in a pipeline's configuration.
    private(set) var sampleRate: Int?

    init?(argument: String) {
        if argument == "server" { return }
        guard let rate = argument == "native" ? 0 : Int(argument) else { return nil }
        sampleRate = rate
    }

    private init() {}

    static let server = SampleRateOption()

    /// No other one is a default.
    var defaultValueDescription: String { "server" }
}
