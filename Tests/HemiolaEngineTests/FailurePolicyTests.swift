import Hemiola
import HemiolaEngine
import HemiolaTesting
import LevelsAnalyzer
import TestSupport
import Testing

/// The settings `on_error` and `min_version` of every plugin.
@Suite(.mayNotHang) struct FailurePolicyTests {
    /// A run with a sink that fails, and one that does not.
    private func run(
        _ policy: FailurePolicy, failing calls: [CollectingSink.Call] = [.write], remedy: Remedy = .giveUp,
        batches: Int = 1280, alone: Bool = false
    ) async throws -> (broken: CollectingSink, sound: CollectingSink, outcome: RunOutcome, notices: Notices) {
        let (broken, sound, notices) = (CollectingSink(), CollectingSink(), Notices())
        for call in calls { broken.fail(call, with: Problem("the lamp is gone", remedy: remedy)) }
        var trial = Trial(
            [silence(batches: batches)],
            sinks: [.collecting(broken, as: "broken")] + (alone ? [] : [.collecting(sound, as: "sound")]))
        trial.configuration.sinks =
            [PluginSpec("broken", settings: ["on_error": .text(policy.rawValue)])] + (alone ? [] : [PluginSpec("sound")])
        let outcome = try await trial.run(report: notices)
        return (broken, sound, outcome, notices)
    }

    // MARK: - Sinks

    @Test func `sink, fail: an error without a remedy fails the sink, the others continue`() async throws {
        let (broken, sound, outcome, notices) = try await run(.fail)
        #expect(broken.calls == [.open, .begin, .write, .close])
        #expect(sound.batchCount == 1280)
        #expect(outcome.failedSinks == 1 && outcome.skippedSinks == 0)
        #expect(notices.count("sinkFailed") == 1)
    }

    @Test(arguments: FailurePolicy.allCases) func `sink that can be repaired: no failure, whatever the policy is`(policy: FailurePolicy)
        async throws
    {
        for (remedy, calls) in [(Remedy.retry, [.write]), (.reopen, [.close, .open, .begin, .write])] as [(Remedy, [CollectingSink.Call])] {
            let (broken, _, outcome, notices) = try await run(policy, remedy: remedy, batches: 3)
            #expect(broken.calls == [.open, .begin, .write] + calls + [.end, .close])
            #expect(broken.streams.last?.batches.count == 3)
            #expect(outcome.failedSinks == 0 && outcome.skippedSinks == 0 && notices.texts.allSatisfy { $0.hasPrefix("finished") })
        }
    }

    @Test func `sink, skip: one warning and a count, the others continue, no failure`() async throws {
        let (broken, sound, outcome, notices) = try await run(.skip)
        #expect(broken.calls == [.open, .begin, .write, .close])
        #expect(sound.batchCount == 1280)
        #expect(outcome.failedSinks == 0 && outcome.skippedSinks == 1)
        #expect(notices.warnings("the run goes on without it") == 1 && notices.count("sinkFailed") == 0)
        #expect(notices.warnings("broken: batches that were not written: 1280") == 1)
        // The end record is made before the last losses are counted: it has at least those of the failed call.
        #expect((sound.streams[0].summary?.dropped.first { $0.sink == "broken" }?.batches ?? 0) > 0)
    }

    @Test func `sink, skip, cannot be opened: the run begins without it`() async throws {
        let (broken, sound, outcome, notices) = try await run(.skip, failing: [.open])
        #expect(broken.calls == [.open])
        #expect(sound.batchCount == 1280 && outcome.streams == 1)
        #expect(outcome.failedSinks == 0 && outcome.skippedSinks == 1)
        #expect(notices.warnings("broken: batches that were not written: 1280") == 1)
        #expect(sound.streams[0].summary?.dropped.map { $0.batches } == [1280])
    }

    @Test(arguments: [nil, Place.key("page")]) func `sink, fail, cannot be opened: nothing is analysed, and a wrong setting is told apart`(
        place: Place?
    ) async throws {
        let broken = CollectingSink()
        broken.fail(.open, with: Problem("no such page", at: place))
        let outcome = try await Trial([silence(batches: 3)], sinks: [.collecting(broken)]).run()
        #expect(outcome.failedSinks == 1 && outcome.streams == 0 && outcome.isMisconfigured == (place != nil))
    }

    @Test func `sink, fail, a setting is wrong for the stream: told apart from a failed output, the others continue`() async throws {
        let (broken, sound) = (CollectingSink(), CollectingSink())
        broken.fail(.begin, with: Problem("no such feature", at: "map"))
        let outcome = try await Trial(
            [silence(batches: 3)], sinks: [.collecting(broken, as: "broken"), .collecting(sound, as: "sound")]
        ).run()
        #expect(outcome.failedSinks == 1 && outcome.isMisconfigured && sound.batchCount == 3)
    }

