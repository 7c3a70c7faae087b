internal import Glibc

/// The level of a band relative to its long-term average: 1 is normal, below 0.7 quiet, above 1.3 loud.
///
/// The level and a smoothed copy of it are divided by the long-term average. The smoothing factors are those of MilkDrop,
/// Butterchurn and projectM: the part of the old value that remains after an update at 30 updates per second. At other rates it is
/// factor^(30 / updates per second).
///
/// - Complexity: O(1) per update.
/// - Note: After `DoCustomSoundAnalysis` (MilkDrop 2, plugin.cpp) and `updateAudioLevels` (Butterchurn, audioLevels.js). The
///   first 50 updates are counted from 0 as in MilkDrop. Butterchurn counts from 1.
struct RelativeLevel {
    /// Smoothing factors: the part of the old value that remains after an update.
    struct Rates {
        let rising: Double
        let falling: Double
        let longInitial: Double
        let long: Double

        init(framesPerSecond: Double) {
            func adjusted(_ rate: Double) -> Double { pow(rate, 30 / framesPerSecond) }
            rising = adjusted(0.2)
            falling = adjusted(0.5)
            longInitial = adjusted(0.9)
            long = adjusted(0.992)
        }
    }

    /// Number of updates at the start during which the long-term average follows faster, with batches of 44.1 or 48 kHz.
    static let initialUpdates = 50
    /// Below this long-term average the relative level is 1.
    private static let minimumAverage = 0.001

    /// The relative level.
    private(set) var value = 1.0
    /// The smoothed relative level.
    private(set) var smoothed = 1.0
    private var average: Double
    private var longAverage: Double

    init(average: Double) {
        self.average = average
        longAverage = average
    }

    /// Updates the averages with a level, a sum of weighted magnitudes. Infinite levels and NaN are ignored.
    ///
    /// - Parameter isInitial: Whether the update is one of the first 50.
    mutating func update(_ level: Double, isInitial: Bool, _ rates: Rates) {
        guard level.isFinite else { return }
        let rate = level > average ? rates.rising : rates.falling
        average = average * rate + level * (1 - rate)
        let longRate = isInitial ? rates.longInitial : rates.long
        longAverage = longAverage * longRate + level * (1 - longRate)
        if longAverage < Self.minimumAverage {
            value = 1
            smoothed = 1
        } else {
            value = level / longAverage
            smoothed = average / longAverage
        }
    }
}
