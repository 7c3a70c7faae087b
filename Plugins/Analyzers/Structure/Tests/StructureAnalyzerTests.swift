import AnalysisSupport
import Foundation
import Hemiola
import HemiolaTesting
import TestSupport
import Testing

@testable import StructureAnalyzer

@Suite struct StructureAnalyzerTests {
    @Test func `conformance tests: passed`() throws {
        try AnalyzerConformanceSuite(.structure).run()
    }

    /// Three parts of 20 s: two chords with different spectra, and the first one again.
    private static let threeParts = Audio(frames: 60 * 22_050, sampleRate: 22_050) { frame, _ in
        let time = Double(frame) / 22_050
        let notes = time < 20 || time >= 40 ? [220, 277.2, 329.6] : [1046.5, 1244.5, 1568, 3100]
        return notes.reduce(0) { $0 + sin(2 * .pi * $1 * time) } * 0.1
    }

    private func boundaries(_ events: [Event]) -> [Event] { events.filter { $0.type.name == "segment" } }

    @Test func `change of chord and spectrum, live: boundaries within 0.5 s, emitted at most 5.5 s after them`() async throws {
        let analysis = try await Analysis(of: Self.threeParts, .structure)
        let found = boundaries(analysis.stream.events)
        #expect(found.count == 2)
        for (time, event) in zip([20.0, 40], found) {
            #expect(abs(event.time - time) < 0.5)
            #expect(event["duration_s"] == .none && event["label"] == .none)
        }
        // The record is in the batch at whose end it is emitted.
        let delays = analysis.batches.flatMap { batch in
            boundaries(batch.events).map { Double(batch.frame + Int64(batch.frameCount)) / 22_050 - $0.time }
        }
        #expect(delays.count == 2)
        #expect(delays.allSatisfy { $0 > 4 && $0 <= 5.5 })
    }

    /// The start, duration and label of each segment.
    private func description(_ events: [Event]) -> [String] {
        boundaries(events).map { "\($0.time) \($0["duration_s"]) \($0["label"]) \($0["confidence"])" }
    }

    @Test(arguments: [false, true])
    func `batch lengths of 256, 1000, 1024 and 4096 frames: the same segments`(wholeFile: Bool) async throws {
        let expected = description(try await Analysis(of: Self.threeParts, .structure, wholeFile: wholeFile).stream.events)
        #expect(expected.count == (wholeFile ? 3 : 2))
        for batchFrames in [256, 1000, 4096] {
            let analysis = try await Analysis(of: Self.threeParts, .structure, batchFrames: batchFrames, wholeFile: wholeFile)
            #expect(description(analysis.stream.events) == expected)
        }
    }

    @Test func `two passes: segments with duration and label, emitted before they start`() async throws {
        let analysis = try await Analysis(of: Self.threeParts, .structure, wholeFile: true)
        let found = boundaries(analysis.stream.events)
        #expect(found.count == 3)
        #expect(found.compactMap { $0["label"].string } == ["A", "B", "A"])
        for (time, event) in zip([0.0, 20, 40], found) {
            #expect(abs(event.time - time) < 0.3)
            #expect(abs((event["duration_s"].number ?? 0) - 20) < 0.5)
        }
        for batch in analysis.batches {
            for event in boundaries(batch.events) where event.time > 0 {
                let end = Double(batch.frame + Int64(batch.frameCount)) / 22_050
                #expect(event.time - end > 0.4 && event.time - end <= 0.5)
            }
        }
    }

    @Test func `two passes: the novelty is that of one pass`() async throws {
        let one = try await Analysis(of: Self.threeParts, .structure).value("novelty")
        let two = try await Analysis(of: Self.threeParts, .structure, wholeFile: true).value("novelty")
        #expect((one.max() ?? 0) > 0.9)
        // A frame may count from the next batch on.
        #expect(zip(one.dropFirst(), zip(two, two.dropFirst())).allSatisfy { $0 == $1.0 || $0 == $1.1 })
    }

