internal import Hemiola

/// The state of a capture: opens the source that a query resolves to, follows changes and outages, and queues the audio.
///
/// All methods run on the connection's thread, or under its lock.
final class CaptureSession: ConnectionDelegate, RecordStreamDelegate {
    /// Requested format and behaviour.
    struct Options: Sendable {
        var sampleRate: Int?
        var followsDeviceRate: Bool
        var channelCount: Int?
        var batchFrames: Int
        /// Whether to wait for a server and a device instead of failing.
        var waits: Bool
        /// Reports one line to the user.
        var warn: @Sendable (String) -> Void
    }

    /// A successful opening.
    struct Opening {
        var source: StreamSource
        var queue: DeliveryQueue
    }

    /// The result of the opening; nil until it is known.
    var outcome: Result<Opening, Problem>?
    /// Why the opening waits; nil while it does not.
    var waitReason: String?

    let query: DeviceQuery
    let options: Options
    let connection: Connection
    let wakeUp: WakeUp
    var queue: DeliveryQueue?

    var target: DeviceQuery.Target?
    var stream: RecordStream?
    /// Whether the stream is open, and whether it has delivered audio since it was opened or its source was idle.
    var isRunning = false
    var hasBegun = false
    /// Whether nothing plays on the output, so that PipeWire delivers nothing: silence is delivered in its place.
    var isIdle = false
    /// The default sample rate of the server.
    var serverRate = 44_100
    var clock: GapClock?
    /// The last device reported to the reader, and whether it was last reported as present.
    var reported: (name: String, summary: String, isPresent: Bool)?
    /// Time of the last audio, or of opening the stream.
    var lastAudioTime: Int64 = 0
    /// The name of the device that was last found muted or turned down; nil: it can be heard.
    private var quietName: String?
    private var nextAttempt = Int64.max
    /// Time of the last tick or audio, at which this process certainly ran.
    private var lastActivity = Int64.max

    /// Milliseconds between two ticks while audio arrives: the maximum delay in detecting an outage.
    private static let tickWhileRunning: UInt64 = 100
    /// Nanoseconds without a tick after which this process itself must have been stopped: load alone does not delay a tick that much.
    private static let longestTick: Int64 = 350_000_000

    init(_ query: DeviceQuery, options: Options, server: String?, wakeUp: WakeUp) throws(Problem) {
        self.query = query
        self.options = options
        self.wakeUp = wakeUp
        connection = try Connection(server: server, watchesStreams: query.isApplication)
        connection.delegate = self
    }

    func stop() {
        connection.stop { closeStream() }
    }

    // MARK: - Connection

    func connectionDidOpen() {}

    func connectionDidFail(_ reason: String) {
        closeStream()
        interrupt(.serverLost)
        // A device with any name is as unreachable as the default one: its name alone before the message would be misread.
        let device = query == .auto || options.waits ? "" : "device \"\(query)\": "
        failUnlessWaiting("\(device)no sound server answers at \(connection.address): \(reason); \(PulseCapture.startServerHint)")
    }

    func connectionDidUpdate(_ snapshot: ServerSnapshot) {
        serverRate = snapshot.sampleRate
        switch query.resolve(in: snapshot) {
        case .source(let choice):
            reportQuiet(choice, in: snapshot)
            open(choice, in: snapshot)
        case .unavailable(let reason):
            let wasPresent = target != nil
            isIdle = false
            closeStream()
            target = nil
            if query.isApplication {
                startSilence()
            } else {
                if wasPresent { interrupt(.deviceLost) }
                failUnlessWaiting(reason)
            }
        }
    }

    /// Says that the device is muted or turned down, which looks like silence: when it is chosen, and when it becomes so.
    private func reportQuiet(_ choice: DeviceQuery.Target, in snapshot: ServerSnapshot) {
        guard let source = snapshot.source(named: choice.name) else { return }
        let device = DeviceList.Device(source, in: snapshot)
        defer { quietName = device.isQuiet ? device.name : nil }
        guard device.isQuiet, quietName != device.name, let text = device.volumeText else { return }
        let (kind, name) = source.monitorOf.map { ("output", $0) } ?? ("input", source.name)
        options.warn("the \(kind) \(name) is \(device.isMuted ? text : "at \(text)"): its sound may be silence here; turn it up")
    }

    func connectionDidTick() {
        let now = MonotonicTime.nanosecondsWithSleep
        noteActivity(now)
        if isIdle { connection.ping() }
        if isRunning || isIdle, clock?.isOverdue(at: now) == true {
            clock?.interrupt(.frozen)
            reportLost()
        }
        if query.isApplication, connection.isOpen, !isRunning { fillWithSilence(upTo: now - Self.silenceDelay) }
        if now >= nextAttempt {
            nextAttempt = .max
            connection.requestSnapshot()
        }
        reopenStalledStream(now)
    }

    func connectionDidRespond() {
        addIdleSilence()
    }

