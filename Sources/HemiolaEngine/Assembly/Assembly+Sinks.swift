internal import Hemiola

extension PluginRegistry {
    func assembleSinks(
        _ configuration: PipelineConfiguration, isReplay: Bool, _ catalog: RecordCatalog, _ problems: inout [Problem]
    ) -> [(place: Place, entry: Pipeline.SinkEntry)] {
        var entries: [(place: Place, entry: Pipeline.SinkEntry)] = []
        var names = SinkNames()
        var specs = configuration.sinks[...]
        var index = -1
        while let spec = specs.popFirst() {
            index += 1
            let place = Place.sink(index)
            guard let plugin = foundSink(spec.id, place, &problems),
                let (values, commonValues) = values(from: spec, of: plugin.about, Self.commonSinkSettings, place, &problems),
                var entry = sinkEntry(plugin, values, commonValues, named: spec.name, &names, place, &problems)
            else { continue }
            for other in entry.needs.sinks where !isReplay && sinks.first(id: other.id) != nil {
                if !(configuration.sinks + specs).contains(where: { $0.id == other.id }) { specs.append(other) }
            }
            let common = CommonSinkSettings(commonValues)
            let items = common.select.isEmpty ? configuration.selection : common.select
            // Beside other sinks, the items of the pipeline are their records and features.
            let hasOthers = configuration.sinks.contains { $0.id != spec.id }
            if entry.needs.summaries {
                if !common.select.isEmpty || !hasOthers { entry.summaryItems = items }
            } else if !items.isEmpty {
                entry.selection = Selection(items: items, catalog: catalog)
            }
            if entry.needs.outputs.isEmpty, case .text(let target)? = values["path"], !target.isEmpty {
                entry.needs.outputs = [SinkPlugin.Output(target)]
            }
            entry.lead = common.lead
            entries.append((place, entry))
        }
        // A control source runs as a sink. It writes nothing: no selection is its own, and it gets only the events that it needs.
        for (index, spec) in configuration.controls.enumerated() {
            let place = Place.control(index)
            guard let plugin = found(spec.id, in: controls, role: "control source", place, &problems)?.sink,
                let (values, common) = values(from: spec, of: plugin.about, Self.commonSettings, place, &problems),
                var entry = sinkEntry(plugin, values, common, named: spec.controlName, &names, place, &problems)
            else { continue }
            entry.selection = Selection(items: [], catalog: catalog)
            entries.append((place, entry))
        }
        return entries
    }

    private func sinkEntry(
        _ plugin: SinkPlugin, _ values: SettingValues, _ common: SettingValues, named name: String, _ names: inout SinkNames,
        _ place: Place, _ problems: inout [Problem]
    ) -> Pipeline.SinkEntry? {
        do {
            let sink = try PluginInstance { () throws(Problem) in try plugin.make(values) }
            return Pipeline.SinkEntry(
                name: names.unused(name), about: plugin.about, sink: sink, hasDirector: sink.read { $0 is any DirectingSink } ?? false,
                needs: plugin.needs(values), policy: Self.policy(values, common))
        } catch {
            problems += error.all.map { $0.below(place) }
            return nil
        }
    }

    /// The sink of an id, or the control source that was a sink of this id.
    private func foundSink(_ id: String, _ place: Place, _ problems: inout [Problem]) -> SinkPlugin? {
        if let control = control(namedAsSink: id) { return control.sink }
        return found(id, in: sinks, role: "sink", place, &problems)
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
