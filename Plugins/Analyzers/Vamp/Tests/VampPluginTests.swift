import AnalysisSupport
import BeatAnalyzer
import ChromaAnalyzer
import Foundation
import Hemiola
import HemiolaTesting
import MusicalKeyAnalyzer
import SpectrumAnalyzer
import TestSupport
import Testing

/// The Vamp plugin HemiolaVamp, as `scripts/test` builds it, under the name that is installed.
private enum BuiltPlugin {
    private static let folder = try! TemporaryFolder()
    private static let library = Repository.root.appending(path: ".build/tests/release/libHemiolaVamp.so").path

    /// Whether it is to be tested.
    static let isExpected = Tool.isStrict || FileManager.default.fileExists(atPath: library)

    /// The folder for `VAMP_PATH`, with `hemiola.so`.
    static let path: String = {
        try! FileManager.default.createSymbolicLink(atPath: folder("hemiola.so"), withDestinationPath: library)
        return folder.path
    }()

    static func run(_ command: [String]) throws -> ChildProcess.Outcome {
        let outcome = try ChildProcess.run("/usr/bin/env", command, environment: ["VAMP_PATH": path])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome
    }
}

extension Trait where Self == ConditionTrait {
    /// Requires the library.
    fileprivate static var needsVampPlugin: Self {
        .enabled(if: BuiltPlugin.isExpected, "HemiolaVamp is not built; build it with: make test WHAT=build")
    }
}

@Suite(.enabled(if: Tool.program("vamp-simple-host").isExpected, "vamp-simple-host is not installed"), .needsVampPlugin, .mayNotHang)
struct `Vamp plugin, in vamp-simple-host` {
    private static let song = Repository.minuet

    /// The lines that the host prints for an output: time, values and label.
    private func lines(_ output: String) throws -> [(time: Double, values: [Double], text: String)] {
        try BuiltPlugin.run(["vamp-simple-host", "hemiola:\(output)", Self.song]).lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            let time = try #require(Double(parts[0].trimmingCharacters(in: .whitespaces)))
            let text = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
            return (time, text.split(separator: " ").compactMap { Double($0) }, text)
        }
    }

    private func records(_ analyzer: String) throws -> [[String: Any]] {
        let outcome = try ChildProcess.run(program, ["analyze", Self.song, "--causal", "--analyzer", analyzer])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try outcome.lines.map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    }

    @Test func `list: four plugins`() throws {
        let lines = try BuiltPlugin.run(["vamp-simple-host", "--list-ids"]).lines
        #expect(lines == ["beat", "chroma", "musical-key", "spectrum"].map { "vamp:hemiola:\($0)" })
    }

    @Test(arguments: [
        ("spectrum", "centroid_hz"), ("spectrum", "bands_db"), ("spectrum", "flux"), ("chroma", "bins"), ("chroma", "tuning_cents"),
        ("beat", "onset_strength"), ("beat", "phase"), ("beat", "bpm"), ("musical-key", "tonic"), ("musical-key", "confidence"),
    ])
    func `feature: the values of analyze`(analyzer: String, feature: String) throws {
        var wanted: [(time: Double, values: [Double])] = []
        for record in try records(analyzer) where record["type"] as? String == "batch" && record["partial"] == nil {
            let features = record[analyzer.replacing("-", with: "_")] as? [String: Any]
            let value = features?["\(feature)_number"] ?? features?[feature]
            let values = (value as? [Any])?.compactMap { $0 as? Double } ?? (value as? Double).map { [$0] } ?? []
            if !values.isEmpty { wanted.append((record["t"] as? Double ?? -1, values)) }
        }
        let found = try lines("\(analyzer):\(feature)")
        // The host completes the last block with zeros.
        #expect(wanted.count > 300 && (wanted.count - 1...wanted.count + 2).contains(found.count), "\(found.count) of \(wanted.count)")
        // The last batches of the file are not complete, and are followed by zeros in the host only.
        for (one, other) in zip(found, wanted.dropLast(2)) {
            #expect(abs(one.time - other.time) < 2e-6)
            // Both print six significant digits, or two or three decimals.
            let isEqual = zip(one.values, other.values).allSatisfy { abs($0 - $1) <= max(1e-5 * abs($1), 0.0051) }
            #expect(one.values.count == other.values.count && isEqual, "\(one.time): \(one.values) instead of \(other.values)")
        }
    }

    @Test(arguments: [("beat", "beat"), ("beat", "onset"), ("musical-key", "musical_key")])
    func `events: the times and labels of analyze`(analyzer: String, type: String) throws {
        let wanted = try records(analyzer).filter { $0["type"] as? String == type }
        let times = try lines("\(analyzer):\(type)s")
        let values = try lines("\(analyzer):\(type)_values")
        #expect(!wanted.isEmpty && abs(times.count - wanted.count) <= 1 && times.count == values.count)
        for (index, (one, other)) in zip(times, wanted).enumerated() {
            #expect(abs(one.time - (other["t"] as? Double ?? -1)) < 2e-6)
            let label = other["label"] as? String ?? (other["position"] as? Int).map { "\($0)" } ?? ""
            #expect(one.text == label)
            let number = (other["strength"] ?? other["bpm"] ?? other["confidence"]) as? Double ?? -1
            #expect(abs((values[index].values.first ?? -2) - number) <= 0.0051, "\(values[index].values) instead of \(number)")
        }
    }
}

