import Hemiola
import HemiolaEngine
import HemiolaTesting
import LevelsAnalyzer
import SpectrumAnalyzer
import TestSupport
import Testing

/// Pipelines made from configurations.
@Suite(.mayNotHang) struct AssemblyTests {
    private func registry(needs: SinkPlugin.Needs = SinkPlugin.Needs()) -> PluginRegistry {
        PluginRegistry(
            captures: [.scripted([]), .scripted(as: "live", isLive: true, [])], analyzers: [.levels, .spectrum, .witness()],
            sinks: [.collecting(CollectingSink()), .collecting(CollectingSink(), as: "needy", needs: needs)])
    }

    private func problems(
        captures: [String] = ["scripted"], analyzers: [String] = [], sinks: [String] = [], batchFrames: Int = 1024,
        sampleRate: Int? = nil, selection: [String] = [], needs: SinkPlugin.Needs = SinkPlugin.Needs()
    ) throws -> [String] {
        let configuration = PipelineConfiguration(
            captures: try captures.map(PluginSpec.init(parsing:)), analyzers: try analyzers.map(PluginSpec.init(parsing:)),
            sinks: try sinks.map(PluginSpec.init(parsing:)), batchFrames: batchFrames, sampleRate: sampleRate, selection: selection)
        do {
            _ = try registry(needs: needs).assemble(configuration)
            return []
        } catch {
            return error.all.map(\.description)
        }
    }

