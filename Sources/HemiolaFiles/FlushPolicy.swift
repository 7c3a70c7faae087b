public import Hemiola

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

extension SettingReader {
    /// The setting `flush`, default `auto`.
    ///
    /// - Parameter line: The sink's word for a line, in the singular: `line`, `row`.
    public mutating func flushPolicy(each line: String) -> FlushPolicy {
        choice(
            "flush", default: FlushPolicy.auto,
            "Write after each \(line) (line) or in blocks of 64 KiB (block); auto: line when live, else block.")
    }
}
