internal import HemiolaSignal

extension ControlType {
    /// The user taps on a beat.
    static let tap = ControlType("tap", "Marks a beat now; a few taps in a row set the tempo.")
    /// Keeps a tempo, or follows the music again.
    static let lockTempo = ControlType(
        "lockTempo", "Keeps a tempo; without one, follows the music again.",
        fields: [
            .number(
                "bpm", unit: .beatsPerMinute, nullable: true, minimum: 0, default: ParameterValue.none,
                "The tempo; null: the tempo is not locked.")
        ])
    /// Halves the tempo.
    static let halveTempo = ControlType("halveTempo", "Halves the tempo.")
    /// Doubles the tempo.
    static let doubleTempo = ControlType("doubleTempo", "Doubles the tempo.")
    /// Marks the nearest beat as the first of its bar.
    static let setDownbeat = ControlType("setDownbeat", "Marks the nearest beat as the first of its bar.")
    /// Moves all further beats by `ms`.
    static let nudge = ControlType(
        "nudge", "Moves all further beats: later for positive values, earlier for negative ones.",
        fields: [
            .number(
                "ms", unit: .milliseconds, in: -200...200,
                "The change in milliseconds. Changes add up; the sum is limited to ±200 ms. resetTempo sets it to 0.")
        ])
    /// Starts beat tracking anew.
    static let resetTempo = ControlType("resetTempo", "Discards the tempo and starts beat tracking anew.")
}
