public import Hemiola
internal import HemiolaNetwork

extension ControlPlugin {
    /// Submits tempo and beats of the Ableton Link session as controls.
    public static let link = linkFollower { context throws(Problem) in try LinkSession(context, sharesStart: false) }

    /// The control source with a function that joins a session.
    static func linkFollower(
        joining join: @escaping @Sendable (SinkContext) throws(Problem) -> any LinkTimeline
    ) -> ControlPlugin {
        ControlPlugin(
            PluginDescription(
                "link", "Follows the Ableton Link session: submits its tempo, beats and bars as controls of the beat tracker.",
                uses: .network),
            settings: LinkSettings.self, analyzers: [PluginSpec("beat")], events: [.beat],
            make: { settings in LinkFollower(settings, joining: join) })
    }
}

/// The settings of the control source `link`.
struct LinkSettings: PluginSettings {
    var quantum: Int
    /// In seconds.
    var delay: Double

    init(_ read: inout SettingReader) {
        quantum = read.integer(
            "quantum", default: 4, in: 0...64, "Beats per bar of the session; 0: only its beats are followed, not its bars.")
        delay = read.milliseconds(
            "delay_ms", default: 0, in: -1_000...1_000,
            "Time by which the music is later than the session, such as the latency of loudspeaker and microphone.")
    }
}

/// Reads the session a few times per second, between two batches, compares it with the beats of the tracker, and submits controls.
final class LinkFollower: StreamFollower {
    private struct State {
        /// nil: closed.
        var joined: (session: any LinkTimeline, input: ControlInput)?
        var format = StreamFormat(sampleRate: 1, channelCount: 1)
        var clock = StreamClock()
        var controls: SessionControls
        /// The number of peers that was reported last, and the tempo: the one reported, and the one of the last batch.
        var peers = 0
        var reportedTempo: Double?
        var lastTempo: Double?
    }

    private let delay: Double
    private let join: @Sendable (SinkContext) throws(Problem) -> any LinkTimeline
    private let initial: SessionControls
    private var state: State

    init(
        _ settings: LinkSettings, joining join: @escaping @Sendable (SinkContext) throws(Problem) -> any LinkTimeline
    ) {
        delay = settings.delay
        self.join = join
        initial = SessionControls(quantum: settings.quantum)
        state = State(controls: initial)
    }

    func open(_ input: ControlInput) throws(Problem) {
        state = State(joined: (try join(input.context), input), controls: initial)
    }

    func begin(_ stream: StreamHeader) {
        (state.format, state.clock, state.controls) = (stream.format, StreamClock(), initial)
    }

    func write(_ batches: BatchBlock) {
        guard let (session, input) = state.joined else { return }
        note(batches, input.context.timing.clock.now)
        let last = batches[batches.count - 1]
        guard let end = state.clock.time(of: state.format.seconds(at: last.endFrame)) else { return }
        for index in 0..<batches.count {
            let batch = batches[index]
            for place in batch.events.indices { add(batch.events[place], session) }
        }
        let length = state.format.seconds(at: last.endFrame) - state.format.seconds(at: last.frame)
        let peers = session.peerCount
        let now = session.state(at: end - delay, quantum: state.controls.quantum)
        report(peers, now, input)
        for control in state.controls.advance(to: end, batch: length, session: peers > 0 ? now : nil) { submit(control, input) }
    }

    func end(_ summary: StreamSummary) {}

    func close() {
        // The session is left when this reference to it is gone.
        state.joined = nil
    }

    private func note(_ batches: BatchBlock, _ now: Double) {
        for index in 0..<batches.count { state.clock.add(end: state.format.seconds(at: batches[index].endFrame), at: now) }
    }

    /// Compares a beat of the tracker with the session.
    private func add(_ event: Event, _ session: any LinkTimeline) {
        guard let beat = Beat(event), let time = state.clock.time(of: event.time) else { return }
        let there = session.state(at: time - delay, quantum: state.controls.quantum)
        state.controls.compare(time, position: beat.position, with: there)
    }

    /// Reports a new number of peers, and a tempo that has stayed the same since the last batch.
    private func report(_ peers: Int, _ now: LinkState, _ input: ControlInput) {
        let name = input.context.name
        if peers != state.peers {
            state.peers = peers
            if peers == 0 { (state.reportedTempo, state.lastTempo) = (nil, nil) }
            let consequence = peers == 0 ? "; the tempo follows the music" : ""
            input.context.messages.inform("\(name): \(LinkSession.describePeers(peers))\(consequence)", [])
        }
        guard peers > 0 else { return }
        let tempo = LinkSession.describeTempo(now.beatsPerMinute)
        let isSteady = state.lastTempo.map { LinkSession.describeTempo($0) == tempo } ?? false
        if isSteady, state.reportedTempo.map({ LinkSession.describeTempo($0) != tempo }) ?? true {
            input.context.messages.inform("\(name): the tempo of the session is \(tempo)", [])
            state.reportedTempo = now.beatsPerMinute
        }
        state.lastTempo = now.beatsPerMinute
    }

    private func submit(_ control: SessionControls.Submission, _ input: ControlInput) {
        guard let type = input.context.records.catalog.control(control.name),
            let control = try? Control(type, fields: { $0 == type.fields.first ? control.value : nil })
        else { return }
        input.submit(control)
    }
}
