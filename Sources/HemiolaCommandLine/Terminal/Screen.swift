internal import HemiolaSystem

/// How many colours a terminal has.
enum ColorDepth: Int, Sendable, Comparable {
    case none, sixteen, palette, full

    static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

    /// According to `NO_COLOR`, `COLORTERM` and `TERM`.
    init(environment: (String) -> String?) {
        let terminal = environment("TERM") ?? ""
        if environment("NO_COLOR").map({ !$0.isEmpty }) ?? false || !FileDescriptor.canMoveCursor(environment("TERM")) {
            self = .none
        } else if ["truecolor", "24bit"].contains(environment("COLORTERM")) || terminal.hasSuffix("-direct") {
            self = .full
        } else {
            self = terminal.contains("256color") ? .palette : .sixteen
        }
    }
}

/// A colour of a cell.
enum ScreenColor: Sendable, Hashable {
    /// The terminal's own text or background colour.
    case standard
    /// One of the terminal's 16 colours, 0…15.
    case ansi(UInt8)
    /// 0xRRGGBB.
    case rgb(UInt32)

    /// The colour between two RGB colours; of two others, the nearer one.
    func mixed(with other: ScreenColor, share: Float) -> ScreenColor {
        guard case .rgb(let one) = self, case .rgb(let two) = other else { return share < 0.5 ? self : other }
        func mix(_ shift: UInt32) -> UInt32 {
            let (a, b) = (Float(one >> shift & 0xFF), Float(two >> shift & 0xFF))
            return UInt32((a + (b - a) * share).rounded()) << shift
        }
        return .rgb(mix(16) | mix(8) | mix(0))
    }

    /// The parameters of SGR (ECMA-48; `38;2` and `38;5` of ISO 8613-6).
    fileprivate func parameters(_ depth: ColorDepth, isBackground: Bool) -> String {
        let base = isBackground ? 40 : 30
        switch self {
        case .standard: return "\(base + 9)"
        case .ansi(let index): return "\(base + Int(index) + (index < 8 ? 0 : 52))"
        case .rgb(let value):
            let (red, green, blue) = (Int(value >> 16 & 0xFF), Int(value >> 8 & 0xFF), Int(value & 0xFF))
            let color = depth == .full ? "2;\(red);\(green);\(blue)" : "5;\(Self.paletteIndex(red, green, blue))"
            return "\(base + 8);\(color)"
        }
    }

    /// The nearest colour of xterm's palette of 256: its cube of 6 × 6 × 6, or its 24 greys.
    private static func paletteIndex(_ red: Int, _ green: Int, _ blue: Int) -> Int {
        let step = { (value: Int) in value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40 }
        let level = { (step: Int) in step == 0 ? 0 : 55 + 40 * step }
        let (r, g, b) = (step(red), step(green), step(blue))
        let grey = min(23, max(0, ((red + green + blue) / 3 - 3) / 10))
        func distance(_ x: Int, _ y: Int, _ z: Int) -> Int {
            (x - red) * (x - red) + (y - green) * (y - green) + (z - blue) * (z - blue)
        }
        let greyLevel = 8 + 10 * grey
        return distance(greyLevel, greyLevel, greyLevel) < distance(level(r), level(g), level(b))
            ? 232 + grey : 16 + 36 * r + 6 * g + b
    }
}

/// The cells of a terminal, and what of them the terminal shows: only the differences are written.
///
/// A character is one scalar in one cell, or in two when it is wide; combining marks are left out.
struct Screen {
    private struct Cell: Equatable {
        /// 0: the right half of a wide character.
        var scalar: UInt32 = 0x20
        var foreground = ScreenColor.standard
        var background = ScreenColor.standard
        var isBold = false
    }

    private(set) var columns = 0
    private(set) var rows = 0
    let depth: ColorDepth
    private var cells: [Cell] = []
    /// What the terminal shows.
    private var shown: [Cell] = []
    private var output: [UInt8] = []
    /// Colours and weight of the next character that the terminal writes; nil: unknown.
    private var pen: Cell?

    init(_ depth: ColorDepth) { self.depth = depth }

    /// Fits a terminal's size, 1 × 1 to 1000 × 1000. After a change everything is written again.
    mutating func resize(columns: Int, rows: Int) {
        let (columns, rows) = (min(max(columns, 1), 1000), min(max(rows, 1), 1000))
        guard columns != self.columns || rows != self.rows else { return }
        (self.columns, self.rows) = (columns, rows)
        invalidate()
    }

    /// Forgets what the terminal shows.
    mutating func invalidate() {
        cells = Array(repeating: Cell(), count: columns * rows)
        shown = []
    }

    /// Fills all cells with a background.
    mutating func clear(_ background: ScreenColor = .standard) {
        let blank = Cell(background: background)
        for index in cells.indices { cells[index] = blank }
    }

