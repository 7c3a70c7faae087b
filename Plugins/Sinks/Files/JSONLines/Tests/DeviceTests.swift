import Glibc
import Hemiola
import JSONLinesSink
import TestSupport
import Testing

@Suite struct DeviceTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `device: written in place`() throws {
        try Fixture.run(Fixture.sink("/dev/null"))
        var info = stat()
        #expect(stat("/dev/null", &info) == 0 && info.st_mode & S_IFMT == S_IFCHR)
    }

    @Test func `named pipe: written in place`() async throws {
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        let path = folder("pipe")
        let reading = Reading { open(path, O_RDONLY) }
        try Fixture.run(Fixture.sink(path))
        #expect(try await recordTypes(reading.text).last == "end")
        #expect(folder.names == ["pipe"])
    }

    @Test func `non-blocking pipe: every line is written`() async throws {
        let pipe = Pipe(isShort: true)
        let reading = Reading { pipe.readEnd }
        try Fixture.run(Fixture.sink(pipe.path), blocks: Fixture.manyBlocks)
        pipe.closeWriteEnd()
        #expect(try await recordTypes(reading.text).count == 2 + 50 * 64)
        pipe.closeReadEnd()
    }

    @Test func `standard output under each of its names: written, and left open`() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            for path in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
                try Fixture.run(Fixture.sink(path))
            }
        }
        let types = try recordTypes(String(decoding: result.standardOutputContent, as: UTF8.self))
        #expect(types == Array(repeating: ["header", "batch", "batch", "end"], count: 4).flatMap(\.self))
    }

    @Test func `standard output redirected to a file: appended to, not replaced`() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            try folder.write("{\"type\":\"old\"}\n", to: "a.jsonl")
            dup2(open(folder("a.jsonl"), O_WRONLY | O_APPEND), STDOUT_FILENO)
            try Fixture.run(Fixture.sink("/dev/stdout"))
            #expect(folder.names == ["a.jsonl"])
            #expect(try folder.types("a.jsonl") == ["old", "header", "batch", "batch", "end"])
        }
    }
}
