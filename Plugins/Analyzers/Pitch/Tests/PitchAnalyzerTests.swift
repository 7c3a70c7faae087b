import AnalysisSupport
import Foundation
import Hemiola
import HemiolaTesting
import HemiolaTonal
import PitchAnalyzer
import References
import TestSupport
import Testing

/// A tone with harmonics whose frequency is a function of time.
private func voice(
    seconds: Double, sampleRate: Int = 44_100, level: Double = 0.2, harmonics: Int = 8, firstHarmonic: Int = 1,
    _ frequency: (Double) -> Double
) -> Audio {
    var phase = 0.0
    var samples: [Float] = []
    for frame in 0..<Int(seconds * Double(sampleRate)) {
        let hertz = frequency(Double(frame) / Double(sampleRate))
        phase += 2 * .pi * hertz / Double(sampleRate)
        var sum = 0.0
        if hertz > 0 {
            for number in firstHarmonic...harmonics where Double(number) * hertz < 0.45 * Double(sampleRate) {
                sum += sin(Double(number) * phase) / Double(number)
            }
        }
        samples.append(Float(level * sum))
    }
    return Audio(frames: samples.count, sampleRate: sampleRate) { frame, _ in Double(samples[frame]) }
}

private func cents(_ one: Float, _ other: Double) -> Double { 1200 * log2(Double(one) / other) }

/// The notes of an analysis, also those after the last batch.
private func notes(_ analysis: Analysis) -> [(time: Double, note: Note)] {
    let events = analysis.batches.flatMap(\.events) + (analysis.stream.summary?.lateEvents ?? [])
    return events.compactMap { event in Note(event).map { (event.time, $0) } }
}

@Suite struct `PitchAnalyzer, known signals` {
    @Test func `conformance tests: passed`() throws {
        try AnalyzerConformanceSuite(.pitch).run()
        try AnalyzerConformanceSuite(.pitch, settings: "min_hz=80,max_hz=1000").run()
    }

    @Test(arguments: [66.0, 98, 147, 220, 440, 987, 1480, 2090])
    func `steady tone: its frequency within 5 cents, certainly voiced`(hertz: Double) async throws {
        let analysis = try await Analysis(of: voice(seconds: 1.5) { _ in hertz }, .pitch)
        for batch in 15..<analysis.batches.count - 1 {
            #expect(abs(cents(analysis.value("f0_hz")[batch], hertz)) < 5)
            #expect(analysis.value("voicing")[batch] > 0.9)
        }
    }

    @Test func `missing fundamental: the pitch of the harmonics`() async throws {
        let analysis = try await Analysis(of: voice(seconds: 1.5, firstHarmonic: 2) { _ in 150 }, .pitch)
        for batch in 15..<analysis.batches.count - 1 { #expect(abs(cents(analysis.value("f0_hz")[batch], 150)) < 10) }
    }

    @Test(arguments: [8_000, 22_050, 48_000, 96_000])
    func `other sample rates: the same frequency`(sampleRate: Int) async throws {
        let analysis = try await Analysis(of: voice(seconds: 1.5, sampleRate: sampleRate) { _ in 311 }, .pitch)
        let middle = analysis.value("f0_hz")[analysis.batches.count / 2]
        #expect(abs(cents(middle, 311)) < 5)
    }

    @Test func `vibrato and glide: followed at the declared time`() async throws {
        let frequency = { (time: Double) in time < 2 ? 220 * exp2(sin(2 * .pi * 5.5 * time) / 12) : 220 * exp2(time - 2) }
        let analysis = try await Analysis(of: voice(seconds: 3, frequency), .pitch)
        let offset = try #require(analysis.feature("f0_hz").centerOffset)
        for batch in 20..<analysis.batches.count - 8 {
            let time = Double(batch) * 1024 / 44_100 + offset
            // The window of 93 ms flattens the extremes of a vibrato.
            #expect(abs(cents(analysis.value("f0_hz")[batch], frequency(time))) < 35)
        }
    }

    @Test func `silence and noise: no pitch and no note`() async throws {
        var random = SplitMix64(seed: 3)
        let noise = Audio(frames: 4 * 44_100) { _, _ in 0.3 * (2 * random.uniform() - 1) }
        for audio in [Audio.silence(frames: 44_100), noise] {
            let analysis = try await Analysis(of: audio, .pitch)
            let voiced = analysis.value("f0_hz").filter { !$0.isNaN }.count
            #expect(voiced <= analysis.batches.count / 50)
            #expect(notes(analysis).isEmpty)
        }
    }

    @Test func `voice in noise of the same power: most frames within 50 cents`() async throws {
        var random = SplitMix64(seed: 5)
        let clean = voice(seconds: 3) { _ in 196 }
        let power = clean.samples.reduce(0) { $0 + Double($1 * $1) } / Double(clean.samples.count)
        let mixed = Audio(frames: clean.samples.count) { frame, _ in
            Double(clean.samples[frame]) + (3 * power).squareRoot() * (2 * random.uniform() - 1)
        }
        let values = try await Analysis(of: mixed, .pitch).value("f0_hz")[10...]
        let right = values.filter { abs(cents($0, 196)) < 50 }.count
        #expect(Double(right) > 0.9 * Double(values.count))
    }
}

@Suite struct `PitchAnalyzer, notes and streams` {
    private let melody = [60, 64, 67, 67, 72]