    @Test func `sink, skip, its director cannot be made: closed, and the run begins without it`() async throws {
        let (broken, sound, notices) = (DirectingTestSink(fault: Problem("the list is empty")), CollectingSink(), Notices())
        var trial = Trial([silence(batches: 3)], sinks: [broken.plugin, .collecting(sound, as: "sound")])
        trial.configuration.sinks = [PluginSpec("directing", settings: ["on_error": .text("skip")]), PluginSpec("sound")]
        let outcome = try await trial.run(report: notices)
        #expect(broken.sink.calls == [.open, .close] && sound.batchCount == 3)
        #expect(outcome.failedSinks == 0 && outcome.skippedSinks == 1 && notices.warnings("the run goes on without it") == 1)
    }

    @Test func `sink, skip, live: a dropped record at the failure, and no second one`() async throws {
        let (broken, sound) = (CollectingSink(), CollectingSink())
        broken.fail(.write, with: Problem("the lamp is gone"))
        var trial = Trial(
            [silence(batches: 1), .pause(until: { broken.calls.contains(.close) }), silence(batches: 300)], isLive: true,
            sinks: [.collecting(broken, as: "broken"), .collecting(sound, as: "sound")])
        trial.configuration.sinks = [PluginSpec("broken", settings: ["on_error": .text("skip")]), PluginSpec("sound")]
        let outcome = try await trial.run()
        #expect(outcome.failedSinks == 0 && outcome.skippedSinks == 1)
        #expect(sound.streams[0].events.compactMap { DropReport($0) }.count { $0.sink == "broken" } == 1)
        #expect(sound.streams[0].summary?.dropped.first { $0.sink == "broken" }?.batches == 301)
    }

    @Test func `skip of the only sink: the run ends, a failure`() async throws {
        let (broken, _, outcome, notices) = try await run(.skip, batches: 64 * 100, alone: true)
        #expect(broken.batchCount == 0)
        #expect(outcome.failedSinks == 1 && outcome.skippedSinks == 1)
        #expect(notices.texts.contains { $0.hasPrefix("runFailed") && $0.contains("all sinks have failed") })
    }

    @Test func `reader that closes the output: no failure, whatever the policy is`() async throws {
        for policy in FailurePolicy.allCases {
            let (_, sound, outcome, notices) = try await run(policy, remedy: .finish)
            #expect(sound.batchCount == 1280 && outcome.failedSinks == 0 && outcome.skippedSinks == 0)
            #expect(notices.texts.allSatisfy { $0.hasPrefix("finished") })
        }
    }

    // MARK: - Analyzers

    private func refusing(_ policy: FailurePolicy?) async throws -> (sink: CollectingSink, outcome: RunOutcome, notices: Notices) {
        let (sink, notices) = (CollectingSink(), Notices())
        var trial = Trial([], analyzers: [.monoOnly, .levels], sinks: [.collecting(sink)])
        trial.captures = [
            .scripted(
                as: "stereo", format: StreamFormat(sampleRate: 8_000, channelCount: 2), [.samples([Float](repeating: 0.5, count: 4096))]),
            .scripted([silence(batches: 1)]),
        ]
        trial.configuration.captures = [PluginSpec("stereo"), PluginSpec("scripted")]
        trial.configuration.analyzers = [
            PluginSpec("mono-only", settings: policy.map { ["on_error": .text($0.rawValue)] } ?? [:]), PluginSpec("levels"),
        ]
        return (sink, try await trial.run(report: notices), notices)
    }

    @Test func `analyzer, fail: refuses a stream, and the input fails`() async throws {
        let (sink, outcome, notices) = try await refusing(.fail)
        #expect(outcome.failedInputs == 1 && sink.streams.count == 1)
        #expect(notices.count("inputFailed") == 1)
    }

    @Test func `analyzer, skip: refuses a stream, which is analysed without it`() async throws {
        let (sink, outcome, notices) = try await refusing(.skip)
        #expect(outcome.failedInputs == 0)
        #expect(sink.streams.map { $0.header.analyzers.map(\.name) } == [["levels"], ["mono_only", "levels"]])
        #expect(sink.streams[0].value("levels", "peak_db").allSatisfy { $0 > -7 })
        #expect(notices.warnings("analysed without ") == 1)
    }

