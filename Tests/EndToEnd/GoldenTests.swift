import Foundation
import HemiolaRecords
import HemiolaSignal
import HemiolaTesting
import TestSupport
import Testing

/// Compares the output with reviewed golden files. `RECORD=1 swift test --filter Golden` regenerates them; then review the diff.
@Suite struct GoldenTests {
    /// A golden file: `Tests/Golden/NAME.jsonl` is the output of `analyze` with these options for this sound.
    struct Recipe: Sendable, CustomTestStringConvertible {
        var name: String
        var options: [String]
        var wave: @Sendable () -> WAVBytes

        var testDescription: String { name }
    }

    private static let beatOptions = ["--batch", "8192", "--analyzer", "beat", "--select", "header,beat,onset,end"]

    @Sendable private static func beatWave() -> WAVBytes {
        WAVBytes(samples: TestSignal.clicks(beatsPerMinute: 125, offset: 0.2, frames: 352_800), sampleRate: 44_100, encoding: .int16)
    }

    static let recipes = [
        // A click every half second, 1.2 s.
        Recipe(name: "click-120bpm", options: ["--analyzer", "levels", "--analyzer", "spectrum"]) {
            let frames = 52_920
            return WAVBytes(
                samples: TestSignal.clicks(beatsPerMinute: 120, offset: 0.1, frames: frames), sampleRate: 44_100, encoding: .int16)
        },
        // Eight seconds of clicks: the beats of the whole file, and those of a live run.
        Recipe(name: "beats-whole-file", options: beatOptions, wave: beatWave),
        Recipe(name: "beats-causal", options: beatOptions + ["--causal"], wave: beatWave),
        // 440 Hz left and, at half the level, 3 kHz right; 24 bits.
        Recipe(name: "sines-stereo", options: ["--analyzer", "levels", "--analyzer", "spectrum:bands=24"]) {
            let format = StreamFormat(sampleRate: 48_000, channelCount: 1)
            let sines = [(440.0, 1.0), (3000, 0.5)].map { TestSignal.sine($0, amplitude: $1, frames: 24_000, format: format) }
            return WAVBytes(samples: TestSignal.interleaved(sines), sampleRate: 48_000, channelCount: 2, encoding: .int24)
        },
        // 50 Hz to 10 kHz in a second, then silence, with batches of several hops.
        Recipe(
            name: "sweep-timbre",
            options: ["--batch", "2048", "--analyzer", "spectrum:bands=26,scale=mel-slaney,mfcc=13,size=1024,window=hamming"]
        ) {
            let format = StreamFormat(sampleRate: 22_050, channelCount: 1)
            let sweep = TestSignal.sweep(from: 50, to: 10_000, amplitude: 0.8, frames: 22_050, format: format)
            return WAVBytes(samples: sweep + TestSignal.silence(frames: 8000), sampleRate: 22_050, encoding: .float32)
        },
    ]

    @Test(arguments: recipes) func `analysis: equals the golden files`(recipe: Recipe) throws {
        let folder = try TemporaryFolder()
        try folder.write(recipe.wave().bytes, to: recipe.name + ".wav")
        let records = try Hemiola.records([recipe.name + ".wav"] + recipe.options, in: folder.path)
        let path = "\(Hemiola.root)/Tests/Golden/\(recipe.name).jsonl"
        if ProcessInfo.processInfo.environment["RECORD"] == "1" {
            try (records.map(\.line).joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
            return
        }
        let golden = try Record.all(in: String(contentsOfFile: path, encoding: .utf8))
        #expect(records.types == golden.types)
        var comparison = Comparison()
        for (index, (record, expected)) in zip(records, golden).enumerated() {
            comparison.compare(record.json, expected.json, at: "line \(index + 1)", key: "")
        }
        #expect(comparison.differences.isEmpty, "\(comparison.differences.prefix(10).joined(separator: "\n"))")
    }
}

/// Compares two records number by number.
private struct Comparison {
    var differences: [String] = []

    /// The tolerance of a number, by the unit at the end of its key.
    ///
    /// Processors differ in the last bits of a float. A band 90 dB below the loudest consists of such rounding errors only.
    private static func tolerance(of key: String, _ expected: Double) -> Double {
        if key.hasSuffix("_db") { return expected > -80 ? 0.01 : expected > -100 ? 1 : 20 }
        if key.hasSuffix("_hz") { return max(0.05, abs(expected) * 1e-4) }
        if key.hasSuffix("_s") || key == "t" { return 1e-6 }
        if key == "mfcc" { return 0.02 }
        return max(2e-5, abs(expected) * 1e-3)
    }

    mutating func compare(_ value: JSON, _ expected: JSON, at place: String, key: String) {
        switch (value, expected) {
        case (.object(let members), .object(let others)):
            // Keys must have the same order.
            guard members.map(\.key) == others.map(\.key) else {
                return differ(at: place, members.map(\.key), others.map(\.key))
            }
            for (member, other) in zip(members, others) where member.key != "hemiola" {
                compare(member.value, other.value, at: "\(place).\(member.key)", key: member.key)
            }
        case (.array(let values), .array(let others)):
            guard values.count == others.count else { return differ(at: place, values.count, others.count) }
            for (index, (value, other)) in zip(values, others).enumerated() {
                compare(value, other, at: "\(place)[\(index)]", key: key)
            }
        case (.number, .number) where value.kind == .fraction && expected.kind == .fraction:
            let (number, other) = (value.double ?? .nan, expected.double ?? .nan)
            if !(abs(number - other) <= Self.tolerance(of: key, other)) { differ(at: place, number, other) }
        default:
            if value != expected { differ(at: place, value, expected) }
        }
    }

    private mutating func differ(at place: String, _ value: Any, _ expected: Any) {
        differences.append("\(place) is \(value) and was \(expected)")
    }
}