    /// Notes of 0.4 s, with pauses of 0.1 s.
    private func played(sampleRate: Int = 44_100) -> Audio {
        voice(seconds: 2.6, sampleRate: sampleRate) { time in
            let index = Int(time / 0.5)
            return index < melody.count && time - Double(index) * 0.5 < 0.4 ? 440 * exp2(Double(melody[index] - 69) / 12) : 0
        }
    }

    @Test(arguments: [256, 1024, 4096])
    func `melody: its notes, times within 40 ms`(batchFrames: Int) async throws {
        let found = notes(try await Analysis(of: played(), .pitch, batchFrames: batchFrames))
        #expect(found.map(\.note.midi) == melody)
        for (index, item) in found.enumerated() {
            #expect(abs(item.time - 0.5 * Double(index)) < 0.04)
            #expect(abs(item.note.duration - 0.4) < 0.12)
        }
    }

    @Test(arguments: [false, true])
    func `any batch length: the same records`(wholeFile: Bool) async throws {
        func records(_ batchFrames: Int) async throws -> [String] {
            try await Analysis(of: played(), .pitch, batchFrames: batchFrames, wholeFile: wholeFile).stream.events.map(\.description)
        }
        let reference = try await records(1024)
        #expect(reference.count == melody.count)
        for batchFrames in [256, 441, 1000, 4096] { #expect(try await records(batchFrames) == reference, "\(batchFrames)") }
    }

    @Test func `legato: a change of the pitch begins a note`() async throws {
        let audio = voice(seconds: 1.5) { $0 < 0.7 ? 440 : 493.88 }
        let found = notes(try await Analysis(of: audio, .pitch))
        #expect(found.map(\.note.midi) == [69, 71])
        #expect(abs(found[1].time - 0.7) < 0.05)
    }

    @Test(arguments: [4.0, 4.5, 5, 5.5, 6, 7], [0.3, 0.5, 0.8, 1])
    func `vibrato: one note, whose pitch is its mean`(hertz: Double, depth: Double) async throws {
        for phase in [0, 1.6, 3.1, 4.7] {
            let audio = voice(seconds: 2) { 330 * exp2(depth * sin(2 * .pi * hertz * $0 + phase) / 12) }
            for wholeFile in [false, true] {
                let found = notes(try await Analysis(of: audio, .pitch, wholeFile: wholeFile))
                #expect(found.map(\.note.midi) == [64], "\(phase)")
                #expect(found.allSatisfy { abs(cents(Float($0.note.frequency), 330)) < 15 && $0.note.duration > 1.8 }, "\(found)")
            }
        }
    }

    @Test(arguments: [0.1, 0.11, 0.125, 0.15, 0.2, 0.4], [1, -1, 2])
    func `trill and legato steps: a note for each`(seconds: Double, step: Int) async throws {
        // The last note is longer: its end is within the window of the last frame.
        let audio = voice(seconds: 8 * seconds + 0.1) { 440 * exp2(Double(min(7, Int($0 / seconds)) % 2 * step) / 12) }
        let found = notes(try await Analysis(of: audio, .pitch, "min_note_s=0.05"))
        #expect(found.map(\.note.midi) == [69, 69 + step, 69, 69 + step, 69, 69 + step, 69, 69 + step])
        for (index, note) in found.enumerated() { #expect(abs(note.time - Double(index) * seconds) < 0.05) }
    }

    @Test(arguments: [1.0, -1, 2, 4], [0.3, 0.5])
    func `legato step in a voice with vibrato: two notes`(step: Double, depth: Double) async throws {
        let audio = voice(seconds: 3) { 330 * exp2((depth * sin(2 * .pi * 5.5 * $0) + ($0 < 1.5 ? 0 : step)) / 12) }
        let found = notes(try await Analysis(of: audio, .pitch))
        #expect(found.map(\.note.midi) == [64, 64 + Int(step)])
        #expect(found.count == 2 && abs(found[1].time - 1.5) < 0.1)
    }

    @Test func `vibrato of a semitone: one note`() async throws {
        let audio = voice(seconds: 2) { 330 * exp2(0.5 * sin(2 * .pi * 6 * $0) / 12) }
        #expect(notes(try await Analysis(of: audio, .pitch)).map(\.note.midi) == [64])
    }

    @Test(arguments: [false, true])
    func `gap: the note ends there, another one begins behind it, and later times are right`(wholeFile: Bool) async throws {
        let (before, after) = (voice(seconds: 1) { _ in 440 }, voice(seconds: 2) { $0 < 1 ? 440 : 523.25 })
        let analysis = try await Analysis(
            of: [.samples(before.samples), .gap(Gap(frames: 44_100, reason: .overrun)), .samples(after.samples)], before.format, .pitch,
            wholeFile: wholeFile)
        let found = notes(analysis)
        #expect(found.map(\.note.midi) == [69, 69, 72])
        // Live, the window of the last frame ends with the audio, and its centre is 46 ms earlier.
        #expect(abs(found[0].time + found[0].note.duration - (wholeFile ? 1 : 0.96)) < 0.03)
        #expect(found[1].time >= 2 && found[1].time < 2.06)
        #expect(abs(found[2].time - 3) < 0.05 && abs(found[2].time + found[2].note.duration - 3.96) < 0.03)
        // Batches of 1024 frames, the one before the gap being shorter.
        let change = try #require(analysis.value("f0_hz").firstIndex { abs(cents($0, 523.25)) < 20 })
        let offset = try #require(analysis.feature("f0_hz").centerOffset)
        #expect(abs(2 + Double(change - 44_100 / 1024 - 1) * 1024 / 44_100 + offset - 3) < 0.05)
    }

    @Test func `stream of 0,14 s: its note, within the stream`() async throws {
        let found = notes(try await Analysis(of: voice(seconds: 0.14) { _ in 440 }, .pitch, "min_note_s=0.02"))
        #expect(found.map(\.note.midi) == [69])
        #expect(found[0].time >= 0 && found[0].time + found[0].note.duration <= 0.14)
    }

    @Test func `narrow range: no pitch outside it`() async throws {
        let analysis = try await Analysis(of: voice(seconds: 1) { _ in 1500 }, .pitch, "min_hz=80,max_hz=400")
        #expect(analysis.value("f0_hz").allSatisfy { $0.isNaN || $0 < 420 })
    }

    @Test func `range below an octave: an error`() {
        #expect(throws: Problem.self) { try AnalyzerPlugin.pitch.analyzer("min_hz=500,max_hz=900") }
    }
}
