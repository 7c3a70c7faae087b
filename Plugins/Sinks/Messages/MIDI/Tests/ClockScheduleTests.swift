import HemiolaMIDI
import HemiolaRecords
import HemiolaSignal
import Testing

@testable import MIDISink

@Suite struct ClockScheduleTests {
    private typealias Beat = Simulation.Announcement

    @Test func `steady beats: start 2 ms before a beat, and 24 pulses per beat without drift`() {
        var simulation = Simulation()
        simulation.run((0..<1200).map { Beat(0.5 * Double($0)) }, until: 599.6)
        #expect(simulation.transport == [.start])
        // The clock starts at the second announced beat.
        #expect(abs(simulation.sent[0].time - 0.498) < 1e-9)
        let pulses = simulation.pulses
        #expect(pulses.count == 24 * 1198 + 5)
        #expect(pulses.enumerated().allSatisfy { abs($0.element - (0.5 + Double($0.offset) / 48)) < 1e-9 })
    }

    @Test func `positions in the bar are known: the clock starts at a downbeat`() {
        var simulation = Simulation()
        simulation.run((0..<12).map { Beat(0.5 * Double($0), position: ($0 + 2) % 4 + 1) }, until: 5)
        #expect(abs(simulation.pulses[0] - 1) < 1e-9)
    }

    @Test func `no downbeat in eight beats: the clock starts at any beat`() {
        var simulation = Simulation()
        simulation.run((0..<12).map { Beat(0.5 * Double($0), position: 2) }, until: 5)
        #expect(abs(simulation.pulses[0] - 3.5) < 1e-9)
    }

    @Test func `beats that are announced late: the clock starts at the next beat, not between two`() {
        var simulation = Simulation()
        simulation.run((0..<12).map { Beat(0.5 * Double($0), lead: -0.3) }, until: 5)
        #expect(abs(simulation.pulses[0] - 1) < 1e-9)
    }

    @Test func `beats with 5 ms of jitter: pulses on beats have less than 2 ms`() {
        var random = SplitMix64(seed: 3)
        let beats = (0..<400).map { Beat(0.5 * Double($0) + 0.005 * (2 * random.uniform() - 1)) }
        var simulation = Simulation()
        simulation.run(beats, until: 200)
        // After ten seconds.
        let errors = simulation.pulses.enumerated().filter { $0.offset % 24 == 0 && $0.offset >= 480 }
            .map { $0.element - (0.5 + Double($0.offset) / 48) }
        #expect(errors.count > 300)
        #expect(errors.allSatisfy { abs($0) < 0.002 })
    }

    @Test(arguments: [(0.5, 0.4), (0.5, 0.55), (0.4, 0.8), (0.8, 0.4)])
    func `the tempo changes at once: no pulse is missing, intervals change gradually, and the phase is right after ten beats`(
        before: Double, after: Double
    ) {
        let change = 40 * before
        let beats =
            (0..<40).map { Beat(before * Double($0), period: before) }
            + (0..<60).map { Beat(change + after * Double($0), period: after) }
        var simulation = Simulation()
        simulation.run(beats, until: change + 60 * after)
        #expect(simulation.transport == [.start])
        let intervals = zip(simulation.pulses.dropFirst(), simulation.pulses).map { $0 - $1 }
        let ratios = zip(intervals.dropFirst(), intervals).map { $0 / $1 }
        #expect(ratios.allSatisfy { (0.75...1.34).contains($0) }, "\(ratios.min()!) \(ratios.max()!)")
        let late = simulation.pulses.filter { $0 > change + 12 * after }
        let phases = late.map { time in 24 * (time - change) / after }.map { abs($0 - $0.rounded()) }
        // In pulses: a pulse is always on the grid of 24 per beat.
        #expect(phases.allSatisfy { $0 < 0.1 }, "\(phases.max() ?? -1)")
        let perBeat = (20..<55).map { beat in
            late.count { $0 > change + after * (Double(beat) - 0.02) && $0 <= change + after * (Double(beat) + 0.98) }
        }
        #expect(perBeat.allSatisfy { $0 == 24 })
    }

    @Test func `beats move by half a period: pulses are on the beat again after eight beats`() {
        let beats = (0..<40).map { Beat(0.5 * Double($0)) } + (0..<40).map { Beat(20.25 + 0.5 * Double($0)) }
        var simulation = Simulation()
        simulation.run(beats, until: 40)
        let intervals = zip(simulation.pulses.dropFirst(), simulation.pulses).map { 48 * ($0 - $1) }
        #expect(intervals.allSatisfy { (0.87...1.13).contains($0) })
        let phases = simulation.pulses.filter { $0 > 27 }.map { 48 * ($0 - 20.25) }.map { abs($0 - $0.rounded()) }
        #expect(phases.allSatisfy { $0 < 0.05 })
    }

    @Test func `a single beat beside the grid: ignored`() {
        var beats = (0..<40).map { Beat(0.5 * Double($0)) }
        beats[20] = Beat(10.2)
        var simulation = Simulation()
        simulation.run(beats, until: 20)
        #expect(simulation.pulses.enumerated().allSatisfy { abs($0.element - (0.5 + Double($0.offset) / 48)) < 1e-9 })
    }

