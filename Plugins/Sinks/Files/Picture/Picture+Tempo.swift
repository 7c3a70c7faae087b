extension Picture {
    /// The tempi that the axis shows: those of the beats with a margin, at least 20 BPM.
    static func tempoRange(_ tempi: [Double]) -> ClosedRange<Double>? {
        guard let low = tempi.min(), let high = tempi.max() else { return nil }
        let margin = max((high - low) * 0.15, (20 - (high - low)) / 2)
        return max(0, low - margin)...high + margin
    }

    func drawTempo(_ content: PictureContent, _ lines: [BeatLines.Line], in rect: Rect, _ plot: Plot, _ canvas: borrowing Canvas) {
        let beats = content.beats.beats.filter { $0.beatsPerMinute.isFinite && $0.beatsPerMinute > 0 }
        guard let range = Self.tempoRange(beats.map(\.beatsPerMinute)) else {
            drawVerticalAxis(Ticks(ticks: [], title: "Tempo (BPM)"), of: rect, canvas) { $0 }
            return drawNote(content.missing[.tempo] ?? "no beats", in: rect, palette.faintText, canvas)
        }
        func place(_ tempo: Double) -> Double {
            rect.bottom - (tempo - range.lowerBound) / (range.upperBound - range.lowerBound) * rect.height
        }
        let ticks = Ticks.linear(range, length: rect.height, spacing: 20 * unit, title: "Tempo (BPM)")
        if layout.detail > .bare {
            for tick in ticks.ticks { drawGridLine(place(tick.value), in: rect, palette.grid, canvas) }
        }
        drawBeats(lines, in: rect, plot, beat: palette.beat, bar: palette.bar, canvas)
        let interval = BeatLines.median(zip(beats, beats.dropFirst()).map { $1.time - $0.time }) ?? 1
        canvas.clip(rect)
        var points: [(x: Double, y: Double)] = []
        var last = -Double.infinity
        var sum = (x: 0.0, y: 0.0, count: 0.0)
        func flushPoint() {
            if sum.count > 0 { points.append((sum.x / sum.count, sum.y / sum.count)) }
            sum = (0, 0, 0)
        }
        for beat in beats {
            let x = plot.place(of: beat.time)
            // Music without beats interrupts the curve.
            if beat.time - last > 3 * interval {
                flushPoint()
                canvas.stroke(points, width: 1.8 * unit, palette.tempo)
                points = []
            }
            last = beat.time
            // Several beats in a pixel: their mean.
            if sum.count > 0, x - sum.x / sum.count > 0.75 * unit { flushPoint() }
            sum = (sum.x + x, sum.y + place(beat.beatsPerMinute), sum.count + 1)
        }
        flushPoint()
        canvas.stroke(points, width: 1.8 * unit, palette.tempo)
        canvas.unclip()
        drawVerticalAxis(ticks, of: rect, canvas, place: place)
    }
}
