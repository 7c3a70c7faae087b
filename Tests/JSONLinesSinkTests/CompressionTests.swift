import Foundation
import Glibc
import Hemiola
import HemiolaSignal
import JSONLinesSink
import TestSupport
import Testing

@Suite struct CompressionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(.enabled(if: Zstd.isExpected, "zstd is not installed"), arguments: ["auto", "line", "block"])
    func `a compressed file holds the same lines`(flush: String) async throws {
        try await Fixture.run(Fixture.sink(folder("a.jsonl"), ["flush": .text(flush)]), blocks: Fixture.manyBlocks)
        try await Fixture.run(Fixture.sink(folder("a.jsonl.zst"), ["flush": .text(flush)]), blocks: Fixture.manyBlocks)
        #expect(folder.names == ["a.jsonl", "a.jsonl.zst"])
        let (text, isWhole) = try Zstd.read(folder("a.jsonl.zst"))
        #expect(isWhole)
        #expect(try text == folder.text(of: "a.jsonl"))
        let size = try Data(contentsOf: URL(fileURLWithPath: folder("a.jsonl.zst"))).count
        #expect(size < text.utf8.count / (flush == "line" ? 2 : 4))
    }

    @Test(.enabled(if: Zstd.isExpected, "zstd is not installed"), arguments: ["1", "19"])
    func `any file is compressed when asked to, and none when asked not to`(level: String) async throws {
        try await Fixture.run(Fixture.sink(folder("a.log"), ["compress": .text("zstd"), "level": .text(level)]))
        #expect(try recordTypes(Zstd.read(folder("a.log")).text) == ["header", "batch", "batch", "end"])
        try await Fixture.run(Fixture.sink(folder("b.zst"), ["compress": .text("none")]))
        #expect(try folder.types("b.zst").last == "end")
    }

    @Test(.enabled(if: Zstd.isExpected, "zstd is not installed"))
    func `flushed lines can be read before the file is complete`() async throws {
        let sink = try Fixture.sink(folder("a.jsonl.zst"), ["flush": .text("line")])
        try await sink.open(SinkContext(name: "json-lines"))
        try await sink.begin(Fixture.header)
        try await sink.write(Fixture.block())
        let (text, isWhole) = try Zstd.read(folder(try #require(folder.names.first)))
        #expect(!isWhole)
        #expect(try recordTypes(text) == ["header", "batch", "batch"])
        try await sink.close()
        #expect(try Zstd.read(folder("a.jsonl.zst")).isWhole)
    }

    @Test func `a compressed file appears when it is complete, or never`() async throws {
        try folder.write("old", to: "a.zst")
        do {
            let sink = try Fixture.sink(folder("a.zst"))
            try await sink.open(SinkContext(name: "json-lines"))
            try await sink.begin(Fixture.header)
            #expect(try folder.text(of: "a.zst") == "old")
        }
        #expect(folder.names == ["a.zst"])
        #expect(try folder.text(of: "a.zst") == "old")
    }

    @Test func `a full disk is told for compressed lines too`() async throws {
        let error = await sinkError { try await Fixture.run(Fixture.sink("/dev/full", ["compress": .text("zstd")])) }
        #expect(error?.message == "cannot write /dev/full: the disk is full; free some space or write to another disk")
    }

    @Test func `nothing is added to a compressed file`() {
        #expect {
            try Fixture.sink(folder("a.zst"), ["append": .text("true")])
        } throws: { error in
            "\(error)".contains("append: nothing can be added to a compressed file")
        }
    }
}
