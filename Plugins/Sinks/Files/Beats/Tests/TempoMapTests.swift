import HemiolaSignal
import Testing

@testable import BeatsSink

/// The tempo map of Rekordbox and MIDI, and the tempi of a piece.
@Suite struct TempoMapTests {
    private typealias Beats = [(time: Double, position: Int?)]

    private static let tempi = 20.0...300

    /// Beats in bars of four. Each has an error of up to `jitter` seconds.
    private static func beats(_ bpm: Double, count: Int, from start: Double, jitter: Double = 0) -> Beats {
        (0..<count).map { (index: Int) -> (time: Double, position: Int?) in
            let error: Double = jitter * Double(index * 7919 % 29 - 14) / 14
            let time: Double = start + Double(index) * 60 / bpm + error
            return (time, index % 4 + 1)
        }
    }

    private static func midi(_ beats: Beats) throws -> MIDIReader { try #require(MIDIReader(MIDIFile(beats: beats).bytes)) }

    /// 97 beats at 128 BPM, 13 s without drums after a late beat, and 100 beats.
    private static let bridge: Beats = {
        let late: (time: Double, position: Int?) = (0.02 + 97 * 60.0 / 128 + 0.06, 2)
        let second = (124..<224).map { (index: Int) -> (time: Double, position: Int?) in
            (0.02 + Double(index) * 60 / 128, index % 4 + 1)
        }
        return beats(128, count: 97, from: 0.02, jitter: 0.004) + [late] + second
    }()

    @Test func `a passage without drums after a late beat: a whole number of beats of one section`() throws {
        let sections = TempoMap(Self.bridge).sections
        #expect(sections.count == 1 && sections[0].centibeatsPerMinute == 12_800 && sections[0].beatCount == 224, "\(sections)")
        let file = try Self.midi(Self.bridge)
        // The first beat is at 0, 16 ms early.
        #expect(file.tempi.count == 2 && abs(file.tempi[1] - 128) < 0.05, "\(file.tempi)")
        #expect(file.clicks.count == Self.bridge.count)
        #expect(abs(file.clicks[197].time - Self.bridge[197].time) < 0.01)
    }

    @Test(arguments: [0.3, 2.2, 8, 15]) func `100 BPM, a pause, 128 BPM: the two tempi and one of the pause, all of music`(pause: Double)
        throws
    {
        let start = 0.02 + 79 * 0.6 + 0.6 + pause
        let beats = Self.beats(100, count: 80, from: 0.02, jitter: 0.004) + Self.beats(128, count: 120, from: start, jitter: 0.004)
        let sections = TempoMap(beats).sections
        #expect((2...4).contains(sections.count), "\(sections)")
        #expect(sections.allSatisfy { Self.tempi.contains($0.beatsPerMinute) }, "\(sections)")
        #expect(abs(sections[0].beatsPerMinute - 100) < 0.02 && abs((sections.last?.beatsPerMinute ?? 0) - 128) < 0.02, "\(sections)")
        let file = try Self.midi(beats)
        #expect(file.tempi.allSatisfy(Self.tempi.contains), "\(file.tempi)")
        for (click, beat) in zip(file.clicks, beats).dropFirst() {
            #expect(abs(click.time - beat.time) < 0.015, "\(click.time), not \(beat.time)")
        }
    }

    @Test(arguments: [0.022, 0.5, 10]) func `midi, steady beats with errors: one tempo, within 10 ms of the true beats`(start: Double)
        throws
    {
        let file = try Self.midi(Self.beats(110, count: 400, from: start, jitter: 0.012))
        #expect(file.clicks.count == 400 && file.tempi.count <= 2 && abs((file.tempi.last ?? 0) - 110) < 0.02, "\(file.tempi)")
        for (index, click) in file.clicks.enumerated().dropFirst() {
            #expect(abs(click.time - start - Double(index) * 60 / 110) < 0.01, "\(index): \(click.time)")
        }
    }

    @Test(arguments: [24, 60, 128, 174, 240, 300.0], [0, 0.005, 0.015, 0.028, 0.06, 0.09, 0.13, 0.19, 0.21, 0.4, 1, 3.3, 10, 31])
    func `midi, any time of the first beat: less than a quarter of a beat is none, and all tempi are those of music`(
        bpm: Double, start: Double
    ) throws {
        let file = try Self.midi(Self.beats(bpm, count: 40, from: start))
        #expect(file.tempi.allSatisfy { (19.5...300.1).contains($0) }, "\(file.tempi)")
        let isAtStart = start < 0.25 * 60 / bpm
        #expect(isAtStart ? file.clicks[0].time == 0 : abs(file.clicks[0].time - start) < 0.001, "\(file.clicks[0].time)")
        for (index, click) in file.clicks.enumerated().dropFirst() {
            #expect(abs(click.time - start - Double(index) * 60 / bpm) < 0.01, "\(index): \(click.time)")
        }
    }

    @Test func `the first downbeat of the grid: not where the beat was detected`() {
        var beats = Self.beats(120, count: 64, from: 1.5)
        beats[0].time += 0.014
        #expect(abs((TempoMap(beats).firstDownbeat ?? 0) - 1.5) < 0.002)
        // The second beat is the first one of a bar.
        beats = Self.beats(120, count: 64, from: 1.5).enumerated().map { ($0.element.time, ($0.offset + 3) % 4 + 1) }
        #expect(TempoMap(beats).firstDownbeat == 2)
        #expect(TempoMap(beats.map { ($0.time, nil) }).firstDownbeat == nil)
    }

    // MARK: - The tempi of a piece

    private static func tempi(_ beats: Beats, announced: (Int) -> Double) -> [Double] {
        var sections = TempoSections()
        for (index, beat) in beats.enumerated() { sections.add(beat.time, beatsPerMinute: announced(index)) }
        return sections.tempi
    }

    @Test func `tempo of steady beats: that of the line through them, also over a passage without drums`() {
        let steady = Self.tempi(Self.beats(119.2, count: 160, from: 0.02, jitter: 0.006)) { 119.2 + Double($0 % 7) / 10 }
        #expect(steady.count == 1 && abs(steady[0] - 119.2) < 0.004, "\(steady)")
        let bridge = Self.tempi(Self.bridge) { $0 == 97 ? 124.9 : 127.9 }
        #expect(bridge.count == 1 && abs(bridge[0] - 128) < 0.004, "\(bridge)")
    }

    @Test func `100 BPM, then 128: two tempi; a few beats of another tempo, and a drift of 3 percent: one`() {
        let start = 0.02 + 80 * 0.6
        let two = Self.beats(100, count: 80, from: 0.02, jitter: 0.004) + Self.beats(128, count: 120, from: start, jitter: 0.004)
        let tempi = Self.tempi(two) { $0 < 81 ? 100 : 127.7 }
        #expect(tempi.count == 2 && abs(tempi[0] - 100) < 0.02 && abs(tempi[1] - 128) < 0.02, "\(tempi)")
        let returning = Self.tempi(two + Self.beats(100, count: 40, from: 200)) { $0 < 81 || $0 >= 200 ? 100 : 127.7 }
        #expect(returning.count == 3, "\(returning)")
        let few = Self.tempi(Self.beats(120, count: 100, from: 0)) { (40..<50).contains($0) ? 60 : 120 }
        #expect(few.count == 1 && abs(few[0] - 120) < 0.001, "\(few)")
        let drift = Self.tempi(Self.beats(120, count: 100, from: 0)) { 118.2 + 3.6 * Double($0) / 100 }
        #expect(drift.count == 1, "\(drift)")
    }

    @Test func `no beat, one beat, and values that are no numbers: no tempo`() {
        #expect(Self.tempi([]) { _ in 120 }.isEmpty && Self.tempi([(1, 1)]) { _ in 120 }.isEmpty)
        #expect(Self.tempi([(1, 1), (.nan, 2), (2, 1)]) { [120, 120, .infinity][$0] }.isEmpty)
    }
}
