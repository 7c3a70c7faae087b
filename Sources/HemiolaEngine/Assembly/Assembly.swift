public import Hemiola

/// Settings that the pipeline reads from the SPEC of every plugin.
private struct CommonSettings: PluginSettings {
    var onError: FailurePolicy
    var minimumVersion: Int

    init(_ read: inout SettingReader) {
        onError = read.failurePolicy()
        minimumVersion = read.integer(
            "min_version", default: 1, in: 1...1_000_000,
            "The oldest version of the plugin that is accepted; \"hemiola plugins\" shows versions.")
    }
}

/// Settings that the pipeline reads from the SPEC of every sink.
struct CommonSinkSettings: PluginSettings {
    var select: [String]
    /// In seconds.
    var lead: Double?

    init(_ read: inout SettingReader) {
        select = read.texts("select", "Record types, analyzers or features that the sink receives; unset: all.")
        lead = read.milliseconds(
            "lead_ms", in: -60_000...60_000,
            "Time by which events are delivered before (negative: after) they occur; unset: when they are detected; network outputs: 0.")
        _ = CommonSettings(&read)
    }
}

extension PluginRegistry {
    /// Settings that every capture, analyzer and control source accepts in addition to its own. A plugin that declares one of them handles it
    /// itself.
    public static let commonSettings = CommonSettings.fields

    /// Settings that every sink accepts in addition to its own.
    public static let commonSinkSettings = CommonSinkSettings.fields

    /// Common settings, except those that a plugin declares itself.
    package static func shared(_ common: [Field], with about: PluginDescription) -> [Field] {
        let own = about.keys
        return common.filter { !own.contains($0.name) }
    }

    /// Builds a pipeline. Plugins are created, but open no file or device.
    ///
    /// - Parameters:
    ///   - configuration: The pipeline.
    ///   - clock: The clock of its runs. What is analysed does not depend on it.
    /// - Throws: All problems of the configuration, each with its place (`sinks[1].period_s`).
    public func assemble(_ configuration: PipelineConfiguration, clock: any MonotonicClock = .system) throws(Problem) -> Pipeline {
        var assembly = Assembly(self, configuration)
        return try assembly.pipeline(clock: clock)
    }

    /// Builds a pipeline whose inputs are supplied while it runs.
    ///
    /// - Parameters:
    ///   - configuration: The pipeline. Its captures are ignored.
    ///   - source: Supplies the inputs; none of them is live.
    /// - Throws: All problems of the configuration, each with its place (`sinks[1].period_s`).
    public func assemble(
        _ configuration: PipelineConfiguration, inputs source: any InputSource
    ) throws(Problem) -> Pipeline {
        var assembly = Assembly(self, configuration)
        return try assembly.pipeline(inputs: source, clock: .system)
    }

    /// Builds a pipeline that sends the records of a recording to sinks, without analyzers. Opens nothing.
    ///
    /// Directors process the recorded rows and events, as in an analysis. If a director derives records by itself, the recorded ones of these
    /// types are replaced by its own, and it handles the recorded controls.
    ///
    /// - Parameters:
    ///   - recording: The recording.
    ///   - configuration: The sinks, the selection and the pacing. `captures` is the audio of the recording's streams, in order; a stream
    ///     without audio is silent. Analyzers, batch size and seed have no effect.
    ///   - clock: The clock of its runs.
    /// - Throws: All problems of the configuration, also that the recording lacks what a sink needs.
    public func assemble(
        replaying recording: Recording, _ configuration: PipelineConfiguration, clock: any MonotonicClock = .system
    ) throws(Problem) -> Pipeline {
        var configuration = configuration
        configuration.analyzers = []
        configuration.batchFrames = recording.header.batching.batchFrames
        configuration.seed = nil
        configuration.jobCount = 1
        var assembly = Assembly(self, configuration, replaying: recording)
        return try assembly.pipeline(clock: clock)
    }
}

/// Makes the parts of a pipeline from its configuration, and collects all that is wrong with it.
struct Assembly: Sendable {
    /// Number of files in parallel: each needs a thread and about 10 MB.
    private static let jobCounts = 1...256
    /// The format by which the outputs of analyzers are determined before an input is open.
    static let format = StreamFormat(sampleRate: 48_000, channelCount: 2)

    let registry: PluginRegistry
    let configuration: PipelineConfiguration
    /// The recording that is replayed: no analyzer is made, and the captures are the audio of its streams; nil: inputs are analysed.
    let recording: Recording?
    let catalog: RecordCatalog
    /// The keys of records, which no analyzer can have as its name, and where they are.
    let reservedNames: [String: String]
    var problems: [Problem] = []
    var sinks: [Pipeline.SinkEntry] = []
    var analyzers: [Pipeline.AnalyzerEntry] = []

    init(_ registry: PluginRegistry, _ configuration: PipelineConfiguration, replaying recording: Recording? = nil) {
        self.registry = registry
        self.configuration = configuration
        self.recording = recording
        catalog = registry.catalog
        reservedNames = RecordSchema.reservedNames(catalog)
    }

