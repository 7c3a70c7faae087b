internal import HemiolaSystem

extension ViewPicture {
    /// Beats, tempo, key, chord, loudness, preset, losses and the source in one row, as far as they fit.
    func drawStatus(row: Int, on screen: inout Screen, _ now: Double) {
        if let notice = state.notice(at: now) {
            screen.put(notice.onOneLine.shortened(to: screen.columns - 2, style), row: row, column: 1, theme.accent)
            return
        }
        var column = 1
        func add(_ text: String?, _ color: ScreenColor, isBold: Bool = false) {
            guard let text, column + text.columns < screen.columns else { return }
            column = screen.put(text, row: row, column: column, color, isBold: isBold) + 2
        }
        let isLit = state.beats.light(at: now) > 0
        add(state.beats.dots(at: now, style), isLit ? theme.beat : theme.dim, isBold: isLit)
        add(state.tempoText, theme.text, isBold: true)
        add(state.key, theme.text)
        add(state.chord, theme.accent)
        add(state.loudness.map { "\($0[0].levelText) LUFS" } ?? state.level.map { "\($0.levelText) dB" }, theme.text)
        add(state.preset?.onOneLine, theme.dim)
        add(state.losses, theme.beat)
        let free = screen.columns - column - 1
        if free >= 8 {
            let name = state.name.onOneLine.shortened(to: free, style)
            screen.put(name, row: row, column: screen.columns - 1 - name.columns, theme.dim)
        }
    }

    private static let helpLines = [
        ("1 2 3 4", "bars, spectrogram, waveform, dashboard"), ("tab", "next layout"), ("m", "one channel or two"), ("t", "theme"),
        ("space", "tap a beat"), ("l", "lock or unlock the tempo"), ("r", "keep the octave of the tempo, or not"),
        ("h d", "half, double tempo"), ("arrows", "previous, next preset"),
        ("?", "close this help"), ("q", "quit"),
    ]

    func drawHelp(on screen: inout Screen) {
        let (rows, columns) = (min(screen.rows, Self.helpLines.count + 2), min(screen.columns, 52))
        let area = ViewArea(row: (screen.rows - rows) / 2, column: (screen.columns - columns) / 2, rows: rows, columns: columns)
        for row in 0..<rows {
            for column in 0..<columns { screen.set(" ", row: area.row + row, column: area.column + column, on: theme.background) }
        }
        let inner = drawFrame(area, "keys", on: &screen)
        for (index, (keys, text)) in Self.helpLines.prefix(max(0, inner.rows)).enumerated() {
            screen.put(keys, row: inner.row + index, column: inner.column + 1, theme.accent, end: inner.end)
            screen.put(text, row: inner.row + index, column: inner.column + 10, theme.text, end: inner.end)
        }
    }

    /// - Returns: The area in the frame.
    func drawFrame(_ area: ViewArea, _ title: String, on screen: inout Screen) -> ViewArea {
        let parts = Array(style.usesUnicode ? "╭╮╰╯─│" : "++++-|").map(String.init)
        let inner = ViewArea(row: area.row + 1, column: area.column + 1, rows: area.rows - 2, columns: area.columns - 2)
        let line = String(repeating: parts[4], count: max(0, inner.columns))
        screen.put(parts[0] + line + parts[1], row: area.row, column: area.column, theme.dim)
        for row in inner.row..<inner.row + max(0, inner.rows) {
            screen.put(parts[5], row: row, column: area.column, theme.dim)
            screen.put(parts[5], row: row, column: inner.end, theme.dim)
        }
        screen.put(parts[2] + line + parts[3], row: inner.row + inner.rows, column: area.column, theme.dim)
        screen.put(" \(title) ", row: area.row, column: inner.column + 1, theme.dim, end: inner.end)
        return inner
    }
}