@Suite(.needsVampPlugin, .needsVampSDK, .mayNotHang) struct `Vamp plugin, in a host of the Vamp SDK` {
    struct Case: CustomStringConvertible, Sendable {
        var plugin: String
        var step: Int
        var block: Int
        var sampleRate = 44_100
        var channelCount = 1
        /// Parameters of the plugin, and the same settings.
        var parameters: [String] = []
        var settings = ""
        var isWholeFile = false
        var description: String { "\(plugin) \(step) \(block) \(sampleRate) \(channelCount) \(parameters)" }
    }

    private static let plugins: [String: AnalyzerPlugin] = [
        "beat": .beat, "spectrum": .spectrum, "chroma": .chroma, "musical-key": .musicalKey,
    ]
    private static let cases =
        plugins.keys.sorted().flatMap { plugin in
            [
                Case(plugin: plugin, step: 1024, block: 1024),
                Case(plugin: plugin, step: 512, block: 2048, sampleRate: 48_000, channelCount: 2),
                Case(plugin: plugin, step: 441, block: 441, sampleRate: 22_050),
                // No batch of these sizes: features of hops of 1024 frames.
                Case(plugin: plugin, step: 100, block: 1024, channelCount: 2),
                Case(plugin: plugin, step: 3000, block: 3000, sampleRate: 96_000),
                Case(plugin: plugin, step: 4096, block: 16_384, channelCount: 2),
            ]
        } + [
            Case(
                plugin: "spectrum", step: 1024, block: 1024, parameters: ["bands=10", "scale=2", "mfcc=20", "size=1000", "window=1"],
                settings: "bands=10,scale=mel-slaney,mfcc=20,size=1000,window=hamming"),
            Case(plugin: "chroma", step: 1024, block: 1024, parameters: ["bins=26"], settings: "bins=24"),
            Case(plugin: "beat", step: 1024, block: 1024, parameters: ["min_bpm=60", "max_bpm=120"], settings: "min_bpm=60,max_bpm=120"),
            Case(plugin: "beat", step: 1024, block: 1024, channelCount: 2, parameters: ["whole_file=1"], isWholeFile: true),
            Case(plugin: "musical-key", step: 500, block: 500, parameters: ["whole_file=1"], isWholeFile: true),
        ]

    /// Twelve seconds of a chord with a stroke twice a second.
    private func music(_ trial: Case) -> [Float] {
        let rate = Double(trial.sampleRate)
        let frames = trial.sampleRate * 12 + 77
        let noise = TestSignal.noise(seed: 5, frames: frames)
        var samples: [Float] = []
        for frame in 0..<frames {
            let time = Double(frame) / rate
            let stroke = exp(-(time.truncatingRemainder(dividingBy: 0.5)) * 30)
            let chord = [220, 277.18, 329.63].reduce(0.0) { $0 + 0.15 * sin(2 * .pi * $1 * time) }
            let value = Float(chord + 0.4 * stroke * Double(noise[frame]))
            samples.append(value)
            if trial.channelCount == 2 { samples.append(value * 0.25) }
        }
        return samples
    }

