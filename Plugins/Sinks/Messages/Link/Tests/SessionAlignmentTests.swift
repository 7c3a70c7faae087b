import HemiolaNetwork
import HemiolaSignal
import Testing

@testable import LinkSink

/// Beats of music are added, and the session's timeline is compared with them.
@Suite struct SessionAlignmentTests {
    private var alignment = SessionAlignment(quantum: nil, hold: 4)
    private let session = SimulatedSession(beatsPerMinute: 97.3, peers: 1)
    private var time = 100.0
    private var number = 0

    /// Adds beats of a tempo, each announced 80 ms before it sounds.
    private mutating func play(
        _ count: Int, _ beatsPerMinute: Double, bar: Int? = nil, each body: (_ time: Double) -> Void = { _ in }
    ) -> [Double] {
        var peerTempi: [Double] = []
        for _ in 0..<count {
            let position = bar.map { number % $0 + 1 }
            let beat = SessionAlignment.AnnouncedBeat(time: time, period: 60 / beatsPerMinute, position: position, confidence: 1)
            if let tempo = alignment.add(beat, now: time - 0.08, to: session) { peerTempi.append(tempo) }
            body(time)
            time += 60 / beatsPerMinute
            number += 1
        }
        return peerTempi
    }

    private var state: LinkState { session.state(at: time, quantum: 4) }

    @Test mutating func `the second beat: sets tempo and beat at once`() {
        #expect(play(2, 128).isEmpty)
        #expect(abs(state.beatsPerMinute - 128) < 1e-9 && abs(session.error(at: time)) < 1e-9)
        #expect(alignment.isFollowing)
    }

    @Test mutating func `steady beats: the session is not changed again`() {
        _ = play(2, 128)
        let changes = session.changes
        _ = play(200, 128)
        #expect(session.changes == changes)
    }

    @Test mutating func `beats with jitter of 5 ms: tempo within 0.1 %, beats within 3 ms`() {
        var random = SplitMix64(seed: 1)
        var (largest, tempi) = (0.0, [Double]())
        for index in 0..<200 {
            let jitter = (Double(random.next() >> 11) / 0x1p53 - 0.5) * 0.01
            let beat = SessionAlignment.AnnouncedBeat(time: time + jitter, period: 0.5, position: nil, confidence: 1)
            _ = alignment.add(beat, now: time - 0.08, to: session)
            time += 0.5
            guard index > 20 else { continue }
            tempi.append(session.state(at: time, quantum: 4).beatsPerMinute)
            largest = max(largest, abs(session.error(at: time)) * 0.5)
        }
        #expect(tempi.allSatisfy { abs($0 / 120 - 1) < 0.001 }, "\(tempi.min()!)…\(tempi.max()!)")
        #expect(largest < 0.003, "\(largest)")
    }

    @Test(arguments: [(0.0556, 124.92, 0.07), (0.0556, 124.92, 1), (-0.08, 128, 1), (0.11, 128, 0.5)])
    mutating func `a single late or early beat: the tempo stays within 0.1 BPM`(error: Double, bpm: Double, confidence: Double) {
        _ = play(100, 128)
        let beat = SessionAlignment.AnnouncedBeat(time: time + error, period: 60 / bpm, position: nil, confidence: confidence)
        _ = alignment.add(beat, now: time - 0.08, to: session)
        #expect(abs(state.beatsPerMinute - 128) < 0.1, "\(state.beatsPerMinute)")
    }

    @Test mutating func `beats that move by 40 %: shifted by a sixteenth of a beat at most per beat`() {
        _ = play(30, 120)
        time += 0.2
        var errors: [Double] = []
        let (grid, session) = (time, session)
        _ = play(30, 120) { now in errors.append(session.error(at: grid + ((now - grid) * 2).rounded() / 2)) }
        for (one, next) in zip(errors, errors.dropFirst()) {
            let change = next - one
            #expect(abs(change - change.rounded()) < 0.0626, "\(errors)")
        }
        #expect(abs(errors.last!) < 0.005, "\(errors)")
    }

    @Test mutating func `another tempo: by 10 % at most per beat, then the beats`() {
        _ = play(20, 90)
        var tempi: [Double] = []
        let session = session
        _ = play(40, 174) { now in tempi.append(session.state(at: now, quantum: 4).beatsPerMinute) }
        for (one, next) in zip(tempi, tempi.dropFirst()) { #expect(next / one < 1.1001 && next / one > 0.8999, "\(tempi)") }
        #expect(abs(tempi.last! - 174) < 0.1 && abs(session.error(at: time)) < 0.01)
    }

    @Test mutating func `bars of four: downbeats are multiples of four, after a change too`() {
        _ = play(20, 120, bar: 4)
        #expect(Int(state.beat.rounded()) % 4 == number % 4)
        // The tracker finds another downbeat.
        number += 1
        _ = play(20, 120, bar: 4)
        #expect((Int(state.beat.rounded()) - number) % 4 == 0)
    }

    @Test mutating func `bars of three: downbeats are multiples of three`() {
        _ = play(24, 140, bar: 3)
        #expect((Int(state.beat.rounded()) - number) % 3 == 0)
    }

    @Test mutating func `a bar that is wrong for seven beats: not moved`() {
        _ = play(20, 120, bar: 4)
        let changes = session.changes
        number += 2
        _ = play(7, 120, bar: 4)
        number += 2
        _ = play(20, 120, bar: 4)
        #expect(session.changes == changes)
    }

    @Test mutating func `a peer changes the tempo: reported, and set again within 10 % per beat`() {
        _ = play(10, 120)
        session.set(beatsPerMinute: 140, beat: 3.3, at: time, quantum: 4)
        #expect(play(1, 120) == [140])
        #expect(abs(state.beatsPerMinute - 126) < 1e-6)
        #expect(play(20, 120).isEmpty)
        #expect(abs(state.beatsPerMinute - 120) < 0.01 && abs(session.error(at: time)) < 0.01)
    }

    @Test mutating func `a peer joins with its own session: taken over at once, and not reported`() {
        _ = play(10, 120)
        alignment.notePeer(now: time)
        session.set(beatsPerMinute: 90, beat: 7.4, at: time, quantum: 4)
        #expect(play(1, 120).isEmpty)
        #expect(abs(state.beatsPerMinute - 120) < 0.01 && abs(session.error(at: time)) < 0.01)
    }

    @Test mutating func `no beats for hold_s: over; the next beats set the session at once`() {
        _ = play(10, 120)
        #expect(!alignment.isOver(at: time + 3) && alignment.isOver(at: time + 5))
        alignment.pause()
        #expect(!alignment.isFollowing && !alignment.isOver(at: time + 5))
        time += 7.13
        _ = play(2, 70)
        #expect(abs(state.beatsPerMinute - 70) < 0.01 && abs(session.error(at: time)) < 0.001)
    }

    @Test mutating func `periods and times that are no numbers: ignored`() {
        for (time, period) in [(100.0, 0.0), (100, -1), (100, .nan), (.infinity, 0.5), (.nan, 0.5)] {
            _ = alignment.add(.init(time: time, period: period, position: 1, confidence: 1), now: 100, to: session)
        }
        #expect(session.changes == 0)
    }
}
