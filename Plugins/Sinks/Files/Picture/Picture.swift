internal import HemiolaSignal
internal import HemiolaSystem

/// What a picture shows, at the resolution of its pixels.
struct PictureContent {
    var title: String
    var format: StreamFormat
    /// The time at the left end, in seconds.
    var start: Double
    /// In seconds.
    var duration: Double
    var axis: FrequencyAxis
    var beats: BeatLines
    /// The labels of each row.
    var labels: [PictureOptions.LabelRow: LabelTrack] = [:]
    /// Where audio is missing, in seconds from the left end.
    var gaps: [(start: Double, end: Double)] = []
    /// Why a panel is empty.
    var missing: [PictureOptions.Panel: String]
    var imageSize = (width: 0, height: 0)
    /// Columns of the spectrogram, each from the highest to the lowest frequency: the square of the amplitude of a sine.
    var power: [Float]?
    var envelope: [WaveformEnvelope.Column]?
    /// Columns of the chroma, each from C upwards; 0…1.
    var chroma: [Float]?
    /// Bins of an octave; 0: none.
    var chromaBins = 0
    /// The smallest and the largest fundamental frequency in each pixel column, as the binary logarithm of hertz.
    var pitch: [WaveformEnvelope.Column]?

    init(
        title: String, format: StreamFormat, start: Double, duration: Double, axis: FrequencyAxis, beats: BeatLines,
        missing: [PictureOptions.Panel: String]
    ) {
        self.title = title
        self.format = format
        self.start = start
        self.duration = duration
        self.axis = axis
        self.beats = beats
        self.missing = missing
    }

    /// The time axis is never empty.
    var shownDuration: Double { duration > 0 ? duration : 1 }
}

/// Draws pictures.
public struct Picture {
    let options: PictureOptions
    let layout: PictureLayout
    let palette: Palette

    init(_ options: PictureOptions, _ layout: PictureLayout) {
        self.options = options
        self.layout = layout
        palette = Palette(options.theme, options.colorMap)
    }

    /// Why no picture can be drawn, with the package to install; nil: cairo is installed.
    public static var libraryFault: String? { Canvas.libraryFault }

    // Sizes of text, in 1/96 inch.
    static let titleSize = 15.0
    static let labelSize = 11.0
    static let axisTitleSize = 11.5
    static let noteSize = 12.0
    /// Characters of which a title has room for a part. What is left is found by measuring.
    private static let longestTitle = 1000

    var unit: Double { layout.unit }

    func draw(_ content: inout PictureContent) throws(Problem) -> [UInt8] {
        let title = content.title.onOneLine.abbreviated(to: Self.longestTitle)
        let canvas = try Canvas(options.format, width: options.width, height: options.height, title: title)
        canvas.fill(Rect(x: 0, y: 0, width: layout.width, height: layout.height), palette.background)
        let plot = Plot(layout.panels.first?.rect ?? Rect(x: 0, y: 0, width: 1, height: 1), content)
        let lines = content.beats.lines(pixelsPerSecond: plot.pixelsPerSecond, spacing: 7 * unit)
        for panel in layout.panels {
            canvas.fill(panel.rect, palette.panel)
            switch panel.kind {
            case .spectrogram:
                drawSpectrogram(&content, lines, in: panel.rect, plot, canvas)
                drawPitch(content, in: panel.rect, canvas)
            case .chroma: drawChroma(&content, lines, in: panel.rect, plot, canvas)
            case .waveform: drawWaveform(content, lines, in: panel.rect, plot, canvas)
            case .tempo: drawTempo(content, lines, in: panel.rect, plot, canvas)
            }
            drawGaps(content, in: panel.rect, plot, canvas)
            if layout.detail > .bare { canvas.frame(panel.rect, width: max(1, unit.rounded()), palette.frame) }
        }
        drawLabels(content, plot, canvas)
        if layout.detail > .bare { drawTimeAxis(content, plot, canvas) }
        if layout.detail == .full {
            drawTitle(title, content, canvas)
            drawBarNumbers(lines, plot, canvas)
        }
        return try canvas.finish(resolution: options.resolution ?? 96)
    }

    // MARK: - Shared by the panels

    /// The time axis of all panels.
    struct Plot {
        let x: Double
        let width: Double
        let pixelsPerSecond: Double

        init(_ rect: Rect, _ content: PictureContent) {
            x = rect.x
            width = rect.width
            pixelsPerSecond = rect.width / content.shownDuration
        }

        /// The place of a time since the left end.
        func place(of seconds: Double) -> Double { x + seconds * pixelsPerSecond }
    }

