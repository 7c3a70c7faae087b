internal import Hemiola

extension Assembly {
    /// The values of summaries that the analyzers of the pipeline have.
    func summaryValues(_ batching: Batching) -> SummarySelection {
        let format = AnalysisFormat(Self.format, batching: batching, seed: 0)
        var described: [StreamHeader.Analyzer] = []
        var sections: [StreamSummary.Section] = []
        for entry in analyzers {
            guard let (outputs, values) = try? entry.describe(for: format, startsExternals: false) else { continue }
            described.append(entry.header(outputs))
            if !values.isEmpty { sections.append(StreamSummary.Section(analyzer: entry.name, values: values)) }
        }
        return SummarySelection(described, sections)
    }

    /// Those of a recording: its features, and the values that the program's analyzers have.
    func summaryValues(of recorded: [StreamHeader.Analyzer]) -> SummarySelection {
        let sections = recorded.map { StreamSummary.Section(analyzer: $0.name, values: summaryValues(of: $0.id)) }
        return SummarySelection(recorded, sections.filter { !$0.values.isEmpty })
    }

    /// The values that an analyzer of the program has for a whole stream, with its default settings; none if it needs settings.
    func summaryValues(of id: String) -> [SummaryValue] {
        var ignored: [Problem] = []
        guard let plugin = registry.analyzers.first(where: { $0.about.id == id }),
            let values = plugin.about.values(from: PluginSpec(id), problems: &ignored),
            let analyzer = try? plugin.make(values), !(analyzer is any ExternalAnalyzer),
            (try? analyzer.prepare(AnalysisFormat(Self.format, batching: .standard, seed: 0))) != nil
        else { return [] }
        return analyzer.summary()
    }

    /// Whether an item names a value that summaries have, and batches do not.
    func isOfSummaries(_ item: String) -> Bool {
        let sections = registry.analyzers.map { plugin in
            StreamSummary.Section(analyzer: plugin.about.id.recordName, values: summaryValues(of: plugin.about.id))
        }
        return (try? SummarySelection([], sections).path(of: item)) != nil
    }

    func selection(of values: SummarySelection, _ items: [String]) throws(Problem) -> SummarySelection {
        var values = values
        if !items.isEmpty { try values.select(items, installed: registry.analyzers.map(\.about.id)) }
        return values
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
    func checkSelections(of pipeline: Pipeline) throws(Problem) {
        guard sinks.contains(where: { !$0.selection.featurePaths.isEmpty }) else { return }
        let recorded = recording?.header.analyzers
        let analyzers = recorded ?? (try? pipeline.describeAnalyzers(for: Self.format, startsExternals: false)) ?? []
        let externals = Set(self.analyzers.filter(\.isExternal).map(\.name))
        var problems: [Problem] = []
        for item in Set(sinks.flatMap { $0.selection.featurePaths.map(\.text) }).sorted() {
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
                let types = catalog.recordTypes
                let names = recorded == nil ? pipeline.analyzerNames + registry.analyzers.map(\.about.id) : pipeline.analyzerNames
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
}
