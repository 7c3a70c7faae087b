internal import Glibc

extension Picture {
    /// The amplitude at the edges of the panel, in steps of 6 dB: the smallest that the waveform does not exceed.
    static func largestAmplitude(_ columns: [WaveformEnvelope.Column]) -> (amplitude: Double, decibels: Double) {
        let peak = Double(columns.reduce(0) { max($0, max($1.maximum, -$1.minimum)) })
        guard peak.isFinite, peak > 0 else { return (1, 0) }
        let steps = min(max((20 * log10(peak) / 6 - 0.01).rounded(.up), -10), 8)
        return (pow(10, steps * 6 / 20), steps * 6)
    }

    func drawWaveform(_ content: PictureContent, _ lines: [BeatLines.Line], in rect: Rect, _ plot: Plot, _ canvas: borrowing Canvas) {
        let columns = content.envelope ?? []
        let largest = Self.largestAmplitude(columns)
        let middle = rect.y + rect.height / 2
        // A margin of 6 % above the largest amplitude.
        let scale = rect.height / 2 / (largest.amplitude * 1.06)
        if layout.detail > .bare {
            for factor in [1, 0.5, -0.5, -1] {
                drawGridLine(middle - factor * largest.amplitude * scale, in: rect, palette.grid, canvas)
            }
        }
        drawBeats(lines, in: rect, plot, beat: palette.beat, bar: palette.bar, canvas)
        if let reason = content.missing[.waveform] {
            drawNote(reason, in: rect, palette.faintText, canvas)
        } else {
            drawEnvelope(columns, in: rect, scale, canvas)
        }
        drawGridLine(middle, in: rect, palette.zeroLine, canvas)
        let label = { (decibels: Double) in decibels.text(decimals: 0) }
        var ticks = [Tick(value: largest.amplitude, label: label(largest.decibels)), Tick(value: 0, label: "\u{2212}∞")]
        if rect.height > 76 * unit { ticks.append(Tick(value: largest.amplitude / 2, label: label(largest.decibels - 6))) }
        if rect.height > 40 * unit { ticks += ticks.filter { $0.value > 0 }.map { Tick(value: -$0.value, label: $0.label) } }
        drawVerticalAxis(Ticks(ticks: ticks, title: "Waveform (dBFS)"), of: rect, canvas) { middle - $0 * scale }
    }

    /// One column per pixel: from the smallest to the largest sample, at least one pixel high, and inside of it ± the RMS level.
    private func drawEnvelope(_ columns: [WaveformEnvelope.Column], in rect: Rect, _ scale: Double, _ canvas: borrowing Canvas) {
        let middle = rect.y + rect.height / 2
        let least = max(1, unit.rounded())
        let width = rect.width / Double(max(1, columns.count))
        /// Limited, because cairo's coordinates have 24 bits before the point.
        func place(_ sample: Float) -> Double {
            min(max(middle - Double(sample) * scale, rect.y - rect.height), rect.bottom + rect.height)
        }
        var outer: [(x: Double, top: Double, bottom: Double)] = []
        var inner = outer
        for (index, column) in columns.enumerated() where column.count > 0 {
            let x = rect.x + (Double(index) + 0.5) * width
            var (top, bottom) = (place(column.maximum), place(column.minimum))
            // Adjacent columns touch: below a sample per column, the waveform is a line.
            if let last = outer.last, x - last.x < 1.5 * width { (top, bottom) = (min(top, last.bottom), max(bottom, last.top)) }
            if bottom - top < least { (top, bottom) = ((top + bottom - least) / 2, (top + bottom + least) / 2) }
            outer.append((x, top, bottom))
            // The RMS level of a column of few samples may lie outside of its samples.
            let rms = Double(column.rms) * scale
            inner.append((x, max(middle - rms, top), max(max(middle - rms, top), min(middle + rms, bottom))))
        }
        canvas.clip(rect)
        for (band, color) in [(outer, palette.envelope), (inner, palette.rms)] {
            var run: [(x: Double, top: Double, bottom: Double)] = []
            for place in band {
                // A gap in the stream interrupts the area.
                if let last = run.last, place.x - last.x > 1.5 * width {
                    fill(run, width, color, canvas)
                    run = []
                }
                run.append(place)
            }
            fill(run, width, color, canvas)
        }
        canvas.unclip()
    }

    private func fill(
        _ run: [(x: Double, top: Double, bottom: Double)], _ width: Double, _ color: Color, _ canvas: borrowing Canvas
    ) {
        if options.format == .png {
            for place in run {
                canvas.fill(Rect(x: place.x - width / 2, y: place.top, width: width, height: place.bottom - place.top), color)
            }
        } else {
            canvas.fill(run.map { ($0.x, $0.top) } + run.reversed().map { ($0.x, $0.bottom) }, color)
        }
    }
}
