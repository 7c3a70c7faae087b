internal import HemiolaNetwork
internal import HemiolaRecords
internal import HemiolaSignal

/// Which controls make the beat tracker follow a session. All times are in seconds of the monotonic clock. Reads no clock itself.
///
/// The session's tempo is locked. Its beats are tapped only while the tracker's beats are none of the session's, so that the music
/// determines the exact time of each beat, and no control is submitted while both agree. A tap takes effect at the start of a batch:
/// it is submitted at the batch's end that is nearest to the beat.
struct SessionControls: Sendable {
    /// A control by its name, with the value of its first field.
    struct Submission: Equatable {
        var name: String
        var value: ParameterValue?
    }

    /// Change of the tempo in BPM that is submitted.
    private static let tempoTolerance = 0.005
    /// Distance in beats up to which a beat of the tracker is one of the session.
    private static let tolerance = 0.15
    /// Session beats without one of the tracker after which a beat is tapped.
    private static let beatsWithoutAgreement = 2.5
    /// Least time between two taps: the tracker takes taps that follow each other within three seconds as a tempo, which would be less
    /// exact than the locked one, where the tracker refuses to lock the tempo.
    private static let tapInterval = 3.2
    /// Least time between two downbeats that are set.
    private static let downbeatInterval = 4.0
    /// Longest time between two looks at the session.
    private static let pollInterval = 0.25

    /// Beats per bar; 1 where bars are not followed.
    let quantum: Double
    private let followsBars: Bool
    /// The time of the next `advance`.
    private(set) var next = -Double.infinity
    private var lockedTempo: Double?
    private var lastTap = -Double.infinity
    private var lastDownbeat = -Double.infinity
    /// The last beat of the tracker that was one of the session, and whether its place in the bar was that of the session.
    private var lastAgreement = -Double.infinity
    /// The last one that was not.
    private var lastDisagreement = -Double.infinity
    private var hasSameBar = false

    /// - Parameter quantum: Beats per bar of the session; 0: bars are not followed.
    init(quantum: Int) {
        self.quantum = Double(max(1, quantum))
        followsBars = quantum > 0
    }

    /// Compares a beat of the tracker with the session's state at its time.
    mutating func compare(_ time: Double, position: Int?, with session: LinkState) {
        let nearest = session.beat.rounded()
        guard abs(session.beat - nearest) <= Self.tolerance else {
            lastDisagreement = max(lastDisagreement, time)
            return
        }
        lastAgreement = max(lastAgreement, time)
        hasSameBar = position.map { ($0 - 1) == Self.place(of: nearest, in: quantum) } ?? false
    }

    /// The controls that are due at the end of a batch.
    ///
    /// - Parameters:
    ///   - time: The end of the batch.
    ///   - batch: Its length.
    ///   - session: The state at that time; nil: there are no peers.
    mutating func advance(to time: Double, batch: Double, session: LinkState?) -> [Submission] {
        next = time + Self.pollInterval
        guard let session, session.beatsPerMinute > 0 else {
            guard lockedTempo != nil else { return [] }
            lockedTempo = nil
            return [Submission(name: "lockTempo", value: ParameterValue.none)]
        }
        var due: [Submission] = []
        if lockedTempo.map({ abs($0 - session.beatsPerMinute) > Self.tempoTolerance }) ?? true {
            lockedTempo = session.beatsPerMinute
            due.append(Submission(name: "lockTempo", value: .number(session.beatsPerMinute)))
        }
        let period = 60 / session.beatsPerMinute
        let nearest = session.beat.rounded()
        if abs(session.beat - nearest) * period <= 0.51 * batch {
            let agrees = lastAgreement > lastDisagreement && time - lastAgreement < Self.beatsWithoutAgreement * period
            if !agrees, time - lastTap >= Self.tapInterval {
                lastTap = time
                due.append(Submission(name: "tap", value: nil))
            }
            if followsBars, agrees, !hasSameBar, Self.place(of: nearest, in: quantum) == 0, time - lastDownbeat >= Self.downbeatInterval {
                lastDownbeat = time
                due.append(Submission(name: "setDownbeat", value: nil))
            }
        }
        var following = session.beat.rounded(.down) + 1
        if (following - session.beat) * period <= 0.51 * batch { following += 1 }
        next = min(next, time + (following - session.beat) * period - 0.5 * batch)
        return due
    }

    /// The place of a beat in its bar, 0….
    private static func place(of beat: Double, in quantum: Double) -> Int {
        let rest = beat.truncatingRemainder(dividingBy: quantum)
        return Int(clamping: rest < 0 ? rest + quantum : rest)
    }
}
