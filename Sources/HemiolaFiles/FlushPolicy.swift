/// The value of the setting `flush`: when written lines are handed to the operating system.
public enum FlushPolicy: String, CaseIterable, Sendable {
    /// After each line when live, else in blocks.
    case auto
    /// After each line.
    case line
    /// In blocks of 64 KiB.
    case block

    /// Whether each line is written at once.
    ///
    /// - Parameter isLive: Whether the run takes place in real time (`SinkTiming.isLive`).
    public func flushesEachLine(isLive: Bool) -> Bool {
        self == .line || self == .auto && isLive
    }
}
