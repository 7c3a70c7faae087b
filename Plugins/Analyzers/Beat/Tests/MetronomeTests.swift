import Glibc
import HemiolaSignal
import HemiolaTesting
import Testing

@testable import BeatAnalyzer

/// A metronome's sound.
struct Beep: Sendable, CustomTestStringConvertible {
    /// In hertz; nil: noise.
    var frequency: Double?
    var milliseconds: Double
    var isSoft: Bool

    var testDescription: String { "\(frequency.map { "\(Int($0)) Hz" } ?? "noise"), \(milliseconds) ms, \(isSoft ? "soft" : "hard")" }

    /// A beep at each beat, then half a second of silence; every `accents`th is an octave higher and twice as loud.
    func metronome(_ tempo: Double, beats: Int, first: Double = 0.3, accents: Int? = nil) -> [Float] {
        var track = [Float](repeating: 0, count: Int((first + Double(beats - 1) * 60 / tempo + 0.5) * 44_100))
        var generator = SplitMix64(seed: 3)
        let length = milliseconds * 44.1
        for beat in 0..<beats {
            let start = Int(((first + Double(beat) * 60 / tempo) * 44_100).rounded())
            let isAccent = accents.map { beat.isMultiple(of: $0) } ?? false
            for index in 0..<Int(length) {
                let place = (Double(index) + 0.5) / length
                let envelope = isSoft ? 0.5 - 0.5 * cos(2 * .pi * place) : min(1, (1 - place) / 0.1)
                let hertz = (frequency ?? 0) * (isAccent ? 2 : 1)
                let wave = frequency == nil ? Double.random(in: -1...1, using: &generator) : sin(2 * .pi * hertz * Double(index) / 44_100)
                track[start + index] = Float((isAccent ? 0.8 : 0.4) * envelope * wave)
            }
        }
        return track
    }
}

@Suite struct `Metronomes` {
    private static let beeps = [
        Beep(frequency: 1000, milliseconds: 20, isSoft: true), Beep(frequency: 1000, milliseconds: 50, isSoft: true),
        Beep(frequency: 2100, milliseconds: 9, isSoft: true), Beep(frequency: 5000, milliseconds: 20, isSoft: true),
        Beep(frequency: 500, milliseconds: 50, isSoft: true), Beep(frequency: 200, milliseconds: 100, isSoft: true),
        Beep(frequency: 8000, milliseconds: 100, isSoft: false), Beep(frequency: nil, milliseconds: 2, isSoft: false),
        Beep(frequency: nil, milliseconds: 100, isSoft: true),
    ]

    @Test(arguments: beeps, [40.0, 72, 120, 174, 240])
    func `whole file: every beep is a beat`(beep: Beep, tempo: Double) async throws {
        let beats = try await BeatAnalysis(beep.metronome(tempo, beats: 12), wholeFile: true).beats
        #expect(beats.count == 12)
        for (index, beat) in beats.enumerated() {
            #expect(abs(beat.time - 0.3 - Double(index) * 60 / tempo) < 0.05)
            #expect(abs(beat.beatsPerMinute / tempo - 1) < 0.06)
        }
    }

    @Test(arguments: [2, 3, 4], [40.0, 72, 120, 200, 240])
    func `whole file: bars begin on the accents`(accents: Int, tempo: Double) async throws {
        for beep in [Self.beeps[0], Self.beeps[4]] {
            let beats = try await BeatAnalysis(beep.metronome(tempo, beats: 16, accents: accents), wholeFile: true).beats
            #expect(beats.count == 16)
            for (index, beat) in beats.enumerated() {
                let position = try #require(beat.position)
                #expect((position - 1) % accents == index % accents, "beat \(index) of \(beep.testDescription)")
            }
        }
    }

