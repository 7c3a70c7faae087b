internal import Hemiola
internal import HemiolaEngine
internal import HemiolaFiles

/// Translates options into a configuration, and keeps the option text of each part for error messages.
struct ConfigurationBuilder {
    /// The sink that writes MIDI files.
    private static let notes = "notes"
    /// The sink that sends to MIDI devices, and the beginning of their paths.
    private static let (midi, midiDevice) = ("midi", "/dev/snd/midi")
    /// Extensions of `--output`, without `.zst`, and the sinks that write them.
    private static let sinksByExtension = [
        ".jsonl": SinkPlugin.jsonLinesID, ".json": SinkPlugin.jsonLinesID, "": SinkPlugin.jsonLinesID, ".csv": "csv", ".mid": notes,
        ".midi": notes,
    ]

    var configuration: PipelineConfiguration
    /// Supplies the inputs while the pipeline runs; nil: the captures of the configuration are all inputs.
    var source: OrderedSource?
    private let registry: PluginRegistry
    /// The option text of each capture, analyzer, sink and control source that an option names.
    private(set) var texts: [Place: String] = [:]
    /// The index of the sink that writes to the path of `--output`.
    private(set) var outputIndex: Int?

    init(_ registry: PluginRegistry, _ configuration: PipelineConfiguration = PipelineConfiguration()) {
        self.registry = registry
        self.configuration = configuration
    }

    // MARK: - Options

    /// Sets the options that `analyze` and `listen` have in common.
    ///
    /// - Parameters:
    ///   - defaultSink: As in `set(_:defaultSink:isAdded:)`.
    ///   - analyzers: As in `setAnalyzers(_:adding:)`.
    mutating func set(
        _ options: PipelineOptions, defaultSink: String, isAdded: Bool = false, analyzers: [PluginSpec] = []
    ) throws(Failure) {
        try setAnalyzers(options.analyzing.analyzers, adding: analyzers)
        configuration.batchFrames = options.batch
        configuration.seed = options.seed
        try set(options.writing, defaultSink: defaultSink, isAdded: isAdded)
    }

    /// Sets sinks, control sources, selection and durability.
    ///
    /// - Parameters:
    ///   - defaultSink: The sink that writes to standard output when the options name no sink.
    ///   - isAdded: Whether it is added to sinks that the options name, and writes the path of `--output`.
    mutating func set(_ options: OutputOptions, defaultSink: String, isAdded: Bool = false) throws(Failure) {
        try select(options.select)
        configuration.syncsFiles = options.durability.sync
        try setSinks(options.sinks, output: options.output, defaultSink: defaultSink, isAdded: isAdded)
        try add(options.controls, to: .controls)
    }

