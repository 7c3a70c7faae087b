internal import HemiolaFiles

/// All that is sent to a port: the clock, the notes, and what the port has not accepted yet. Reads no clock itself. Only `advance` passes
/// bytes to the port.
struct MIDIOutput {
    /// Time between two attempts to send to a full port, in seconds.
    private static let attemptInterval = 0.02

    var schedule: ClockSchedule
    private var notes = NoteQueue()
    /// nil: the port is gone, and messages are lost.
    private(set) var port: (any MIDIPort)?
    private(set) var queue = MessageQueue()
    /// Why the port is gone, an error number; nil once it was taken.
    private var fault: Int32?
    private var nextAttempt = Double.infinity
    private var messages: [MIDIMessage] = []

    init(_ schedule: ClockSchedule) {
        self.schedule = schedule
        messages.reserveCapacity(MessageQueue.limit)
    }

    /// The time at which `advance` has something to do, in seconds of the monotonic clock; infinite: never.
    var next: Double { min(schedule.next, notes.next, nextAttempt) }

    /// Adds a note. When too many wait, it is lost.
    mutating func addNote(_ note: Int, channel: Int, velocity: Int, at time: Double, duration: Double) {
        if !notes.add(note, channel: channel, velocity: velocity, at: time, duration: duration) { queue.lose(notes: 1) }
    }

    /// Adds a message. When too many wait, it is lost.
    mutating func add(_ message: MIDIMessage, at time: Double) {
        if !notes.add(message, at: time) { queue.lose(notes: 1) }
    }

    /// Sends what is due.
    mutating func advance(to now: Double) {
        if queue.isStalled { flush(now) }
        messages.removeAll(keepingCapacity: true)
        schedule.advance(to: now, into: &messages)
        notes.advance(to: now, into: &messages)
        for message in messages { queue.add(message) }
        flush(now)
    }

    /// Uses a port that was opened. The receiver's position is set again, because it may have missed messages.
    mutating func connect(_ port: any MIDIPort, now: Double) {
        self.port = port
        (fault, nextAttempt) = (nil, .infinity)
        resynchronize(now)
    }

    /// The error number of a port that has failed since the last call.
    mutating func takeFault() -> Int32? {
        defer { fault = nil }
        return fault
    }

    /// The number of messages that were lost since the last call.
    mutating func takeLosses() -> Int { queue.takeLosses() }

    /// Stops the clock and ends all notes, at the next call of `advance`. The next song starts at its beginning.
    mutating func stopSong() {
        messages.removeAll(keepingCapacity: true)
        schedule.end(into: &messages)
        notes.end(into: &messages)
        for message in messages { queue.add(message) }
        nextAttempt = 0
    }

    /// Whether the port has accepted everything, or is gone.
    var isDrained: Bool { port == nil || queue.isEmpty }

    /// Closes the port.
    mutating func disconnect() {
        queue.removeAll()
        port = nil
    }

    private mutating func flush(_ now: Double) {
        guard let port else {
            nextAttempt = .infinity
            return queue.removeAll()
        }
        let wasStalled = queue.isStalled
        if let code = queue.flush(to: port) {
            queue.removeAll()
            (self.port, fault, nextAttempt) = (nil, code, .infinity)
            return
        }
        nextAttempt = queue.isStalled ? now + Self.attemptInterval : .infinity
        if wasStalled, !queue.isStalled { resynchronize(now) }
    }

    /// Sets the receiver's song position, if it has missed pulses, at the next call of `advance`.
    private mutating func resynchronize(_ now: Double) {
        guard queue.needsResynchronization else { return }
        queue.noteResynchronization()
        messages.removeAll(keepingCapacity: true)
        schedule.resynchronize(now: now, into: &messages)
        for message in messages { queue.add(message) }
        nextAttempt = 0
    }
}
