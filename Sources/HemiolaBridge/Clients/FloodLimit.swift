internal import NIOCore

/// The number of messages and bytes that a client may send within a second. All clients share one event loop, which serves the others between
/// two messages: one of 1 MiB takes it 4 to 18 ms.
struct FloodLimit {
    static let messages = 4000
    static let bytes = 64 << 20

    private var end: NIODeadline
    private var messages = 0
    private var bytes = 0

    /// - Parameter end: When the current second ends.
    init(end: NIODeadline = .distantPast) {
        self.end = end
    }

    /// Counts a message.
    ///
    /// - Returns: Whether the client has sent too much since the current second began.
    mutating func isExceeded(byBytes count: Int, at now: NIODeadline) -> Bool {
        if now >= end { self = FloodLimit(end: now + .seconds(1)) }
        messages += 1
        bytes += count
        return messages > Self.messages || bytes > Self.bytes
    }
}
