internal import Hemiola
internal import HemiolaEngine
internal import HemiolaFiles
internal import HemiolaPictures
internal import HemiolaRecords
internal import HemiolaSystem

/// The pipeline of the command line's options, with the option text of each part for error messages.
struct PipelinePlan {
    /// The sink that writes to standard output by default.
    static let jsonLines = "json-lines"
    /// The sink of `--summary`, and the analyzer that it adds to the default ones where the program has it.
    private static let (summary, summaryAnalyzer) = ("summary", "loudness")
    /// The sink that shows the music in a browser.
    private static let web = "web"
    /// The sink that writes MIDI files.
    private static let notes = "notes"
    /// The sink that sends to MIDI devices, and the beginning of their paths.
    private static let (midi, midiDevice) = ("midi", "/dev/snd/midi")
    /// The end of the ids of sinks that read controls.
    private static let controlInput = "-control"
    /// Extensions of `--output`, without `.zst`, and the sinks that write them.
    private static let sinksByExtension = [
        ".jsonl": jsonLines, ".json": jsonLines, "": jsonLines, ".csv": "csv", ".mid": notes, ".midi": notes,
    ]

    private(set) var configuration: PipelineConfiguration
    private let registry: PluginRegistry
    /// The option text of every analyzer; nil for a default.
    private(set) var analyzerTexts: [String?] = []
    private(set) var sinkTexts: [String?] = []
    /// The text of every `--capture`, by its index among the captures.
    private(set) var captureTexts: [Int: String] = [:]
    /// The index of the sink that writes to the path of `--output`.
    private(set) var outputIndex: Int?
    /// Supplies the inputs while the pipeline runs; nil: the captures of the configuration are all inputs.
    private(set) var source: OrderedSource?

    /// - Throws: Invalid SPECs.
    init(
        _ registry: PluginRegistry, captures: [PluginSpec], analyzers texts: [String] = [], summarizes: Bool = false
    ) throws(Failure) {
        self.registry = registry
        configuration = PipelineConfiguration(captures: captures)
        let isKnown = summarizes && registry.analyzers.contains { $0.about.id == Self.summaryAnalyzer }
        try setAnalyzers(texts, adding: isKnown ? [PluginSpec(Self.summaryAnalyzer)] : [])
    }

    /// - Parameters:
    ///   - defaultSink: The sink that writes to standard output when the options name no sink.
    ///   - summarizes: Whether to write one summary per stream instead of its records.
    /// - Throws: Invalid or contradictory options.
    init(
        _ registry: PluginRegistry, captures: [PluginSpec], options: PipelineOptions, defaultSink: String = jsonLines,
        summarizes: Bool = false
    ) throws(Failure) {
        try self.init(registry, captures: captures, analyzers: options.analyzing.analyzers, summarizes: summarizes)
        configuration.batchFrames = options.batch
        configuration.seed = options.seed
        try set(options.writing, defaultSink: summarizes ? Self.summary : defaultSink)
    }

    private mutating func set(_ options: OutputOptions, defaultSink: String = jsonLines) throws(Failure) {
        configuration.selection = try Self.items(of: options.select)
        configuration.syncsFiles = options.durability.sync
        try setSinks(options.sinks, output: options.output, defaultSink: defaultSink)
    }

    /// `hemiola analyze`.
    init(
        _ registry: PluginRegistry, _ input: InputOptions, captures: [String] = [], options: PipelineOptions, isPaced: Bool,
        usesLookAhead: Bool, summarizes: Bool = false
    ) throws(Failure) {
        try self.init(registry, captures: [], options: options, summarizes: summarizes)
        // An output file that is also an input is found only if all inputs are known before the run.
        let isStream = captures.isEmpty && !isPaced && configuration.sinks.allSatisfy(needsStandardOutput)
        source = isStream ? try input.source(registry.soundFileTypes) : nil
        if source == nil, captures.isEmpty || input.isGiven { configuration.captures = try input.captures(registry.soundFileTypes) }
        if !captures.isEmpty, input.start != nil || input.duration != nil {
            throw Failure(
                "--start and --duration apply to file arguments only; set them in --capture, as in file:song.flac,start=5,duration=20")
        }
        try addCaptures(captures)
        configuration.isPaced = isPaced
        configuration.usesLookAhead = usesLookAhead || summarizes
        configuration.jobCount = input.jobCount
        try checkThatNoInputIsOverwritten()
    }

