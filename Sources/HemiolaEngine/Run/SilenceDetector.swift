/// Detects long silence, which points to the wrong device.
struct SilenceDetector {
    /// Seconds of silence before it is reported.
    static let reportSeconds = 5.0
    /// Magnitudes below are silence: -90 dB of full scale. A monitor of an output that plays nothing is exactly 0.
    private static let threshold: Float = 3.2e-5

    private(set) var seconds = 0.0
    private var isReported = false

    /// Adds samples by their largest magnitude.
    mutating func add(peak: Float, seconds: Double) {
        if peak < Self.threshold {
            self.seconds += seconds
        } else {
            self = SilenceDetector()
        }
    }

    /// Whether it is to be reported now: once per silence.
    mutating func takeAlarm() -> Bool {
        guard seconds >= Self.reportSeconds, !isReported else { return false }
        isReported = true
        return true
    }
}
