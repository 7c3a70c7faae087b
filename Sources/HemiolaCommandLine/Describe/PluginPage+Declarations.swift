internal import Hemiola

// The record types and controls that a plugin declares, for `hemiola plugins NAME`.

extension PluginPage {
    /// The sections `Records` and `Controls`; empty when the plugin declares none.
    func declarationText(_ columns: Int) -> String {
        section("Records", about.records.map { Entry($0.name, $0.summary, $0.fields) }, columns)
            + section("Controls", about.controls.map { Entry($0.name, $0.summary, $0.fields) }, columns)
            + section(
                "Controls handled only if no other plugin of the pipeline handles them",
                about.fallbackControls.map { Entry($0.name, $0.summary, $0.fields) }, columns)
    }

    /// Members of the JSON object of a plugin: `records`, `controls` and `fallback_controls`.
    var declarationMembers: [JSONValue.Member] {
        [
            .init("records", .list(about.records.map { Entry($0.name, $0.summary, $0.fields).json })),
            .init("controls", .list(about.controls.map { Entry($0.name, $0.summary, $0.fields).json })),
            .init("fallback_controls", .list(about.fallbackControls.map { Entry($0.name, $0.summary, $0.fields).json })),
        ]
    }

    private func section(_ title: String, _ entries: [Entry], _ columns: Int) -> String {
        if entries.isEmpty { return "" }
        let width = entries.map(\.name.count).max() ?? 0
        var text = "\n\(title)\n"
        for entry in entries {
            text += "  \(entry.name.padded(to: width))  "
            text += entry.summary.wrapped(indent: width + 4, columns: columns).drop { $0 == " " }
            let fieldWidth = entry.fields.map(\.name.count).max() ?? 0
            for field in entry.fields {
                text += "    \(field.name.padded(to: fieldWidth))  \(field.valuesText)\n"
                text += field.summary.wrapped(indent: fieldWidth + 6, columns: columns)
            }
        }
        return text
    }

    /// A record type or a control.
    private struct Entry {
        let name: String
        let summary: String
        let fields: [Field]

        init(_ name: String, _ summary: String, _ fields: [Field]) {
            self.name = name
            self.summary = summary
            self.fields = fields
        }

        var json: JSONValue {
            .object([.init("name", .text(name)), .init("description", .text(summary)), .init("fields", .list(fields.map(\.json)))])
        }
    }
}