    /// `hemiola analyze --output-dir`.
    ///
    /// - Parameter sink: Writes the results.
    init(_ registry: PluginRegistry, _ command: AnalyzeCommand, sink: PluginSpec) throws(Failure) {
        try self.init(registry, captures: [], options: command.options)
        (configuration.sinks, sinkTexts, outputIndex) = ([sink], [nil], nil)
        // The header and the end of a result show whether it is complete.
        if !configuration.selection.isEmpty { configuration.selection += ["header", "end"] }
        configuration.usesLookAhead = command.wholeFile
        configuration.jobCount = command.input.jobCount
    }

    /// `hemiola beats`.
    init(_ registry: PluginRegistry, _ command: BeatsCommand) throws(Failure) {
        let captures = try command.input.captures(registry.soundFileTypes)
        let files = captures.compactMap { $0.primary?.text }
        try self.init(registry, captures: captures, analyzers: ["beat"])
        configuration.usesLookAhead = !command.causal
        configuration.jobCount = command.input.jobCount
        configuration.syncsFiles = command.writing.sync
        try Self.check(output: command.output)
        var sink = PluginSpec("beats")
        sink.settings["path"] = command.output.map { .text($0) }
        sink.settings["format"] = command.format.map { .text($0) }
        configuration.sinks = [sink]
        sinkTexts = [nil]
        if command.output != nil { outputIndex = 0 }
        try checkThatNoInputIsOverwritten(files)
    }

    /// `hemiola render`.
    init(_ registry: PluginRegistry, _ command: RenderCommand) throws(Failure) {
        let captures = try command.captures()
        try self.init(registry, captures: captures, analyzers: command.analyzerTexts)
        configuration.usesLookAhead = !command.causal && (command.beats || !command.analyzers.isEmpty)
        configuration.syncsFiles = command.writing.sync
        try Self.check(output: command.output)
        configuration.sinks = [PluginSpec(SinkPlugin.pictureID, primary: command.output.map { .text($0) })]
        sinkTexts = [nil]
        outputIndex = 0
        try checkThatNoInputIsOverwritten([command.file])
    }

    /// `hemiola listen`.
    init(
        _ registry: PluginRegistry, device: String?, captures: [String] = [], waits: Bool, rate: Int?,
        options: PipelineOptions, defaultSink: String
    ) throws(Failure) {
        if captures.isEmpty {
            guard var capture = registry.liveCapture else { throw Failure("this program contains no live capture plugin") }
            if let device { capture.primary = .text(device) }
            if waits { capture.settings["wait"] = .boolean(true) }
            try self.init(registry, captures: [capture], options: options, defaultSink: defaultSink)
        } else {
            if device != nil || waits {
                throw Failure(
                    "--device and --wait apply to the default live capture only; set them in --capture, as in pulse:auto,wait=true")
            }
            try self.init(registry, captures: [], options: options, defaultSink: defaultSink)
            try addCaptures(captures)
            try checkThatNoInputIsOverwritten()
            // A capture that is not live runs at real-time speed too.
            configuration.isPaced = true
        }
        configuration.sampleRate = rate
    }

    /// `hemiola replay`.
    init(_ registry: PluginRegistry, _ command: ReplayCommand) throws(Failure) {
        try self.init(registry, captures: command.audio.map { captureSpec(for: $0) })
        configuration.isPaced = command.realtime
        try set(command.writing)
        try checkThatNoInputIsOverwritten([command.recording] + command.audio)
    }

