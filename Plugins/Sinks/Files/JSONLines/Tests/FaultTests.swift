import Foundation
import Glibc
import Hemiola
import JSONLinesSink
import TestSupport
import Testing

@Suite struct FaultTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `closed pipe: remedy finish, and close succeeds`() throws {
        let pipe = Pipe()
        let sink = try Fixture.sink(pipe.path, ["flush": .text("line")])
        try sink.open(SinkContext(name: "json-lines"))
        try sink.begin(Fixture.header)
        pipe.closeReadEnd()
        let error = sinkError { try sink.write(Fixture.block()) }
        #expect(error?.remedy == .finish)
        #expect(sinkError { try sink.close() } == nil)
        pipe.closeWriteEnd()
    }

    @Test func `pipe closed before the last block: close throws the remedy finish`() throws {
        let pipe = Pipe()
        let sink = try Fixture.sink(pipe.path)
        try sink.open(SinkContext(name: "json-lines"))
        try sink.begin(Fixture.header)
        pipe.closeReadEnd()
        #expect(sinkError { try sink.close() }?.remedy == .finish)
        pipe.closeWriteEnd()
    }

    @Test(arguments: ["line", "block"])
    func `full disk: error with cause and advice, at the latest on close`(flush: String) throws {
        let error = sinkError { try Fixture.run(Fixture.sink("/dev/full", ["flush": .text(flush)])) }
        #expect(error?.remedy == .giveUp)
        #expect(error?.message == "cannot write /dev/full: the disk is full; free some space or write to another disk")
    }

    @Test func `limit on the size of files: the partial file is removed, and the old file is unchanged`() async throws {
        // The limit applies to a whole process.
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            try folder.write("old", to: "a.jsonl")
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let sink = try Fixture.sink(folder("a.jsonl"))
            do {
                try Fixture.run(sink, blocks: Fixture.manyBlocks)
                Issue.record("no error was thrown")
            } catch let error as Problem {
                #expect(error.message.contains("the file would be larger than allowed"))
                #expect(error.remedy == .nextInput)
            }
            try sink.close()
            #expect(folder.names == ["a.jsonl"])
            #expect(try folder.text(of: "a.jsonl") == "old")
        }
    }

    @Test func `missing folders: created`() throws {
        try Fixture.run(Fixture.sink(folder("no such/deep/a.jsonl")))
        #expect(try folder.types("no such/deep/a.jsonl").last == "end")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("no such/deep")) == ["a.jsonl"])
    }

    @Test func `path of a folder, or below a file: error`() throws {
        for path in [folder.path, folder.path + "/", folder("new/")] {
            let message = sinkError { try Fixture.run(Fixture.sink(path)) }?.message
            #expect(message == "cannot write \(path): it is a folder; name a file in it, or rename the folder")
        }
        try folder.write("", to: "file")
        let message = sinkError { try Fixture.run(Fixture.sink(folder("file/a.jsonl"))) }?.message
        #expect(message?.contains("not a directory") == true)
    }

    @Test func `loop of symbolic links: error`() throws {
        symlink("b", folder("a"))
        symlink("a", folder("b"))
        let message = sinkError { try Fixture.run(Fixture.sink(folder("a"))) }?.message
        #expect(message?.contains("too many levels of symbolic links") == true)
    }

    @Test func `descriptor that is open for reading only: error`() throws {
        let descriptor = open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        let message = sinkError { try Fixture.run(Fixture.sink("/dev/fd/\(descriptor)")) }?.message
        #expect(message == "cannot write /dev/fd/\(descriptor): it is not open for writing; give a path instead")
    }

    @Test func `folder removed during the run: error on close`() throws {
        try FileManager.default.createDirectory(atPath: folder("deep"), withIntermediateDirectories: false)
        let sink = try Fixture.sink(folder("deep/a.jsonl"))
        try sink.open(SinkContext(name: "json-lines"))
        try sink.begin(Fixture.header)
        try FileManager.default.removeItem(atPath: folder("deep"))
        let error = sinkError { try sink.close() }
        #expect(error?.message.contains("no such file or directory") == true)
    }
}
