internal import Hemiola

extension Assembly {
    /// Adds the sinks and the control sources of the configuration, and the sinks that other ones want.
    mutating func addSinks() {
        var names = SinkNames()
        var specs = configuration.sinks[...]
        var index = -1
        while let spec = specs.popFirst() {
            index += 1
            let place = Place.sink(index)
            guard let plugin = foundSink(spec.id, place),
                let (values, commonValues, policy) = values(from: spec, of: plugin.about, PluginRegistry.commonSinkSettings, place),
                var entry = sinkEntry(plugin, values, policy, named: names.unused(spec.name), place)
            else { continue }
            for other in entry.needs.sinks where recording == nil && registry.sinks.first(id: other.id) != nil {
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
            sinks.append(entry)
        }
        // A control source runs as a sink. It writes nothing: no selection is its own, and it gets only the events that it needs.
        for (index, spec) in configuration.controls.enumerated() {
            let place = Place.control(index)
            guard let plugin = found(spec.id, in: registry.controls, role: "control source", place)?.sink,
                let (values, _, policy) = values(from: spec, of: plugin.about, PluginRegistry.commonSettings, place),
                var entry = sinkEntry(plugin, values, policy, named: names.unused(spec.controlName), place)
            else { continue }
            entry.selection = Selection(items: [], catalog: catalog)
            sinks.append(entry)
        }
    }

    private mutating func sinkEntry(
        _ plugin: SinkPlugin, _ values: SettingValues, _ policy: FailurePolicy, named name: String, _ place: Place
    ) -> Pipeline.SinkEntry? {
        guard let sink = instance(place, { () throws(Problem) in try plugin.make(values) }) else { return nil }
        return Pipeline.SinkEntry(
            place: place, name: name, about: plugin.about, sink: sink, hasDirector: sink.read { $0 is any DirectingSink } ?? false,
            needs: plugin.needs(values), policy: policy)
    }

    /// The sink of an id, or the control source that was a sink of this id.
    private mutating func foundSink(_ id: String, _ place: Place) -> SinkPlugin? {
        if let control = registry.control(namedAsSink: id) { return control.sink }
        return found(id, in: registry.sinks, role: "sink", place)
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
