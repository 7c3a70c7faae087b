import Glibc
import Hemiola
import HemiolaNetwork
import Synchronization

/// A session without a network.
final class SimulatedSession: LinkTimeline {
    private struct Timeline {
        var beatsPerMinute = 120.0
        var beat = 0.0
        var time = 0.0
        var isPlaying = false
        var hasPlayed = false
        var peers = 0
        var changes = 0
    }

    private let timeline = Mutex(Timeline())

    init(beatsPerMinute: Double = 120, peers: Int = 0, beat: Double = 0, at time: Double = 0) {
        timeline.withLock {
            ($0.beatsPerMinute, $0.peers, $0.beat, $0.time) = (beatsPerMinute, peers, beat, time)
        }
    }

    var peerCount: Int {
        get { timeline.withLock { $0.peers } }
        set { timeline.withLock { $0.peers = newValue } }
    }

    /// The number of calls of `set`.
    var changes: Int { timeline.withLock { $0.changes } }

    func state(at time: Double, quantum: Double) -> LinkState {
        timeline.withLock {
            LinkState(
                beatsPerMinute: $0.beatsPerMinute, beat: $0.beat + (time - $0.time) * $0.beatsPerMinute / 60, isPlaying: $0.isPlaying)
        }
    }

    func set(beatsPerMinute: Double, beat: Double, at time: Double, quantum: Double) {
        timeline.withLock {
            ($0.beatsPerMinute, $0.beat, $0.time) = (beatsPerMinute, beat, time)
            $0.changes += 1
        }
    }

    /// Whether it was started at any time.
    var hasPlayed: Bool { timeline.withLock { $0.hasPlayed } }

    func setPlaying(_ isPlaying: Bool, at time: Double) {
        timeline.withLock {
            $0.isPlaying = isPlaying
            $0.hasPlayed = $0.hasPlayed || isPlaying
        }
    }

    /// The distance from the nearest beat at a time, in beats, −0.5…0.5.
    func error(at time: Double) -> Double {
        let beat = state(at: time, quantum: 4).beat
        return beat - beat.rounded()
    }
}
