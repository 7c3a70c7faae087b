internal import HemiolaFiles

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

/// The messages that a port has not accepted yet: at most 64.
///
/// A pulse that waits would be late, and a late pulse moves the receiver's beat. While the port is full, pulses, beginning notes and values of
/// controllers are therefore lost; the ends of notes, and start and stop, wait.
struct MessageQueue {
    static let limit = 64

    private var waiting: [MIDIMessage] = []
    /// The bytes of `waiting`, and the number of them that the port has accepted.
    private var bytes: [UInt8] = []
    private var sent = 0
    /// Whether the port did not accept all bytes at the last attempt.
    private(set) var isStalled = false
    /// Messages lost since the last `takeLosses`.
    private var lost = 0
    /// Whether the receiver has lost messages that its song position depends on.
    private(set) var needsResynchronization = false

    init() {
        waiting.reserveCapacity(Self.limit)
        bytes.reserveCapacity(3 * Self.limit)
    }

    var isEmpty: Bool { waiting.isEmpty }
    /// The number of messages that were lost since the last call.
    mutating func takeLosses() -> Int {
        defer { lost = 0 }
        return lost
    }

    /// Adds a message, or counts it as lost.
    mutating func add(_ message: MIDIMessage) {
        let isLost = isStalled && (message == .clock || message.isNoteOn || message.isController) || waiting.count >= Self.limit
        guard !isLost else { return lose(message) }
        waiting.append(message)
        for index in 0..<message.count { bytes.append(message[index]) }
    }

    /// Counts notes that were lost before they reached the queue.
    mutating func lose(notes: Int) { lost += notes }

    private mutating func lose(_ message: MIDIMessage) {
        lost += 1
        if !message.isNoteOn, !message.isController { needsResynchronization = true }
    }

    /// Passes the waiting messages to a port.
    ///
    /// - Returns: The error number if the port has failed; else nil.
    mutating func flush(to port: any MIDIPort) -> Int32? {
        while sent < bytes.count {
            switch port.send(bytes.span.extracting(sent..<bytes.count)) {
            case .accepted(let count): sent += count
            case .full:
                removeSent()
                isStalled = true
                return nil
            case .failed(let code): return code
            }
        }
        waiting.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        (sent, isStalled) = (0, false)
        return nil
    }

    /// Removes the messages that the port has accepted in full; the rest of one that it accepted in part must follow.
    private mutating func removeSent() {
        var (messages, count) = (0, 0)
        while messages < waiting.count, count + waiting[messages].count <= sent {
            count += waiting[messages].count
            messages += 1
        }
        waiting.removeFirst(messages)
        bytes.removeFirst(count)
        sent -= count
    }

    /// The port is gone: what waits is lost.
    mutating func removeAll() {
        for message in waiting { lose(message) }
        waiting.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        (sent, isStalled) = (0, false)
    }

    /// The receiver's song position was set again.
    mutating func noteResynchronization() { needsResynchronization = false }
}
