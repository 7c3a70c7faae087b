import Hemiola
import HemiolaFiles
import Synchronization
import TestSupport
import Testing

@Suite struct DocumentFileTests {
    /// Writes the name of each stream and its end on a line.
    private final class Names: Document {
        private let files: [OutputFile]
        private var name = ""

        init(_ files: [OutputFile]) { self.files = files }

        func begin(_ stream: StreamHeader, at frame: Int64) throws(Problem) {
            name = stream.source.name
            if name == "bad" { throw Problem("a bad stream") }
            append("\(name) ")
        }

        func end(_ summary: StreamSummary) { append("end\n") }
        func finish() { append("finished\n") }
        func abandon() -> String? { "kept" }

        private func append(_ text: String) {
            for file in files { file.buffer.append(bytes: Array(text.utf8)) }
        }
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func sink(_ name: String, _ options: FileOptions = FileOptions(), paths: DocumentFile.Paths? = nil) throws -> DocumentFile {
        DocumentFile(try PathTemplate(folder(name)), options, paths: paths) { files, _ in Names(files) }
    }

    private func header(_ name: String, isLive: Bool = false) -> StreamHeader {
        StreamHeader(
            source: StreamSource(format: StreamFormat(sampleRate: 1000, channelCount: 1), kind: "file", name: name), isLive: isLive,
            batching: .standard, seed: 0, analyzers: [])
    }

    private func write(_ names: [String], to sink: DocumentFile, isLive: Bool = false) throws {
        for name in names {
            try sink.begin(header(name, isLive: isLive))
            try sink.end(StreamSummary(frames: 0, batches: 0, reason: isLive ? .formatChange : .endOfInput))
        }
    }

    @Test func `two streams of an input in files of one stream: the second has a number`() throws {
        let warnings = Mutex<[String]>([])
        let sink = try sink("{stem}.txt", FileOptions(capacity: .stream))
        try sink.open(SinkContext(name: "test", messages: SinkMessages(warn: { text in warnings.withLock { $0.append(text) } })))
        try write(["one.wav", "one.wav", "two.wav"], to: sink)
        try sink.close()
        #expect(folder.names == ["one.0002.txt", "one.txt", "two.txt"])
        #expect(warnings.withLock { $0.count } == 1)
    }

    @Test(arguments: [FileOptions.Capacity.input, .stream]) func `second input in a file of one: an error, and no file`(
        capacity: FileOptions.Capacity
    ) throws {
        let sink = try sink("a.txt", FileOptions(capacity: capacity))
        try sink.open(SinkContext(name: "test"))
        #expect(throws: Problem.self) { try write(["one.wav", "two.wav"], to: sink) }
        try sink.close()
        #expect(folder.names == [])
    }

    @Test(arguments: [true, false]) func `error of a document: a live file keeps its lines, any other is removed`(isLive: Bool) throws {
        let sink = try sink("a.txt")
        try sink.open(SinkContext(name: "test", timing: SinkTiming(isLive: isLive)))
        try write(["one.wav"], to: sink, isLive: isLive)
        let error = #expect(throws: Problem.self) { try write(["bad"], to: sink, isLive: isLive) }
        #expect(error?.message == "a bad stream; kept")
        try write(["two.wav"], to: sink, isLive: isLive)
        try sink.close()
        #expect(folder.names == (isLive ? ["a.txt"] : []))
        if isLive { #expect(try folder.text(of: "a.txt") == "one.wav end\n") }
    }

    @Test func `several files: all are at their paths, or none`() throws {
        for (isComplete, names) in [(true, ["a.txt", "b.txt"]), (false, ["b.txt"])] {
            try folder.write("old", to: "b.txt")
            let sink = try sink("a.txt") { [folder] _, expand in [expand(try! PathTemplate(folder("a.txt"))), folder("b.txt")] }
            try sink.open(SinkContext(name: "test", run: RunScope(isComplete: { isComplete })))
            try write(["one.wav"], to: sink)
            try sink.close()
            #expect(folder.names == names)
            #expect(try folder.text(of: "b.txt") == (isComplete ? "one.wav end\nfinished\n" : "old"))
            if isComplete { FileSystem.remove(folder("a.txt")) }
        }
    }
}
