internal import Glibc
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// What fills the screen.
enum ViewLayout: String, CaseIterable, Sendable {
    case bars, spectrogram, waveform, dashboard
}

/// A rectangle of cells.
struct ViewArea: Sendable, Hashable {
    var row: Int
    var column: Int
    var rows: Int
    var columns: Int

    func contains(row: Int, column: Int) -> Bool {
        (self.row..<self.row + rows).contains(row) && (self.column..<self.column + columns).contains(column)
    }
}

/// The pictures of the view, drawn from the newest batch.
///
/// - Complexity: O(cells) per picture.
struct ViewPicture: Sendable {
    /// Columns of a bar with the blank column behind it, as in cava.
    private static let barColumns = 3
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

    var style: TerminalStyle
    var layout = ViewLayout.bars
    /// The theme that the user has chosen; nil: none yet.
    var chosenTheme: ViewTheme?
    /// Whether the left and the right channel have bars and waveforms of their own.
    var isStereo = true
    var state = LiveState()
    /// The effect of the last key or a message; nil: none.
    var notice: String?
    /// A message with the URL of a page, which stays as long as the view; nil: none.
    var address: String?
    var showsHelp = false
    /// Whether the bars are those of a recording, which has no samples.
    var isRecorded = false

    /// Bars that fit, per channel: the number for the next batch.
    private(set) var barCount = 16
    /// Columns of the spectrogram.
    private(set) var lineWidth = 1

    /// Heights of the newest batch and of the one before, when the newest arrived, and its duration.
    private var heights: [Float] = []
    private var before: [Float] = []
    private var arrival = 0.0
    private var batchSeconds = 0.023
    private var peaks: [(height: Float, time: Double)] = []

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

    init(style: TerminalStyle) { self.style = style }

    /// A terminal of 16 colours has its own theme only.
    var theme: ViewTheme { style.colors > .sixteen ? chosenTheme ?? .dark : .terminal }

    // MARK: - Values

    /// Takes over the heights of a batch.
    mutating func add(heights new: [Float], now: Double, batchSeconds: Double) {
        before = heights.count == new.count ? heights : new
        heights = new
        (arrival, self.batchSeconds) = (now, batchSeconds)
    }

