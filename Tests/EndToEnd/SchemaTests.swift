import Foundation
import TestSupport
import Testing

/// Validates output with the schema of `hemiola schema` and an independent validator.
@Suite struct SchemaTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The failures that the validator reports, one line each.
    private func failures(of names: [String], schema options: [String] = []) throws -> [String] {
        let schema = try Hemiola.run(["schema"] + options)
        try #require(schema.status == 0)
        try folder.write(schema.output, to: "schema.json")
        let script = Hemiola.root + "/Tests/EndToEnd/Scripts/validate.py"
        let python = try #require(Tool.location(of: Tool.python), "\(Tool.python): not found")
        let outcome = try ChildProcess.run(python, [script, folder("schema.json")] + names.map { folder($0) })
        try #require(outcome.errors.isEmpty, "\(outcome.errors)")
        #expect((outcome.status == 0) == outcome.lines.isEmpty)
        return outcome.lines
    }

    /// Writes the output of a run to a file.
    private func write(_ arguments: [String], to name: String, status: Int32 = 0) throws {
        let outcome = try Hemiola.run(["analyze"] + arguments, in: folder.path)
        try #require(outcome.status == status, "\(outcome.errors)")
        try folder.write(outcome.output, to: name)
    }

    @Test(.needs(.python(module: "jsonschema"))) func `lines of all runs: valid`() throws {
        try folder.writeTone("mono.wav")
        try folder.writeTone("stereo.wav", rate: 48_000, channels: 2)
        try folder.writeTone("surround.wav", rate: 48_000, channels: 6)
        try folder.writeTone("telephone.wav", rate: 8000)
        try folder.write(TemporaryFolder.tone(channels: 2).bytes.dropLast(1001), to: "cut.wav")
        let silence = WAVBytes(samples: Array(repeating: 0, count: 3000) + [.nan], encoding: .float32)
        try folder.write(silence.bytes, to: "silence.wav")
        try write(["mono.wav"], to: "mono.jsonl")
        try write(["stereo.wav", "--batch", "4096"], to: "stereo.jsonl")
        try write(["surround.wav"], to: "surround.jsonl")
        try write(["telephone.wav"], to: "telephone.jsonl")
        try write(["cut.wav"], to: "cut.jsonl", status: 1)
        try write(["silence.wav"], to: "silence.jsonl")
        try write(["mono.wav", "cut.wav", "surround.wav"], to: "several.jsonl", status: 1)
        let process = try Hemiola.start(["analyze", "--realtime", Hemiola.minuet])
        let header = try #require(try process.readLine())
        process.send(SIGINT)
        try folder.write(header + "\n" + (try process.finish().output), to: "interrupted.jsonl")

        let names = folder.names.filter { $0.hasSuffix(".jsonl") }
        #expect(names.count == 8)
        let failures = try failures(of: names)
        #expect(failures == [], "\(failures.prefix(5).joined(separator: "\n"))")
    }

    @Test(
        .needs(.python(module: "jsonschema")),
        arguments: [
            ["levels", "spectrum:bands=8,mfcc=5,as=timbre"],
            ["+spectrum:scale=mel-slaney,bands=40,mfcc=13,magnitudes=true,size=1024,as=timbre"],
        ])
    func `schema of named analyzers: has their features`(specs: [String]) throws {
        try folder.writeTone("stereo.wav", channels: 2)
        let options = specs.flatMap { ["--analyzer", $0] }
        try write(["stereo.wav"] + options, to: "named.jsonl")
        #expect(try failures(of: ["named.jsonl"], schema: options) == [])
        // With the schema of other analyzers, all batches are invalid.
        #expect(try failures(of: ["named.jsonl"], schema: ["--analyzer", "levels"]).count == 21)
    }

    @Test(.needs(.python(module: "jsonschema"))) func `invalid line: reported`() throws {
        try folder.writeTone("tone.wav", frames: 2048)
        let records = try Hemiola.records([folder("tone.wav")])
        let (header, batch, end) = (records[0].line, records[1].line, records[3].line)
        let wrong = [
            batch.replacing("\"t\":0.0", with: "\"t\":\"0.0\""),
            batch.replacing("\"t\":0.0,", with: ""),
            batch.replacing("\"n\":0", with: "\"n\":0.5"),
            batch.replacing("\"n\":0", with: "\"n\":NaN"),
            batch.replacing("\"n\":0", with: "\"n\":0,\"m\":0"),
            batch.replacing("\"channel_rms_db\":[", with: "\"channel_rms_db\":[\"loud\","),
            batch.replacing("\"type\":\"batch\"", with: "\"type\":\"badge\""),
            header.replacing("\"schema\":2", with: "\"schema\":\"2\""),
            header.replacing("\"sample_rate\":44100,", with: ""),
            end.replacing("\"end-of-input\"", with: "\"boredom\""),
            end.replacing("\"non_finite\":0", with: "\"non_finite\":null"),
            String(end.dropLast()),
            "[]",
        ]
        for line in wrong { try #require(![header, batch, end].contains(line)) }
        try folder.write(wrong.joined(separator: "\n") + "\n", to: "wrong.jsonl")
        let failures = try failures(of: ["wrong.jsonl"])
        #expect(failures.count == wrong.count, "\(failures.joined(separator: "\n"))")
    }

    @Test func `schema documents: valid JSON; columns have all keys of a batch`() throws {
        let schema = try JSON(document: Hemiola.run(["schema"]).output)
        #expect(schema["$schema"] == .string("https://json-schema.org/draft/2020-12/schema"))
        let columns = try JSON(document: Hemiola.run(["schema", "--columns"]).output)
        let record = try Hemiola.records([try folder.writeTone(frames: 1024)])[1]
        for member in record.json.members {
            let column = columns["columns"]?[member.key]
            #expect(column?.members.map(\.key) == member.value.members.map(\.key), "\(member.key)")
            #expect(columns["duckdb"]?[member.key] != nil)
        }
    }
}
