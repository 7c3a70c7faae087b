internal import HemiolaRecords

/// The state of the visualizer, as far as it is known; nil: unknown.
struct VisualizerState: Sendable, Hashable {
    /// The name of the current preset.
    var preset: String?
    /// 0.1…1.0.
    var speed: Double?
    /// Whether presets change automatically.
    var isCycling: Bool?
    /// Seconds until the next scheduled preset change.
    var nextIn: Double?

    /// Applies the changes of a batch.
    mutating func apply(_ change: VisualizerChange) {
        if let preset = change.preset { self.preset = preset }
        if let speed = change.speed { self.speed = speed }
        if let isCycling = change.isCycling { self.isCycling = isCycling }
    }
}

/// The changes that a batch makes to the visualizer's state; nil: unchanged.
struct VisualizerChange: Sendable, Hashable {
    var preset: String?
    /// Stream time of the next scheduled preset change, in seconds. Valid together with `preset`.
    var nextPresetTime: Double?
    var speed: Double?
    /// Whether presets change automatically, as the last automatic change or toggle says; `.some(nil)`: unknown after a toggle.
    var isCycling: Bool??
    /// Whether the preset or the cycle was locked or unlocked: the time of the next change is then unknown.
    var clearsNextPresetTime = false
    /// The last beat.
    var beat: TempoReport?
    /// The last state of the capture device.
    var device: DeviceEvent?
}

/// A tempo, and the stream time of the beat that had it.
struct TempoReport: Sendable, Hashable {
    var beatsPerMinute: Double
    var time: Double
}

extension JSONBuffer {
    /// The members `preset`, `speed`, `cycling` and `next_in_s`, separated by commas. Unknown values are null.
    mutating func appendMembers(of state: VisualizerState) {
        append(#""preset":"#)
        appendText(state.preset)
        append(#","speed":"#)
        append(significant: state.speed ?? .nan)
        append(#","cycling":"#)
        append(state.isCycling.map { $0 ? "true" : "false" } ?? "null")
        append(#","next_in_s":"#)
        append(fixed: state.nextIn ?? .nan, decimals: 6)
    }

    /// A string, or null.
    mutating func appendText(_ text: String?) {
        if let text { append(string: text) } else { append("null") }
    }
}
