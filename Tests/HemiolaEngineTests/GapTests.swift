import BeatAnalyzer
import ChordAnalyzer
import Glibc
import Hemiola
import HemiolaEngine
import HemiolaTesting
import MusicalKeyAnalyzer
import PitchAnalyzer
import StructureAnalyzer
import Testing

/// What every analyzer with a first pass makes of a file with gaps: the records behind a gap are those of the file with silence in its place.
@Suite struct `Gaps in a file that is analysed as a whole` {
    static let analyzers: [AnalyzerPlugin] = [.beat, .chords, .musicalKey, .pitch, .structure]
    private static let rate = 44_100
    /// The time behind a gap in which a record may belong to a sound that the gap has cut: half of the longest window, in seconds.
    private static let margin = 0.5

    enum Part {
        case music(seed: Int)
        case lost(frames: Int)
    }

    static let cases: [(name: String, parts: [Part])] = [
        ("one in the middle", [.music(seed: 0), .lost(frames: 3 * rate + 7777), .music(seed: 1)]),
        ("several", [.music(seed: 0), .lost(frames: 333), .music(seed: 1), .lost(frames: 2 * rate + 5), .music(seed: 2)]),
        ("at the start", [.lost(frames: rate + 123), .music(seed: 0)]),
    ]

    /// Clicks over a cadence, or a melody, of 14 s.
    private static func music(_ seed: Int, isMelody: Bool) -> [Float] {
        let frames = 14 * rate
        if isMelody {
            return (0..<frames).map { frame in
                let time = Double(frame) / Double(rate)
                let note = Double([60, 64, 67, 65, 62, 69, 71][(Int(time / 0.7) + 3 * seed) % 7])
                let place = time.truncatingRemainder(dividingBy: 0.7)
                return Float(0.4 * min(1, place / 0.01, max(0, 0.6 - place) / 0.01) * sin(2 * .pi * 440 * exp2((note - 69) / 12) * time))
            }
        }
        let cadence = TestSignal.cadence(amplitude: 0.2 + 0.2 * Double(seed), frames: frames)
        let clicks = TestSignal.clicks(beatsPerMinute: 120, offset: 0.2 + 0.07 * Double(seed), amplitude: 0.5, frames: frames)
        return zip(cadence, clicks).map { $0 + $1 }
    }

    private func events(_ plugin: AnalyzerPlugin, _ parts: [Part], isMelody: Bool, asSilence: Bool) async throws -> [Event] {
        let steps = parts.map { part -> CaptureStep in
            switch part {
            case .music(let seed): .samples(Self.music(seed, isMelody: isMelody))
            case .lost(let frames):
                asSilence ? .samples(TestSignal.silence(frames: frames)) : .gap(Gap(frames: Int64(frames), reason: .damagedFile))
            }
        }
        let sink = CollectingSink()
        var trial = Trial([], analyzers: [plugin], sinks: [.collecting(sink)])
        trial.captures = [.scripted(isRewindable: true, steps)]
        trial.configuration.usesLookAhead = true
        try await trial.run()
        return sink.streams.flatMap(\.events).filter { $0.type != .gap }.sorted { $0.time < $1.time }
    }

    /// The parts of the music in the file, in seconds.
    private func times(of parts: [Part]) -> [ClosedRange<Double>] {
        var (frame, times) = (0, [ClosedRange<Double>]())
        for part in parts {
            switch part {
            case .music:
                times.append(Double(frame) / Double(Self.rate)...Double(frame + 14 * Self.rate) / Double(Self.rate))
                frame += 14 * Self.rate
            case .lost(let frames): frame += frames
            }
        }
        return times
    }

    private func expectEqual(_ events: [Event], _ expected: [Event], _ place: String) {
        #expect(events.map(\.type) == expected.map(\.type), "\(place)")
        for (event, other) in zip(events, expected) {
            #expect(abs(event.time - other.time) < 1e-6, "\(place): \(event), expected \(other)")
            for slot in 0..<Event.capacity {
                let (value, other) = (event[slot], other[slot])
                if let number = value.number, let expected = other.number {
                    #expect(abs(number - expected) <= 0.05 * max(1, abs(expected)), "\(place): \(event), value \(slot): \(expected)")
                } else {
                    #expect(value == other, "\(place): \(event), value \(slot)")
                }
            }
        }
    }

    @Test(arguments: analyzers.map(\.about.id), cases)
    func `the records of the music are those with silence in place of the gaps`(
        id: String, file: (name: String, parts: [Part])
    ) async throws {
        let plugin = try #require(Self.analyzers.first { $0.about.id == id })
        var count = 0
        for isMelody in [false, true] {
            let events = try await events(plugin, file.parts, isMelody: isMelody, asSilence: false)
            let expected = try await self.events(plugin, file.parts, isMelody: isMelody, asSilence: true)
            for part in times(of: file.parts) {
                // A chord that the gap ends is longer with silence behind it. The key and the segments are those of the whole file.
                func inPart(_ event: Event) -> Bool {
                    let end = event.time + (event["duration_s"].number ?? 0)
                    return ["musical-key", "structure"].contains(id)
                        || event.time > part.lowerBound + Self.margin && end < part.upperBound - Self.margin
                }
                expectEqual(events.filter(inPart), expected.filter(inPart), "\(id), \(file.name)")
                count += events.count(where: inPart)
            }
        }
        #expect(count > 0)
    }

    /// 3533 s more are a whole number of hops, and of the frames of every analyzer.
    @Test(arguments: analyzers.map(\.about.id))
    func `a gap of an hour: the records behind it are those behind a minute of silence`(id: String) async throws {
        let plugin = try #require(Self.analyzers.first { $0.about.id == id })
        let (minute, more) = (60 * Self.rate, 69 * 2_257_920)
        func events(_ frames: Int, asSilence: Bool) async throws -> [Event] {
            try await self.events(plugin, [.music(seed: 0), .lost(frames: frames), .music(seed: 1)], isMelody: false, asSilence: asSilence)
        }
        let start = 74 + Self.margin
        let expected = try await events(minute, asSilence: true).filter { $0.time > start }
        let shift = Double(more) / Double(Self.rate)
        let found = try await events(minute + more, asSilence: false).filter { $0.time > start + shift }.map { event in
            var event = event
            event.time -= shift
            return event
        }
        expectEqual(found, expected, id)
    }
}
