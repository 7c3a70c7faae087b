/// Changes the tab after a number of bars of the music.
public struct TabCycle: Sendable, Hashable {
    /// Beats per bar while no beat has a position in its bar.
    private static let defaultBarLength = 4
    /// Maximum seconds from the report of a beat to its time.
    private static let longestDelay = 2.0

    /// The number of bars on a tab.
    public let bars: Int
    private var barCount = 0
    private var beatCount = 0
    private var hasPositions = false

    /// - Parameter bars: At least 1.
    public init(bars: Int) {
        self.bars = max(1, bars)
    }

    /// Counts a beat.
    ///
    /// - Parameters:
    ///   - position: The beat's position in its bar, from 1; nil: unknown.
    ///   - dueIn: Seconds until the time of the beat; negative: its time is over.
    /// - Returns: Seconds, 0 or more, after which the next tab is to be shown; nil: the tab stays.
    public mutating func add(position: Int?, dueIn: Double) -> Double? {
        if position != nil { hasPositions = true }
        beatCount += 1
        if hasPositions ? position == 1 : beatCount % Self.defaultBarLength == 0 { barCount += 1 }
        guard barCount >= bars else { return nil }
        restart()
        return min(max(0, dueIn), Self.longestDelay)
    }

    /// Begins to count again, because the user or a request has changed the tab.
    public mutating func restart() {
        (barCount, beatCount) = (0, 0)
    }
}
