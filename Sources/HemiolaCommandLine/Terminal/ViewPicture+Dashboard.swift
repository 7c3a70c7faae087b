internal import Glibc
internal import HemiolaSignal
internal import HemiolaSystem

extension ViewPicture {
    mutating func drawDashboard(in area: ViewArea, on screen: inout Screen, _ now: Double) {
        // Without room for the panels of values, the bars are all.
        guard area.rows >= 14, area.columns >= 60 else { return drawBars(in: area, on: &screen, now) }
        let lower = min(max(9, area.rows / 3), 14)
        let top = ViewArea(row: area.row, column: area.column, rows: area.rows - lower, columns: area.columns)
        let isWide = area.columns >= 100
        let barColumns = isWide ? area.columns * 3 / 5 : area.columns
        panel("bars", .bars, ViewArea(row: top.row, column: top.column, rows: top.rows, columns: barColumns), on: &screen) {
            $0.drawBars(in: $1, on: &$2, now)
        }
        if isWide {
            panel(
                "waveform", .waveform,
                ViewArea(row: top.row, column: top.column + barColumns, rows: top.rows, columns: area.columns - barColumns), on: &screen
            ) { $0.drawWaveform(in: $1, on: &$2) }
        }
        let row = area.row + top.rows
        let third = area.columns / 3
        panel("beat", nil, ViewArea(row: row, column: area.column, rows: lower, columns: third), on: &screen) {
            $0.drawBeat(in: $1, on: &$2, now)
        }
        panel("level", nil, ViewArea(row: row, column: area.column + third, rows: lower, columns: third), on: &screen) {
            $0.drawLevels(in: $1, on: &$2)
        }
        panel(
            "music", nil, ViewArea(row: row, column: area.column + 2 * third, rows: lower, columns: area.columns - 2 * third), on: &screen
        ) { $0.drawMusic(in: $1, on: &$2) }
    }

    private mutating func panel(
        _ title: String, _ layout: ViewLayout?, _ area: ViewArea, on screen: inout Screen,
        draw: (inout ViewPicture, ViewArea, inout Screen) -> Void
    ) {
        if let layout { panels.append((area, layout)) }
        drawFrame(area, title, on: &screen)
        draw(
            &self, ViewArea(row: area.row + 1, column: area.column + 1, rows: area.rows - 2, columns: area.columns - 2), &screen)
    }

    /// A ring that the beats of a bar go around, the tempo, and the other tempi that are probable.
    private func drawBeat(in area: ViewArea, on screen: inout Screen, _ now: Double) {
        let ringRows = area.rows
        let ringColumns = min(ringRows * 2, area.columns / 2)
        drawRing(ViewArea(row: area.row, column: area.column, rows: ringRows, columns: ringColumns), on: &screen, now)
        let column = area.column + ringColumns + 1
        let end = area.column + area.columns
        var row = area.row + max(0, area.rows / 2 - 3)
        func add(_ label: String, _ value: String?, isBold: Bool = false) {
            guard row < area.row + area.rows else { return }
            let next = screen.put(label.isEmpty ? "" : "\(label) ", row: row, column: column, theme.dim, end: end)
            screen.put(value ?? style.dash, row: row, column: next, value == nil ? theme.dim : theme.text, isBold: isBold, end: end)
            row += 1
        }
        add("", state.tempo.map { "\(Double($0).rounded(toPlaces: 1)) BPM" } ?? "no beat yet", isBold: true)
        if state.isTempoLocked { add("", "locked") }
        add("", state.beats.dots(at: now, style) ?? " ")
        add("sure", state.confidence.map { "\(Int(clamping: ($0 * 100).rounded())) %" })
        let others = state.candidates.dropFirst().prefix(2).map { "\(Int(clamping: $0.rounded()))" }
        add("or", others.isEmpty ? nil : others.joined(separator: ", "))
    }