    /// Takes over the levels of a batch, in decibels: a line shows the strongest of some batches.
    mutating func add(levels: [Float]) {
        nextLine.levels = nextLine.levels.count == levels.count ? zip(nextLine.levels, levels).map { max($0, $1) } : levels
        nextLine.seconds += batchSeconds
        guard nextLine.seconds >= Self.lineSeconds else { return }
        let scale = 255 / (Self.highestLevel - Self.lowestLevel)
        let bytes = nextLine.levels.map { UInt8(min(max(($0 - Self.lowestLevel) * scale, 0), 255)) }
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
    mutating func add(_ sides: [[Float]]) {
        scope = zip(scope, sides).map { Array(($0 + $1).suffix(4096)) }
        // The gain falls at once, and doubles in about two seconds, up to a level of -20 dBFS.
        let peak = scope.joined().reduce(0) { max($0, abs($1)) }
        scopeGain = min(0.95 / max(peak, 0.1), scopeGain * Float(1 + batchSeconds / 3))
    }

    /// A stream begins.
    mutating func begin(_ stream: StreamHeader) {
        state.begin(stream)
        (heights, before, peaks, lines, scope) = ([], [], [], [], [[], []])
        (scrolledRows, beatsAtLine, isRecorded, scopeGain) = (0, 0, false, 1)
    }

    /// A key or a click changes what is shown.
    mutating func handle(_ key: TerminalKey) {
        switch key {
        case .layout(let number) where ViewLayout.allCases.indices.contains(number): layout = ViewLayout.allCases[number]
        case .nextLayout:
            let index = ViewLayout.allCases.firstIndex(of: layout)!
            layout = ViewLayout.allCases[(index + 1) % ViewLayout.allCases.count]
        case .theme:
            guard style.colors > .sixteen else { return }
            let index = ViewTheme.all.firstIndex { $0.name == theme.name } ?? 0
            chosenTheme = ViewTheme.all[(index + 1) % ViewTheme.all.count]
        case .channels: isStereo.toggle()
        case .help: showsHelp.toggle()
        case .click(let column, let row):
            if let chosen = layout(at: row, column: column) { layout = chosen }
        default: break
        }
    }

    /// The levels of the bars that were recorded, in decibels.
    var recordedLevels: [Float] {
        state.bars.map { $0 > 0 ? max(Self.lowestLevel, Self.highestLevel + 40 * log10($0)) : Self.lowestLevel }
    }

    // MARK: - Drawing

    /// The layout that a click chooses; nil: none is there. On a single picture every click leads back to the dashboard.
    func layout(at row: Int, column: Int) -> ViewLayout? {
        layout == .dashboard ? panels.first { $0.area.contains(row: row, column: column) }?.layout : .dashboard
    }

    /// Draws everything.
    ///
    /// - Parameters:
    ///   - now: The monotonic clock.
    ///   - lead: Seconds by which beats light up earlier.
    mutating func draw(on screen: inout Screen, at now: Double, lead: Double = 0) {
        state.beats.advance(to: now, lead: lead)
        screen.clear(style.colors == .none ? .standard : theme.background)
        panels = []
        let full = ViewArea(row: 0, column: 0, rows: screen.rows, columns: screen.columns)
        // Very low terminals have no line of values.
        let hasStatus = screen.rows >= 6
        var main = full
        if hasStatus { main.rows -= 1 }
        let address = screen.rows >= 10 ? address : nil
        if address != nil { main.rows -= 1 }
        switch layout {
        case .bars: drawBars(in: main, on: &screen, now)
        case .spectrogram: drawSpectrogram(in: main, on: &screen)
        case .waveform: drawWaveform(in: main, on: &screen)
        case .dashboard: drawDashboard(in: main, on: &screen, now)
        }
        if let address {
            screen.put(address.onOneLine.shortened(to: screen.columns - 2, style), row: screen.rows - 2, column: 1, theme.dim)
        }
        if hasStatus { drawStatus(row: screen.rows - 1, on: &screen, now) }
        if showsHelp { drawHelp(on: &screen) }
    }

    mutating func drawBars(in area: ViewArea, on screen: inout Screen, _ now: Double) {
        let isDouble = isStereo && state.format.channelCount > 1
        let total = max(1, (area.columns + 1) / Self.barColumns)
        barCount = min(max(1, isDouble ? total / 2 : total), Self.mostBars)
        // The left channel is mirrored, so that both have the bass in the middle.
        let shown = displayedHeights(now)
        guard !shown.isEmpty else { return }
        let channels = isDouble && shown.count.isMultiple(of: 2) && shown.count > 1 ? 2 : 1
        let perChannel = shown.count / channels
        let order = channels == 2 ? Array((0..<perChannel).reversed()) + Array(perChannel..<shown.count) : Array(0..<shown.count)
        updatePeaks(shown, now)
        let width = max(1, area.columns / shown.count)
        let used = width * shown.count - (width > 1 ? 1 : 0)
        let left = area.column + max(0, (area.columns - used) / 2)
        for (place, index) in order.enumerated() {
            let column = left + place * width
            drawBar(
                shown[index], peak: peaks[index].height, columns: column..<column + max(1, width - 1), in: area, on: &screen)
        }
    }

    private func drawBar(_ height: Float, peak: Float, columns: Range<Int>, in area: ViewArea, on screen: inout Screen) {
        let steps = style.eighths
        let units = Int((min(max(height, 0), 1) * Float(area.rows * 8)).rounded())
        let peakRow = Int(min(max(peak, 0), 1) * Float(area.rows) - 0.01)
        for level in 0..<area.rows {
            let part = min(max(units - 8 * level, 0), 8)
            let row = area.row + area.rows - 1 - level
            let isPeak = part == 0 && level == peakRow && peak > 0.01 && 8 * level >= units
            guard part > 0 || isPeak else { continue }
            let color = theme.color(at: (Float(level) + 0.5) / Float(area.rows))
            let character = isPeak ? (style.usesUnicode ? "▁" : "_") : steps[part]
            for column in columns {
                screen.set(character.unicodeScalars.first!, row: row, column: column, isPeak ? theme.dim : color)
            }
        }
    }

    /// Heights at a time: those that rise are drawn at once, those that fall move from the batch before to the newest.
    private func displayedHeights(_ now: Double) -> [Float] {
        let share = Float(min(max((now - arrival) / max(batchSeconds, 0.001), 0), 1))
        return zip(before, heights).map { old, new in max(new, old + (new - old) * share) }
    }

    private mutating func updatePeaks(_ shown: [Float], _ now: Double) {
        if peaks.count != shown.count { peaks = shown.map { ($0, now) } }
        for index in shown.indices {
            let fallen = peaks[index].height - Float(max(0, now - peaks[index].time - Self.peakHold) * Self.peakFall)
            if shown[index] >= fallen { peaks[index] = (shown[index], now) }
        }
        for index in shown.indices where now - peaks[index].time > Self.peakHold {
            let late = Float((now - peaks[index].time - Self.peakHold) * Self.peakFall)
            peaks[index] = (max(shown[index], peaks[index].height - late), now - Self.peakHold)
        }
    }

    private mutating func drawSpectrogram(in area: ViewArea, on screen: inout Screen) {
        let hasAxis = area.rows >= 4
        let rows = area.rows - (hasAxis ? 1 : 0)
        lineWidth = max(1, area.columns)
        if scrolledRows > 0, scrolledRows < rows, area.columns == screen.columns {
            for _ in 0..<scrolledRows { screen.scrollUp(area.row..<area.row + rows) }
        }
        scrolledRows = 0
        // The last row is half empty after an odd number of lines.
        let isHalf = !lineCount.isMultiple(of: 2)
        for row in 0..<rows {
            let newest = lines.count - 1 - 2 * row + (isHalf ? 1 : 0)
            let upper = newest - 1
            guard upper >= 0, upper < lines.count else { break }
            let lower = newest < lines.count ? lines[newest] : nil
            drawLine(lines[upper], lower, row: area.row + rows - 1 - row, area, on: &screen)
        }
        if hasAxis { drawFrequencies(row: area.row + rows, area, on: &screen) }
    }

    private func drawLine(
        _ upper: (levels: [UInt8], isBeat: Bool), _ lower: (levels: [UInt8], isBeat: Bool)?, row: Int, _ area: ViewArea,
        on screen: inout Screen
    ) {
        let isBeat = upper.isBeat || lower?.isBeat == true
        for column in 0..<area.columns {
            let index = column * upper.levels.count / area.columns
            let high = upper.levels[index]
            let low = lower.map { $0.levels[min(index, $0.levels.count - 1)] }
            let place = area.column + column
            if isBeat, column == area.columns - 1 {
                screen.set(style.usesUnicode ? "◀" : "<", row: row, column: place, theme.beat)
            } else if let map = theme.map, style.colors >= .palette, style.usesUnicode {
                screen.set(
                    "▀", row: row, column: place, map[Int(high)], on: low.map { map[Int($0)] } ?? theme.background)
            } else {
                let steps = style.usesUnicode ? Array(" ░▒▓█") : Array(" .:-=+*#%@")
                let level = Int(max(high, low ?? 0)) * steps.count / 256
                screen.set(
                    steps[level].unicodeScalars.first!, row: row, column: place, theme.color(at: Float(high) / 255))
            }
        }
    }

    private func drawFrequencies(row: Int, _ area: ViewArea, on screen: inout Screen) {
        var free = area.column
        for (hertz, text) in [(50.0, "50 Hz"), (100, "100"), (200, "200"), (500, "500"), (1000, "1k"), (2000, "2k"), (5000, "5k")] {
            let range = SpectrumMeter.range
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
        let isDouble = isStereo && state.format.channelCount > 1 && area.rows >= 8
        let rows = isDouble ? area.rows / 2 : area.rows
        let mono = zip(scope[0], scope[1]).map { ($0 + $1) / 2 }
        let start = Self.trigger(mono)
        for (side, samples) in (isDouble ? scope : [mono]).enumerated() {
            let part = ViewArea(row: area.row + side * rows, column: area.column, rows: rows, columns: area.columns)
            drawTrace(samples, from: start, in: part, theme.color(at: side == 0 ? 0.35 : 0.8), on: &screen)
            if isDouble { screen.put(side == 0 ? "L" : "R", row: part.row, column: part.column, theme.dim) }
        }
    }

    /// The last rising zero crossing that leaves 1024 frames behind it, so that a tone stands still.
    private static func trigger(_ samples: [Float]) -> Int {
        let last = samples.count - 1024
        guard last > 1 else { return 0 }
        return (max(1, last - 1024)..<last).last { samples[$0 - 1] <= 0 && samples[$0] > 0 } ?? last
    }

    /// A trace of 1024 frames, two dots a cell wide and four high (Braille patterns).
    private func drawTrace(_ samples: [Float], from start: Int, in area: ViewArea, _ color: ScreenColor, on screen: inout Screen) {
        let dotColumns = area.columns * 2
        let dotRows = area.rows * 4
        let frames = min(1024, samples.count - start)
        guard frames > 1, dotRows > 0 else { return }
        var dots = [UInt8](repeating: 0, count: area.columns * area.rows)
        // The bits of a Braille pattern, by row and column.
        let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
        var before: Int?
        for x in 0..<dotColumns {
            let sample = samples[start + x * (frames - 1) / max(1, dotColumns - 1)]
            let y = min(max(Int((1 - min(max(sample * scopeGain, -1), 1)) / 2 * Float(dotRows - 1)), 0), dotRows - 1)
            for dot in min(y, before ?? y)...max(y, before ?? y) {
                dots[dot / 4 * area.columns + x / 2] |= bits[dot % 4][x % 2]
            }
            before = y
        }
        for index in dots.indices where dots[index] != 0 {
            let scalar = style.usesUnicode ? Unicode.Scalar(0x2800 + UInt32(dots[index]))! : "*"
            screen.set(scalar, row: area.row + index / area.columns, column: area.column + index % area.columns, color)
        }
    }
}
