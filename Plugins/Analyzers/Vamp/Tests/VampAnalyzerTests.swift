import AnalysisSupport
import Foundation
import Hemiola
import HemiolaEngine
import HemiolaTesting
import TestSupport
import Testing

@testable import VampAnalyzer

/// Noise with bursts, and a tone: 5.1 s.
private func music(sampleRate: Int = 44_100, channelCount: Int = 1) -> Audio {
    let frames = sampleRate * 51 / 10 + 333
    let noise = TestSignal.noise(seed: 3, frames: frames * channelCount)
    return Audio(frames: frames, sampleRate: sampleRate, channelCount: channelCount) { frame, channel in
        let loud = frame % (sampleRate / 2) < sampleRate / 15 ? 0.7 : 0.05
        let tone = 0.25 * sin(2 * .pi * 440 * Double(channel + 1) * Double(frame) / Double(sampleRate))
        return loud * Double(noise[frame * channelCount + channel]) + tone
    }
}

@Suite(.needsVampSDK) struct `VampAnalyzer, compared with the host of the Vamp SDK` {
    /// Runs the reference host.
    private func reference(
        _ plugin: String, _ audio: Audio, step: Int, block: Int, _ parameters: [String]
    ) throws -> (step: Int, block: Int, features: [String: [TestFeature]]) {
        let folder = try TemporaryFolder()
        let path = try folder.write(audio.samples.flatMap { withUnsafeBytes(of: $0) { Array($0) } }, to: "samples")
        let library = try #require(VampFixtures.examples)
        let outcome = try ChildProcess.run(
            VampFixtures.host(),
            [
                "vamp-example-plugins:\(plugin)", "\(audio.format.sampleRate)", "\(audio.format.channelCount)", path, "\(step)", "\(block)",
            ] + parameters,
            environment: ["VAMP_PATH": (library as NSString).deletingLastPathComponent])
        try #require(outcome.status == 0, "\(outcome.errors)")
        let sizes = outcome.lines[0].split(separator: " ").compactMap { Int($0) }
        var features: [String: [TestFeature]] = [:]
        for line in outcome.lines.dropFirst() {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            features[parts[0], default: []].append(
                TestFeature(
                    time: Double(parts[1]), duration: Double(parts[2]), values: parts[4].split(separator: " ").compactMap { Float($0) },
                    label: parts[3]))
        }
        return (sizes[0], sizes[1], features)
    }

    struct Case: CustomStringConvertible, Sendable {
        var plugin: String
        var settings = ""
        var sampleRate = 44_100
        var channelCount = 1
        var batchFrames = 1024
        var step = 0
        var block = 0
        var parameters: [String] = []
        var description: String { "\(plugin) \(settings) \(sampleRate) \(channelCount) \(batchFrames) \(step) \(block)" }
    }

    private static let plugins = [
        "amplitudefollower", "fixedtempo", "percussiononsets", "powerspectrum", "spectralcentroid", "zerocrossing",
    ]
    private static let cases =
        plugins.map { Case(plugin: $0) } + plugins.map { Case(plugin: $0, sampleRate: 48_000, channelCount: 2, batchFrames: 4096) }
        + plugins.map { Case(plugin: $0, sampleRate: 22_050, batchFrames: 441) } + [
            Case(plugin: "powerspectrum", settings: ",step=300,block=1000", step: 300, block: 1000),
            Case(plugin: "powerspectrum", settings: ",step=3000,block=2048", step: 3000, block: 2048),
            Case(plugin: "spectralcentroid", settings: ",step=441,block=882", batchFrames: 8192, step: 441, block: 882),
            Case(plugin: "zerocrossing", settings: ",step=512,block=700", step: 512, block: 700),
            Case(
                plugin: "percussiononsets", settings: ",parameters=threshold=6+sensitivity=70",
                parameters: ["threshold=6", "sensitivity=70"]),
            Case(plugin: "amplitudefollower", settings: ",parameters=attack=0.2", parameters: ["attack=0.2"]),
        ]

