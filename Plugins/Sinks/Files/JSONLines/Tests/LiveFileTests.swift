import Foundation
import Glibc
import Hemiola
import JSONLinesSink
import Synchronization
import TestSupport
import Testing

/// Live files, rotated files and files per input.
@Suite struct LiveFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(_ sink: any Sink, live: Bool = true) throws {
        try sink.open(SinkContext(name: "json-lines", timing: SinkTiming(isLive: live)))
    }

    // MARK: - Real time

    @Test func `live: each line is at the path as soon as it is written`() throws {
        let sink = try Fixture.sink(folder("a.jsonl"))
        try open(sink)
        #expect(folder.names == ["a.jsonl"])
        try sink.begin(Fixture.header)
        #expect(try folder.types("a.jsonl") == ["header"])
        try sink.write(Fixture.block())
        #expect(try folder.types("a.jsonl") == ["header", "batch", "batch"])
    }

    @Test func `live, existing file: refused if it has data, used if it is empty`() throws {
        try folder.write("old", to: "a.jsonl")
        let message = sinkError { try Fixture.run(Fixture.sink(folder("a.jsonl")), live: true) }?.message
        #expect(
            message
                == "cannot write \(folder("a.jsonl")): the file exists, and a recording in real time does not replace it; choose another "
                + "path, write {time} into it, or set append=true")
        #expect(try folder.text(of: "a.jsonl") == "old")
        try folder.write("", to: "b.jsonl")
        try Fixture.run(Fixture.sink(folder("b.jsonl")), live: true)
        #expect(try folder.types("b.jsonl").last == "end")
    }

    @Test(arguments: [true, false]) func `live, empty file that another process records into: refused`(exists: Bool) throws {
        if exists { try folder.write("", to: "a.jsonl") }
        let first = try Fixture.sink(folder("a.jsonl"))
        try open(first)
        let message = sinkError { try open(Fixture.sink(folder("a.jsonl"))) }?.message
        #expect(message == "cannot write \(folder("a.jsonl")): another program records into it; choose another path")
        try first.begin(Fixture.header)
        #expect(try folder.types("a.jsonl") == ["header"])
        try first.close()
    }

    @Test func `live without a stream: the file is removed`() throws {
        let sink = try Fixture.sink(folder("a.jsonl"))
        try open(sink)
        try sink.close()
        #expect(folder.names.isEmpty)
    }

    @Test(
        arguments: [("a.jsonl.zst", [:], ".zst"), ("a.jsonl", ["compress": .text("zstd")], "compress=zstd")]
            as [(String, [String: ParameterValue], String)])
    func `live, compressed: refused, with the setting and the way out`(
        name: String, settings: [String: ParameterValue], setting: String
    ) throws {
        for path in [folder(name), folder("{stem}-\(name)")] {
            let message = sinkError { try open(Fixture.sink(path, settings)) }?.message ?? ""
            #expect(message.contains("leave out \(setting)") && message.contains(name) && !message.contains("\n"), "\(message)")
        }
        #expect(folder.names.isEmpty)
    }

    @Test(arguments: [true, false])
    func `limit on the size of files: whole lines are kept, and the message states the size`(appends: Bool) async throws {
        // The limit holds for a whole process.
        await #expect(processExitsWith: .success) { [appends] in
            let folder = try TemporaryFolder()
            if appends { try folder.write("{\"type\":\"old\"}\n", to: "a.jsonl") }
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 20_000, rlim_max: 20_000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let sink = try Fixture.sink(folder("a.jsonl"), appends ? ["append": .text("true")] : [:])
            let message = sinkError { try Fixture.run(sink, live: true, blocks: Fixture.manyBlocks) }?.message ?? ""
            let text = try folder.text(of: "a.jsonl")
            let types = try recordTypes(text)
            #expect(types.count > 50)
            let size = text.utf8.count
            #expect(size <= 20_000)
            #expect(
                message.contains(
                    "larger than allowed; it keeps \(types.count - (appends ? 1 : 0)) whole lines of this run, \(size) bytes in all"),
                "\(message)")
        }
    }

    // MARK: - Rotation

    @Test func `rotate_s: each file has a header and the set duration`() throws {
        // 64 batches are 1.486 s.
        let sink = try Fixture.sink(folder("a.jsonl"), ["rotate_s": .number(3)])
        try Fixture.run(sink, blocks: Array(Fixture.manyBlocks.prefix(5)))
        #expect(folder.names == ["a.0001.jsonl", "a.0002.jsonl", "a.0003.jsonl"])
        let types = try folder.names.map { try folder.types($0) }
        #expect(types.allSatisfy { $0.first == "header" && $0.count { $0 == "header" } == 1 })
        // The first batch at 3 s or later begins the next file.
        #expect(types.map { $0.count { $0 == "batch" } } == [130, 129, 61])
        #expect(types.map { $0.last == "end" } == [false, false, true])
    }

    @Test func `live rotation: the numbers of existing files are skipped`() throws {
        for number in [1, 3] { try folder.write("old", to: "a.000\(number).jsonl") }
        let sink = try Fixture.sink(folder("a.jsonl"), ["rotate_s": .number(1.5)])
        try Fixture.run(sink, live: true, blocks: Array(Fixture.manyBlocks.prefix(2)))
        #expect(folder.names == ["a.0001.jsonl", "a.0002.jsonl", "a.0003.jsonl", "a.0004.jsonl"].filter { folder.names.contains($0) })
        #expect(try folder.text(of: "a.0001.jsonl") == "old" && folder.text(of: "a.0003.jsonl") == "old")
        #expect(try folder.types("a.0002.jsonl").first == "header")
        #expect(try folder.types("a.0004.jsonl").first == "header")
    }

    @Test func `rotation with append or standard output: refused`() {
        for (path, settings) in [("a", ["append": ParameterValue.text("true")]), ("-", [:])] {
            #expect(throws: Problem.self) {
                try Fixture.sink(path, settings.merging(["rotate_s": .number(10)]) { $1 })
            }
        }
    }

    // MARK: - Several inputs

    private func header(_ file: String) -> StreamHeader {
        var header = Fixture.header
        header.file = file
        return header
    }

    @Test func `placeholder of the input: one file per input`() throws {
        let sink = try Fixture.sink(folder("out/{dir}/{stem}.jsonl"))
        try open(sink, live: false)
        for name in ["c1/a.wav", "c2/a.wav"] {
            try sink.begin(header(name))
            try sink.write(Fixture.block())
            try sink.end(Fixture.summary)
        }
        try sink.close()
        for name in ["c1", "c2"] { #expect(try folder.types("out/\(name)/a.jsonl") == ["header", "batch", "batch", "end"]) }
    }

    @Test func `several streams of one input: one file`() throws {
        let sink = try Fixture.sink(folder("{stem}.jsonl"))
        try open(sink, live: false)
        for reason in [StreamSummary.Reason.formatChange, .endOfInput] {
            try sink.begin(header("a.wav"))
            try sink.end(StreamSummary(frames: 0, batches: 0, reason: reason))
        }
        try sink.close()
        #expect(try folder.types("a.jsonl") == ["header", "end", "header", "end"])
    }

    @Test func `live, per-input path: another device and the return of the first continue the first device's file`() throws {
        let sink = try Fixture.sink(folder("{stem}.jsonl"))
        try open(sink)
        for name in ["one", "two", "one"] {
            var header = header(name)
            header.isLive = true
            try sink.begin(header)
            try sink.end(StreamSummary(frames: 0, batches: 0, reason: .formatChange))
        }
        try sink.close()
        #expect(folder.names == ["one.jsonl"])
        #expect(try folder.types("one.jsonl") == ["header", "end", "header", "end", "header", "end"])
    }

    // MARK: - Interrupted

    @Test(arguments: [true, false]) func `run stopped between two inputs: old file unchanged, new file kept, one warning`(isOld: Bool)
        throws
    {
        if isOld { try folder.write("old", to: "a.jsonl") }
        let sink = try Fixture.sink(folder("a.jsonl"))
        let warnings = Warnings()
        try sink.open(
            SinkContext(name: "json-lines", messages: SinkMessages(warn: { warnings.add($0) }), run: RunScope(isComplete: { false })))
        try sink.begin(Fixture.header)
        try sink.end(Fixture.summary)
        try sink.close()
        #expect(folder.names == ["a.jsonl"])
        if isOld {
            #expect(try folder.text(of: "a.jsonl") == "old")
        } else {
            #expect(try folder.types("a.jsonl") == ["header", "end"])
        }
        #expect(warnings.all.count == 1)
    }

    @Test func `stream that ends with a read error: an old file is unchanged, a new one is kept`() throws {
        try folder.write("old", to: "a.jsonl")
        for name in ["a.jsonl", "b.jsonl"] {
            let sink = try Fixture.sink(folder(name))
            try open(sink, live: false)
            try sink.begin(Fixture.header)
            try sink.end(StreamSummary(frames: 0, batches: 0, reason: .error))
            try sink.close()
        }
        #expect(try folder.text(of: "a.jsonl") == "old")
        #expect(try folder.types("b.jsonl") == ["header", "end"])
    }

    @Test func `sync: the file has the same contents`() throws {
        let sink = try Fixture.sink(folder("a.jsonl"))
        try sink.open(SinkContext(name: "json-lines", run: RunScope(syncsFiles: true)))
        try sink.begin(Fixture.header)
        try sink.end(Fixture.summary)
        try sink.close()
        #expect(try folder.types("a.jsonl") == ["header", "end"])
    }
}

/// The warnings of a sink. Thread-safe.
final class Warnings: Sendable {
    private let list = Mutex<[String]>([])

    func add(_ text: String) { list.withLock { $0.append(text) } }
    var all: [String] { list.withLock { $0 } }
}
