/// Audio that was lost: the clock moves on by its frames, and nothing is heard of them.
public struct Gap: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        case deviceLost = "device-lost"
        case serverLost = "server-lost"
        case frozen
        case overrun
        /// The file promised more than it holds. A gap of zero frames when only part of a frame is missing.
        case truncatedFile = "truncated-file"
    }

    /// Lost frames, 0….
    public var frames: Int64
    public var reason: Reason

    public init(frames: Int64, reason: Reason) {
        self.frames = frames
        self.reason = reason
    }
}
