/// Audio that was lost: the stream's time advances by its frames, which are not analysed.
public struct Gap: Sendable, Hashable {
    /// The cause of the loss.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The device went away.
        case deviceLost = "device-lost"
        /// The sound server went away.
        case serverLost = "server-lost"
        /// The sound server stopped sending.
        case frozen
        /// Hemiola itself did not run: it was stopped (Ctrl-Z), the machine was suspended, or other programs kept the processor busy.
        case stopped
        /// The server suspended the source.
        case suspended
        /// The program did not read in time.
        case overrun
        /// The file holds less than its header states. A gap of zero frames when only part of a frame is missing.
        case truncatedFile = "truncated-file"
        /// Parts of the file are damaged or missing. A gap of zero frames when their length is not known.
        case damagedFile = "damaged-file"
        /// The file holds more than its header states, and all of it was read. A gap of zero frames.
        case falseLength = "false-length"

        /// Whether the input itself is not whole, as opposed to a live source.
        public var isOfFile: Bool {
            switch self {
            case .truncatedFile, .damagedFile, .falseLength: true
            case .deviceLost, .serverLost, .frozen, .stopped, .suspended, .overrun: false
            }
        }
    }

    /// Lost frames, 0….
    public var frames: Int64
    /// The cause.
    public var reason: Reason

    /// A loss of so many frames.
    public init(frames: Int64, reason: Reason) {
        self.frames = frames
        self.reason = reason
    }
}
