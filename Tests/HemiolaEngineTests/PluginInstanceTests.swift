import Hemiola
import HemiolaEngine
import HemiolaTesting
import TestSupport
import Testing

/// How often a run creates its plugins: some allocate much memory, and some read files when they check their settings.
@Suite(.mayNotHang) struct PluginInstanceTests {
    private struct Names: PluginSettings {
        var name: String

        init(_ read: inout SettingReader) {
            name = read.text("name", default: "script", "The name of the source.")
        }
    }

    /// Runs a pipeline over a few files.
    ///
    /// - Returns: How often each plugin was made.
    private func run(files: Int, jobs: Int = 1, isLive: Bool = false) async throws -> [String: Int] {
        let made = Log<String>()
        let (scripted, witness) = (CapturePlugin.scripted(isLive: isLive, [silence(batches: 2)]), AnalyzerPlugin.witness())
        let sink = CollectingSink()
        var trial = Trial([])
        trial.captures = [
            CapturePlugin(PluginDescription("counted", "Counts.", primary: "name"), settings: Names.self) { names throws(Problem) in
                made.append("capture")
                return try scripted.make(settings: "name=\(names.name)")
            }
        ]
        trial.analyzers = [
            AnalyzerPlugin(witness.about, settings: NoSettings.self) { _ throws(Problem) in
                made.append("analyzer")
                return try witness.make(settings: "")
            }
        ]
        trial.sinks = [
            SinkPlugin(PluginDescription("collecting", "Counts."), settings: NoSettings.self) { _ throws(Problem) in
                made.append("sink")
                return sink
            }
        ]
        trial.configuration.captures = (0..<files).map { PluginSpec("counted", primary: .text("\($0)")) }
        trial.configuration.jobCount = jobs
        // A feature in the selection: the outputs of the analyzers are read before the run.
        trial.configuration.selection = ["witness.hops"]
        let pipeline = try trial.pipeline()
        _ = try pipeline.describeAnalyzers(for: TestSignal.mono)
        let outcome = await pipeline.run()
        #expect(outcome.streams == files && outcome.failedInputs == 0)
        #expect(sink.streams.map { $0.value("witness", "hops") } == Array(repeating: [1, 1], count: files))
        return made.items.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    @Test(arguments: [false, true]) func `one input: every plugin is made once`(isLive: Bool) async throws {
        #expect(try await run(files: 1, isLive: isLive) == ["capture": 1, "analyzer": 1, "sink": 1])
    }

    @Test func `three files, one job: three captures, one analyzer, one sink`() async throws {
        #expect(try await run(files: 3) == ["capture": 3, "analyzer": 1, "sink": 1])
    }

    @Test func `three files, two jobs: an analyzer for each job`() async throws {
        #expect(try await run(files: 3, jobs: 2) == ["capture": 3, "analyzer": 2, "sink": 1])
    }
}
