internal import HemiolaMIDI

/// The result of passing bytes to a port.
enum PortResult: Equatable {
    /// So many bytes were accepted, at least one.
    case accepted(Int)
    /// None was accepted, because the receiver has not read earlier ones.
    case full
    /// The port cannot be used any more, with this error number.
    case failed(Int32)
}

/// A destination of MIDI messages. Closed when it is deallocated.
protocol MIDIPort: AnyObject {
    /// Passes bytes to the receiver. Never waits.
    func send(_ bytes: Span<UInt8>) -> PortResult
}

/// The messages that wait for their time, and for a port that is full. Times are in seconds of the monotonic clock.
///
/// A pulse that waits for the port would be late, and a late pulse moves the receiver's beat. While messages wait for the port, pulses,
/// beginning notes and values of controllers are therefore lost when they are due; the ends of notes, and start and stop, wait too.
struct MessageQueue {
    /// Notes and values of controllers that wait at most, and further room for the messages of the clock.
    static let limit = 256
    private static let clockRoom = 64

    /// First those that are due, in the order in which they are sent, then the others in order of time.
    private var messages: [(time: Double, message: MIDIMessage)] = []
    private var dueCount = 0
    /// The bytes of the messages that are due, and the number of them that the port has accepted.
    private var bytes: [UInt8] = []
    private var sent = 0
    /// Messages lost since the last `takeLosses`.
    private var lost = 0
    /// Whether the receiver has lost messages that its song position depends on.
    var needsResynchronization = false

    init() {
        messages.reserveCapacity(Self.limit + Self.clockRoom)
        bytes.reserveCapacity(3 * (Self.limit + Self.clockRoom))
    }

    var isEmpty: Bool { messages.isEmpty }
    /// Whether messages wait for the port.
    var isStalled: Bool { dueCount > 0 }
    /// The time at which the next message is due; infinite: there is none.
    var next: Double { dueCount < messages.count ? messages[dueCount].time : .infinity }

    /// The number of messages that were lost since the last call.
    mutating func takeLosses() -> Int {
        defer { lost = 0 }
        return lost
    }

    /// Adds a message, or counts it as lost if too many wait.
    ///
    /// - Parameter time: When it is due; negative infinity: at once, before all others that do not wait for the port.
    mutating func add(_ message: MIDIMessage, at time: Double = -.infinity) {
        guard messages.count < Self.limit + (message.isOfClock ? Self.clockRoom : 0) else { return lose(message) }
        let place = messages.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        messages.insert((time, message), at: max(place, dueCount))
    }

    /// Adds the beginning and the end of a note, or counts the note as lost.
    mutating func addNote(_ note: Int, channel: Int, velocity: Int, at time: Double, duration: Double) {
        let beginning = MIDIMessage.noteOn(note, channel: channel, velocity: velocity)
        guard messages.count + 2 <= Self.limit else { return lose(beginning) }
        add(beginning, at: time)
        add(.noteOff(note, channel: channel), at: time + duration)
    }

    /// Ends the notes that sound at once, and forgets the notes and values whose time has not come.
    mutating func endNotes() {
        var unsounded: [MIDIMessage] = []
        let later = messages[dueCount...]
        messages.removeSubrange(dueCount...)
        for (_, message) in later where !message.isController {
            if message.isNoteOn {
                unsounded.append(message)
            } else if message.isNoteOff, let place = unsounded.firstIndex(where: { $0[1] == message[1] }) {
                unsounded.remove(at: place)
            } else {
                messages.append((-.infinity, message))
            }
        }
    }

    /// Notes which messages are due. While others wait for the port, those that would be late are lost.
    mutating func advance(to now: Double) {
        let isStalled = isStalled
        while next <= now {
            let message = messages[dueCount].message
            if isStalled, message == .clock || message.isNoteOn || message.isController {
                messages.remove(at: dueCount)
                lose(message)
            } else {
                dueCount += 1
            }
        }
    }

    /// Passes the messages that are due to a port.
    ///
    /// - Returns: The error number if the port has failed; else nil.
    mutating func send(to port: any MIDIPort) -> Int32? {
        bytes.removeAll(keepingCapacity: true)
        for (_, message) in messages[..<dueCount] { for index in 0..<message.count { bytes.append(message[index]) } }
        loop: while sent < bytes.count {
            switch port.send(bytes.span.extracting(sent..<bytes.count)) {
            case .accepted(let count): sent += count
            case .full: break loop
            case .failed(let code): return code
            }
        }
        // The rest of a message that the port has accepted in part must follow.
        while dueCount > 0, messages[0].message.count <= sent {
            sent -= messages.removeFirst().message.count
            dueCount -= 1
        }
        return nil
    }

    /// The port is gone: what is due is lost.
    mutating func loseDue() {
        for (_, message) in messages[..<dueCount] { lose(message) }
        messages.removeFirst(dueCount)
        (dueCount, sent) = (0, 0)
    }

    private mutating func lose(_ message: MIDIMessage) {
        lost += 1
        if message.isOfClock { needsResynchronization = true }
    }
}

extension MIDIMessage {
    /// Whether it is a pulse, start, stop, continue or song position.
    fileprivate var isOfClock: Bool { status >= 0xF0 }
}