    @Test(arguments: [(0.0556, 124.92, 0.07), (0.0556, 124.92, 1), (-0.08, 128, 1), (0.11, 128, 0.5)])
    func `a single late or early beat before a passage without beats: the tempo stays within 0.1 BPM`(
        error: Double, bpm: Double, confidence: Double
    ) {
        let period = 60.0 / 128
        let beats =
            (0..<100).map { Beat(period * Double($0), period: period) }
            + [Beat(100 * period + error, period: 60 / bpm, confidence: confidence)]
        var simulation = Simulation(hold: 12)
        simulation.run(beats, until: 100 * period + 11)
        let pulses = simulation.pulses.filter { $0 > 102 * period }
        let tempi = zip(pulses.dropFirst(), pulses).map { 60 / 24 / ($0 - $1) }
        #expect(tempi.count > 400 && tempi.allSatisfy { abs($0 - 128) < 0.1 }, "\(tempi.min() ?? 0)…\(tempi.max() ?? 0)")
    }

    @Test func `beats are lost: the clock continues for the hold time, then stops; then it continues at a bar of the song`() {
        var simulation = Simulation(hold: 3)
        let first = (0..<20).map { Beat(0.5 * Double($0), position: $0 % 4 + 1) }
        let second = (0..<20).map { Beat(30.1 + 0.5 * Double($0), position: $0 % 4 + 1) }
        simulation.run(first + second, until: 40)
        let stop = simulation.sent.first { $0.message == .stop }
        // The last beat is at 9.5 s. The pause has no pulse.
        #expect(stop.map { abs($0.time - 12.5) < 1e-9 } == true)
        #expect(!simulation.pulses.contains { (12.5...30).contains($0) })
        // From 2 to 12.5 s are 21 beats; the song continues at its next bar, sixteenth 96.
        #expect(simulation.transport == [.start, .stop, .songPosition(96), .continue])
        #expect(simulation.pulses.first { $0 > 13 }.map { abs($0 - 32.1) < 1e-9 } == true)
        #expect(simulation.transport[2].bytes == [0xF2, 96, 0])
    }

    @Test func `beats are lost, and the song starts again: start after the pause`() {
        var simulation = Simulation(hold: 1, continues: false)
        simulation.run((0..<20).map { Beat(0.5 * Double($0)) } + (0..<4).map { Beat(20 + 0.5 * Double($0)) }, until: 30)
        #expect(simulation.transport == [.start, .stop, .start, .stop])
    }

    @Test func `slow beats and no hold time: the clock runs for one and a half beats`() {
        var simulation = Simulation(hold: 0)
        simulation.run((0..<5).map { Beat(2 * Double($0), period: 2) }, until: 20)
        #expect(simulation.transport == [.start, .stop])
        #expect(simulation.sent.last.map { abs($0.time - 11) < 1e-9 } == true)
    }

    @Test func `the computer was suspended: no burst of pulses, but stop and continue`() {
        var simulation = Simulation()
        simulation.run((0..<20).map { Beat(0.5 * Double($0)) }, until: 9.6)
        var messages: [MIDIMessage] = []
        simulation.schedule.advance(to: 11, into: &messages)
        #expect(messages == [.stop])
        simulation.run((0..<6).map { Beat(12 + 0.5 * Double($0)) }, until: 14)
        #expect(simulation.transport.suffix(1) == [.continue])
    }

    @Test func `the receiver has lost pulses: it is stopped and continues at the next sixteenth note`() {
        var simulation = Simulation()
        simulation.run((0..<20).map { Beat(0.5 * Double($0)) }, until: 9.58)
        var messages: [MIDIMessage] = []
        simulation.schedule.resynchronize(now: 9.58, into: &messages)
        #expect(messages == [.stop])
        simulation.advance(to: 10)
        // 9.0 s after the start are 72 sixteenth notes; the next one begins at 9.625 s.
        #expect(simulation.transport.suffix(2) == [.songPosition(73), .continue])
        #expect(simulation.pulses.first { $0 > 9.59 }.map { abs($0 - 9.625) < 1e-6 } == true)
    }

    @Test func `the song is longer than song positions reach: they begin again at 0`() {
        var simulation = Simulation(hold: 1)
        let beats = (0..<4200).map { Beat(0.25 * Double($0), period: 0.25) }
        simulation.run(beats + (0..<4).map { Beat(2000 + 0.25 * Double($0), period: 0.25) }, until: 2001)
        let positions = simulation.transport.filter { $0.status == 0xF2 }
        #expect(positions.count == 1)
        #expect(positions.allSatisfy { Int($0[1]) + Int($0[2]) << 7 < 500 })
    }

    @Test func `invalid tempi and times: ignored`() {
        var simulation = Simulation()
        for value in [0, -1, Double.nan, .infinity] {
            simulation.run([Beat(1, period: value), Beat(value == 0 ? .nan : value * .infinity)], until: 0)
        }
        #expect(simulation.sent.isEmpty)
        #expect(simulation.schedule.next == .infinity)
    }
}
