internal import Hemiola

extension PluginRegistry {
    func assembleAnalyzers(
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
    func addSelectedAnalyzers(
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
    func addSummarizedAnalyzers(
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
        do {
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
}

/// Names that no analyzer can have: the keys of records, and the record types. Allowed are record types that are also the id of an
/// analyzer, and `beat`, for any beat tracker.
struct ReservedNames {
    private let registry: PluginRegistry
    private let catalog: RecordCatalog
    private let fields: [String: String]

    init(registry: PluginRegistry, catalog: RecordCatalog) {
        self.registry = registry
        self.catalog = catalog
        fields = RecordSchema.reservedNames(catalog)
    }

    /// Why the analyzer of a SPEC cannot have its name; nil: it can.
    func conflict(of spec: PluginSpec) -> String? {
        let name = spec.analyzerName
        if let place = fields[name] { return "it is a field of \(place)" }
        let shared = registry.analyzers.map(\.about.id.recordName) + [RecordType.beat.name]
        return catalog.recordTypes.contains(name) && !shared.contains(name) ? "it is a type of records" : nil
    }

    /// Whether a name is a key of the records.
    func isField(_ name: String) -> Bool { fields[name] != nil }
}
