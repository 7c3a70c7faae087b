import HemiolaNetwork
import Testing

@testable import LinkControlSource

/// Batches of 23 ms end, and the session is read at the times that are requested.
@Suite struct SessionControlsTests {
    private static let batch = 1024 / 44_100.0
    private var controls = SessionControls(quantum: 4)
    private var session = SimulatedSession(beatsPerMinute: 125, peers: 1)
    private var time = 10.0
    private var calls = 0

    private mutating func run(_ seconds: Double, beats: (_ time: Double) -> (Int, Int?)? = { _ in nil }) -> [(Double, String)] {
        var found: [(Double, String)] = []
        let end = time + seconds
        while time < end {
            time += Self.batch
            if let (beat, position) = beats(time) {
                let there = session.state(at: Double(beat) * 0.48, quantum: 4)
                controls.compare(time, position: position, with: there)
            }
            guard time >= controls.next else { continue }
            calls += 1
            let state = session.peerCount > 0 ? session.state(at: time, quantum: 4) : nil
            found += controls.advance(to: time, batch: Self.batch, session: state).map { (time, $0.name) }
        }
        return found
    }

    @Test mutating func `no peers: nothing is submitted`() {
        session.peerCount = 0
        #expect(run(10).isEmpty)
    }

    @Test mutating func `a peer: the tempo is locked once, a beat is tapped every 3.2 s or later, within half a batch`() {
        let found = run(20)
        #expect(found.first?.1 == "lockTempo")
        let taps = found.dropFirst()
        #expect(taps.allSatisfy { $0.1 == "tap" } && taps.count >= 5, "\(found)")
        for (one, next) in zip(taps, taps.dropFirst()) { #expect(next.0 - one.0 >= 3.19 && next.0 - one.0 < 3.7) }
        #expect(taps.allSatisfy { abs(session.error(at: $0.0)) * 0.48 <= 0.52 * Self.batch }, "\(found)")
        // Each beat, and every 0.25 s.
        #expect(calls < 140, "\(calls)")
    }

    @Test mutating func `the tracker has the beats and bars of the session: only the tempo is submitted`() {
        var last = -1
        let found = run(20) { time in
            let beat = Int(time / 0.48)
            guard beat != last else { return nil }
            last = beat
            return (beat, beat % 4 + 1)
        }
        // One tap, because the first look comes before the first beat.
        #expect(found.map(\.1).filter { $0 != "lockTempo" }.count <= 1, "\(found)")
    }

    @Test mutating func `the tracker has the beats but another bar: a downbeat of the session is set`() {
        var last = -1
        let found = run(20) { time in
            let beat = Int(time / 0.48)
            guard beat != last else { return nil }
            last = beat
            return (beat, (beat + 1) % 4 + 1)
        }
        let downbeats = found.filter { $0.1 == "setDownbeat" }
        #expect(downbeats.count >= 3)
        for (time, _) in downbeats {
            let beat = session.state(at: time, quantum: 4).beat / 4
            #expect(abs(beat - beat.rounded()) < 0.01)
        }
    }

    @Test mutating func `the session changes its tempo: locked again; the last peer leaves: unlocked`() {
        _ = run(1)
        session.set(beatsPerMinute: 90, beat: 0, at: time, quantum: 4)
        #expect(run(0.5).map(\.1).contains("lockTempo"))
        session.peerCount = 0
        #expect(run(2).map(\.1) == ["lockTempo"])
        #expect(run(5).isEmpty)
    }
}
