internal import HemiolaSystem

extension LiveState {
    private static let meterWidth = 12
    private static let shortestName = 8
    private static let fewestBars = 8
    private static let longestPreset = 24

    /// One line for a terminal: `Monitor of HDMI  -18 dB ███████░░░░░  ▁▂▅▇▆▃▂▁  124 BPM ●○○○  lost 0.2 s`. The dots are the beats of the bar.
    ///
    /// - Parameters:
    ///   - width: The columns of the terminal, of which the last one stays free.
    ///   - now: The monotonic clock.
    func line(width: Int, style: TerminalStyle, at now: Double) -> String {
        let available = max(width - 1, 0)
        let name = name.onOneLine
        let dots = beats.dots(at: now, style).map { " \($0)" } ?? ""
        let tail = [tempoText.map { $0 + dots }, preset?.onOneLine.shortened(to: Self.longestPreset, style), losses].compactMap { $0 }
        let meter = level.map { Self.meter($0, style) }
        let meterColumns = meter == nil ? 0 : 7 + 1 + Self.meterWidth
        let fixed = tail.reduce(0) { $0 + $1.columns + 2 } + (meter == nil ? 0 : meterColumns + 2)
        let free = available - fixed
        guard free >= Self.shortestName else {
            // Too narrow for all parts: the level alone, else the shortened name.
            if let meter, meterColumns <= available { return meter }
            return name.shortened(to: available, style)
        }
        let middleColumns = max(0, free - min(name.columns, max(Self.shortestName, free / 2)) - 2)
        // The effect of a key is shown instead of the bars.
        var middle: String?
        if middleColumns >= Self.fewestBars {
            middle = notice(at: now).map { $0.onOneLine.shortened(to: middleColumns, style) } ?? glyphs(middleColumns, style)
        }
        let nameColumns = middle == nil ? free : free - middleColumns - 2
        let parts = [name.shortened(to: nameColumns, style), meter, middle?.padded(to: middleColumns)]
        return (parts.compactMap { $0 } + tail).joined(separator: "  ")
    }

    /// 20 columns: ` -18 dB`, and `-inf dB` for silence, and a bar.
    private static func meter(_ level: Float, _ style: TerminalStyle) -> String {
        let text = String(repeating: " ", count: max(0, 4 - level.levelText.count)) + level.levelText
        let full = Int((level.meterPart * Float(meterWidth)).rounded())
        let color = level > -1 ? 31 : level > -9 ? 33 : 32
        return "\(text) dB \(style.bar(full, of: meterWidth, color: color, rest: "0;2"))"
    }

    /// Fills `count` columns; nil: there are no bars. With more bars than columns, a column shows the highest of its bars; with fewer, a bar
    /// fills several columns.
    private func glyphs(_ count: Int, _ style: TerminalStyle) -> String? {
        if bars.isEmpty { return nil }
        let steps = style.eighths
        return (0..<count).reduce(into: "") { text, column in
            let first = column * bars.count / count
            let height = bars[first..<max(first + 1, (column + 1) * bars.count / count)].reduce(0) { max($0, $1.isFinite ? $1 : 0) }
            text.unicodeScalars.append(steps[Int((height.clamped(to: 0...1) * Float(steps.count - 1)).rounded())])
        }
    }
}
