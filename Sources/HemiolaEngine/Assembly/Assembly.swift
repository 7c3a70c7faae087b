public import Hemiola
internal import HemiolaFiles

/// Settings that the pipeline reads from the SPEC of every plugin.
private struct CommonSettings: PluginSettings {
    var onError: FailurePolicy
    var minimumVersion: Int

    init(_ read: inout SettingReader) {
        onError = read.failurePolicy()
        minimumVersion = read.integer(
            "min_version", default: 1, in: 1...1_000_000,
            "The version of the plugin that is needed at least, as \"hemiola plugins\" shows it.")
    }
}

/// Settings that the pipeline reads from the SPEC of every sink.
private struct CommonSinkSettings: PluginSettings {
    var select: [String]
    /// In seconds.
    var lead: Double?
    var common: CommonSettings

    init(_ read: inout SettingReader) {
        select = read.texts("select", "Record types, analyzers or features that the sink receives; unset: all.")
        lead = read.milliseconds(
            "lead_ms", in: -60_000...60_000,
            "Time by which events are delivered before (negative: after) they occur; unset: when they are detected; network outputs: 0.")
        common = CommonSettings(&read)
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
        var names = SinkNames()
        var sinkEntries = assembleSinks(configuration, catalog, &names, &problems)
        sinkEntries += assembleControls(configuration, catalog, &names, &problems)
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
        checkOutputs(sinkEntries, inputs: withResult, hasSeveralInputs: source != nil || withResult.count > 1, &problems)
        guard problems.isEmpty, let batching else { throw Problem(problems) }
        for index in sinkEntries.indices where sinkEntries[index].entry.needs.summaries {
            let values = recording.map { summaryValues(of: $0.header.analyzers) } ?? Self.summaryValues(of: analyzerEntries, batching)
            sinkEntries[index].entry.summary = try selection(of: values, sinkEntries[index].entry.summaryItems)
        }
        let pipeline = Pipeline(
            configuration, batching: batching, catalog: catalog, inputs: inputs,
            supply: source.map { source in
                Pipeline.Supply(source: source) { [self] in suppliedInput($0) }
            },
            analyzerEntries: analyzerEntries,
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

    // MARK: - Inputs

    private func assembleInputs(
        _ configuration: PipelineConfiguration, _ problems: inout [Problem]
    ) -> [Pipeline.Input] {
        if configuration.captures.isEmpty { problems.append(Problem("no input; name a capture", at: .capture())) }
        let otherUse = configuration.captures.count > 1 ? "must be the only capture" : nil
        return configuration.captures.enumerated().compactMap { index, spec in
            let fault = spec.primary.flatMap { configuration.faults[$0.text] }
            return input(SourceInput(number: index, capture: spec, error: fault), at: .capture(index), refusingLive: otherUse, &problems)
        }
    }

    /// An input of a source. One that cannot be made fails when it has its turn.
    private func suppliedInput(_ given: SourceInput) -> Pipeline.Input {
        var problems: [Problem] = []
        let input = input(given, at: .capture(0), refusingLive: "is no file", &problems)
        guard let input, problems.isEmpty else {
            let error = given.error ?? Problem(problems)
            return Pipeline.Input(given: given, capture: PluginInstance(failing: error))
        }
        return input
    }

    /// - Parameter remark: What is wrong with a live capture; nil: it may be one.
    private func input(
        _ given: SourceInput, at place: Place, refusingLive remark: String?, _ problems: inout [Problem]
    ) -> Pipeline.Input? {
        let spec = given.capture
        guard let plugin = found(spec.id, in: captures, role: "capture", place, &problems),
            let (values, common) = values(from: spec, of: plugin.about, Self.commonSettings, place, &problems)
        else { return nil }
        let make = plugin.make
        do throws(Problem) {
            let capture = try PluginInstance { () throws(Problem) in try make(values) }
            if let remark, capture.read(\.isLive) == true {
                problems.append(Problem("\(spec.id) is a live capture, which \(remark)", at: place))
            }
            return Pipeline.Input(given: given, capture: capture, policy: Self.policy(values, common))
        } catch {
            problems += error.all.map { $0.below(place) }
            return nil
        }
    }

    // MARK: - Analyzers

    private func assembleAnalyzers(
        _ configuration: PipelineConfiguration, _ catalog: RecordCatalog, required: [PluginSpec],
        _ problems: inout [Problem]
    ) -> [Pipeline.AnalyzerEntry] {
        var analyzerEntries: [Pipeline.AnalyzerEntry] = []
        let names = ReservedNames(registry: self, catalog: catalog)
        for (index, spec) in configuration.analyzers.enumerated() {
            let place = Place.analyzer(index)
            guard let declared = declared(spec, place, names, &problems) else { continue }
            if analyzerEntries.contains(where: { $0.name == spec.analyzerName }) {
                problems.append(Problem("two analyzers have the name \"\(spec.analyzerName)\"; rename one with as=NAME", at: place))
                continue
            }
            if let entry = makeEntry(declared, spec, place, &problems) { analyzerEntries.append(entry) }
        }
        for spec in required {
            guard let declared = declared(spec, .analyzer(), names, &problems) else { continue }
            guard let present = analyzerEntries.first(where: { $0.name == spec.analyzerName }) else {
                if let entry = makeEntry(declared, spec, .analyzer(), &problems) { analyzerEntries.append(entry) }
                continue
            }
            guard present.about.id == declared.plugin.about.id else {
                let clash =
                    "a sink needs the analyzer \(declared.plugin.about.id) as \"\(spec.analyzerName)\"; give \(present.about.id) another name"
                problems.append(Problem(clash, at: .analyzer()))
                continue
            }
            if present.policy == .skip {
                problems.append(
                    Problem("a sink needs \(spec.analyzerName), which cannot be left out; remove its on_error=skip", at: .analyzer()))
            }
            for key in spec.settings.keys.sorted() where present.settings[key] != declared.values[key] {
                let value = declared.values[key]?.text ?? ""
                let clash = "a sink needs \(spec.analyzerName) with \(key)=\(value); name your own one with as=NAME"
                problems.append(Problem(clash, at: .analyzer()))
            }
        }
        return analyzerEntries
    }

    /// The analyzers that have an item of a selection: the one with that id, or that name in records (`chroma`, `musical_key.tonic`), else
    /// those that declare the record type (`chord`).
    private func analyzers(providing item: String) -> [AnalyzerPlugin] {
        let name = item.prefix { $0 != "." }.recordName
        let named = analyzers.filter { $0.about.id.recordName == name }
        return named.isEmpty ? analyzers.filter { $0.about.records.contains { $0.name == item } } : named
    }

    /// Adds the analyzers of which a sink selects records or features, where they are not in the pipeline.
    private func addSelectedAnalyzers(
        to entries: inout [Pipeline.AnalyzerEntry], _ sinks: [Pipeline.SinkEntry], _ catalog: RecordCatalog,
        _ problems: inout [Problem]
    ) {
        let names = ReservedNames(registry: self, catalog: catalog)
        for item in Set(sinks.flatMap { $0.selection.recordTypes + $0.selection.featurePaths.map(\.text) }).sorted() {
            let isType = catalog.event(item) != nil
            let (plugins, name) = (analyzers(providing: item), item.prefix { $0 != "." })
            let writers = isType ? self.sinks.filter { $0.about.records.contains { $0.name == item } }.map(\.about.id) : []
            // Types without a writer are those of the pipeline itself, such as gap.
            guard !plugins.isEmpty || !writers.isEmpty, !sinks.contains(where: { writers.contains($0.about.id) }),
                !entries.contains(where: { isType ? mayEmit(item, $0) : $0.name == name })
            else { continue }
            guard let plugin = plugins.first, plugins.count == 1, !entries.contains(where: { $0.name == plugin.about.id.recordName }) else {
                let ids = (plugins.map(\.about.id) + writers).joined(separator: ", ")
                let role = plugins.isEmpty ? "sink" : "analyzer"
                let hint = isOfSummaries(item) ? "add --summary for that of each file, or the \(role)" : "add the \(role) that does"
                problems.append(Problem("nothing in this pipeline has \"\(item)\"; \(hint): \(ids)", at: Place(.select)))
                continue
            }
            add(plugin, for: item, to: &entries, names, &problems)
        }
    }

    /// Adds the analyzers that items of summaries name, where they are not in the pipeline: `pitch` for `pitch.f0_hz`, that of beats for
    /// `rhythm.bpm`, and one that has a value of the whole stream of this name: `loudness` for `integrated_lufs`.
    private func addSummarizedAnalyzers(
        to entries: inout [Pipeline.AnalyzerEntry], _ items: [String], _ catalog: RecordCatalog, _ problems: inout [Problem]
    ) {
        let names = ReservedNames(registry: self, catalog: catalog)
        for item in items {
            let path = ["summaries.", "features."].first(where: item.hasPrefix).map { item.dropFirst($0.count) } ?? item[...]
            let isRhythm = path.prefix { $0 != "." } == "rhythm"
            var plugins = analyzers(providing: isRhythm ? RecordType.beat.name : String(path))
            if plugins.isEmpty, !path.contains(".") {
                plugins = analyzers.filter { summaryValues(of: $0.about.id).contains { $0.name == path.recordName } }
            }
            guard let plugin = plugins.first, !entries.contains(where: { entry in plugins.contains { $0.about.id == entry.about.id } })
            else { continue }
            add(plugin, for: item, to: &entries, names, &problems)
        }
    }

    /// Adds an analyzer with its default settings.
    private func add(
        _ plugin: AnalyzerPlugin, for item: String, to entries: inout [Pipeline.AnalyzerEntry], _ names: ReservedNames,
        _ problems: inout [Problem]
    ) {
        let spec = PluginSpec(plugin.about.id)
        var faults: [Problem] = []
        if let declared = declared(spec, .analyzer(), names, &faults), let entry = makeEntry(declared, spec, .analyzer(), &faults) {
            entries.append(entry)
        }
        problems += faults.map { Problem("\"\(item)\" needs the analyzer \(spec.id): \($0.message)", at: Place(.select)) }
    }

    /// Whether an analyzer may emit records of a type.
    private func mayEmit(_ type: String, _ entry: Pipeline.AnalyzerEntry) -> Bool {
        let declared = entry.about.records
        // The outputs of programs and of plugins of other hosts are known only when they run.
        if declared.contains(where: { $0.name == type || $0 == .analyzerEvent }) { return true }
        let format = AnalysisFormat(StreamFormat(sampleRate: 48_000, channelCount: 2), batching: .standard, seed: 0)
        return entry.analyzer.read { (try? $0.prepare(format))?.events.contains { $0.name == type } ?? false } ?? false
    }

    /// The plugin of a SPEC with its settings, checked against the declarations.
    func declared(
        _ spec: PluginSpec, _ place: Place, _ names: ReservedNames, _ problems: inout [Problem]
    ) -> (plugin: AnalyzerPlugin, values: SettingValues, policy: FailurePolicy)? {
        guard let plugin = found(spec.id, in: analyzers, role: "analyzer", place, &problems),
            let (values, common) = values(from: spec, of: plugin.about, Self.commonSettings, place, &problems)
        else { return nil }
        let name = spec.analyzerName
        let conflict = names.conflict(of: spec)
        guard Self.isKey(name), conflict == nil else {
            // The id of a plugin that is a key is a problem of the program, which `assemble` reports once.
            if spec.alias == nil, names.isField(name) { return nil }
            let key = name.isEmpty ? "NAME" : String(name.map { Self.isKey(String($0)) ? $0 : "_" })
            let reason = conflict.map { "\($0); choose another one with as=NAME" } ?? "allowed are letters, digits and _; write as=\(key)"
            problems.append(Problem("\"\(name)\" cannot be an analyzer's name: \(reason)", at: place))
            return nil
        }
        return (plugin, values, Self.policy(values, common))
    }

    private func makeEntry(
        _ declared: (plugin: AnalyzerPlugin, values: SettingValues, policy: FailurePolicy), _ spec: PluginSpec, _ place: Place,
        _ problems: inout [Problem]
    ) -> Pipeline.AnalyzerEntry? {
        let (plugin, values) = (declared.plugin, declared.values)
        do throws(Problem) {
            let analyzer = try PluginInstance { () throws(Problem) in try plugin.make(values) }
            return Pipeline.AnalyzerEntry(
                name: spec.analyzerName, about: plugin.about, settings: values, analyzer: analyzer, policy: declared.policy)
        } catch {
            problems += error.all.map { $0.below(place) }
            return nil
        }
    }

    /// Whether a name can be a key in records: a word in `jq`, SQL and Python.
    private static func isKey(_ name: String) -> Bool {
        !name.isEmpty && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }

    // MARK: - Summaries

    /// The format by which the columns of summaries are determined.
    private static func summaryFormat(_ batching: Batching) -> AnalysisFormat {
        AnalysisFormat(StreamFormat(sampleRate: 48_000, channelCount: 2), batching: batching, seed: 0)
    }

    private static func summaryValues(of entries: [Pipeline.AnalyzerEntry], _ batching: Batching) -> SummarySelection {
        let described = entries.compactMap { $0.describe(for: summaryFormat(batching)) }
        return SummarySelection(
            described.map(\.analyzer),
            described.map { StreamSummary.Section(analyzer: $0.analyzer.name, values: $0.values) }.filter { !$0.values.isEmpty })
    }

    /// Those of a recording: its features, and the values that the program's analyzers have.
    private func summaryValues(of recorded: [StreamHeader.Analyzer]) -> SummarySelection {
        let sections = recorded.map { StreamSummary.Section(analyzer: $0.name, values: summaryValues(of: $0.id)) }
        return SummarySelection(recorded, sections.filter { !$0.values.isEmpty })
    }

    /// The values that an analyzer of the program has for a whole stream, with its default settings; none if it needs settings.
    private func summaryValues(of id: String) -> [SummaryValue] {
        var ignored: [Problem] = []
        guard let plugin = analyzers.first(where: { $0.about.id == id }),
            let values = plugin.about.values(from: PluginSpec(id), problems: &ignored),
            let analyzer = try? plugin.make(values), !(analyzer is any ExternalAnalyzer),
            (try? analyzer.prepare(Self.summaryFormat(.standard))) != nil
        else { return [] }
        return analyzer.summary()
    }

    /// Whether an item names a value that summaries have, and batches do not.
    private func isOfSummaries(_ item: String) -> Bool {
        let sections = analyzers.map { StreamSummary.Section(analyzer: $0.about.id.recordName, values: summaryValues(of: $0.about.id)) }
        return (try? SummarySelection([], sections).path(of: item)) != nil
    }

    private func selection(of values: SummarySelection, _ items: [String]) throws(Problem) -> SummarySelection {
        var values = values
        if !items.isEmpty { try values.select(items, installed: analyzers.map(\.about.id)) }
        return values
    }

    // MARK: - Sinks

    private func assembleSinks(
        _ configuration: PipelineConfiguration, _ catalog: RecordCatalog, _ names: inout SinkNames, _ problems: inout [Problem]
    ) -> [(place: Place, entry: Pipeline.SinkEntry)] {
        var sinkEntries: [(place: Place, entry: Pipeline.SinkEntry)] = []
        for (index, spec) in configuration.sinks.enumerated() {
            let place = Place.sink(index)
            guard let plugin = foundSink(spec.id, place, &problems),
                let (values, commonValues) = values(from: spec, of: plugin.about, Self.commonSinkSettings, place, &problems)
            else { continue }
            do throws(Problem) {
                let common = CommonSinkSettings(commonValues)
                var needs = plugin.needs(values)
                var items = common.select.isEmpty ? configuration.selection : common.select
                // Beside other sinks, the items of the pipeline are their records and features.
                let hasOthers = configuration.sinks.contains { $0.id != spec.id }
                let summaryItems = needs.summaries && (!common.select.isEmpty || !hasOthers) ? items : []
                if needs.summaries { items = [] }
                if needs.outputs.isEmpty, case .text(let target)? = values["path"], !target.isEmpty {
                    needs.outputs = [SinkPlugin.Output(target)]
                }
                let sink = try PluginInstance { () throws(Problem) in try plugin.make(values) }
                let entry = Pipeline.SinkEntry(
                    name: names.unused(spec.name), about: plugin.about, sink: sink,
                    hasDirector: sink.read { $0 is any DirectingSink } ?? false,
                    selection: items.isEmpty ? .all : Selection(items: items, catalog: catalog),
                    summaryItems: summaryItems,
                    lead: common.lead, needs: needs, policy: Self.policy(values, commonValues))
                sinkEntries.append((place, entry))
            } catch {
                problems += error.all.map { $0.below(place) }
            }
        }
        return sinkEntries
    }

    /// The sink of an id, or the control source that was a sink of this id.
    private func foundSink(_ id: String, _ place: Place, _ problems: inout [Problem]) -> SinkPlugin? {
        if let control = control(namedAsSink: id) { return control.sink }
        return found(id, in: sinks, role: "sink", place, &problems)
    }

    /// The control sources, which run as sinks.
    private func assembleControls(
        _ configuration: PipelineConfiguration, _ catalog: RecordCatalog, _ names: inout SinkNames, _ problems: inout [Problem]
    ) -> [(place: Place, entry: Pipeline.SinkEntry)] {
        var entries: [(place: Place, entry: Pipeline.SinkEntry)] = []
        for (index, spec) in configuration.controls.enumerated() {
            let place = Place.control(index)
            guard let plugin = found(spec.id, in: controls, role: "control source", place, &problems)?.sink,
                let (values, common) = values(from: spec, of: plugin.about, Self.commonSettings, place, &problems)
            else { continue }
            do throws(Problem) {
                let source = try PluginInstance { () throws(Problem) in try plugin.make(values) }
                // It writes nothing: no selection is its own, and it gets only the events that it needs.
                let entry = Pipeline.SinkEntry(
                    name: names.unused(spec.controlName), about: plugin.about, sink: source, hasDirector: false,
                    selection: Selection(items: [], catalog: catalog), summaryItems: [], needs: plugin.needs(values),
                    policy: Self.policy(values, common))
                entries.append((place, entry))
            } catch {
                problems += error.all.map { $0.below(place) }
            }
        }
        return entries
    }

    /// Reports sinks and inputs whose results would be written to the same path.
    private func checkOutputs(
        _ sinkEntries: [(place: Place, entry: Pipeline.SinkEntry)], inputs: [Pipeline.Input], hasSeveralInputs: Bool,
        _ problems: inout [Problem]
    ) {
        /// By file: the sink that writes it, and the input of the result; nil: the result of all inputs.
        var owners: [String: (sink: Int, input: String?)] = [:]
        var folders: [String: String] = [:]
        sinkEntries: for (index, (place, entry)) in sinkEntries.enumerated() {
            for output in entry.needs.outputs {
                guard let template = try? PathTemplate(output.path, isNumbered: true) else { continue }
                if !output.takesSeveralInputs, !template.isPerInput, hasSeveralInputs {
                    let name = OutputTarget(output.path).name
                    let count = inputs.isEmpty ? "several" : "\(inputs.count)"
                    let message =
                        "\(name) is for the result of one input, but there are \(count); write a file for each, with {stem} in the "
                        + "path of -o, or use --output-dir"
                    problems.append(Problem(message, at: place))
                    continue sinkEntries
                }
                for input in template.isPerInput ? inputs.map({ $0.path ?? $0.name }) : [nil] {
                    let file = template.path(PathTemplate.Values(input: input ?? "", time: "{time}", number: 0))
                    // Descriptors, devices and pipes accept several results.
                    if OutputTarget(file).isSpecial { continue }
                    let identity = OutputTarget.identity(of: file, folders: &folders)
                    guard let owner = owners.updateValue((index, input), forKey: identity) else { continue }
                    let message =
                        if owner.sink == index, let input, let other = owner.input {
                            input == other
                                ? "\(input) is given twice, and both results would be written to \(file); give it once"
                                : "the results of \(other) and \(input) would both be written to \(file); "
                                    + "use {dir} or {name} in the path"
                        } else {
                            "another sink also writes to \(file); use another path for one of them"
                        }
                    problems.append(Problem(message, at: place))
                    continue sinkEntries
                }
            }
        }
    }

    private func checkStandardOutput(_ sinkEntries: [Pipeline.SinkEntry], _ problems: inout [Problem]) {
        let writers = sinkEntries.filter(\.needs.standardOutput)
        if writers.count > 1 {
            problems.append(
                Problem(
                    "\(writers.map(\.name).joined(separator: " and ")) both write to standard output; use a path for one of them",
                    at: .sink()))
        }
    }

    /// The path of a feature given without its analyzer, by its name or a prefix of it: `beat.bpm` for `bpm`, `levels.rms_db` for
    /// `rms`.
    private static func featurePath(named name: String, of analyzers: [StreamHeader.Analyzer]) -> String? {
        guard !name.isEmpty, !name.contains(".") else { return nil }
        let paths = analyzers.flatMap { analyzer in
            analyzer.outputs.features.map { (name: $0.name, path: "\(analyzer.name).\($0.name)") }
        }
        return (paths.first { $0.name == name } ?? paths.first { $0.name.hasPrefix(name) })?.path
    }

    /// Reports selected items that are not a record type, an analyzer or a feature.
    ///
    /// - Parameter recorded: The analyzers of the recording; nil: those of the pipeline.
    private func checkSelections(of pipeline: Pipeline, _ recorded: [StreamHeader.Analyzer]?) throws(Problem) {
        guard pipeline.sinkEntries.contains(where: { !$0.selection.featurePaths.isEmpty }) else { return }
        let format = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let analyzers = recorded ?? (try? pipeline.describeAnalyzers(for: format, startsExternals: false)) ?? []
        let externals = Set(recorded == nil ? pipeline.analyzerEntries.filter(\.isExternal).map(\.name) : [])
        var problems: [Problem] = []
        for item in Set(pipeline.sinkEntries.flatMap { $0.selection.featurePaths.map(\.text) }).sorted() {
            let dot = item.firstIndex(of: ".")
            let name = String(item[..<(dot ?? item.endIndex)])
            let features = analyzers.first { $0.name == name }?.outputs.features.map(\.name)
            let known: [String]
            // Its outputs are known only when it runs.
            if externals.contains(name) { continue }
            if let features, let dot {
                if features.contains(item[item.index(after: dot)...].description) { continue }
                known = features.map { "\(name).\($0)" }
            } else if features != nil || pipeline.analyzerNames.contains(name) {
                continue
            } else {
                let types = pipeline.catalog.recordTypes
                let names = recorded == nil ? pipeline.analyzerNames + self.analyzers.map(\.about.id) : pipeline.analyzerNames
                known = types + names.enumerated().filter { !types.contains($1) && !names[..<$0].contains($1) }.map(\.element)
            }
            let others = analyzers.flatMap { analyzer in
                analyzer.outputs.features.map { (path: "\(analyzer.name).\($0.name)", summary: $0.summary) }
            }
            let feature = Self.featurePath(named: item, of: analyzers)
            let hint =
                // `beats` are more likely those of the record `beat`.
                if feature == nil, item.contains(".") || !known.contains(where: item.hasPrefix), isOfSummaries(item) {
                    "it is a value of a whole file: add --summary, or the sink summary"
                } else if let name = feature ?? item.nearest(in: known + others.map(\.path))
                    ?? others.first(where: { $0.summary.hasWord(item) })?.path
                {
                    "did you mean \(name)?"
                } else {
                    "items: \(known.joined(separator: ", "))"
                }
            problems.append(
                Problem("\"\(item)\" is not a record type, analyzer or feature of this pipeline; \(hint)", at: Place(.select)))
        }
        if !problems.isEmpty { throw Problem(problems) }
    }

    /// Checks the settings of a SPEC: those of the plugin, and the common ones that the plugin does not declare itself.
    private func values(
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
    private static func policy(_ own: SettingValues, _ common: SettingValues) -> FailurePolicy {
        CommonSettings(own["on_error"] == nil ? common : own).onError
    }

    private func found<Kind: Plugin>(
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

/// Unique names of sinks and control sources, for reports and for the records of their controls: further ones of the same name get a number.
private struct SinkNames {
    private var taken: Set<String> = []
    /// The last number tried for a name.
    private var numbers: [String: Int] = [:]

    mutating func unused(_ name: String) -> String {
        var unused = name
        while !taken.insert(unused).inserted {
            numbers[name, default: 1] += 1
            unused = "\(name)-\(numbers[name]!)"
        }
        return unused
    }
}

/// Names that no analyzer can have: the keys of records, and the record types. Allowed are record types that are also the id of an
/// analyzer, and `beat`, for any beat tracker.
struct ReservedNames {
    private let registry: PluginRegistry
    private let catalog: RecordCatalog
    private let fields: Set<String>

    init(registry: PluginRegistry, catalog: RecordCatalog) {
        self.registry = registry
        self.catalog = catalog
        fields = RecordSchema.reservedNames(catalog)
    }

    /// Why the analyzer of a SPEC cannot have its name; nil: it can.
    func conflict(of spec: PluginSpec) -> String? {
        let name = spec.analyzerName
        if isField(name), let place = RecordSchema.place(ofReservedName: name, in: catalog) { return "it is a field of \(place)" }
        let shared = registry.analyzers.map(\.about.id.recordName) + [RecordType.beat.name]
        return catalog.recordTypes.contains(name) && !shared.contains(name) ? "it is a type of records" : nil
    }

    /// Whether a name is a key of the records.
    func isField(_ name: String) -> Bool { fields.contains(name) }
}
