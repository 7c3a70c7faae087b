import Foundation
import HemiolaRecords
import Testing

/// A record type and a control of an external plugin: their declarations are sufficient for records, schema, columns and hello.
@Suite struct DeclaredRecordTests {
    private let analyzers = Fixture.header().analyzers

    // MARK: Lines

    @Test func `declared record: its fields in declared order, each with its unit and its source`() {
        #expect(
            Fixture.line(Fixture.claps[0], batchEnd: 0.25)
                == #"{"type":"clap","t":0.5,"frame":22050,"emitted_t":0.25,"due_in_s":0.25,"verb":"clap","hands":2,"#
                + #""loudness_db":-6.021,"is_rhythmic":true,"place":"ü \"\\\n","manner":"loud","people":["a","b,c"],"#
                + #""partials_hz":[440.0,880.13],"length_s":0.01,"length_frames":441}"#)
        #expect(
            Fixture.line(Fixture.claps[1], batchEnd: 0.5)
                == #"{"type":"clap","t":0.25,"frame":11025,"emitted_t":0.5,"due_in_s":-0.25,"verb":"clap","hands":null,"#
                + #""loudness_db":null,"is_rhythmic":false,"place":null,"manner":"soft","people":[],"#
                + #""partials_hz":[null],"length_s":0.0,"length_frames":0}"#)
    }

    @Test func `declared control: its fields are between its name and its origin`() {
        #expect(
            Fixture.line(StampedControl(Fixture.clapControls[0], at: 1024, from: "key"))
                == #"{"type":"control","t":0.5,"frame":1024,"control":"setClap","hands":4,"loudness_db":-12.5,"is_rhythmic":false,"#
                + #""place":"ü","manner":"loud","people":["a","b"],"partials_hz":[440.0,880.5],"from":"key"}"#)
    }

    @Test func `record of a declared control, decoded: equal to the control`() throws {
        for control in Fixture.clapControls {
            let line = Fixture.line(StampedControl(control, at: 1024, from: "key"))
            #expect(try Control(.setClap, from: JSONValue(Array(line.utf8))) == control)
        }
    }

    @Test func `selection of a declared type: only this type is written`() {
        let encoder = RecordEncoder(
            Fixture.header(), selection: Selection(items: ["clap"], catalog: Fixture.catalog))
        let lines = Fixture.lines { encoder.encode(Fixture.block(events: [Fixture.events])[0], into: &$0) }
        #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix(#"{"type":"clap","#) })
    }

    // MARK: Schema

    @Test(arguments: [nil, "a.wav"])
    func `JSON Schema: accepts every line`(file: String?) throws {
        let validator = try SchemaValidator(SchemaText.jsonSchema(analyzers: analyzers, catalog: Fixture.catalog))
        for line in Fixture.allLines(file: file) {
            // Bounds are left out: the values of the fixture are not those of a real analyzer.
            if let fault = try validator.fault(in: line) { Issue.record("\(fault) in \(line)") }
        }
    }

