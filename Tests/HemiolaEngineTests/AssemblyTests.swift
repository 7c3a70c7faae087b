import Hemiola
import HemiolaEngine
import HemiolaSignal
import HemiolaTesting
import LevelsAnalyzer
import SpectrumAnalyzer
import TestSupport
import Testing

/// From a configuration to a pipeline.
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
            return error.problems.map(\.description)
        }
    }

    @Test func `all that is wrong is told at once, each with its path`() throws {
        let found = try problems(
            captures: ["scripted:colour=red", "fiel"], analyzers: ["spectrum:bands=-1,size=many", "levels", "levels", "level"],
            sinks: ["collecting", "collecting:lead_ms=never", "collectin"], batchFrames: 100, sampleRate: 1)
        #expect(
            found == [
                "batch: 100 is outside 256...8192 frames",
                "rate: 1 is outside 8000...384000 Hz",
                "captures[0].colour: scripted has no such setting; there are: name",
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
    func `a batch size that cannot be is refused with the nearest that can`(size: Int, message: String) throws {
        #expect(try problems(batchFrames: size) == ["batch: \(message)"])
    }

    @Test(arguments: [256, 257, 1023, 1024, 1280, 4096, 8192])
    func `batch sizes that can be`(size: Int) throws {
        #expect(try problems(batchFrames: size) == [])
    }

    @Test func `a plugin's own complaint gets its path`() throws {
        #expect(try problems(analyzers: ["spectrum:size=1023"]) == ["analyzers[0].size: 1023 is odd; take 1024"])
        #expect(
            try problems(analyzers: ["levels", "spectrum:min_hz=500,max_hz=100"]) == [
                "analyzers[1].max_hz: 100.0 is not above min_hz, 500.0"
            ])
    }

    @Test func `without a capture there is nothing to do`() throws {
        #expect(try problems(captures: []) == ["captures: no input; name a capture"])
    }

    @Test func `a live capture stands alone`() throws {
        #expect(try problems(captures: ["live"]) == [])
        #expect(
            try problems(captures: ["scripted", "live"]) == ["captures[1]: live is a live capture, which must be the only capture"])
    }

    // MARK: - Names

    @Test func `a second instance has a name of its own`() throws {
        let pipeline = try registry().assemble(
            PipelineConfiguration(
                captures: [PluginSpec("scripted")],
                analyzers: [PluginSpec("levels"), PluginSpec("levels", as: "loud"), PluginSpec("spectrum", as: "fine_2-x")],
                sinks: [PluginSpec("collecting"), PluginSpec("collecting"), PluginSpec("needy", as: "collecting")]))
        #expect(pipeline.analyzerNames == ["levels", "loud", "fine_2-x"])
        #expect(pipeline.sinkNames == ["collecting", "collecting-2", "collecting-3"])
    }

    @Test func `a number that somebody has already is passed over`() throws {
        let names = ["collecting", "collecting-2", "collecting", "collecting-2"]
        let pipeline = try registry().assemble(
            PipelineConfiguration(captures: [PluginSpec("scripted")], sinks: names.map { PluginSpec("collecting", as: $0) }))
        #expect(pipeline.sinkNames == ["collecting", "collecting-2", "collecting-3", "collecting-2-2"])
    }

    @Test func `many sinks of a kind get their names in no time`() throws {
        let count = 5000
        let pipeline = try registry().assemble(
            PipelineConfiguration(
                captures: [PluginSpec("scripted")], sinks: Array(repeating: PluginSpec("collecting"), count: count)))
        #expect(pipeline.sinkNames.last == "collecting-\(count)")
    }

    @Test(arguments: ["frame", "t", "type", "onset", "end", "bpm", "file", "id"])
    func `a name that the records use is refused`(name: String) throws {
        #expect(
            try problems(analyzers: ["levels:as=\(name)"]) == [
                "analyzers[0]: \"\(name)\" cannot be an analyzer's name: the records use this key"
            ])
    }

    @Test(arguments: ["", "zwei wörter", "a.b", "a/b"])
    func `a name that is no key is refused`(name: String) throws {
        #expect(
            try problems(analyzers: ["levels:as=\(name)"]) == [
                "analyzers[0]: \"\(name)\" cannot be an analyzer's name: allowed are letters, digits, - and _"
            ])
    }

    @Test func `an analyzer may be called beat`() throws {
        #expect(try problems(analyzers: ["levels:as=beat"]) == [])
    }

    // MARK: - What sinks need

    private let spectrumNeed = SinkPlugin.Needs(analyzers: [PluginSpec("spectrum", settings: ["bands": .text("8")])])

    @Test func `what a sink needs is added`() throws {
        let pipeline = try registry(needs: spectrumNeed).assemble(
            PipelineConfiguration(
                captures: [PluginSpec("scripted")], analyzers: [PluginSpec("levels")],
                sinks: [PluginSpec("needy"), PluginSpec("needy", as: "second")]))
        #expect(pipeline.analyzerNames == ["levels", "spectrum"])
        let header = try pipeline.describeAnalyzers(for: TestSignal.mono)
        #expect(header[1].parameters.first { $0.key == "bands" }?.value == .integer(8))
    }

    @Test func `what is there and fits is enough`() throws {
        #expect(try problems(analyzers: ["spectrum:bands=8,size=512"], sinks: ["needy"], needs: spectrumNeed) == [])
    }

    @Test func `what is there and does not fit is told`() throws {
        #expect(
            try problems(analyzers: ["spectrum"], sinks: ["needy"], needs: spectrumNeed) == [
                "analyzers: a sink needs spectrum with bands=8; name your own one with as=NAME"
            ])
        #expect(try problems(analyzers: ["spectrum:as=mine"], sinks: ["needy"], needs: spectrumNeed) == [])
        #expect(try problems(analyzers: ["levels:as=spectrum"], sinks: ["needy"], needs: spectrumNeed).count == 1)
    }

    @Test func `a need that nobody can meet is told`() throws {
        let need = SinkPlugin.Needs(analyzers: [PluginSpec("visualizer")])
        #expect(try problems(sinks: ["needy"], needs: need).count == 1)
        #expect(try problems(sinks: ["collecting"], needs: need) == [])
    }

    @Test func `standard output has one writer`() throws {
        #expect(
            try problems(sinks: ["needy", "needy:as=b"], needs: SinkPlugin.Needs(standardOutput: true)) == [
                "sinks: needy and b both write to standard output; use a path for one of them"
            ])
    }

    // MARK: - Selections

    @Test func `a selection names what there is`() throws {
        let good = ["collecting:select=beat+levels+spectrum.flux+end"]
        #expect(try problems(analyzers: ["levels", "spectrum"], sinks: good) == [])
        #expect(
            try problems(analyzers: ["levels", "spectrum"], sinks: ["collecting:select=beats+levels.rms+spectrum.bands_db"]) == [
                "select: \"beats\" is not a record type, analyzer or feature of this pipeline; did you mean beat?",
                "select: \"levels.rms\" is not a record type, analyzer or feature of this pipeline; did you mean levels.rms_db?",
            ])
        // A feature without its analyzer, in full or by its start.
        #expect(
            try problems(analyzers: ["levels", "spectrum"], sinks: ["collecting"], selection: ["flux", "rms"]) == [
                "select: \"flux\" is not a record type, analyzer or feature of this pipeline; did you mean spectrum.flux?",
                "select: \"rms\" is not a record type, analyzer or feature of this pipeline; did you mean levels.rms_db?",
            ])
        #expect(try problems(sinks: ["collecting"], selection: ["nothing-like-it"]).count == 1)
        #expect(try problems(sinks: ["collecting:select=beat"], selection: ["nothing-like-it"]) == [])
    }

    @Test func `a pipeline that was only checked has touched nothing`() throws {
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