    /// A vertical line, in a PNG on whole pixels.
    func drawLine(at x: Double, in rect: Rect, width: Double, _ color: Color, _ canvas: borrowing Canvas) {
        let isPixels = options.format == .png
        let width = isPixels ? max(1, width.rounded()) : width
        let left = isPixels ? (x - width / 2).rounded() : x - width / 2
        guard left >= rect.x, left + width <= rect.right else { return }
        canvas.fill(Rect(x: left, y: rect.y, width: width, height: rect.height), color)
    }

    func drawBeats(_ lines: [BeatLines.Line], in rect: Rect, _ plot: Plot, beat: Color, bar: Color, _ canvas: borrowing Canvas) {
        for line in lines {
            drawLine(at: plot.place(of: line.time), in: rect, width: unit, line.bar == nil ? beat : bar, canvas)
        }
    }

    /// Draws the marks and labels of a vertical axis to the left of a panel.
    ///
    /// - Parameter place: The vertical place of a value.
    func drawVerticalAxis(_ ticks: Ticks, of rect: Rect, _ canvas: borrowing Canvas, place: (Double) -> Double) {
        guard layout.detail > .bare else { return }
        for tick in ticks.ticks {
            let y = place(tick.value)
            guard y >= rect.y - 0.5, y <= rect.bottom + 0.5 else { continue }
            let length = (tick.label.isEmpty ? 3 : 5) * unit
            drawMark(y, from: rect.x - length, length: length, in: rect, canvas)
            canvas.text(
                tick.label, x: rect.x - 8 * unit, y: y, size: Self.labelSize * unit, palette.text, .right, .middle)
        }
        if layout.detail == .full {
            let width = canvas.width(of: ticks.title, size: Self.axisTitleSize * unit)
            // A long title would run into the next panel's.
            let title = width <= rect.height + 8 * unit ? ticks.title : ticks.title.inParentheses ?? ticks.title
            canvas.text(
                title, x: layout.axisTitleX, y: rect.y + rect.height / 2, size: Self.axisTitleSize * unit, palette.faintText,
                .center, isUpward: true)
        }
    }

    private func drawMark(_ y: Double, from x: Double, length: Double, in rect: Rect, _ canvas: borrowing Canvas) {
        let width = options.format == .png ? max(1, unit.rounded()) : unit
        let top = min(max((y - width / 2).rounded(), rect.y), rect.bottom - width)
        canvas.fill(Rect(x: x.rounded(), y: top, width: length.rounded(), height: width), palette.frame)
    }

    /// Draws a horizontal line of the grid.
    func drawGridLine(_ y: Double, in rect: Rect, _ color: Color, _ canvas: borrowing Canvas) {
        let width = options.format == .png ? max(1, unit.rounded()) : unit
        canvas.fill(Rect(x: rect.x, y: (y - width / 2).rounded(), width: rect.width, height: width), color)
    }

    /// Draws a note in the middle of an empty panel.
    func drawNote(_ text: String, in rect: Rect, _ color: Color, _ canvas: borrowing Canvas) {
        guard layout.detail > .bare else { return }
        let size = Self.noteSize * unit
        guard canvas.width(of: text, size: size) < rect.width else { return }
        canvas.text(text, x: rect.x + rect.width / 2, y: rect.y + rect.height / 2, size: size, color, .center, .middle)
    }

    /// Covers the parts of the time axis that have no audio, which would look like silence.
    private func drawGaps(_ content: PictureContent, in rect: Rect, _ plot: Plot, _ canvas: borrowing Canvas) {
        for gap in content.gaps {
            let (left, right) = (plot.place(of: gap.start), plot.place(of: gap.end))
            let part = Rect(x: left, y: rect.y, width: max(right - left, unit), height: rect.height)
            canvas.fill(part, palette.gap)
            drawNote("missing", in: part, palette.faintText, canvas)
        }
    }

    // MARK: - Around the panels

    private func timeTicks(_ content: PictureContent, _ plot: Plot, _ canvas: borrowing Canvas) -> Ticks {
        let size = Self.labelSize * unit
        // The canvas cannot be captured by an escaping closure; the width of a text is that of its digits.
        let digit = canvas.width(of: "0", size: size)
        return Ticks.time(content.start...content.start + content.shownDuration, length: plot.width, gap: 26 * unit) {
            Double($0.count) * digit
        }
    }

