import Foundation
import TestSupport
import Testing

/// `hemiola analyze --summary`.
@Suite struct SummaryTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func summaries(_ arguments: [String], status: Int32 = 0) throws -> [JSON] {
        let outcome = try Hemiola.run(["analyze", "--summary"] + arguments, in: folder.path)
        try #require(outcome.status == status, "\(outcome.errors)")
        return try outcome.lines.map { try JSON(document: $0) }
    }

    @Test func `several files: one line each, in order, equal for any number of jobs`() throws {
        for index in 0..<6 { try folder.writeTone("\(index).wav", frames: 3000 * (6 - index), channels: index % 2 + 1) }
        try folder.write("", to: "empty.wav")
        let files = (0..<6).map { "\($0).wav" } + [Hemiola.minuet]
        let lines = try summaries(files)
        #expect(lines.map { $0["file"] } == files.map { .string($0) })
        #expect(lines.allSatisfy { $0["type"] == .string("summary") })
        let outputs = try ["1", "2", "0"].map { try Hemiola.run(["analyze", "--summary", "-j", $0] + files, in: folder.path).output }
        #expect(outputs[0] == outputs[1] && outputs[0] == outputs[2])
        // A file that cannot be analysed has no line.
        #expect(try summaries(["empty.wav", "0.wav"], status: 1).map { $0["file"] } == [.string("0.wav")])
    }

    @Test func `whole-file analysis: the beats that "beats" writes`() throws {
        let record = try #require(try summaries([Hemiola.minuet]).first)
        let beats = try Hemiola.run(["beats", Hemiola.minuet]).lines
        #expect(record["rhythm"]?["beats"]?.int == beats.count)
        #expect(record["rhythm"]?["bars"]?.int == beats.count { $0.hasSuffix("\t1") })
        #expect(record["rhythm"]?["first_beat_s"]?.double == beats.first.flatMap { Double($0.prefix { $0 != "\t" }) })
    }

    @Test func `-o FILE.csv: a table with a row per file`() throws {
        try folder.writeTone("a.wav", channels: 2)
        try folder.writeTone("b.wav")
        let outcome = try Hemiola.run(["analyze", "--summary", "a.wav", "b.wav", "-o", "t.csv"], in: folder.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let lines = try folder.text(of: "t.csv").split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        #expect(lines.count == 3 && Set(lines.map(\.count)).count == 1)
        #expect(lines[0].contains("features.spectrum.bands_db.p90[63]") && lines[0].contains("tags.artist"))
        #expect(lines.map { $0[0] } == ["file", "a.wav", "b.wav"])
    }

    @Test(.needs(.python(module: "numpy"))) func `statistics: those that numpy computes from the batch records`() throws {
        let records = try Hemiola.run(["analyze", "--whole-file", "--analyzer", "+loudness", Hemiola.minuet], in: folder.path).output
        try folder.write(records, to: "records.jsonl")
        let summary = try Hemiola.run(["analyze", "--summary", Hemiola.minuet], in: folder.path).output
        try folder.write(summary, to: "summary.jsonl")
        let script = Hemiola.root + "/Tests/EndToEnd/Scripts/statistics.py"
        let python = try #require(Tool.location(of: Tool.python), "\(Tool.python): not found")
        let outcome = try ChildProcess.run(python, [script, folder("records.jsonl"), folder("summary.jsonl")])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("compared "), "\(outcome.output)")
    }

    @Test(.needs(.python(module: "jsonschema"))) func `lines: valid by the schema of summaries`() throws {
        try folder.write(TemporaryFolder.tone(channels: 2).bytes.dropLast(1001), to: "cut.wav")
        let options = ["--analyzer", "+spectrum:magnitudes=true,as=timbre"]
        let lines = try Hemiola.run(["analyze", "--summary", "cut.wav", Hemiola.minuet] + options, in: folder.path)
        try folder.write(lines.output, to: "lines.jsonl")
        #expect(lines.lines.count == 2)
        try folder.write(Hemiola.run(["schema", "--summary"] + options).output, to: "schema.json")
        let script = Hemiola.root + "/Tests/EndToEnd/Scripts/validate.py"
        let python = try #require(Tool.location(of: Tool.python), "\(Tool.python): not found")
        let outcome = try ChildProcess.run(python, [script, folder("schema.json"), folder("lines.jsonl")])
        #expect(outcome.status == 0 && outcome.output == "", "\(outcome.output.prefix(2000))\(outcome.errors)")
    }

    @Test func `schema --columns --summary: a column for every key of a record`() throws {
        let columns = try JSON(document: Hemiola.run(["schema", "--columns", "--summary"]).output)
        func paths(_ value: JSON, _ path: String = "") -> [String] {
            guard !value.members.isEmpty, !path.hasSuffix(".summaries") else { return [path] }
            return value.members.flatMap { paths($0.value, "\(path).\($0.key)") }
        }
        let record = try #require(try summaries([Hemiola.minuet]).first)
        let declared = Set(paths(try #require(columns["columns"])))
        for path in paths(record) { #expect(declared.contains(path), "\(path)") }
        #expect(declared.subtracting(paths(record)) == [".file_base64"])
    }

    @Test func `full disk: exit code 3`() throws {
        try folder.writeTone("a.wav")
        let outcome = try Hemiola.run(["analyze", "--summary", "a.wav", "-o", "/dev/full"], in: folder.path)
        #expect(outcome.status == 3 && outcome.errors.contains("/dev/full"))
    }

    @Test(.needs(.ffmpeg), arguments: ["flac", "ogg", "opus", "mp3", "wav", "m4a"])
    func `tags of a file: in its header and summary`(ending: String) throws {
        let tags = ["title=A \"Ti\" é", "artist=Ärt", "album=Al", "track=3/9", "genre=Jazz", "date=1999-02-03"]
        let ffmpeg = try #require(Tool.location(of: "ffmpeg"))
        let sine = ["-f", "lavfi", "-i", "sine=440:duration=0.5:sample_rate=48000"]
        let made = try ChildProcess.run(
            ffmpeg, ["-v", "error"] + sine + tags.flatMap { ["-metadata", $0] } + [folder("a.\(ending)")])
        try #require(made.status == 0, "\(made.errors)")
        let summary = try #require(try summaries(["a.\(ending)"]).first?["tags"])
        let header = try #require(try Hemiola.records([folder("a.\(ending)")]).first?.json["source"])
        #expect(summary.members.map(\.key) == ["title", "artist", "album", "track", "genre", "year"])
        let expected: [(String, JSON)] = [
            ("title", .string("A \"Ti\" é")), ("artist", .string("Ärt")), ("album", .string("Al")), ("track", .string("3/9")),
            ("genre", .string("Jazz")), ("year", .number("1999")),
        ]
        for (key, value) in expected {
            #expect(summary[key] == value, "\(key)")
            #expect(header["tags"]?[key] == value, "\(key)")
        }
    }

    @Test func `file without tags: no tags in its header`() throws {
        let header = try Hemiola.records([try folder.writeTone()])[0].json
        #expect(header["source"] != nil && header["source"]?["tags"] == nil)
    }
}