    private func drawRing(_ area: ViewArea, on screen: inout Screen, _ now: Double) {
        let (width, height) = (Double(area.columns * 2), Double(area.rows * 4))
        guard width >= 8, height >= 8, style.usesUnicode else { return }
        let (x0, y0) = (width / 2, height / 2)
        let radius = min(width, height) / 2 - 1
        let beatsPerBar = Double(state.beats.beatsPerBar ?? 1)
        let beat = Double((state.beats.position ?? 1) - 1)
        let phase = state.beats.phase(at: now)
        let done = phase.map { (beat + $0) / beatsPerBar }
        var cells: [Int: (bits: UInt8, isDone: Bool)] = [:]
        let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
        let steps = Int(radius * 8)
        for step in 0..<steps {
            let part = Double(step) / Double(steps)
            let angle = 2 * Double.pi * part
            // Ring of two dots, clockwise from the top.
            for inner in [0.0, 1.0] {
                let (x, y) = (Int(x0 + (radius - inner) * sin(angle)), Int(y0 - (radius - inner) * cos(angle)))
                guard x >= 0, y >= 0, x < Int(width), y < Int(height) else { continue }
                let cell = y / 4 * area.columns + x / 2
                cells[cell, default: (0, false)].bits |= bits[y % 4][x % 2]
                if let done, part <= done { cells[cell]?.isDone = true }
            }
        }
        let light = Float(state.beats.light(at: now))
        let lit = theme.accent.mixed(with: theme.beat, share: light)
        for (cell, content) in cells {
            screen.set(
                Unicode.Scalar(0x2800 + UInt32(content.bits))!, row: area.row + cell / area.columns,
                column: area.column + cell % area.columns, content.isDone ? lit : theme.dim)
        }
        let text = state.beats.position.map { "\($0)" } ?? (state.beats.last == nil ? "" : style.usesUnicode ? "•" : "*")
        screen.put(
            text, row: area.row + area.rows / 2, column: area.column + area.columns / 2 - text.count / 2,
            light > 0 ? theme.beat : theme.text, isBold: true)
    }

    /// Levels of the channels as bars, and loudness.
    private func drawLevels(in area: ViewArea, on screen: inout Screen) {
        let levels = state.channelLevels.isEmpty ? [state.level].compactMap(\.self) : Array(state.channelLevels.prefix(2))
        let width = max(1, area.columns - 12)
        var row = area.row
        for (index, level) in levels.enumerated() where row < area.row + area.rows {
            let label = levels.count == 2 ? (index == 0 ? "L" : "R") : "M"
            screen.put(label, row: row, column: area.column + 1, theme.dim)
            let part = level.isFinite ? min(max((level + 60) / 60, 0), 1) : 0
            let units = Int(part * Float(width) * 8)
            let glyphs: [Character] = style.usesUnicode ? Array(" ▏▎▍▌▋▊▉█") : Array("   ++++##")
            for place in 0..<width {
                let step = min(max(units - 8 * place, 0), 8)
                if step > 0 {
                    screen.set(
                        glyphs[step].unicodeScalars.first!, row: row, column: area.column + 3 + place,
                        theme.color(at: Float(place) / Float(width)))
                }
            }
            let text = "\(Self.number(level)) dB"
            screen.put(text, row: row, column: area.column + area.columns - text.count - 1, theme.text)
            row += 1
        }
        row += 1
        let names = ["momentary", "short-term", "integrated"]
        for (name, value) in zip(names, state.loudness ?? [.nan, .nan, .nan]) where row < area.row + area.rows {
            screen.put(name, row: row, column: area.column + 1, theme.dim)
            let text = value.isFinite && value > -100 ? "\(Double(value).rounded(toPlaces: 1)) LUFS" : "\(style.dash) LUFS"
            screen.put(text, row: row, column: area.column + area.columns - text.columns - 1, theme.text)
            row += 1
        }
    }

    /// Key, chord, preset, losses and the device.
    private func drawMusic(in area: ViewArea, on screen: inout Screen) {
        let rows: [(String, String?)] = [
            ("key", state.key), ("chord", state.chord), ("preset", state.preset), ("lost", state.losses ?? "nothing"),
            ("from", state.name),
        ]
        for (index, row) in rows.prefix(area.rows).enumerated() {
            screen.put(row.0, row: area.row + index, column: area.column + 1, theme.dim)
            let text = (row.1 ?? style.dash).onOneLine.shortened(to: max(0, area.columns - 10), style)
            screen.put(
                text, row: area.row + index, column: area.column + 9, row.1 == nil ? theme.dim : index < 2 ? theme.accent : theme.text,
                isBold: index < 2 && row.1 != nil, end: area.column + area.columns)
        }
    }
}