    /// Detects that this process was stopped (Ctrl-Z) or the machine slept, so that the server is not reported as frozen.
    private func noteActivity(_ now: Int64) {
        let pause = now - lastActivity
        lastActivity = now
        guard pause > Self.longestTick else { return }
        clock?.notePause(pause)
        if isIdle { clock?.interrupt(.stopped) }
        lastAudioTime = now
    }

    /// Reopens a source that delivers nothing for 2 s although its server responds.
    private func reopenStalledStream(_ now: Int64) {
        guard let stream, isRunning, !isIdle, !stream.isSuspended, connection.isOpen, now - lastAudioTime > 2_000_000_000 else { return }
        lastAudioTime = now
        clock?.interrupt(.frozen)
        reportLost()
        closeStream()
        // The stream is reopened on the response, because a frozen server gives none.
        connection.requestSnapshot()
    }

    // MARK: - Stream

    private func open(_ choice: DeviceQuery.Target, in snapshot: ServerSnapshot) {
        let format = format(of: choice)
        var request = RecordStream.Request(
            source: choice.name, format: format, channelMap: choice.channelMap, stream: choice.stream,
            fragmentFrames: Self.fragmentFrames(options.batchFrames, at: format.sampleRate))
        isIdle = false
        if choice.isMonitor, let version = snapshot.pipeWireVersion {
            request.properties = GraphProperties(pipeWire: version)
            isIdle = !query.isApplication && !snapshot.sinks.contains { $0.monitor == choice.name && $0.isRunning }
        }
        if snapshot.pipeWireVersion == nil { request.keepsDeviceRate = format.sampleRate != choice.format.sampleRate }
        // The index too: the source may have been replaced by another of the same name.
        if let stream, stream.isAlive, stream.request == request, target?.index == choice.index { return startIdleSilence() }
        if stream != nil, !query.isApplication { clock?.interrupt(.deviceLost) }
        closeStream()
        target = choice
        nextAttempt = .max
        // The first stream that is opened on an idle output would set its sample rate.
        if isIdle { return startIdleSilence() }
        let stream = RecordStream(connection, request, delegate: self)
        self.stream = stream
        if !stream.isAlive { streamDidFail(stream, "the stream cannot be opened") }
    }

    /// A whole batch or an integer fraction of one, 10 to 25 ms, so that batches are as regular as fragments.
    private static func fragmentFrames(_ batchFrames: Int, at sampleRate: Int) -> Int {
        let longest = max(1, sampleRate / 40)
        let parts = (batchFrames + longest - 1) / longest
        return max(batchFrames / parts, sampleRate / 100)
    }

    private func closeStream() {
        // Silence replaces the stream until the next one delivers.
        if query.isApplication, isRunning { connection.tickMilliseconds = 20 }
        stream?.close()
        stream = nil
        isRunning = false
    }

    func streamDidOpen(_ stream: RecordStream) {
        guard stream === self.stream, let target else { return }
        isRunning = true
        hasBegun = false
        lastAudioTime = MonotonicTime.nanosecondsWithSleep
        connection.tickMilliseconds = Self.tickWhileRunning
        // After an outage the reopened stream may deliver nothing: only its first audio reports the device as opened.
        if let reported, !reported.isPresent, reported.name == label(target), queue?.format == stream.request.format { return }
        report(label(target), summary: target.summary, stream.request.format)
    }

    func streamDidFail(_ stream: RecordStream, _ reason: String) {
        guard stream === self.stream else { return }
        isRunning = false
        let name = target?.name ?? query.description
        target = nil
        if query.isApplication {
            connection.tickMilliseconds = 20
        } else if connection.isOpen {
            interrupt(.deviceLost)
            failUnlessWaiting("\(name) cannot be captured: \(reason); hemiola devices lists the devices")
        }
        // Requests a snapshot in 0.1 s: the stream may end before the server updates its lists.
        nextAttempt = MonotonicTime.nanosecondsWithSleep + 100_000_000
        connection.tickMilliseconds = min(connection.tickMilliseconds, 50)
    }

    func streamDidSuspend(_ stream: RecordStream) {
        guard stream === self.stream else { return }
        clock?.interrupt(.suspended)
        // A source that is suspended while it is opened resumes by itself.
        if hasBegun { reportLost() }
    }

    func stream(_ stream: RecordStream, didReceive samples: UnsafePointer<Float>?, frames: Int) {
        guard stream === self.stream, isRunning, let queue else { return }
        let now = MonotonicTime.nanosecondsWithSleep
        noteActivity(now)
        lastAudioTime = now
        if !hasBegun {
            // Silence was delivered until now.
            if query.isApplication || target?.isMonitor == true, let clock { fillWithSilence(upTo: now - clock.nanoseconds(frames)) }
            hasBegun = true
            connection.tickMilliseconds = Self.tickWhileRunning
        }
        if var clock {
            // A copy avoids the exclusivity check of a mutation in place.
            let decision = clock.receive(frames, at: now)
            self.clock = clock
            if decision == .drop { return }
            if let target, reported?.isPresent == false { report(label(target), summary: target.summary, stream.request.format) }
            if case .deliverAfter(let gap) = decision { queue.append(.gap(gap)) }
        }
        queue.write(samples, frames: frames)
    }
}
