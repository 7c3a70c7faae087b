internal import HemiolaRecords
internal import NIOCore

/// What a client is as a page, and when it may get the next preset.
struct PageState {
    /// Minimum time between two changes of a page's preset, whatever their cause: cuts that follow each other faster are flashes, which
    /// can cause seizures (WCAG 2.3.1 allows three in a second).
    private static let presetInterval = TimeAmount.seconds(1)

    /// Whether the client has sent `ready`.
    var isReady = false
    /// Whether a window has connected for the page.
    var isInWindow = false
    /// When the next change of the preset may be sent.
    private(set) var nextPresetTime = NIODeadline.distantPast
    /// The last change of the preset that waits for this time.
    private var waitingPreset: ByteBuffer?

    /// What is done with a change of the preset.
    enum PresetStep {
        case send
        /// The change is sent at ``nextPresetTime``, unless another one or the page's own replaces it.
        case schedule
        /// It takes the place of one that is scheduled.
        case wait
    }

    mutating func step(to line: ByteBuffer, at now: NIODeadline) -> PresetStep {
        if now >= nextPresetTime {
            nextPresetTime = now + Self.presetInterval
            return .send
        }
        defer { waitingPreset = line }
        return waitingPreset == nil ? .schedule : .wait
    }

    /// Returns the change that waits, or is replaced by the page's own, which no longer does.
    mutating func takeWaitingPreset() -> ByteBuffer? {
        defer { waitingPreset = nil }
        return waitingPreset
    }
}
