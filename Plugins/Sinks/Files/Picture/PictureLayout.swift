/// A rectangle in pixels or points; y grows downwards.
struct Rect: Equatable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    var right: Double { x + width }
    var bottom: Double { y + height }
}

/// The places of all parts of a picture. They follow from the options alone, so that pictures of different inputs have the same axes.
struct PictureLayout: Equatable {
    /// The parts besides the panels that have room.
    enum Detail: Int, Comparable {
        /// None.
        case bare
        /// The labels of the axes.
        case labels
        /// Also the title, the titles of the axes, the colour bar and the numbers of the bars.
        case full

        static func < (one: Detail, other: Detail) -> Bool { one.rawValue < other.rawValue }
    }

    struct Panel: Equatable {
        var kind: PictureOptions.Panel
        var rect: Rect
    }

    struct Row: Equatable {
        var kind: PictureOptions.LabelRow
        var rect: Rect
    }

    let detail: Detail
    /// Pixels or points per 1/96 inch.
    let unit: Double
    let width: Double
    let height: Double
    private(set) var panels: [Panel] = []
    private(set) var rows: [Row] = []
    /// The place of the time axis: below the last panel and the rows of labels.
    let axisY: Double
    /// The colours and levels of the spectrogram; nil: no room, or no spectrogram.
    private(set) var colorBar: Rect?
    /// The colours and values of the chroma; nil: no room, or no chroma.
    private(set) var chromaBar: Rect?
    /// The baseline of the title.
    let titleBaseline: Double
    /// The left end of the titles of the vertical axes.
    let axisTitleX: Double

    init(_ options: PictureOptions) {
        let unit = options.unit
        self.unit = unit
        (width, height) = (Double(options.width), Double(options.height))
        let (unitsWide, unitsHigh) = (width / unit, height / unit)
        detail = unitsWide >= 420 && unitsHigh >= 240 ? .full : unitsWide >= 150 && unitsHigh >= 90 ? .labels : .bare
        let hasColorBar = detail == .full && !Set(options.panels).isDisjoint(with: [.spectrogram, .chroma])
        let left: Double
        let right: Double
        let top: Double
        let bottom: Double
        switch detail {
        case .full: (left, right, top, bottom) = (66, hasColorBar ? 84 : 20, options.showsBeats ? 54 : 38, 46)
        case .labels: (left, right, top, bottom) = (34, 8, 8, 22)
        case .bare: (left, right, top, bottom) = (0, 0, 0, 0)
        }
        titleBaseline = (24 * unit).rounded()
        axisTitleX = (18 * unit).rounded()
        var area = Rect(
            x: (left * unit).rounded(), y: (top * unit).rounded(), width: width - (left * unit).rounded() - (right * unit).rounded(),
            height: height - (top * unit).rounded() - (bottom * unit).rounded())
        let gap = detail == .full ? (12 * unit).rounded() : detail == .labels ? (5 * unit).rounded() : 0
        axisY = area.bottom
        let rowHeight = ((detail == .full ? 19 : 15) * unit).rounded()
        let rowGap = (3 * unit).rounded()
        // Rows take at most a third of the height.
        let rowCount = detail == .bare ? 0 : min(options.labelRows.count, Int(area.height / 3 / (rowHeight + rowGap)))
        for (index, kind) in options.labelRows.prefix(rowCount).enumerated() {
            let y = area.bottom - Double(rowCount - index) * (rowHeight + rowGap) + rowGap
            rows.append(Row(kind: kind, rect: Rect(x: area.x, y: y, width: area.width, height: rowHeight)))
        }
        if rowCount > 0 { area.height -= Double(rowCount) * (rowHeight + rowGap) + (detail == .full ? (3 * unit).rounded() : 0) }
        // The last panels are left out if the picture is too low for all.
        var kinds = options.panels
        let least = detail == .full ? 28 * unit : detail == .labels ? 14 * unit : 4
        func weights() -> [Double] { kinds.map(Self.weight) }
        func heights() -> [Double] {
            let free = area.height - gap * Double(kinds.count - 1)
            let sum = weights().reduce(0, +)
            return weights().map { free * $0 / sum }
        }
        while kinds.count > 1, heights().min() ?? 0 < least { kinds.removeLast() }
        var y = area.y
        for (index, (kind, height)) in zip(kinds, heights()).enumerated() {
            // The last panel ends where the area ends.
            let end = index == kinds.count - 1 ? area.bottom : (y + height).rounded()
            panels.append(Panel(kind: kind, rect: Rect(x: area.x, y: y, width: area.width, height: max(1, end - y))))
            y = end + gap
        }
        func bar(beside kind: PictureOptions.Panel) -> Rect? {
            guard hasColorBar, let panel = panels.first(where: { $0.kind == kind })?.rect else { return nil }
            return Rect(x: panel.right + (12 * unit).rounded(), y: panel.y, width: (13 * unit).rounded(), height: panel.height)
        }
        colorBar = bar(beside: .spectrogram)
        chromaBar = bar(beside: .chroma)
    }

    private static func weight(of kind: PictureOptions.Panel) -> Double {
        switch kind {
        case .spectrogram: 6
        case .chroma: 3
        case .waveform: 1.9
        case .tempo: 1.5
        }
    }

    /// The place of a panel; nil if it is left out.
    func rect(of kind: PictureOptions.Panel) -> Rect? {
        panels.first { $0.kind == kind }?.rect
    }
}
