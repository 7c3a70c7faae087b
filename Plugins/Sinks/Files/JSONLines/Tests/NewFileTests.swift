import Foundation
import Glibc
import Hemiola
import JSONLinesSink
import TestSupport
import Testing

@Suite struct NewFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `new file: at its path when it is complete`() throws {
        let sink = try Fixture.sink(folder("a.jsonl"))
        try sink.open(SinkContext(name: "json-lines"))
        try sink.begin(Fixture.header)
        try sink.write(Fixture.block())
        #expect(folder.names.count == 1)
        #expect(folder.names[0].wholeMatch(of: /\.a\.jsonl\.[a-z0-9]{6}\.partial/) != nil)
        try sink.end(Fixture.summary)
        try sink.close()
        #expect(folder.names == ["a.jsonl"])
        #expect(try folder.types("a.jsonl") == ["header", "batch", "batch", "end"])
    }

    @Test func `several streams: one file`() throws {
        let sink = try Fixture.sink(folder("a.jsonl"))
        try sink.open(SinkContext(name: "json-lines"))
        for _ in 0..<2 {
            try sink.begin(Fixture.header)
            try sink.end(Fixture.summary)
        }
        try sink.close()
        #expect(try folder.types("a.jsonl") == ["header", "end", "header", "end"])
    }

    @Test func `old file: readable until the new one replaces it`() throws {
        try folder.write("old", to: "a.jsonl")
        let sink = try Fixture.sink(folder("a.jsonl"))
        try sink.open(SinkContext(name: "json-lines"))
        try sink.begin(Fixture.header)
        #expect(try folder.text(of: "a.jsonl") == "old")
        try sink.end(Fixture.summary)
        try sink.close()
        #expect(folder.names == ["a.jsonl"])
        #expect(try folder.types("a.jsonl") == ["header", "end"])
    }

    @Test func `no stream: an old file is unchanged, and no new file is left`() throws {
        try folder.write("old", to: "a.jsonl")
        for path in ["a.jsonl", "b.jsonl"] {
            let sink = try Fixture.sink(folder(path))
            try sink.open(SinkContext(name: "json-lines"))
            try sink.close()
        }
        #expect(folder.names == ["a.jsonl"])
        #expect(try folder.text(of: "a.jsonl") == "old")
    }

    @Test func `sink that is not closed: no file is left`() throws {
        do {
            let sink = try Fixture.sink(folder("a.jsonl"))
            try sink.open(SinkContext(name: "json-lines"))
            try sink.begin(Fixture.header)
        }
        #expect(folder.names.isEmpty)
    }

    @Test func `new file: default permissions`() throws {
        close(open(folder("other"), O_WRONLY | O_CREAT, 0o666))
        try Fixture.run(Fixture.sink(folder("a.jsonl")))
        #expect(folder.mode("a.jsonl") == folder.mode("other"))
    }

    @Test func `replaced file: permissions of the old file`() throws {
        try folder.write("old", to: "a.jsonl")
        chmod(folder("a.jsonl"), 0o640)
        try Fixture.run(Fixture.sink(folder("a.jsonl")))
        #expect(folder.mode("a.jsonl") == 0o640)
    }

    @Test func `symbolic link: its target is replaced`() throws {
        try FileManager.default.createDirectory(atPath: folder("deep"), withIntermediateDirectories: false)
        try folder.write("old", to: "deep/real.jsonl")
        symlink("deep/real.jsonl", folder("link.jsonl"))
        try Fixture.run(Fixture.sink(folder("link.jsonl")))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("link.jsonl")) == "deep/real.jsonl")
        #expect(try folder.types("deep/real.jsonl").last == "end")
    }

    @Test func `dangling symbolic links: the target is created`() throws {
        symlink("second.jsonl", folder("first.jsonl"))
        symlink("real.jsonl", folder("second.jsonl"))
        try Fixture.run(Fixture.sink(folder("first.jsonl")))
        #expect(folder.names == ["first.jsonl", "real.jsonl", "second.jsonl"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("first.jsonl")) == "second.jsonl")
        #expect(try folder.types("real.jsonl").last == "end")
    }

    @Test func `name of 255 bytes: written`() throws {
        let name = String(repeating: "ä", count: 127) + "b"
        try Fixture.run(Fixture.sink(folder(name)))
        #expect(folder.names == [name])
    }

    @Test func `name without a folder: a file in the working directory`() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            #expect(chdir(folder.path) == 0)
            try Fixture.run(Fixture.sink("a.jsonl"))
            #expect(folder.names == ["a.jsonl"])
        }
    }
}