    @Test func `silence, noise and a steady tone, two passes: one segment`() async throws {
        var random = SplitMix64(seed: 1)
        let noise = (0..<40 * 22_050).map { _ in Float(random.uniform() - 0.5) * 0.2 }
        for samples in [noise.map { _ in 0 }, noise, noise.indices.map { Float(0.3 * sin(Double($0) * 0.1)) }] {
            let audio = Audio(frames: samples.count, sampleRate: 22_050) { frame, _ in Double(samples[frame]) }
            let found = boundaries(try await Analysis(of: audio, .structure, wholeFile: true).stream.events)
            #expect(found.map(\.time) == [0])
            #expect(found.first?["duration_s"].number == 40)
        }
    }

    @Test func `shorter than a frame, two passes: one segment`() async throws {
        let audio = Audio(frames: 2000, sampleRate: 22_050) { frame, _ in sin(Double(frame) * 0.1) }
        let found = boundaries(try await Analysis(of: audio, .structure, wholeFile: true).stream.events)
        #expect(found.map(\.time) == [0])
        #expect(found.first?["label"].string == "A")
    }

    @Test func `gap of 10 s within a part: no boundary there`() async throws {
        let tone = Audio(frames: 20 * 22_050, sampleRate: 22_050) { frame, _ in 0.2 * sin(Double(frame) * 0.06) }
        let analysis = try await Analysis(
            of: [.samples(tone.samples), .gap(Gap(frames: 220_500, reason: .overrun)), .samples(tone.samples)], tone.format, .structure)
        #expect(boundaries(analysis.stream.events).isEmpty)
    }

