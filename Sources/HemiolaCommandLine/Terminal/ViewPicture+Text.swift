internal import HemiolaSignal
internal import HemiolaSystem

extension ViewPicture {
    /// Beats, tempo, key, chord, loudness, preset, losses and the source in one row, as far as they fit.
    func drawStatus(row: Int, on screen: inout Screen, _ now: Double) {
        if let notice {
            screen.put(notice.onOneLine.shortened(to: screen.columns - 2, style), row: row, column: 1, theme.accent)
            return
        }
        var column = 1
        func add(_ text: String?, _ color: ScreenColor, isBold: Bool = false) {
            guard let text, column + text.columns < screen.columns else { return }
            column = screen.put(text, row: row, column: column, color, isBold: isBold) + 2
        }
        let light = state.beats.light(at: now)
        add(state.beats.dots(at: now, style), light > 0 ? theme.beat : theme.dim, isBold: light > 0)
        add(tempoText, theme.text, isBold: true)
        add(state.key, theme.text)
        add(state.chord, theme.accent)
        add(levelText, theme.text)
        add(state.preset?.onOneLine, theme.dim)
        add(state.losses, theme.beat)
        let name = state.name.onOneLine
        let free = screen.columns - column - 1
        if free >= 8 {
            let text = name.shortened(to: free, style)
            screen.put(text, row: row, column: screen.columns - 1 - text.columns, theme.dim)
        }
    }

    private var tempoText: String? {
        state.tempo.map { "\(Int(clamping: $0.rounded())) BPM\(state.isTempoLocked ? " locked" : "")" }
    }

    private var levelText: String? {
        if let loudness = state.loudness { return "\(Self.number(loudness[0])) LUFS" }
        return state.level.map { "\(Self.number($0)) dB" }
    }

    static func number(_ value: Float) -> String {
        value.isFinite && value > -100 ? "\(Int(clamping: value.rounded()))" : "-inf"
    }

    private static let helpLines = [
        ("1 2 3 4", "bars, spectrogram, waveform, dashboard"), ("tab", "next layout"), ("m", "one channel or two"), ("t", "theme"),
        ("space", "tap a beat"), ("l", "lock or unlock the tempo"), ("r", "keep the octave of the tempo, or not"),
        ("h d", "half, double tempo"), ("arrows", "previous, next preset"),
        ("?", "close this help"), ("q", "quit"),
    ]

    func drawHelp(on screen: inout Screen) {
        let width = min(screen.columns, 52)
        let rows = min(screen.rows, Self.helpLines.count + 2)
        let (row, column) = ((screen.rows - rows) / 2, (screen.columns - width) / 2)
        for line in 0..<rows {
            for place in 0..<width { screen.set(" ", row: row + line, column: column + place, on: theme.background) }
        }
        drawFrame(ViewArea(row: row, column: column, rows: rows, columns: width), "keys", on: &screen)
        for (index, line) in Self.helpLines.prefix(max(0, rows - 2)).enumerated() {
            screen.put(line.0, row: row + 1 + index, column: column + 2, theme.accent, end: column + width - 1)
            screen.put(line.1, row: row + 1 + index, column: column + 11, theme.text, end: column + width - 1)
        }
    }

    func drawFrame(_ area: ViewArea, _ title: String, on screen: inout Screen) {
        let parts: [Character] = style.usesUnicode ? Array("╭╮╰╯─│") : Array("++++-|")
        let (bottom, right) = (area.row + area.rows - 1, area.column + area.columns - 1)
        func set(_ part: Int, _ row: Int, _ column: Int) {
            screen.set(parts[part].unicodeScalars.first!, row: row, column: column, theme.dim)
        }
        for column in area.column...max(area.column, right) {
            set(4, area.row, column)
            set(4, bottom, column)
        }
        for row in area.row...max(area.row, bottom) {
            set(5, row, area.column)
            set(5, row, right)
        }
        set(0, area.row, area.column)
        set(1, area.row, right)
        set(2, bottom, area.column)
        set(3, bottom, right)
        screen.put(" \(title) ", row: area.row, column: area.column + 2, theme.dim, end: right)
    }
}
