/// A steady beat: time and period at a finer resolution than frames.
struct SteadyBeat: Sendable {
    /// The steady beat and the decoder agree on a beat within this, in seconds, and on the period within this ratio.
    private static let timeTolerance = 0.04
    private static let periodTolerance = 0.06
    /// Least gains of the filter, for time and period, which a line through twelve beats has.
    private static let timeGain = 0.3
    private static let periodGain = 0.04
    /// An activation below this gives no time.
    private static let minimumActivation = 0.25

    /// The time of the last beat and the period, in seconds, and the number of beats.
    private var time = 0.0
    private var period = 0.0
    private var count = 0

    /// Discards the beats.
    mutating func reset() {
        count = 0
    }

    /// Processes a beat with an alpha-beta filter. Its gains are first those of a least-squares line through all beats, with the period
    /// of the decoder as one more observation, and then constant, so that older beats decay exponentially.
    mutating func add(_ peak: Double, activation: Double, estimate: Double, period decodedPeriod: Double) {
        let expected = time + period
        let beats = ((peak - time) / max(period, 0.1)).rounded()
        guard count > 0, beats == 1, abs(expected - estimate) < Self.timeTolerance,
            abs(period / decodedPeriod - 1) < Self.periodTolerance
        else {
            (time, period, count) = (peak, decodedPeriod, 1)
            return
        }
        let error = activation > Self.minimumActivation ? max(-0.03, min(0.03, peak - expected)) : 0
        let points = Double(count + 2)
        time = expected + max(Self.timeGain, 2 * (2 * points - 1) / (points * (points + 1))) * error
        period += max(Self.periodGain, 6 / (points * (points + 1))) * error
        count += 1
    }

    /// Replaces the estimate of the decoder by that of the steady beat, which is not quantized to frames, if they are consistent.
    func refine(next: Double, period decodedPeriod: Double) -> (next: Double, period: Double) {
        guard count >= 2, abs(period / decodedPeriod - 1) < Self.periodTolerance else { return (next, decodedPeriod) }
        let steady = time + ((next - time) / period).rounded() * period
        return abs(steady - next) < Self.timeTolerance ? (steady, period) : (next, decodedPeriod)
    }
}
