internal import HemiolaSignal

/// A steady sequence of beats through the announced ones: a filter of second order for time and period. All times are in seconds.
///
/// The first beats are fitted by least squares (gains 2(2n − 1)/(n(n + 1)) and 6/(n(n + 1)) of the n-th beat); the gains stop at those
/// of a critically damped alpha-beta filter, so that a change of tempo is followed within ten beats.
public struct BeatGrid: Sendable {
    /// Gains of the steady filter, for the time and for the period of a beat. With 0.1, ±5 ms of jitter become ±1 ms.
    private static let (timeGain, periodGain) = (0.1, 0.1 * 0.1 / 1.9)
    /// Distance from the grid, in periods, and ratio of periods, above which a beat is not part of the grid.
    private static let (tolerance, tempoTolerance) = (0.25, 0.12)
    /// Successive beats beside the grid after which a new grid begins.
    private static let outlierLimit = 3
    /// Mean error, in seconds, above which the tempo has changed: the fit begins again with the gains of the fourth beat.
    private static let bias = 0.012
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

    /// A grid without beats.
    public init() {}

    /// The time of a beat, which may be a fraction.
    public func time(of beat: Double) -> Double { anchor + (beat - Double(index)) * period }

    /// Renumbers the beats: each gets a number that is larger by `count`.
    public mutating func renumber(by count: Int) { index += count }

    /// Forgets all beats; numbers continue.
    public mutating func reset() { (count, outliers, meanError) = (0, 0, 0) }

    /// Adds an announced beat.
    ///
    /// - Parameters:
    ///   - time: The time of the beat.
    ///   - announced: The period that is announced with it.
    public mutating func add(_ time: Double, period announced: Double) {
        guard count > 0 else { return begin(at: time, index: index + 1, period: announced) }
        let steps = ((time - anchor) / period).rounded()
        let error = time - anchor - steps * period
        let ratio = announced / period
        let isOutlier = abs(error) > Self.tolerance * period || ratio > 1 + Self.tempoTolerance || ratio * (1 + Self.tempoTolerance) < 1
        if isOutlier {
            outliers += 1
            if outliers >= Self.outlierLimit { begin(at: time, index: max(index + 1, index + Int(clamping: steps)), period: announced) }
            return
        }
        outliers = 0
        // The same beat once more.
        if steps < 1 { return }
        count += 1
        meanError += 0.3 * (error - meanError)
        if abs(meanError) > Self.bias, count > Self.countAfterChange + 1 { (count, meanError) = (Self.countAfterChange, 0) }
        let n = Double(count)
        anchor += steps * period + max(Self.timeGain, 2 * (2 * n - 1) / (n * (n + 1))) * error
        period += max(Self.periodGain, 6 / (n * (n + 1))) * error / steps
        index += Int(clamping: steps)
    }

    private mutating func begin(at time: Double, index: Int, period: Double) {
        (self.index, anchor, self.period, count, outliers, meanError) = (index, time, period, 1, 0, 0)
    }
}
