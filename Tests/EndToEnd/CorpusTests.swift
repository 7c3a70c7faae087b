import Foundation
import TestSupport
import Testing

/// `analyze --output-dir`: one result per file.
@Suite struct CorpusTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func create(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
    }

    /// A folder `in` with sound files of several formats, two folders deep, and files that are no sound.
    private func writeCorpus() throws {
        try create("in/a/deep")
        try create("in/.hidden")
        try folder.writeTone("in/one.wav", frames: 30_000)
        try folder.writeTone("in/a/two.wav", frames: 5000, channels: 2)
        try folder.writeTone("in/a/deep/three.wav", frames: 100_000, rate: 48_000)
        try folder.writeTone("in/a/no extension", frames: 9000)
        try folder.writeTone("in/.hidden/four.wav")
        try folder.writeTone("in/.five.wav")
        try folder.write("words", to: "in/notes.txt")
        try folder.write("words", to: "in/a/README")
        try FileManager.default.copyItem(atPath: Hemiola.minuet, toPath: folder("in/minuet.flac"))
    }

    private func run(_ arguments: String..., output: String = "out") throws -> ChildProcess.Outcome {
        try Hemiola.run(["analyze"] + arguments + ["--analyzer", "levels", "--output-dir", output], in: folder.path)
    }

    /// The paths of the files below a folder, without the lock.
    private func names(_ name: String) -> Set<String> {
        let paths = FileManager.default.enumerator(atPath: folder(name))?.compactMap { $0 as? String } ?? []
        return Set(
            paths.filter { path in
                var isFolder: ObjCBool = false
                return path != ".hemiola-lock" && FileManager.default.fileExists(atPath: folder("\(name)/\(path)"), isDirectory: &isFolder)
                    && !isFolder.boolValue
            })
    }

    /// The files below a folder by path, without the lock.
    private func tree(_ name: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for path in names(name) { files[path] = try Data(contentsOf: URL(fileURLWithPath: folder("\(name)/\(path)"))) }
        return files
    }

    private func failures(_ name: String = "out") throws -> [Record] {
        try Record.all(in: folder.text(of: "\(name)/failures.jsonl"))
    }

    /// Runs a command without what lets root read every file: permissions restrict it as they do users.
    private func runAsUser(_ arguments: [String]) throws -> ChildProcess.Outcome {
        let sheds = geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search"] : ["/usr/bin/env"]
        return try ChildProcess.run(sheds[0], sheds.dropFirst() + [Hemiola.path] + arguments, in: folder.path)
    }

    private func modified(_ name: String) throws -> Date {
        try #require(try FileManager.default.attributesOfItem(atPath: folder(name))[.modificationDate] as? Date)
    }

    // MARK: - The tree

    @Test func `folder: the results mirror its tree`() throws {
        try writeCorpus()
        let outcome = try run("in")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("5 files in"), "\(outcome.errors)")
        let files = try tree("out")
        #expect(
            Set(files.keys) == [
                "one.wav.jsonl", "a/two.wav.jsonl", "a/deep/three.wav.jsonl", "a/no extension.jsonl", "minuet.flac.jsonl",
            ])
        for (name, data) in files {
            let records = try Record.all(in: String(decoding: data, as: UTF8.self))
            let input = "in/" + name.dropLast(6)
            #expect(records.first?.string("source.name") == input)
            #expect(records.first?.string("fingerprint")?.count == 16)
            #expect(records.last?.int("lines") == records.count)
            #expect(records.allSatisfy { $0["file"] == nil })
            let alone = try Hemiola.records([input, "--analyzer", "levels"], in: folder.path)
            #expect(records.dropFirst().dropLast().map(\.line) == alone.dropFirst().dropLast().map(\.line))
        }
    }

    @Test func `files and folders: the results mirror the common folder`() throws {
        try writeCorpus()
        let outcome = try run("in/one.wav", "in/a/deep", "in/a/../a/two.wav", "in/a/two.wav", "-q")
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(Set(try tree("out").keys) == ["one.wav.jsonl", "a/deep/three.wav.jsonl", "a/two.wav.jsonl"])
        try folder.write("in/a/two.wav\n", to: "list")
        #expect(try Hemiola.run(["analyze", "--files-from", "list", "--output-dir", "two"], in: folder.path).status == 0)
        #expect(Set(try tree("two").keys) == ["two.wav.jsonl"])
    }

    @Test func `several jobs: same bytes as one`() throws {
        try writeCorpus()
        try folder.write("words", to: "in/a/bad.wav")
        try folder.write("words", to: "in/bad.wav")
        #expect(try run("in", output: "one").status == 1)
        for jobs in ["-j2", "-j0", "-j7"] {
            #expect(try run("in", jobs, output: "out\(jobs)").status == 1)
            #expect(try tree("out\(jobs)") == tree("one"))
        }
        #expect(try failures("one").map { $0.string("file") } == ["in/a/bad.wav", "in/bad.wav"])
    }

    @Test(arguments: ["jsonl.zst", "csv", "csv.zst"]) func `--output-format: format of the results`(format: String) throws {
        try folder.writeTone("a.wav")
        #expect(try run("a.wav", "--output-format", format).status == 0)
        let path = folder("out/a.wav.\(format)")
        let text = format.hasSuffix("zst") ? try Zstd.read(path).text : try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.hasPrefix(format.hasPrefix("csv") ? "n,frame,t" : #"{"type":"header""#), "\(text.prefix(40))")
    }

    @Test func `link that forms a loop: every file is analysed once`() throws {
        try writeCorpus()
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder("in/a/loop"), withDestinationPath: "..")
        try manager.createSymbolicLink(atPath: folder("in/again"), withDestinationPath: "a")
        try manager.createSymbolicLink(atPath: folder("in/self"), withDestinationPath: "self")
        try manager.createSymbolicLink(atPath: folder("in/dangling.wav"), withDestinationPath: "nowhere.wav")
        try create("outside")
        try folder.writeTone("outside/six.wav", frames: 2048)
        try manager.createSymbolicLink(atPath: folder("outside/back"), withDestinationPath: "../in")
        try manager.createSymbolicLink(atPath: folder("in/linked"), withDestinationPath: "../outside")
        try manager.createSymbolicLink(atPath: folder("in/song.wav"), withDestinationPath: "one.wav")
        #expect(try run("in").status == 1)
        let names = Set(try tree("out").keys)
        #expect(
            names == [
                "one.wav.jsonl", "a/two.wav.jsonl", "a/deep/three.wav.jsonl", "a/no extension.jsonl", "minuet.flac.jsonl",
                "linked/six.wav.jsonl", "song.wav.jsonl", "failures.jsonl",
            ])
        #expect(try failures().map { $0.string("file") } == ["in/dangling.wav"])
    }

    @Test func `long names: a result, or an entry where its name would be too long`() throws {
        try create("in")
        let (fits, tooLong) = (String(repeating: "n", count: 196) + ".wav", String(repeating: "m", count: 248) + ".wav")
        try folder.writeTone("in/\(fits)", frames: 2048)
        try folder.writeTone("in/\(tooLong)", frames: 2048)
        #expect(try run("in").status == 1)
        #expect(Set(try tree("out").keys) == ["\(fits).jsonl", "failures.jsonl"])
        #expect(try failures().first?.string("error")?.contains("255 bytes") == true)
    }

    @Test func `folder of the results inside the analysed folder: not read`() throws {
        try writeCorpus()
        for _ in 0..<2 { #expect(try run("in", output: "in/out").status == 0) }
        #expect(try tree("in/out").count == 5)
    }

    // MARK: - Failures

    @Test func `unreadable folder: an entry, all other files analysed`() throws {
        try writeCorpus()
        chmod(folder("in/a/deep"), 0)
        defer { chmod(folder("in/a/deep"), 0o755) }
        #expect(try runAsUser(["analyze", "in", "--output-dir", "out", "--analyzer", "levels"]).status == 1)
        #expect(try tree("out").count == 5)
        let entries = try failures()
        #expect(entries.map { $0.string("file") } == ["in/a/deep"])
        #expect(entries.first?.string("error")?.contains("Permission denied") == true)
    }

    @Test func `unreadable folder and a link to nothing, with -o: failures, all other files analysed`() throws {
        try writeCorpus()
        try FileManager.default.createSymbolicLink(atPath: folder("in/dangling.wav"), withDestinationPath: "nowhere.wav")
        chmod(folder("in/a/deep"), 0)
        defer { chmod(folder("in/a/deep"), 0o755) }
        let outcome = try runAsUser(["analyze", "in", "--analyzer", "levels", "-o", "all.jsonl"])
        #expect(outcome.status == 1 && outcome.errorLines.count == 2, "\(outcome.errors)")
        for name in ["in/dangling.wav", "in/a/deep"] { #expect(outcome.errors.contains("hemiola: \(name): "), "\(outcome.errors)") }
        let text = try folder.text(of: "all.jsonl")
        for name in ["in/one.wav", "in/a/two.wav", "in/minuet.flac"] { #expect(text.contains(name), "\(name)") }
        let summary = try runAsUser(["analyze", "in", "--analyzer", "levels", "--summary", "--select", "duration_s", "-o", "s.csv"])
        #expect(summary.status == 1)
        let rows = try folder.text(of: "s.csv").split(separator: "\n")
        #expect(rows.count == 7 && rows.count { $0.contains("in/a/deep,,") || $0.contains("in/dangling.wav,,") } == 2, "\(rows)")
        #expect(try runAsUser(["beats", "in", "--tempo"]).status == 1)
    }

    @Test(arguments: [
        (["beats", "-o", "a.mid"], "a.mid"), (["beats", "-o", "{stem}.beats"], "song.beats"),
        (["beats", "--output-dir", "out"], "out/song.wav.beats"), (["analyze", "--analyzer", "pitch", "-o", "a.mid"], "a.mid"),
        (["analyze", "--analyzer", "levels", "-o", "{stem}.csv"], "song.csv"),
    ])
    func `one sound file beside a link to nothing and an unreadable folder of its name: one result`(arguments: [String], result: String)
        throws
    {
        try create("in/a/song")
        try folder.writeTone("in/song.wav")
        try FileManager.default.createSymbolicLink(atPath: folder("in/a/song.flac"), withDestinationPath: "nowhere.flac")
        chmod(folder("in/a/song"), 0)
        defer { chmod(folder("in/a/song"), 0o755) }
        let outcome = try runAsUser([arguments[0], "in"] + arguments.dropFirst())
        #expect(outcome.status == 1, "\(outcome.errors)")
        for name in ["in/a/song.flac", "in/a/song"] { #expect(outcome.errors.contains("hemiola: \(name): "), "\(outcome.errors)") }
        #expect(FileManager.default.fileExists(atPath: folder(result)), "\(folder.names)")
    }

    @Test func `damaged file: a result and an entry, which vanish with the damage`() throws {
        try writeCorpus()
        let whole = try Data(contentsOf: URL(fileURLWithPath: folder("in/one.wav")))
        try folder.write(whole.prefix(30_000), to: "in/one.wav")
        try folder.write("words", to: "in/bad.wav")
        #expect(try run("in", "-j2").status == 1)
        let entries = try failures()
        #expect(entries.map(\.type) == ["failure", "failure"])
        #expect(entries.map { $0.string("file") } == ["in/bad.wav", "in/one.wav"])
        #expect(entries.map { $0["partial"] } == [.bool(false), .bool(true)])
        let end = try #require(try Record.all(in: folder.text(of: "out/one.wav.jsonl")).last)
        #expect(end.string("error") == entries[1].string("error"))
        #expect(end.string("error")?.contains("too early") == true)

        try folder.write(whole, to: "in/one.wav")
        try FileManager.default.removeItem(atPath: folder("in/bad.wav"))
        let again = try run("in", "--resume")
        #expect(again.status == 0 && again.errors.contains("1 analysed; 4 skipped"), "\(again.errors)")
        #expect(try tree("out")["failures.jsonl"] == nil)
    }

    @Test func `folder without sound files: one error line, exit code 1`() throws {
        try create("in")
        let outcome = try run("in")
        #expect(
            outcome.status == 1 && outcome.errorLines == ["hemiola: in: no sound files; name the files themselves"], "\(outcome.errors)")
    }

    /// Results that cannot be written, by the name of the input: a folder, a file in place of a folder, links, and a link to nowhere.
    private func obstructResults() throws {
        try writeCorpus()
        try create("out/one.wav.jsonl/inside")
        try folder.write("a file", to: "out/a")
        try FileManager.default.createSymbolicLink(atPath: folder("out/minuet.flac.jsonl"), withDestinationPath: "..")
    }

    @Test(arguments: [["-j1"], ["-j3", "--resume"], ["--output-format", "jsonl.zst"], ["--output-format", "csv"]])
    func `result that cannot be written: a failure of its input, all others written`(options: [String]) throws {
        try obstructResults()
        let ending = options.first == "--output-format" ? options[1] : "jsonl"
        if ending != "jsonl" {
            try create("out/one.wav.\(ending)")
            try FileManager.default.createSymbolicLink(atPath: folder("out/minuet.flac.\(ending)"), withDestinationPath: "..")
        }
        try folder.writeTone("in/zz.wav", frames: 9000)
        let outcome = try Hemiola.run(["analyze", "in", "--output-dir", "out", "--analyzer", "levels"] + options, in: folder.path)
        #expect(outcome.status == 1, "\(outcome.errors)")
        #expect(outcome.errorLines.count == 6 && outcome.errors.contains("1 analysed; 5 failed"), "\(outcome.errors)")
        let failed = ["in/a/deep/three.wav", "in/a/no extension", "in/a/two.wav", "in/minuet.flac", "in/one.wav"]
        let entries = try failures()
        #expect(entries.map { $0.string("file") } == failed)
        #expect(entries.allSatisfy { $0["partial"] == .bool(false) })
        for (entry, name) in zip(entries, failed) {
            #expect(outcome.errorLines.contains("hemiola: " + (entry.string("error") ?? "")), "\(name)")
            #expect(entry.string("error")?.contains(name) == true)
        }
        let tables = ending == "csv" ? ["zz.wav.events.csv"] : []
        #expect(names("out").subtracting(["a"]) == Set(["zz.wav.\(ending)", "failures.jsonl"] + tables))
        #expect(names("out/one.wav.\(ending)").isEmpty)
    }

    @Test func `folder of a result that is not writable: failures of its inputs, all others written`() throws {
        try writeCorpus()
        try create("out/a")
        chmod(folder("out/a"), 0o555)
        defer { chmod(folder("out/a"), 0o755) }
        let outcome = try runAsUser(["analyze", "in", "--output-dir", "out", "--analyzer", "levels"])
        #expect(outcome.status == 1 && outcome.errors.contains("2 analysed; 3 failed"), "\(outcome.errors)")
        #expect(try failures().map { $0.string("file") } == ["in/a/deep/three.wav", "in/a/no extension", "in/a/two.wav"])
    }

    @Test func `result larger than allowed: a failure of its input, all others written`() throws {
        try create("in")
        for (name, frames) in [("a", 9000), ("long", 2_000_000), ("z", 9000)] { try folder.writeTone("in/\(name).wav", frames: frames) }
        let outcome = try ChildProcess.run(
            "/usr/bin/prlimit", ["--fsize=65536", Hemiola.path, "analyze", "in", "--output-dir", "out", "--analyzer", "levels"],
            in: folder.path)
        #expect(outcome.status == 1 && outcome.errors.contains("2 analysed; 1 failed"), "\(outcome.errors)")
        #expect(names("out") == ["a.wav.jsonl", "z.wav.jsonl", "failures.jsonl"])
        #expect(try failures().map { $0.string("file") } == ["in/long.wav"])
    }

    // Beside signals, each job has a thread for its sink, and all but the first one for itself.
    @Test(.disabled(if: Sanitizer.isOn, "sanitizers use the address space"), arguments: [0, 2, 6])
    func `fewer threads than jobs need: the run ends in order, and names what has no thread`(threads: Int) throws {
        try create("in")
        let names = (0..<8).map { "\($0).wav" }
        for name in names { try folder.writeTone("in/\(name)", frames: 4096) }
        let outcome = try ThreadDenial.run(
            Hemiola.path, ["analyze"] + names.map { "in/\($0)" } + ["--output-dir", "out", "--analyzer", "levels", "--jobs", "8"],
            threads: threads, in: folder.path)
        #expect(outcome.status == (threads == 0 ? 1 : 3) && !outcome.wasKilled, "\(outcome.status), \(outcome.errors)")
        #expect(outcome.errors.contains("cannot start a thread for ") && outcome.errors.contains("ulimit -u"), "\(outcome.errors)")
        // No result is cut off.
        for name in self.names("out") where name.hasSuffix(".wav.jsonl") {
            let records = try Record.all(in: String(decoding: Data(contentsOf: URL(fileURLWithPath: folder("out/\(name)"))), as: UTF8.self))
            #expect(records.last?.string("type") == "end", "\(name)")
        }
    }

    @Test func `list of failures that cannot be written: all other results written, one error line, exit code 3`() throws {
        try writeCorpus()
        try folder.write("words", to: "in/bad.wav")
        try create("out/failures.jsonl")
        let outcome = try run("in")
        #expect(outcome.status == 3, "\(outcome.errors)")
        #expect(outcome.errors.contains("cannot write out/failures.jsonl") && outcome.errors.contains("5 analysed"), "\(outcome.errors)")
        #expect(outcome.errorLines.count == 3, "\(outcome.errors)")
        #expect(names("out").count == 5)
    }

    @Test func `one file per input without --output-dir: a folder at its place is a failure of its input`() throws {
        try writeCorpus()
        try create("one.jsonl")
        for sink in [["-o", "{stem}.jsonl"], ["--sink", "beats:{stem}.jsonl", "--analyzer", "+beat"]] {
            let outcome = try Hemiola.run(["analyze", "in", "--analyzer", "levels"] + sink, in: folder.path)
            #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains("one.jsonl: it is a folder"), "\(outcome.errors)")
            for name in ["two", "three", "no extension", "minuet"] {
                #expect(FileManager.default.fileExists(atPath: folder("\(name).jsonl")), "\(name)")
                try? FileManager.default.removeItem(atPath: folder("\(name).jsonl"))
            }
        }
    }

    @Test func `one file per input, of which none can be written: nothing is analysed, exit code 3`() throws {
        for name in ["a", "b"] { try folder.writeTone("\(name).wav", frames: 2048) }
        try folder.write("a file", to: "out")
        let outcome = try Hemiola.run(["analyze", "a.wav", "b.wav", "-o", "out/{stem}.jsonl", "--sink", "csv:all.csv"], in: folder.path)
        #expect(outcome.status == 3 && outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(folder.names == ["a.wav", "b.wav", "out"])
    }

    // MARK: - Resume

    @Test(arguments: ["jsonl", "jsonl.zst"]) func `--resume: complete results are kept, all others written again`(format: String) throws {
        try writeCorpus()
        let options = ["--output-format", format]
        func resume(_ more: String...) throws -> String {
            let all = ["analyze", "in", "--output-dir", "out", "--resume", "--analyzer", "levels"] + options + more
            let outcome = try Hemiola.run(all, in: folder.path)
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.errors
        }
        #expect(try resume().contains("5 analysed"))
        let first = try tree("out")
        let times = try first.keys.map { try modified("out/\($0)") }
        #expect(try resume().contains("0 analysed; 5 skipped"))
        #expect(try first.keys.map { try modified("out/\($0)") } == times)

        // Truncated, of another version, and missing.
        let (cut, other, lost) = ("out/one.wav.\(format)", "out/a/two.wav.\(format)", "out/minuet.flac.\(format)")
        try folder.write(try Data(contentsOf: URL(fileURLWithPath: folder(cut))).dropLast(20), to: cut)
        if format == "jsonl" {
            let text = try folder.text(of: other)
            let fingerprint = try #require(text.firstMatch(of: /"fingerprint":"([0-9a-f]{16})"/)?.1)
            try folder.write(text.replacingOccurrences(of: fingerprint, with: "0123456789abcdef"), to: other)
        } else {
            try folder.write([], to: other)
        }
        try FileManager.default.removeItem(atPath: folder(lost))
        // An input that is newer than its result.
        let later = Date().addingTimeInterval(60)
        try FileManager.default.setAttributes([.modificationDate: later], ofItemAtPath: folder("in/a/no extension"))
        #expect(try resume().contains("4 analysed; 1 skipped"))
        // The fingerprint of the changed input is another one.
        let changed = "a/no extension.\(format)"
        #expect(try tree("out").filter { $0.key != changed } == first.filter { $0.key != changed })

        // Other settings.
        try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: folder("in/a/no extension"))
        #expect(try resume("--batch", "2048").contains("5 analysed"))
        #expect(try resume("--batch", "2048", "--select", "levels.rms_db").contains("5 analysed"))
        #expect(try resume("--batch", "2048", "--select", "levels.rms_db").contains("5 skipped"))
    }

    /// Replaces a file by another one, as tools do that keep its times.
    private func replace(_ name: String, keeping date: Date, by move: (String, String) throws -> Void) throws {
        try folder.writeTone("other.wav", frames: 30_000, rate: 48_000, channels: 1)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder("other.wav"))
        try move(folder("other.wav"), folder(name))
        #expect(abs(try modified(name).timeIntervalSince(date)) < 0.001)
    }

    @Test(arguments: ["analyze", "beats"])
    func `--resume: a file that was replaced is analysed again, also by one of the same size and times`(command: String) throws {
        try create("in")
        try folder.writeTone("in/one.wav", frames: 30_000)
        try folder.writeTone("in/two.wav", frames: 30_000)
        let analyzer = command == "analyze" ? ["--analyzer", "levels"] : []
        func resume() throws -> String {
            try Hemiola.run([command, "in", "--output-dir", "out", "--resume"] + analyzer, in: folder.path).errors
        }
        #expect(try resume().contains("2 analysed"))
        #expect(try resume().contains("0 analysed; 2 skipped"))
        let date = try modified("in/one.wav")
        let past = Date(timeIntervalSince1970: 1_000_000_000)
        try replace("in/one.wav", keeping: past) { _ = rename($0, $1) }
        #expect(try resume().contains("1 analysed; 1 skipped"))
        for date in [date, past] {
            try replace("in/one.wav", keeping: date) {
                // As cp -p and rsync -t.
                try Data(contentsOf: URL(fileURLWithPath: $0)).write(to: URL(fileURLWithPath: $1))
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: $1)
            }
            #expect(try resume().contains("1 analysed; 1 skipped"))
        }
        #expect(try resume().contains("0 analysed; 2 skipped"))
    }

    @Test func `--resume: a folder that was replaced by an older one of the same names is analysed again`() throws {
        for name in ["in/album", "other"] {
            try create(name)
            try folder.writeTone("\(name)/one.wav", frames: name == "other" ? 9000 : 30_000)
        }
        #expect(try run("in", "--resume").errors.contains("1 analysed"))
        #expect(rename(folder("in/album"), folder("old")) == 0 && rename(folder("other"), folder("in/album")) == 0)
        #expect(try run("in", "--resume").errors.contains("1 analysed"))
        #expect(try run("in", "--resume").errors.contains("1 skipped"))
    }

    @Test func `--resume: a result without some of its lines is written again`() throws {
        try writeCorpus()
        #expect(try run("in").status == 0)
        let lines = try folder.text(of: "out/one.wav.jsonl").split(separator: "\n")
        try folder.write((lines[..<4] + lines[5...]).joined(separator: "\n") + "\n", to: "out/one.wav.jsonl")
        let outcome = try run("in", "--resume")
        #expect(outcome.errors.contains("1 analysed; 4 skipped"), "\(outcome.errors)")
        #expect(try folder.text(of: "out/one.wav.jsonl").split(separator: "\n") == lines)
    }

    // MARK: - Interruptions

    /// Starts a run whose jobs are in the middle of two files of six hours, after which another file follows.
    private func startLongRun() throws -> ChildProcess {
        try create("in")
        for name in ["a.wav", "b.wav", "z.wav"] { try folder.writeTone("in/\(name)", frames: 2048) }
        for name in ["in/long1.wav", "in/long2.wav"] {
            var wave = TemporaryFolder.tone(frames: 1000)
            (wave.statedRIFFSize, wave.statedDataSize) = (2_000_000_036, 2_000_000_000)
            try folder.write(wave.bytes, to: name)
            try #require(truncate(folder(name), 2_000_000_044) == 0)
        }
        let process = try Hemiola.start(
            ["analyze", "in", "--output-dir", "out", "-j2", "--analyzer", "levels"], in: folder.path)
        try folder.wait(for: "the folder of the results") { folder.names.contains("out") }
        try folder.wait(for: "two results and two that have begun", in: "out") { names("out").count >= 4 }
        try #require(process.isRunning)
        #expect(names("out").count { $0.contains(".partial") } == 2)
        return process
    }

    /// Checks that the results so far are complete, and continues the run without the long files.
    private func expectCompleteResults() throws {
        for name in ["a.wav.jsonl", "b.wav.jsonl"] {
            #expect(try Record.all(in: folder.text(of: "out/\(name)")).last?.string("reason") == "end-of-input", "\(name)")
        }
        for name in ["in/long1.wav", "in/long2.wav"] { try FileManager.default.removeItem(atPath: folder(name)) }
        let resumed = try run("in", "--resume")
        #expect(resumed.status == 0 && resumed.errors.contains("1 analysed; 2 skipped"), "\(resumed.errors)")
        #expect(try run("in", output: "whole").status == 0)
        #expect(try tree("out") == tree("whole"))
    }

    @Test func `killed run: results so far are complete, and the next run completes the tree`() throws {
        let process = try startLongRun()
        process.send(SIGKILL)
        #expect(try process.finish().wasKilled)
        try expectCompleteResults()
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGUSR1, SIGUSR2]) func `signal: finished results stay, incomplete ones are removed`(signal: Int32)
        throws
    {
        let process = try startLongRun()
        process.send(signal)
        let outcome = try process.finish()
        #expect(outcome.status == 128 + signal && !outcome.wasKilled)
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("--resume"), "\(outcome.errors)")
        #expect(names("out") == ["a.wav.jsonl", "b.wav.jsonl"])
        try expectCompleteResults()
    }

    @Test func `second run on the same folder: refused while the first one runs`() throws {
        let process = try startLongRun()
        let second = try Hemiola.run(["analyze", "in", "--output-dir", "out/"], in: folder.path)
        #expect(second.status == 3 && second.errorLines.count == 1, "\(second.errors)")
        #expect(second.errors.contains("process \(process.identifier)"), "\(second.errors)")
        process.send(SIGINT)
        #expect(try process.finish().status == 130)
        try expectCompleteResults()
    }

    @Test(.enabled(if: TemporaryDisk.isAvailable, "a tmpfs can be mounted by root only"))
    func `full disk: finished results stay, and the run continues with more space`() throws {
        let disk = try TemporaryDisk(kibibytes: 2048)
        try create("in")
        for index in 0..<6 { try folder.writeTone("in/\(index).wav", frames: 500_000) }
        try disk.fill(leaving: 250)
        let arguments = ["analyze", "in", "--output-dir", disk("out"), "--analyzer", "levels"]
        let outcome = try Hemiola.run(arguments, in: folder.path)
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("the disk is full") && outcome.errors.contains("--resume"), "\(outcome.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: disk("out"))
        #expect(!names.contains { $0.hasSuffix(".partial") })
        let complete = names.count { $0.hasSuffix(".wav.jsonl") }
        #expect((1...5).contains(complete), "\(names)")
        #expect(outcome.errors.contains("ended with \(complete) of 6 results complete"), "\(outcome.errors)")
        try disk.free()
        let resumed = try Hemiola.run(arguments + ["--resume"], in: folder.path)
        #expect(resumed.status == 0 && resumed.errors.contains("skipped"), "\(resumed.errors)")
        #expect(try run("in").status == 0)
        for (name, data) in try tree("out") { #expect(try Data(disk.text(of: "out/\(name)").utf8) == data) }
    }

    // MARK: - Options

    @Test(arguments: [
        (["a.wav", "--output-dir", "out", "-o", "b.jsonl"], "--output"), (["a.wav", "--output-dir", "out", "--sink", "csv"], "--sink"),
        (["--capture", "tone:sine,seconds=1", "--output-dir", "out"], "--capture"), (["-", "--output-dir", "out"], "standard input"),
        (["a.wav", "--output-dir", "out", "--realtime"], "--realtime"), (["a.wav", "--resume"], "--output-dir"),
        (["a.wav", "--output-format", "csv"], "--output-dir"), (["a.wav", "--output-dir", ""], "empty"),
        (["a.wav", "--output-dir", "out", "--output-format", "csv", "--resume"], "jsonl"),
        (["a.wav", "--output-dir", "out", "--analyzer", "nothing"], "nothing"), (["a.wav", "--output-dir", "out", "-j999"], "--jobs"),
        (["--output-dir", "out"], "no input files"), ([".", "--raw", "s16le,44100,1", "--output-dir", "out"], "--raw"),
    ])
    func `options that exclude each other: one error line, exit code 2, no folder`(arguments: [String], word: String) throws {
        try folder.writeTone("a.wav", frames: 2048)
        let outcome = try Hemiola.run(["analyze"] + arguments, in: folder.path)
        #expect(outcome.status == 2 && outcome.errorLines.count == 1 && outcome.errors.contains(word), "\(outcome.errors)")
        #expect(folder.names == ["a.wav"])
    }

    @Test(arguments: ["in", "in/", "./in", "link"])
    func `folder of the results is the analysed one: one error line, exit code 2, nothing is written`(output: String) throws {
        try create("in")
        try folder.writeTone("in/a.wav", frames: 2048)
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "in")
        for command in ["analyze", "beats"] {
            let outcome = try Hemiola.run([command, "in", "--output-dir", output], in: folder.path)
            #expect(outcome.status == 2 && outcome.errorLines.count == 1, "\(outcome.errors)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("in")) == ["a.wav"])
    }

    @Test func `path of the folder is a file: one error line, exit code 3`() throws {
        try folder.writeTone("a.wav", frames: 2048)
        let outcome = try run("a.wav", output: "a.wav")
        #expect(outcome.status == 3 && outcome.errorLines.count == 1, "\(outcome.errors)")
    }
}
