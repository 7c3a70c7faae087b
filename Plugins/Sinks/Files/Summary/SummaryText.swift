internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// Summaries as aligned columns for people. The width of a column does not depend on the rows, so that each is printed when its file is
/// finished; the name of the file, of any length, is the last column.
struct SummaryText {
    private struct Column {
        var title: String
        var width: Int
        var isText: Bool
        var unit: Unit
    }

    /// What is shown without a selection, where the pipeline has it.
    private static let standard = ["duration_s", "rhythm.bpm", "second_bpm", "rhythm.tempo_sections", "key", "integrated_lufs"]
    /// The titles of columns by the ends of their names, which are the same for any name of an analyzer.
    private static let titles = [
        ("duration_s", "TIME"), ("rhythm.bpm", "BPM"), (".second_bpm", "OR BPM"), ("rhythm.tempo_sections", "TEMPI"), (".key", "KEY"),
        (".integrated_lufs", "LUFS"),
    ]
    private static let (numberWidth, textWidth, longestKey) = (7, 24, 9)
    private static let (file, error) = ("file", "error")

    private let selection: SummarySelection
    private let columns: [Column]

    init(_ selection: SummarySelection) {
        var selection = selection
        if selection.isAll {
            try? selection.select(Self.standard.compactMap { item in try? selection.path(of: item) })
        }
        self.selection = selection
        columns = selection.columns.dropFirst().dropLast().map { column in
            let title = Self.titles.first { column.name == $0.0 || column.name.hasSuffix($0.0) }?.1
            let isText = column.field.kind == .text
            let name = ["summaries.", "features.", "tags."].first(where: column.name.hasPrefix).map { column.name.dropFirst($0.count) }
            let heading = title ?? String(name ?? column.name[...])
            let width = title == "KEY" ? Self.longestKey : isText ? Self.textWidth : Self.numberWidth
            return Column(title: heading, width: max(width, heading.columns), isText: isText, unit: column.field.unit)
        }
    }

    /// The titles.
    var header: String { line(columns.map(\.title), Self.file.uppercased()) }

    /// A record, or an input that failed. An error stands after the name of the file.
    func row(of members: [JSONValue.Member]) -> String {
        let values = selection.row(of: members)
        let file = values[0].string ?? ""
        var name = file.onOneLine
        if let error = values[values.count - 1].string {
            name += ": " + (error.hasPrefix(file + ": ") ? String(error.dropFirst(file.count + 2)) : error).onOneLine
        }
        return line(zip(columns, values.dropFirst()).map(Self.text), name)
    }

    private func line(_ texts: [String], _ name: String) -> String {
        zip(columns, texts).map { column, text in
            let text = text.shortened(to: column.width, dots: "…")
            let space = String(repeating: " ", count: column.width - text.columns)
            return (column.isText ? text + space : space + text) + "  "
        }.joined() + name
    }

    /// Tempo and decibels with one decimal, a duration as minutes and seconds, anything else as in JSON.
    private static func text(_ column: Column, _ value: JSONValue) -> String {
        switch value {
        case .null: return "-"
        case .text(let text): return text.onOneLine
        case .number(let number, _) where number.isFinite && column.title == "TIME": return clock(number)
        case .number(let number, _) where number.isFinite && decimalUnits.contains(column.unit):
            return "\(number.rounded(toPlaces: 1))"
        case .number(let number, _) where !number.isFinite: return "-"
        default:
            var buffer = JSONBuffer(capacity: 16)
            buffer.append(value)
            return buffer.text
        }
    }

    private static let decimalUnits: [Unit] = [.beatsPerMinute, .decibels, .decibelsPerHertz, .loudness, .loudnessUnits, .truePeak]

    /// `0:07`, `75:02`
    private static func clock(_ seconds: Double) -> String {
        let whole = Int(min(max(seconds, 0), 1e9).rounded())
        return "\(whole / 60):" + (whole % 60 < 10 ? "0" : "") + "\(whole % 60)"
    }
}
