import HemiolaRecords
import HemiolaSignal
import HemiolaSystem
import Testing

/// Features and fields whose values are categories: in records a text, with its number beside it.
@Suite struct CategoryTests {
    private static let notes = ["C", "Db", "\"D\""]
    private static let type = RecordType("chord", "A chord.", fields: Field.category("root", labels: notes, nullable: true, "The root."))
    private static let catalog = RecordCatalog(records: [type])

    private static var outputs: AnalyzerOutputs {
        var outputs = AnalyzerOutputs()
        _ = outputs.add(Feature("mode", labels: ["major", "minor"], "The mode."))
        _ = outputs.add(Feature("root", labels: notes, "The root."))
        _ = outputs.add(Feature("confidence", .ratio, "The confidence."))
        outputs.add(type)
        return outputs
    }

    private static let header = StreamHeader(
        source: StreamSource(format: Fixture.format, kind: "file", name: "a.wav"), isLive: false, batching: .standard, seed: 0,
        analyzers: [.init(name: "harmony", id: "har-mony", version: 1, parameters: [], outputs: outputs)], catalog: catalog)

    private static func line(_ row: [Float], select items: [String] = []) -> String {
        let encoder = RecordEncoder(header, selection: items.isEmpty ? .all : Selection(items: items, catalog: catalog))
        return Fixture.lines { encoder.encode(Fixture.block(header, row: row)[0], into: &$0) }[0]
    }

    @Test(
        arguments: [
            ([1, 2, 0.5], #""harmony":{"mode":"minor","mode_number":1,"root":"\"D\"","root_number":2,"confidence":0.5}"#),
            ([.nan, 0, .nan], #""harmony":{"mode":null,"mode_number":null,"root":"C","root_number":0,"confidence":null}"#),
            ([7, -1, 1], #""harmony":{"mode":null,"mode_number":7,"root":null,"root_number":-1,"confidence":1.0}"#),
        ] as [([Float], String)])
    func `batch: the text and the number of each category`(row: [Float], expected: String) {
        #expect(Self.line(row).contains(expected), "\(Self.line(row))")
    }

    @Test func `selection of one category: its text and its number`() {
        #expect(Self.line([1, 2, 0.5], select: ["harmony.root"]).hasSuffix(#""harmony":{"root":"\"D\"","root_number":2}}"#))
    }

    @Test(arguments: ["musical-key", "musical_key", "batch.musical-key", "batch.musical_key"])
    func `selection: an analyzer by its id or by its name in records`(item: String) {
        #expect(Selection(items: [item]).contains("musical_key", "tonic"))
        #expect(Selection(items: [item + ".tonic"]).featurePaths.map(\.text) == ["musical_key.tonic"])
    }

    @Test(arguments: [
        ("harmony.rot", "did you mean harmony?"), ("levels.rms", "add the analyzer: --analyzer +levels"),
        ("xyz", "\"hemiola schema --columns --summary\" lists all"),
    ])
    func `item that is no value of a summary: a hint`(item: String, hint: String) {
        let selection = SummarySelection(Self.header.analyzers, [])
        let problem = #expect(throws: Problem.self) { try selection.path(of: item, installed: ["harmony", "levels"]) }
        #expect(problem?.message == "\"\(item)\" is not a value of a summary; \(hint)")
    }

    @Test func `records, decoded and encoded: the same bytes`() throws {
        let encoder = RecordEncoder(Self.header)
        let summary = StreamSummary(
            frames: 1024, batches: 1,
            sections: [
                .init(
                    analyzer: "harmony",
                    values: [SummaryValue("key", text: "C major"), SummaryValue("other", text: nil)]
                        + SummaryValue.category("root", 2, labels: Self.notes) + SummaryValue.category("mode", nil, labels: []))
            ], reason: .endOfInput)
        let lines = Fixture.lines { buffer in
            encoder.encodeHeader(into: &buffer)
            encoder.encode(
                Fixture.block(
                    Self.header, row: [1, .nan, 0.5],
                    events: [[Event(at: 0, Self.type, .text("Db"), .integer(1)), Event(at: 0, Self.type)]])[
                        0], into: &buffer)
            encoder.encodeEnd(summary, into: &buffer)
        }
        #expect(lines.count == 5 && lines[0].contains(#""labels":["major","minor"]"#))
        #expect(lines[2].contains(#""root":"Db","root_number":1"#) && lines[3].contains(#""root":null,"root_number":null"#))
        #expect(
            lines[4].contains(
                #"{"key":"C major","other":null,"root":"\"D\"","root_number":2,"mode":null,"mode_number":null}"#), "\(lines[4])")
        var decoder = RecordDecoder(catalog: Self.catalog)
        #expect(try Fixture.again(lines, &decoder) == lines)
    }

    @Test func `labels of a list, and a feature with the name of a category's number: faults`() throws {
        let encoder = RecordEncoder(Self.header)
        let header = Fixture.lines { encoder.encodeHeader(into: &$0) }[0]
        for (text, other) in [(#""list":false"#, #""list":true"#), (#""name":"confidence""#, #""name":"mode_number""#)] {
            var decoder = RecordDecoder(catalog: Self.catalog)
            #expect(throws: Problem.self) { try decoder.decode(Array(header.replacing(text, with: other, maxReplacements: 1).utf8)) }
        }
    }

    @Test func `schema: a text of the labels and a whole number, either may be null`() throws {
        let analyzers = Self.header.analyzers
        let validator = try SchemaValidator(SchemaText.jsonSchema(analyzers: analyzers, catalog: Self.catalog))
        let (valid, empty) = (Self.line([1, 2, 0.5]), Self.line([.nan, .nan, .nan]))
        for line in [valid, empty] { #expect(try validator.fault(in: line) == nil) }
        #expect(try validator.fault(in: valid.replacing("\"minor\"", with: "\"dorian\"")) != nil)
        #expect(try validator.fault(in: valid.replacing("\"mode_number\":1", with: "\"mode_number\":1.5")) != nil)
        #expect(SchemaText.columns(analyzers: analyzers, catalog: Self.catalog).contains("\"harmony.mode_number\""))
        #expect(!SchemaText.columns(ofSummary: SummarySelection(Self.header.analyzers, [])).contains("root"))
    }
}