    @Test(arguments: [0, 1, 2, 4, 5])
    func `live: soft beeps are beats after a few of them`(index: Int) async throws {
        let beats = try await BeatAnalysis(Self.beeps[index].metronome(120, beats: 30)).beats.filter { $0.time > 6 }
        #expect(beats.count >= 17)
        for beat in beats { #expect(abs(((beat.time - 0.3) * 2).rounded() / 2 + 0.3 - beat.time) < 0.05) }
    }

    @Test(arguments: [2, 3, 4], [60.0, 120, 174])
    func `live: bars begin on the accents, and are unknown without`(accents: Int, tempo: Double) async throws {
        for beep in [Self.beeps[0], Self.beeps[4]] {
            let beats = try await BeatAnalysis(beep.metronome(tempo, beats: 40, accents: accents)).beats
            let later = beats.filter { $0.time > 0.3 + Double(5 * accents) * 60 / tempo }
            #expect(later.count > 15)
            for beat in later {
                let index = Int(((beat.time - 0.3) * tempo / 60).rounded())
                #expect(beat.position.map { ($0 - 1) % accents } == index % accents, "beat \(index) of \(beep.testDescription)")
            }
            let equal = try await BeatAnalysis(beep.metronome(tempo, beats: 40)).beats
            #expect(equal.count > 15 && equal.dropFirst(8).allSatisfy { $0.position == nil })
        }
    }

    @Test func `of two bars or less the bars are unknown`() async throws {
        let beats = try await BeatAnalysis(Self.beeps[0].metronome(120, beats: 8, first: 0.1, accents: 4), wholeFile: true).beats
        #expect(beats.count == 8)
        #expect(beats.allSatisfy { $0.position == nil })
    }

    @Test func `PeriodicOnsets: runs end where a distance differs, and doubled onsets count once`() {
        let space = BeatStateSpace(frameSeconds: 0.01, tempi: 30...240)
        let even = (0..<8).map { 10 + 50 * $0 }
        #expect(PeriodicOnsets.runs(of: even, space) == [even])
        #expect(PeriodicOnsets.runs(of: even.flatMap { [$0, $0 + 6] }, space) == [even])
        let later = (0..<6).map { 460 + 70 * $0 }
        #expect(PeriodicOnsets.runs(of: even + [385, 400] + later, space) == [even, later])
        #expect(PeriodicOnsets.runs(of: [0, 50, 97, 152, 210, 250, 310], space).isEmpty)
        #expect(PeriodicOnsets.runs(of: [], space).isEmpty)
    }

    @Test func `IsolatedSound: no accents among equal sounds, none among sounds that differ at random`() {
        func sounds(_ values: [(Float, Float)]) -> [IsolatedSound] {
            values.map { loudness, pitch in IsolatedSound(frame: 0, values: SIMD2(loudness, pitch)) }
        }
        #expect(IsolatedSound.accents(sounds(Array(repeating: (-1, 30), count: 16))) == nil)
        var generator = SplitMix64(seed: 9)
        let random = (0..<24).map { _ in (Float.random(in: -3...0, using: &generator), Float.random(in: 20...40, using: &generator)) }
        #expect(IsolatedSound.accents(sounds(random)) == nil)
        let accents = IsolatedSound.accents(sounds((0..<16).map { $0 % 3 == 1 ? (-0.3, 30) : (-1, 30) }))
        #expect(accents?.first == 1 && accents?.distance == 3)
        let high = IsolatedSound.accents(sounds((0..<16).map { $0 % 2 == 1 ? (-1, 40) : (-1, 30) }))
        #expect(high?.first == 1 && high?.distance == 2)
    }
}

@Suite struct `Beats and digital silence` {
    @Test(arguments: [0.0, 0.1, 0.4, 1.3])
    func `silence before the music: no beat before the first onset`(seconds: Double) async throws {
        let music = TestMusic.band(117, seconds: 10, first: 0)
        let analysis = try await BeatAnalysis([Float](repeating: 0, count: Int(seconds * 44_100)) + music, wholeFile: true)
        #expect(analysis.beats.count > 15)
        #expect(try #require(analysis.beats.first).time > seconds - 0.07)
    }

    @Test(arguments: [false, true])
    func `silence after the music, and a pause in it: one beat at most after the sound`(wholeFile: Bool) async throws {
        let music = TestMusic.band(120, seconds: 9.2)
        let silence = [Float](repeating: 0, count: 5 * 44_100)
        let beats = try await BeatAnalysis(music + silence + music + silence, wholeFile: wholeFile).beats
        #expect(beats.contains { $0.time > 22 })
        for end in [9.2, 23.4] { #expect(!beats.contains { $0.time > end + 0.5 && $0.time < end + 5 - 0.07 }) }
    }
}
