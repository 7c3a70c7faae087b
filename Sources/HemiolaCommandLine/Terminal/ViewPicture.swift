internal import Glibc
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// What fills the screen.
enum ViewLayout: String, CaseIterable, Sendable {
    case bars, spectrogram, waveform, dashboard
}

/// The pictures of the view, drawn from the newest batch.
///
/// - Complexity: O(cells) per picture.
struct ViewPicture {
    /// The most bars of a channel; more are too narrow in frequency.
    private static let mostBars = 96
    /// Seconds that a peak mark stands still, and its fall in heights per second after that.
    private static let (peakHold, peakFall) = (0.6, 0.7)
    /// Range of the spectrogram, in decibels below full scale.
    private static let (lowestLevel, highestLevel): (Float, Float) = (-84, -18)
    /// Seconds of a line of the spectrogram.
    private static let lineSeconds = 0.08
    /// The most lines of the spectrogram that are kept: the height of the largest terminal, twice.
    private static let mostLines = 400

    let style: TerminalStyle
    /// Columns of a bar with the blank column behind it.
    private let barColumns: Int
    var layout = ViewLayout.bars
    /// The theme that the user has chosen; nil: none yet.
    var chosenTheme: ViewTheme?
    /// Whether the left and the right channel have bars and waveforms of their own.
    var isStereo = true
    var state = LiveState()
    /// A message with the URL of a page, which stays as long as the view; nil: none.
    var address: String?
    private var showsHelp = false

    private var mix = ChannelMix(StreamFormat(sampleRate: 1, channelCount: 1))
    private var hopFrames = 0
    private var meter: SpectrumMeter?
    /// Whether a batch of the stream had samples that are not silent.
    private var hasSound = false
    /// Whether the bars are those of a recording, which has no samples.
    private var isRecorded = false

    /// Bars that fit, per channel: the number for the next batch.
    private var barCount = 16
    /// Heights of the newest batch and of the one before, when the newest arrived, and its duration.
    private var heights: [Float] = []
    private var before: [Float] = []
    private var arrival = 0.0
    private var batchSeconds = 0.023
    private var peaks: [(height: Float, time: Double)] = []

    /// Columns of the spectrogram.
    private var lineWidth = 1
    /// Levels of the spectrogram, 0…255, of which the last is the newest, and whether a beat was in it.
    private var lines: [(levels: [UInt8], isBeat: Bool)] = []
    /// The strongest levels since the last line, and their duration in seconds.
    private var nextLine: (levels: [Float], seconds: Double) = ([], 0)
    /// Lines since the stream began.
    private var lineCount = 0
    /// Rows by which the spectrogram has moved since the last picture.
    private var scrolledRows = 0
    private var beatsAtLine = 0

    /// The newest samples, left and right, and the factor that makes them fill the height.
    private var scope: [[Float]] = [[], []]
    private var scopeGain: Float = 1

    /// The panels of the dashboard, and the layout that a click on each chooses.
    var panels: [(area: ViewArea, layout: ViewLayout)] = []

    init(style: TerminalStyle, barWidth: Int) {
        (self.style, barColumns) = (style, barWidth + 1)
    }

    /// A terminal of 16 colours has its own theme only.
    var theme: ViewColors { (style.colors > .sixteen ? chosenTheme ?? .dark : .terminal).colors }

    /// Whether there are two channels, and both are shown.
    private var isDouble: Bool { isStereo && state.format.channelCount > 1 }

    // MARK: - Values

    /// A stream begins.
    mutating func begin(_ stream: StreamHeader) {
        state.begin(stream)
        (mix, hopFrames, meter, hasSound) = (ChannelMix(stream.format), stream.batching.hopFrames, nil, false)
        (heights, before, peaks, lines, scope) = ([], [], [], [], [[], []])
        (scrolledRows, beatsAtLine, isRecorded, scopeGain) = (0, 0, false, 1)
    }