    /// An external analyzer that fails after some hops and writes no values from then on.
    private final class Failing: ExternalAnalyzer {
        private var hops = 0
        private var value = FeatureHandle(offset: 0, count: 0)
        var failure: Problem? { hops > 2 ? Problem("probe: the cable is loose") : nil }
        func open(_ context: AnalyzerContext) {}
        func close() {}
        func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
            hops = 0
            var outputs = AnalyzerOutputs()
            value = outputs.add(Feature("value", .none, "A value."))
            return outputs
        }
        func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
            hops += 1
            row[value] = hops > 2 ? .nan : 1
        }
    }

    @Test(arguments: [FailurePolicy.fail, .skip])
    func `external analyzer that fails in a stream: fail ends the input, skip goes on without values`(policy: FailurePolicy) async throws {
        let (sink, notices) = (CollectingSink(), Notices())
        var trial = Trial(
            [silence(batches: 10)],
            analyzers: [AnalyzerPlugin(PluginDescription("probe", "Fails."), settings: NoSettings.self) { _ throws(Problem) in Failing() }],
            sinks: [.collecting(sink)])
        trial.configuration.analyzers = [PluginSpec("probe", settings: ["on_error": .text(policy.rawValue)])]
        let outcome = try await trial.run(report: notices)
        #expect(outcome.failedInputs == (policy == .fail ? 1 : 0))
        #expect(sink.streams[0].batches.count == (policy == .fail ? 3 : 10))
        #expect(notices.warnings("analysed without ") == (policy == .skip ? 1 : 0))
        #expect(notices.count("inputFailed") == (policy == .fail ? 1 : 0))
        #expect(notices.texts.contains { $0.contains("the cable is loose") })
    }

    // MARK: - Captures

    @Test func `capture, skip: an input that cannot be opened is a warning`() async throws {
        let (sink, notices) = (CollectingSink(), Notices())
        var trial = Trial([silence(batches: 1)], sinks: [.collecting(sink)])
        trial.captures.append(.scripted(as: "broken", openFailure: Problem("broken: there is no such file"), []))
        trial.configuration.captures = [PluginSpec("broken", settings: ["on_error": .text("skip")]), PluginSpec("scripted")]
        let outcome = try await trial.run(report: notices)
        #expect(outcome.failedInputs == 0 && outcome.skippedInputs == 1 && outcome.streams == 1)
        #expect(notices.warnings("this input is skipped") == 1 && notices.count("inputFailed") == 0)
        #expect(sink.streams.count == 1)
    }

    @Test(arguments: [1, 2]) func `capture, skip: an input that fails in the middle is a warning`(jobs: Int) async throws {
        let (sink, notices) = (CollectingSink(), Notices())
        var trial = Trial([silence(batches: 2), .failure(Problem("the disk is gone"))], sinks: [.collecting(sink)])
        trial.captures.append(.scripted(as: "next", [silence(batches: 1)]))
        trial.configuration.captures = [PluginSpec("scripted", settings: ["on_error": .text("skip")]), PluginSpec("next")]
        trial.configuration.jobCount = jobs
        let outcome = try await trial.run(report: notices)
        #expect(outcome.failedInputs == 0 && outcome.skippedInputs == 1)
        #expect(sink.streams.map { $0.batches.count } == [2, 1])
        #expect(sink.streams[0].summary?.reason == .error)
    }

    // MARK: - Configuration

    private func problems(capture: String = "scripted", analyzer: String = "levels", sink: String = "collecting") throws -> [String] {
        let configuration = PipelineConfiguration(
            captures: [try PluginSpec(parsing: capture)], analyzers: [try PluginSpec(parsing: analyzer)],
            sinks: [try PluginSpec(parsing: sink)])
        let needy = SinkPlugin.collecting(
            CollectingSink(), as: "needy", needs: SinkPlugin.Needs(analyzers: [PluginSpec("levels")]))
        do {
            _ = try PluginRegistry(
                captures: [.scripted([])], analyzers: [.levels], sinks: [.collecting(CollectingSink()), needy]
            ).assemble(configuration)
            return []
        } catch {
            return error.all.map(\.description)
        }
    }

    @Test func `policy that is not possible: a problem with its path`() throws {
        #expect(
            try problems(analyzer: "levels:on_error=skip", sink: "needy") == [
                "analyzers: a sink needs levels, which cannot be left out; remove its on_error=skip"
            ])
        #expect(
            try problems(sink: "collecting:on_error=ignore") == [
                "sinks[0].on_error: \"ignore\" is not one of fail, skip"
            ])
    }

    @Test func `minimum version: a problem that names the plugin, both versions and the way out`() throws {
        let version = AnalyzerPlugin.levels.about.version
        #expect(try problems(analyzer: "levels:min_version=\(version)") == [])
        #expect(
            try problems(capture: "scripted:min_version=2", analyzer: "levels:min_version=\(version + 1)", sink: "collecting:min_version=7")
                == [
                    "captures[0].min_version: scripted has version 1, but version 2 is needed; "
                        + "install a newer version of the program, or lower min_version",
                    "sinks[0].min_version: collecting has version 1, but version 7 is needed; "
                        + "install a newer version of the program, or lower min_version",
                    "analyzers[0].min_version: levels has version \(version), but version \(version + 1) is needed; "
                        + "install a newer version of the program, or lower min_version",
                ])
        #expect(
            try problems(sink: "collecting:min_version=1.5") == [
                "sinks[0].min_version: \"1.5\" is not a whole number within 1...1000000"
            ])
    }
}