    @Test func `first pass over 20 hours: at most 9 MB of frames, and segments to the end`() {
        // Two sounds in turn, each for 20 minutes.
        var sounds = [SegmentFrame(), SegmentFrame()]
        for lane in 0..<8 {
            sounds[0].values[0][lane] = 0.1
            sounds[1].values[2][lane] = 0.1
        }
        sounds[0].values[3][0] = 1
        sounds[1].values[3][6] = 1
        var pass = SegmentFirstPass()
        for frame in 0..<20 * 36_000 { pass.add(sounds[frame / 12_000 % 2], at: (Double(frame) + 0.5) * 0.1, novelty: 0) }
        pass.end = 20 * 3600
        #expect(pass.storedBytes <= 9_000_000)
        let segments = pass.segments()
        #expect(abs((segments.last?.time ?? 0) + (segments.last?.duration ?? 0) - 72_000) < 1e-6)
        // Each change of the sound is a boundary, and the labels are those of the sounds.
        for change in 1..<60 { #expect(segments.contains { abs($0.time - Double(change) * 1200) < 10 }) }
        #expect(Set(segments.map(\.label)) == ["A", "B"])
    }

    @Test func `first pass over ten minutes of noise: one segment, longer than the longest of the division`() {
        var random = SplitMix64(seed: 3)
        var pass = SegmentFirstPass()
        for frame in 0..<6000 {
            var noise = SegmentFrame()
            for index in 0..<4 { for lane in 0..<8 { noise.values[index][lane] = Float(random.uniform()) } }
            pass.add(noise, at: (Double(frame) + 0.5) * 0.1, novelty: 0)
        }
        pass.end = 600
        #expect(pass.segments().map(\.duration) == [600])
    }

    // MARK: - Roles

    /// What a part of a made song has.
    private struct Part {
        var seconds: Double
        /// The lowest note of the chord, in hertz.
        var root: Double
        var hasBass = true
        var hasDrums = true
        var gain = 1.0
    }

    /// The roles of the segments of a song, and where they begin; chords throughout, a bass note and two kicks a second.
    private func roles(_ parts: [Part], wholeFile: Bool = true) async throws -> [(time: Double, role: String?)] {
        let rate = 11_025.0
        let ends = parts.indices.map { parts[...$0].reduce(0) { $0 + $1.seconds } }
        let song = Audio(frames: Int((ends.last ?? 0) * rate), sampleRate: Int(rate)) { frame, _ in
            let time = Double(frame) / rate
            let part = parts[ends.firstIndex { time < $0 } ?? parts.count - 1]
            let beat = time.truncatingRemainder(dividingBy: 0.5)
            let chord = [1, 1.26, 1.5, 4].reduce(0) { $0 + 0.05 * sin(2 * .pi * part.root * $1 * time) }
            let bass = part.hasBass ? 0.07 * sin(2 * .pi * 70 * time) : 0
            let kick = part.hasDrums ? 0.7 * exp(-beat / 0.05) * sin(2 * .pi * 60 * beat) : 0
            return part.gain * (chord + bass + kick)
        }
        let found = boundaries(try await Analysis(of: song, .structure, wholeFile: wholeFile).stream.events)
        return found.map { ($0.time, $0["role"].string) }
    }

    @Test func `bass and drums missing at the start, in the midst and at the end: intro, break, outro`() async throws {
        func bare(_ seconds: Double) -> Part { Part(seconds: seconds, root: 523, hasBass: false, hasDrums: false) }
        let found = try await roles([bare(12), Part(seconds: 24, root: 330), bare(12), Part(seconds: 24, root: 330), bare(12)])
        #expect(found.map(\.role) == ["intro", nil, "break", nil, "outro"])
        for (time, segment) in zip([0.0, 12, 36, 48, 72], found) { #expect(abs(segment.time - time) < 1) }
    }

    /// A verse, a chorus, a verse and a chorus, with bass and drums.
    private static let plainSong = [330, 523, 330, 523].map { Part(seconds: 20, root: $0) }

    @Test(arguments: [
        "plain song", "without drums", "without drums, the bass pauses", "only the bass pauses", "only the drums pause",
        "silence at the end",
    ]) func `no bass and drums that are missing together: no role`(song: String) async throws {
        var parts = Self.plainSong
        if song.hasPrefix("without drums") { for index in parts.indices { parts[index].hasDrums = false } }
        if song.hasSuffix("bass pauses") { parts[1].hasBass = false }
        if song == "only the drums pause" { parts[1].hasDrums = false }
        if song == "silence at the end" { parts[3] = Part(seconds: 20, root: 523, hasBass: false, hasDrums: false, gain: 0.001) }
        let found = try await roles(parts)
        #expect(found.count >= 4 && found.allSatisfy { $0.role == nil }, "\(found)")
    }

    @Test func `causal analysis: no roles`() async throws {
        let bare = Part(seconds: 20, root: 523, hasBass: false, hasDrums: false)
        let found = try await roles([Part(seconds: 20, root: 330), bare, Part(seconds: 20, root: 330)], wholeFile: false)
        #expect(found.count == 2 && found.allSatisfy { $0.role == nil })
    }

    @Test func `average linkage: numbers clusters in the order of their first items`() {
        let places: [Float] = [5, 0, 5.1, 9, 0.2]
        #expect(AverageLinkage.clusters(of: 5, within: 1) { abs(places[$0] - places[$1]) } == [0, 1, 0, 2, 1])
        #expect(AverageLinkage.clusters(of: 5, within: 100) { abs(places[$0] - places[$1]) } == [0, 0, 0, 0, 0])
        #expect(AverageLinkage.clusters(of: 0, within: 1) { _, _ in 0 } == [])
    }

    @Test func `recurrence: a passage that returns has other values than the rest`() {
        // 40 frames A, 40 of noise, A again, 40 of noise.
        var random = SplitMix64(seed: 2)
        func noise() -> SegmentVector {
            var vector = SegmentVector(repeating: .zero)
            for index in 0..<5 { for lane in 0..<8 { vector[index][lane] = Float(random.uniform()) } }
            return vector
        }
        let passage = (0..<40).map { _ in noise() }
        let frames = passage + (0..<40).map { _ in noise() } + passage + (0..<40).map { _ in noise() }
        let recurrence = Recurrence(frames, frameSeconds: 0.5)
        /// The squared distance of the means of two ranges.
        func distance(_ one: Range<Int>, _ other: Range<Int>) -> Float {
            func mean(_ range: Range<Int>, _ vector: Int) -> Lanes {
                range.reduce(Lanes.zero) { $0 + recurrence[$1, vector] } / Float(range.count)
            }
            return (0..<Recurrence.vectorCount).reduce(0) { sum, vector in
                let difference = mean(one, vector) - mean(other, vector)
                return sum + (difference * difference).sum()
            }
        }
        // The halves of the passage are alike; the passage differs from what follows.
        #expect(distance(4..<20, 20..<36) < 0.7 * distance(4..<36, 44..<76))
        #expect(distance(84..<100, 100..<116) < 0.7 * distance(84..<116, 124..<156))
    }
}
