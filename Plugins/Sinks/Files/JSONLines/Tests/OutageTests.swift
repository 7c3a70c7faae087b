import Foundation
import Glibc
import Hemiola
import JSONLinesSink
import TestSupport
import Testing

/// Live files on a disk that is full and then has space again. Each test calls the sink as the engine does: it repeats a call that
/// throws the remedy `retry`.
@Suite(.enabled(if: TemporaryDisk.isAvailable, "a tmpfs can be mounted by root only"))
struct OutageTests {
    /// 2000 batches, about 200 KB of lines.
    private static let blocks = (0..<500).map { Fixture.block(first: $0 * 4, count: 4) }

    /// The lines of a complete file.
    private func expected(_ settings: [String: ParameterValue] = [:]) throws -> String {
        let folder = try TemporaryFolder()
        try Fixture.run(Fixture.sink(folder("a.jsonl"), settings), live: true, blocks: Self.blocks)
        return try folder.text(of: "a.jsonl")
    }

    /// Repeats a call while it throws `retry`, and frees the disk after the third failure.
    ///
    /// - Returns: The errors.
    private func withRetries(_ disk: TemporaryDisk, _ call: () throws -> Void) throws -> [Problem] {
        var errors: [Problem] = []
        while true {
            do {
                try call()
                return errors
            } catch let error as Problem where error.remedy == .retry && errors.count < 5 {
                errors.append(error)
                if errors.count == 3 { try disk.free() }
            }
        }
    }

    private func run(_ sink: any Sink, _ disk: TemporaryDisk) throws -> [Problem] {
        var errors: [Problem] = []
        try sink.open(SinkContext(name: "json-lines", timing: SinkTiming(isLive: true)))
        errors += try withRetries(disk) { try sink.begin(Fixture.header) }
        for block in Self.blocks { errors += try withRetries(disk) { try sink.write(block) } }
        errors += try withRetries(disk) { try sink.end(Fixture.summary) }
        try sink.close()
        return errors
    }

    @Test(arguments: ["line", "block"], [0, 4, 8, 12])
    func `full disk that has space again: every line is written once`(flush: String, room: Int) throws {
        let disk = try TemporaryDisk(kibibytes: 1024)
        try disk.fill(leaving: room)
        let errors = try run(Fixture.sink(disk("a.jsonl"), ["flush": .text(flush)]), disk)
        #expect(errors.count == 3)
        #expect(errors.allSatisfy { $0.message.contains("the disk is full; it keeps ") })
        #expect(try disk.text(of: "a.jsonl") == expected())
    }

    @Test func `full disk: while it lasts, the file ends with a whole line, and the message states its size`() throws {
        let disk = try TemporaryDisk(kibibytes: 64)
        try disk.fill(leaving: 8)
        let sink = try Fixture.sink(disk("a.jsonl"))
        try sink.open(SinkContext(name: "json-lines", timing: SinkTiming(isLive: true)))
        try sink.begin(Fixture.header)
        var last: Problem?
        for block in Self.blocks where last == nil { last = sinkError { try sink.write(block) } }
        let error = try #require(last)
        let text = try disk.text(of: "a.jsonl")
        #expect(text.hasSuffix("\n"))
        let count = try recordTypes(text).count
        #expect(error.message.contains("it keeps \(count) whole lines of this run, \(text.utf8.count) bytes in all"), "\(error.message)")
        // The disk stays full: closing the sink fails, and the file keeps its lines.
        #expect(sinkError { try sink.close() } != nil)
        #expect(try disk.text(of: "a.jsonl") == text)
    }

    @Test func `append on a full disk that has space again: old and new lines, each once`() throws {
        let disk = try TemporaryDisk(kibibytes: 1024)
        let old = String(repeating: "{\"type\":\"old\"}\n", count: 20)
        try Data(old.utf8).write(to: URL(fileURLWithPath: disk("a.jsonl")))
        try disk.fill(leaving: 0)
        let errors = try run(Fixture.sink(disk("a.jsonl"), ["append": .text("true")]), disk)
        #expect(errors.count == 3)
        #expect(try disk.text(of: "a.jsonl") == old + expected())
    }

    @Test(arguments: [0, 4]) func `full disk when a rotated file begins: every batch is in one of the files`(room: Int) throws {
        let settings = ["rotate_s": ParameterValue.number(10)]
        let folder = try TemporaryFolder()
        try Fixture.run(Fixture.sink(folder("a.jsonl"), settings), live: true, blocks: Self.blocks)
        let disk = try TemporaryDisk(kibibytes: 1024)
        // The first file fills the disk up to its last page.
        let pages = try (folder.text(of: "a.0001.jsonl").utf8.count + 4095) / 4096
        try disk.fill(leaving: pages * 4 + room)
        let errors = try run(Fixture.sink(disk("a.jsonl"), settings), disk)
        #expect(errors.count == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).sorted() == folder.names)
        #expect(folder.names.count == 5)
        for name in folder.names { #expect(try disk.text(of: name) == folder.text(of: name)) }
    }

    @Test func `file written beside its path on a full disk: final error, no file is left`() throws {
        let disk = try TemporaryDisk(kibibytes: 64)
        try disk.fill(leaving: 8)
        let sink = try Fixture.sink(disk("a.jsonl"))
        let error = sinkError { try Fixture.run(sink, blocks: Fixture.manyBlocks) }
        #expect(error?.remedy == .giveUp && error?.message.contains("the disk is full; free some space") == true)
        try sink.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [".filler"])
    }
}
