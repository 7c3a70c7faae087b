import Foundation
import HemiolaRecords
import Testing

@Suite struct RecordSchemaTests {
    private let catalog = Fixture.catalog
    private let records = RecordSchema.records(Fixture.catalog)

    @Test func `table: every record type, in the order of the manual`() {
        #expect(RecordSchema.records(catalog).map(\.type) == catalog.recordTypes)
    }

    @Test func `keys of records: reserved as analyzer names`() {
        let reserved = Set(RecordSchema.reservedNames(catalog).keys)
        #expect(reserved.isSuperset(of: ["type", "file", "n", "t", "source", "analyzer", "dropped", "presets"]))
        #expect(reserved.isDisjoint(with: ["levels", "spectrum", "visualizer", "beat"]))
        // A key that only a plugin declares is reserved only in a catalog with that plugin.
        #expect(reserved.isSuperset(of: ["verb", "hands", "people", "speed"]))
        let standard = Set(RecordSchema.reservedNames(.standard).keys)
        #expect(standard.isDisjoint(with: ["verb", "hands", "people", "speed", "presets"]))
    }

    @Test func `reserved name: has its place`() {
        let reserved = RecordSchema.reservedNames(catalog)
        #expect(reserved["levels"] == nil && reserved["file"] == "all records" && reserved["ok"] == "replies to clients")
        #expect(reserved["t"] == "\"batch\" records" && reserved["speed"] == "\"speed\" records")
    }

    @Test func `analyzers: the id of one is no field of a record, and no line of Hemiola's own`() {
        #expect(
            RecordSchema.conflicts(in: catalog, analyzers: ["levels", "non-finite", "batch", "ok"]) == [
                "the analyzer \"non-finite\" has the name of the field \"non_finite\" of \"end\" records; rename it",
                "the analyzer \"batch\" has the name of Hemiola's own \"batch\" records; rename it",
                "the analyzer \"ok\" has the name of the field \"ok\" of replies to clients; rename it",
            ])
    }

    @Test func `fixture: a line of every record type`() throws {
        let types = try (Fixture.allLines() + Fixture.failureLines).map { try JSONValue(line: $0)["type"]?.string }
        #expect(Set(types) == Set(catalog.recordTypes))
    }

    @Test(arguments: [nil, "a.wav"])
    func `every line: exactly the keys of the table, in its order, with its types`(file: String?) throws {
        for line in Fixture.allLines(file: file) + (file == nil ? [] : Fixture.failureLines) {
            let parsed = try JSONValue(line: line)
            let record = try #require(records.first { $0.type == parsed["type"]?.string })
            let analyzers = ["levels", "wide"]
            let members = (parsed.members ?? []).dropFirst(file == nil ? 1 : 2).filter { !analyzers.contains($0.key) }
            if let fault = fault(in: members, record.fields) { Issue.record("\(record.type): \(fault) in \(line)") }
        }
    }

    @Test func `fixture: every optional key and every choice of the table`() throws {
        var seen: Set<String> = []
        for line in Fixture.allLines() + Fixture.failureLines {
            let parsed = try JSONValue(line: line)
            let type = try #require(parsed["type"]?.string)
            for member in parsed.members ?? [] {
                seen.insert("\(type).\(member.key)")
                if let text = member.value.string { seen.insert("\(type).\(member.key).\(text)") }
            }
        }
        for record in records {
            for field in record.fields {
                #expect(seen.contains("\(record.type).\(field.name)"))
                if case .choice(let names) = field.kind {
                    for name in names { #expect(seen.contains("\(record.type).\(field.name).\(name)")) }
                }
            }
        }
    }

    @Test func `key in several records: one JSON type`() throws {
        var kinds: [String: String] = [:]
        func walk(_ value: JSONValue, _ path: String, _ line: String) {
            switch value {
            case .null: break
            case .boolean: note("boolean", path, line)
            case .integer: note("integer", path, line)
            case .number: note("number", path, line)
            case .text: note("string", path, line)
            case .list(let elements):
                note("list", path, line)
                // The values of a setting may differ within its list.
                for element in elements { walk(element, path + "[]", line) }
            case .object(let members):
                note("object", path, line)
                for member in members { walk(member.value, "\(path).\(member.key)", line) }
            }
        }
        func note(_ kind: String, _ path: String, _ line: String) {
            let known = kinds.updateValue(kind, forKey: path) ?? kind
            #expect(known == kind, "\(path) in \(line)")
        }
        for line in Fixture.allLines(file: "a.wav") { walk(try JSONValue(line: line), "", line) }
        #expect(kinds.count > 80)
    }

    @Test func `key in several rows of the table: one type`() {
        var kinds: [String: Field.Kind] = [:]
        for field in records.flatMap(\.fields) {
            let known = kinds.updateValue(field.kind.base, forKey: field.name) ?? field.kind.base
            #expect(known == field.kind.base, "\(field.name)")
        }
    }

    // MARK: Against the table

    private func fault(in members: some Collection<JSONValue.Member>, _ fields: [Field]) -> String? {
        let expected = fields.filter { field in !field.isOptional || members.contains { $0.key == field.name } }
        guard members.map(\.key) == expected.map(\.name) else { return "\(members.map(\.key)) are not \(expected.map(\.name))" }
        for (member, field) in zip(members, expected) {
            if let fault = fault(in: member.value, field) { return "\(member.key): \(fault)" }
        }
        return nil
    }

    private func fault(in value: JSONValue, _ field: Field) -> String? {
        fault(in: value, field.isNullable ? .nullable(field.kind) : field.kind, of: field)
    }

    private func fault(in value: JSONValue, _ kind: Field.Kind, of field: Field) -> String? {
        switch (kind, value) {
        case (.integer, .integer), (.boolean, .boolean), (.text, .text), (.nullable, .null), (.parameter, _):
            return nil
        case (.number, .number(let number, _)):
            return number >= field.minimum ?? number && number <= field.maximum ?? number ? nil : "\(number) is out of range"
        case (.choice(let names), .text(let text)):
            return names.contains(text) ? nil : "\(text) is no choice"
        case (.nullable(let kind), _):
            return fault(in: value, kind, of: field)
        case (.list(let kind), .list(let elements)):
            if let count = field.count, count != elements.count { return "\(elements.count) elements" }
            return elements.lazy.compactMap { fault(in: $0, kind, of: field) }.first
        case (.object(let fields), .object(let members)):
            return fault(in: members, fields)
        case (.table(let kind), .object(let members)):
            // The numbers of a table may be counts.
            let kinds = kind == .nullable(.number) ? [kind, .integer] : [kind]
            return members.lazy.compactMap { member in
                let faults = kinds.map { fault(in: member.value, $0, of: field) }
                return faults.contains(nil) ? nil : faults[0]
            }.first
        default:
            return "\(value) is no \(kind)"
        }
    }
}

extension Field.Kind {
    /// The JSON type only: nullability and choices may differ between records.
    fileprivate var base: Self {
        switch self {
        case .nullable(let kind): kind.base
        case .choice: .text
        case .list(let kind): .list(of: kind.base)
        default: self
        }
    }
}
