import BeatAnalyzer
import HemiolaSignal
import HemiolaTesting
import Testing

@Suite struct BeatTrackingTests {
    @Test(arguments: [40.0, 47, 55, 75, 97, 120, 150, 183, 210, 220], [0.5, 0.5043])
    func `clicks: beats are within 10 ms of the clicks, and the tempo within 0.5 %`(tempo: Double, first: Double) async throws {
        let analysis = try await BeatAnalysis(TestMusic.clicks(tempo, seconds: 20, first: first))
        let errors = analysis.errors(from: 9, first: first, period: 60 / tempo)
        #expect(abs(Double(errors.count) - 11 * tempo / 60) <= 1.5)
        for error in errors { #expect(abs(error) < 0.010) }
        for beat in analysis.beats where beat.time > 9 {
            #expect(abs(beat.beatsPerMinute / tempo - 1) < 0.005, "at \(beat.time)")
            #expect(beat.confidence > 0.5)
        }
        #expect(abs(try #require(analysis.value("bpm", at: 19)) / tempo - 1) < 0.005)
    }

    @Test(arguments: [75.0, 120, 190, 197.5, 200, 202.5, 210, 217.5, 220], [0.5, 0.4137])
    func `clicks: the tempo is known after four seconds, and every reported tempo is within 2.5 %`(tempo: Double, first: Double)
        async throws
    {
        let analysis = try await BeatAnalysis(TestMusic.clicks(tempo, seconds: 8, first: first))
        #expect(analysis.value("bpm", at: 1) == nil)
        #expect(analysis.value("phase", at: 1) == nil)
        #expect(analysis.value("confidence", at: 1) == 0)
        #expect(analysis.value("bpm", at: 4.5) != nil)
        for value in analysis.stream.value("beat", "bpm") where !value.isNaN {
            // The first estimate is a whole number of frames, a coarse grid for fast tempi.
            #expect(abs(Double(value) / tempo - 1) < (tempo > 200 ? 0.025 : 0.02))
        }
    }

    @Test(arguments: [40.0, 47, 60])
    func `slow clicks: the tempo is known after five beats, and never twice the true one`(tempo: Double) async throws {
        let analysis = try await BeatAnalysis(TestMusic.clicks(tempo, seconds: 12))
        #expect(analysis.value("bpm", at: 0.6 + 5 * 60 / tempo) != nil)
        for value in analysis.stream.value("beat", "bpm") where !value.isNaN {
            #expect(abs(Double(value) / tempo - 1) < 0.05)
        }
    }

    @Test(arguments: [40.0, 43, 47, 48, 49, 50, 51, 54, 60, 64, 71, 80])
    func `slow clicks: the first reported tempo is kept`(tempo: Double) async throws {
        let tempi = try await BeatAnalysis(TestMusic.clicks(tempo, seconds: 14)).stream.value("beat", "bpm")
        let known = tempi.drop { $0.isNaN }
        #expect(Double(known.count) * 1024 / 44_100 > 5)
        for value in known { #expect(abs(Double(value) / tempo - 1) < 0.025) }
    }

    @Test(arguments: [110.0, 128, 140])
    func `alternating bass drum and cymbal: beats are detected, although bands alternate as in speech`(tempo: Double) async throws {
        let analysis = try await BeatAnalysis(TestMusic.alternatingDrumAndCymbal(tempo, seconds: 16))
        #expect(analysis.confidence.suffix(200).allSatisfy { $0 > 0.3 })
        let beats = analysis.beats.filter { $0.time > 7 }
        #expect(beats.count > 12)
        for beat in beats { #expect(abs(beat.beatsPerMinute / tempo - 1) < 0.01, "at \(beat.time)") }
    }

    @Test func `band: 90 % of the beats are emitted at least 50 ms before they occur`() async throws {
        let analysis = try await BeatAnalysis(TestMusic.band(112, seconds: 30))
        let beats = analysis.beats.filter { $0.time > 8 }
        #expect(beats.count >= 39)
        #expect(Double(beats.count { $0.time - $0.emitted >= 0.05 }) >= 0.9 * Double(beats.count))
        let errors = analysis.errors(from: 8, first: 0.25, period: 60 / 112).map(abs)
        #expect(errors.median < 0.035)
        #expect(abs(analysis.errors(from: 8, first: 0.25, period: 60 / 112).median) < 0.008)
    }

    @Test(arguments: [false, true])
    func `band: each beat is emitted once and in order, and the phase is within 0.06 beats`(wholeFile: Bool) async throws {
        let analysis = try await BeatAnalysis(TestMusic.band(126, seconds: 16), wholeFile: wholeFile)
        let times = analysis.beats.map(\.time)
        for (beat, next) in zip(times, times.dropFirst()) { #expect(next - beat > 0.3) }
        for second in stride(from: 6.0, to: 15, by: 0.37) {
            let batch = (Int(second * 44_100) / 1024 + 1) * 1024
            let now = Double(batch) / 44_100
            let expected = (now - 0.25) * 126 / 60
            let phase = try #require(analysis.value("phase", at: second))
            let distance = phase - (expected - expected.rounded(.down))
            #expect(abs(distance - distance.rounded()) < 0.06, "at \(second)")
        }
    }

    @Test func `summary: counts beats and onsets, and has the median tempo`() async throws {
        let analysis = try await BeatAnalysis(TestMusic.band(126, seconds: 16))
        let summary = try #require(analysis.stream.summary?.sections.first { $0.analyzer == "beat" }?.values)
        #expect(summary.map(\.name) == ["beats", "onsets", "bpm"])
        #expect(summary[0].number == .count(Int64(analysis.beats.count)))
        #expect(summary[1].number == .count(Int64(analysis.onsets.count)))
        guard case .feature(let tempo, .beatsPerMinute) = summary[2].number else {
            Issue.record("The summary has no tempo.")
            return
        }
        #expect(abs(tempo / 126 - 1) < 0.005)
    }

    @Test func `tempo change from 120 to 150 BPM: beats follow within eight seconds`() async throws {
        let both = TestMusic.band(120, seconds: 15) + TestMusic.band(150, seconds: 15)
        let analysis = try await BeatAnalysis(both)
        for beat in analysis.beats where beat.time > 8 && beat.time < 14.5 { #expect(abs(beat.beatsPerMinute / 120 - 1) < 0.01) }
        let later = analysis.beats.filter { $0.time > 23 }
        #expect(later.count >= 16)
        for beat in later { #expect(abs(beat.beatsPerMinute / 150 - 1) < 0.01) }
        for error in analysis.errors(from: 23, first: 15.25, period: 0.4) { #expect(abs(error) < 0.035) }
    }
}

@Suite struct `Signals without beats` {
    @Test(arguments: ["silence", "noise", "speech", "sawtooth"], [false, true])
    func `silence, noise, speech and a sawtooth have no beats`(kind: String, wholeFile: Bool) async throws {
        let samples: [Float] =
            switch kind {
            case "silence": Array(repeating: 0, count: 10 * 44_100)
            case "noise": TestMusic.noise(seconds: 20)
            case "speech": TestMusic.speech(seconds: 25)
            default: (0..<10 * 44_100).map { Float($0 % 100) / 200 - 0.25 }
            }
        let analysis = try await BeatAnalysis(samples, wholeFile: wholeFile)
        #expect(analysis.beats.isEmpty)
        #expect(analysis.confidence.allSatisfy { $0 < 0.15 })
        if kind == "silence" { #expect(analysis.onsets.isEmpty) }
    }

    @Test func `silence after music: beats, tempo and confidence end`() async throws {
        let analysis = try await BeatAnalysis(TestMusic.band(120, seconds: 10) + [Float](repeating: 0, count: 6 * 44_100))
        #expect(analysis.beats.contains { $0.time > 9 })
        #expect(!analysis.beats.contains { $0.time > 13.5 })
        #expect(analysis.value("bpm", at: 15) == nil)
        #expect(analysis.value("confidence", at: 15) == 0)
    }
}

@Suite struct `Beat invariance` {
    private static let piece = TestMusic.band(117, seconds: 14)

    @Test(arguments: [256, 441, 4096, 8192])
    func `batch size: beats and onsets are equal at all batch sizes`(batchFrames: Int) async throws {
        let usual = try await BeatAnalysis(Self.piece)
        let other = try await BeatAnalysis(Self.piece, batchFrames: batchFrames)
        #expect(usual.beats.count > 15)
        #expect(usual.beats.map(\.time) == other.beats.map(\.time))
        #expect(usual.onsets == other.onsets)
    }

    @Test(arguments: [22_050, 48_000, 96_000])
    func `sample rate: beats differ by less than 15 ms`(rate: Int) async throws {
        let usual = try await BeatAnalysis(Self.piece)
        let other = try await BeatAnalysis(TestMusic.band(117, seconds: 14, rate: rate), rate: rate)
        #expect(abs(usual.beats.count { $0.time > 6 } - other.beats.count { $0.time > 6 }) <= 1)
        for beat in other.beats where beat.time > 6 {
            #expect(usual.beats.contains { abs($0.time - beat.time) < 0.015 }, "at \(beat.time)")
        }
    }

    @Test func `inaudible noise before the music: beats differ by less than 2 ms`() async throws {
        let silence = [Float](repeating: 0, count: 44_100)
        let usual = try await BeatAnalysis(silence + Self.piece)
        let other = try await BeatAnalysis(TestMusic.noise(seconds: 1).map { $0 * 3e-5 } + Self.piece)
        // The first beats may be emitted earlier.
        let (beats, others) = (usual.beats.filter { $0.time > 6 }, other.beats.filter { $0.time > 6 })
        #expect(beats.count > 15)
        #expect(beats.count == others.count)
        for (one, other) in zip(beats, others) { #expect(abs(one.time - other.time) < 0.002) }
    }

    @Test(arguments: [0.1, 0.001])
    func `gain of -20 and -60 dB: beats differ by less than 2 ms`(gain: Float) async throws {
        let usual = try await BeatAnalysis(Self.piece)
        let attenuated = try await BeatAnalysis(Self.piece.map { $0 * gain })
        #expect(attenuated.beats.count == usual.beats.count)
        for (one, other) in zip(usual.beats, attenuated.beats) { #expect(abs(one.time - other.time) < 0.002) }
        #expect(attenuated.onsets.count == usual.onsets.count)
    }
}