    /// `hemiola demo`.
    ///
    /// - Parameter output: The sink that uses standard output.
    init(_ registry: PluginRegistry, _ command: DemoCommand, output: String) {
        var configuration = PipelineConfiguration(
            captures: [command.capture], analyzers: registry.defaultAnalyzers, sinks: [PluginSpec(output)], isPaced: true,
            seed: UInt64(command.seed))
        // A program without SwiftNIO has no web server.
        if registry.sinks.contains(where: { $0.about.id == Self.web }) {
            configuration.sinks.append(PluginSpec(Self.web, settings: ["open": .boolean(!command.noBrowser)]))
        }
        self.init(registry, configuration)
    }

    private mutating func addCaptures(_ texts: [String]) throws(Failure) {
        for text in texts {
            captureTexts[configuration.captures.count] = text
            configuration.captures.append(try Self.spec(text, of: "--capture"))
        }
    }

    /// Adds the inputs of `--control`: `midi:PORT` is the sink `midi-control:PORT`, which writes nothing and submits controls.
    mutating func addControlInputs(_ texts: [String]) throws(Failure) {
        for text in texts {
            var spec = try Self.spec(text, of: "--control")
            let ids = registry.sinks.map(\.about.id).filter { $0.hasSuffix(Self.controlInput) }
            guard ids.contains(spec.id + Self.controlInput) else {
                let known = ids.map { $0.dropLast(Self.controlInput.count) }.joined(separator: ", ")
                throw Failure("--control \(text): there is no input for controls \"\(spec.id)\"; there are: \(known)")
            }
            spec.id += Self.controlInput
            append(spec)
        }
    }

    /// Writes JSON Lines to standard output, unless a sink writes there already.
    mutating func addJSONLines() {
        guard !configuration.sinks.contains(where: { needsStandardOutput($0) }) else { return }
        append(PluginSpec(Self.jsonLines))
    }

    /// Adds the sinks of the defaults file. One that needs standard output replaces the sink that writes there by default.
    mutating func add(_ sinks: [PluginSpec], besides defaultSink: String) throws(Failure) {
        if sinks.contains(where: { needsStandardOutput($0) }),
            let place = configuration.sinks.firstIndex(of: PluginSpec(defaultSink))
        {
            configuration.sinks.remove(at: place)
            sinkTexts.remove(at: place)
        }
        for spec in sinks { append(spec) }
        try checkThatNoInputIsOverwritten()
    }

    /// Shows the live line, unless a sink needs standard output or shows it already.
    mutating func addLiveLine() {
        guard !configuration.sinks.contains(where: { needsStandardOutput($0) }) else { return }
        configuration.sinks.append(PluginSpec(SinkPlugin.liveLineID))
        sinkTexts.append(nil)
    }

    /// A pipeline that never runs, for the description of its output. It has a sink so that the selection is validated.
    init(
        _ registry: PluginRegistry, describing analyzers: [String], selecting texts: [String], summarizes: Bool = false
    ) throws(Failure) {
        try self.init(registry, captures: [captureSpec(for: "-")], analyzers: analyzers, summarizes: summarizes)
        configuration.selection = try Self.items(of: texts)
        try setSinks([], output: nil, defaultSink: Self.jsonLines)
    }

    /// The configuration of a pipeline file, whose problems are already reported.
    init(_ registry: PluginRegistry, _ configuration: PipelineConfiguration) {
        self.registry = registry
        self.configuration = configuration
        analyzerTexts = configuration.analyzers.map { _ in nil }
        sinkTexts = configuration.sinks.map { _ in nil }
    }

    /// Builds the pipeline.
    ///
    /// - Throws: One line per problem, each naming the option that causes it.
    func assemble() throws(Failure) -> Pipeline {
        if let source { return try assemble(inputs: source) }
        do throws(Problem) {
            return try registry.assemble(configuration)
        } catch {
            throw Failure(error.all.map(line(for:)))
        }
    }

    /// Builds a pipeline whose inputs are supplied while it runs.
    ///
    /// - Parameters:
    ///   - source: Supplies the inputs.
    ///   - fingerprint: That of the results; nil: the headers have none.
    ///   - jobCount: Inputs that are analysed at a time; nil: that of the options.
    /// - Throws: One line per problem, each naming the option that causes it.
    func assemble(
        inputs source: any InputSource, fingerprint: String? = nil, jobCount: Int? = nil
    ) throws(Failure) -> Pipeline {
        var configuration = configuration
        configuration.fingerprint = fingerprint
        configuration.jobCount = jobCount ?? configuration.jobCount
        do throws(Problem) {
            return try registry.assemble(configuration, inputs: source)
        } catch {
            throw Failure(error.all.map(line(for:)))
        }
    }

