internal import HemiolaFiles

/// Notes that begin and end at a time, and values of controllers, at most 256 messages. Times are in seconds of the monotonic clock.
struct NoteQueue {
    private static let limit = 256

    /// In order of time.
    private var messages: [(time: Double, message: MIDIMessage)] = []

    init() { messages.reserveCapacity(Self.limit) }

    /// The time of the next message; infinite: there is none.
    var next: Double { messages.first?.time ?? .infinity }

    /// Adds a note.
    ///
    /// - Returns: Whether there was room.
    mutating func add(_ note: Int, channel: Int, velocity: Int, at time: Double, duration: Double) -> Bool {
        guard messages.count + 2 <= Self.limit else { return false }
        insert(.noteOn(note, channel: channel, velocity: velocity), at: time)
        insert(.noteOff(note, channel: channel), at: time + duration)
        return true
    }

    /// Adds one message: the beginning or the end of a note, or the value of a controller.
    ///
    /// - Returns: Whether there was room.
    mutating func add(_ message: MIDIMessage, at time: Double) -> Bool {
        guard messages.count < Self.limit else { return false }
        insert(message, at: time)
        return true
    }

    private mutating func insert(_ message: MIDIMessage, at time: Double) {
        let place = messages.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        messages.insert((time, message), at: place)
    }

    /// Appends the messages that are due.
    mutating func advance(to now: Double, into due: inout [MIDIMessage]) {
        var count = 0
        while count < messages.count, messages[count].time <= now {
            due.append(messages[count].message)
            count += 1
        }
        if count > 0 { messages.removeFirst(count) }
    }

    /// Appends the ends of the notes that sound, and forgets the others.
    mutating func end(into due: inout [MIDIMessage]) {
        var unsounded: [MIDIMessage] = []
        for (_, message) in messages where !message.isController {
            if message.isNoteOn {
                unsounded.append(message)
            } else if let place = unsounded.firstIndex(where: { $0[1] == message[1] }) {
                unsounded.remove(at: place)
            } else {
                due.append(message)
            }
        }
        messages.removeAll(keepingCapacity: true)
    }
}
