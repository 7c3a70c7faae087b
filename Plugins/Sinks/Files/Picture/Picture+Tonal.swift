internal import Glibc
internal import HemiolaSignal
internal import HemiolaSystem
internal import HemiolaTonal

extension Picture {
    // MARK: - Chroma

    func drawChroma(
        _ content: inout PictureContent, _ lines: [BeatLines.Line], in rect: Rect, _ plot: Plot, _ canvas: borrowing Canvas
    ) {
        let bins = content.chromaBins
        let values = content.chroma ?? []
        content.chroma = nil
        let colors = options.colorMap.colors
        canvas.fill(rect, Color(colors[0]))
        if bins > 0, !values.isEmpty {
            let columns = values.count / bins
            // A vector format interpolates between pixels: several rows per bin keep its edges.
            let repeats = options.format == .png ? 1 : 8
            var pixels = [UInt32](repeating: colors[0], count: columns * bins * repeats)
            for row in 0..<bins * repeats {
                let bin = bins - 1 - row / repeats
                for column in 0..<columns {
                    pixels[row * columns + column] = colors[Int(UInt8(clamping: (values[column * bins + bin] * 255).rounded()))]
                }
            }
            canvas.draw(&pixels, width: columns, height: bins * repeats, in: rect)
        }
        drawBeats(lines, in: rect, plot, beat: Color(palette.overlay, alpha: 0.16), bar: Color(palette.overlay, alpha: 0.5), canvas)
        if let reason = content.missing[.chroma] { drawNote(reason, in: rect, Color(palette.overlay), canvas) }
        let signature = ChordText.signature(keys: content.labels[.key], chords: content.labels[.chords])
        let ticks = Ticks.pitchClasses(in: signature, length: rect.height, spacing: 12 * unit)
        let count = Double(max(12, bins))
        drawVerticalAxis(ticks, of: rect, canvas) { rect.bottom - ($0 / 12 * count + 0.5) / count * rect.height }
        drawChromaBar(colors, canvas)
    }

    private func drawChromaBar(_ colors: [UInt32], _ canvas: borrowing Canvas) {
        guard let bar = layout.chromaBar else { return }
        var pixels = [UInt32]((0..<256).map { colors[255 - $0] })
        canvas.draw(&pixels, width: 1, height: 256, in: bar)
        canvas.frame(bar, width: max(1, unit.rounded()), palette.frame)
        let ticks = Ticks.linear(0...1, length: bar.height, spacing: 30 * unit, title: "Chroma")
        let thickness = max(1, unit.rounded())
        for tick in ticks.ticks {
            let y = bar.bottom - tick.value * bar.height
            let top = min(max((y - thickness / 2).rounded(), bar.y), bar.bottom - thickness)
            canvas.fill(Rect(x: bar.right, y: top, width: (4 * unit).rounded(), height: thickness), palette.frame)
            canvas.text(tick.label, x: bar.right + 7 * unit, y: y, size: Self.labelSize * unit, palette.text, .left, .middle)
        }
        canvas.text(
            ticks.title, x: layout.width - 8 * unit, y: bar.y + bar.height / 2, size: Self.axisTitleSize * unit, palette.faintText, .center,
            isUpward: true)
    }

    // MARK: - Fundamental frequency

    /// Draws the fundamental frequency as a line with a dark edge. Unvoiced columns and steps between notes interrupt it.
    func drawPitch(_ content: PictureContent, in rect: Rect, _ canvas: borrowing Canvas) {
        guard let columns = content.pitch, !columns.isEmpty else { return }
        let width = rect.width / Double(columns.count)
        let axis = content.axis
        func place(_ value: Float) -> Double { rect.bottom - axis.fraction(of: exp2(Double(value))) * rect.height }
        var runs: [[(x: Double, y: Double)]] = []
        var last: (index: Int, minimum: Float, maximum: Float)?
        for (index, column) in columns.enumerated() where column.count > 0 {
            let x = rect.x + (Double(index) + 0.5) * width
            let isStep = last.map { column.minimum - $0.maximum > Self.noteStep || $0.minimum - column.maximum > Self.noteStep } ?? true
            if isStep || last.map({ index - $0.index > 1 }) ?? true { runs.append([]) }
            let (low, high) = (place(column.minimum), place(column.maximum))
            // A column with several frequencies: a line between the smallest and the largest.
            let points = low - high > 1 ? [(x: x, y: low), (x: x, y: high)] : [(x: x, y: (low + high) / 2)]
            runs[runs.count - 1] += points
            last = (index, column.minimum, column.maximum)
        }
        canvas.clip(rect)
        for (thickness, color) in [(3.4, Color(0x000000, alpha: 0.55)), (1.7, palette.pitch)] {
            for run in runs {
                // A single point is a line of one column.
                let points = run.count > 1 ? run : run.map { (x: $0.x - width / 2, y: $0.y) } + run.map { (x: $0.x + width / 2, y: $0.y) }
                canvas.stroke(points, width: thickness * unit, color)
            }
        }
        canvas.unclip()
        guard layout.detail == .full else { return }
        let size = Self.labelSize * unit
        let text = "f0"
        let right = rect.right - 10 * unit
        let y = rect.y + 14 * unit
        let textWidth = canvas.width(of: text, size: size)
        let sample = [(x: right - textWidth - 26 * unit, y: y), (x: right - textWidth - 6 * unit, y: y)]
        canvas.fill(
            Rect(x: sample[0].x - 6 * unit, y: y - 9 * unit, width: right - sample[0].x + 12 * unit, height: 18 * unit),
            Color(0x000000, alpha: 0.45))
        canvas.stroke(sample, width: 1.7 * unit, palette.pitch)
        canvas.text(text, x: right, y: y, size: size, Color(0xFFFFFF), .right, .middle)
    }

