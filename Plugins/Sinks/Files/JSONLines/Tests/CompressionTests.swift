import Foundation
import Glibc
import Hemiola
import JSONLinesSink
import TestSupport
import Testing

@Suite struct CompressionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(.enabled(if: Zstd.isExpected, "zstd is not installed"), arguments: ["auto", "line", "block"])
    func `zstd file: the same lines as an uncompressed file`(flush: String) throws {
        try Fixture.run(Fixture.sink(folder("a.jsonl"), ["flush": .text(flush)]), blocks: Fixture.manyBlocks)
        try Fixture.run(Fixture.sink(folder("a.jsonl.zst"), ["flush": .text(flush)]), blocks: Fixture.manyBlocks)
        #expect(folder.names == ["a.jsonl", "a.jsonl.zst"])
        let (text, isWhole) = try Zstd.read(folder("a.jsonl.zst"))
        #expect(isWhole)
        #expect(try text == folder.text(of: "a.jsonl"))
        let size = try Data(contentsOf: URL(fileURLWithPath: folder("a.jsonl.zst"))).count
        #expect(size < text.utf8.count / (flush == "line" ? 2 : 4))
    }

    @Test(.enabled(if: Zstd.isExpected, "zstd is not installed"), arguments: ["1", "19"])
    func `compress setting: overrides the extension of the path`(level: String) throws {
        try Fixture.run(Fixture.sink(folder("a.log"), ["compress": .text("zstd"), "level": .text(level)]))
        #expect(try recordTypes(Zstd.read(folder("a.log")).text) == ["header", "batch", "batch", "end"])
        try Fixture.run(Fixture.sink(folder("b.zst"), ["compress": .text("none")]))
        #expect(try folder.types("b.zst").last == "end")
    }

    @Test(.enabled(if: Zstd.isExpected, "zstd is not installed"))
    func `zstd file with flush=line: every flushed line can be read before the file is complete`() throws {
        let sink = try Fixture.sink(folder("a.jsonl.zst"), ["flush": .text("line")])
        try sink.open(SinkContext(name: "json-lines"))
        try sink.begin(Fixture.header)
        try sink.write(Fixture.block())
        let (text, isWhole) = try Zstd.read(folder(try #require(folder.names.first)))
        #expect(!isWhole)
        #expect(try recordTypes(text) == ["header", "batch", "batch"])
        try sink.close()
        #expect(try Zstd.read(folder("a.jsonl.zst")).isWhole)
    }

    @Test func `incomplete zstd file: removed, and the old file is unchanged`() throws {
        try folder.write("old", to: "a.zst")
        do {
            let sink = try Fixture.sink(folder("a.zst"))
            try sink.open(SinkContext(name: "json-lines"))
            try sink.begin(Fixture.header)
            #expect(try folder.text(of: "a.zst") == "old")
        }
        #expect(folder.names == ["a.zst"])
        #expect(try folder.text(of: "a.zst") == "old")
    }

    @Test func `full disk, compressed: error with cause and advice`() throws {
        let error = sinkError { try Fixture.run(Fixture.sink("/dev/full", ["compress": .text("zstd")])) }
        #expect(error?.message == "cannot write /dev/full: the disk is full; free some space or write to another disk")
    }

    @Test func `append to a zstd file: refused`() {
        #expect {
            try Fixture.sink(folder("a.zst"), ["append": .text("true")])
        } throws: { error in
            "\(error)".contains("append: nothing can be added to a compressed file")
        }
    }
}
