import Hemiola
import Testing

@Suite struct RegistryTests {
    private func capture(_ id: String, _ summary: String = "A capture.") -> CapturePlugin {
        CapturePlugin(PluginDescription(id, summary), settings: NoSettings.self) { _ throws(Problem) in throw Problem("never made") }
    }

    private func analyzer(_ id: String) -> AnalyzerPlugin {
        AnalyzerPlugin(PluginDescription(id, "An analyzer."), settings: NoSettings.self) { _ throws(Problem) in
            throw Problem("never made")
        }
    }

    private func sink(_ id: String) -> SinkPlugin {
        SinkPlugin(PluginDescription(id, "A sink."), settings: NoSettings.self) { _ throws(Problem) in throw Problem("never made") }
    }

    private func control(_ id: String) -> ControlPlugin {
        ControlPlugin(
            PluginDescription(id, "A control source."), settings: NoSettings.self,
            make: { _ throws(Problem) in throw Problem("never made") })
    }

    @Test func `adding plugins: appended to the existing ones`() {
        let registry = PluginRegistry(
            captures: [capture("file")], analyzers: [analyzer("levels")], defaultAnalyzers: [PluginSpec("levels")]
        )
        .adding(captures: [capture("mine")], analyzers: [analyzer("mood")], sinks: [sink("lamp")], controls: [control("keys")])
        #expect(registry.captures.map(\.about.id) == ["file", "mine"])
        #expect(registry.analyzers.map(\.about.id) == ["levels", "mood"])
        #expect(registry.sinks.map(\.about.id) == ["lamp"])
        #expect(registry.controls.map(\.about.id) == ["keys"])
        #expect(registry.defaultAnalyzers == [PluginSpec("levels")])
    }

    @Test func `adding a plugin with an existing id: takes its place`() {
        let registry = PluginRegistry(captures: [capture("file"), capture("tone")]).adding(captures: [capture("file", "Another.")])
        #expect(registry.captures.map(\.about.id) == ["file", "tone"])
        #expect(registry.captures.map(\.about.summary) == ["Another.", "A capture."])
    }

    @Test func `adding plugins: the original registry is unchanged`() {
        let registry = PluginRegistry(sinks: [sink("one")])
        _ = registry.adding(sinks: [sink("two")])
        #expect(registry.sinks.map(\.about.id) == ["one"])
    }

    @Test func `control source named as a sink: by ID-control, unless a sink has that id`() {
        let registry = PluginRegistry(controls: [control("midi"), control("osc")])
        #expect(registry.control(namedAsSink: "osc-control")?.about.id == "osc")
        #expect(registry.control(namedAsSink: "osc") == nil && registry.control(namedAsSink: "link-control") == nil)
        #expect(registry.adding(sinks: [sink("osc-control")]).control(namedAsSink: "osc-control") == nil)
    }

    @Test func `alias: finds the plugin, with the settings that it stands for, unless a plugin has that id`() throws {
        struct Lamps: PluginSettings {
            init(_ read: inout SettingReader) { _ = read.text("wire", default: "red", "Which.") }
        }
        let about = PluginDescription("lamps", "Lamps.", declares: .init(aliases: ["blue": ["wire": .text("blue")]]))
        let lamps = SinkPlugin(about, settings: Lamps.self) { _ throws(Problem) in throw Problem("never made") }
        let registry = PluginRegistry(sinks: [lamps])
        func wire(_ id: String) -> ParameterValue? {
            var problems: [Problem] = []
            let plugin: SinkPlugin? = try? registry.find(id, in: registry.sinks, role: "sink").get()
            return plugin?.about.values(from: PluginSpec(id), problems: &problems)?["wire"]
        }
        #expect(wire("lamps") == .text("red") && wire("blue") == .text("blue"))
        let more = registry.adding(sinks: [sink("blue")])
        #expect(more.sinks.first(id: "blue")?.about.id == "blue")
    }

    @Test func `catalog: the types of the plugin API, then those of all plugins, each once`() {
        let (clap, wave) = (RecordType("clap", "A clap.", fields: []), RecordType("wave", "A wave.", fields: []))
        let (start, stop) = (ControlType("start", "Starts."), ControlType("stop", "Stops."))
        let analyzer = AnalyzerPlugin(
            PluginDescription("mood", "An analyzer.", declares: .init(records: [clap], controls: [start])), settings: NoSettings.self
        ) {
            _ throws(Problem) in
            throw Problem("never made")
        }
        let sink = SinkPlugin(
            PluginDescription("lamp", "A sink.", declares: .init(records: [clap, wave], controls: [start], fallbackControls: [stop])),
            settings: NoSettings.self
        ) {
            _ throws(Problem) in throw Problem("never made")
        }
        let catalog = PluginRegistry(analyzers: [analyzer]).adding(sinks: [sink]).catalog
        #expect(
            catalog.recordTypes == [
                "header", "batch", "onset", "beat", "event", "clap", "wave", "control", "device", "gap", "polarity", "dropped", "end",
                "failure",
            ])
        #expect(catalog.controls.map(\.name) == ["start", "stop"])
        #expect(catalog.control("stop") == stop && catalog.event("wave") == wave && catalog.control("wave") == nil)
    }
}