    /// Takes over a batch.
    mutating func update(with batch: borrowing Batch, at now: Double) {
        state.update(with: batch, at: now)
        let sides = [mix.left, mix.right].map { weights in
            var side = [Float](repeating: 0, count: batch.samples.count / max(1, weights.count))
            var span = side.mutableSpan
            let isFinite = span.mix(batch.samples, weights: weights)
            return isFinite ? side : [Float](repeating: 0, count: side.count)
        }
        if meter?.barCount != barCount || meter?.isDouble != isDouble {
            meter = SpectrumMeter(state.format, hopFrames: hopFrames, barCount: barCount, isDouble: isDouble)
        }
        guard let meter else { return }
        let isSilent = meter.process(sides)
        if !isSilent {
            (hasSound, isRecorded) = (true, false)
        } else if !hasSound, state.bars.contains(where: { $0 > 0 }) {
            // A replay without its sound: the bars that were recorded.
            isRecorded = true
        }
        let new = isRecorded ? state.bars : meter.heights
        before = heights.count == new.count ? heights : new
        (heights, arrival, batchSeconds) = (new, now, state.format.seconds(at: Int64(batch.frameCount)))
        switch layout {
        case .spectrogram: add(isRecorded ? recordedLevels : meter.levels(count: lineWidth))
        case .waveform, .dashboard: add(sides)
        case .bars: break
        }
    }

    /// The levels of the bars that were recorded, in decibels.
    private var recordedLevels: [Float] {
        state.bars.map { $0 > 0 ? max(Self.lowestLevel, Self.highestLevel + 40 * log10($0)) : Self.lowestLevel }
    }

    /// Takes over the levels of a batch, in decibels: a line shows the strongest of some batches.
    private mutating func add(_ levels: [Float]) {
        nextLine.levels = nextLine.levels.count == levels.count ? zip(nextLine.levels, levels).map { max($0, $1) } : levels
        nextLine.seconds += batchSeconds
        guard nextLine.seconds >= Self.lineSeconds else { return }
        let scale = 255 / (Self.highestLevel - Self.lowestLevel)
        let bytes = nextLine.levels.map { UInt8((($0 - Self.lowestLevel) * scale).clamped(to: 0...255)) }
        nextLine = ([], 0)
        if lines.last?.levels.count != bytes.count { lines = [] }
        lines.append((bytes, state.beats.count > beatsAtLine))
        beatsAtLine = state.beats.count
        if lines.count > Self.mostLines { lines.removeFirst(lines.count - Self.mostLines) }
        lineCount += 1
        // Two lines share a row.
        if !lineCount.isMultiple(of: 2) { scrolledRows += 1 }
    }

    /// Takes over the samples of a batch: those of the left and of the right channel.
    private mutating func add(_ sides: [[Float]]) {
        scope = zip(scope, sides).map { Array(($0 + $1).suffix(4096)) }
        // The gain falls at once, and doubles in about two seconds, up to a level of -20 dBFS.
        let peak = scope.joined().reduce(0) { max($0, abs($1)) }
        scopeGain = min(0.95 / max(peak, 0.1), scopeGain * Float(1 + batchSeconds / 3))
    }

    /// A key or a click changes what is shown.
    mutating func handle(_ key: TerminalKey) {
        switch key {
        case .layout(let number): layout = ViewLayout.allCases[number]
        case .nextLayout: layout = ViewLayout.allCases.following(layout)
        case .theme where style.colors > .sixteen: chosenTheme = ViewTheme.allCases.following(chosenTheme ?? .dark)
        case .channels: isStereo.toggle()
        case .help: showsHelp.toggle()
        case .click(let column, let row):
            // On a single picture every click leads back to the dashboard.
            let panel = panels.first { $0.area.contains(row: row, column: column) }
            layout = layout != .dashboard ? .dashboard : panel?.layout ?? .dashboard
        default: break
        }
    }

    // MARK: - Drawing

    /// Draws everything.
    ///
    /// - Parameters:
    ///   - now: The monotonic clock.
    ///   - lead: Seconds by which beats light up earlier.
    mutating func draw(on screen: inout Screen, at now: Double, lead: Double) {
        state.beats.advance(to: now, lead: lead)
        screen.clear(style.colors == .none ? .standard : theme.background)
        panels = []
        // Low terminals have no line of the page, and very low ones none of values.
        let hasStatus = screen.rows >= 6
        let address = screen.rows >= 10 ? address : nil
        let rows = screen.rows - (hasStatus ? 1 : 0) - (address == nil ? 0 : 1)
        let area = ViewArea(row: 0, column: 0, rows: rows, columns: screen.columns)
        switch layout {
        case .bars: drawBars(in: area, on: &screen, now)
        case .spectrogram: drawSpectrogram(in: area, on: &screen)
        case .waveform: drawWaveform(in: area, on: &screen)
        case .dashboard: drawDashboard(in: area, on: &screen, now)
        }
        if let address {
            screen.put(address.onOneLine.shortened(to: screen.columns - 2, style), row: screen.rows - 2, column: 1, theme.dim)
        }
        if hasStatus { drawStatus(row: screen.rows - 1, on: &screen, now) }
        if showsHelp { drawHelp(on: &screen) }
    }

