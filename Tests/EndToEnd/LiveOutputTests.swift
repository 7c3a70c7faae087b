import Foundation
import TestSupport
import Testing

/// Output files of real-time runs: created at the start, and kept.
@Suite struct LiveOutputTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let command = ["analyze", "--realtime", Hemiola.minuet, "--analyzer", "levels", "--analyzer", "spectrum:bands=64"]

    private func text(of name: String) -> String { (try? folder.text(of: name)) ?? "" }

    // MARK: - Kept

    @Test func `killed recording: all lines are at the given path`() throws {
        let process = try Hemiola.start(Self.command + ["-o", folder("out.jsonl")])
        try folder.wait(for: "output") { self.text(of: "out.jsonl").split(separator: "\n").count > 20 }
        process.send(SIGKILL)
        #expect(try process.finish().wasKilled)
        #expect(folder.names == ["out.jsonl"])
        let text = wholeLines(of: "out.jsonl")
        let records = try Record.all(in: String(text))
        #expect(records.first?.type == "header" && records.batches.count >= 20)
        #expect(records.batches.enumerated().allSatisfy { $1.int("n") == $0 })
    }

    /// The text of a file up to its last line break. The kernel ends a write of a killed process at a page boundary at the earliest:
    /// only there may a line be cut off.
    private func wholeLines(of name: String) -> Substring {
        let text = text(of: name)
        #expect(text.hasSuffix("\n") || text.utf8.count.isMultiple(of: 4096), "\(text.suffix(100))")
        return text.prefix(through: text.lastIndex(of: "\n") ?? text.startIndex)
    }

    @Test func `killed table: all rows are written`() throws {
        let process = try Hemiola.start(Self.command + ["-o", folder("out.csv")])
        try folder.wait(for: "output") { self.text(of: "out.csv").split(separator: "\n").count > 20 }
        process.send(SIGKILL)
        #expect(try process.finish().wasKilled)
        #expect(folder.names == ["out.csv", "out.events.csv"])
        #expect(wholeLines(of: "out.csv").split(separator: "\n").count > 20)
    }

    // MARK: - Full disks

    private func expectKept(_ outcome: ChildProcess.Outcome, _ name: String, cause: String) throws {
        #expect(outcome.status == 3)
        let text = self.text(of: name)
        #expect(text.hasSuffix("\n"))
        let records = try Record.all(in: text)
        #expect(records.first?.type == "header" && records.batches.count > 10)
        let kept = "it keeps \(records.count) whole lines of this run, \(text.utf8.count) bytes in all; "
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains(cause) && outcome.errors.contains(kept), "\(outcome.errors)")
    }

    @Test func `file size limit: recording ends with a complete line; the message has the count of lines`() throws {
        // The shell counts in blocks of 512 bytes.
        let line = "ulimit -f 40; exec hemiola \(Self.command.map { "'\($0)'" }.joined(separator: " ")) -o out.jsonl"
        try expectKept(Hemiola.shell(line, in: folder.path), "out.jsonl", cause: "larger than allowed")
    }

    @Test(.enabled(if: canMount, "a tmpfs can be mounted by root only"))
    func `full disk: recording ends with a complete line; the message has the count of lines`() throws {
        try FileManager.default.createDirectory(atPath: folder("disk"), withIntermediateDirectories: false)
        let command = Self.command.map { "'\($0)'" }.joined(separator: " ")
        let script = """
            mount -t tmpfs -o size=28k none disk || exit 99
            hemiola \(command) -o disk/out.jsonl; status=$?
            cp disk/out.jsonl out.jsonl; exit $status
            """
        try expectKept(
            Hemiola.shell("exec unshare -m sh -c '\(script.replacingOccurrences(of: "'", with: "'\\''"))'", in: folder.path), "out.jsonl",
            cause: "the disk is full")
    }

    private static let canMount: Bool = {
        let script = "d=$(mktemp -d) && mount -t tmpfs -o size=16k none $d && umount $d && rmdir $d"
        return (try? ChildProcess.run("/usr/bin/unshare", ["-m", "sh", "-c", script]))?.status == 0
    }()

    // MARK: - Never replaced

    @Test(arguments: ["out.jsonl", "out.csv"])
    func `path of an existing file: refused before the capture starts`(name: String) throws {
        try folder.write("before\n", to: name)
        let outcome = try Hemiola.run(["analyze", "--realtime", Hemiola.minuet, "-o", folder(name)])
        #expect(outcome.status == 3 && outcome.output.isEmpty && outcome.errorLines.count == 1)
        #expect(outcome.errors.contains(folder(name)) && outcome.errors.contains("the file exists") && outcome.errors.contains("{time}"))
        #expect(outcome.errors.contains("append=true"), "\(outcome.errors)")
        #expect(try folder.text(of: name) == "before\n")
        #expect(folder.names == [name])
    }

    @Test func `compressed recording: refused before the capture starts`() throws {
        let outcome = try Hemiola.run(["analyze", "--realtime", Hemiola.minuet, "-o", folder("out.jsonl.zst")])
        #expect(outcome.status == 3 && outcome.output.isEmpty && outcome.errorLines.count == 1)
        #expect(outcome.errors.contains("out.jsonl.zst") && outcome.errors.contains("leave out .zst"), "\(outcome.errors)")
        #expect(folder.names.isEmpty)
    }

    @Test func `{time} in the path: one file per recording`() throws {
        let file = try folder.writeTone(frames: 4096)
        #expect(try Hemiola.run(["analyze", "--realtime", file, "-o", folder("rec-{time}.jsonl")]).status == 0)
        let name = try #require(folder.names.first { $0.hasPrefix("rec-") })
        #expect(name.wholeMatch(of: /rec-\d{8}-\d{6}\.jsonl/) != nil)
        #expect(try Record.all(in: folder.text(of: name)).count == 6)
    }

    // MARK: - Rotated

    @Test func `rotated recording: each file is valid alone; together they are complete`() throws {
        let whole = try Hemiola.records([Hemiola.minuet, "--analyzer", "levels"])
        let outcome = try Hemiola.run(
            ["analyze", Hemiola.minuet, "--analyzer", "levels", "--sink", "json-lines:\(folder("m.jsonl")),rotate_s=10"])
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(folder.names == ["m.0001.jsonl", "m.0002.jsonl", "m.0003.jsonl", "m.0004.jsonl"])
        let parts = try folder.names.map { try Record.all(in: folder.text(of: $0)) }
        for (index, part) in parts.enumerated() {
            #expect(part.first?.line == whole.first?.line)
            #expect(part.batches.first?.double("t").map { abs($0 - 10 * Double(index)) < 0.024 } == true)
        }
        #expect(parts.flatMap { $0.dropFirst() }.map(\.line) == whole.dropFirst().map(\.line))
    }
}
