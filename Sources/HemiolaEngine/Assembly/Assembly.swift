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
    /// Number of files in parallel: each needs a thread and about 10 MB.
    private static let jobCounts = 1...256

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
        try assemble(configuration, replaying: nil, clock: clock)
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
        try assemble(configuration, replaying: nil, inputs: source, clock: .system)
    }

    /// Builds a pipeline. With a recording, no analyzer is made, and the captures are the audio of its streams.
    func assemble(
        _ configuration: PipelineConfiguration, replaying recording: Recording?, inputs source: (any InputSource)? = nil,
        clock: any MonotonicClock
    ) throws(Problem) -> Pipeline {
        var problems: [Problem] = []
        let batching = Batching(batchFrames: configuration.batchFrames)
        if batching == nil {
            problems.append(Problem(Self.batchFault(configuration.batchFrames), at: .key("batch")))
        }
        if let rate = configuration.sampleRate, rate != 0, !StreamFormat.sampleRates.contains(rate) {
            let range = StreamFormat.sampleRates
            problems.append(
                Problem("\(rate) is outside \(range.lowerBound)...\(range.upperBound) Hz", at: .key("rate")))
        }
        if let seed = configuration.seed, seed > Pipeline.largestSeed {
            problems.append(Problem("\(seed) is above \(Pipeline.largestSeed)", at: .key("seed")))
        }
        if !Self.jobCounts.contains(configuration.jobCount) {
            let (fewest, most) = (Self.jobCounts.lowerBound, Self.jobCounts.upperBound)
            problems.append(Problem("\(configuration.jobCount) is outside \(fewest)...\(most) files at a time", at: .key("jobs")))
        }
        let catalog = catalog
        problems += RecordSchema.conflicts(in: catalog, analyzers: analyzers.map(\.about.id)).map { Problem($0, at: .key("plugins")) }
        let hasCaptures = source == nil && (recording == nil || !configuration.captures.isEmpty)
        let captures = hasCaptures ? assembleInputs(configuration, &problems) : []
        let inputs = recording == nil ? captures : []
        var sinkEntries = assembleSinks(configuration, isReplay: recording != nil, catalog, &problems)
        let required = recording == nil ? sinkEntries.flatMap(\.entry.needs.analyzers) : []
        var analyzerEntries = assembleAnalyzers(configuration, catalog, required: required, &problems)
        if recording == nil {
            addSelectedAnalyzers(to: &analyzerEntries, sinkEntries.map(\.entry), catalog, &problems)
            addSummarizedAnalyzers(to: &analyzerEntries, sinkEntries.flatMap(\.entry.summaryItems), catalog, &problems)
        }
        var replay: Pipeline.Replay?
        if let recording { replay = self.replay(of: recording, audio: captures, for: sinkEntries, &problems) }
        checkStandardOutput(sinkEntries.map(\.entry), &problems)
        let withResult = inputs.filter { $0.fault == nil }
        let files = captures.filter { $0.capture.read(\.isLive) != true }.compactMap(\.file) + [recording?.path].compactMap(\.self)
        checkOutputs(
            sinkEntries, inputs: withResult, files: files, hasSeveralInputs: source != nil || withResult.count > 1, &problems)
        guard problems.isEmpty, let batching else { throw Problem(problems) }
        for index in sinkEntries.indices where sinkEntries[index].entry.needs.summaries {
            let values = recording.map { summaryValues(of: $0.header.analyzers) } ?? Self.summaryValues(of: analyzerEntries, batching)
            sinkEntries[index].entry.summary = try selection(of: values, sinkEntries[index].entry.summaryItems)
        }
        let pipeline = Pipeline(
            configuration, batching: batching, catalog: catalog, inputs: inputs,
            supply: source.map { Pipeline.Supply(source: $0, makeInput: suppliedInput) }, analyzerEntries: analyzerEntries,
            sinkEntries: sinkEntries.map(\.entry), replay: replay, clock: clock)
        try checkSelections(of: pipeline, recording?.header.analyzers)
        return pipeline
    }

    private static func batchFault(_ frames: Int) -> String {
        let (range, step) = (Batching.frameCounts, Batching.largeBatchStep)
        guard range.contains(frames) else {
            return "\(frames) is outside \(range.lowerBound)...\(range.upperBound) frames"
        }
        let below = frames / step * step
        return "\(frames) is above \(Batching.longestHop) and not a multiple of \(step) frames; use \(below) or \(below + step)"
    }

    /// Checks the settings of a SPEC: those of the plugin, and the common ones that the plugin does not declare itself.
    func values(
        from spec: PluginSpec, of about: PluginDescription, _ common: [Field], _ place: Place,
        _ problems: inout [Problem]
    ) -> (own: SettingValues, common: SettingValues)? {
        let shared = spec.settings.isEmpty ? common : Self.shared(common, with: about)
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
            problems.append(Problem(message, at: .key("min_version").below(place)))
            return nil
        }
        return (values, commonValues)
    }

    /// What happens when a plugin fails: `on_error`, which is among the common settings unless the plugin declares it.
    static func policy(_ own: SettingValues, _ common: SettingValues) -> FailurePolicy {
        CommonSettings(own["on_error"] == nil ? common : own).onError
    }

    func found<Kind: Plugin>(
        _ id: String, in plugins: [Kind], role: String, _ place: Place, _ problems: inout [Problem]
    ) -> Kind? {
        switch find(id, in: plugins, role: role) {
        case .success(let plugin): return plugin
        case .failure(let fault):
            problems.append(Problem(fault.message, at: place))
            return nil
        }
    }
}

extension Problem {
    /// The same problem in an element of the configuration.
    func below(_ element: Place) -> Problem {
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
