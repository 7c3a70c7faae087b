/// Notices that nothing is heard any more: for whoever listens to the wrong device.
struct SilenceWatch {
    /// Seconds of silence before it is told.
    static let patience = 5.0
    /// Magnitudes below are silence: -90 dB of full scale. A monitor of an output that plays nothing is exactly 0.
    private static let threshold: Float = 3.2e-5

    private(set) var seconds = 0.0
    private var isTold = false

    /// Hears the next samples by their largest magnitude.
    mutating func hear(peak: Float, seconds: Double) {
        if peak < Self.threshold {
            self.seconds += seconds
        } else {
            self = SilenceWatch()
        }
    }

    /// Whether it is to be told now: once per silence.
    mutating func takeAlarm() -> Bool {
        guard seconds >= Self.patience, !isTold else { return false }
        isTold = true
        return true
    }
}