    /// Sets one cell, if it is on the screen. The background stays where none is given.
    mutating func set(
        _ scalar: Unicode.Scalar, row: Int, column: Int, _ foreground: ScreenColor = .standard, on background: ScreenColor? = nil,
        isBold: Bool = false
    ) {
        guard row >= 0, row < rows, column >= 0, column < columns else { return }
        let index = row * columns + column
        let background = depth == .none ? .standard : background ?? cells[index].background
        // The colour of a blank does not show.
        let isBlank = scalar == " "
        cells[index] = Cell(
            scalar: scalar.value, foreground: isBlank || depth == .none ? .standard : foreground, background: background,
            isBold: isBold && !isBlank)
    }

    /// Writes text from a cell on, at most up to a column.
    ///
    /// - Returns: The column behind it.
    @discardableResult
    mutating func put(
        _ text: String, row: Int, column: Int, _ foreground: ScreenColor = .standard, isBold: Bool = false, end: Int = .max
    ) -> Int {
        var column = column
        for character in text {
            let width = character.columns
            guard column + width <= min(end, columns) else { break }
            let scalar = character.unicodeScalars.first!
            set(scalar.isUnsafeForReaders ? "\u{FFFD}" : scalar, row: row, column: column, foreground, isBold: isBold)
            if width == 2, row >= 0, row < rows, column >= 0 { cells[row * columns + column + 1].scalar = 0 }
            column += width
        }
        return column
    }

    // MARK: - Differences

    /// What has to be written so that the terminal shows the cells; empty when nothing has changed.
    mutating func changes() -> [UInt8] {
        if shown.isEmpty {
            shown = Array(repeating: Cell(), count: cells.count)
            append("\u{1B}[0m\u{1B}[2J")
            pen = Cell()
        }
        for row in 0..<rows { writeChanges(row) }
        defer { output = [] }
        return output
    }

    /// Moves rows up by one on the terminal: of a picture that scrolls, only the new row has to be written. The cells stay.
    mutating func scrollUp(_ range: Range<Int>) {
        guard !shown.isEmpty, range.count > 1, range.upperBound <= rows else { return }
        // A line feed in the last row of the region that scrolls, as the VT100 has it.
        append("\u{1B}[0m\u{1B}[\(range.lowerBound + 1);\(range.upperBound)r\u{1B}[\(range.upperBound);1H\n\u{1B}[r")
        pen = Cell()
        shown.removeSubrange(range.lowerBound * columns..<(range.lowerBound + 1) * columns)
        shown.insert(contentsOf: repeatElement(Cell(), count: columns), at: (range.upperBound - 1) * columns)
    }

    private mutating func writeChanges(_ row: Int) {
        let start = row * columns
        /// The column of the cursor; nil: it is in another row.
        var cursor: Int?
        var column = 0
        /// Whether the cell before had a character that this picture has replaced. A terminal with an outline font draws the edge of such a
        /// character into the blank beside it, and removes it only when that is written too.
        var isBesideOld = false
        while column < columns {
            let old = shown[start + column]
            guard cells[start + column] != old || isBesideOld && old.scalar == 0x20 else {
                isBesideOld = false
                column += 1
                continue
            }
            isBesideOld = cells[start + column] != old && old.scalar >= 0x80
            // A wide character is written as a whole.
            if cells[start + column].scalar == 0, column > 0 { column -= 1 }
            if let place = cursor, place < column {
                // A single ASCII character is shorter than a movement of the cursor.
                let between = cells[start + place]
                if column - place == 1, between.scalar < 0x80, between.scalar > 0, hasPen(between) {
                    write(between)
                } else {
                    append("\u{1B}[\(column - place)C")
                }
            } else if cursor == nil {
                append("\u{1B}[\(row + 1);\(column + 1)H")
            }
            let cell = cells[start + column]
            write(cell)
            shown[start + column] = cell
            column += 1
            if column < columns, cells[start + column].scalar == 0 {
                shown[start + column] = cells[start + column]
                column += 1
            }
            cursor = column
        }
    }

    private func hasPen(_ cell: Cell) -> Bool {
        guard let pen else { return false }
        return pen.background == cell.background
            && (cell.scalar == 0x20 || pen.foreground == cell.foreground && pen.isBold == cell.isBold)
    }

    private mutating func write(_ cell: Cell) {
        var parameters: [String] = []
        var old = pen ?? Cell()
        if cell.scalar != 0x20 {
            if old.isBold, !cell.isBold { parameters.append("22") } else if cell.isBold, !old.isBold { parameters.append("1") }
            if old.foreground != cell.foreground { parameters.append(cell.foreground.parameters(depth, isBackground: false)) }
            (old.isBold, old.foreground) = (cell.isBold, cell.foreground)
        }
        if old.background != cell.background { parameters.append(cell.background.parameters(depth, isBackground: true)) }
        old.background = cell.background
        pen = old
        if !parameters.isEmpty { append("\u{1B}[\(parameters.joined(separator: ";"))m") }
        append(String(Unicode.Scalar(cell.scalar) ?? " "))
    }

    private mutating func append(_ text: String) { output.append(contentsOf: text.utf8) }
}
