import Hemiola
import HemiolaEngine
import HemiolaTesting
import LevelsAnalyzer
import TestSupport
import Testing

/// Several files at a time.
@Suite(.mayNotHang) struct JobTests {
    /// Files of very different lengths, one that fails in the middle, one that cannot be opened, one that changes its format.
    private static func trial(jobs: Int) -> Trial {
        var trial = Trial([], analyzers: [.witness(), .levels])
        let stereo = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let scripts: [[CaptureStep]] = [
            [.samples(TestSignal.noise(seed: 1, frames: 300_000))],
            [silence(batches: 1)],
            [.samples(TestSignal.noise(seed: 2, frames: 5000)), .failure(Problem("the file is damaged"))],
            [.samples(TestSignal.noise(seed: 3, frames: 3000)), .gap(Gap(frames: 500, reason: .truncatedFile)), silence(batches: 2)],
            [silence(batches: 1), .format(stereo), silence(batches: 3)],
            [],
            [.samples([0.5, .nan, 0.25])],
        ]
        trial.captures = scripts.enumerated().map { .scripted(as: "file\($0)", $1) }
        trial.configuration.captures = (0..<40).map { PluginSpec("file\($0 % scripts.count)", primary: .text("name\($0)")) }
        trial.configuration.jobCount = jobs
        return trial
    }

    @Test(arguments: [2, 3, 16]) func `sinks, notices and outcome are those of one job`(jobs: Int) async throws {
        let (one, several) = (CollectingSink(), CollectingSink())
        let (quiet, loud) = (Notices(), Notices())
        var trial = Self.trial(jobs: 1)
        trial.sinks = [.collecting(one)]
        let expected = try await trial.run(report: quiet)
        trial.configuration.jobCount = jobs
        trial.sinks = [.collecting(several)]
        let outcome = try await trial.run(report: loud)
        #expect(outcome == expected)
        #expect(outcome.failedInputs > 0 && outcome.streams > 40)
        #expect(several.calls == one.calls)
        #expect(several.streams == one.streams)
        #expect(loud.texts == quiet.texts)
        #expect(loud.warnings(": 1 sample was NaN or infinite") == 5)
    }

    @Test(arguments: [1, 3]) func `analyzer that loads a model: every job has one`(jobs: Int) async throws {
        let loads = Log<String>()
        // Each file waits until every job has begun one.
        let (begun, together) = (Log<Int>(), Log<Bool>())
        let step = CaptureStep.call {
            begun.append(0)
            together.append(begun.wait(for: jobs))
        }
        let plugin = AnalyzerPlugin.loaded {
            loads.append("")
            return nil
        }
        var trial = Trial([step, silence(batches: 1)], analyzers: [plugin], sinks: [.collecting(CollectingSink())])
        trial.configuration.captures = (0..<3).map { PluginSpec("scripted", primary: .text("\($0)")) }
        trial.configuration.jobCount = jobs
        let pipeline = try trial.pipeline()
        let described = try pipeline.describeAnalyzers(for: TestSignal.mono)
        #expect(described.map { $0.outputs.features.map(\.name) } == [["value"]])
        let outcome = await pipeline.run()
        #expect(outcome.streams == 3 && outcome.failedInputs == 0)
        #expect(loads.count == jobs && together.items == [true, true, true])
    }

    @Test func `model that only one job can load: the inputs of the others fail, with its reason`() async throws {
        let loads = Log<String>()
        let plugin = AnalyzerPlugin.loaded {
            loads.append("") == 1 ? nil : "the model is in use"
        }
        // The file of the job that has the model waits until the other job has failed.
        let step = CaptureStep.call { _ = loads.wait(for: 2) }
        var trial = Trial([step, silence(batches: 1)], analyzers: [plugin], sinks: [.collecting(CollectingSink())])
        trial.configuration.captures = (0..<8).map { PluginSpec("scripted", primary: .text("\($0)")) }
        trial.configuration.jobCount = 2
        let notices = Notices()
        let outcome = try await trial.run(report: notices)
        #expect(outcome.streams > 0 && outcome.failedInputs > 0 && outcome.streams + outcome.failedInputs == 8)
        #expect(notices.texts.count { $0.contains("the model is in use") } == outcome.failedInputs)
    }

    @Test func `files are analysed at the same time`() async throws {
        // Each waits until all three have begun.
        let (begun, together) = (Log<Int>(), Log<Bool>())
        let step = CaptureStep.call {
            begun.append(0)
            together.append(begun.wait(for: 3))
        }
        var trial = Trial([step, silence(batches: 1)], analyzers: [.witness()])
        trial.configuration.captures = (0..<3).map { PluginSpec("scripted", primary: .text("\($0)")) }
        trial.configuration.jobCount = 3
        #expect(try await trial.streams().count == 3)
        #expect(together.items == [true, true, true])
    }

