internal import Hemiola

/// The columns of a stream's events, and the fields of each event: those of its record, as declared.
struct EventColumns: Sendable {
    /// The names of the columns. A table has those of all selected types, whether an event of the type comes or not.
    let names: [String]
    private let encoder: RecordEncoder

    init(_ header: StreamHeader, selection: Selection) {
        var names = header.file == nil ? ["type", "t"] : ["file", "type", "t"]
        for type in header.catalog.events where selection.contains(type.name) {
            names += header.catalog.fields(of: type).map(\.name).filter { !names.contains($0) }
        }
        self.names = names
        encoder = RecordEncoder(header, selection: selection)
    }

    /// The text of each column; nil when the event is not selected.
    ///
    /// - Parameter columns: The columns of the table, which an earlier stream may have begun.
    func row(of event: Event, batchEnd: Double, columns: [String]) -> [String]? {
        guard encoder.selection.contains(event.type.name) else { return nil }
        var row = [String](repeating: "", count: columns.count)
        func set(_ name: String, _ text: String) {
            if let place = columns.firstIndex(of: name) { row[place] = text }
        }
        set("file", encoder.header.file ?? "")
        set("type", event.type.name)
        set("t", ParameterValue.number(event.time).tableText(in: .seconds))
        encoder.forEachField(of: event, batchEnd: batchEnd) { field, value, unit in set(field.name, value.tableText(in: unit)) }
        return row
    }
}

extension ParameterValue {
    /// Text as it is, numbers, flags and lists as in JSON, nothing for null.
    fileprivate func tableText(in unit: Unit) -> String {
        if case .text(let text) = self { return text }
        var buffer = JSONBuffer(capacity: 32)
        buffer.append(self, in: unit)
        let text = buffer.text
        return text == "null" ? "" : text
    }
}
