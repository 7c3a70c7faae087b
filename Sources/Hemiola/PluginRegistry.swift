public import HemiolaRecords
public import HemiolaSystem

/// The plugins that a program has. No hidden registration: the list is code.
public struct PluginRegistry: Sendable {
    /// The kinds of capture.
    public private(set) var captures: [CapturePlugin]
    /// The kinds of analyzer.
    public private(set) var analyzers: [AnalyzerPlugin]
    /// The kinds of sink.
    public private(set) var sinks: [SinkPlugin]
    /// The kinds of control source.
    public private(set) var controls: [ControlPlugin]
    /// What runs when nothing is named.
    public var defaultAnalyzers: [PluginSpec]
    /// The capture of `hemiola listen`; its primary setting takes the name of a device. nil: there is no live capture.
    public var liveCapture: PluginSpec?

    /// A registry of just these plugins.
    public init(
        captures: [CapturePlugin] = [], analyzers: [AnalyzerPlugin] = [], sinks: [SinkPlugin] = [], controls: [ControlPlugin] = [],
        defaultAnalyzers: [PluginSpec] = [], liveCapture: PluginSpec? = nil
    ) {
        self.captures = captures
        self.analyzers = analyzers
        self.sinks = sinks
        self.controls = controls
        self.defaultAnalyzers = defaultAnalyzers
        self.liveCapture = liveCapture
    }

    /// The declarations of all plugins: captures, analyzers, sinks, control sources.
    package var declarations: [PluginDescription] {
        let analysis = captures.map(\.about) + analyzers.map(\.about)
        return analysis + sinks.map(\.about) + controls.map(\.about)
    }

    /// The record types and controls that the plugins declare, with those of the plugin API.
    public var catalog: RecordCatalog {
        let abouts = declarations
        return RecordCatalog(
            records: abouts.flatMap(\.records), controls: abouts.flatMap { $0.controls + $0.fallbackControls })
    }

    /// This registry and more plugins; one with the id of an older one takes its place.
    public func adding(
        captures: [CapturePlugin] = [], analyzers: [AnalyzerPlugin] = [], sinks: [SinkPlugin] = [], controls: [ControlPlugin] = []
    ) -> PluginRegistry {
        var sum = self
        sum.captures = Self.merged(self.captures, captures)
        sum.analyzers = Self.merged(self.analyzers, analyzers)
        sum.sinks = Self.merged(self.sinks, sinks)
        sum.controls = Self.merged(self.controls, controls)
        return sum
    }

    private static func merged<Kind: Plugin>(_ old: [Kind], _ new: [Kind]) -> [Kind] {
        let others = new.filter { plugin in !old.contains { $0.about.id == plugin.about.id } }
        return old.map { plugin in new.first { $0.about.id == plugin.about.id } ?? plugin } + others
    }

    /// The control source that pipelines named as a sink of this id, such as `midi-control`, before control sources had a role of their own;
    /// nil: there is none, or there is such a sink.
    package func control(namedAsSink id: String) -> ControlPlugin? {
        if sinks.contains(where: { $0.about.id == id }) { return nil }
        return controls.first { PluginSpec($0.about.id).controlName == id }
    }

    /// The plugin of an id, or a problem that names the nearest one.
    package func find<Kind: Plugin>(_ id: String, in plugins: [Kind], role: String) -> Result<Kind, Problem> {
        if let plugin = plugins.first(id: id) { return .success(plugin) }
        let ids = plugins.map(\.about.id)
        // Who writes `tempo` means the one that says it finds it.
        let nearest =
            id.nearest(in: ids + plugins.flatMap { $0.about.aliases.keys.sorted() })
            ?? plugins.first { $0.about.summary.hasWord(id) }?.about.id
        let hint = nearest.map { "did you mean \($0)?" } ?? "there are: \(ids.joined(separator: ", "))"
        return .failure(Problem("there is no \(role) \"\(id)\"; \(hint)"))
    }
}

extension Array where Element: Plugin {
    /// The plugin of an id, else the one that has it as an alias.
    package func first(id: String) -> Element? {
        // By index: a generic sequence takes the runtime a search for its conformance at start-up.
        for index in indices where self[index].about.id == id { return self[index] }
        for index in indices where self[index].about.aliases[id] != nil { return self[index] }
        return nil
    }
}

extension PluginDescription {
    /// Checks a SPEC's settings against the declarations and fills in those of an alias and the defaults.
    ///
    /// - Parameters:
    ///   - spec: The SPEC.
    ///   - common: Settings that the pipeline takes from every SPEC of this role; they are no parameters of the plugin.
    ///   - place: The place of the SPEC; nil: it is not known.
    ///   - problems: Where every problem goes, with its place.
    /// - Returns: nil when there was a problem.
    public func values(
        from spec: PluginSpec, common: [Field] = [], at place: Place? = nil, problems: inout [Problem]
    ) -> SettingValues? {
        let before = problems.count
        var given = spec.settings.merging(aliases[spec.id] ?? [:]) { given, _ in given }
        if let item = spec.primary {
            if let primary {
                if given.updateValue(item, forKey: primary) != nil {
                    problems.append(Problem("\(primary) is given twice: \"\(item.text)\" and \(primary)=", at: place))
                }
            } else {
                problems.append(Problem("\(spec.id) takes no \"\(item.text)\" without a key; write key=value", at: place))
            }
        }
        let known = given.isEmpty ? [] : keys + common.map(\.name)
        for key in given.keys.sorted() where !known.contains(key) {
            let hint =
                key.nearest(in: known + ["as"]).map { "did you mean \($0)?" }
                ?? (known.isEmpty ? "it has none" : "there are: \(known.joined(separator: ", "))")
            problems.append(Problem("\(spec.id) has no such setting; \(hint)", at: .key(key).below(place)))
        }
        var parameters: [Parameter] = []
        for setting in settings {
            var value = setting.defaultValue ?? .none
            if let raw = given[setting.name] {
                do {
                    value = try setting.parse(raw)
                } catch {
                    problems.append(Problem(error.message, at: .key(setting.name).below(place)))
                }
            }
            parameters.append(Parameter(setting.name, value))
        }
        return problems.count == before ? SettingValues(parameters) : nil
    }
}
