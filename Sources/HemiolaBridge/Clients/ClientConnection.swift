internal import NIOCore

/// The connection to one client, independent of its framing. Used only on the event loop.
protocol ClientConnection: AnyObject {
    /// Whether the next write is sent at once.
    var isWritable: Bool { get }
    /// Whether the framing has binary messages.
    var acceptsBinaryMessages: Bool { get }
    /// The number of the user at the other end of a Unix socket; nil: the client is a page of a browser.
    var user: UInt32? { get }
    /// Writes a message. A text includes its newline.
    func write(_ message: ByteBuffer, _ kind: MessageKind)
    func flush()
    /// Closes after everything that was written has been sent, or after half a second. What the client sends meanwhile is discarded.
    func finish(_ end: ConnectionEnd)
    /// Closes at once.
    func abort()
}

/// Whether a message to a client is text or binary. The payload `binary` has binary messages; everything else is text.
enum MessageKind: Sendable {
    case text, binary
}

/// Why a connection is closed.
enum ConnectionEnd: Sendable {
    /// The client, the sink or the run has ended.
    case ended
    /// The client costs more than it may.
    case limit
}