    mutating func select(_ texts: [String]) throws(Failure) {
        configuration.selection = []
        for text in texts {
            for item in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "," || $0 == "+" }) {
                guard !item.isEmpty else { throw Failure("--select: empty item in \"\(text)\"; write --select beat,levels") }
                configuration.selection.append(String(item))
            }
        }
    }

    /// Sets the captures of files, and of the files of folders.
    mutating func setInputs(_ input: InputOptions) throws(Failure) {
        let (captures, faults) = try input.captures(registry.soundFileTypes)
        configuration.captures = captures
        configuration.faults = faults
    }

    /// Adds the plugins of `--capture`, `--sink` or `--control`.
    mutating func add(_ options: [String], to list: Place.List) throws(Failure) {
        guard let specs = list.specs else { return }
        for text in options {
            texts[Place(list, configuration[keyPath: specs].count)] = text
            configuration[keyPath: specs].append(try Self.spec(text, of: list.option))
        }
    }

    /// Sets the analyzers of `--analyzer`: `id` replaces the default ones; `+id` adds to them, or replaces the default one of that name.
    ///
    /// - Parameter more: Added to the default analyzers.
    mutating func setAnalyzers(_ options: [String], adding more: [PluginSpec] = []) throws(Failure) {
        let addsOnly = options.allSatisfy { $0.hasPrefix("+") }
        try setAnalyzers(
            options, besides: addsOnly ? registry.defaultAnalyzers + more.filter { !registry.defaultAnalyzers.contains($0) } : [])
    }

    /// Sets the given analyzers and those of `--analyzer`, which replace given ones of their names.
    mutating func setAnalyzers(_ options: [String], besides given: [PluginSpec]) throws(Failure) {
        configuration.analyzers = given
        for text in options {
            let text = text.hasPrefix("+") ? String(text.dropFirst()) : text
            let spec = try Self.spec(text, of: "--analyzer")
            let replaced = configuration.analyzers.indices.first {
                texts[.analyzer($0)] == nil && configuration.analyzers[$0].analyzerName == spec.analyzerName
            }
            if let replaced { configuration.analyzers[replaced] = spec } else { configuration.analyzers.append(spec) }
            texts[.analyzer(replaced ?? configuration.analyzers.count - 1)] = text
        }
    }

    // MARK: - Sinks

    /// Adds a sink that writes to the path of `--output`; nil: to where it writes by default.
    mutating func addSink(_ spec: PluginSpec, output: String?) throws(Failure) {
        try Self.check(output: output)
        configuration.sinks.append(spec)
        if output != nil { outputIndex = configuration.sinks.count - 1 }
    }

    /// Lets the sink of `--output` add to its file.
    mutating func addToOutput() {
        if let outputIndex { configuration.sinks[outputIndex].settings["append"] = .boolean(true) }
    }

    /// Adds a sink that writes to standard output, unless one writes there already.
    mutating func addStandardOutputSink(_ id: String) {
        if !configuration.sinks.contains(where: needsStandardOutput) { configuration.sinks.append(PluginSpec(id)) }
    }

    /// Adds the sinks of the defaults file. One that needs standard output replaces the sink that writes there by default.
    mutating func add(_ sinks: [PluginSpec], besides defaultSink: String) {
        // Without --sink, the default sink is the only one.
        if sinks.contains(where: needsStandardOutput), configuration.sinks == [PluginSpec(defaultSink)] { configuration.sinks = [] }
        configuration.sinks += sinks
    }

    /// A named sink replaces the default one. The output path is given to the sink that uses standard output; without such a sink,
    /// the path's extension selects a sink.
    private mutating func setSinks(_ options: [String], output: String?, defaultSink: String, isAdded: Bool) throws(Failure) {
        try add(options, to: .sinks)
        if let index = configuration.sinks.firstIndex(where: { $0.id == "parquet" }) {
            throw Failure("--sink \(options[index]): \(Self.parquetRemedy("FILE.jsonl"))")
        }
        try Self.check(output: output)
        let addsDefault = isAdded && !configuration.sinks.contains { $0.id == defaultSink }
        guard let output, output != "-" else {
            let isMissing = output == nil ? options.isEmpty || addsDefault : standardOutputSink == nil
            if isMissing { configuration.sinks.append(PluginSpec(defaultSink)) }
            return
        }
        // A sink that uses standard output only if no other sink does, like presets, does not take the path.
        if let place = configuration.sinks.firstIndex(where: needsStandardOutput) {
            let spec = configuration.sinks[place]
            guard registry.sinks.first(id: spec.id)?.about.primary == "path" else {
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
        try addSink(PluginSpec(addsDefault ? defaultSink : sink, primary: .text(output)), output: output)
    }

    private static func check(output: String?) throws(Failure) {
        if let output { try check(output, of: "--output", remedy: "choose another name, or redirect standard output: > FILE") }
    }

    /// - Throws: The path of an output is empty, or is not UTF-8, which a template has to be.
    static func check(_ path: String, of option: String, remedy: String) throws(Failure) {
        if path.isEmpty { throw Failure("\(option): the path is empty; is a variable of the shell unset?") }
        if PathText.nonUTF8Bytes(of: path) != nil { throw Failure("\(option) \(PathText.shown(path)): the path is not UTF-8; \(remedy)") }
    }

    /// The sink that an output path's extension selects.
    private static func sink(for path: String) throws(Failure) -> String {
        if path.hasPrefix(midiDevice) { return midi }
        if OutputTarget(path).isSpecial { return SinkPlugin.jsonLinesID }
        let ending = PathTemplate.ending(of: path).lowercased()
        let plain = ending.hasSuffix(".zst") ? String(ending.dropLast(4)) : ending
        // Other programs read MIDI files, and do not decompress them.
        if let sink = sinksByExtension[plain], sink != notes || plain == ending { return sink }
        if plain == ".parquet" {
            let records = String(path.dropLast(ending.count)) + ".jsonl"
            throw Failure("--output \(path): \(Self.parquetRemedy(records))")
        }
        throw Failure(
            "--output \(path): unsupported extension \(ending); use .jsonl or .json (JSON Lines) or .csv, optionally with .zst, .mid (notes), or name "
                + "the sink: --sink json-lines:PATH")
    }

    private static func parquetRemedy(_ records: String) -> String {
        "Parquet is written by the Python package hemiola-audio; write \(records) with -o, then convert it: "
            + "python3 -m hemiola_audio to-parquet \(records)"
    }

    /// The index of the sink that uses standard output: one that needs it, else one that uses it if no other sink does.
    private var standardOutputSink: Int? {
        let needs = configuration.sinks.map(needs(of:))
        return needs.firstIndex { $0?.standardOutput == true } ?? needs.firstIndex { $0?.spareStandardOutput == true }
    }

    /// Whether all sinks write to standard output, and no control source acts on the inputs meanwhile.
    var writesToStandardOutputOnly: Bool { configuration.controls.isEmpty && configuration.sinks.allSatisfy(needsStandardOutput) }

    private func needsStandardOutput(_ spec: PluginSpec) -> Bool {
        needs(of: spec)?.standardOutput == true
    }

    /// The needs of a sink; nil when its settings are invalid, which `assemble` reports.
    private func needs(of spec: PluginSpec) -> SinkPlugin.Needs? {
        guard let plugin = registry.sinks.first(id: spec.id) else { return nil }
        let common = PluginRegistry.commonSinkSettings
        var own = spec
        own.settings = spec.settings.filter { key, _ in !common.contains { $0.name == key } }
        var ignored: [Problem] = []
        guard let values = plugin.about.values(from: own, problems: &ignored) else { return nil }
        return plugin.needs(values)
    }

    /// The plugin of a SPEC.
    ///
    /// - Parameter option: The beginning of a message.
    static func spec(_ text: String, of option: String) throws(Failure) -> PluginSpec {
        do {
            return try PluginSpec(parsing: text)
        } catch {
            throw Failure(error.all.map { "\(option): \($0.message)" })
        }
    }

    // MARK: - Assembly

    /// Builds the pipeline.
    ///
    /// - Parameter other: Supplies the inputs; nil: the source of this configuration, if it has one.
    /// - Throws: One line per problem, each naming the option that causes it.
    func assemble(inputs other: (any InputSource)? = nil) throws(Failure) -> Pipeline {
        try reportingOptions { () throws(Problem) in
            if let source = other ?? source { return try registry.assemble(configuration, inputs: source) }
            return try registry.assemble(configuration)
        }
    }

    /// Builds the pipeline that sends a recording to the sinks.
    ///
    /// - Throws: The recording cannot be read; else one line per problem, each naming the option that causes it.
    func assemble(replaying path: String) throws(Failure) -> Pipeline {
        let recording: Recording
        do {
            recording = try Recording(path, registry)
        } catch {
            throw Failure(error.message, status: .inputFailed)
        }
        return try reportingOptions { () throws(Problem) in try registry.assemble(replaying: recording, configuration) }
    }

    private func reportingOptions(_ assemble: () throws(Problem) -> Pipeline) throws(Failure) -> Pipeline {
        do throws(Problem) {
            // A file with the view is valid elsewhere, too.
            if !FileDescriptor.standardOutput.isScreen,
                let view = configuration.sinks.firstIndex(where: { $0.id == SinkPlugin.terminalID })
            {
                throw Problem("standard output is not a terminal that can move its cursor; use json-lines instead", at: .sink(view))
            }
            return try assemble()
        } catch {
            throw Failure(error.all.map(line(for:)))
        }
    }
}

extension Place.List {
    /// The list of a configuration; nil: it is none of plugins.
    var specs: WritableKeyPath<PipelineConfiguration, [PluginSpec]>? {
        switch self {
        case .captures, .inputs: \.captures
        case .analyzers: \.analyzers
        case .sinks: \.sinks
        case .controls: \.controls
        case .select: nil
        }
    }

    /// The option that names an element: `--sink`.
    var option: String { "--\(rawValue.dropLast())" }
}

extension SinkPlugin {
    /// The sink that writes to standard output by default.
    static let jsonLinesID = "json-lines"
}

/// The capture for a file argument. A path is not a SPEC: it may contain commas, `=` and colons.
///
/// - Parameter raw: The layout of raw samples (`f32le,44100,2`); nil for other files.
func captureSpec(for path: String, raw: String? = nil) -> PluginSpec {
    if let raw { return PluginSpec("pcm", primary: .text(path), settings: ["raw": .text(raw)]) }
    return PluginSpec(path == "-" ? "pcm" : "file", primary: .text(path))
}
