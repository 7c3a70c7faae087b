import Foundation
import Glibc
import Hemiola
import JSONLinesSink
import TestSupport
import Testing

/// A short stream with one analyzer.
enum Fixture {
    static let format = StreamFormat(sampleRate: 44_100, channelCount: 2)

    static let header: StreamHeader = {
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, minimum: -120, "RMS level of the mono mix."))
        _ = levels.add(Feature("peak_db", .decibels, minimum: -120, "Largest sample of the mono mix."))
        return StreamHeader(
            source: StreamSource(format: format, kind: "file", name: "song.wav", duration: 0.04), isLive: false, batching: .standard,
            seed: 0, analyzers: [.init(name: "levels", id: "levels", version: 1, parameters: [], outputs: levels)])
    }()

    static let summary = StreamSummary(
        frames: 1764, batches: 2,
        sections: [.init(analyzer: "levels", values: [SummaryValue("rms_db", -13.1, .decibels), SummaryValue("peak_db", -10, .decibels)])],
        reason: .endOfInput)

    /// Batches from number `first`. With `endsPartial` the last one is partial.
    static func block(first: Int = 0, count: Int = 2, endsPartial: Bool = false, events: [Event] = []) -> BatchBlock {
        let storage = BatchStorage(capacity: count, width: 2, samplesPerBatch: 0, channelCount: 2)
        for number in first..<first + count {
            var list = EventList()
            if number == first { for event in events { list.append(event) } }
            _ = storage.openRow.update(fromContentsOf: [-13.012, -10.004 - Float(number % 10) / 4])
            let isPartial = endsPartial && number == first + count - 1
            storage.complete(
                .init(number: Int64(number), frame: Int64(number) * 1024, frameCount: isPartial ? 740 : 1024, isPartial: isPartial),
                events: &list)
        }
        return BatchBlock(storage)
    }

    /// 50 blocks of 64 batches, several hundred kilobytes of lines.
    static let manyBlocks = (0..<50).map { block(first: $0 * 64, count: 64) }

    static func sink(_ spec: PluginSpec) throws -> any Sink {
        try SinkPlugin.jsonLines.make(SinkPlugin.jsonLines.about.values(from: spec))
    }

    static func sink(_ path: String, _ settings: [String: ParameterValue] = [:]) throws -> any Sink {
        try sink(PluginSpec("json-lines", primary: .text(path), settings: settings))
    }

    /// Opens a sink, writes one stream and closes it.
    static func run(_ sink: any Sink, live: Bool = false, blocks: [BatchBlock] = [block(endsPartial: true)]) throws {
        try sink.open(SinkContext(name: "json-lines", timing: SinkTiming(isLive: live)))
        try sink.begin(header)
        for block in blocks { try sink.write(block) }
        try sink.end(summary)
        try sink.close()
    }
}

extension TemporaryFolder {
    func types(_ name: String) throws -> [String] { try recordTypes(text(of: name)) }

    func mode(_ name: String) -> mode_t {
        var info = stat()
        return stat(self(name), &info) == 0 ? info.st_mode & 0o7777 : 0
    }
}

/// The error that a call to a sink throws; nil if it throws none.
func sinkError(_ body: () throws -> Void) -> Problem? {
    do {
        try body()
        return nil
    } catch {
        return error as? Problem
    }
}

/// The `type` of every line; throws when one is no whole JSON object.
func recordTypes(_ text: String) throws -> [String] {
    #expect(text.isEmpty || text.hasSuffix("\n"))
    return try text.split(separator: "\n").map { line in
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(object?["type"] as? String)
    }
}

/// Two ends of a pipe.
final class Pipe: Sendable {
    let readEnd: Int32
    let writeEnd: Int32
    /// The path of the write end.
    var path: String { "/dev/fd/\(writeEnd)" }

    /// - Parameter isShort: Whether it is non-blocking and holds one page, so that nearly every write finds it full.
    init(isShort: Bool = false) {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        // Child processes of other tests must not inherit it.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readEnd, writeEnd) = (ends[0], ends[1])
        if isShort {
            _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
            _ = fcntl(writeEnd, Self.setPipeSize, 4096)
        }
        // A write to a closed pipe returns an error, as in the program.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Linux's F_SETPIPE_SZ, which the headers declare only with _GNU_SOURCE.
    private static let setPipeSize: Int32 = 1031

    /// The text that can be read without waiting.
    func available() -> String {
        var place = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
        var bytes: [UInt8] = []
        while poll(&place, 1, 0) == 1, place.revents & Int16(POLLIN) != 0 {
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = read(readEnd, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func closeReadEnd() { close(readEnd) }
    func closeWriteEnd() { close(writeEnd) }
}

/// Reads to the end on its own thread: the sinks under test block those of the tests.
struct Reading: Sendable {
    private let texts: AsyncStream<String>

    init(_ open: @escaping @Sendable () -> Int32) {
        let (texts, continuation) = AsyncStream.makeStream(of: String.self)
        self.texts = texts
        Thread.detachNewThread {
            let descriptor = open()
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while case let count = read(descriptor, &chunk, chunk.count), count > 0 { bytes += chunk.prefix(count) }
            continuation.yield(String(decoding: bytes, as: UTF8.self))
            continuation.finish()
        }
    }

    var text: String {
        get async {
            for await text in texts { return text }
            return ""
        }
    }
}
