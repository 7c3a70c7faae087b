import Glibc
import Hemiola
import HemiolaTesting
import Testing

@testable import BeatAnalyzer

@Suite struct PhraseTests {
    /// Evidence of phrases of these lengths, in bars of four beats: their first beats have `first`, all others −0.6.
    private static func evidence(_ lengths: [Int], first: Double = 3) -> [Double] {
        lengths.flatMap { length in [first] + Array(repeating: -0.6, count: 4 * length - 1) }
    }

    /// The number of the first bar of each phrase, in bars from the start.
    private static func starts(_ places: [PhrasePlace?]) -> [Int] {
        places.enumerated().filter { $0.element?.bar == 1 }.map { $0.offset / 4 }
    }

    @Test(arguments: [4, 8])
    func `changes after each phrase: the bars are counted, and their number is found`(length: Int) throws {
        let places = PhraseTracker.places(Self.evidence(Array(repeating: length, count: 6)))
        for (beat, place) in places.enumerated() {
            guard beat % 4 == 0 else {
                #expect(place == nil, "beat \(beat)")
                continue
            }
            let place = try #require(place, "beat \(beat)")
            #expect(place.bar == beat / 4 % length + 1 && place.length == length, "beat \(beat)")
            #expect(place.confidence > 0.8, "beat \(beat)")
        }
    }

    @Test func `a phrase that is cut short: the next ones are counted from the cut on`() {
        let places = PhraseTracker.places(Self.evidence([4, 4, 4, 3, 4, 4, 4, 4]))
        #expect(Self.starts(places) == [0, 4, 8, 12, 15, 19, 23, 27], "\(Self.starts(places))")
    }

    @Test func `nothing changes: no place is known`() {
        #expect(PhraseTracker.places(Array(repeating: -0.6, count: 200)).allSatisfy { $0 == nil })
    }

    @Test func `no beats, or one: no place`() {
        #expect(PhraseTracker.places([], PhraseEvidence(capacity: nil)).isEmpty)
        #expect(PhraseTracker.places([10], PhraseEvidence(capacity: nil)).allSatisfy { $0 == nil })
    }

    /// Phrases of four bars of drums at 120 BPM, each with a chord and a tune of its own.
    private static func song(phrases: Int) -> [Float] {
        var song = TestMusic.band(120, seconds: 8 * Double(phrases), first: 0)
        for phrase in 0..<phrases {
            let root = 220 * pow(2, Double([0, 5, 9, 3, 7, 2][phrase % 6]) / 12)
            for frame in 0..<8 * 44_100 {
                let time = Double(frame) / 44_100
                let fade = min(1, time / 0.01) * min(1, (8 - time) / 0.01)
                let sound = [1, 1.26, 1.5].reduce(0) { $0 + sin(2 * .pi * root * $1 * time) }
                song[phrase * 8 * 44_100 + frame] += Float(0.06 * fade * sound)
            }
        }
        return song
    }

    private static func phrases(_ analysis: BeatAnalysis) -> [(time: Double, bar: Int?, left: Int?)] {
        analysis.stream.events.filter { $0.type == .phrase }.map { ($0.time, $0["bar"].integer, $0["bars_left"].integer) }
    }

    @Test func `a file with phrases of four bars: each begins where the chord changes`() async throws {
        let analysis = try await BeatAnalysis(Self.song(phrases: 7), settings: "phrases=true", wholeFile: true)
        let starts = Self.phrases(analysis).filter { $0.bar == 1 }.map(\.time)
        for phrase in 0..<7 {
            #expect(starts.contains { abs($0 - 8 * Double(phrase)) < 0.1 }, "phrase \(phrase): \(starts)")
        }
        #expect(starts.count == 7)
    }

    @Test func `live, after some phrases: the next one is announced where it begins`() async throws {
        let analysis = try await BeatAnalysis(Self.song(phrases: 9), settings: "phrases=true")
        let late = Self.phrases(analysis).filter { $0.time > 44 }
        #expect(late.count >= 12)
        for bar in late {
            let begins = bar.time + 2 * Double(try #require(bar.left))
            #expect(abs(begins / 8 - (begins / 8).rounded()) < 0.02, "\(bar)")
        }
        for batch in analysis.stream.batches {
            let end = Double(batch.frame + Int64(batch.frameCount)) / 44_100
            for event in batch.events where event.type == .phrase { #expect(event.time > end - 0.15) }
        }
    }

    @Test func `without the setting: no records of phrases`() async throws {
        let analysis = try await BeatAnalysis(Self.song(phrases: 3), wholeFile: true)
        #expect(Self.phrases(analysis).isEmpty)
    }
}
