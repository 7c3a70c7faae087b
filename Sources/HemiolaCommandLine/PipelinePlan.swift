internal import Hemiola
internal import HemiolaEngine
internal import HemiolaSignal

/// A pipeline as the command line describes it, and what was typed for each part, so that errors can speak of that.
struct PipelinePlan {
    /// The sink that writes to standard output when nobody asks for another.
    static let jsonLines = "json-lines"

    private(set) var configuration: PipelineConfiguration
    private let registry: PluginRegistry
    /// The text of every analyzer's option; nil where nobody typed one.
    private var analyzerTexts: [String?] = []
    private var sinkTexts: [String?] = []
    /// The text of every `--capture`, by its place among the captures.
    private var captureTexts: [Int: String] = [:]

    /// - Throws: A SPEC that cannot be read.
    init(_ registry: PluginRegistry, captures: [PluginSpec], analyzers texts: [String] = []) throws(Failure) {
        self.registry = registry
        configuration = PipelineConfiguration(captures: captures)
        try setAnalyzers(texts)
    }

    /// - Parameters:
    ///   - defaultSink: What takes standard output when nothing else does; nil where quiet is wanted.
    /// - Throws: Options that cannot be read or do not go together.
    init(
        _ registry: PluginRegistry, captures: [PluginSpec], options: PipelineOptions, defaultSink: String = jsonLines,
        isQuiet: Bool
    ) throws(Failure) {
        try self.init(registry, captures: captures, analyzers: options.analyzing.analyzers)
        configuration.batchFrames = options.batch
        configuration.seed = options.seed
        configuration.selection = try Self.items(of: options.select)
        try setSinks(options.sinks, output: options.output, defaultSink: defaultSink, isQuiet: isQuiet)
    }

    /// `hemiola analyze`.
    init(
        _ registry: PluginRegistry, _ input: InputOptions, captures: [String] = [], options: PipelineOptions, isPaced: Bool,
        usesLookAhead: Bool, isQuiet: Bool
    ) throws(Failure) {
        let files = captures.isEmpty || input.isGiven ? try input.names() : []
        try self.init(
            registry, captures: files.map { captureSpec(for: $0, raw: input.raw) }, options: options, isQuiet: isQuiet)
        try addCaptures(captures)
        configuration.isPaced = isPaced
        configuration.usesLookAhead = usesLookAhead
        configuration.jobCount = input.jobs == 0 ? System.processorCount : input.jobs
        try checkThatNoInputIsOverwritten(files)
    }

    /// `hemiola beats`.
    init(_ registry: PluginRegistry, _ command: BeatsCommand) throws(Failure) {
        let files = try command.input.names()
        try self.init(registry, captures: files.map { captureSpec(for: $0, raw: command.input.raw) }, analyzers: ["beat"])
        configuration.usesLookAhead = !command.causal
        configuration.jobCount = command.input.jobs == 0 ? System.processorCount : command.input.jobs
        if command.output == "" { throw Failure("--output: the path is empty; is a variable of the shell unset?") }
        var sink = PluginSpec("beats")
        sink.settings["path"] = command.output.map { .text($0) }
        sink.settings["format"] = command.format.map { .text($0) }
        configuration.sinks = [sink]
        sinkTexts = [nil]
        try checkThatNoInputIsOverwritten(files)
    }

    /// `hemiola listen`.
    init(
        _ registry: PluginRegistry, device: String?, captures: [String] = [], waits: Bool, rate: Int?,
        options: PipelineOptions, defaultSink: String, isQuiet: Bool
    ) throws(Failure) {
        if captures.isEmpty {
            guard var capture = registry.liveCapture else { throw Failure("this program has no live capture") }
            if let device { capture.primary = .text(device) }
            if waits { capture.settings["wait"] = .boolean(true) }
            try self.init(registry, captures: [capture], options: options, defaultSink: defaultSink, isQuiet: isQuiet)
        } else {
            if device != nil || waits {
                throw Failure("--device and --wait are settings of the live capture; write them into --capture, as in pulse:auto,wait=true")
            }
            try self.init(registry, captures: [], options: options, defaultSink: defaultSink, isQuiet: isQuiet)
            try addCaptures(captures)
            // A capture that is not live runs at real-time speed too.
            configuration.isPaced = true
        }
        configuration.sampleRate = rate
    }