    @Test(arguments: [
        (#""hands":2"#, #""hands":"2""#), (#""hands":2"#, #""hands":2.5"#), (#""loudness_db":-6.021"#, #""loudness_db":1.0"#),
        (#""is_rhythmic":true"#, #""is_rhythmic":null"#), (#""manner":"loud""#, #""manner":"other""#), (#""verb":"clap","#, ""),
        (#""people":["a","b,c"]"#, #""people":["a",1]"#), (#""length_s":0.01"#, #""length_s":-0.01"#),
        (#""verb":"clap""#, #""verb":"bow""#),
        (#""hands":2"#, #""hands":2,"feet":2"#),
    ])
    func `JSON Schema, line that differs from the declaration: refused`(part: String, other: String) throws {
        let line = Fixture.line(Fixture.claps[0], batchEnd: 0.25)
        try #require(line.contains(part))
        let validator = try SchemaValidator(SchemaText.jsonSchema(analyzers: analyzers, catalog: Fixture.catalog))
        #expect(try validator.fault(in: line) == nil)
        #expect(try validator.fault(in: line.replacing(part, with: other)) != nil)
    }

    @Test func `JSON Schema without the plugin: refuses its records and controls`() throws {
        let validator = try SchemaValidator(SchemaText.jsonSchema(analyzers: analyzers, catalog: .standard))
        #expect(try validator.fault(in: Fixture.line(Fixture.claps[0], batchEnd: 0.25)) != nil)
        #expect(try validator.fault(in: Fixture.line(StampedControl(Control(.tap), at: 0, from: "key"))) != nil)
        #expect(try validator.fault(in: Fixture.line(Onset(strength: 1))) == nil)
    }

    @Test func `declared fields: columns`() throws {
        let text = SchemaText.columns(analyzers: analyzers, catalog: Fixture.catalog)
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let duckDB = try #require(document["duckdb"] as? [String: String])
        let types = [
            "hands": "BIGINT", "loudness_db": "DOUBLE", "is_rhythmic": "BOOLEAN", "place": "VARCHAR", "manner": "VARCHAR",
            "people": "VARCHAR[]", "partials_hz": "DOUBLE[]", "length_s": "DOUBLE", "length_frames": "BIGINT", "verb": "VARCHAR",
        ]
        for (name, type) in types { #expect(duckDB[name] == type, "\(name)") }
        let neutral = try #require(document["columns"] as? [String: Any])
        #expect(neutral["partials_hz"] as? [String] == ["float64"] && neutral["hands"] as? String == "int64")
        let pandas = try #require(document["pandas"] as? [String: String])
        #expect(pandas["is_rhythmic"] == "boolean" && pandas["hands"] == "Int64" && pandas["people"] == "object")
    }

    // MARK: Clients

    @Test func `hello: the fields of the header, all declarations and the fields that the caller adds`() throws {
        let encoder = RecordEncoder(Fixture.header(), selection: Selection(items: ["beat"]))
        let hello = try JSONValue(
            line: Fixture.lines { buffer in encoder.encodeHello(into: &buffer) { $0.append(#","extra":{"a":1}"#) } }[0])
        #expect(
            hello.keys == [
                "type", "schema", "hemiola", "source", "sample_rate", "channels", "batch_frames", "seed", "analyzers", "records",
                "controls",
                "extra",
            ])
        #expect(hello["type"]?.string == "hello")
        #expect(hello["records"]?.elements?.map { $0["name"]?.string } == Fixture.catalog.events.map(\.name))
        #expect(hello["controls"]?.elements?.map { $0["name"]?.string } == Fixture.catalog.controls.map(\.name))
        let control = try #require(hello["controls"]?.elements?.first { $0["name"]?.string == "setClap" })
        #expect(
            try control
                == JSONValue(
                    line: #"{"name":"setClap","description":"Changes the clap.","fields":["#
                        + #"{"name":"hands","type":"integer","unit":"","minimum":0.0,"maximum":4.0,"nullable":true,"required":false,"#
                        + #""description":"The number of hands."},"#
                        + #"{"name":"loudness_db","type":"number","unit":"dBFS","minimum":-120.0,"maximum":0.0,"nullable":false,"#
                        + #""required":true,"description":"The level."},"#
                        + #"{"name":"is_rhythmic","type":"boolean","unit":"","nullable":false,"required":false,"#
                        + #""description":"Whether it follows the beat."},"#
                        + #"{"name":"place","type":"text","unit":"","nullable":true,"required":true,"description":"The place; null: none."},"#
                        + #"{"name":"manner","type":"choice","choices":["soft","loud"],"unit":"","nullable":false,"required":false,"#
                        + #""description":"The manner."},"#
                        + #"{"name":"people","type":"texts","unit":"","nullable":false,"required":false,"description":"The people."},"#
                        + #"{"name":"partials_hz","type":"numbers","unit":"Hz","nullable":false,"required":true,"#
                        + #""description":"The frequencies of its partials."}]}"#))
        let record = try #require(hello["records"]?.elements?.first { $0["name"]?.string == "clap" })
        #expect(record["fields"]?.elements?.map { $0["name"]?.string } == RecordType.clap.fields.map(\.name))
    }
}

// MARK: - Conflicts

@Suite struct RecordCatalogConflictTests {
    private func conflicts(records: [RecordType] = [], controls: [ControlType] = []) -> [String] {
        RecordSchema.conflicts(in: RecordCatalog(records: records, controls: controls))
    }

    @Test func `catalog of the fixture: no conflict`() {
        #expect(RecordSchema.conflicts(in: Fixture.catalog) == [])
        #expect(RecordSchema.conflicts(in: .standard) == [])
    }

    @Test func `equal declarations of a record type or control: counted once`() {
        let again = RecordType("clap", "Another sentence.", fields: RecordType.clap.fields)
        let catalog = RecordCatalog(records: [.clap, again, .onset], controls: [.setClap, .setClap])
        #expect(RecordSchema.conflicts(in: catalog) == [])
        #expect(catalog.events.count { $0.name == "clap" } == 1 && catalog.controls.count == 1)
        #expect(catalog.recordTypes.count { $0 == "onset" } == 1)
    }

    @Test func `two record types of one name with different fields: a conflict`() {
        let other = RecordType("clap", "Two hands meet.", fields: [.integer("hands", "The number of hands.")])
        #expect(conflicts(records: [.clap, other]) == ["two plugins declare the record type \"clap\" with different fields"])
        let onset = RecordType("onset", "Another onset.", fields: [])
        #expect(conflicts(records: [onset]) == ["two plugins declare the record type \"onset\" with different fields"])
    }

    @Test func `two controls of one name with different fields: a conflict`() {
        let other = ControlType("setClap", "Changes the clap.", fields: [.text("place", "The place.")])
        #expect(conflicts(controls: [.setClap, other]) == ["two plugins declare the control \"setClap\" with different fields"])
    }

    @Test(arguments: ["header", "batch", "end"])
    func `a record type with the name of a line that is no event: a conflict`(name: String) {
        #expect(
            conflicts(records: [RecordType(name, "A record.", fields: [])]) == [
                "a plugin declares the record type \"\(name)\", which is Hemiola's own"
            ])
    }

    @Test(arguments: [
        Field.number("hands", "A number."), .text("loudness_db", "A text."), .numbers("people", "Numbers."),
        .text("partials_hz", "A text."),
        .integer("bpm", "A whole number."), .text("frames", "A text."), .boolean("reason", "A flag."),
    ])
    func `a field with another JSON type than in another record: a conflict`(field: Field) {
        let other = RecordType("other", "Another record.", fields: [field])
        let found = conflicts(records: [.clap, other])
        #expect(found.count == 1 && found.first?.hasPrefix("the field \"\(field.name)\" has one type in") == true, "\(found)")
    }

    @Test(arguments: [
        Field.integer("hands", in: 5...6, "Another range."), .choice("place", of: ["a"], "A choice of texts."),
        .text("manner", "Any text."),
        .number("loudness_db", unit: .hertz, "Another unit."), .text("reason", "Any text."),
    ])
    func `a field with the same JSON type as in another record: no conflict`(field: Field) {
        #expect(conflicts(records: [.clap, RecordType("other", "Another record.", fields: [field])]) == [])
    }

    @Test func `fields of controls with one name and different JSON types: a conflict`() {
        let other = ControlType("other", "Another control.", fields: [.text("hands", "A text.")])
        #expect(conflicts(controls: [.setClap, other]).count == 1)
        #expect(conflicts(records: [.clap], controls: [other]).count == 1)
    }

    @Test(arguments: ["type", "t", "file", "file_base64"])
    func `a field with the name of a key that every record has: a conflict`(name: String) {
        for field in [Field.text(name, "A text."), .number(name, unit: .seconds, "A number.")] {
            #expect(conflicts(records: [RecordType("other", "Another record.", fields: [field])]).count == 1, "\(field.kind)")
            #expect(conflicts(controls: [ControlType("other", "Another control.", fields: [field])]).count == 1, "\(field.kind)")
        }
    }

    @Test(arguments: [Field.integer("frame", "Any frame."), .number("emitted_t", "Any time."), .number("due_in_s", "Any time.")])
    func `a stored field with the name of one whose value Hemiola writes: a conflict`(field: Field) {
        #expect(conflicts(records: [RecordType("other", "Another record.", fields: [field])]).count == 1)
        #expect(conflicts(controls: [ControlType("other", "Another control.", fields: [field])]).count == 1)
        let own = RecordType("other", "Another record.", fields: [.frame, .emittedTime, .timeUntilEvent])
        #expect(conflicts(records: [own]) == [])
    }

    @Test(arguments: [
        Field.integer("frame", "A frame."), .text("control", "A name."), .text("from", "A sender."), .text("id", "A number."),
    ])
    func `a field of a control with the name of a key of its record or message: a conflict`(field: Field) {
        #expect(conflicts(controls: [ControlType("other", "Another control.", fields: [field])]).count == 1)
    }

    @Test func `controls that share a field's name: their records are valid with the bounds and choices of each`() throws {
        let first = ControlType(
            "first", "A control.", fields: [.number("amount", in: 0...1, "An amount."), .choice("mode", of: ["a"], "A mode.")])
        let second = ControlType(
            "second", "Another control.",
            fields: [.number("amount", nullable: true, in: 5...6, "An amount."), .choice("mode", of: ["b"], "A mode.")])
        let catalog = RecordCatalog(controls: [first, second])
        #expect(RecordSchema.conflicts(in: catalog) == [])
        let validator = try SchemaValidator(SchemaText.jsonSchema(analyzers: nil, catalog: catalog))
        for control in [
            Control(first, .number(0.5), .text("a")), Control(second, .number(5.5), .text("b")), Control(second, .none, .text("b")),
        ] {
            #expect(try validator.fault(in: Fixture.line(StampedControl(control, at: 0, from: "key"))) == nil, "\(control)")
        }
        #expect(try validator.fault(in: Fixture.line(StampedControl(Control(first, .number(7), .text("a")), at: 0, from: "key"))) != nil)
    }
}
