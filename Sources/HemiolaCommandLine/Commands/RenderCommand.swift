internal import ArgumentParser
internal import Hemiola
internal import HemiolaEngine
internal import HemiolaFiles
internal import HemiolaPictures

struct RenderCommand: PipelineCommand {
    static let configuration = CommandConfiguration(
        commandName: "render",
        abstract: "Draw spectrogram, waveform, beats, chroma and chords of sound files or a recording.",
        usage: "hemiola render <file or folder> ... -o <picture> [<options>]",
        discussion: """
            <file> is a sound file, or one recording (.jsonl, .json, optionally .zst): the JSON Lines of "analyze" or "listen". A \
            recording has the resolution of its batches and bands; a panel that it has no values for states what is missing.

            Examples:
              hemiola render song.flac -o song.png
              hemiola render song.flac -o song.png --size 800x450 --theme dark
              hemiola render song.flac -o intro.svg --start 0:30 --duration 10 --scale mel
              hemiola render song.flac -o song.png --analyzer +chroma --analyzer +chords
              hemiola render *.flac -o '{stem}.png'
              hemiola render song.jsonl -o song.png

            Colours: levels in dBFS (a full-scale sine is 0), from the strongest of the picture downwards. A pixel column is the mean \
            power of its time, so that the colours of a sound do not depend on the length of the file; a pixel row is the strongest \
            of its frequencies. Waveform: smallest and largest sample of all channels, and the RMS level inside. Lines: beats, and \
            stronger the first beats of the bars, with the numbers of the bars; where they are too dense, only bars, or every 2nd, \
            4th, 8th … bar.

            Analyzers: chroma adds a panel; musical-key, chords and structure add rows of labels above the time axis, \
            +beat:phrases=true a brace over each phrase with the number of its bars; pitch adds the fundamental frequency to the \
            spectrogram. A recording has those that were recorded.

            Requires cairo (Debian: libcairo2).

            Exit codes: 0 success; 1 the file could not be read, or is incomplete (the picture shows what was read); 2 invalid \
            arguments; 3 the picture could not be drawn or written.
            """)

    @OptionGroup(title: "Input") var input: InputOptions

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: ArgumentHelp(
            "The picture: .png, .svg or .pdf, as in '{stem}.png'; - writes to standard output. Placeholders: {stem}, {name}, {dir}, {time}.",
            valueName: "path"), completion: .file())
    var outputs: [String] = []

    var output: String? { outputs.first }

    @OptionGroup(title: "Picture") var picture: PictureArguments

    @OptionGroup var lookAhead: LookAheadOptions

    @Flag(inversion: .prefixedNo, help: "Draw beats, bars and tempo. Without them, a sound file is not searched for beats.")
    var beats = true

    @Option(
        name: .customLong("analyzer"),
        help: ArgumentHelp(
            "Also draw \(Self.drawn.joined(separator: ", ")); repeatable. beat with settings replaces the one that is drawn.",
            valueName: "spec"), completion: Completions.analyzer)
    var analyzers: [String] = []

    /// The analyzers that a picture shows, besides `beat`.
    private static let drawn = ["chroma", "musical-key", "chords", "pitch", "structure"]

    /// The analyzers of a sound file that run without `--analyzer`.
    private var defaultAnalyzers: [PluginSpec] {
        let ids = (beats ? ["beat"] : []) + (picture.panelNames.contains("chroma") ? ["chroma"] : [])
        return (ids.isEmpty && analyzers.isEmpty ? ["levels"] : ids).map { PluginSpec($0) }
    }

    @OptionGroup var writing: WritingOptions

    @OptionGroup var console: ConsoleOptions

    /// The only file, if it is a recording.
    private var recording: String? {
        guard input.files.count == 1, let file = input.files.first, input.filesFrom == nil, input.raw == nil else { return nil }
        return CommandInput.isRecording(file) ? file : nil
    }

    func validate() throws {
        try OutputOptions.checkSingle(outputs)
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        let builder = try builder(with: registry)
        if let fault = Picture.libraryFault { throw Failure(fault, status: .outputFailed) }
        if OutputTarget(output ?? "").isTerminal {
            throw Failure("standard output is a terminal; name a file with --output, or redirect it")
        }
        let pipeline = if let recording { try builder.assemble(replaying: recording) } else { try builder.assemble() }
        return pipeline.run(on: console)
    }

    private func builder(with registry: PluginRegistry) throws(Failure) -> ConfigurationBuilder {
        var builder = ConfigurationBuilder(registry)
        if recording == nil { try builder.setInputs(input) }
        builder.configuration.jobCount = input.jobCount
        builder.configuration.usesLookAhead = lookAhead.usesLookAhead
        builder.configuration.syncsFiles = writing.sync
        try builder.setAnalyzers(analyzers, besides: defaultAnalyzers)
        let shown = Self.drawn + ["beat", "levels"]
        for spec in builder.configuration.analyzers
        where !shown.contains(spec.id) && registry.analyzers.contains(where: { $0.about.id == spec.id }) {
            throw Failure("--analyzer \(spec.id): a picture does not show it; it shows \(Self.drawn.joined(separator: ", ")) and beat")
        }
        try builder.addSink(try sink(), output: output)
        return builder
    }

    /// The sink with the options of the picture.
    private func sink() throws(Failure) -> PluginSpec {
        guard let output else { throw Failure("no output; name the picture with --output, as in -o picture.png, .svg or .pdf") }
        var spec = PluginSpec("picture", primary: .text(output), settings: try picture.settings(for: output))
        spec.settings["beats"] = .boolean(beats)
        spec.settings["recorded"] = .boolean(recording != nil)
        if !beats, picture.panelNames.allSatisfy({ $0 == "tempo" }) {
            throw Failure("--no-beats leaves no panel; name spectrogram or waveform with --panels")
        }
        guard recording != nil else { return spec }
        if !analyzers.isEmpty { throw Failure("--analyzer applies to sound files; a recording has the analyzers that were recorded") }
        if lookAhead.usesLookAhead != nil {
            throw Failure("--causal and --whole-file apply to sound files; a recording has the beats that were recorded")
        }
        spec.settings["start_s"] = try input.excerpt.startSeconds.map { .number(min($0, 1e9)) }
        spec.settings["duration_s"] = try input.excerpt.durationSeconds.map { .number(min($0, 1e9)) }
        return spec
    }
}

