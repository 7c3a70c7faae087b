/// A rectangle of cells.
struct ViewArea: Hashable {
    var row: Int
    var column: Int
    var rows: Int
    var columns: Int

    /// The column behind it.
    var end: Int { column + columns }

    func contains(row: Int, column: Int) -> Bool {
        (self.row..<self.row + rows).contains(row) && (self.column..<end).contains(column)
    }

    /// The upper rows, and the others.
    func split(rows upper: Int) -> (ViewArea, ViewArea) {
        (
            ViewArea(row: row, column: column, rows: upper, columns: columns),
            ViewArea(row: row + upper, column: column, rows: rows - upper, columns: columns)
        )
    }

    /// The left columns, and the others.
    func split(columns left: Int) -> (ViewArea, ViewArea) {
        (
            ViewArea(row: row, column: column, rows: rows, columns: left),
            ViewArea(row: row, column: column + left, rows: rows, columns: columns - left)
        )
    }
}

/// Dots in cells, two wide and four high (Braille patterns).
struct DotGrid {
    /// The bits of a pattern, row by row.
    private static let bits: [UInt8] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80]

    private let area: ViewArea
    /// The pattern of each cell.
    private(set) var cells: [UInt8]

    init(_ area: ViewArea) {
        self.area = area
        cells = Array(repeating: 0, count: area.columns * area.rows)
    }

    var columns: Int { area.columns * 2 }
    var rows: Int { area.rows * 4 }

    mutating func set(_ x: Int, _ y: Int) {
        guard x >= 0, y >= 0, x < columns, y < rows else { return }
        cells[y / 4 * area.columns + x / 2] |= Self.bits[y % 4 * 2 + x % 2]
    }

    /// Draws the cells that have dots, each in the colour for its index.
    func draw(on screen: inout Screen, _ style: TerminalStyle, color: (Int) -> ScreenColor) {
        for index in cells.indices where cells[index] != 0 {
            let scalar = style.usesUnicode ? Unicode.Scalar(0x2800 + UInt32(cells[index]))! : "*"
            screen.set(scalar, row: area.row + index / area.columns, column: area.column + index % area.columns, color(index))
        }
    }
}