    mutating func drawBars(in area: ViewArea, on screen: inout Screen, _ now: Double) {
        let total = max(1, (area.columns + 1) / barColumns)
        barCount = min(max(1, isDouble ? total / 2 : total), Self.mostBars)
        let shown = displayedHeights(now)
        guard !shown.isEmpty else { return }
        updatePeaks(shown, now)
        // The left channel is mirrored, so that both have the bass in the middle.
        let mirrored = isDouble && shown.count.isMultiple(of: 2) ? shown.count / 2 : 0
        let width = max(1, area.columns / shown.count)
        let used = width * shown.count - (width > 1 ? 1 : 0)
        let left = area.column + max(0, (area.columns - used) / 2)
        for (place, index) in (Array((0..<mirrored).reversed()) + Array(mirrored..<shown.count)).enumerated() {
            let column = left + place * width
            drawBar(shown[index], peak: peaks[index].height, columns: column..<column + max(1, width - 1), in: area, on: &screen)
        }
    }

    private func drawBar(_ height: Float, peak: Float, columns: Range<Int>, in area: ViewArea, on screen: inout Screen) {
        let (steps, theme) = (style.eighths, theme)
        let units = Int((height.clamped(to: 0...1) * Float(area.rows * 8)).rounded())
        let peakRow = Int(peak.clamped(to: 0...1) * Float(area.rows) - 0.01)
        for level in 0..<area.rows {
            let part = min(max(units - 8 * level, 0), 8)
            let isPeak = part == 0 && level == peakRow && peak > 0.01 && 8 * level >= units
            guard part > 0 || isPeak else { continue }
            let color = isPeak ? theme.dim : theme.color(at: (Float(level) + 0.5) / Float(area.rows))
            let character = isPeak ? (style.usesUnicode ? "▁" : "_") : steps[part]
            for column in columns { screen.set(character, row: area.row + area.rows - 1 - level, column: column, color) }
        }
    }

    /// Heights at a time: those that rise are drawn at once, those that fall move from the batch before to the newest.
    private func displayedHeights(_ now: Double) -> [Float] {
        let share = Float((now - arrival) / max(batchSeconds, 0.001)).clamped(to: 0...1)
        return zip(before, heights).map { old, new in max(new, old + (new - old) * share) }
    }

    private mutating func updatePeaks(_ shown: [Float], _ now: Double) {
        if peaks.count != shown.count { peaks = shown.map { ($0, now) } }
        for index in shown.indices {
            let (height, time) = peaks[index]
            let late = now - time - Self.peakHold
            let fallen = height - Float(max(0, late) * Self.peakFall)
            if shown[index] >= fallen {
                peaks[index] = (shown[index], now)
            } else if late > 0 {
                peaks[index] = (fallen, now - Self.peakHold)
            }
        }
    }

    private mutating func drawSpectrogram(in area: ViewArea, on screen: inout Screen) {
        let rows = area.rows >= 4 ? area.rows - 1 : area.rows
        lineWidth = max(1, area.columns)
        if scrolledRows > 0, scrolledRows < rows, area.columns == screen.columns {
            for _ in 0..<scrolledRows { screen.scrollUp(area.row..<area.row + rows) }
        }
        scrolledRows = 0
        // The last row is half empty after an odd number of lines.
        let end = lines.count + (lineCount.isMultiple(of: 2) ? 0 : 1)
        for row in 0..<rows {
            let upper = end - 2 - 2 * row
            guard lines.indices.contains(upper) else { break }
            let lower = upper + 1 < lines.count ? lines[upper + 1] : nil
            drawLine(lines[upper], lower, row: area.row + rows - 1 - row, area, on: &screen)
        }
        if rows < area.rows { drawFrequencies(row: area.row + rows, area, on: &screen) }
    }