    @Test(arguments: cases) func `example plugin: the same number of features, values within 1e-6`(trial: Case) async throws {
        let audio = music(sampleRate: trial.sampleRate, channelCount: trial.channelCount)
        let expected = try reference(trial.plugin, audio, step: trial.step, block: trial.block, trial.parameters)
        let path = try #require(VampFixtures.examples)
        let analysis = try await Analysis(
            of: audio, .vampHost, "\(path):\(trial.plugin)\(trial.settings)", batchFrames: trial.batchFrames)
        let stream = try VampStream(.init(library: path, plugin: trial.plugin), audio.format)
        #expect(!expected.features.isEmpty)
        for output in stream.outputs {
            let wanted = expected.features[output.identifier] ?? []
            let binCount = max(1, wanted.first?.values.count ?? 1)
            let found = analysis.features(output.identifier, binCount: binCount)
            #expect(found.count == wanted.count, "\(output.identifier)")
            // Events are in the order of their time within a batch.
            let sorted =
                output.isDense
                ? wanted : wanted.enumerated().sorted { ($0.element.time!, $0.offset) < ($1.element.time!, $1.offset) }.map(\.element)
            for (index, (one, other)) in zip(found, sorted).enumerated() {
                #expect(one.values.count == other.values.count)
                let isEqual = zip(one.values, other.values).allSatisfy { abs($0 - $1) <= 1e-6 * max(abs($0), abs($1)) }
                #expect(isEqual, "\(output.identifier) \(index): \(one.values.prefix(4)) instead of \(other.values.prefix(4))")
                if let time = one.time { #expect(abs(time - other.time!) < 2e-9, "\(output.identifier) \(index)") }
                if !output.isDense {
                    #expect(one.label == other.label)
                    #expect(abs((one.duration ?? -1) - (other.duration ?? -1)) < 2e-9)
                }
            }
        }
    }

    @Test(arguments: [("spectralcentroid", "linearcentroid"), ("powerspectrum", "powerspectrum"), ("amplitudefollower", "amplitude")])
    func `text of the records: every value reads back as that of the reference host, within 1e-6`(plugin: String, output: String) throws {
        let audio = music()
        let expected = try #require(try reference(plugin, audio, step: 0, block: 0, []).features[output])
        let folder = try TemporaryFolder()
        let path = try folder.write(audio.samples.flatMap { withUnsafeBytes(of: $0) { Array($0) } }, to: "samples.raw")
        let library = try #require(VampFixtures.examples)
        let outcome = try ChildProcess.run(
            program,
            ["analyze", "--raw", "f32le,44100,1", path, "--analyzer", "vamp:\(library):\(plugin):\(output)", "--select", "batch,event"])
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        var found: [Float] = []
        for line in outcome.lines {
            let record = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let value = (record["vamp"] as? [String: Any])?[output] ?? record["values"]
            let values = (value as? [Any]) ?? (value.map { [$0] } ?? [])
            found += values.compactMap { ($0 as? NSNumber)?.floatValue }
        }
        let wanted = expected.flatMap(\.values)
        #expect(wanted.count > 200 && found.count == wanted.count)
        let isEqual = zip(found, wanted).allSatisfy { abs($0 - $1) <= 1e-6 * max(abs($0), abs($1)) }
        #expect(isEqual)
    }

    @Test(arguments: plugins) func `conformance of an example plugin`(plugin: String) throws {
        let path = try #require(VampFixtures.examples)
        // The features of zerocrossing in each of its many steps make the suite slow.
        let output = plugin == "zerocrossing" ? ":counts" : ""
        do {
            try AnalyzerConformanceSuite(.vampHost, settings: "\(path):\(plugin)\(output)").run()
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test func `one output: only its features are declared and emitted`() async throws {
        let path = try #require(VampFixtures.examples)
        let analysis = try await Analysis(of: music(), .vampHost, "\(path):percussiononsets:onsets")
        #expect(analysis.declared.features.isEmpty)
        #expect(analysis.declared.events.map(\.name) == ["onsets"])
        #expect(analysis.events("onsets").count == 10)
    }
}

@Suite(.needsCompiler) struct `VampAnalyzer, what a plugin gets` {
    @Test func `parameters, program, channels, times: as set`() async throws {
        let path = try VampFixtures.library()
        let audio = Audio(frames: 4096, channelCount: 2) { frame, channel in channel == 0 ? 0.25 : 0.5 }
        let first = try await Analysis(of: audio, .vampHost, "\(path):probe,block=512,parameters=gain=2.5+scale=squared")
        let values = first.features("steps_1", binCount: 6)
        #expect(values.count == 8)
        // Two channels, gain, scale, 512 / 44100 s in nanoseconds, the second channel.
        #expect(values[1].values == [2, 2.5, 1, 0, 11_609_977, 0.5])
        let mix = try await Analysis(of: audio, .vampHost, "\(path):probe,channels=mix,program=loud")
        #expect(mix.features("steps_1", binCount: 6)[0].values == [1, 10, 0, 0, 0, 0.375])
        let channel = try await Analysis(of: audio, .vampHost, "\(path):probe,channel=2,program=quiet")
        #expect(channel.features("steps_1", binCount: 6)[0].values == [1, 0.5, 0, 0, 0, 0.5])
    }

    @Test func `six channels: the mono mix`() async throws {
        let audio = Audio(frames: 1024, channelCount: 6) { _, channel in channel == 0 ? 0.6 : 0 }
        let values = try await Analysis(of: audio, .vampHost, "\(VampFixtures.library()):probe").features("steps_1", binCount: 6)
        #expect(values.count == 1 && values[0].values[0] == 1 && abs(values[0].values[5] - 0.1) < 1e-6)
    }

    @Test func `spectra: time of the centre, constant in the last bin 0`() async throws {
        let path = try VampFixtures.library(isSpectral: true)
        let values = try await Analysis(of: Audio.silence(frames: 2048), .vampHost, "\(path):probe").features(
            "steps_1", binCount: 6)
        // Blocks of 1024 frames with a step of 512: the first one is at 512 frames.
        #expect(values.count == 4)
        #expect(values.allSatisfy { $0.values[0] == 1 })
        #expect(abs(values[0].values[4] - 11_609_977) < 1 && abs(values[1].values[4] - 23_219_956) < 2)
    }

    @Test func `time, duration and label of features: in the events`() async throws {
        let analysis = try await Analysis(of: Audio.silence(frames: 8192), .vampHost, "\(VampFixtures.library()):probe")
        let step = 1024.0 / 44_100
        #expect(
            analysis.events("beats").map(\.label) == ["first", "later"]
                && analysis.events("beats").allSatisfy { $0.duration == 0.5 && $0.values.isEmpty })
        #expect(zip(analysis.events("beats"), [0.25, 4 * step + 0.25]).allSatisfy { abs($0.time! - $1) < 1e-8 })
        // A fixed rate of 10 Hz: the second feature has the time 0.71 s, which is nearest to number 7.
        #expect(zip(analysis.events("frames"), [0, 0.7, 0.8]).allSatisfy { abs($0.time! - $1) < 1e-9 })
        #expect(analysis.events("frames").map(\.values) == [[0], [1], [2]])
        let notes = analysis.events("notes")
        #expect(notes.map(\.values) == [[440], [440, 880], [8]] && notes.map(\.label) == ["", "", "end"])
        #expect(zip(notes, [0, step, 8 * step]).allSatisfy { abs($0.time! - $1) < 1e-8 })
        #expect(analysis.declared.events.first { $0.name == "notes" }?.unit == .hertz)
    }

    @Test func `batch with several steps: the values of each, null where no step ends`() async throws {
        let path = try VampFixtures.library()
        let analysis = try await Analysis(
            of: Audio.silence(frames: 2048), .vampHost, "\(path):probe,block=300", batchFrames: 1024)
        #expect(analysis.feature("steps_1").count == 24)
        let values = analysis.values("steps_1")
        #expect(values.map { batch in (0..<4).map { !batch[6 * $0].isNaN } } == [[true, true, true, false], [true, true, true, false]])
        // The last step is incomplete when the stream ends: an event.
        #expect(analysis.events("steps_1").map { $0.time.map { ($0 * 44_100).rounded() } } == [1800])
    }

    @Test func `gap: the plugin ends and begins again, with the times of the stream`() async throws {
        let path = try VampFixtures.library()
        let samples = [Float](repeating: 0.5, count: 2048)
        let analysis = try await Analysis(
            of: [.samples(samples), .gap(Gap(frames: 44_100, reason: .frozen)), .samples(samples)], TestSignal.mono, .vampHost,
            "\(path):probe")
        let notes = analysis.events("notes")
        #expect(notes.map(\.label) == ["", "", "end", "", "", "end"])
        #expect(zip(notes.map { ($0.time! * 44_100).rounded() }, [0, 1024, 2048, 46_148, 47_172, 48_196]).allSatisfy { $0 == $1 })
        #expect(analysis.features("steps_1", binCount: 6).map { $0.values[4] } == [0, Float(23_219_955), 0, Float(23_219_955)])
    }

    @Test func `NaN and infinite values: null, reported once`() async throws {
        let path = try VampFixtures.library("not_finite")
        let audio = Audio.silence(frames: 4096)
        let analysis = try await Analysis(of: audio, .vampHost, "\(path):probe")
        #expect(analysis.values("steps_1").allSatisfy { $0[0].isNaN && $0[1].isNaN && $0[2] == 0 })
        #expect(analysis.events("notes")[0].values[0].isNaN)
        let name = VampFolders.name(of: path)
        #expect(
            try await notices(of: audio, "\(path):probe")
                == ["script: vamp: \(name):probe has returned 10 values that are NaN or infinite: written as null"])
    }

    @Test func `fewer values than declared: null, reported once`() async throws {
        let path = try VampFixtures.library("misfit")
        let audio = Audio.silence(frames: 2048)
        #expect(
            try await Analysis(of: audio, .vampHost, "\(path):probe").values("steps_1").allSatisfy { $0[0] == 1 && $0[5].isNaN })
        let text = "probe has returned 2 features with another number of values than it declares"
        #expect(try await notices(of: audio, "\(path):probe") == ["script: vamp: \(VampFolders.name(of: path)):\(text)"])
    }

