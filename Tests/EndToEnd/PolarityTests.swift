import Foundation
import HemiolaRecords
import HemiolaTesting
import TestSupport
import Testing

/// Files whose channels have opposite polarity.
@Suite(.mayNotHang) struct PolarityTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Writes a signal as a mono file, and as a stereo file whose right channel is inverted.
    private func write(_ samples: [Float]) throws {
        let wave = WAVBytes(samples: samples, sampleRate: 44_100, encoding: .float32)
        try folder.write(wave.bytes, to: "mono.wav")
        let pair = TestSignal.interleaved([samples, samples.map { -$0 }])
        try folder.write(WAVBytes(samples: pair, sampleRate: 44_100, channelCount: 2, encoding: .float32).bytes, to: "opposite.wav")
    }

    private static let clicks = TestSignal.clicks(beatsPerMinute: 120, offset: 0.1, frames: 15 * 44_100)

    /// Runs the program; requires success and one line on standard error that names the file.
    private func run(_ arguments: [String], _ file: String = "opposite.wav") throws -> ChildProcess.Outcome {
        let outcome = try Hemiola.run(arguments, in: folder.path)
        #expect(outcome.status == 0 && outcome.errorLines.count == 1 && outcome.errors.contains(file), "\(outcome.errors)")
        return outcome
    }

    /// Times, one per line.
    private func times(_ outcome: ChildProcess.Outcome) -> [Double] {
        outcome.lines.compactMap { Double($0.prefix { $0 != "\t" }) }
    }

    @Test(arguments: [[], ["--causal"]] as [[String]])
    func `clicks of opposite polarity: the beats of the mono file, and a warning`(options: [String]) throws {
        try write(Self.clicks)
        let found = try times(run(["beats", "opposite.wav"] + options)).filter { $0 > 6 }
        let expected = try times(Hemiola.run(["beats", "mono.wav"] + options, in: folder.path)).filter { $0 > 6 }
        #expect(expected.count > 15 && found.count == expected.count, "\(found)")
        #expect(zip(found, expected).allSatisfy { abs($0 - $1) < 0.02 }, "\(zip(found, expected).map { $0 - $1 })")
    }

    @Test(.needs(.ffmpeg)) func `music with an inverted channel: spectrum and key of the mono file`() throws {
        let ffmpeg = try #require(Tool.location(of: "ffmpeg"))
        let mono = "[0:a]pan=mono|c0=.5*c0+.5*c1[mono]"
        for (name, filter) in [("mono", mono), ("opposite", mono + ";[mono]pan=stereo|c0=c0|c1=-1*c0[mono]")] {
            let made = try ChildProcess.run(
                ffmpeg,
                [
                    "-v", "error", "-i", Hemiola.minuet, "-filter_complex", filter, "-map", "[mono]", "-c:a", "pcm_f32le",
                    folder("\(name).wav"),
                ])
            try #require(made.status == 0, "\(made.errors)")
        }
        let options = ["--analyzer", "levels", "--analyzer", "spectrum", "--analyzer", "musical-key"]
        let found = try Record.all(in: run(["analyze", "opposite.wav"] + options).output)
        let expected = try Hemiola.records(["mono.wav"] + options, in: folder.path)
        #expect(found.of("polarity").count == 1)
        #expect(found.of("polarity").first?.int("frame").map { $0 < 2 * 44_100 } == true)
        let pairs = Array(zip(found.batches, expected.batches)).dropFirst(100)
        #expect(pairs.count > 1000)
        for path in ["levels.rms_db", "spectrum.bands_db", "spectrum.centroid_hz", "spectrum.flux"] {
            #expect(pairs.allSatisfy { $0[path] == $1[path] && $0[path] != nil }, "\(path)")
        }
        #expect(found.last?["summaries.musical_key.key"] == expected.last?["summaries.musical_key.key"])
        #expect(found.last?.double("summaries.musical_key.tonic_number") != nil)
    }

    @Test func `record: in JSON Lines, in the table of events, and after a replay`() throws {
        try write(Self.clicks)
        let output = try run(["analyze", "opposite.wav", "--analyzer", "levels"]).output
        let records = try Record.all(in: output)
        let record = try #require(records.of("polarity").first)
        let frame = try #require(record.int("frame"))
        #expect(record.json.members.map(\.key) == ["type", "t", "frame", "state"] && record.string("state") == "opposite")
        #expect(record.double("t").map { abs($0 - Double(frame) / 44_100) < 1e-6 } == true)

        _ = try run(["analyze", "opposite.wav", "--analyzer", "levels", "-o", "a.csv"])
        let events = try folder.text(of: "a.events.csv").split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        let row = try #require(events.first { $0.first == "polarity" })
        let place = try #require(events.first?.firstIndex(of: "state"))
        #expect(row[place] == "opposite")

        try folder.write(output, to: "a.jsonl")
        #expect(try Hemiola.run(["replay", "a.jsonl", "--no-realtime"], in: folder.path).output == output)
        let selected = try run(["analyze", "opposite.wav", "--select", "polarity"])
        #expect(selected.lines == [record.line])
    }

    @Test func `several files: one warning per file`() throws {
        try write(Self.clicks)
        try FileManager.default.copyItem(atPath: folder("opposite.wav"), toPath: folder("other.wav"))
        let outcome = try Hemiola.run(["analyze", "opposite.wav", "mono.wav", "other.wav", "--analyzer", "levels"], in: folder.path)
        #expect(outcome.status == 0 && outcome.errorLines.count == 2, "\(outcome.errors)")
        #expect(try Record.all(in: outcome.output).of("polarity").compactMap { $0.string("file") } == ["opposite.wav", "other.wav"])
        #expect(try Hemiola.run(["analyze", "opposite.wav", "--quiet"], in: folder.path).errors.isEmpty)
    }
}
