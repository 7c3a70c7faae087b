public import Hemiola
internal import HemiolaNetwork

extension SinkPlugin {
    /// Sets tempo and beats of the Ableton Link session.
    public static let link = linkSink { context, sharesStart throws(Problem) in try LinkSession(context, sharesStart: sharesStart) }

    /// The sink with a function that joins a session.
    static func linkSink(
        joining join: @escaping @Sendable (SinkContext, _ sharesStart: Bool) throws(Problem) -> any LinkTimeline
    ) -> SinkPlugin {
        SinkPlugin(
            PluginDescription(
                "link", "Sets tempo and beats of the Ableton Link session: peers in the network follow the music.", uses: .network),
            settings: LinkSettings.self,
            needs: { _ in
                Needs(analyzers: [PluginSpec("beat")], realTime: true, schedulesEvents: true, events: [.beat])
            },
            make: { settings in LinkSender(settings, joining: join) })
    }
}

struct LinkSettings: PluginSettings {
    var quantum: Int?
    var sharesStart: Bool
    /// In seconds.
    var hold: Double
    /// In seconds.
    var delay: Double

    init(_ read: inout SettingReader) {
        quantum = read.integer(
            "quantum", in: 1...64, "Beats per bar of the session; unset: those of the music, and 4 until they are known.")
        sharesStart = read.boolean(
            "start_stop", default: false, "Start peers with the first beat, and stop them after hold_s and at the end.")
        hold = read.seconds(
            "hold_s", default: 4, in: 0...3600, "Time without beats after which the next ones set tempo and beat anew. At least 1.5 beats.")
        delay = read.milliseconds(
            "delay_ms", default: 0, in: -1_000...10_000,
            "Time by which the beats of the session are later than those of the music; negative: earlier.")
    }
}

/// The sink `link`: converts the times of beats to the monotonic clock, and sets the session's timeline.
final class LinkSender: Sink {
    /// Seconds for which Link's thread may send the last change before the session is left.
    private static let farewell = 0.05
    /// Seconds between two reports of changes by peers.
    private static let reportInterval = 10.0

    private struct State {
        var session: (any LinkTimeline)?
        var context = SinkContext(name: "link")
        var format = StreamFormat(sampleRate: 1, channelCount: 1)
        var clock = StreamClock()
        var alignment: SessionAlignment
        /// The number of peers that was reported last.
        var peers = 0
        /// Whether this sink has started the peers.
        var isPlaying = false
        var lastReport = -Double.infinity
    }

    private let settings: LinkSettings
    private let join: @Sendable (SinkContext, Bool) throws(Problem) -> any LinkTimeline
    private var state: State

    init(
        _ settings: LinkSettings,
        joining join: @escaping @Sendable (SinkContext, _ sharesStart: Bool) throws(Problem) -> any LinkTimeline
    ) {
        self.settings = settings
        self.join = join
        state = State(alignment: SessionAlignment(quantum: settings.quantum, hold: settings.hold))
    }

    func open(_ context: SinkContext) throws(Problem) {
        let session = try join(context, settings.sharesStart)
        state = State(session: session, context: context, alignment: SessionAlignment(quantum: settings.quantum, hold: settings.hold))
    }

    func begin(_ stream: StreamHeader) {
        (state.format, state.clock) = (stream.format, StreamClock())
    }

    func write(_ batches: BatchBlock) {
        let now = state.context.timing.clock.now
        note(batches, now)
        reportPeers(now)
        for index in 0..<batches.count {
            let batch = batches[index]
            for place in batch.events.indices { add(batch.events[place], now) }
        }
        if state.alignment.isOver(at: now) { pause(now) }
    }

    func write(_ events: [Event]) {
        let now = state.context.timing.clock.now
        reportPeers(now)
        for event in events { add(event, now) }
    }

    func end(_ summary: StreamSummary) {
        pause(state.context.timing.clock.now)
    }

    func close() {
        if settings.sharesStart { state.context.timing.clock.sleep(for: Self.farewell) }
        // The session is left when this reference to it is gone.
        state.session = nil
    }

    private func note(_ batches: BatchBlock, _ now: Double) {
        for index in 0..<batches.count { state.clock.add(end: state.format.seconds(at: batches[index].endFrame), at: now) }
    }

    private func add(_ event: Event, _ now: Double) {
        guard let session = state.session, let beat = Beat(event),
            let time = state.clock.time(of: event.time - state.context.timing.lead + settings.delay)
        else { return }
        let peerTempo = state.alignment.add(
            SessionAlignment.AnnouncedBeat(
                time: time, period: 60 / beat.beatsPerMinute, position: beat.position, confidence: beat.confidence), now: now, to: session)
        if let peerTempo, now - state.lastReport >= Self.reportInterval {
            let (theirs, ours) = (LinkSession.describeTempo(peerTempo), LinkSession.describeTempo(60 / state.alignment.grid.period))
            state.context.messages.inform(
                "\(state.context.name): a peer set the tempo to \(theirs); that of the music, \(ours), is set again", [])
            state.lastReport = now
        }
        if settings.sharesStart, !state.isPlaying, state.alignment.isFollowing {
            session.setPlaying(true, at: state.alignment.grid.anchor)
            state.isPlaying = true
        }
    }

    /// There are no beats any more.
    private func pause(_ now: Double) {
        state.alignment.pause()
        if state.isPlaying { state.session?.setPlaying(false, at: now) }
        state.isPlaying = false
    }

    private func reportPeers(_ now: Double) {
        guard let session = state.session, session.peerCount != state.peers else { return }
        let count = session.peerCount
        if count > state.peers { state.alignment.notePeer(now: now) }
        state.peers = count
        state.context.messages.inform("\(state.context.name): \(LinkSession.describePeers(count))", [])
    }
}
