import AnalysisSupport
import Foundation
import Hemiola
import HemiolaTesting
import MusicalKeyAnalyzer
import TestSupport
import Testing

/// Chords of harmonic tones: each is a list of semitones above C4, and lasts a second. Their tuning may change from chord to chord, in
/// cents.
private func chords(
    _ chords: [[Int]], transposition: Int = 0, seconds: Int, sampleRate: Int = 44_100, cents: (Int) -> Double = { _ in 0 }
) -> Audio {
    Audio(frames: seconds * sampleRate, sampleRate: sampleRate) { frame, _ in
        let time = Double(frame) / Double(sampleRate)
        let place = time.truncatingRemainder(dividingBy: 1)
        return chords[Int(time) % chords.count].reduce(0.0) { sum, step in
            let semitones = Double(step + transposition - 9) + cents(Int(time)) / 100
            let phase = 2 * .pi * 440 * exp2(semitones / 12) * time
            return sum + 0.05 * min(1, place / 0.01, (1 - place) / 0.01) * (sin(phase) + 0.5 * sin(2 * phase) + 0.25 * sin(3 * phase))
        }
    }
}

/// I IV V I, and i iv V i, with a bass.
private let majorCadence = [[-12, 0, 4, 7], [-7, 0, 5, 9], [-5, -1, 2, 7], [-12, 0, 4, 7]]
private let minorCadence = [[-12, 0, 3, 7], [-7, 0, 5, 8], [-5, -1, 2, 7], [-12, 0, 3, 7]]
private let majorNames = ["C", "Db", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"]
private let minorNames = ["C", "C#", "D", "Eb", "E", "F", "F#", "G", "G#", "A", "Bb", "B"]

extension Analysis {
    /// The labels of the key records.
    fileprivate var keys: [String] {
        stream.events.filter { $0.type.name == "musical_key" }.compactMap { $0["label"].string }
    }
}

@Suite struct `MusicalKeyAnalyzer, cadences` {
    @Test(arguments: 0..<12)
    func `major and minor cadence on any tonic: one record with their key`(tonic: Int) async throws {
        let major = try await Analysis(of: chords(majorCadence, transposition: tonic, seconds: 8), .musicalKey)
        #expect(major.keys == ["\(majorNames[tonic]) major"])
        #expect(major.value("tonic").last == Float(tonic) && major.value("mode").last == 0)
        let minor = try await Analysis(of: chords(minorCadence, transposition: tonic, seconds: 8), .musicalKey)
        #expect(minor.keys == ["\(minorNames[tonic]) minor"])
        #expect(minor.value("tonic").last == Float(tonic) && minor.value("mode").last == 1)
        #expect(minor.value("confidence").last! > 0.5)
        // The tonic is one of twelve texts, however the key is written.
        let record = try #require(minor.stream.events.first)
        #expect(
            record["tonic"] == .text(majorNames[tonic]) && record["tonic_number"] == .integer(tonic) && record["mode_number"] == .integer(1)
        )
        let summary = try #require(minor.stream.summary?.sections.first)
        #expect(summary.analyzer == "musical_key" && summary.values.first == SummaryValue("key", text: "\(minorNames[tonic]) minor"))
        #expect(summary.values[1...2].elementsEqual(SummaryValue.category("tonic", tonic, labels: majorNames)))
    }

    @Test func `tuned half-way between two keys, with a drift of some cents: one key`() async throws {
        // From 45 to 55 cents.
        let audio = chords(majorCadence, seconds: 48, sampleRate: 22_050) { 50 - 5 * cos(2 * .pi * Double($0) / 96) }
        #expect(try await Analysis(of: audio, .musicalKey, "window_s=8").keys == ["C major"])
    }

    @Test(arguments: ["krumhansl", "temperley", "edma", "general"])
    func `each profile: the key of a cadence`(profile: String) async throws {
        let analysis = try await Analysis(of: chords(majorCadence, transposition: 3, seconds: 8), .musicalKey, "profile=\(profile)")
        #expect(analysis.keys == ["Eb major"])
    }

    @Test func `modulation: a second record after some seconds, and no other`() async throws {
        let audio = chords(majorCadence, seconds: 20).followed(by: chords(majorCadence, transposition: 6, seconds: 20))
        let analysis = try await Analysis(of: audio, .musicalKey, "window_s=8")
        #expect(analysis.keys == ["C major", "F# major"])
        let change = try #require(analysis.stream.events.last { $0.type.name == "musical_key" })
        #expect(change.time > 22 && change.time < 32)
    }

    @Test func `before three seconds of tones: no key`() async throws {
        let analysis = try await Analysis(of: chords(majorCadence, seconds: 8), .musicalKey)
        #expect(analysis.value("tonic")[..<125].allSatisfy(\.isNaN) && analysis.value("confidence")[..<125].allSatisfy(\.isNaN))
        // Too little sound, undecided until a key has been the most probable one for 2 s, and a key.
        let status = analysis.value("status")
        #expect(status[..<125].allSatisfy { $0 == 1 } && status.last == 0)
        #expect(status.reduce(into: [Float]()) { if $0.last != $1 { $0.append($1) } } == [1, 3, 0])
        #expect(zip(status, analysis.value("tonic")).allSatisfy { ($0 == 0) != $1.isNaN })
    }

    @Test(arguments: [8_000, 22_050, 96_000])
    func `other sample rates: the same key`(sampleRate: Int) async throws {
        let analysis = try await Analysis(of: chords(minorCadence, transposition: 9, seconds: 8, sampleRate: sampleRate), .musicalKey)
        #expect(analysis.keys == ["A minor"])
    }

    @Test func `any batch length: the same records and the same last values`() async throws {
        let audio = chords(minorCadence, transposition: 2, seconds: 10)
        let reference = try await Analysis(of: audio, .musicalKey)
        for batchFrames in [256, 441, 1000, 4096, 8192] {
            let analysis = try await Analysis(of: audio, .musicalKey, batchFrames: batchFrames)
            #expect(analysis.stream.events.map(\.description) == reference.stream.events.map(\.description))
            #expect(analysis.value("confidence").last == reference.value("confidence").last)
            #expect(analysis.stream.summary?.sections == reference.stream.summary?.sections)
        }
    }
}