    @Test func `several problems: all are reported at once, each with its path`() throws {
        let found = try problems(
            captures: ["scripted:colour=red", "fiel"], analyzers: ["spectrum:bands=-1,size=many", "levels", "levels", "level"],
            sinks: ["collecting", "collecting:lead_ms=never", "collectin"], batchFrames: 100, sampleRate: 1)
        #expect(
            found == [
                "batch: 100 is outside 256...8192 frames",
                "rate: 1 is outside 8000...384000 Hz",
                "captures[0].colour: scripted has no such setting; there are: name, on_error, min_version",
                "captures[1]: there is no capture \"fiel\"; there are: scripted, live",
                "sinks[1].lead_ms: \"never\" is not a number within -60000...60000 ms",
                "sinks[2]: there is no sink \"collectin\"; did you mean collecting?",
                "analyzers[0].size: \"many\" is not a whole number within 64...65536 frames",
                "analyzers[0].bands: -1 is outside 0...1024",
                "analyzers[2]: two analyzers have the name \"levels\"; rename one with as=NAME",
                "analyzers[3]: there is no analyzer \"level\"; did you mean levels?",
            ])
    }

    @Test(arguments: [
        (255, "255 is outside 256...8192 frames"), (8193, "8193 is outside 256...8192 frames"),
        (1025, "1025 is above 1024 and not a multiple of 256 frames; use 1024 or 1280"),
        (4095, "4095 is above 1024 and not a multiple of 256 frames; use 3840 or 4096"),
    ])
    func `invalid batch size: refused, with the nearest valid sizes`(size: Int, message: String) throws {
        #expect(try problems(batchFrames: size) == ["batch: \(message)"])
    }

    @Test(arguments: [256, 257, 1023, 1024, 1280, 4096, 8192])
    func `valid batch size: no problem`(size: Int) throws {
        #expect(try problems(batchFrames: size) == [])
    }

    @Test func `error of a plugin's initializer: reported with the path of its settings`() throws {
        #expect(try problems(analyzers: ["spectrum:size=1023"]) == ["analyzers[0].size: 1023 is odd; take 1024"])
        #expect(
            try problems(analyzers: ["levels", "spectrum:min_hz=500,max_hz=100"]) == [
                "analyzers[1].max_hz: 100.0 is not above min_hz, 500.0; raise it"
            ])
    }

    @Test func `no capture: a problem`() throws {
        #expect(try problems(captures: []) == ["captures: no input; name a capture"])
    }

    @Test func `live capture and another capture: a problem`() throws {
        #expect(try problems(captures: ["live"]) == [])
        #expect(
            try problems(captures: ["scripted", "live"]) == ["captures[1]: live is a live capture, which must be the only capture"])
    }

    // MARK: - Names

    @Test func `second instance of a plugin: gets a number in its name`() throws {
        let pipeline = try registry().assemble(
            PipelineConfiguration(
                captures: [PluginSpec("scripted")],
                analyzers: [PluginSpec("levels"), PluginSpec("levels", as: "loud"), PluginSpec("spectrum", as: "fine_2_x")],
                sinks: [PluginSpec("collecting"), PluginSpec("collecting"), PluginSpec("needy", as: "collecting")]))
        #expect(pipeline.analyzerNames == ["levels", "loud", "fine_2_x"])
        #expect(pipeline.sinkNames == ["collecting", "collecting-2", "collecting-3"])
    }

    @Test func `number that an alias already uses: skipped`() throws {
        let names = ["collecting", "collecting-2", "collecting", "collecting-2"]
        let pipeline = try registry().assemble(
            PipelineConfiguration(captures: [PluginSpec("scripted")], sinks: names.map { PluginSpec("collecting", as: $0) }))
        #expect(pipeline.sinkNames == ["collecting", "collecting-2", "collecting-3", "collecting-2-2"])
    }

    @Test func `5000 sinks of one plugin: the last name has the number 5000`() throws {
        let count = 5000
        let pipeline = try registry().assemble(
            PipelineConfiguration(
                captures: [PluginSpec("scripted")], sinks: Array(repeating: PluginSpec("collecting"), count: count)))
        #expect(pipeline.sinkNames.last == "collecting-\(count)")
    }

    @Test(arguments: [
        ("frame", "it is a field of \"batch\" records"), ("t", "it is a field of \"batch\" records"),
        ("partial", "it is a field of \"batch\" records"), ("type", "it is a field of all records"),
        ("file", "it is a field of all records"),
        ("bpm", "it is a field of \"beat\" records"), ("id", "it is a field of replies to clients"), ("onset", "it is a type of records"),
        ("end", "it is a type of records"),
    ])
    func `name of a record key: refused, with the record that has it`(name: String, reason: String) throws {
        #expect(
            try problems(analyzers: ["levels:as=\(name)"]) == [
                "analyzers[0]: \"\(name)\" cannot be an analyzer's name: \(reason); choose another one with as=NAME"
            ])
    }

    @Test(arguments: [("partial", "\"batch\" records"), ("sample-rate", "\"header\" records"), ("width", "\"frame_size\" records")])
    func `registered analyzer whose id is a key: one problem of the program, which names the id, the field and its record`(
        id: String, place: String
    ) throws {
        let sizes = RecordType("frame_size", "A size.", fields: [.number("width", "The width.")])
        let other = AnalyzerPlugin(
            PluginDescription("sizes", "Has a record.", declares: .init(records: [sizes])), settings: NoSettings.self
        ) { _ throws(Problem) in
            Faulty(.none)
        }
        let plugin = AnalyzerPlugin(PluginDescription(id, "Has the id of a key."), settings: NoSettings.self) { _ throws(Problem) in
            Faulty(.none)
        }
        let registry = PluginRegistry(
            captures: [.scripted([])], analyzers: [other, plugin], sinks: [.collecting(CollectingSink())])
        let key = id == "sample-rate" ? "sample_rate" : id
        let expected = "plugins: the analyzer \"\(id)\" has the name of the field \"\(key)\" of \(place); rename it"
        for analyzer in [PluginSpec(id), PluginSpec("sizes")] {
            let configuration = PipelineConfiguration(
                captures: [PluginSpec("scripted")], analyzers: [analyzer], sinks: [PluginSpec("collecting")])
            let error = #expect(throws: Problem.self) { try registry.assemble(configuration) }
            #expect(error?.all.map(\.description) == [expected])
        }
    }

    @Test(arguments: [("", "NAME"), ("zwei wörter", "zwei_w_rter"), ("a.b", "a_b"), ("a/b", "a_b"), ("a-b", "a_b")])
    func `name that is not a valid key: refused, with one that is`(name: String, valid: String) throws {
        #expect(
            try problems(analyzers: ["levels:as=\(name)"]) == [
                "analyzers[0]: \"\(name)\" cannot be an analyzer's name: allowed are letters, digits and _; write as=\(valid)"
            ])
    }

    @Test func `analyzer with the name beat: accepted`() throws {
        #expect(try problems(analyzers: ["levels:as=beat"]) == [])
    }

    // MARK: - Needs of sinks

    private let spectrumNeed = SinkPlugin.Needs(analyzers: [PluginSpec("spectrum", settings: ["bands": .text("8")])])

    @Test func `analyzer that a sink needs is missing: added`() throws {
        let pipeline = try registry(needs: spectrumNeed).assemble(
            PipelineConfiguration(
                captures: [PluginSpec("scripted")], analyzers: [PluginSpec("levels")],
                sinks: [PluginSpec("needy"), PluginSpec("needy", as: "second")]))
        #expect(pipeline.analyzerNames == ["levels", "spectrum"])
        let header = try pipeline.describeAnalyzers(for: TestSignal.mono)
        #expect(header[1].parameters.first { $0.key == "bands" }?.value == .integer(8))
    }

    @Test(arguments: [["spectrum:bands=8,size=512"], ["spectrum:size=512"]])
    func `analyzer that a sink needs has the needed settings or leaves them out: it has both`(analyzers: [String]) throws {
        let pipeline = try registry(needs: spectrumNeed).assemble(
            PipelineConfiguration(
                captures: [PluginSpec("scripted")], analyzers: try analyzers.map(PluginSpec.init(parsing:)),
                sinks: [PluginSpec("collecting"), PluginSpec("needy")]))
        #expect(pipeline.analyzerNames == ["spectrum"])
        let parameters = try pipeline.describeAnalyzers(for: TestSignal.mono)[0].parameters
        #expect(parameters.first { $0.key == "bands" }?.value == .integer(8))
        #expect(parameters.first { $0.key == "size" }?.value == .integer(512))
    }

    @Test func `two sinks need an analyzer, one of them with a setting: it has the setting`() throws {
        let plain = SinkPlugin.Needs(analyzers: [PluginSpec("spectrum")])
        let registry = registry(needs: plain).adding(sinks: [.collecting(CollectingSink(), as: "exacting", needs: spectrumNeed)])
        let pipeline = try registry.assemble(
            PipelineConfiguration(captures: [PluginSpec("scripted")], sinks: [PluginSpec("needy"), PluginSpec("exacting")]))
        let parameters = try pipeline.describeAnalyzers(for: TestSignal.mono)[0].parameters
        #expect(parameters.first { $0.key == "bands" }?.value == .integer(8))
    }

    @Test func `analyzer that a sink needs has other settings: a problem`() throws {
        #expect(
            try problems(analyzers: ["spectrum:bands=16"], sinks: ["needy"], needs: spectrumNeed) == [
                "analyzers: a sink needs spectrum with bands=8; set it so, or name your own one with as=NAME"
            ])
        #expect(try problems(analyzers: ["spectrum:as=mine"], sinks: ["needy"], needs: spectrumNeed) == [])
        #expect(try problems(analyzers: ["levels:as=spectrum"], sinks: ["needy"], needs: spectrumNeed).count == 1)
    }

    @Test func `analyzer that a sink needs is not registered: a problem`() throws {
        let need = SinkPlugin.Needs(analyzers: [PluginSpec("visualizer")])
        #expect(try problems(sinks: ["needy"], needs: need).count == 1)
        #expect(try problems(sinks: ["collecting"], needs: need) == [])
    }

    @Test(arguments: [
        (["needy", "needy:as=b"], "collecting", ["needy", "b", "collecting"]),
        (["needy", "collecting:as=own"], "collecting", ["needy", "own"]),
        (["collecting:as=own", "needy"], "collecting", ["own", "needy"]), (["needy"], "missing", ["needy"]),
    ])
    func `sink that another one wants: added if the program has it and the pipeline does not`(
        sinks: [String], id: String, names: [String]
    ) throws {
        let pipeline = try registry(needs: SinkPlugin.Needs(sinks: [PluginSpec(id)])).assemble(
            PipelineConfiguration(captures: [PluginSpec("scripted")], sinks: try sinks.map(PluginSpec.init(parsing:))))
        #expect(pipeline.sinkNames == names)
    }

    @Test func `two sinks write to standard output: a problem`() throws {
        #expect(
            try problems(sinks: ["needy", "needy:as=b"], needs: SinkPlugin.Needs(standardOutput: true)) == [
                "sinks: needy and b both write to standard output; use a path for one of them"
            ])
    }

    // MARK: - Selections

    @Test func `selection: unknown names are problems with a suggestion`() throws {
        let good = ["collecting:select=beat+levels+spectrum.flux+end"]
        #expect(try problems(analyzers: ["levels", "spectrum"], sinks: good) == [])
        #expect(
            try problems(analyzers: ["levels", "spectrum"], sinks: ["collecting:select=beats+levels.rms+spectrum.bands_db"]) == [
                "select: \"beats\" is not a record type, analyzer or feature of this pipeline; did you mean beat?",
                "select: \"levels.rms\" is not a record type, analyzer or feature of this pipeline; did you mean levels.rms_db?",
            ])
        // The name of a feature without its analyzer: the whole name, or its first part.
        #expect(
            try problems(analyzers: ["levels", "spectrum"], sinks: ["collecting"], selection: ["flux", "rms"]) == [
                "select: \"flux\" is not a record type, analyzer or feature of this pipeline; did you mean spectrum.flux?",
                "select: \"rms\" is not a record type, analyzer or feature of this pipeline; did you mean levels.rms_db?",
            ])
        #expect(try problems(sinks: ["collecting"], selection: ["nothing-like-it"]).count == 1)
        #expect(try problems(sinks: ["collecting:select=beat"], selection: ["nothing-like-it"]) == [])
    }

    @Test func `pipeline that does not run: no plugin is called`() throws {
        let log = Log<String>()
        let sink = CollectingSink()
        let registry = PluginRegistry(
            captures: [.scripted(log: { log.append($0) }, [])], analyzers: [.witness(log)], sinks: [.collecting(sink)])
        let pipeline = try registry.assemble(
            PipelineConfiguration(
                captures: [PluginSpec("scripted")], analyzers: [PluginSpec("witness")], sinks: [PluginSpec("collecting")]))
        #expect(log.items.isEmpty && sink.calls.isEmpty)
        #expect(!pipeline.isPaced)
    }
}
