#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A band's loudness measured by what it has been lately: 1 is normal, below 0.7 quiet, above 1.3 loud.
///
/// The loudness and a damped copy of it are divided by a slow average. The rates are MilkDrop's, the same in Butterchurn
/// and projectM: shares of the old value that an update at 30 a second keeps, rate^(30 / updates per second) at any other.
///
/// - Complexity: O(1) per update.
/// - Note: After `DoCustomSoundAnalysis` (MilkDrop 2, plugin.cpp) and `updateAudioLevels` (Butterchurn, audioLevels.js). The
///   first 50 updates are counted from 0, as in MilkDrop; Butterchurn's renderer counts its frames from 1.
struct RelativeLevel {
    /// What an update keeps of the old value.
    struct Rates {
        let rising: Double
        let falling: Double
        let longAtFirst: Double
        let long: Double

        init(framesPerSecond: Double) {
            func adjusted(_ rate: Double) -> Double { pow(rate, 30 / framesPerSecond) }
            rising = adjusted(0.2)
            falling = adjusted(0.5)
            longAtFirst = adjusted(0.9)
            long = adjusted(0.992)
        }
    }

    /// Updates whose slow average is a quick one.
    static let firstUpdates = 50
    /// Below this slow average there is nothing to measure by, and all is normal.
    private static let floor = 0.001

    /// The loudness, relative.
    private(set) var value = 1.0
    /// The damped loudness, relative.
    private(set) var damped = 1.0
    private var average: Double
    private var longAverage: Double

    init(average: Double) {
        self.average = average
        longAverage = average
    }

    /// Takes in the loudness of one update; one that is no number changes nothing.
    ///
    /// - Parameter isFirst: Whether the update is one of the first 50.
    mutating func update(_ loudness: Double, isFirst: Bool, _ rates: Rates) {
        guard loudness.isFinite else { return }
        let rate = loudness > average ? rates.rising : rates.falling
        average = average * rate + loudness * (1 - rate)
        let longRate = isFirst ? rates.longAtFirst : rates.long
        longAverage = longAverage * longRate + loudness * (1 - longRate)
        if longAverage < Self.floor {
            value = 1
            damped = 1
        } else {
            value = loudness / longAverage
            damped = average / longAverage
        }
    }
}
