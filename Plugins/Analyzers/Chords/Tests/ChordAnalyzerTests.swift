import AnalysisSupport
import ChordAnalyzer
import Foundation
import Hemiola
import HemiolaTesting
import TestSupport
import Testing

/// Chords of harmonic tones, two seconds each: lists of semitones above C4. Their tuning may change from chord to chord, in cents.
private func chords(_ chords: [[Int]], sampleRate: Int = 44_100, cents: (Int) -> Double = { _ in 0 }) -> Audio {
    Audio(frames: 2 * chords.count * sampleRate, sampleRate: sampleRate) { frame, _ in
        let time = Double(frame) / Double(sampleRate)
        let place = time.truncatingRemainder(dividingBy: 2)
        return chords[Int(time / 2)].reduce(0.0) { sum, step in
            let semitones = Double(step - 9) + cents(Int(time / 2)) / 100
            let phase = 2 * .pi * 440 * exp2(semitones / 12) * time
            return sum + 0.05 * min(1, place / 0.01, (2 - place) / 0.01) * (sin(phase) + 0.5 * sin(2 * phase) + 0.25 * sin(3 * phase))
        }
    }
}

/// C, A minor, D minor 7, G 7, C major 7, with a bass.
private let song = [[-12, 0, 4, 7], [-3, 0, 4, 9], [-10, 0, 2, 5, 9], [-5, -1, 2, 5, 7], [-12, 0, 4, 7, 11]]
private let labels = ["C:maj", "A:min", "D:min7", "G:7", "C:maj7"]

/// A chord record.
private struct Chord: Equatable {
    var time: Double
    var duration: Double
    var label: String
    var reason: String?
}

extension Analysis {
    fileprivate var chords: [Chord] {
        stream.events.filter { $0.type.name == "chord" }.map {
            Chord(time: $0.time, duration: $0["duration_s"].number ?? .nan, label: $0["label"].string ?? "", reason: $0["reason"].string)
        }
    }
}

@Suite struct `ChordAnalyzer, synthesised chords` {
    @Test(arguments: [false, true])
    func `triads and sevenths: a record each, with start and duration within 0,15 s`(wholeFile: Bool) async throws {
        let found = try await Analysis(of: chords(song), .chords, wholeFile: wholeFile).chords
        #expect(found.map(\.label) == labels && found.allSatisfy { $0.reason == nil })
        for (index, chord) in found.enumerated() {
            #expect(abs(chord.time - 2 * Double(index)) < 0.15)
            #expect(abs(chord.duration - 2) < 0.3)
        }
        #expect(found.last.map { abs($0.time + $0.duration - 10) < 1e-6 } == true)
    }

    @Test(arguments: [false, true])
    func `tuned half-way between two keys, with a drift of some cents: the roots stay on one side`(wholeFile: Bool) async throws {
        // 45 cents, then 55, then 45 again.
        let (part, names) = (song.dropLast(), labels.dropLast())
        let audio = chords(Array(part + part + part + part), sampleRate: 22_050) { 50 - 5 * cos(2 * .pi * Double($0) / 20) }
        let found = try await Analysis(of: audio, .chords, wholeFile: wholeFile).chords
        #expect(found.map(\.label) == Array(names + names + names + names))
    }

    @Test(arguments: 0..<12)
    func `major and minor triad on any root: its root and quality`(root: Int) async throws {
        let audio = chords([[root - 12, root, root + 4, root + 7], [root - 12, root, root + 3, root + 7]])
        let analysis = try await Analysis(of: audio, .chords)
        #expect(analysis.chords.count == 2)
        #expect(analysis.value("root")[80] == Float(root) && analysis.value("quality")[80] == 0)
        #expect(analysis.value("root").last == Float(root) && analysis.value("quality").last == 1)
        #expect(analysis.value("confidence").last! > 0.7)
        #expect(zip(analysis.value("status"), analysis.value("root")).allSatisfy { ($0 == 0) != $1.isNaN })
    }

    @Test func `without sevenths: triads only`() async throws {
        let found = try await Analysis(of: chords(song), .chords, "sevenths=false").chords
        #expect(found.allSatisfy { $0.label.hasSuffix(":maj") || $0.label.hasSuffix(":min") || $0.label == "N" })
    }

    @Test(arguments: [8_000, 22_050, 96_000])
    func `other sample rates: the same chords`(sampleRate: Int) async throws {
        #expect(try await Analysis(of: chords(song, sampleRate: sampleRate), .chords).chords.map(\.label) == labels)
    }

