/// Detects long silence: before the first sound it points to the wrong device, later to a source that has failed. A pause is neither.
final class SilenceDetector {
    /// Seconds of silence before it is reported: before the first sound, and after it.
    static let reportSeconds = (first: 5.0, later: 600.0)
    /// Deviations below are silence: -90 dB of full scale. A monitor of an output that plays nothing is exactly 0.
    private static let threshold: Float = 3.2e-5

    /// A report to the user.
    enum Report: Equatable {
        /// It has been silent for so many seconds.
        case silence(Double)
        /// The silence has ended after so many seconds.
        case sound(Double)
    }

    private var seconds = 0.0
    private var hasHeardSound = false
    private var isReported = false
    /// The end of a reported silence, which was not taken.
    private var ended: Double?

    /// Adds samples.
    ///
    /// - Parameters:
    ///   - range: Half of the distance between the largest and the smallest sample: the largest magnitude without an offset.
    ///   - seconds: Their duration.
    func add(range: Float, seconds: Double) {
        if range < Self.threshold {
            self.seconds += seconds
        } else {
            if isReported { ended = self.seconds }
            self.seconds = 0
            hasHeardSound = true
            isReported = false
        }
    }

    /// What is to be reported now: the beginning and the end of a long silence, once.
    func takeReport() -> Report? {
        if let ended = ended.take() { return .sound(ended) }
        guard !isReported, seconds >= (hasHeardSound ? Self.reportSeconds.later : Self.reportSeconds.first) else { return nil }
        isReported = true
        return .silence(seconds)
    }
}