    private func drawLine(
        _ upper: (levels: [UInt8], isBeat: Bool), _ lower: (levels: [UInt8], isBeat: Bool)?, row: Int, _ area: ViewArea,
        on screen: inout Screen
    ) {
        let theme = theme
        let steps = Array((style.usesUnicode ? " ░▒▓█" : " .:-=+*#%@").unicodeScalars)
        let isBeat = upper.isBeat || lower?.isBeat == true
        for column in 0..<area.columns {
            let index = column * upper.levels.count / area.columns
            let high = upper.levels[index]
            let low = lower.map { $0.levels[min(index, $0.levels.count - 1)] }
            let place = area.column + column
            if isBeat, column == area.columns - 1 {
                screen.set(style.usesUnicode ? "◀" : "<", row: row, column: place, theme.beat)
            } else if let map = theme.map, style.colors >= .palette, style.usesUnicode {
                screen.set("▀", row: row, column: place, map[Int(high)], on: low.map { map[Int($0)] } ?? theme.background)
            } else {
                let step = steps[Int(max(high, low ?? 0)) * steps.count / 256]
                screen.set(step, row: row, column: place, theme.color(at: Float(high) / 255))
            }
        }
    }

    private func drawFrequencies(row: Int, _ area: ViewArea, on screen: inout Screen) {
        let range = SpectrumMeter.range
        var free = area.column
        for (hertz, text) in [(50.0, "50 Hz"), (100, "100"), (200, "200"), (500, "500"), (1000, "1k"), (2000, "2k"), (5000, "5k")] {
            let share = log(hertz / range.lowerBound) / log(range.upperBound / range.lowerBound)
            let column = area.column + Int(share * Double(area.columns))
            guard column >= free, column + text.count <= area.column + area.columns else { continue }
            free = screen.put(text, row: row, column: column, theme.dim) + 2
        }
    }

    mutating func drawWaveform(in area: ViewArea, on screen: inout Screen) {
        guard !isRecorded else {
            screen.put("no samples: replay --audio FILE", row: area.row + area.rows / 2, column: area.column + 1, theme.dim)
            return
        }
        let mono = zip(scope[0], scope[1]).map { ($0 + $1) / 2 }
        let start = Self.trigger(mono)
        guard isDouble, area.rows >= 8 else { return drawTrace(mono, from: start, in: area, theme.color(at: 0.35), on: &screen) }
        for (side, samples) in scope.enumerated() {
            let rows = area.rows / 2
            let part = ViewArea(row: area.row + side * rows, column: area.column, rows: rows, columns: area.columns)
            drawTrace(samples, from: start, in: part, theme.color(at: side == 0 ? 0.35 : 0.8), on: &screen)
            screen.put(side == 0 ? "L" : "R", row: part.row, column: part.column, theme.dim)
        }
    }

    /// The last rising zero crossing that leaves 1024 frames behind it, so that a tone stands still.
    private static func trigger(_ samples: [Float]) -> Int {
        let last = samples.count - 1024
        guard last > 1 else { return 0 }
        return (max(1, last - 1024)..<last).last { samples[$0 - 1] <= 0 && samples[$0] > 0 } ?? last
    }

    /// A trace of 1024 frames.
    private func drawTrace(_ samples: [Float], from start: Int, in area: ViewArea, _ color: ScreenColor, on screen: inout Screen) {
        var dots = DotGrid(area)
        let frames = min(1024, samples.count - start)
        guard frames > 1, dots.rows > 0 else { return }
        var before: Int?
        for x in 0..<dots.columns {
            let sample = samples[start + x * (frames - 1) / max(1, dots.columns - 1)]
            let height = (1 - (sample * scopeGain).clamped(to: -1...1)) / 2 * Float(dots.rows - 1)
            let y = min(max(Int(height), 0), dots.rows - 1)
            for dot in min(y, before ?? y)...max(y, before ?? y) { dots.set(x, dot) }
            before = y
        }
        dots.draw(on: &screen, style) { _ in color }
    }
}

extension Array where Element: Equatable {
    /// The element behind another; the first behind the last.
    fileprivate func following(_ element: Element) -> Element { self[(firstIndex(of: element)! + 1) % count] }
}
