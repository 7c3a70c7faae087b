import Foundation
import TestSupport
import Testing

/// `--select` of records and features whose analyzer is not in the pipeline.
@Suite struct SelectionTests {
    private func analyze(_ arguments: String..., status: Int32 = 0) throws -> ChildProcess.Outcome {
        let outcome = try Hemiola.run(["analyze", Hemiola.minuet, "--duration", "8"] + arguments)
        #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
        return outcome
    }

    @Test(arguments: [("chord", "chords"), ("musical_key", "musical-key"), ("note", "pitch"), ("silence", "silence"), ("onset", "beat")])
    func `record type of another analyzer: the analyzer is added`(type: String, analyzer: String) throws {
        let records = try Record.all(in: try analyze("--analyzer", "levels", "--select", "header,\(type)").output)
        #expect(records.first?.json["analyzers"]?.array.map { $0["plugin"]?.string } == ["levels", analyzer])
        #expect(records.dropFirst().allSatisfy { $0.type == type })
        if type != "silence" { #expect(records.count > 1) }
    }

    @Test func `feature or name of another analyzer: the analyzer is added`() throws {
        for item in ["chroma", "chroma.bins"] {
            let batch = try #require(try Record.all(in: try analyze("--analyzer", "levels", "--select", item).output).first)
            #expect(batch["chroma.bins"]?.array.count == 12 && batch["levels"] == nil)
        }
    }

    @Test(arguments: ["musical_key.tonic", "musical-key.tonic", "batch.musical_key"])
    func `feature of an analyzer whose id has a hyphen: the analyzer is added, with either name`(item: String) throws {
        let batch = try #require(try Record.all(in: try analyze("--analyzer", "levels", "--select", item).output).last)
        #expect(batch["musical_key.tonic"]?.string == "G" && batch["musical_key.tonic_number"]?.int == 7)
    }

    @Test(arguments: [
        ("key", "summaries.musical_key.key"), ("rhythm.bpm", "rhythm.bpm"), ("pitch.f0_hz.mean", "features.pitch.f0_hz.mean"),
    ])
    func `value of summaries in the sink's own selection: the analyzer is added`(item: String, path: String) throws {
        let outcome = try analyze("--analyzer", "levels", "--sink", "summary:-,select=\(item)")
        let record = try JSON(outcome.lines[0])
        let value = record[path: path]
        #expect(value != nil && value != .null, "\(outcome.output)")
    }

    @Test func `analyzer in the pipeline, also under another name: none is added`() throws {
        let records = try Record.all(in: try analyze("--analyzer", "chords:as=mine", "--select", "header,chord").output)
        #expect(records.first?.json["analyzers"]?.array.map { $0["id"]?.string } == ["mine"])
    }

    @Test(arguments: [
        ("preset", "presets"), ("event", "vamp"), ("chrod", "chord"), ("loudnes", "loudness"), ("chroma.nothing", "chroma.bins"),
    ])
    func `record type without an analyzer of its own, or unknown: an error that names the way out`(item: String, hint: String) throws {
        let outcome = try analyze("--select", item, status: 2)
        #expect(outcome.output.isEmpty && outcome.errorLines.count == 1 && outcome.errors.contains(hint), "\(outcome.errors)")
    }

    @Test func `recording: what was not recorded is not added`() throws {
        let folder = try TemporaryFolder()
        try folder.write(analyze("--analyzer", "levels").output, to: "a.jsonl")
        let outcome = try Hemiola.run(["replay", "a.jsonl", "--no-realtime", "--select", "chroma"], in: folder.path)
        #expect(outcome.status == 2 && outcome.output.isEmpty)
    }
}
