import Foundation
import Glibc
import Hemiola
import HemiolaTesting
import HemiolaVisualizer
import JSONLinesSink
import TestSupport
import Testing

@Suite struct JSONLinesSinkTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    // MARK: Settings

    @Test func `path: needs standard output unless it names a file`() throws {
        func needs(_ settings: [String: ParameterValue]) throws -> Bool {
            try SinkPlugin.jsonLines.needs(
                SinkPlugin.jsonLines.about.values(from: PluginSpec("json-lines", settings: settings))
            ).standardOutput
        }
        #expect(try needs([:]))
        #expect(try needs(["path": .text("-")]))
        #expect(try needs(["path": .text("/dev/stdout")]))
        #expect(try !needs(["path": .text("out.jsonl")]))
        #expect(try !needs(["path": .text("/dev/stderr")]))
    }

    @Test func `empty path: configuration error`() {
        #expect(throws: Problem.self) { try Fixture.sink("") }
    }

    @Test func `make: creates no file`() throws {
        _ = try Fixture.sink(folder("a.jsonl"))
        #expect(folder.names.isEmpty)
    }

    // MARK: Selection

    @Test func `selection: only the selected records and fields are written`() throws {
        let sink = try Fixture.sink(folder("a.jsonl"))
        try sink.open(SinkContext(name: "json-lines", records: RecordChoice(selection: Selection(items: ["onset", "levels.peak_db"]))))
        try sink.begin(Fixture.header)
        try sink.write(Fixture.block(count: 1, events: [Event(at: 0, Onset(strength: 1)), Event(at: 0, SpeedChange(1))]))
        try sink.end(Fixture.summary)
        try sink.close()
        #expect(
            try folder.text(of: "a.jsonl") == """
                {"type":"batch","n":0,"frame":0,"t":0.0,"levels":{"peak_db":-10.004}}
                {"type":"onset","t":0.0,"strength":1.0,"emitted_t":0.02322}

                """)
    }

    // MARK: Conformance

    @Test func `conformance tests: passed`() throws {
        // Live runs do not replace a file: each has its own.
        try SinkConformanceSuite(.jsonLines, settings: folder("a.{n}.jsonl")).run()
        #expect(folder.names.first == "a.0001.jsonl")
        #expect(!folder.names.contains { $0.hasSuffix(".partial") })
    }
}