    /// Makes the pipeline. Call once.
    ///
    /// - Parameter source: Supplies the inputs; nil: they are those of the configuration.
    mutating func pipeline(inputs source: (any InputSource)? = nil, clock: any MonotonicClock) throws(Problem) -> Pipeline {
        checkOptions()
        problems += RecordSchema.conflicts(in: catalog, analyzers: registry.analyzers.map(\.about.id)).map {
            Problem($0, at: .key("plugins"))
        }
        // The inputs of a source are made while the pipeline runs.
        let supply = source.map { [self] in Pipeline.Supply(source: $0, makeInput: suppliedInput) }
        let hasCaptures = source == nil && (recording == nil || !configuration.captures.isEmpty)
        let captures = hasCaptures ? makeInputs() : []
        let inputs = recording == nil ? captures : []
        addSinks()
        var replay: Pipeline.Replay?
        if let recording { replay = self.replay(of: recording, audio: captures) } else { addAnalyzers() }
        checkStandardOutput()
        let withResult = inputs.filter { $0.fault == nil }
        let files = captures.filter { $0.capture.read(\.isLive) != true }.compactMap(\.file) + [recording?.path].compactMap(\.self)
        checkOutputs(inputs: withResult, files: files, hasSeveralInputs: source != nil || withResult.count > 1)
        guard problems.isEmpty, let batching = Batching(batchFrames: configuration.batchFrames) else { throw Problem(problems) }
        for index in sinks.indices where sinks[index].needs.summaries {
            let values = recording.map { summaryValues(of: $0.header.analyzers) } ?? summaryValues(batching)
            sinks[index].summary = try selection(of: values, sinks[index].summaryItems)
        }
        let pipeline = Pipeline(self, batching: batching, inputs: inputs, supply: supply, replay: replay, clock: clock)
        try checkSelections(of: pipeline)
        return pipeline
    }

    /// Notes what is wrong with an element of the configuration.
    mutating func fail(_ message: String, at place: Place) {
        problems.append(Problem(message, at: place))
    }

    private mutating func checkOptions() {
        if Batching(batchFrames: configuration.batchFrames) == nil { fail(Self.batchFault(configuration.batchFrames), at: .key("batch")) }
        let rates = StreamFormat.sampleRates
        if let rate = configuration.sampleRate, rate != 0, !rates.contains(rate) {
            fail("\(rate) is outside \(rates.lowerBound)...\(rates.upperBound) Hz", at: .key("rate"))
        }
        if let seed = configuration.seed, seed > Pipeline.largestSeed {
            fail("\(seed) is above \(Pipeline.largestSeed)", at: .key("seed"))
        }
        if !Self.jobCounts.contains(configuration.jobCount) {
            let (fewest, most) = (Self.jobCounts.lowerBound, Self.jobCounts.upperBound)
            fail("\(configuration.jobCount) is outside \(fewest)...\(most) files at a time", at: .key("jobs"))
        }
    }

    private static func batchFault(_ frames: Int) -> String {
        let (range, step) = (Batching.frameCounts, Batching.largeBatchStep)
        guard range.contains(frames) else {
            return "\(frames) is outside \(range.lowerBound)...\(range.upperBound) frames"
        }
        let below = frames / step * step
        return "\(frames) is above \(Batching.longestHop) and not a multiple of \(step) frames; use \(below) or \(below + step)"
    }

    // MARK: - Plugins

    mutating func found<Kind: Plugin>(_ id: String, in plugins: [Kind], role: String, _ place: Place) -> Kind? {
        switch registry.find(id, in: plugins, role: role) {
        case .success(let plugin): return plugin
        case .failure(let fault):
            fail(fault.message, at: place)
            return nil
        }
    }

    /// Checks the settings of a SPEC: those of the plugin, and the common ones that the plugin does not declare itself.
    ///
    /// - Returns: The values of both, and what happens when the plugin fails: `on_error`, of whichever declares it.
    mutating func values(
        from spec: PluginSpec, of about: PluginDescription, _ common: [Field], _ place: Place
    ) -> (own: SettingValues, common: SettingValues, policy: FailurePolicy)? {
        let shared = spec.settings.isEmpty ? common : PluginRegistry.shared(common, with: about)
        let keys = shared.map(\.name)
        guard let values = about.values(from: spec.dropping(keys), common: shared, at: place, problems: &problems),
            let commonValues = PluginDescription(spec.id, "").with(settings: { shared }).values(
                from: spec.keeping(keys), at: place, problems: &problems)
        else { return nil }
        let minimum = CommonSettings(commonValues).minimumVersion
        if minimum > about.version {
            let message =
                "\(spec.id) has version \(about.version), but version \(minimum) is needed; install a newer version of the program, or "
                + "lower min_version"
            fail(message, at: .key("min_version").below(place))
            return nil
        }
        return (values, commonValues, CommonSettings(values["on_error"] == nil ? commonValues : values).onError)
    }

    /// An instance of a plugin; nil: it cannot be made with its settings.
    mutating func instance<Value>(
        _ place: Place, _ make: @escaping @Sendable () throws(Problem) -> Value
    ) -> PluginInstance<Value>? {
        do {
            return try PluginInstance(make)
        } catch {
            problems += error.all.map { $0.below(place) }
            return nil
        }
    }
}

extension Problem {
    /// The same problem in an element of the configuration.
    fileprivate func below(_ element: Place) -> Problem {
        Problem(message, at: place?.below(element) ?? element)
    }
}

extension PluginSpec {
    fileprivate func keeping(_ keys: [String]) -> PluginSpec {
        PluginSpec(id, settings: settings.filter { keys.contains($0.key) })
    }

    fileprivate func dropping(_ keys: [String]) -> PluginSpec {
        PluginSpec(id, as: alias, primary: primary, settings: settings.filter { !keys.contains($0.key) })
    }
}
