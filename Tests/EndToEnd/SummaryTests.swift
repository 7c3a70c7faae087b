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
    }

    @Test func `files that failed or are cut: rows with their errors, exit code 1`() throws {
        try folder.write("", to: "empty.wav")
        try folder.writeTone("a.wav")
        try folder.write(TemporaryFolder.tone(channels: 2).bytes.dropLast(1001), to: "cut.wav")
        let lines = try summaries(["empty.wav", "a.wav", "cut.wav"], status: 1)
        #expect(lines.map { $0["file"] } == ["empty.wav", "a.wav", "cut.wav"].map { .string($0) })
        #expect(lines.map { $0["error"] == .null } == [false, true, false])
        #expect(lines.map { $0["duration_s"] == .null } == [true, false, false])
        #expect(lines[0].members.map(\.key) == lines[1].members.map(\.key))
        try folder.write("empty.wav\na.wav\n", to: "names")
        #expect(try summaries(["--files-from", "names"], status: 1) == Array(lines.prefix(2)))
        let arguments = ["analyze", "--summary", "--select", "duration_s", "-o", "t.csv"]
        let outcome = try Hemiola.run(arguments + ["empty.wav", "a.wav"], in: folder.path)
        #expect(outcome.status == 1)
        let table = try folder.text(of: "t.csv").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(table.count == 4 && table[0] == "file,duration_s,error" && table[1].hasPrefix("empty.wav,,") && table[2].hasSuffix(","))
        // A folder in which every file fails.
        try FileManager.default.createDirectory(atPath: folder("none"), withIntermediateDirectories: false)
        try folder.write("", to: "none/b.wav")
        let failed = try Hemiola.run(arguments + ["none"], in: folder.path)
        #expect(failed.status == 1 && failed.errors.contains("t.csv: "), "\(failed.errors)")
        #expect(try folder.text(of: "t.csv").split(separator: "\n", omittingEmptySubsequences: false) == table)
        let new = try Hemiola.run(arguments.dropLast() + ["new.csv", "none"], in: folder.path)
        #expect(new.status == 1 && new.errorLines.count == 1, "\(new.errors)")
        #expect(try folder.text(of: "new.csv").contains("\nnone/b.wav,,"))
    }

    @Test func `--select: those values, with the analyzer that has them; an unknown one ends the run with exit code 2`() throws {
        try folder.writeTone("a.wav", channels: 2)
        func table(_ arguments: [String]) throws -> String {
            let outcome = try Hemiola.run(["analyze", "--summary", "a.wav", "-o", "t.csv"] + arguments, in: folder.path)
            try #require(outcome.status == 0, "\(outcome.errors)")
            return String(try folder.text(of: "t.csv").prefix { $0 != "\n" })
        }
        #expect(try table(["--select", "file,rhythm.bpm", "--select", "title"]) == "file,rhythm.bpm,tags.title,error")
        #expect(try table(["--select", "pitch.f0_hz.p50"]) == "file,features.pitch.f0_hz.p50,error")
        #expect(
            try table(["--analyzer", "levels", "--select", "integrated_lufs"]) == "file,summaries.loudness.integrated_lufs,error")
        let outcome = try Hemiola.run(["analyze", "--summary", "a.wav", "--select", "bmp"], in: folder.path)
        #expect(outcome.status == 2 && outcome.output.isEmpty && outcome.errors.contains("did you mean bpm?"))
        let sink = "summary:s.csv,select=duration_s+tags.title"
        let other = try Hemiola.run(["analyze", "a.wav", "--select", "beat", "-o", "a.jsonl", "--sink", sink], in: folder.path)
        #expect(other.status == 0, "\(other.errors)")
        #expect(try folder.text(of: "s.csv").hasPrefix("file,duration_s,tags.title,error\na.wav,"))
    }

    @Test func `terminal: an aligned table, also of files that failed`() throws {
        try folder.writeTone("a.wav", channels: 2)
        try folder.write("", to: "empty.wav")
        let arguments = ["analyze", "--summary", folder("a.wav")]
        let terminal = try TerminalProcess(Hemiola.path, arguments + [folder("empty.wav")], errors: "/dev/null")
        #expect(try terminal.finish() == 1)
        let lines = terminal.text.split(whereSeparator: \.isNewline)
        try #require(lines.count == 3, "\(terminal.text)")
        #expect(lines[0].contains(/^ +TIME +BPM .*LUFS  FILE$/))
        #expect(lines[1].hasSuffix("  \(folder("a.wav"))") && lines[2].contains("  \(folder("empty.wav")): "))
        let messages = try TerminalProcess(Hemiola.path, arguments + [folder("empty.wav")])
        #expect(try messages.finish() == 1)
        let all = messages.text.split(whereSeparator: \.isNewline)
        #expect(all.last == "hemiola: 1 of 2 files analysed; 1 failed or incomplete", "\(messages.text)")
        let selected = try TerminalProcess(Hemiola.path, arguments + ["--select", "title"], errors: "/dev/null")
        #expect(try selected.finish() == 0)
        #expect(selected.text.hasPrefix("title "))
    }

    @Test(arguments: ["csv", "jsonl"]) func `--resume: only files without a row, changed ones and failed ones are analysed`(ending: String)
        throws
    {
        let (a, b, c) = ("a.wav", "b, \"x\"\n.wav", "c.wav")
        for name in [a, b] { try folder.writeTone(name, frames: 4096) }
        try folder.write("", to: c)
        let table = "t.\(ending)"
        func resume(_ names: [String], status: Int32 = 0) throws -> String {
            let arguments = ["analyze", "--summary", "--resume", "--select", "duration_s", "--analyzer", "levels", "-o", table]
            let outcome = try Hemiola.run(arguments + names, in: folder.path)
            #expect(outcome.status == status, "\(outcome.errors)")
            return outcome.errors
        }
        #expect(try resume([a, b], status: 0).contains("0 of 2 files are done"))
        let first = try folder.text(of: table)
        #expect(try resume([a, b, c], status: 1).contains("2 of 3 files are done; 1 to analyse"))
        #expect(try folder.text(of: table).hasPrefix(first) && folder.text(of: table) != first)
        try folder.writeTone(c, frames: 4096)
        try folder.writeTone(a, frames: 8192)
        #expect(try resume([a, b, c]).contains("1 of 3 files are done; 2 to analyse"))
        let last = try folder.text(of: table)
        #expect(try resume([a, b, c]).contains("3 of 3 files are done; 0 to analyse"))
        #expect(try folder.text(of: table) == last)
        if ending == "csv" {
            let rows = last.split(separator: "\n")
            #expect(rows.count == 5 && rows[0] == "file,duration_s,error", "\(last)")
            #expect(rows.suffix(2).allSatisfy { $0.hasSuffix(",") } && rows[3].hasPrefix("a.wav,0.18"), "\(last)")
            let other = try Hemiola.run(["analyze", "--summary", "--resume", "--select", "title", "-o", table, a], in: folder.path)
            #expect(other.status == 2 && other.errorLines.count == 1, "\(other.errors)")
            #expect(try folder.text(of: table) == last)
        }
    }

    @Test(arguments: [[], ["-o", "-"], ["-o", "{stem}.csv"], ["-o", "t.csv.zst"], ["-o", "t.csv", "--select", "replaygain"]])
    func `--resume without one table that can be added to: refused`(options: [String]) throws {
        try folder.writeTone("a.wav", frames: 2048)
        let outcome = try Hemiola.run(["analyze", "--summary", "--resume", "a.wav"] + options, in: folder.path)
        #expect(outcome.status == 2 && outcome.errorLines.count == 1, "\(outcome.errors)")
    }

    @Test func `interrupted in the first reading: no values of sound that was not analysed`() throws {
        // Three seconds of a chord.
        let samples = (0..<3 * 44_100).map { frame -> Float in
            let angle = Double(frame) * 2 * .pi / 44_100
            return 0.2 * Float(sin(220.0 * angle) + sin(277.2 * angle) + sin(329.6 * angle))
        }
        var wav = WAVBytes(samples: samples, sampleRate: 44_100, channelCount: 1, encoding: .int16)
        (wav.statedRIFFSize, wav.statedDataSize) = (.max, .max)
        let process = try Hemiola.start(
            [
                "analyze", "--summary", "--whole-file", "--capture", "pcm:path=-,spool=true", "--select", "duration_s,key", "-o",
                folder("t.csv"),
            ],
            input: .bytes(wav.bytes, staysOpen: true))
        // It waits for further input, in its first reading.
        try OfflineRun.feed(process) { OfflineRun.bytesRead(by: process) > wav.bytes.count }
        process.send(SIGINT)
        #expect(try process.finish(timeout: 30).status == 130)
        let rows = try folder.text(of: "t.csv").split(separator: "\n")
        #expect(rows.count == 2 && rows[1].contains(",0.0,,"), "\(rows)")
    }

    @Test func `interrupted on a terminal: the last lines count all files, and say how to continue`() throws {
        try folder.writeTone("a.wav", frames: 2048)
        var wave = TemporaryFolder.tone(frames: 1000)
        (wave.statedRIFFSize, wave.statedDataSize) = (2_000_000_036, 2_000_000_000)
        for name in ["long.wav", "z.wav"] {
            try folder.write(wave.bytes, to: name)
            try #require(truncate(folder(name), 2_000_000_044) == 0)
        }
        let files = ["a.wav", "long.wav", "z.wav"].map { folder($0) }
        let terminal = try TerminalProcess(
            Hemiola.path, ["analyze", "--summary", "--causal", "-j1", "--analyzer", "levels", "-o", folder("t.csv")] + files)
        _ = try terminal.read(until: "file 2 of 3")
        kill(terminal.identifier, SIGINT)
        #expect(try terminal.finish() == 130)
        let last = terminal.text.split(whereSeparator: \.isNewline).suffix(2)
        #expect(last.first == "hemiola: 1 of 3 files analysed; the run was interrupted", "\(terminal.text)")
        #expect(last.last?.hasSuffix("t.csv: to continue, add --resume") == true, "\(terminal.text)")
    }

    @Test func `whole-file analysis: the beats that "beats" writes`() throws {
        let record = try #require(try summaries([Hemiola.minuet]).first)
        let beats = try Hemiola.run(["beats", Hemiola.minuet]).lines
        #expect(record["rhythm"]?["beats"]?.int == beats.count)
        #expect(record["rhythm"]?["bars"]?.int == beats.count { $0.hasSuffix("\t1") })
        #expect(record["rhythm"]?["first_beat_s"]?.double == beats.first.flatMap { Double($0.prefix { $0 != "\t" }) })
    }

    @Test func `-o FILE.csv: a table with a row per file`() throws {
        try folder.writeTone("a.wav")
        try folder.writeTone("b.wav", channels: 2)
        let outcome = try Hemiola.run(["analyze", "--summary", "a.wav", "b.wav", "-o", "t.csv"], in: folder.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let lines = try folder.text(of: "t.csv").split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        #expect(lines.count == 3 && Set(lines.map(\.count)).count == 1)
        #expect(lines[0].contains("features.spectrum.bands_db.p90[63]") && lines[0].contains("tags.artist"))
        let channel = try #require(lines[0].firstIndex(of: "features.levels.channel_rms_db.mean[1]"))
        #expect(lines[1][channel].isEmpty && !lines[2][channel].isEmpty)
        #expect(lines.map { $0[0] } == ["file", "a.wav", "b.wav"])
    }

    @Test(.needs(.python(module: "numpy"))) func `statistics: those that numpy computes from the batch records`() throws {
        let analyzers = ["--analyzer", "+loudness", "--analyzer", "+musical-key"]
        let records = try Hemiola.run(["analyze", "--whole-file", Hemiola.minuet] + analyzers, in: folder.path).output
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
        try folder.write("", to: "empty.wav")
        let script = Hemiola.root + "/Tests/EndToEnd/Scripts/validate.py"
        let python = try #require(Tool.location(of: Tool.python), "\(Tool.python): not found")
        for options in [options, options + ["--select", "timbre,loudness,bpm"]] {
            let lines = try Hemiola.run(["analyze", "--summary", "cut.wav", "empty.wav", Hemiola.minuet] + options, in: folder.path)
            try folder.write(lines.output, to: "lines.jsonl")
            #expect(lines.lines.count == 3)
            try folder.write(Hemiola.run(["schema", "--summary"] + options).output, to: "schema.json")
            let outcome = try ChildProcess.run(python, [script, folder("schema.json"), folder("lines.jsonl")])
            #expect(outcome.status == 0 && outcome.output == "", "\(outcome.output.prefix(2000))\(outcome.errors)")
        }
    }

    @Test func `schema --columns --summary: a column for every key of a record`() throws {
        let columns = try JSON(document: Hemiola.run(["schema", "--columns", "--summary"]).output)
        func paths(_ value: JSON, _ path: String = "") -> [String] {
            guard !value.members.isEmpty else { return [path] }
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

    @Test func `control characters in file names: escaped wherever a person reads them, data in a table in a file`() throws {
        let name = "a\u{1B}[2J\u{9B}31m\u{202E}gnp.wav"
        let silence = WAVBytes(samples: [Float](repeating: 0, count: 4410), sampleRate: 44_100, channelCount: 1).bytes
        // Only several files are named.
        for name in [name, "b.wav"] { try folder.write(silence, to: name) }
        for arguments in [["beats"], ["beats", "--tempo"], ["analyze", "--summary"], ["analyze", "--summary", "-o", "-"]] {
            let outcome = try Hemiola.run(arguments + [folder.path], in: folder.path)
            let printed = (outcome.output + outcome.errors).unicodeScalars
            #expect(!printed.contains { ["\u{1B}", "\u{9B}", "\u{202E}"].contains($0) }, "\(arguments): \(outcome)")
            #expect(outcome.output.contains(#"a\u001b[2J\u009b31m\u202egnp.wav"#), "\(arguments): \(outcome)")
        }
        let table = ["analyze", folder.path, "--analyzer", "levels", "--duration", "0.05", "--quiet", "--sink"]
        #expect(try Hemiola.run(table + ["csv:table.csv,events=none"], in: folder.path).status == 0)
        #expect(try folder.text(of: "table.csv").contains(name))
        let terminal = try TerminalProcess(Hemiola.path, table + ["csv:events=none"], errors: "/dev/null")
        #expect(try terminal.finish() == 0)
        #expect(terminal.text.contains(#"a\u001b[2J\u009b31m\u202egnp.wav"#) && !terminal.text.contains("\u{1B}"), "\(terminal.text)")
    }
}