    @Test func `a slow first file does not let the others fill the memory`() async throws {
        let begun = Log<String>()
        let mayEnd = Shared(false)
        // As many as wait for their turn.
        let first = CaptureStep.call { _ = begun.wait(for: 3) }
        // The work of far more than the other inputs together, which would begin meanwhile, if they were not delayed.
        let work = silence(batches: 5000)
        let last = CaptureStep.call { mayEnd.value = true }
        var trial = Trial([], analyzers: [.witness()])
        trial.captures = [
            .scripted(as: "slow", [first, work, last]),
            .scripted(as: "quick", [.call { if !mayEnd.value { begun.append("") } }, silence(batches: 1)]),
        ]
        trial.configuration.captures =
            [PluginSpec("slow", primary: .text("0"))] + (1..<50).map { PluginSpec("quick", primary: .text("\($0)")) }
        trial.configuration.jobCount = 2
        #expect(try await trial.streams().count == 50)
        #expect(begun.count == 3)
    }

    @Test func `a stop ends the stream whose turn it is, and no further one is begun`() async throws {
        let isReceived = Gate()
        let sink = CollectingSink { call, _ in if call == .begin { isReceived.open() } }
        let running = Shared<Pipeline?>(nil)
        var trial = Trial([], analyzers: [.witness()], sinks: [.collecting(sink)])
        trial.captures = [
            .scripted(
                as: "first",
                [
                    silence(batches: 2),
                    .call {
                        // Its turn comes when the sinks have received its header.
                        isReceived.wait()
                        running.value?.stop()
                    },
                    .idle(), silence(batches: 2),
                ]),
            .scripted(as: "second", [silence(batches: 2)]),
        ]
        trial.configuration.captures = ["first", "second", "second"].enumerated().map { PluginSpec($1, primary: .text("\($0)")) }
        trial.configuration.jobCount = 2
        let pipeline = try trial.pipeline()
        running.value = pipeline
        defer { running.value = nil }
        let outcome = await pipeline.run()
        #expect(outcome.wasStopped && outcome.streams == 1)
        #expect(sink.streams.map(\.summary?.reason) == [.interrupted])
    }

    @Test func `no reader left: the analysis ends`() async throws {
        let opened = Log<String>()
        var trial = Trial([], analyzers: [.witness()])
        trial.captures = [.scripted(log: { opened.append($0) }, [silence(batches: 5000)])]
        let gone = CollectingSink()
        gone.fail(.write, with: Problem("the reader has gone", remedy: .finish))
        trial.sinks = [.collecting(gone)]
        trial.configuration.captures = (0..<30).map { PluginSpec("scripted", primary: .text("\($0)")) }
        trial.configuration.jobCount = 2
        let outcome = try await trial.run()
        #expect(outcome.readerIsGone)
        #expect(opened.items.count { $0 == "open" } < 10)
        #expect(opened.items.count { $0 == "open" } == opened.items.count { $0 == "close" })
    }

    @Test func `no reader left, while a job ahead waits within a batch: the run ends`() async throws {
        let gone = CollectingSink()
        gone.fail(.write, with: Problem("the reader has gone", remedy: .finish))
        var trial = Trial([], analyzers: [.witness()], sinks: [.collecting(gone)])
        trial.captures = [
            .scripted(as: "file", [silence(batches: 5000)]),
            .scripted(as: "pipe", [.samples([Float](repeating: 0, count: 100)), .pause(until: { false })]),
        ]
        trial.configuration.captures = [PluginSpec("file", primary: .text("0")), PluginSpec("pipe", primary: .text("1"))]
        trial.configuration.jobCount = 2
        #expect(try await trial.run().readerIsGone)
    }

    @Test func `several jobs at real-time speed: inputs are analysed one at a time`() async throws {
        let both = Log<Int>()
        let step = CaptureStep.call { both.append(0) }
        var trial = Trial([step, silence(batches: 1), .call { both.append(1) }], analyzers: [.witness()])
        trial.configuration.captures = (0..<3).map { PluginSpec("scripted", primary: .text("\($0)")) }
        trial.configuration.jobCount = 3
        trial.configuration.isPaced = true
        #expect(try await trial.streams().count == 3)
        #expect(both.items == [0, 1, 0, 1, 0, 1])
    }

    @Test(arguments: [0, -1, 257]) func `a senseless number of jobs is a problem`(jobs: Int) throws {
        var trial = Trial([silence(batches: 1)], analyzers: [.witness()])
        trial.configuration.jobCount = jobs
        let error = try #require(throws: Problem.self) { try trial.pipeline() }
        #expect(error.all.map(\.description) == ["jobs: \(jobs) is outside 1...256 files at a time"])
    }
}
