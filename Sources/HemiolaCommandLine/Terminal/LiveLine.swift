internal import HemiolaSignal
internal import HemiolaSystem

/// One line for a terminal: `Monitor of HDMI  -18 dB ███████░░░░░  ▁▂▅▇▆▃▂▁  124 BPM ●○○○  lost 0.2 s`. The dots are the beats of the bar.
struct LiveLine: Sendable {
    var state = LiveState()
    /// The effect of the last key, shown instead of the bars; nil: none.
    var notice: String?

    /// The level at the left end of the meter, in dBFS.
    private static let lowestLevel: Float = -60
    private static let meterWidth = 12
    private static let shortestName = 8
    private static let fewestBars = 8
    private static let longestPreset = 24

    /// The line, at least one column shorter than the terminal.
    ///
    /// - Parameter now: The monotonic clock.
    func rendered(width: Int, style: TerminalStyle, at now: Double) -> String {
        let available = max(width - 1, 0)
        let name = state.name.onOneLine
        let beats = state.beats.dots(at: now, style).map { " \($0)" } ?? ""
        let tail = [
            state.tempo.map { "\(Int(clamping: $0.rounded())) BPM\(state.isTempoLocked ? " locked" : "")\(beats)" },
            state.preset.map { $0.onOneLine.shortened(to: Self.longestPreset, style) }, state.losses,
        ].compactMap { $0 }
        let level = state.level.map { "\(Self.decibels($0)) \(Self.meter($0, style))" }
        let levelWidth = level == nil ? 0 : 7 + 1 + Self.meterWidth
        let fixed = tail.reduce(0) { $0 + $1.columns + 2 } + (levelWidth > 0 ? levelWidth + 2 : 0)
        let free = available - fixed
        guard free >= Self.shortestName else {
            // Too narrow for all parts: the level alone, else the shortened name.
            if let level, levelWidth <= available { return level }
            return name.shortened(to: available, style)
        }
        let middleWidth = max(0, free - min(name.columns, max(Self.shortestName, free / 2)) - 2)
        let middle: String? =
            if middleWidth < Self.fewestBars {
                nil
            } else if let notice {
                Self.padded(notice.onOneLine.shortened(to: middleWidth, style), to: middleWidth)
            } else if !state.bars.isEmpty {
                Self.glyphs(state.bars, count: middleWidth, style)
            } else {
                nil
            }
        let nameWidth = middle == nil ? free : free - middleWidth - 2
        return ([name.shortened(to: nameWidth, style), level, middle].compactMap { $0 } + tail).joined(separator: "  ")
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.columns))
    }

    /// Seven columns: ` -18 dB`, and `-inf dB` for silence.
    private static func decibels(_ level: Float) -> String {
        let text = level.isFinite && level > -100 ? "\(Int(clamping: level.rounded()))" : "-inf"
        return String(repeating: " ", count: max(0, 4 - text.count)) + text + " dB"
    }

    private static func meter(_ level: Float, _ style: TerminalStyle) -> String {
        let part = level.isFinite ? min(max((level - lowestLevel) / -lowestLevel, 0), 1) : 0
        let full = Int((part * Float(meterWidth)).rounded())
        let done = String(repeating: style.usesUnicode ? "█" : "#", count: full)
        let rest = String(repeating: style.usesUnicode ? "░" : ".", count: meterWidth - full)
        guard style.colors > .none else { return done + rest }
        let color = level > -1 ? "31" : level > -9 ? "33" : "32"
        return "\u{1B}[\(color)m\(done)\u{1B}[0;2m\(rest)\u{1B}[0m"
    }

    /// Fills `count` columns. With more bars than columns, a column shows the highest of its bars; with fewer, a bar fills several
    /// columns.
    private static func glyphs(_ bars: [Float], count: Int, _ style: TerminalStyle) -> String {
        let steps = style.eighths
        return String(
            (0..<count).map { column in
                let first = column * bars.count / count
                let height = bars[first..<max(first + 1, (column + 1) * bars.count / count)].reduce(0) { max($0, $1.isFinite ? $1 : 0) }
                return steps[Int((min(max(height, 0), 1) * Float(steps.count - 1)).rounded())]
            })
    }
}

extension LiveState {
    /// Sound and batches that were lost; nil: none.
    var losses: String? {
        let texts = [lost > 0 ? "lost \(lost.rounded(toPlaces: 1)) s" : nil, dropped > 0 ? "dropped \(dropped)" : nil].compactMap { $0 }
        return texts.isEmpty ? nil : texts.joined(separator: "  ")
    }
}

extension BeatPulse {
    /// The beats of the bar as dots, of which the current one is filled, and bigger while it lights up: `○●○○`; nil: no beat yet.
    func dots(at now: Double, _ style: TerminalStyle) -> String? {
        guard last != nil else { return nil }
        let isLit = light(at: now) > 0
        let (current, other) = style.usesUnicode ? (isLit ? "●" : "•", "○") : (isLit ? "#" : "*", ".")
        guard let position, let count = beatsPerBar, position <= count, count <= 12 else { return isLit ? current : other }
        return (1...count).map { $0 == position ? current : other }.joined()
    }
}