    /// Builds the pipeline that sends a recording to the sinks.
    ///
    /// - Throws: One line per problem, each naming the option that causes it.
    func assemble(replaying recording: Recording) throws(Failure) -> Pipeline {
        do throws(Problem) {
            return try registry.assemble(replaying: recording, configuration)
        } catch {
            throw Failure(error.all.map(line(for:)))
        }
    }

    /// Whether records go to standard output.
    var usesStandardOutput: Bool {
        standardOutputSink != nil
    }

    // MARK: - Analyzers

    /// `id` replaces the default analyzers; `+id` adds to them, or replaces the default analyzer of that name.
    private mutating func setAnalyzers(_ texts: [String], adding more: [PluginSpec]) throws(Failure) {
        if texts.allSatisfy({ $0.hasPrefix("+") }) {
            configuration.analyzers = registry.defaultAnalyzers + more.filter { !registry.defaultAnalyzers.contains($0) }
            analyzerTexts = configuration.analyzers.map { _ in nil }
        }
        for text in texts {
            let text = text.hasPrefix("+") ? String(text.dropFirst()) : text
            let spec = try Self.spec(text, of: "--analyzer")
            let place = configuration.analyzers.indices.first {
                analyzerTexts[$0] == nil && configuration.analyzers[$0].name == spec.name
            }
            if let place {
                configuration.analyzers[place] = spec
                analyzerTexts[place] = text
            } else {
                configuration.analyzers.append(spec)
                analyzerTexts.append(text)
            }
        }
    }

    // MARK: - Sinks

    /// A named sink replaces the default one. The output path is given to the sink that uses standard output; without such a sink,
    /// the path's extension selects a sink.
    private mutating func setSinks(_ texts: [String], output: String?, defaultSink: String) throws(Failure) {
        for text in texts {
            configuration.sinks.append(try Self.spec(text, of: "--sink"))
            sinkTexts.append(text)
        }
        try Self.check(output: output)
        let addsSummary = defaultSink == Self.summary && !configuration.sinks.contains { $0.id == Self.summary }
        guard let output else {
            if texts.isEmpty || addsSummary { append(PluginSpec(defaultSink)) }
            return
        }
        if output == "-" {
            if standardOutputSink == nil { append(PluginSpec(defaultSink)) }
            return
        }
        // A sink that uses standard output only if no other sink does, like presets, does not take the path.
        if let place = configuration.sinks.firstIndex(where: { needsStandardOutput($0) }) {
            let spec = configuration.sinks[place]
            guard plugin(of: spec)?.about.primary == "path" else {
                throw Failure("--output: \(spec.id) writes to standard output and takes no path; leave one out")
            }
            if spec.primary == nil && spec.settings["path"] == nil {
                configuration.sinks[place].primary = .text(output)
                outputIndex = place
                return
            }
            // Its path is set already, to standard output.
        }
        let sink = try Self.sink(for: output)
        append(PluginSpec(addsSummary ? Self.summary : sink, primary: .text(output)))
        outputIndex = configuration.sinks.count - 1
    }

    private static func check(output: String?) throws(Failure) {
        guard let output else { return }
        if output.isEmpty { throw Failure("--output: the path is empty; is a variable of the shell unset?") }
        if PathText.nonUTF8Bytes(of: output) != nil {
            throw Failure(
                "--output \(PathText.shown(output)): the path is not UTF-8; choose another name, or redirect standard output: > FILE")
        }
    }

    private mutating func append(_ spec: PluginSpec) {
        configuration.sinks.append(spec)
        sinkTexts.append(nil)
    }