    @Test(arguments: [false, true])
    func `any batch length: the same records`(wholeFile: Bool) async throws {
        let reference = try await Analysis(of: chords(song), .chords, wholeFile: wholeFile)
        #expect(reference.chords.count == labels.count)
        for batchFrames in [256, 441, 1000, 4096, 8192] {
            let analysis = try await Analysis(of: chords(song), .chords, batchFrames: batchFrames, wholeFile: wholeFile)
            #expect(analysis.stream.events.map(\.description) == reference.stream.events.map(\.description), "\(batchFrames)")
        }
    }
}

@Suite struct `ChordAnalyzer, spelling` {
    @Test(arguments: [
        // I, iii, vi, IV, V, I.
        (9, ["A:maj", "C#:min", "F#:min", "D:maj", "E:maj", "A:maj"]),
        (10, ["Bb:maj", "D:min", "G:min", "Eb:maj", "F:maj", "Bb:maj"]),
        (1, ["Db:maj", "F:min", "Bb:min", "Gb:maj", "Ab:maj", "Db:maj"]),
        (4, ["E:maj", "G#:min", "C#:min", "A:maj", "B:maj", "E:maj"]),
    ])
    func `major keys: as in their signature; the root is the same in all keys`(tonic: Int, names: [String]) async throws {
        let degrees = [[0, 4, 7], [4, 7, 11], [9, 12, 16], [5, 9, 12], [7, 11, 14], [0, 4, 7]]
        let audio = chords(degrees.map { degree in [tonic - 12 + degree[0] - 12] + degree.map { tonic - 12 + $0 } })
        let events = try await Analysis(of: audio, .chords, "sevenths=false", wholeFile: true).stream.events
        #expect(events.compactMap { $0["label"].string } == names)
        let roots = ["C", "Db", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"]
        #expect(events.map { $0["root"].string } == degrees.map { roots[(tonic + $0[0]) % 12] })
        // Without a first pass, the key is known after some seconds.
        let live = try await Analysis(of: audio, .chords, "sevenths=false").chords.map(\.label)
        #expect(live.suffix(3) == names.suffix(3))
    }
}

@Suite struct `ChordAnalyzer, no chord` {
    @Test func `silence and noise: one record of no chord, no values`() async throws {
        for signal in [Audio.silence(frames: 220_500), .noise(amplitude: 0.3, frames: 220_500)] {
            let analysis = try await Analysis(of: signal, .chords)
            #expect(analysis.chords.map(\.label) == ["N"])
            #expect(analysis.stream.events.map { $0["reason"].string } == ["no tones"])
            #expect(analysis.chords[0].time == 0 && abs(analysis.chords[0].duration - 5) < 1e-6)
            #expect(analysis.value("root").allSatisfy(\.isNaN) && analysis.value("confidence").allSatisfy(\.isNaN))
            // Nothing is decided before the delay.
            let status = analysis.value("status")
            #expect(status[..<20].allSatisfy { $0 == 1 } && status[40...].allSatisfy { $0 == 2 })
        }
    }

    @Test(arguments: [false, true])
    func `gap: the chord ends where it begins, the next begins after it, and later times are right`(wholeFile: Bool) async throws {
        let (before, after) = (chords([song[0]]), chords([song[0], song[1]]))
        let analysis = try await Analysis(
            of: [.samples(before.samples), .gap(Gap(frames: 44_100, reason: .overrun)), .samples(after.samples)], before.format, .chords,
            wholeFile: wholeFile)
        let found = analysis.chords.filter { $0.label != "N" }
        #expect(found.map(\.label) == ["C:maj", "C:maj", "A:min"])
        #expect(abs(found[0].time + found[0].duration - 2) < 1e-6)
        #expect(found[1].time >= 3 && found[1].time < 3.4)
        #expect(abs(found[2].time - 5) < 0.15 && abs(found[2].time + found[2].duration - 7) < 1e-6)
        // Batches of 1024 frames, the one before the gap being shorter.
        let (gap, delay) = (2 * 44_100 / 1024 + 1, wholeFile ? 0.256 : 0.756)
        let change = try #require(analysis.value("root").lastIndex(of: 0))
        #expect(abs(3 + Double(change + 1 - gap) * 1024 / 44_100 - delay - 5) < 0.15)
    }
}

@Suite struct `ChordAnalyzer, plugin` {
    @Test func `conformance tests: passed`() throws {
        try AnalyzerConformanceSuite(.chords).run()
        try AnalyzerConformanceSuite(.chords, settings: "sevenths=false,delay_s=0,mean_s=1").run()
    }
}