    private mutating func addCaptures(_ texts: [String]) throws(Failure) {
        for text in texts {
            captureTexts[configuration.captures.count] = text
            configuration.captures.append(try Self.spec(text, of: "--capture"))
        }
    }

    /// Shows the live line, unless a sink needs standard output or shows it already.
    mutating func addLiveLine() {
        guard !configuration.sinks.contains(where: { usesStandardOutput($0, \.standardOutput) }) else { return }
        configuration.sinks.append(PluginSpec(SinkPlugin.liveLineID))
        sinkTexts.append(nil)
    }

    /// A pipeline that never runs, to ask what it would write. The sink is there so that the selection is checked.
    init(_ registry: PluginRegistry, describing analyzers: [String], selecting texts: [String]) throws(Failure) {
        try self.init(registry, captures: [captureSpec(for: "-")], analyzers: analyzers)
        configuration.selection = try Self.items(of: texts)
        try setSinks([], output: nil, defaultSink: Self.jsonLines, isQuiet: false)
    }

    /// What a file says; the problems of a pipeline file were told by its own paths.
    init(_ registry: PluginRegistry, _ configuration: PipelineConfiguration) {
        self.registry = registry
        self.configuration = configuration
        analyzerTexts = configuration.analyzers.map { _ in nil }
        sinkTexts = configuration.sinks.map { _ in nil }
    }

    /// Builds it; what is wrong comes in the words of the command line.
    func assemble() throws(Failure) -> Pipeline {
        do throws(ConfigurationError) {
            return try registry.assemble(configuration)
        } catch {
            throw Failure(error.problems.map(line(for:)))
        }
    }

    /// Whether records go to standard output.
    var usesStandardOutput: Bool {
        standardOutputSink != nil
    }

    // MARK: - Analyzers

    /// `id` replaces the default ones, `+id` comes besides them, and in the place of a default one of that name.
    private mutating func setAnalyzers(_ texts: [String]) throws(Failure) {
        if texts.allSatisfy({ $0.hasPrefix("+") }) {
            configuration.analyzers = registry.defaultAnalyzers
            analyzerTexts = registry.defaultAnalyzers.map { _ in nil }
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

    /// Standard output carries JSON Lines unless a sink that writes there is named, or quiet is wanted and there is another.
    /// An output path takes the place of standard output, for whichever sink writes there.
    private mutating func setSinks(
        _ texts: [String], output: String?, defaultSink: String, isQuiet: Bool
    ) throws(Failure) {
        for text in texts {
            configuration.sinks.append(try Self.spec(text, of: "--sink"))
            sinkTexts.append(text)
        }
        if output == "" { throw Failure("--output: the path is empty; is a variable of the shell unset?") }
        let path = output == "-" ? nil : output.map { ParameterValue.text($0) }
        if let place = standardOutputSink {
            guard let path else { return }
            let spec = configuration.sinks[place]
            guard plugin(of: spec)?.about.primary == "path" else {
                throw Failure("--output: \(spec.id) writes to standard output and takes no path; leave one out")
            }
            if spec.primary == nil && spec.settings["path"] == nil {
                configuration.sinks[place].primary = path
                return
            }
            // It was given standard output in so many words.
        } else if output == nil && isQuiet && !texts.isEmpty {
            return
        }
        configuration.sinks.append(PluginSpec(path == nil ? defaultSink : Self.jsonLines, primary: path))
        sinkTexts.append(nil)
    }

    private func plugin(of spec: PluginSpec) -> SinkPlugin? {
        registry.sinks.first { $0.about.id == spec.id }
    }

    /// The place of the sink that has standard output: one that needs it, else one that takes it while it is free.
    private var standardOutputSink: Int? {
        configuration.sinks.firstIndex { usesStandardOutput($0, \.standardOutput) }
            ?? configuration.sinks.firstIndex { usesStandardOutput($0, \.spareStandardOutput) }
    }

    private func usesStandardOutput(_ spec: PluginSpec, _ need: KeyPath<SinkPlugin.Needs, Bool>) -> Bool {
        guard let plugin = plugin(of: spec) else { return false }
        let common = PluginRegistry.commonSinkSettings
        var own = spec
        own.settings = spec.settings.filter { key, _ in !common.contains { $0.key == key } }
        var ignored: [ConfigurationProblem] = []
        guard let values = plugin.about.values(from: own, path: "", problems: &ignored) else { return false }
        return plugin.needs(values)[keyPath: need]
    }

    /// - Throws: An output is an input too.
    func checkThatNoInputIsOverwritten() throws(Failure) {
        try checkThatNoInputIsOverwritten(configuration.captures.compactMap { ($0.primary ?? $0.settings["path"])?.text })
    }

    private func checkThatNoInputIsOverwritten(_ files: [String]) throws(Failure) {
        for spec in configuration.sinks where plugin(of: spec)?.about.primary == "path" {
            guard let path = (spec.primary ?? spec.settings["path"])?.text, let output = System.FileIdentity(path) else { continue }
            if files.contains(where: { System.FileIdentity($0) == output }) {
                throw Failure("\(path) is a sound file to be analysed and would be overwritten; write to another file")
            }
        }
    }

    // MARK: - Texts

    private static func spec(_ text: String, of option: String) throws(Failure) -> PluginSpec {
        do throws(ConfigurationError) {
            return try PluginSpec(parsing: text)
        } catch {
            throw Failure(error.problems.map { "\(option): \($0.message)" })
        }
    }

    private static func items(of texts: [String]) throws(Failure) -> [String] {
        var items: [String] = []
        for text in texts {
            for item in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "," || $0 == "+" }) {
                guard !item.isEmpty else { throw Failure("--select: an item of \"\(text)\" is empty; write --select beat,levels") }
                items.append(String(item))
            }
        }
        return items
    }
}

