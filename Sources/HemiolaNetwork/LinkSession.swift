internal import CAbletonLink
public import Hemiola
internal import Synchronization

/// The tempo and the beats that programs in a network share, by Ableton Link. Times are in seconds of the monotonic clock.
///
/// A ``LinkSession`` is the real one; tests of sinks have one without a network.
public protocol LinkTimeline: AnyObject, Sendable {
    /// The number of other programs in the session. Never blocks.
    var peerCount: Int { get }
    /// The state at a time.
    ///
    /// - Parameters:
    ///   - time: The time.
    ///   - quantum: Beats after which the beats of all peers coincide: a bar.
    func state(at time: Double, quantum: Double) -> LinkState
    /// Changes tempo and beats for all peers, at once and without regard to them.
    ///
    /// - Parameters:
    ///   - beatsPerMinute: The tempo; the session limits it to 20…999.
    ///   - beat: The beat at `time`.
    ///   - time: The time.
    ///   - quantum: As for `state`.
    func set(beatsPerMinute: Double, beat: Double, at time: Double, quantum: Double)
    /// Starts or stops the peers that share start and stop.
    func setPlaying(_ isPlaying: Bool, at time: Double)
}

/// The state of a Link session at a time.
public struct LinkState: Sendable, Hashable {
    /// The tempo in BPM.
    public var beatsPerMinute: Double
    /// The beat, with its fraction. Its remainder by the quantum is the same for all peers, its magnitude is not.
    public var beat: Double
    /// Whether the peers that share start and stop play.
    public var isPlaying: Bool

    /// A state from its parts.
    public init(beatsPerMinute: Double, beat: Double, isPlaying: Bool) {
        self.beatsPerMinute = beatsPerMinute
        self.beat = beat
        self.isPlaying = isPlaying
    }
}

/// A peer of the Ableton Link session of the network. It leaves the session when it is deallocated, which takes some milliseconds.
///
/// Link has a thread and sockets of its own. All methods may be called on any thread; those but `peerCount` may wait a few
/// microseconds for Link's thread.
///
/// `@unchecked Sendable`: the pointer never changes, and the functions that take it are safe on any thread.
public final class LinkSession: LinkTimeline, @unchecked Sendable {
    /// The tempo of a session that is new, in BPM.
    private static let initialTempo = 120.0
    /// Seconds before the session is joined. Of two sessions that meet, Link keeps the older one, but either of two whose ages differ by less
    /// than 0.5 s. A peer whose last peer has left begins a new session: one that was begun here at the same time, after a quick restart of the
    /// program, could replace it, and the peer would have the initial tempo.
    private static let joinDelay = 1.0

    /// Whether a run has a session.
    private final class RunState: Sendable {
        let hasSession = Atomic(false)
    }

    private let session: OpaquePointer
    private let run: RunState

    /// Joins the session of the network, or begins one, a second later. Until then there are no peers.
    ///
    /// A run has one session at most: a run that follows a tempo which it sets itself would drift.
    ///
    /// - Parameters:
    ///   - context: That of the sink.
    ///   - sharesStart: Whether start and stop are shared with the peers.
    /// - Throws: That the run has a session, that the system has no resources, or that the program was built without Link.
    public init(_ context: SinkContext, sharesStart: Bool) throws(Problem) {
        run = context.run.shared(RunState.self) { RunState() }
        if run.hasSession.exchange(true, ordering: .acquiringAndReleasing) {
            let remedy = "use --sink link or --control link, and only one of it"
            throw Problem("\(context.name): this run is in the Link session already; \(remedy)")
        }
        var opened: OpaquePointer?
        // Unsafe: a C function, which fills the pointer or returns a text that is never freed.
        let fault = clink_open(Self.initialTempo, sharesStart, Self.joinDelay, &opened)
        guard let opened else {
            run.hasSession.store(false, ordering: .releasing)
            throw Problem("\(context.name): \(fault.map { String(cString: $0) } ?? "Ableton Link cannot be started")")
        }
        session = opened
    }

    deinit {
        clink_close(session)
        run.hasSession.store(false, ordering: .releasing)
    }

    public var peerCount: Int { clink_peers(session) }

    public func state(at time: Double, quantum: Double) -> LinkState {
        let state = clink_read(session, time, quantum)
        return LinkState(beatsPerMinute: state.tempo, beat: state.beat, isPlaying: state.isPlaying)
    }

    public func set(beatsPerMinute: Double, beat: Double, at time: Double, quantum: Double) {
        clink_write(session, beatsPerMinute, beat, time, quantum)
    }

    public func setPlaying(_ isPlaying: Bool, at time: Double) {
        clink_play(session, isPlaying, time)
    }
}

extension LinkSession {
    /// The text about a number of peers, for the sinks' messages.
    public static func describePeers(_ count: Int) -> String {
        switch count {
        case 0: "no peers in the session"
        case 1: "1 peer in the session"
        default: "\(count) peers in the session"
        }
    }

    /// A tempo with two decimals, for the sinks' messages.
    public static func describeTempo(_ beatsPerMinute: Double) -> String {
        let hundredths = Int(clamping: (beatsPerMinute * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) BPM"
    }
}
