internal import Hemiola

extension Assembly {
    /// Adds the analyzers of the configuration, and those that sinks need.
    mutating func addAnalyzers() {
        for (index, spec) in configuration.analyzers.map(completed).enumerated() {
            let place = Place.analyzer(index)
            guard let declared = declared(spec, place) else { continue }
            if analyzers.contains(where: { $0.name == spec.analyzerName }) {
                fail("two analyzers have the name \"\(spec.analyzerName)\"; rename one with as=NAME", at: place)
                continue
            }
            add(declared, spec, place)
        }
        for spec in sinks.flatMap(\.needs.analyzers).map(completed) {
            guard let declared = declared(spec, .analyzer()) else { continue }
            guard let present = analyzers.first(where: { $0.name == spec.analyzerName }) else {
                add(declared, spec, .analyzer())
                continue
            }
            guard present.about.id == declared.plugin.about.id else {
                let clash =
                    "a sink needs the analyzer \(declared.plugin.about.id) as \"\(spec.analyzerName)\"; give \(present.about.id) another name"
                fail(clash, at: .analyzer())
                continue
            }
            if present.policy == .skip {
                fail("a sink needs \(spec.analyzerName), which cannot be left out; remove its on_error=skip", at: .analyzer())
            }
            for key in spec.settings.keys.sorted() where present.settings[key] != declared.values[key] {
                let value = declared.values[key]?.text ?? ""
                let mismatch = "a sink needs \(spec.analyzerName) with \(key)=\(value); set it so, or name your own one with as=NAME"
                fail(mismatch, at: .analyzer())
            }
        }
        addSelectedAnalyzers()
        addSummarizedAnalyzers()
    }

    /// A SPEC with the settings that it leaves out and a sink needs.
    private func completed(_ spec: PluginSpec) -> PluginSpec {
        var whole = spec
        // The primary setting may be one of them.
        for need in sinks.flatMap(\.needs.analyzers)
        where need.id == spec.id && need.analyzerName == spec.analyzerName && spec.primary == nil {
            whole.settings.merge(need.settings) { own, _ in own }
        }
        return whole
    }

    /// The analyzers that have an item of a selection: the one with that id, or that name in records (`chroma`, `musical_key.tonic`), else
    /// those that declare the record type (`chord`).
    private func analyzers(providing item: String) -> [AnalyzerPlugin] {
        let name = item.prefix { $0 != "." }.recordName
        let named = registry.analyzers.filter { $0.about.id.recordName == name }
        return named.isEmpty ? registry.analyzers.filter { $0.about.records.contains { $0.name == item } } : named
    }

    /// Adds the analyzers of which a sink selects records or features, where they are not in the pipeline.
    private mutating func addSelectedAnalyzers() {
        for item in Set(sinks.flatMap { $0.selection.recordTypes + $0.selection.featurePaths.map(\.text) }).sorted() {
            let isType = catalog.event(item) != nil
            let (plugins, name) = (analyzers(providing: item), item.prefix { $0 != "." })
            let writers = isType ? registry.sinks.filter { $0.about.records.contains { $0.name == item } }.map(\.about.id) : []
            // Types without a writer are those of the pipeline itself, such as gap.
            guard !plugins.isEmpty || !writers.isEmpty, !sinks.contains(where: { writers.contains($0.about.id) }),
                !analyzers.contains(where: { isType ? mayEmit(item, $0) : $0.name == name })
            else { continue }
            guard let plugin = plugins.first, plugins.count == 1, !analyzers.contains(where: { $0.name == plugin.about.id.recordName })
            else {
                let ids = (plugins.map(\.about.id) + writers).joined(separator: ", ")
                let role = plugins.isEmpty ? "sink" : "analyzer"
                let hint = isOfSummaries(item) ? "add --summary for that of each file, or the \(role)" : "add the \(role) that does"
                fail("nothing in this pipeline has \"\(item)\"; \(hint): \(ids)", at: Place(.select))
                continue
            }
            add(plugin, for: item)
        }
    }

