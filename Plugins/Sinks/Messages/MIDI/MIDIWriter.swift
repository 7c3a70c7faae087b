internal import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaMIDI

/// The sink `midi`: maps beats and onsets to the clock of the run, and passes them to a thread that sends at their times.
/// No method waits for the receiver.
final class MIDIWriter: Sink {
    /// Velocity of an onset of the typical strength, 1.
    private static let typicalVelocity = 80.0
    /// Seconds between two reports of losses, and without a loss after which they have ended.
    private static let reportInterval = 1.0

    private struct State {
        var thread: ClockThread?
        var clock = StreamClock()
        var format = StreamFormat(sampleRate: 1, channelCount: 1)
        /// The field map, and what it sends of the current stream.
        var map: FieldMap?
        var mapping: MIDIMapping?
        /// Seconds by which messages are sent after the events.
        var shift = 0.0
        /// The pauses between attempts to open the port.
        var delay = RetryDelay(longest: 2)
        /// Whether the port was open before.
        var wasOpen = false
        var lastReport = -Double.infinity
        /// Whether the user was warned of losses since the port was opened.
        var isLossReported = false
        /// Whether the last report had losses: those that follow belong to the same record.
        var isLosing = false
    }

    private let settings: MIDISettings
    private var context = SinkContext(name: "midi")
    private var state = State()

    init(_ settings: MIDISettings) {
        self.settings = settings
    }

    func open(_ context: SinkContext) throws(Problem) {
        let thread = ClockThread(
            MIDIOutput(ClockSchedule(hold: settings.hold, continues: settings.resume == .continue)), by: context.timing.clock)
        var new = State(shift: settings.delay - context.timing.lead)
        new.map = try settings.map.map { path throws(Problem) in try FieldMap.load(path) }
        do {
            let port = try settings.openPort()
            thread.withOutput { $0.connect(port, now: context.timing.clock.now) }
            new.wasOpen = true
        } catch {
            guard error.remedy == .retry else { throw error }
            context.messages.inform("\(error.message); waiting for one", [])
            new.delay.noteFailure(at: context.timing.clock.now)
        }
        // Where there is none, the port is closed with its last owner.
        try thread.start(for: context.name)
        new.thread = thread
        (self.context, state) = (context, new)
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        state.clock = StreamClock()
        state.format = stream.format
        state.mapping = try state.map.map { map throws(Problem) in
            try MIDIMapping(map, for: stream, channel: settings.channel, noteLength: settings.noteLength)
        }
    }

    func write(_ batches: BatchBlock) {
        let now = context.timing.clock.now
        state.thread?.withOutput { add(batches, now, to: &$0) }
        maintain(now)
    }

    func write(_ events: [Event]) {
        let now = context.timing.clock.now
        state.thread?.withOutput { output in
            for event in events { add(event, now, to: &output) }
        }
        maintain(now)
    }

    func end(_ summary: StreamSummary) {
        let now = context.timing.clock.now
        state.thread?.withOutput { output in
            output.stopSong()
            state.mapping?.end(at: now, in: &output.queue)
        }
        maintain(now)
    }

    func close() {
        state.thread?.stop()
        report(.infinity)
        state = State()
    }

    private func add(_ batches: BatchBlock, _ now: Double, to output: inout MIDIOutput) {
        for index in 0..<batches.count {
            let batch = batches[index]
            state.clock.add(end: state.format.seconds(at: batch.endFrame), at: now)
            state.mapping?.add(batch, at: now + max(0, settings.delay), to: &output.queue)
            for event in batch.events.indices { add(batch.events[event], now, to: &output) }
        }
    }

    private func add(_ event: Event, _ now: Double, to output: inout MIDIOutput) {
        guard let time = state.clock.time(of: event.time + state.shift) else { return }
        state.mapping?.add(event, at: max(time, now), to: &output.queue)
        if let beat = Beat(event) {
            if settings.sendsClock {
                output.schedule.addBeat(
                    at: time, period: 60 / beat.beatsPerMinute, position: beat.position, confidence: beat.confidence, now: now)
            }
            guard let note = beat.position == 1 ? settings.downbeatNote ?? settings.beatNote : settings.beatNote else { return }
            addNote(note, velocity: 127 * beat.confidence, at: max(time, now), to: &output)
        } else if let onset = Onset(event), let note = settings.onsetNote {
            addNote(note, velocity: Self.typicalVelocity * onset.strength, at: max(time, now), to: &output)
        }
    }

    private func addNote(_ note: Int, velocity: Double, at time: Double, to output: inout MIDIOutput) {
        let velocity = velocity.isFinite ? min(max(velocity.rounded(), 1), 127) : 1
        output.queue.addNote(note, channel: settings.channel, velocity: Int(velocity), at: time, duration: settings.noteLength)
    }

    // MARK: - Faults and losses

    /// Reports faults and losses, and opens a port again that is gone.
    private func maintain(_ now: Double) {
        report(now)
        guard let thread = state.thread else { return }
        let (code, isGone) = thread.withOutput { ($0.takeFault(), $0.port == nil) }
        if let code {
            context.messages.warn("\(settings.name): the receiver is gone: \(MIDIDevice.cause(code)); trying to connect again")
            state.delay.noteFailure(at: now)
        }
        guard isGone, now >= state.delay.nextAttempt else { return }
        do {
            let port = try settings.openPort()
            let lost = thread.withOutput { output in
                output.connect(port, now: context.timing.clock.now)
                return output.queue.takeLosses()
            }
            state.mapping?.forget()
            if state.wasOpen {
                context.messages.inform("\(settings.name): connected again", [])
                if lost > 0 { context.controls.report(drop(lost)) }
            }
            state.delay.reset()
            (state.wasOpen, state.isLossReported) = (true, false)
        } catch {
            state.delay.noteFailure(at: now)
        }
    }

    private func drop(_ messages: Int, isOngoing: Bool = false) -> DropReport {
        DropReport(sink: context.name, client: settings.name, batches: 0, events: messages, isOngoing: isOngoing)
    }

    /// Reports lost messages: in a `dropped` record when losses begin and when they have ended, and once in a message while a port is open.
    private func report(_ now: Double) {
        guard let thread = state.thread, now - state.lastReport >= Self.reportInterval else { return }
        let lost = thread.withOutput { $0.queue.takeLosses() }
        guard lost > 0 || state.isLosing else { return }
        state.lastReport = now
        // Before the first reader of a named pipe no receiver misses anything.
        guard state.wasOpen else { return }
        context.controls.report(drop(lost, isOngoing: state.isLosing && lost > 0))
        state.isLosing = lost > 0
        if lost > 0, !state.isLossReported, thread.withOutput({ $0.port != nil }) {
            context.messages.warn("\(settings.name): the receiver does not read; MIDI messages are lost until it does")
            state.isLossReported = true
        }
    }
}