    @Test func `conformance of the test plugin`() throws {
        do {
            try AnalyzerConformanceSuite(.vampHost, settings: "\(VampFixtures.library()):probe").run()
        } catch {
            Issue.record("\(error)")
        }
    }
}

@Suite struct `VampAnalyzer, errors` {
    private func message(_ settings: String) -> String {
        let registry = PluginRegistry(captures: [.scripted([])], analyzers: [.vampHost], sinks: [.collecting(CollectingSink())])
        do {
            let configuration = PipelineConfiguration(
                captures: [PluginSpec("scripted")], analyzers: [try PluginSpec(parsing: "vamp:\(settings)")],
                sinks: [PluginSpec("collecting")])
            _ = try registry.assemble(configuration)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("", "analyzers[0].plugin: unset; write vamp:LIBRARY:PLUGIN, as hemiola plugins --vamp lists them"),
        (
            "one",
            "analyzers[0].plugin: \"one\" is not LIBRARY:PLUGIN or LIBRARY:PLUGIN:OUTPUT; list them with: hemiola plugins --vamp"
        ),
        (
            "a:b,parameters=gain",
            "analyzers[0].parameters: \"gain\" is not NAME=VALUE; write parameters=NAME=VALUE+NAME=VALUE"
        ),
        ("a:b,parameters=c=1+c=2", "analyzers[0].parameters: \"c\" is given twice; give it once"),
        ("a:b,channels=mix,channel=1", "analyzers[0].channel: channels and channel exclude each other; leave out one of them"),
        ("/none.so:b", "analyzers[0]: /none.so: No such file; list the libraries with: hemiola plugins --vamp"),
    ])
    func `invalid settings: one line with the way out`(settings: String, expected: String) {
        #expect(message(settings) == expected)
    }

