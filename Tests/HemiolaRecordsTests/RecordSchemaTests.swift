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
        let reserved = RecordSchema.reservedNames(catalog)
        #expect(reserved.isSuperset(of: ["type", "file", "n", "t", "source", "analyzer", "dropped", "presets"]))
        #expect(reserved.isDisjoint(with: ["levels", "spectrum", "visualizer", "beat"]))
        // A key that only a plugin declares is reserved only in a catalog with that plugin.
        #expect(reserved.isSuperset(of: ["verb", "hands", "people", "speed"]))
        #expect(RecordSchema.reservedNames(.standard).isDisjoint(with: ["verb", "hands", "people", "speed", "presets"]))
    }

    @Test func `fixture: a line of every record type`() throws {
        #expect(Set(try (Fixture.allLines() + Fixture.failureLines).map { try ParsedJSON($0)["type"]?.string }) == Set(catalog.recordTypes))
    }

    @Test(arguments: [nil, "a.wav"])
    func `every line: exactly the keys of the table, in its order, with its types`(file: String?) throws {
        for line in Fixture.allLines(file: file) + (file == nil ? [] : Fixture.failureLines) {
            let parsed = try ParsedJSON(line)
            let record = try #require(records.first { $0.type == parsed["type"]?.string })
            let analyzers = ["levels", "wide"]
            let members = parsed.members.dropFirst(file == nil ? 1 : 2).filter { !analyzers.contains($0.key) }
            if let fault = fault(in: members, record.fields) { Issue.record("\(record.type): \(fault) in \(line)") }
        }
    }

    @Test func `fixture: every optional key and every choice of the table`() throws {
        var seen: Set<String> = []
        for line in Fixture.allLines() + Fixture.failureLines {
            let parsed = try ParsedJSON(line)
            let type = try #require(parsed["type"]?.string)
            for member in parsed.members {
                seen.insert("\(type).\(member.key)")
                if let text = member.value.string { seen.insert("\(type).\(member.key).\(text)") }
            }
        }
        for record in records {
            for field in record.fields {
                #expect(seen.contains("\(record.type).\(field.name)"))
                if case .choice(let names) = field.type {
                    for name in names { #expect(seen.contains("\(record.type).\(field.name).\(name)")) }
                }
            }
        }
    }

    @Test func `key in several records: one JSON type`() throws {
        var kinds: [String: String] = [:]
        func walk(_ value: ParsedJSON, _ path: String, _ line: String) {
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
        for line in Fixture.allLines(file: "a.wav") { walk(try ParsedJSON(line), "", line) }
        #expect(kinds.count > 80)
    }

    @Test func `key in several rows of the table: one type`() {
        var kinds: [String: RecordSchema.FieldType] = [:]
        for field in records.flatMap(\.fields) {
            let known = kinds.updateValue(field.type.base, forKey: field.name) ?? field.type.base
            #expect(known == field.type.base, "\(field.name)")
        }
    }

    // MARK: Against the table

    private func fault(in members: some Collection<ParsedJSON.Member>, _ fields: [RecordSchema.Field]) -> String? {
        let expected = fields.filter { field in !field.isOptional || members.contains { $0.key == field.name } }
        guard members.map(\.key) == expected.map(\.name) else { return "\(members.map(\.key)) are not \(expected.map(\.name))" }
        for (member, field) in zip(members, expected) {
            if let fault = fault(in: member.value, field.type) { return "\(member.key): \(fault)" }
        }
        return nil
    }

    private func fault(in value: ParsedJSON, _ type: RecordSchema.FieldType) -> String? {
        switch (type, value) {
        case (.integer, .integer), (.number, .number), (.boolean, .boolean), (.text, .text), (.nullable, .null),
            (.figure, .integer), (.figure, .number), (.parameter, _):
            return nil
        case (.measurement(let minimum, let maximum), .number(let text)):
            guard let number = Double(text) else { return "\(text) is no number" }
            return number >= minimum ?? number && number <= maximum ?? number ? nil : "\(text) is out of range"
        case (.choice(let names), .text(let text)):
            return names.contains(text) ? nil : "\(text) is no choice"
        case (.nullable(let type), _):
            return fault(in: value, type)
        case (.list(let type, let count), .list(let elements)):
            if let count, count != elements.count { return "\(elements.count) elements" }
            return elements.lazy.compactMap { fault(in: $0, type) }.first
        case (.object(let fields), .object(let members)):
            return fault(in: members, fields)
        case (.table(let type), .object(let members)):
            return members.lazy.compactMap { fault(in: $0.value, type) }.first
        default:
            return "\(value) is no \(type)"
        }
    }
}

extension RecordSchema.FieldType {
    /// The JSON type only: nullability, range and choices may differ between records.
    fileprivate var base: Self {
        switch self {
        case .nullable(let type): type.base
        case .choice: .text
        case .measurement: .number
        case .list(let type, _): .list(type.base, count: nil)
        default: self
        }
    }
}
