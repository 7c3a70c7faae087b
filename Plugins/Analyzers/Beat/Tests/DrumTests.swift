import Glibc
import Hemiola
import HemiolaTesting
import Testing

@testable import BeatAnalyzer

@Suite struct DrumTests {
    /// The times of the strokes of a voice.
    private static func times(_ analysis: BeatAnalysis, _ type: RecordType, _ voice: DrumVoice) -> [Double] {
        analysis.stream.events.filter { $0.type == type && $0["voice"].string == voice.name }.map(\.time)
    }

    /// The share of agreement of two lists of times within 50 ms.
    private static func agreement(_ found: [Double], _ expected: [Double]) -> Double {
        let hits = expected.filter { time in found.contains { abs($0 - time) < 0.05 } }.count
        return 2 * Double(hits) / Double(found.count + expected.count)
    }

    @Test(arguments: [false, true])
    func `a band of bass drum, snare, hi-hats and bass: the strokes of each`(wholeFile: Bool) async throws {
        let (tempo, seconds) = (110.0, 24.0)
        let analysis = try await BeatAnalysis(
            TestMusic.band(tempo, seconds: seconds), settings: "drums=true", wholeFile: wholeFile)
        let beats = Array(stride(from: 0.25, to: seconds, by: 60 / tempo))
        let halves = Array(stride(from: 0.25, to: seconds, by: 30 / tempo))
        let places = [beats.enumerated().filter { $0.offset % 4 == 0 }, beats.enumerated().filter { $0.offset % 4 != 0 }]
        #expect(Self.agreement(Self.times(analysis, .drum, .kick), places[0].map(\.element)) > 0.9)
        #expect(Self.agreement(Self.times(analysis, .drum, .snare), places[1].map(\.element)) > 0.9)
        #expect(Self.agreement(Self.times(analysis, .drum, .hihat), halves) > 0.6)
    }

    @Test func `a pattern that repeats: strokes are announced before they sound, where they sound`() async throws {
        let analysis = try await BeatAnalysis(TestMusic.band(110, seconds: 40), settings: "drums=true")
        let (snares, expected) = (Self.times(analysis, .drum, .snare), Self.times(analysis, .expectedDrum, .snare))
        let late = snares.filter { $0 > 25 }
        #expect(late.count > 15)
        #expect(late.filter { time in expected.contains { abs($0 - time) < 0.05 } }.count >= late.count * 3 / 4)
        for batch in analysis.stream.batches {
            let end = Double(batch.frame + Int64(batch.frameCount)) / 44_100
            for event in batch.events where event.type == .expectedDrum { #expect(event.time > end - 0.03) }
        }
    }

    @Test func `without the setting: no records of drums`() async throws {
        let analysis = try await BeatAnalysis(TestMusic.band(110, seconds: 5))
        #expect(!analysis.stream.events.contains { $0.type == .drum || $0.type == .expectedDrum })
    }

    @Test func `a held chord, noise and a bass line are no drums`() async throws {
        let chord = (0..<10 * 44_100).map { frame in
            let time = Double(frame) / 44_100
            return Float(0.1 * [220, 277.2, 329.6].reduce(0) { $0 + sin(2 * .pi * $1 * time) } * min(1, time / 0.3))
        }
        let bass = (0..<10 * 44_100).map { frame in
            let (note, time) = (Double(frame / 22_050 % 4), Double(frame % 22_050) / 44_100)
            let (pitch, envelope) = (55 * pow(2, note * 2 / 12), min(1, time / 0.02, (0.5 - time) / 0.03))
            return Float(0.3 * envelope * exp(-time / 0.8) * (sin(2 * .pi * pitch * time) + 0.5 * sin(4 * .pi * pitch * time)))
        }
        for (name, sound) in [("chord", chord), ("noise", TestMusic.noise(seconds: 10)), ("bass", bass)] {
            let analysis = try await BeatAnalysis(sound, settings: "drums=true")
            let strokes = analysis.stream.events.filter { $0.type == .drum && $0.time > 0.2 }
            #expect(strokes.count <= 2, "\(name): \(strokes.map(\.description))")
        }
    }
}

@Suite struct DrumPatternTests {
    private let frame = 0.01

    /// Plays bars of 2 s with strokes at these places, 0…1, in each bar.
    ///
    /// - Returns: For each bar the places that were announced, and how many strokes had been.
    private func play(
        _ bars: [[Double]], _ pattern: inout DrumPattern, phase: (Double) -> Double = { $0 - $0.rounded(.down) }
    ) -> [(announced: [Double], expected: Int)] {
        var result = bars.map { _ in (announced: [Double](), expected: 0) }
        for step in 0..<200 * bars.count {
            let place = Double(step) / 200
            pattern.advance(BarState(phase: phase(place), duration: 2))
            let bar = step / 200
            if bars[bar].contains(where: { abs($0 - (place - Double(bar))) < 0.001 }) {
                let stroke = DrumDetector.Stroke(voice: .snare, strength: 1)
                if pattern.add(stroke, age: 0) { result[bar].expected += 1 }
            }
            while let next = pattern.next(.snare, within: 0.1) {
                let at = place + next.seconds / 2
                #expect(next.seconds <= 0.1)
                if Int(at + 0.01) < bars.count { result[Int(at + 0.01)].announced.append(at - (at + 0.01).rounded(.down)) }
            }
        }
        return result
    }

    @Test func `two bars alike: announced from the third on, at the same places`() {
        var pattern = DrumPattern()
        let bars = play(Array(repeating: [0, 0.25, 0.75], count: 5), &pattern)
        #expect(bars[0].announced.isEmpty && bars[1].announced.isEmpty && bars[1].expected == 0)
        for bar in bars[2...] {
            #expect(bar.expected == 3)
            #expect(zip(bar.announced.sorted(), [0, 0.25, 0.75]).allSatisfy { abs($0 - $1) < 0.02 }, "\(bar.announced)")
        }
    }

    @Test func `a stroke of one bar alone is not announced`() {
        var pattern = DrumPattern()
        let bars = play([[0.25], [0.75], [0.5], [0.25]], &pattern)
        #expect(bars.allSatisfy { $0.announced.isEmpty && $0.expected == 0 })
    }

    @Test func `an announced stroke that does not come: no more are announced there after it`() {
        var pattern = DrumPattern()
        let bars = play([[0.25], [0.25], [], [], []], &pattern)
        #expect(bars.map(\.announced.count) == [0, 0, 1, 0, 0])
        #expect(bars.allSatisfy { $0.expected == 0 })
    }

    @Test func `the bar begins elsewhere: what was heard before says nothing`() {
        var pattern = DrumPattern()
        let bars = play(Array(repeating: [0.25], count: 4), &pattern) { place in
            let moved = place < 2.1 ? place : place + 0.5
            return moved - moved.rounded(.down)
        }
        #expect(bars[2].announced.isEmpty)
    }
}
