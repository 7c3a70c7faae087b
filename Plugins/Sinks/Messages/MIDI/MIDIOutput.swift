internal import HemiolaMIDI

/// All that is sent to a port: the clock, and the queue of its messages, notes and values. Reads no clock itself. Only `advance` passes bytes
/// to the port.
struct MIDIOutput {
    /// Time between two attempts to send to a full port, in seconds.
    private static let attemptInterval = 0.02

    var schedule: ClockSchedule
    var queue = MessageQueue()
    /// nil: the port is gone, and messages are lost.
    private(set) var port: (any MIDIPort)?
    /// Why the port is gone, an error number; nil once it was taken.
    private var fault: Int32?
    private var nextAttempt = Double.infinity
    /// The memory for the messages of the schedule.
    private var messages: [MIDIMessage] = []

    init(_ schedule: ClockSchedule) {
        self.schedule = schedule
    }

    /// The time at which `advance` has something to do, in seconds of the monotonic clock; infinite: never.
    var next: Double { min(schedule.next, queue.next, nextAttempt) }

    /// Sends what is due.
    mutating func advance(to now: Double) {
        if queue.isStalled { send(now) }
        schedule.advance(to: now, into: &messages)
        addMessages()
        queue.advance(to: now)
        send(now)
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

    /// Stops the clock and ends all notes, at the next call of `advance`. The next song starts at its beginning.
    mutating func stopSong() {
        schedule.end(into: &messages)
        addMessages()
        queue.endNotes()
    }

    /// Whether the port has accepted everything, or is gone.
    var isDrained: Bool { port == nil || queue.isEmpty }

    /// Closes the port.
    mutating func disconnect() {
        queue.loseDue()
        port = nil
    }

    private mutating func send(_ now: Double) {
        if let port, let code = queue.send(to: port) { (self.port, fault) = (nil, code) }
        if port == nil { queue.loseDue() }
        nextAttempt = queue.isStalled ? now + Self.attemptInterval : .infinity
        if port != nil, !queue.isStalled { resynchronize(now) }
    }

    /// Sets the receiver's song position, if it has missed pulses, at the next call of `advance`.
    private mutating func resynchronize(_ now: Double) {
        guard queue.needsResynchronization else { return }
        queue.needsResynchronization = false
        schedule.resynchronize(now: now, into: &messages)
        addMessages()
    }

    private mutating func addMessages() {
        for message in messages { queue.add(message) }
        messages.removeAll(keepingCapacity: true)
    }
}