@Suite struct `MusicalKeyAnalyzer, no key` {
    @Test func `silence, noise, clicks and a steady tone: no record, no values`() async throws {
        let signals: [(Audio, status: Float)] = [
            (.silence(frames: 441_000), 1), (.noise(amplitude: 0.3, frames: 441_000), 2), (.sine(440, amplitude: 0.5, frames: 441_000), 3),
            (Audio(TestSignal.clicks(beatsPerMinute: 120, frames: 441_000)), 2),
        ]
        for (signal, status) in signals {
            let analysis = try await Analysis(of: signal, .musicalKey)
            #expect(analysis.keys.isEmpty)
            #expect(analysis.value("tonic").allSatisfy(\.isNaN) && analysis.value("mode").allSatisfy(\.isNaN))
            #expect(analysis.value("status").last == status)
            #expect(analysis.stream.summary?.sections.first?.values.last == SummaryValue("status", Double(status), .none))
            let whole = try await Analysis(of: signal, .musicalKey, wholeFile: true)
            #expect(whole.keys.isEmpty && whole.value("status").allSatisfy { $0 == status })
        }
    }

    @Test func `cadence below a loud beat of noise: its key; the beat alone: no tones`() async throws {
        let noise = TestSignal.noise(seed: 9, frames: 20 * 44_100)
        let beat = noise.indices.map { noise[$0] * 0.8 * Float(exp(-Double($0 % 11_025) / 3000)) }
        let music = chords(majorCadence, transposition: 5, seconds: 20).samples
        let mix = try await Analysis(of: Audio(zip(beat, music).map { $0 + $1 }), .musicalKey)
        #expect(mix.keys == ["F major"])
        let alone = try await Analysis(of: Audio(beat), .musicalKey)
        #expect(alone.keys.isEmpty && alone.value("status").last == 2)
    }

    @Test func `long silence after music: the key ends, and begins anew with the music`() async throws {
        let music = chords(majorCadence, seconds: 8)
        let audio = music.followed(by: .silence(frames: 20 * 44_100)).followed(by: music)
        let analysis = try await Analysis(of: audio, .musicalKey, "window_s=4")
        #expect(analysis.keys == ["C major", "C major"])
        #expect(analysis.value("tonic")[20 * 43].isNaN)
    }

    @Test func `gap: the key stays`() async throws {
        let music = chords(majorCadence, seconds: 8)
        let analysis = try await Analysis(
            of: [.samples(music.samples), .gap(Gap(frames: 44_100, reason: .overrun)), .samples(music.samples)], music.format, .musicalKey)
        #expect(analysis.keys == ["C major"])
        #expect(analysis.value("tonic").last == 0)
    }
}

@Suite struct `MusicalKeyAnalyzer, plugin` {
    @Test func `conformance tests: passed`() throws {
        try AnalyzerConformanceSuite(.musicalKey).run()
        try AnalyzerConformanceSuite(.musicalKey, settings: "profile=edma,window_s=5").run()
    }

    @Test func `two passes: the key of the whole signal from the first batch on, in one record at 0`() async throws {
        let audio = chords(majorCadence, seconds: 4).followed(by: chords(minorCadence, transposition: 4, seconds: 20))
        let analysis = try await Analysis(of: audio, .musicalKey, wholeFile: true)
        #expect(analysis.value("tonic").allSatisfy { $0 == 4 } && analysis.value("mode").allSatisfy { $0 == 1 })
        #expect(analysis.keys == ["E minor"] && analysis.stream.events.first { $0.type.name == "musical_key" }?.time == 0)
    }
}