    /// The distance of two notes that are not connected, in octaves: 1.4 semitones.
    private static let noteStep: Float = 0.12

    // MARK: - Labels

    /// Draws the keys, chords and segments above the time axis.
    func drawLabels(_ content: PictureContent, _ plot: Plot, _ canvas: borrowing Canvas) {
        for row in layout.rows {
            let labels = content.labels[row.kind]?.labels ?? []
            canvas.clip(row.rect)
            draw(labels, of: row, plot, canvas)
            canvas.unclip()
            canvas.frame(row.rect, width: max(1, unit.rounded()), palette.grid)
            if layout.detail == .full {
                canvas.text(
                    Self.name(of: row.kind), x: row.rect.x - 8 * unit, y: row.rect.y + row.rect.height / 2, size: Self.labelSize * unit,
                    palette.text, .right, .middle)
            }
        }
    }

    private func draw(_ labels: [LabelTrack.Label], of row: PictureLayout.Row, _ plot: Plot, _ canvas: borrowing Canvas) {
        let rect = row.rect
        let size = Self.labelSize * unit
        var places: [String: Int] = [:]
        for label in labels {
            let (left, right) = (plot.place(of: label.start), plot.place(of: label.end ?? label.start))
            let area = Rect(x: left, y: rect.y, width: max(right - left, 0), height: rect.height)
            let room = right - left - 6 * unit
            let text = Self.texts(of: label.text, in: row.kind).first { canvas.width(of: $0, size: size) <= room }
            switch row.kind {
            case .key, .chords:
                if let pitchClass = ChordText.pitchClass(of: label.text) {
                    canvas.fill(area, labelColor(pitchClass * 7 % 12, isFaint: ChordText.isMinor(label.text)))
                }
            case .segments:
                let name = Self.name(ofSegment: label.text)
                let place = places[name] ?? places.count
                places[name] = place
                canvas.fill(area, labelColor(place * 5 % 12, isFaint: false))
            case .phrases: drawBrace(in: area, around: text.map { canvas.width(of: $0, size: size) } ?? 0, canvas)
            }
            // A line at the start, where labels are not too dense.
            if row.kind != .phrases, right - left > 4 * unit { drawLine(at: left, in: rect, width: unit, palette.frame, canvas) }
            if let text {
                canvas.text(text, x: (left + right) / 2, y: rect.y + rect.height / 2, size: size, palette.text, .center, .middle)
            }
        }
    }

    /// Draws a brace whose ends point up to the panels, with a gap in its middle for a text of a width.
    private func drawBrace(in area: Rect, around textWidth: Double, _ canvas: borrowing Canvas) {
        let (left, right, middle) = (area.x + 2 * unit, area.right - 2 * unit, area.x + area.width / 2)
        guard left < right else { return }
        let (top, y) = (area.y + 4 * unit, area.y + area.height / 2)
        let gap = textWidth > 0 ? min(textWidth / 2 + 3 * unit, middle - left) : 0
        for (end, inner) in [(left, middle - gap), (right, middle + gap)] {
            canvas.stroke([(end, top), (end, y), (inner, y)], width: unit, palette.text)
        }
    }

    /// A colour of twelve; neighbours on the circle of fifths have similar ones.
    private func labelColor(_ place: Int, isFaint: Bool) -> Color {
        let hue = Double(place) / 12
        func component(_ offset: Double) -> Double { 0.62 + 0.3 * cos(2 * .pi * (hue - offset)) }
        var color = Color(0, alpha: palette.labelAlpha * (isFaint ? 0.5 : 1))
        (color.red, color.green, color.blue) = (component(0), component(1 / 3), component(2 / 3))
        return color
    }

    private static func name(of row: PictureOptions.LabelRow) -> String {
        switch row {
        case .key: "Key"
        case .chords: "Chords"
        case .segments: "Parts"
        case .phrases: "Phrases"
        }
    }

    /// The texts of a label, from the longest to the shortest.
    private static func texts(of label: String, in row: PictureOptions.LabelRow) -> [String] {
        switch row {
        case .key: [ChordText.key(label), ChordText.shortKey(label)]
        case .chords: [ChordText.chord(label)]
        case .segments: [label.onOneLine, name(ofSegment: label)]
        case .phrases: [label]
        }
    }

    /// `B` of `B break`: segments of one name have one colour, whatever their role.
    private static func name(ofSegment label: String) -> String {
        String(label.onOneLine.prefix { $0 != " " })
    }
}

extension Ticks {
    /// Marks of an axis of pitch classes, at their numbers: all twelve, or every 2nd, 3rd … where labels would overlap.
    static func pitchClasses(in signature: KeySignature, length: Double, spacing: Double) -> Ticks {
        let step = [1, 2, 3, 4, 6].first { Double($0) * length / 12 >= spacing } ?? 12
        let names = ChordText.pitchClasses(in: signature)
        return Ticks(
            ticks: stride(from: 0, to: 12, by: step).map { Tick(value: Double($0), label: names[$0]) },
            title: "Pitch class")
    }
}