    /// Adds the analyzers that items of summaries name, where they are not in the pipeline: `pitch` for `pitch.f0_hz`, that of beats for
    /// `rhythm.bpm`, and one that has a value of the whole stream of this name: `loudness` for `integrated_lufs`.
    private mutating func addSummarizedAnalyzers() {
        for item in sinks.flatMap(\.summaryItems) {
            let path = ["summaries.", "features."].first(where: item.hasPrefix).map { item.dropFirst($0.count) } ?? item[...]
            let isRhythm = path.prefix { $0 != "." } == "rhythm"
            var plugins = analyzers(providing: isRhythm ? RecordType.beat.name : String(path))
            if plugins.isEmpty, !path.contains(".") {
                plugins = registry.analyzers.filter { summaryValues(of: $0.about.id).contains { $0.name == path.recordName } }
            }
            guard let plugin = plugins.first, !analyzers.contains(where: { entry in plugins.contains { $0.about.id == entry.about.id } })
            else { continue }
            add(plugin, for: item)
        }
    }

    /// Adds an analyzer with its default settings.
    private mutating func add(_ plugin: AnalyzerPlugin, for item: String) {
        let spec = PluginSpec(plugin.about.id)
        let known = problems.count
        if let declared = declared(spec, .analyzer()) { add(declared, spec, .analyzer()) }
        for index in problems.indices.dropFirst(known) {
            problems[index] = Problem("\"\(item)\" needs the analyzer \(spec.id): \(problems[index].message)", at: Place(.select))
        }
    }

    /// Whether an analyzer may emit records of a type.
    private func mayEmit(_ type: String, _ entry: Pipeline.AnalyzerEntry) -> Bool {
        let declared = entry.about.records
        // The outputs of programs and of plugins of other hosts are known only when they run.
        if declared.contains(where: { $0.name == type || $0 == .analyzerEvent }) { return true }
        let format = AnalysisFormat(Self.format, batching: .standard, seed: 0)
        let described = try? entry.describe(for: format, startsExternals: false)
        return described?.outputs.events.contains { $0.name == type } ?? false
    }

    /// The plugin of a SPEC with its settings, checked against the declarations.
    mutating func declared(
        _ spec: PluginSpec, _ place: Place
    ) -> (plugin: AnalyzerPlugin, values: SettingValues, policy: FailurePolicy)? {
        guard let plugin = found(spec.id, in: registry.analyzers, role: "analyzer", place),
            let (values, _, policy) = values(from: spec, of: plugin.about, PluginRegistry.commonSettings, place)
        else { return nil }
        let name = spec.analyzerName
        let conflict = conflict(ofName: name)
        guard Self.isKey(name), conflict == nil else {
            // The id of a plugin that is a key is a problem of the program, which `pipeline` reports once.
            if spec.alias == nil, reservedNames[name] != nil { return nil }
            let key = name.isEmpty ? "NAME" : String(name.map { Self.isKey(String($0)) ? $0 : "_" })
            let reason = conflict.map { "\($0); choose another one with as=NAME" } ?? "allowed are letters, digits and _; write as=\(key)"
            fail("\"\(name)\" cannot be an analyzer's name: \(reason)", at: place)
            return nil
        }
        return (plugin, values, policy)
    }

    private mutating func add(
        _ declared: (plugin: AnalyzerPlugin, values: SettingValues, policy: FailurePolicy), _ spec: PluginSpec, _ place: Place
    ) {
        let (plugin, values) = (declared.plugin, declared.values)
        guard let analyzer = instance(place, { () throws(Problem) in try plugin.make(values) }) else { return }
        analyzers.append(
            Pipeline.AnalyzerEntry(
                name: spec.analyzerName, about: plugin.about, settings: values, analyzer: analyzer, policy: declared.policy))
    }

    /// Why no analyzer can have a name; nil: one can. Allowed are record types that are also the id of an analyzer, and `beat`, for any beat
    /// tracker.
    private func conflict(ofName name: String) -> String? {
        if let place = reservedNames[name] { return "it is a field of \(place)" }
        let shared = registry.analyzers.map(\.about.id.recordName) + [RecordType.beat.name]
        return catalog.recordTypes.contains(name) && !shared.contains(name) ? "it is a type of records" : nil
    }

    /// Whether a name can be a key in records: a word in `jq`, SQL and Python.
    private static func isKey(_ name: String) -> Bool {
        !name.isEmpty && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }
}
