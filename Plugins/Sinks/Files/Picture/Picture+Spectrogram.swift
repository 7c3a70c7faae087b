internal import Glibc
internal import HemiolaSignal

extension Picture {
    /// The levels that the colours show, in decibels.
    struct LevelRange: Equatable {
        var lowest: Double
        var highest: Double

        /// The upper end is the strongest level, rounded up to a multiple of 5 dB: 0 dB if the picture is silent.
        init(strongest power: Float, range: Double) {
            let level = power > 1e-12 ? 10 * log10(Double(power)) : 0
            highest = (level / 5 - 1e-6).rounded(.up) * 5
            lowest = highest - range
        }
    }

    func drawSpectrogram(
        _ content: inout PictureContent, _ lines: [BeatLines.Line], in rect: Rect, _ plot: Plot, _ canvas: borrowing Canvas
    ) {
        let (width, height) = content.imageSize
        let colors = options.colorMap.colors
        let power = content.power ?? []
        content.power = nil
        let levels = LevelRange(strongest: power.max() ?? 0, range: options.range)
        if power.count == width * height {
            var pixels = [UInt32](repeating: colors[0], count: width * height)
            let scale = 255 / Float(options.range)
            let offset = Float(levels.lowest)
            for x in 0..<width {
                for y in 0..<height {
                    let value = power[x * height + y]
                    guard value > 1e-12 else { continue }
                    let index = (10 * log10(value) - offset) * scale
                    pixels[y * width + x] = colors[Int(UInt8(clamping: index.rounded()))]
                }
            }
            canvas.draw(&pixels, width: width, height: height, in: rect)
        } else {
            canvas.fill(rect, Color(colors[0]))
        }
        drawBeats(lines, in: rect, plot, beat: Color(palette.overlay, alpha: 0.16), bar: Color(palette.overlay, alpha: 0.5), canvas)
        if let reason = content.missing[.spectrogram] { drawNote(reason, in: rect, Color(palette.overlay), canvas) }
        let axis = content.axis
        let ticks = Ticks.frequency(axis, length: rect.height, spacing: 17 * unit)
        drawVerticalAxis(ticks, of: rect, canvas) { rect.bottom - axis.fraction(of: $0) * rect.height }
        drawColorBar(colors, levels, canvas)
    }

    private func drawColorBar(_ colors: [UInt32], _ levels: LevelRange, _ canvas: borrowing Canvas) {
        guard let bar = layout.colorBar else { return }
        var pixels = [UInt32]((0..<256).map { colors[255 - $0] })
        canvas.draw(&pixels, width: 1, height: 256, in: bar)
        canvas.frame(bar, width: max(1, unit.rounded()), palette.frame)
        let ticks = Ticks.linear(levels.lowest...levels.highest, length: bar.height, spacing: 30 * unit, title: "Level (dBFS)")
        for tick in ticks.ticks {
            let y = bar.bottom - (tick.value - levels.lowest) / (levels.highest - levels.lowest) * bar.height
            let thickness = max(1, unit.rounded())
            let top = min(max((y - thickness / 2).rounded(), bar.y), bar.bottom - thickness)
            canvas.fill(Rect(x: bar.right, y: top, width: (4 * unit).rounded(), height: thickness), palette.frame)
            canvas.text(tick.label, x: bar.right + 7 * unit, y: y, size: Self.labelSize * unit, palette.text, .left, .middle)
        }
        canvas.text(
            ticks.title, x: layout.width - 8 * unit, y: bar.y + bar.height / 2, size: Self.axisTitleSize * unit, palette.faintText, .center,
            isUpward: true)
    }
}