    @Test func `unknown library: the searched folders`() {
        let text = message("surely-not-installed:b")
        #expect(text.hasPrefix("analyzers[0]: there is no Vamp library \"surely-not-installed\" in "))
        #expect(text.hasSuffix("hemiola plugins --vamp") && text.contains("/usr/lib/vamp"))
    }

    @Test(
        .needsCompiler,
        arguments: [
            ("no_function", "PATH: is no Vamp library: it has no function vampGetPluginDescriptor; name another one"),
            ("no_plugin", "PATH: has no plugin; name another library"),
            ("version", "NAME:probe has version 3 of the Vamp API, Hemiola 1 and 2; install another version of the plugin"),
        ])
    func `library that cannot be used: one line`(fault: String, expected: String) throws {
        let path = try VampFixtures.library(fault)
        let text = expected.replacing("PATH", with: path).replacing("NAME", with: VampFolders.name(of: path))
        #expect(message("\(path):probe") == "analyzers[0]: \(text)")
    }

    @Test(.needsCompiler) func `library with a missing symbol: the symbol`() throws {
        let path = try VampFixtures.library("missing_symbol")
        let text = message("\(path):probe")
        #expect(text.hasPrefix("analyzers[0]: \(path): cannot be loaded (") && text.contains("function_that_no_library_has"))
        #expect(text.hasSuffix("; reinstall it, or the libraries that it needs") && !text.contains("\n"))
    }

