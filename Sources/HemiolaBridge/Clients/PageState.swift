internal import HemiolaRecords
internal import NIOCore

/// What a client is as a page: which presets it has, and when it may get the next one.
struct PageState {
    /// Minimum time between two changes of a page's preset, whatever their cause: cuts that follow each other faster are flashes, which
    /// can cause seizures (WCAG 2.3.1 allows three in a second).
    private static let presetInterval = TimeAmount.seconds(1)

    /// Whether the client has sent `ready`.
    var isReady = false
    /// Whether a window has connected for the page.
    var isInWindow = false
    /// The presets that the page has, as far as it has reported them; nil: not known. Hash values, because the names of a page can have a
    /// megabyte, and there can be many pages. Two names with the same one would cost a message to a page.
    private var presets: Set<Int>?
    /// When the next change of the preset may be sent.
    private(set) var nextPresetTime = NIODeadline.distantPast
    /// The last change of the preset that waits for this time.
    private var waitingPreset: ByteBuffer?

    /// Whether the page has a preset, as far as it is known.
    func has(_ preset: String) -> Bool { presets?.contains(preset.hashValue) != false }

    /// Keeps what a page reports of its presets.
    mutating func follow(_ control: Control) {
        switch control.type {
        case .ready: setPresets(control["presets"])
        case .presetNames: setPresets(control["names"])
        case .presetRefused: presets?.remove((control["name"].string ?? "").hashValue)
        case .presetHandler:
            // The page's own change is newer than one that waits.
            waitingPreset = nil
            if let name = control["name"].string, let count = presets?.count, count < ClientMessage.longestList {
                presets?.insert(name.hashValue)
            }
        default: break
        }
    }

    private mutating func setPresets(_ value: ParameterValue) {
        let names = value.items?.compactMap(\.string) ?? []
        presets = names.isEmpty ? nil : Set(names.map(\.hashValue))
    }

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

    /// Returns the change that waits, which no longer does.
    mutating func takeWaitingPreset() -> ByteBuffer? {
        defer { waitingPreset = nil }
        return waitingPreset
    }
}
