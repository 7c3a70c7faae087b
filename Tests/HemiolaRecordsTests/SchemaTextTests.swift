import Foundation
import HemiolaRecords
import Testing

@Suite struct SchemaTextTests {
    private let analyzers = Fixture.header().analyzers

    private let columns = SchemaText.columns(analyzers: Fixture.header().analyzers, catalog: Fixture.catalog)

    private func document(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func record(_ type: String, in text: String) throws -> [String: Any] {
        try #require((try document(text)["$defs"] as? [String: Any])?[type] as? [String: Any])
    }

    private func properties(_ schema: [String: Any]) -> [String: [String: Any]] {
        schema["properties"] as? [String: [String: Any]] ?? [:]
    }

    // MARK: JSON Schema

    @Test func `schema: one alternative per record type`() throws {
        let text = SchemaText.jsonSchema(analyzers: analyzers, catalog: Fixture.catalog)
        let references = try #require(try document(text)["oneOf"] as? [[String: String]])
        #expect(references.map { $0["$ref"] } == Fixture.catalog.recordTypes.map { "#/$defs/\($0)" })
        for type in Fixture.catalog.recordTypes {
            let record = try record(type, in: text)
            #expect(properties(record)["type"]?["const"] as? String == type)
            #expect(record["additionalProperties"] as? Bool == false)
            #expect((record["required"] as? [String])?.contains("file") == false)
        }
    }

    @Test func `schema of a batch: its analyzers, with the length of every list`() throws {
        let batch = try record("batch", in: SchemaText.jsonSchema(analyzers: analyzers, catalog: Fixture.catalog))
        #expect(batch["required"] as? [String] == ["type", "n", "frame", "t", "levels", "wide"])
        let wide = try #require(properties(batch)["wide"])
        #expect(wide["required"] as? [String] == ["bands_db", "centroid_hz", "flatness", "mfcc"])
        #expect(wide["additionalProperties"] as? Bool == false)
        let bands = try #require(properties(wide)["bands_db"])
        #expect(bands["type"] as? String == "array")
        #expect(bands["minItems"] as? Int == 3)
        #expect(bands["maxItems"] as? Int == 3)
        #expect((bands["items"] as? [String: Any])?["type"] as? [String] == ["number", "null"])
        let flatness = try #require(properties(wide)["flatness"])
        #expect(flatness["type"] as? [String] == ["number", "null"])
        #expect(flatness["maximum"] as? Double == 1)
    }

    @Test func `schema without analyzers: any analyzer is valid in a batch`() throws {
        let batch = try record("batch", in: SchemaText.jsonSchema(analyzers: nil, catalog: Fixture.catalog))
        #expect(batch["additionalProperties"] is [String: Any])
        let onset = try record("onset", in: SchemaText.jsonSchema(analyzers: nil, catalog: Fixture.catalog))
        #expect(onset["additionalProperties"] as? Bool == false)
    }

    @Test func `schema with a selection: only the selected records and features`() throws {
        let text = SchemaText.jsonSchema(
            analyzers: analyzers, selection: Selection(items: ["beat", "wide.mfcc"]), catalog: Fixture.catalog)
        #expect((try document(text)["oneOf"] as? [Any])?.count == 2)
        #expect(
            Set(properties(try record("batch", in: text)).keys) == ["type", "file", "file_base64", "n", "frame", "t", "wide", "partial"])
    }

    @Test func `schema: null is valid only for keys that the table declares nullable`() throws {
        let text = SchemaText.jsonSchema(analyzers: analyzers, catalog: Fixture.catalog)
        let beat = properties(try record("beat", in: text))
        #expect(beat["position"]?["type"] as? [String] == ["integer", "null"])
        #expect(beat["bpm"]?["type"] as? String == "number")
        let control = try record("control", in: text)
        #expect(properties(control)["bpm"]?["type"] as? [String] == ["number", "null"])
        #expect(control["required"] as? [String] == ["type", "t", "frame", "control", "from"])
    }

    // MARK: Columns

    @Test func `columns: one for every key of every record`() throws {
        let text = columns
        let document = try document(text)
        let columns = try #require(document["columns"] as? [String: Any])
        let duckDB = try #require(document["duckdb"] as? [String: String])
        let names = Set(
            RecordSchema.records(Fixture.catalog).flatMap { $0.fields.map(\.name) } + ["type", "file", "file_base64", "levels", "wide"])
        #expect(Set(columns.keys) == names)
        #expect(Set(duckDB.keys) == names)
        #expect(try JSONValue(line: text)["columns"]?.keys.prefix(2) == ["type", "file"])
    }

    @Test func `columns, neutral: nested types`() throws {
        let columns = try #require(try document(self.columns)["columns"] as? [String: Any])
        #expect(columns["type"] as? String == "string")
        #expect(columns["n"] as? String == "int64")
        #expect(columns["t"] as? String == "float64")
        #expect(columns["locked"] as? String == "bool")
        #expect(columns["values"] as? [String] == ["float64"])
        #expect(columns["summaries"] as? String == "json")
        let wide = try #require(columns["wide"] as? [String: Any])
        #expect(wide["bands_db"] as? [String] == ["float64"])
        #expect(wide["centroid_hz"] as? String == "float64")
        let analyzer = try #require((columns["analyzers"] as? [[String: Any]])?.first)
        #expect(analyzer["parameters"] as? String == "json")
        #expect((analyzer["outputs"] as? [[String: Any]])?.first?["edges_hz"] as? [String] == ["float64"])
    }

    @Test func `columns, DuckDB and pandas: their types`() throws {
        let document = try document(self.columns)
        let duckDB = try #require(document["duckdb"] as? [String: String])
        #expect(duckDB["levels"] == #"STRUCT("rms_db" DOUBLE, "channel_rms_db" DOUBLE[])"#)
        #expect(
            duckDB["source"]
                == #"STRUCT("kind" VARCHAR, "name" VARCHAR, "name_base64" VARCHAR, "duration_s" DOUBLE, "start_s" DOUBLE, "#
                + #""audio_track" BIGINT, "audio_tracks" BIGINT, "tags" STRUCT("title" VARCHAR, "artist" VARCHAR, "album" VARCHAR, "track" VARCHAR, "genre" VARCHAR, "year" BIGINT))"#
        )
        #expect(duckDB["dropped"] == "JSON")
        #expect(duckDB["presets"] == "VARCHAR[]")
        let pandas = try #require(document["pandas"] as? [String: String])
        #expect(pandas["wide.bands_db"] == "object")
        #expect(pandas["wide.flatness"] == "float64")
        #expect(pandas["source.name"] == "string")
        #expect(pandas["n"] == "Int64")
        #expect(pandas["partial"] == "boolean")
        #expect(pandas["summaries"] == nil)
    }
}
