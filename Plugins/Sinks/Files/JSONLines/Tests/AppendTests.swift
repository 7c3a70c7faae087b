import Glibc
import Hemiola
import JSONLinesSink
import TestSupport
import Testing

@Suite struct AppendTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `append to an existing file: the new lines follow the old ones`() throws {
        for _ in 0..<2 { try Fixture.run(Fixture.sink(folder("a.jsonl"), ["append": .text("true")])) }
        #expect(folder.names == ["a.jsonl"])
        #expect(try folder.types("a.jsonl") == ["header", "batch", "batch", "end", "header", "batch", "batch", "end"])
    }

    @Test func `append after an incomplete line: the line is ended first`() async throws {
        try folder.write("{\"type\":\"bat", to: "a.jsonl")
        try Fixture.run(Fixture.sink(folder("a.jsonl"), ["append": .text("true")]))
        let lines = try folder.text(of: "a.jsonl").split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines[1].hasPrefix(#"{"type":"header""#))
    }

    @Test func `append without a stream: the old file is unchanged, and no new file is left`() throws {
        try folder.write("old", to: "a.jsonl")
        for path in ["a.jsonl", "b.jsonl"] {
            let sink = try Fixture.sink(folder(path), ["append": .text("true")])
            try sink.open(SinkContext(name: "json-lines"))
            try sink.close()
        }
        #expect(folder.names == ["a.jsonl"])
        #expect(try folder.text(of: "a.jsonl") == "old")
    }
}
