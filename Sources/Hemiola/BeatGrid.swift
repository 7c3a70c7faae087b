internal import HemiolaSignal

/// A steady sequence of beats through the announced ones: a filter of second order for time and period. All times are in seconds.
///
/// The first beats are fitted by least squares (gains 2(2n − 1)/(n(n + 1)) and 6/(n(n + 1)) of the n-th beat); the gains stop at those
/// of a critically damped alpha-beta filter, so that a change of tempo is followed within ten beats. A single beat beside the grid moves it
/// little, because a passage without beats would keep the wrong tempo: an error counts as far as the one before it or the announced
/// tempo confirms it, and with the beat's confidence in relation to that of the beats before.
public struct BeatGrid: Sendable {
    /// Gains of the steady filter, for the time and for the period of a beat. With 0.1, ±5 ms of jitter become ±1 ms.
    private static let (timeGain, periodGain) = (0.1, 0.1 * 0.1 / 1.9)
    /// Distance from the grid, in periods, and ratio of periods, above which a beat is not part of the grid.
    private static let (tolerance, tempoTolerance) = (0.25, 0.12)
    /// Successive beats beside the grid after which a new grid begins.
    private static let outlierLimit = 3
    /// Mean error, in seconds, above which the tempo has changed if that is confirmed: the fit begins again with the gains of the fourth beat.
    private static let bias = 0.012
    /// The largest error, in seconds, of a beat after one on the grid.
    private static let singleError = 0.02
    /// The part of the newest beat in the mean error and in the mean confidence.
    private static let meanGain = 0.3
    private static let countAfterChange = 3

    /// The number of the last beat.
    public private(set) var index = 0
    /// The time of the last beat on the grid, in seconds.
    public private(set) var anchor = 0.0
    /// Seconds per beat.
    public private(set) var period = 0.5
    /// Seconds from now within which a beat can be announced. A recording may have any times, and the numbers of beats have to fit.
    public static let longestLead = 1e5

    /// Beats of the fit; 0: there is no grid.
    public private(set) var count = 0
    private var outliers = 0
    private var meanError = 0.0
    private var lastError = 0.0
    private var meanConfidence = 0.0

    /// A grid without beats.
    public init() {}

    /// The time of a beat, which may be a fraction.
    public func time(of beat: Double) -> Double { anchor + (beat - Double(index)) * period }

    /// Renumbers the beats: each gets a number that is larger by `count`.
    public mutating func renumber(by count: Int) { index += count }

    /// Forgets all beats; numbers continue.
    public mutating func reset() { (count, outliers, meanError, lastError) = (0, 0, 0, 0) }

    /// Adds an announced beat.
    ///
    /// - Parameters:
    ///   - time: The time of the beat.
    ///   - announced: The period that is announced with it.
    ///   - confidence: The probability that it is a beat, 0…1.
    public mutating func add(_ time: Double, period announced: Double, confidence: Double) {
        guard count > 0 else { return begin(at: time, index: index + 1, period: announced, confidence) }
        let steps = ((time - anchor) / period).rounded()
        let error = time - anchor - steps * period
        let ratio = announced / period
        let isOutlier = abs(error) > Self.tolerance * period || ratio > 1 + Self.tempoTolerance || ratio * (1 + Self.tempoTolerance) < 1
        if isOutlier {
            outliers += 1
            guard outliers >= Self.outlierLimit else { return }
            return begin(at: time, index: max(index + 1, index + Int(clamping: steps)), period: announced, confidence)
        }
        outliers = 0
        // The same beat once more.
        if steps < 1 { return }
        count += 1
        let weight = meanConfidence > 0 ? min(1, max(0, confidence / meanConfidence)) : 1
        meanConfidence += Self.meanGain * (confidence - meanConfidence)
        let sign: Double = error < 0 ? -1 : 1
        let confirmed = max(0, sign * lastError, sign * (announced - period))
        let limit = count > Self.countAfterChange + 1 ? Self.singleError + 2 * confirmed : .infinity
        let counted = weight * min(max(error, -limit), limit)
        meanError += Self.meanGain * (counted - meanError)
        if abs(meanError) > Self.bias, confirmed > Self.bias, count > Self.countAfterChange + 1 {
            (count, meanError) = (Self.countAfterChange, 0)
        }
        lastError = error
        let n = Double(count)
        anchor += steps * period + max(Self.timeGain, 2 * (2 * n - 1) / (n * (n + 1))) * counted
        period += max(Self.periodGain, 6 / (n * (n + 1))) * counted / steps
        index += Int(clamping: steps)
    }

    private mutating func begin(at time: Double, index: Int, period: Double, _ confidence: Double) {
        (self.index, anchor, self.period, count, outliers, meanError, lastError) = (index, time, period, 1, 0, 0, 0)
        meanConfidence = confidence
    }
}
