package import HemiolaRecords

/// A client as a page: whether it is ready, and which commands it gets, and when.
package struct PageState: Sendable {
    /// Nanoseconds between two changes of a page's preset, whatever their cause: cuts that follow each other faster are flashes, which can
    /// cause seizures (WCAG 2.3.1 allows three in a second).
    private static let presetInterval: UInt64 = 1_000_000_000

    /// What is done with a command.
    package enum Step: Equatable {
        case send
        /// It waits until this time, unless another one or the page's own change replaces it.
        case wait(until: UInt64)
        /// It is not for this page, or takes the place of one that waits.
        case none
    }

    /// The client in `control` records.
    package let origin: String
    /// Whether it has sent `ready`.
    package private(set) var isReady = false
    private let presets: PagePresets
    /// When the next change of the preset may be sent.
    private var nextPresetTime: UInt64 = 0
    /// The last change of the preset that waits for this time.
    private var waiting: PageCommand?

    /// A client that is not ready.
    package init(_ origin: String, _ presets: PagePresets) {
        self.origin = origin
        self.presets = presets
    }

    /// Follows a control of the client.
    package mutating func follow(_ control: Control) {
        presets.follow(control, of: origin)
        switch control.type {
        case .ready: isReady = true
        case .pageClosed: isReady = false
        // The page's own change is newer than one that waits.
        case .presetHandler: waiting = nil
        default: break
        }
    }

    /// - Parameter now: A monotonic clock in nanoseconds.
    package mutating func step(to command: PageCommand, at now: UInt64) -> Step {
        guard isReady, command.page == nil || command.page == origin, command.reporter != origin else { return .none }
        guard let preset = command.preset else { return .send }
        guard presets.has(preset, page: origin) else { return .none }
        if now >= nextPresetTime {
            nextPresetTime = now + Self.presetInterval
            return .send
        }
        defer { waiting = command }
        return waiting == nil ? .wait(until: nextPresetTime) : .none
    }

    /// Returns the command that waits, which no longer does.
    package mutating func takeWaiting() -> PageCommand? {
        defer { waiting = nil }
        return waiting
    }
}