/// The size, axes and colours of a picture.
struct PictureArguments: ParsableArguments {
    @Option(help: ArgumentHelp("Width and height in pixels, 16...16384. Those of svg and pdf are in points.", valueName: "width>x<height"))
    var size = "1600x900"

    @Option(
        help: ArgumentHelp(
            "Pixels per inch, 24...1200. png: stored in the file; text and lines grow with it (default 96). svg, pdf: of the spectrogram "
                + "(default 144).", valueName: "number"))
    var dpi: Int?

    @Option(
        help: ArgumentHelp("Format: png, svg or pdf. Default: by the extension of the output path, else png.", valueName: "format"),
        completion: .list(PictureOptions.Format.allCases.map(\.rawValue)))
    var format: String?

    @Option(
        help: ArgumentHelp(
            "Panels from top to bottom: spectrogram, chroma, waveform, tempo. Join them with a comma. Default: all; chroma only with its "
                + "analyzer.", valueName: "list"))
    var panels: String?

    private static let defaultPanels = "spectrogram,waveform,tempo"

    /// The panels as written.
    var panelNames: [Substring] { (panels ?? Self.defaultPanels).split(separator: ",", omittingEmptySubsequences: false) }

    @Option(
        help: ArgumentHelp("Colours: \(ColorMap.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "name"),
        completion: .list(ColorMap.allCases.map(\.rawValue)))
    var colorMap = ColorMap.magma.rawValue

    @Option(
        help: ArgumentHelp("Frequency axis: log, mel or linear.", valueName: "scale"),
        completion: .list(FrequencyScale.allCases.map(\.rawValue)))
    var scale = FrequencyScale.log.rawValue

    @Option(help: ArgumentHelp("Lower end of the frequency axis. Default: 30 for log, else 0.", valueName: "Hz"))
    var minHz: Double?

    @Option(help: ArgumentHelp("Upper end of the frequency axis. Default: 20000, at most half the sample rate.", valueName: "Hz"))
    var maxHz: Double?

    @Option(help: ArgumentHelp("Range of levels that the colours show, 5...200 dB.", valueName: "dB"))
    var range = 80.0

    @Option(
        help: ArgumentHelp("Colours of background and text: light or dark.", valueName: "theme"),
        completion: .list(PictureOptions.Theme.allCases.map(\.rawValue)))
    var theme = PictureOptions.Theme.light.rawValue

    /// The settings of the sink `picture`.
    ///
    /// - Parameter output: The path of the picture.
    func settings(for output: String) throws(Failure) -> [String: ParameterValue] {
        let (width, height) = try Self.pixels(of: size)
        let sizes = PictureOptions.sizes
        guard sizes.contains(width), sizes.contains(height) else {
            throw Failure("the size \(size) is outside of \(sizes.lowerBound)...\(sizes.upperBound)")
        }
        var settings: [String: ParameterValue] = [
            "format": .text(try pictureFormat(for: output).rawValue), "width": .integer(width), "height": .integer(height),
            "range_db": .number(range), "color_map": .text(try Self.choice(colorMap, of: "--color-map", ColorMap.self).rawValue),
            "scale": .text(try Self.choice(scale, of: "--scale", FrequencyScale.self).rawValue),
            "theme": .text(try Self.choice(theme, of: "--theme", PictureOptions.Theme.self).rawValue),
        ]
        if panels != nil {
            settings["panels"] = .list(
                try panelNames.map { name throws(Failure) in
                    .text(try Self.choice(String(name), of: "--panels", PictureOptions.Panel.self).rawValue)
                })
        }
        settings["dpi"] = dpi.map { .integer($0) }
        settings["min_hz"] = minHz.map { .number($0) }
        settings["max_hz"] = maxHz.map { .number($0) }
        return settings
    }

    /// The width and height of a `--size`.
    static func pixels(of size: String) throws(Failure) -> (width: Int, height: Int) {
        let numbers = size.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let width = numbers[0], let height = numbers[1] else {
            throw Failure("--size \(size): not a size; write width and height, as in 1600x900")
        }
        return (width, height)
    }

    private func pictureFormat(for output: String) throws(Failure) -> PictureOptions.Format {
        if let format { return try Self.choice(format, of: "--format", PictureOptions.Format.self) }
        if OutputTarget(output).isSpecial { return .png }
        let ending = PathTemplate.ending(of: output).lowercased()
        guard let format = PictureOptions.Format(rawValue: String(ending.dropFirst())) else {
            throw Failure(
                "--output \(output): unsupported extension\(ending.isEmpty ? "" : " \(ending)"); use .png, .svg or .pdf, or set --format")
        }
        return format
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String, of option: String, _: Choice.Type
    ) throws(Failure) -> Choice {
        if let choice = Choice(rawValue: text) { return choice }
        throw Failure("\(option): there is no \"\(text)\"; \(text.suggestion(among: Choice.allCases.map(\.rawValue), "there are"))")
    }
}
