internal import Glibc
internal import HemiolaSignal
internal import HemiolaSystem

extension ViewPicture {
    mutating func drawDashboard(in area: ViewArea, on screen: inout Screen, _ now: Double) {
        // Without room for the panels of values, the bars are all.
        guard area.rows >= 14, area.columns >= 60 else { return drawBars(in: area, on: &screen, now) }
        let (top, bottom) = area.split(rows: area.rows - min(max(9, area.rows / 3), 14))
        let isWide = area.columns >= 100
        let (bars, waveform) = top.split(columns: isWide ? area.columns * 3 / 5 : area.columns)
        panels = [(bars, .bars)] + (isWide ? [(waveform, .waveform)] : [])
        drawBars(in: drawFrame(bars, "bars", on: &screen), on: &screen, now)
        if isWide { drawWaveform(in: drawFrame(waveform, "waveform", on: &screen), on: &screen) }
        let (left, others) = bottom.split(columns: area.columns / 3)
        let (middle, right) = others.split(columns: area.columns / 3)
        drawBeat(in: drawFrame(left, "beat", on: &screen), on: &screen, now)
        drawLevels(in: drawFrame(middle, "level", on: &screen), on: &screen)
        drawMusic(in: drawFrame(right, "music", on: &screen), on: &screen)
    }

    /// A ring that the beats of a bar go around, the tempo, and the other tempi that are probable.
    private func drawBeat(in area: ViewArea, on screen: inout Screen, _ now: Double) {
        let (ring, values) = area.split(columns: min(area.rows * 2, area.columns / 2))
        drawRing(ring, on: &screen, now)
        var row = area.row + max(0, area.rows / 2 - 3)
        func add(_ label: String, _ value: String?, isBold: Bool = false) {
            guard row < area.row + area.rows else { return }
            let column = screen.put(label, row: row, column: values.column + 1, theme.dim, end: area.end)
            screen.put(
                value ?? style.dash, row: row, column: column, value == nil ? theme.dim : theme.text, isBold: isBold, end: area.end)
            row += 1
        }
        add("", state.tempo.map { "\(Double($0).rounded(toPlaces: 1)) BPM" } ?? "no beat yet", isBold: true)
        if state.isTempoLocked { add("", "locked") }
        add("", state.beats.dots(at: now, style) ?? " ")
        add("sure ", state.confidence.map { "\(Int(clamping: ($0 * 100).rounded())) %" })
        let others = state.candidates.dropFirst().prefix(2).map { "\(Int(clamping: $0.rounded()))" }
        add("or ", others.isEmpty ? nil : others.joined(separator: ", "))
    }

    private func drawRing(_ area: ViewArea, on screen: inout Screen, _ now: Double) {
        var ring = DotGrid(area)
        guard ring.columns >= 8, ring.rows >= 8, style.usesUnicode else { return }
        // The dots that the beat has passed.
        var passed = ring
        let (x0, y0) = (Double(ring.columns) / 2, Double(ring.rows) / 2)
        let radius = min(x0, y0) - 1
        let beat = Double((state.beats.position ?? 1) - 1)
        let done = state.beats.phase(at: now).map { (beat + $0) / Double(state.beats.beatsPerBar ?? 1) }
        let steps = Int(radius * 8)
        for step in 0..<steps {
            let part = Double(step) / Double(steps)
            let angle = 2 * Double.pi * part
            // Ring of two dots, clockwise from the top.
            for inner in [0.0, 1.0] {
                let (x, y) = (Int(x0 + (radius - inner) * sin(angle)), Int(y0 - (radius - inner) * cos(angle)))
                ring.set(x, y)
                if let done, part <= done { passed.set(x, y) }
            }
        }
        let light = Float(state.beats.light(at: now))
        let lit = theme.accent.mixed(with: theme.beat, share: light)
        ring.draw(on: &screen, style) { passed.cells[$0] != 0 ? lit : theme.dim }
        let text = state.beats.position.map { "\($0)" } ?? (state.beats.last == nil ? "" : "•")
        screen.put(
            text, row: area.row + area.rows / 2, column: area.column + area.columns / 2 - text.count / 2,
            light > 0 ? theme.beat : theme.text, isBold: true)
    }

    /// Levels of the channels as bars, and loudness.
    private func drawLevels(in area: ViewArea, on screen: inout Screen) {
        let levels = state.channelLevels.isEmpty ? [state.level].compactMap(\.self) : Array(state.channelLevels.prefix(2))
        let width = max(1, area.columns - 12)
        let glyphs = Array((style.usesUnicode ? " ▏▎▍▌▋▊▉█" : "   ++++##").unicodeScalars)
        var row = area.row
        func add(_ label: String, _ value: String) {
            screen.put(label, row: row, column: area.column + 1, theme.dim)
            screen.put(value, row: row, column: area.end - value.columns - 1, theme.text)
            row += 1
        }
        for (label, level) in zip(levels.count == 2 ? ["L", "R"] : ["M"], levels) where row < area.row + area.rows {
            let units = Int(level.meterPart * Float(width) * 8)
            for place in 0..<min(width, (units + 7) / 8) {
                let color = theme.color(at: Float(place) / Float(width))
                screen.set(glyphs[min(units - 8 * place, 8)], row: row, column: area.column + 3 + place, color)
            }
            add(label, "\(level.levelText) dB")
        }
        row += 1
        for (name, value) in zip(["momentary", "short-term", "integrated"], state.loudness ?? [.nan, .nan, .nan])
        where row < area.row + area.rows {
            add(name, "\(value.isFinite && value > -100 ? "\(Double(value).rounded(toPlaces: 1))" : style.dash) LUFS")
        }
    }

    /// Key, chord, preset, losses and the device.
    private func drawMusic(in area: ViewArea, on screen: inout Screen) {
        let rows: [(String, String?)] = [
            ("key", state.key), ("chord", state.chord), ("preset", state.preset), ("lost", state.losses ?? "nothing"),
            ("from", state.name),
        ]
        for (index, (label, value)) in rows.prefix(area.rows).enumerated() {
            screen.put(label, row: area.row + index, column: area.column + 1, theme.dim)
            let text = (value ?? style.dash).onOneLine.shortened(to: max(0, area.columns - 10), style)
            screen.put(
                text, row: area.row + index, column: area.column + 9, value == nil ? theme.dim : index < 2 ? theme.accent : theme.text,
                isBold: index < 2 && value != nil, end: area.end)
        }
    }
}