    /// The sink that an output path's extension selects.
    private static func sink(for path: String) throws(Failure) -> String {
        if path.hasPrefix(midiDevice) { return midi }
        if OutputTarget(path).isSpecial { return jsonLines }
        let ending = PathTemplate.ending(of: path).lowercased()
        let plain = ending.hasSuffix(".zst") ? String(ending.dropLast(4)) : ending
        // Other programs read MIDI files, and do not decompress them.
        if let sink = sinksByExtension[plain], sink != notes || plain == ending { return sink }
        if plain == ".parquet" {
            let records = String(path.dropLast(ending.count)) + ".jsonl"
            throw Failure(
                "--output \(path): Parquet is written by the Python package hemiola-audio; write \(records) here, then convert it: "
                    + "python -m hemiola_audio to-parquet \(records)")
        }
        throw Failure(
            "--output \(path): unsupported extension \(ending); use .jsonl or .json (JSON Lines) or .csv, optionally with .zst, .mid (notes), or name "
                + "the sink: --sink json-lines:PATH")
    }

    private func plugin(of spec: PluginSpec) -> SinkPlugin? {
        registry.sinks.first { $0.about.id == spec.id }
    }

    /// The index of the sink that uses standard output: one that needs it, else one that uses it if no other sink does.
    private var standardOutputSink: Int? {
        let needs = configuration.sinks.map(needs(of:))
        return needs.firstIndex { $0?.standardOutput == true } ?? needs.firstIndex { $0?.spareStandardOutput == true }
    }

    private func needsStandardOutput(_ spec: PluginSpec) -> Bool {
        needs(of: spec)?.standardOutput == true
    }

    /// The needs of a sink; nil when its settings are invalid, which `assemble` reports.
    private func needs(of spec: PluginSpec) -> SinkPlugin.Needs? {
        guard let plugin = plugin(of: spec) else { return nil }
        let common = PluginRegistry.commonSinkSettings
        var own = spec
        own.settings = spec.settings.filter { key, _ in !common.contains { $0.key == key } }
        var ignored: [Problem] = []
        guard let values = plugin.about.values(from: own, problems: &ignored) else { return nil }
        return plugin.needs(values)
    }

    /// - Throws: An output path is also an input.
    func checkThatNoInputIsOverwritten() throws(Failure) {
        try checkThatNoInputIsOverwritten(configuration.captures.compactMap { ($0.primary ?? $0.settings["path"])?.text })
    }

    private func checkThatNoInputIsOverwritten(_ files: [String]) throws(Failure) {
        let inputs = Set(files.compactMap(FileSystem.fileIdentity))
        // Standard output, `-`, is not a file, even if there is one of that name.
        for output in configuration.sinks.compactMap(needs(of:)).flatMap(\.outputs) where output.path != "-" {
            guard let template = try? PathTemplate(output.path, isNumbered: true) else { continue }
            let values = template.isPerInput ? files.map { PathTemplate.Values(input: $0) } : [PathTemplate.Values()]
            for path in values.map(template.path) {
                guard let file = FileSystem.fileIdentity(of: path), inputs.contains(file) else { continue }
                throw Failure("\(path) is an input file and would be overwritten; write to another file")
            }
        }
    }

    // MARK: - Texts

    private static func spec(_ text: String, of option: String) throws(Failure) -> PluginSpec {
        do throws(Problem) {
            return try PluginSpec(parsing: text)
        } catch {
            throw Failure(error.all.map { "\(option): \($0.message)" })
        }
    }

    private static func items(of texts: [String]) throws(Failure) -> [String] {
        var items: [String] = []
        for text in texts {
            for item in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "," || $0 == "+" }) {
                guard !item.isEmpty else { throw Failure("--select: empty item in \"\(text)\"; write --select beat,levels") }
                items.append(String(item))
            }
        }
        return items
    }
}

/// The capture for a file argument. A path is not a SPEC: it may contain commas, `=` and colons.
///
/// - Parameter raw: The layout of raw samples (`f32le,44100,2`); nil for other files.
func captureSpec(for path: String, raw: String? = nil) -> PluginSpec {
    if let raw { return PluginSpec("pcm", primary: .text(path), settings: ["raw": .text(raw)]) }
    return PluginSpec(path == "-" ? "pcm" : "file", primary: .text(path))
}
