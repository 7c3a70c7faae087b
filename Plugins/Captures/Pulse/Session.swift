internal import Hemiola
internal import HemiolaSignal

/// Follows one wish through everything that befalls the server, and feeds what it hears to the reader.
///
/// All of it happens on the connection's thread, or under its lock.
final class Session: ConnectionDelegate, RecordStreamDelegate {
    /// How it is to be heard.
    struct Terms: Sendable {
        var sampleRate: Int?
        var channelCount: Int?
        var batchFrames: Int
        /// Whether it may take time until there is a server and a device.
        var waits: Bool
    }

    struct Opening {
        var source: StreamSource
        var feed: Feed
    }

    /// Known once it has been opened, or cannot be.
    var outcome: Result<Opening, CaptureError>?
    /// Why it is not opened yet, where it may wait.
    var waitReason: String?

    let wish: DeviceWish
    let terms: Terms
    let connection: Connection
    let bell: Bell
    var feed: Feed?

    var target: DeviceWish.Target?
    var stream: RecordStream?
    /// Whether the stream delivers, and whether it has delivered anything.
    var isRunning = false
    var hasBegun = false
    var clock: StreamClock?
    /// The last device that the reader heard of, and whether it still is there.
    var announced: (name: String, summary: String, isThere: Bool)?
    /// When something was last heard, or the stream opened.
    var lastSign: Int64 = 0
    private var nextAttempt = Int64.max
    /// When this process was last seen to run: by a tick, or by audio.
    private var lastActivity = Int64.max

    /// Milliseconds between two ticks while audio comes: so late at most an outage is noticed.
    private static let tickWhileRunning: UInt64 = 100
    /// Nanoseconds without a tick after which this process itself must have stood still: no tick is that late on a machine that is
    /// only busy.
    private static let longestTick: Int64 = 350_000_000

    init(_ wish: DeviceWish, terms: Terms, server: String?, bell: Bell) throws(CaptureError) {
        self.wish = wish
        self.terms = terms
        self.bell = bell
        connection = try Connection(server: server, watchesStreams: wish.isApplication)
        connection.delegate = self
    }

    func stop() {
        connection.stop { closeStream() }
    }

    // MARK: - Connection

    func connectionDidOpen() {}

    func connectionDidFail(_ reason: String) {
        closeStream()
        lose(.serverLost)
        refuse("no sound server answers at \(connection.address): \(reason); \(PulseCapture.remedy)")
    }

    func connectionDidSee(_ snapshot: Snapshot) {
        switch wish.choice(in: snapshot) {
        case .source(let choice):
            open(choice)
        case .absent(let reason):
            let wasThere = target != nil
            closeStream()
            target = nil
            if wish.isApplication {
                beSilent()
            } else {
                if wasThere { lose(.deviceLost) }
                refuse(reason)
            }
        }
    }

    func connectionDidTick() {
        let now = Connection.now
        noteActivity(now)
        if isRunning, clock?.isOverdue(at: now) == true {
            clock?.interrupt(.frozen)
            reportLost()
        }
        if wish.isApplication, connection.isOpen, !isRunning { fillWithSilence(upTo: now) }
        if now >= nextAttempt {
            nextAttempt = .max
            connection.look()
        }
        revive(now)
    }

    /// Finds out whether this process was stopped (Ctrl-Z), or the machine slept: then it is not the server that stood still.
    private func noteActivity(_ now: Int64) {
        let pause = now - lastActivity
        lastActivity = now
        guard pause > Self.longestTick else { return }
        clock?.notePause(pause)
        lastSign = now
    }

    /// A source that delivers nothing although its server answers is opened anew.
    private func revive(_ now: Int64) {
        guard let stream, isRunning, !stream.isSuspended, connection.isOpen, now - lastSign > 2_000_000_000 else { return }
        lastSign = now
        clock?.interrupt(.frozen)
        reportLost()
        closeStream()
        // Asked first: a server that is frozen will not answer.
        connection.look()
    }

    // MARK: - Stream

    private func open(_ choice: DeviceWish.Target) {
        let format = format(of: choice)
        let request = RecordStream.Request(
            source: choice.name, format: format, channelMap: choice.channelMap, stream: choice.stream,
            fragmentFrames: Self.fragmentFrames(terms.batchFrames, at: format.sampleRate))
        // By its index too: one that was replaced by another of its name is gone.
        if let stream, stream.isAlive, stream.request == request, target?.index == choice.index { return }
        if stream != nil, !wish.isApplication { clock?.interrupt(.deviceLost) }
        closeStream()
        target = choice
        nextAttempt = .max
        let stream = RecordStream(connection, request, delegate: self)
        self.stream = stream
        if !stream.isAlive { streamDidFail(stream, "it cannot be opened") }
    }

    /// A whole batch, or an even part of one, so that batches come as regularly as fragments do; 10 to 25 ms.
    private static func fragmentFrames(_ batchFrames: Int, at sampleRate: Int) -> Int {
        let longest = max(1, sampleRate / 40)
        let parts = (batchFrames + longest - 1) / longest
        return max(batchFrames / parts, sampleRate / 100)
    }

    private func closeStream() {
        // Silence takes its place until another delivers.
        if wish.isApplication, isRunning { connection.tickMilliseconds = 20 }
        stream?.close()
        stream = nil
        isRunning = false
    }

    func streamDidOpen(_ stream: RecordStream) {
        guard stream === self.stream, let target else { return }
        isRunning = true
        hasBegun = false
        lastSign = Connection.now
        connection.tickMilliseconds = Self.tickWhileRunning
        // After an outage the reopened stream may deliver nothing: only its first audio reports the device as opened.
        if let announced, !announced.isThere, announced.name == label(target), feed?.format == stream.request.format { return }
        announce(label(target), summary: target.summary, stream.request.format)
    }

    func streamDidFail(_ stream: RecordStream, _ reason: String) {
        guard stream === self.stream else { return }
        isRunning = false
        let name = target?.name ?? wish.description
        target = nil
        if wish.isApplication {
            connection.tickMilliseconds = 20
        } else if connection.isOpen {
            lose(.deviceLost)
            refuse("\(name) cannot be heard: \(reason); hemiola devices lists what can be named")
        }
        // What the server has now is asked in a moment: the stream may have ended before the lists were right.
        nextAttempt = Connection.now + 100_000_000
        connection.tickMilliseconds = min(connection.tickMilliseconds, 50)
    }

    func streamDidSuspend(_ stream: RecordStream) {
        guard stream === self.stream else { return }
        clock?.interrupt(.suspended)
        // One that is suspended as it is opened wakes up by that.
        if hasBegun { reportLost() }
    }

    func stream(_ stream: RecordStream, didHear samples: UnsafePointer<Float>?, frames: Int) {
        guard stream === self.stream, isRunning, let feed else { return }
        let now = Connection.now
        noteActivity(now)
        lastSign = now
        if wish.isApplication, !hasBegun, let clock { fillWithSilence(upTo: now - clock.nanoseconds(frames)) }
        hasBegun = true
        if var clock {
            // A copy: to change it in place is checked for exclusive access.
            let verdict = clock.receive(frames, at: now)
            self.clock = clock
            if verdict == .drop { return }
            if let target, announced?.isThere == false { announce(label(target), summary: target.summary, stream.request.format) }
            if case .deliverAfter(let gap) = verdict { feed.mark(.gap(gap)) }
        }
        feed.write(samples, frames: frames)
    }
}
