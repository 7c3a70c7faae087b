import Foundation
import TestSupport
import Testing

/// Output: files, standard output, readers and signals.
@Suite struct OutputTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("before\n", to: "out.jsonl")
    }

    private func expectFailure(
        _ outcome: ChildProcess.Outcome, saying words: String..., location: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.status == 3, sourceLocation: location)
        #expect(outcome.errorLines.count == 1, "\(outcome.errors)", sourceLocation: location)
        for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)", sourceLocation: location) }
    }

    @Test func `missing folders: created`() throws {
        let file = try folder.writeTone(frames: 2048)
        #expect(try Hemiola.run(["analyze", file, "-o", folder("a b/c/out.jsonl")]).status == 0)
        #expect(try Record.all(in: folder.text(of: "a b/c/out.jsonl")).count == 4)
    }

    @Test func `sink that cannot be opened: refused before another sink writes`() throws {
        let file = try folder.writeTone()
        let outcome = try Hemiola.run(
            ["analyze", file, "--sink", "json-lines", "--sink", "csv:\(folder("new.csv"))", "--sink", "beats:\(folder.path)"])
        expectFailure(outcome, saying: folder.path, "is a folder")
        #expect(outcome.output.isEmpty)
        #expect(folder.names == ["out.jsonl", "tone.wav"])
    }

    @Test(arguments: ["web:page=none", "osc:map=none.yaml", "presets:list=none"])
    func `file of a setting that does not exist: one error line, exit code 2, nothing is written`(sink: String) throws {
        let outcome = try Hemiola.run(["analyze", Hemiola.minuet, "--quiet", "-o", "new.jsonl", "--sink", sink], in: folder.path)
        #expect(outcome.status == 2 && outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("none") && outcome.errors.contains("No such file or directory"), "\(outcome.errors)")
        #expect(folder.names == ["out.jsonl"])
    }

    @Test func `folder as output path: one error line, exit code 3`() throws {
        let file = try folder.writeTone(frames: 2048)
        expectFailure(try Hemiola.run(["analyze", file, "-o", folder.path]), saying: folder.path, "is a folder")
    }

    @Test func `output in an unwritable folder: one error line, exit code 3`() throws {
        let file = try folder.writeTone(frames: 2048)
        try FileManager.default.createDirectory(atPath: folder("mine"), withIntermediateDirectories: false)
        chmod(folder("mine"), 0o555)
        let sheds = geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search"] : ["/usr/bin/env"]
        let outcome = try ChildProcess.run(
            sheds[0], sheds.dropFirst() + [Hemiola.path, "analyze", file, "-o", folder("mine/out.jsonl")])
        expectFailure(outcome, saying: folder("mine/out.jsonl"))
    }

    @Test func `full disk at a path: one error line, exit code 3`() throws {
        expectFailure(try Hemiola.run(["analyze", try folder.writeTone(), "-o", "/dev/full"]), saying: "/dev/full", "full")
    }

    @Test func `full disk at standard output: one error line, exit code 3`() throws {
        let outcome = try Hemiola.run(["analyze", try folder.writeTone()], output: .path("/dev/full"))
        expectFailure(outcome, saying: "standard output", "full")
    }

    @Test(arguments: [["--help"], ["--version"], ["schema"], ["schema", "--columns"]])
    func `full disk at a document: one error line, exit code 3`(arguments: [String]) throws {
        expectFailure(try Hemiola.run(arguments, output: .path("/dev/full")), saying: "standard output")
    }

    @Test func `full disk of one sink: other sinks are complete`() throws {
        let file = try folder.writeTone()
        let outcome = try Hemiola.run(["analyze", file, "--sink", "json-lines:/dev/full", "--sink", "json-lines"])
        expectFailure(outcome, saying: "/dev/full")
        #expect(try Record.all(in: outcome.output).map(\.line) == Hemiola.records([file]).map(\.line))
    }

    // MARK: - Readers

    @Test func `reader closes standard output: exit code 0, no message`() throws {
        let process = try Hemiola.start(["analyze", Hemiola.minuet])
        let first = try Record(#require(try process.readLine()))
        #expect(first.type == "header")
        process.closeOutput()
        let outcome = try process.finish()
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.status) \(outcome.errors)")
    }

    @Test func `reader closes standard output before the first line: exit code 0`() throws {
        let process = try Hemiola.start(["analyze", try folder.writeTone()])
        process.closeOutput()
        let outcome = try process.finish()
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.status) \(outcome.errors)")
    }

    @Test func `reader closes standard output in a real-time run: ends early`() throws {
        let process = try Hemiola.start(["analyze", "--realtime", Hemiola.minuet])
        _ = try process.readLine()
        process.closeOutput()
        // 30 s of music.
        let outcome = try process.finish(timeout: 10)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.status) \(outcome.errors)")
    }

    @Test func `real-time run: each line is written on time`() throws {
        let start = Date()
        let process = try Hemiola.start(["analyze", "--realtime", "--analyzer", "levels", Hemiola.minuet])
        for _ in 0..<20 { _ = try #require(try process.readLine()) }
        // 18 batches are 0.42 s; a block of 64 KiB would be 9 s.
        #expect(Date().timeIntervalSince(start) < 5)
        process.closeOutput()
        #expect(try process.finish().status == 0)
    }

    // MARK: - Crashes

    @Test func `killed offline run: existing file unchanged`() throws {
        let process = try OfflineRun.start(["analyze"], output: folder("out.jsonl"))
        try process.writeInput()
        try folder.wait(for: "records") {
            folder.names.contains { name in
                name.hasSuffix(".partial")
                    && ((try? FileManager.default.attributesOfItem(atPath: folder(name))[.size] as? Int) ?? 0) > 0
            }
        }
        process.send(SIGKILL)
        let outcome = try process.finish()
        #expect(outcome.wasKilled && outcome.status == 128 + SIGKILL)
        #expect(try folder.text(of: "out.jsonl") == "before\n")

        // Leftover files do not affect the next run.
        let file = try folder.writeTone(frames: 2048)
        #expect(try Hemiola.run(["analyze", file, "-o", folder("out.jsonl")]).status == 0)
        #expect(try Record.all(in: folder.text(of: "out.jsonl")).types == ["header", "batch", "batch", "end"])
    }

    @Test func `replaced file: keeps permissions and links`() throws {
        let file = try folder.writeTone(frames: 2048)
        chmod(folder("out.jsonl"), 0o640)
        try FileManager.default.createSymbolicLink(atPath: folder("link.jsonl"), withDestinationPath: "out.jsonl")
        #expect(try Hemiola.run(["analyze", file, "-o", folder("link.jsonl")]).status == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("link.jsonl")) == "out.jsonl")
        #expect(try FileManager.default.attributesOfItem(atPath: folder("out.jsonl"))[.posixPermissions] as? Int == 0o640)
        #expect(try Record.all(in: folder.text(of: "out.jsonl")).count == 4)
    }

    // MARK: - Signals

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `signal: output is completed with an end record`(signal: Int32) throws {
        let process = try Hemiola.start([
            "analyze", "--realtime", Hemiola.minuet, "--sink", "json-lines:\(folder("new.jsonl"))", "--sink", "json-lines",
        ])
        for _ in 0..<5 { _ = try #require(try process.readLine()) }
        process.send(signal)
        let outcome = try process.finish(timeout: 20)
        #expect(outcome.status == 128 + signal && !outcome.wasKilled)
        #expect(outcome.errors.isEmpty, "\(outcome.errors)")
        let written = try Record.all(in: folder.text(of: "new.jsonl"))
        #expect(written.suffix(outcome.lines.count).map(\.line) == outcome.lines)
        let end = try #require(written.last)
        #expect(end.type == "end" && end.string("reason") == "interrupted")
        #expect(end.int("batches") == written.batches.count)
        written.expectWholeStream(frames: end.int("frames") ?? 0, rate: 44_100, reason: "interrupted")
    }

    @Test func `second signal with a blocked reader: exits at once`() throws {
        // Writes megabytes to a pipe of 64 KiB that is not read.
        let process = try Hemiola.start(["analyze", Hemiola.minuet, "--analyzer", "levels", "--analyzer", "spectrum:magnitudes=true"])
        // The sink has 64 batches at once, which are far more than the pipe holds.
        var line = ""
        while !line.hasPrefix(#"{"type":"batch""#) { line = try #require(try process.readLine()) }
        process.send(SIGINT)
        // For 200 ms the program takes a second signal for the same one.
        usleep(400_000)
        #expect(process.isRunning)
        process.send(SIGINT)
        let outcome = try process.finishUnread()
        #expect(outcome.status == 130 && !outcome.wasKilled)
    }

    @Test func `same signal several times at once: counts as one`() throws {
        // Like timeout(1), which sends the signal to the process and to its group.
        let process = try Hemiola.start(["analyze", "--realtime", Hemiola.minuet])
        _ = try #require(try process.readLine())
        // So many that some arrive while the first is handled; all of them in much less than the 200 ms for which they count as one.
        for _ in 0..<200 { process.send(SIGTERM) }
        let outcome = try process.finish(timeout: 20)
        #expect(outcome.status == 143)
        #expect(try Record.all(in: outcome.output).last?.string("reason") == "interrupted")
    }

    @Test(arguments: [0, 44, 30_000]) func `signal while waiting for standard input: exits`(count: Int) throws {
        let bytes = Array(TemporaryFolder.tone().bytes.prefix(count))
        let process = try Hemiola.start(["analyze", "-", "--analyzer", "levels"], input: .bytes(bytes, staysOpen: true))
        // The program may be waiting for the rest of its input.
        for _ in 0..<60 where process.isRunning { try process.exchange(for: 0.02) }
        process.send(SIGINT)
        let outcome = try process.finish(timeout: 4)
        #expect(outcome.status == 130 && !outcome.wasKilled && outcome.errors.isEmpty, "\(outcome.errors)")
        if count == 30_000 {
            let end = try #require(try Record.all(in: outcome.output).last)
            #expect(end.type == "end" && end.string("reason") == "interrupted")
            #expect(end.int("frames") == (30_000 - 44) / 2)
        }
    }

    /// A line of the shell: analyses a file in the background, to `ok.jsonl`, and sends a signal when the first record has come.
    private static func line(analyzing file: String, sending signal: String) -> String {
        """
        mkfifo records; hemiola analyze --realtime '\(file)' > records &
        { IFS= read -r header; kill -\(signal) $!; printf '%s\\n' "$header"; cat; } < records > ok.jsonl; wait $!
        """
    }

    @Test func `ignored SIGHUP: stays ignored`() throws {
        let file = try folder.writeTone(frames: 44_100)
        let line = "trap '' HUP; " + Self.line(analyzing: file, sending: "HUP")
        let outcome = try Hemiola.shell(line, in: folder.path)
        #expect(outcome.status == 0)
        #expect(try Record.all(in: folder.text(of: "ok.jsonl")).last?.string("reason") == "end-of-input")
    }

    @Test func `SIGINT to a script's background job: ends it`() throws {
        // A shell without job control starts its background jobs with SIGINT ignored.
        let file = try folder.writeTone(frames: 20 * 44_100)
        let outcome = try Hemiola.shell(Self.line(analyzing: file, sending: "INT"), in: folder.path)
        #expect(outcome.status == 130)
        #expect(try Record.all(in: folder.text(of: "ok.jsonl")).last?.string("reason") == "interrupted")
    }
}