    private func drawTimeAxis(_ content: PictureContent, _ plot: Plot, _ canvas: borrowing Canvas) {
        guard let last = layout.panels.last?.rect else { return }
        let ticks = timeTicks(content, plot, canvas)
        let size = Self.labelSize * unit
        let width = options.format == .png ? max(1, unit.rounded()) : unit
        for tick in ticks.ticks {
            let x = plot.place(of: tick.value - content.start)
            let left = min(max((x - width / 2).rounded(), last.x), last.right - width)
            canvas.fill(Rect(x: left, y: layout.axisY, width: width, height: (5 * unit).rounded()), palette.frame)
            let half = canvas.width(of: tick.label, size: size) / 2
            // At the ends the label moves inwards rather than out of the picture.
            let center = min(max(x, half + 2 * unit), layout.width - half - 2 * unit)
            canvas.text(tick.label, x: center, y: layout.axisY + 17 * unit, size: size, palette.text, .center)
        }
        if layout.detail == .full {
            canvas.text(
                ticks.title, x: plot.x + plot.width / 2, y: layout.axisY + 35 * unit, size: Self.axisTitleSize * unit, palette.faintText,
                .center)
        }
    }

    private func drawTitle(_ title: String, _ content: PictureContent, _ canvas: borrowing Canvas) {
        let size = Self.titleSize * unit
        let left = layout.panels.first?.rect.x ?? 0
        let right = layout.panels.first?.rect.right ?? layout.width
        let facts = facts(of: content)
        let factsSize = Self.axisTitleSize * unit
        var room = right - left
        let factsWidth = canvas.width(of: facts, size: factsSize)
        if canvas.width(of: title, size: size, isBold: true) + 24 * unit + factsWidth <= room || factsWidth < room / 2 {
            canvas.text(facts, x: right, y: layout.titleBaseline, size: factsSize, palette.faintText, .right)
            room -= factsWidth + 24 * unit
        }
        var shown = title
        var count = title.count
        while canvas.width(of: shown, size: size, isBold: true) > room, count > 4 {
            count -= 1
            shown = title.abbreviated(to: count)
        }
        canvas.text(shown, x: left, y: layout.titleBaseline, size: size, palette.text, isBold: true)
    }

    /// `3:05, 44.1 kHz, stereo, 120 BPM`.
    private func facts(of content: PictureContent) -> String {
        let style = TimeStyle(end: content.duration, step: content.duration < 1 ? 0.001 : content.duration < 60 ? 0.1 : 1)
        let rate = Double(content.format.sampleRate) / 1000
        let channels = content.format.channelCount
        var facts = [
            content.duration < 60 ? "\(style.text(content.duration)) s" : style.text(content.duration),
            "\(rate.text(decimals: (0...2).first { content.format.sampleRate.isMultiple(of: [1000, 100, 10][$0]) } ?? 3)) kHz",
            channels == 1 ? "mono" : channels == 2 ? "stereo" : "\(channels) channels",
        ]
        if let tempo = BeatLines.median(content.beats.beats.map(\.beatsPerMinute).filter { $0.isFinite && $0 > 0 }) {
            facts.append("\(tempo.text(decimals: 0)) BPM")
        }
        if let key = content.labels[.key]?.longest { facts.append(ChordText.key(key)) }
        return facts.joined(separator: " · ")
    }

    private func drawBarNumbers(_ lines: [BeatLines.Line], _ plot: Plot, _ canvas: borrowing Canvas) {
        guard let first = layout.panels.first?.rect else { return }
        let size = 10 * unit
        let labels = BeatLines.labels(of: lines, pixelsPerSecond: plot.pixelsPerSecond, spacing: 30 * unit)
        var end = -Double.infinity
        for line in labels {
            let text = "\(line.bar ?? 0)"
            let (x, width) = (plot.place(of: line.time), canvas.width(of: text, size: size))
            guard x - width / 2 > end, x <= first.right else { continue }
            canvas.text(text, x: x, y: first.y - 8 * unit, size: size, palette.faintText, .center)
            end = x + width / 2 + 4 * unit
        }
        if !labels.isEmpty {
            canvas.text("bar", x: first.x - 12 * unit, y: first.y - 8 * unit, size: size, palette.faintText, .right)
        }
    }
}

extension String {
    /// The text, or its beginning and its end with so many characters in all and an ellipsis between them.
    func abbreviated(to length: Int) -> String {
        count <= length ? self : "\(prefix((length + 1) / 2))…\(suffix(length / 2))"
    }

    /// The text between the last pair of parentheses.
    var inParentheses: String? {
        guard hasSuffix(")"), let open = lastIndex(of: "(") else { return nil }
        return String(self[index(after: open)...].dropLast())
    }
}
