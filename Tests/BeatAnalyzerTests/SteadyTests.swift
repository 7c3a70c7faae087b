import BeatAnalyzer
import HemiolaSignal
import HemiolaTesting
import Testing

@Suite struct `A steady beat` {
    @Test(arguments: [40.0, 47, 55, 75, 97, 120, 150, 183, 210, 220], [0.5, 0.5043])
    func `of clicks is met, in tempo and time`(tempo: Double, first: Double) async throws {
        let hearing = try await Hearing(Music.clicks(tempo, seconds: 20, first: first))
        let errors = hearing.errors(from: 9, first: first, period: 60 / tempo)
        #expect(abs(Double(errors.count) - 11 * tempo / 60) <= 1.5)
        for error in errors { #expect(abs(error) < 0.010) }
        for beat in hearing.beats where beat.time > 9 {
            #expect(abs(beat.beatsPerMinute / tempo - 1) < 0.005, "at \(beat.time)")
            #expect(beat.confidence > 0.5)
        }
        #expect(abs(try #require(hearing.value("bpm", at: 19)) / tempo - 1) < 0.005)
    }

    @Test(arguments: [75.0, 120, 190, 197.5, 200, 202.5, 210, 217.5, 220], [0.5, 0.4137])
    func `has a tempo within four seconds, and none before it is right`(tempo: Double, first: Double) async throws {
        let hearing = try await Hearing(Music.clicks(tempo, seconds: 8, first: first))
        #expect(hearing.value("bpm", at: 1) == nil)
        #expect(hearing.value("phase", at: 1) == nil)
        #expect(hearing.value("confidence", at: 1) == 0)
        #expect(hearing.value("bpm", at: 4.5) != nil)
        for value in hearing.stream.value("beat", "bpm") where !value.isNaN {
            // At first it is whole frames, of which a fast beat has few.
            #expect(abs(Double(value) / tempo - 1) < (tempo > 200 ? 0.025 : 0.02))
        }
    }

    @Test(arguments: [40.0, 47, 60])
    func `that is slow has a tempo after five beats, and never twice that`(tempo: Double) async throws {
        let hearing = try await Hearing(Music.clicks(tempo, seconds: 12))
        #expect(hearing.value("bpm", at: 0.6 + 5 * 60 / tempo) != nil)
        for value in hearing.stream.value("beat", "bpm") where !value.isNaN {
            #expect(abs(Double(value) / tempo - 1) < 0.05)
        }
    }

    @Test(arguments: [40.0, 43, 47, 48, 49, 50, 51, 54, 60, 64, 71, 80])
    func `that is slow keeps the tempo that it was given`(tempo: Double) async throws {
        let tempi = try await Hearing(Music.clicks(tempo, seconds: 14)).stream.value("beat", "bpm")
        let known = tempi.drop { $0.isNaN }
        #expect(Double(known.count) * 1024 / 44_100 > 5)
        for value in known { #expect(abs(Double(value) / tempo - 1) < 0.025) }
    }

    @Test(arguments: [110.0, 128, 140])
    func `is heard where high and low take turns, as they do in speech`(tempo: Double) async throws {
        let hearing = try await Hearing(Music.turns(tempo, seconds: 16))
        #expect(hearing.confidence.suffix(200).allSatisfy { $0 > 0.3 })
        let beats = hearing.beats.filter { $0.time > 7 }
        #expect(beats.count > 12)
        for beat in beats { #expect(abs(beat.beatsPerMinute / tempo - 1) < 0.01, "at \(beat.time)") }
    }

    @Test func `is told before it sounds`() async throws {
        let hearing = try await Hearing(Music.band(112, seconds: 30))
        let beats = hearing.beats.filter { $0.time > 8 }
        #expect(beats.count >= 39)
        #expect(Double(beats.count { $0.time - $0.emitted >= 0.05 }) >= 0.9 * Double(beats.count))
        let errors = hearing.errors(from: 8, first: 0.25, period: 60 / 112).map(abs)
        #expect(errors.median < 0.035)
        #expect(abs(hearing.errors(from: 8, first: 0.25, period: 60 / 112).median) < 0.008)
    }

    @Test(arguments: [false, true])
    func `is told in order, once, with its phase`(wholeFile: Bool) async throws {
        let hearing = try await Hearing(Music.band(126, seconds: 16), wholeFile: wholeFile)
        let times = hearing.beats.map(\.time)
        for (beat, next) in zip(times, times.dropFirst()) { #expect(next - beat > 0.3) }
        for second in stride(from: 6.0, to: 15, by: 0.37) {
            let batch = (Int(second * 44_100) / 1024 + 1) * 1024
            let now = Double(batch) / 44_100
            let expected = (now - 0.25) * 126 / 60
            let phase = try #require(hearing.value("phase", at: second))
            let distance = phase - (expected - expected.rounded(.down))
            #expect(abs(distance - distance.rounded()) < 0.06, "at \(second)")
        }
    }

    @Test func `is summed up`() async throws {
        let hearing = try await Hearing(Music.band(126, seconds: 16))
        let summary = try #require(hearing.stream.summary?.sections.first { $0.analyzer == "beat" }?.values)
        #expect(summary.map(\.name) == ["beats", "onsets", "bpm"])
        #expect(summary[0].number == .count(Int64(hearing.beats.count)))
        #expect(summary[1].number == .count(Int64(hearing.onsets.count)))
        guard case .feature(let tempo, .beatsPerMinute) = summary[2].number else {
            Issue.record("There is no tempo.")
            return
        }
        #expect(abs(tempo / 126 - 1) < 0.005)
    }

    @Test func `of another piece is followed within eight seconds`() async throws {
        let both = Music.band(120, seconds: 15) + Music.band(150, seconds: 15)
        let hearing = try await Hearing(both)
        for beat in hearing.beats where beat.time > 8 && beat.time < 14.5 { #expect(abs(beat.beatsPerMinute / 120 - 1) < 0.01) }
        let later = hearing.beats.filter { $0.time > 23 }
        #expect(later.count >= 16)
        for beat in later { #expect(abs(beat.beatsPerMinute / 150 - 1) < 0.01) }
        for error in hearing.errors(from: 23, first: 15.25, period: 0.4) { #expect(abs(error) < 0.035) }
    }
}

@Suite struct `What has no beat` {
    @Test(arguments: ["silence", "noise", "speech", "a sine"], [false, true])
    func `gets none`(kind: String, wholeFile: Bool) async throws {
        let samples: [Float] =
            switch kind {
            case "silence": Array(repeating: 0, count: 10 * 44_100)
            case "noise": Music.noise(seconds: 20)
            case "speech": Music.speech(seconds: 25)
            default: (0..<10 * 44_100).map { Float($0 % 100) / 200 - 0.25 }
            }
        let hearing = try await Hearing(samples, wholeFile: wholeFile)
        #expect(hearing.beats.isEmpty)
        #expect(hearing.confidence.allSatisfy { $0 < 0.15 })
        if kind == "silence" { #expect(hearing.onsets.isEmpty) }
    }

    @Test func `after a piece is silence, and its beats end`() async throws {
        let hearing = try await Hearing(Music.band(120, seconds: 10) + [Float](repeating: 0, count: 6 * 44_100))
        #expect(hearing.beats.contains { $0.time > 9 })
        #expect(!hearing.beats.contains { $0.time > 13.5 })
        #expect(hearing.value("bpm", at: 15) == nil)
        #expect(hearing.value("confidence", at: 15) == 0)
    }
}

@Suite struct `The same sound` {
    private static let piece = Music.band(117, seconds: 14)

    @Test(arguments: [256, 441, 4096, 8192])
    func `has the same beats in batches of any size`(batchFrames: Int) async throws {
        let usual = try await Hearing(Self.piece)
        let other = try await Hearing(Self.piece, batchFrames: batchFrames)
        #expect(usual.beats.count > 15)
        #expect(usual.beats.map(\.time) == other.beats.map(\.time))
        #expect(usual.onsets == other.onsets)
    }

    @Test(arguments: [22_050, 48_000, 96_000])
    func `has the same beats at any sample rate`(rate: Int) async throws {
        let usual = try await Hearing(Self.piece)
        let other = try await Hearing(Music.band(117, seconds: 14, rate: rate), rate: rate)
        #expect(abs(usual.beats.count { $0.time > 6 } - other.beats.count { $0.time > 6 }) <= 1)
        for beat in other.beats where beat.time > 6 {
            #expect(usual.beats.contains { abs($0.time - beat.time) < 0.015 }, "at \(beat.time)")
        }
    }

    @Test func `has the same beats whatever is inaudible before it`() async throws {
        let silence = [Float](repeating: 0, count: 44_100)
        let usual = try await Hearing(silence + Self.piece)
        let other = try await Hearing(Music.noise(seconds: 1).map { $0 * 3e-5 } + Self.piece)
        // The first may be told sooner.
        let (beats, others) = (usual.beats.filter { $0.time > 6 }, other.beats.filter { $0.time > 6 })
        #expect(beats.count > 15)
        #expect(beats.count == others.count)
        for (one, other) in zip(beats, others) { #expect(abs(one.time - other.time) < 0.002) }
    }

    @Test(arguments: [0.1, 0.001])
    func `has the same beats at any loudness`(gain: Float) async throws {
        let usual = try await Hearing(Self.piece)
        let soft = try await Hearing(Self.piece.map { $0 * gain })
        #expect(soft.beats.count == usual.beats.count)
        for (one, other) in zip(usual.beats, soft.beats) { #expect(abs(one.time - other.time) < 0.002) }
        #expect(soft.onsets.count == usual.onsets.count)
    }
}