/// The capture for a path as it was typed. Not a SPEC: any name of a file will do, with commas, `=` and colons in it.
///
/// - Parameter raw: The layout of bare samples (`f32le,44100,2`), where the user says that they are bare.
func captureSpec(for path: String, raw: String? = nil) -> PluginSpec {
    if let raw { return PluginSpec("pcm", primary: .text(path), settings: ["raw": .text(raw)]) }
    return PluginSpec(path == "-" ? "pcm" : "file", primary: .text(path))
}

// MARK: - Problems

extension PipelinePlan {
    /// A problem in the words of the command line: `analyzers[0].bandz` is `--analyzer spectrum:bandz=3` there.
    func line(for problem: ConfigurationProblem) -> String {
        let place = ConfigurationPath(problem.path)
        switch (place.role, place.index) {
        case ("captures", let index?) where captureTexts[index] != nil:
            return Self.line("--capture", captureTexts[index], configuration.captures[index], place.key, problem.message)
        case ("captures", let index?) where configuration.captures.indices.contains(index):
            return "\(configuration.captures[index].primary?.text ?? ""): \(problem.message)"
        case ("analyzers", let index?) where configuration.analyzers.indices.contains(index):
            return Self.line("--analyzer", analyzerTexts[index], configuration.analyzers[index], place.key, problem.message)
        case ("sinks", let index?) where configuration.sinks.indices.contains(index):
            return Self.line("--sink", sinkTexts[index], configuration.sinks[index], place.key, problem.message)
        case ("batch", nil), ("rate", nil), ("seed", nil), ("jobs", nil), ("select", nil):
            return "--\(place.role): \(problem.message)"
        case ("captures", nil), ("analyzers", nil), ("sinks", nil):
            return problem.message
        default:
            return problem.description
        }
    }

    /// Of a SPEC with several settings only the one that is wrong is told.
    private static func line(_ option: String, _ text: String?, _ spec: PluginSpec, _ key: String?, _ message: String) -> String {
        guard let text else { return "\(spec.id): \(key.map { "\($0): " } ?? "")\(message)" }
        guard let key else { return "\(option) \(text): \(message)" }
        if let value = spec.settings[key] { return "\(option) \(spec.id):\(key)=\(value.text): \(message)" }
        return "\(option) \(text): \(key): \(message)"
    }
}

/// `sinks[1].period_s` taken apart.
private struct ConfigurationPath {
    var role: String
    var index: Int?
    var key: String?

    init(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1)
        let head = parts.first ?? ""
        key = parts.count > 1 ? String(parts[1]) : nil
        let bracket = head.firstIndex(of: "[") ?? head.endIndex
        role = String(head[..<bracket])
        index = Int(head[bracket...].dropFirst().dropLast())
    }
}
