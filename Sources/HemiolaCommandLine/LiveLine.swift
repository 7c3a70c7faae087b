/// The line that `hemiola listen` shows on a terminal: `Monitor of HDMI  -18 dB ███████░░░░░  ▁▂▅▇▆▃▂▁  124 BPM  lost 0.2 s`.
struct LiveLine: Sendable, Hashable {
    /// What is heard, as people call it.
    var name: String
    /// The level in dBFS; nil when nobody measures it.
    var level: Float?
    /// Heights of the bars, 0…1.
    var bars: [Float] = []
    /// Beats a minute; nil while unknown.
    var tempo: Float?
    /// Seconds of sound that were lost.
    var lost = 0.0
    /// Batches that came too late for a sink.
    var dropped: Int64 = 0

    /// The level at which the meter begins.
    private static let floor: Float = -60
    private static let meterWidth = 12
    private static let shortestName = 8
    private static let fewestBars = 8

    /// The line, at most one column less than the terminal has.
    func rendered(width: Int, style: ProgressLine.Style) -> String {
        let room = max(width - 1, 0)
        let name = name.onOneLine
        let tail = [
            tempo.map { "\(Int($0.rounded())) BPM" }, lost > 0 ? "lost \(lost.rounded(toPlaces: 1)) s" : nil,
            dropped > 0 ? "dropped \(dropped)" : nil,
        ].compactMap { $0 }
        let level = level.map { "\(Self.decibels($0)) \(Self.meter($0, style))" }
        let levelWidth = self.level == nil ? 0 : 7 + 1 + Self.meterWidth
        let fixed = tail.reduce(0) { $0 + $1.count + 2 } + (levelWidth > 0 ? levelWidth + 2 : 0)
        let free = room - fixed
        guard free >= Self.shortestName else {
            // Too narrow for all of it: the level alone, else what fits of the name.
            if let level, levelWidth <= room { return level }
            return name.shortened(to: room, style)
        }
        let barCount = min(bars.count, max(0, free - min(name.columns, max(Self.shortestName, free / 2)) - 2))
        let shown = barCount >= Self.fewestBars ? Self.glyphs(bars, count: barCount, style) : nil
        let nameRoom = shown == nil ? free : free - barCount - 2
        return ([name.shortened(to: nameRoom, style), level, shown].compactMap { $0 } + tail).joined(separator: "  ")
    }

    /// Seven columns: ` -18 dB`, and `-inf dB` for silence.
    private static func decibels(_ level: Float) -> String {
        let text = level.isFinite && level > -100 ? "\(Int(level.rounded()))" : "-inf"
        return String(repeating: " ", count: max(0, 4 - text.count)) + text + " dB"
    }

    private static func meter(_ level: Float, _ style: ProgressLine.Style) -> String {
        let part = level.isFinite ? min(max((level - floor) / -floor, 0), 1) : 0
        let full = Int((part * Float(meterWidth)).rounded())
        let done = String(repeating: style.usesUnicode ? "█" : "#", count: full)
        let rest = String(repeating: style.usesUnicode ? "░" : ".", count: meterWidth - full)
        guard style.usesColor else { return done + rest }
        let color = level > -1 ? "31" : level > -9 ? "33" : "32"
        return "\u{1B}[\(color)m\(done)\u{1B}[0;2m\(rest)\u{1B}[0m"
    }

    /// As many as there is room for: neighbours share a column, the highest one shows.
    private static func glyphs(_ bars: [Float], count: Int, _ style: ProgressLine.Style) -> String {
        let steps = Array(style.usesUnicode ? " ▁▂▃▄▅▆▇█" : " .:-=+*%#")
        return String(
            (0..<count).map { column in
                let range = column * bars.count / count..<(column + 1) * bars.count / count
                let height = bars[range].reduce(0) { max($0, $1.isFinite ? $1 : 0) }
                return steps[Int((min(height, 1) * Float(steps.count - 1)).rounded())]
            })
    }
}