    @Test(
        .needsCompiler,
        arguments: [
            (":robe", "NAME has no plugin \"robe\"; did you mean probe?"),
            (":other", "NAME has no plugin \"other\"; plugins: probe"),
            (":probe:beat", "NAME:probe has no output \"beat\"; did you mean beats?"),
            (":probe:xyzxyzxyz", "NAME:probe has no output \"xyzxyzxyz\"; there are: Steps-1, beats, frames, notes"),
            (":probe,parameters=gane=1", "NAME:probe has no parameter \"gane\"; did you mean gain?"),
            (":probe,parameters=gain=11", "NAME:probe: \"11\" is not a value of gain; use a number within 0.0...10.0 dB"),
            (
                ":probe,parameters=scale=x",
                "NAME:probe: \"x\" is not a value of scale; use a number within 0.0...2.0, or one of linear, squared, cubed"
            ),
            (":probe,program=middle", "NAME:probe has no program \"middle\"; there are: quiet, loud"),
        ])
    func `unknown part of a library: the known ones`(settings: String, expected: String) throws {
        let path = try VampFixtures.library()
        #expect(message(path + settings) == "analyzers[0]: \(expected.replacing("NAME", with: VampFolders.name(of: path)))")
    }

    @Test(
        .needsCompiler,
        arguments: [
            (
                "refuses", "",
                "NAME:probe refuses 1 channel at 44100 Hz in blocks of 1024 frames with a step of 1024; set block=, step= or channels=, or the parameters"
            ),
            ("no_instance", "", "NAME:probe refuses 44100 Hz; use another sample rate"),
            ("none", ",channel=3", "NAME:probe: there is no channel 3, the input has 1; use another channel="),
        ])
    func `plugin that refuses the stream: the input is not analysed, one line`(
        fault: String, settings: String, expected: String
    ) async throws {
        let path = try VampFixtures.library(fault)
        let text = expected.replacing("NAME", with: VampFolders.name(of: path))
        #expect(try await notices(of: .silence(frames: 1024), "\(path):probe\(settings)") == ["script: \(text)"])
    }

    @Test(.needsCompiler) func `spectra of an odd block: refused`() async throws {
        let path = try VampFixtures.library(isSpectral: true)
        #expect(
            try await notices(of: .silence(frames: 1024), "\(path):probe,block=1001")
                == ["script: \(VampFolders.name(of: path)):probe reads spectra, which need an even block, not 1001 frames; use 1002"])
    }
}
