/// Audio that was lost: the clock moves on by its frames, and nothing is heard of them.
public struct Gap: Sendable, Hashable {
    /// How audio comes to be lost.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The device went away.
        case deviceLost = "device-lost"
        /// The sound server went away.
        case serverLost = "server-lost"
        /// The sound server stood still.
        case frozen
        /// Hemiola itself stood still: it was stopped (Ctrl-Z), or the machine slept.
        case stopped
        /// The server put the source to sleep.
        case suspended
        /// The program did not read in time.
        case overrun
        /// The file promised more than it holds. A gap of zero frames when only part of a frame is missing.
        case truncatedFile = "truncated-file"
        /// Parts of the file are damaged or missing. A gap of zero frames when their length is not known.
        case damagedFile = "damaged-file"
        /// The file holds more than its header states, and all of it was read. A gap of zero frames.
        case falseLength = "false-length"

        /// Whether the input itself is not whole, as against a live source that was not followed.
        public var isOfFile: Bool {
            switch self {
            case .truncatedFile, .damagedFile, .falseLength: true
            case .deviceLost, .serverLost, .frozen, .stopped, .suspended, .overrun: false
            }
        }
    }

    /// Lost frames, 0….
    public var frames: Int64
    /// How it was lost.
    public var reason: Reason

    /// A loss of so many frames.
    public init(frames: Int64, reason: Reason) {
        self.frames = frames
        self.reason = reason
    }
}