    @Test(arguments: cases) func `any step, block and sample rate: the values of the analyzer, in every bit`(trial: Case) async throws {
        var samples = music(trial)
        let folder = try TemporaryFolder()
        let path = try folder.write(samples.flatMap { withUnsafeBytes(of: $0) { Array($0) } }, to: "samples")
        let arguments = ["\(trial.sampleRate)", "\(trial.channelCount)", path, "\(trial.step)", "\(trial.block)"]
        let lines = try BuiltPlugin.run([VampFixtures.host(), "hemiola:\(trial.plugin)"] + arguments + trial.parameters).lines
        var found: [String: [TestFeature]] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            found[parts[0], default: []].append(
                TestFeature(
                    time: Double(parts[1]), values: parts[4].split(separator: " ").compactMap { Float($0) }, label: parts[3]))
        }

        // The host's last step is complete.
        let frames = samples.count / trial.channelCount
        samples += Array(repeating: 0, count: ((frames + trial.step - 1) / trial.step * trial.step - frames) * trial.channelCount)
        let batchFrames = 256...1024 ~= trial.step && !trial.isWholeFile ? trial.step : 1024
        let analysis = try await Analysis(
            of: Audio(samples, sampleRate: trial.sampleRate, channelCount: trial.channelCount),
            try #require(Self.plugins[trial.plugin]),
            [
                trial.plugin == "spectrum" ? "magnitudes=true" : "",
                trial.plugin == "spectrum" && trial.settings.isEmpty ? "mfcc=13" : trial.settings,
            ].filter { !$0.isEmpty }.joined(separator: ","),
            batchFrames: batchFrames, wholeFile: trial.isWholeFile)

        let hop = Double(batchFrames) / Double(trial.sampleRate)
        for feature in analysis.declared.features {
            var wanted: [TestFeature] = []
            for (index, values) in analysis.values(feature.name).enumerated() where !values.allSatisfy(\.isNaN) {
                wanted.append(TestFeature(time: Double(index) * hop, values: values.map { $0.isNaN ? 0 : $0 }))
            }
            compare(found[feature.name] ?? [], wanted, feature.name)
        }
        for event in analysis.declared.events {
            let wanted = analysis.stream.events.filter { $0.type.name == event.name }.map { event in
                TestFeature(time: event.time, label: event["label"].string ?? event["position"].integer.map { "\($0)" } ?? "")
            }
            compare(found["\(event.name)s"] ?? [], wanted, "\(event.name)s")
        }
        #expect(analysis.declared.features.contains { !(found[$0.name] ?? []).isEmpty })
        if trial.plugin == "beat" { #expect((found["onsets"] ?? []).count > 15) }
    }

    private func compare(_ found: [TestFeature], _ wanted: [TestFeature], _ output: String) {
        #expect(found.count == wanted.count, "\(output)")
        for (index, (one, other)) in zip(found, wanted).enumerated() {
            #expect(abs((one.time ?? -1) - (other.time ?? -2)) < 2e-9, "\(output) \(index)")
            #expect(one.values == other.values && one.label == other.label, "\(output) \(index)")
            if one.values != other.values { break }
        }
    }

    @Test func `parameters and outputs: declared for hosts`() throws {
        let outcome = try ChildProcess.run(
            "/usr/bin/env", ["vamp-simple-host", "--list-full"], environment: ["VAMP_PATH": BuiltPlugin.path])
        for text in ["Whole file", "Candidate BPM", "Bands", "mel-slaney", "1024", "Tuning", "Musical keys"] {
            #expect(outcome.output.contains(text), "\(text)")
        }
    }
}

@Suite(.needsVampPlugin, .needsCompiler, .mayNotHang) struct `Vamp plugin, in a careless host` {
    @Test func `calls in any order, NaN, several instances, loaded twice: survives`() throws {
        let outcome = try ChildProcess.run(
            VampFixtures.carelessHost(), ["\(BuiltPlugin.path)/hemiola.so"], environment: [:])
        #expect(outcome.status == 0 && outcome.output == "survived\n", "\(outcome.status) \(outcome.output) \(outcome.errors)")
    }
}
