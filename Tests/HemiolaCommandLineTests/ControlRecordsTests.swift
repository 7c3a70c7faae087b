import Hemiola
import HemiolaEngine
import HemiolaPlugins
import HemiolaVisualizer
import Testing

@testable import HemiolaCommandLine

@Suite struct ControlRecordsTests {
    private func parse(_ text: String) throws -> ControlReplay {
        let file = try TemporaryFile(Array(text.utf8))
        var replay = ControlReplay()
        try TextLines.read(file.path) { line, number throws(Failure) in
            try ControlRecords.add(line, number, title: "c.jsonl", to: &replay, Self.catalog)
        }
        return replay
    }

    private static let catalog = PluginRegistry.standard.catalog

    private static func control(_ name: String, _ values: [String: ParameterValue] = [:]) throws -> Control {
        try Control(try #require(catalog.control(name))) { values[$0.name] }
    }

    private static func controls() throws -> [Control] {
        let plain = [
            "tap", "halveTempo", "doubleTempo", "setDownbeat", "resetTempo", "nextPreset", "previousPreset", "randomPreset", "toggleCycle",
        ]
        return try plain.map { try control($0) } + [
            control("lockTempo", ["bpm": .number(128)]), control("lockTempo"),
            control("tempoRange", ["min_bpm": .number(60), "max_bpm": .number(120)]), control("nudge", ["ms": .number(-20)]),
            control("pageMessage", ["handler": .text("menu"), "body": .text("{\"a\":[1,null]}")]),
            control("loadPreset", ["name": .text("a \"b\" \u{1F600}\n")]), control("lockPreset", ["locked": .boolean(true)]),
            control("setSpeed", ["speed": .number(0.5)]), control("setFavourites", ["names": .texts(["a", "b"])]),
            control("ready", ["presets": .texts(["x", "y"])]),
            control("presetNames", ["names": .texts([])]), control("presetHandler", ["name": .text("é")]),
            control("presetRefused", ["name": .text("z")]), control("pageClosed"), control("speedHandler", ["speed": .number(1)]),
            control("blackout", ["on": .boolean(false)]),
            KeyStroke(key: "a", note: 60, phase: .down).control, KeyStroke(key: "/", note: nil, phase: .up).control,
        ]
    }

    @Test func `every control of the standard plugins: parsed as it was written`() throws {
        let format = StreamFormat(sampleRate: 44_100, channelCount: 2)
        let header = StreamHeader(
            source: StreamSource(format: format, kind: "file", name: "x"), file: nil, isLive: false,
            batching: .standard, seed: 0, analyzers: [], catalog: Self.catalog)
        var buffer = JSONBuffer(capacity: 4096)
        var expected = ControlReplay()
        let encoder = RecordEncoder(header)
        #expect(Set(try Self.controls().map(\.name)) == Set(Self.catalog.controls.map(\.name)))
        for (index, control) in try Self.controls().enumerated() {
            let stamped = StampedControl(control, at: Int64(index) * 1024, from: "web/\(index)")
            expected.add(stamped)
            encoder.encode(
                Event(at: format.seconds(at: stamped.frame), stamped), batchEnd: format.seconds(at: stamped.frame + 1024),
                into: &buffer)
        }
        let text = buffer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(try parse(text) == expected)
        #expect(try parse("{\"type\":\"header\"}\n\n\(text)\r\n {\"t\":1, \"type\":\"end\"}") == expected)
    }

    @Test func `record with a file: for that input only`() throws {
        let replay = try parse(#"{"type":"control","file":"a.wav","frame":5,"control":"tap"}"#)
        var expected = ControlReplay()
        expected.add(StampedControl(try Self.control("tap"), at: 5, from: "controls"), file: "a.wav")
        #expect(replay == expected)
    }

    @Test(arguments: [
        (#"{"type":"control","frame":3,"control":"tapp"}"#, "unknown control \"tapp\""),
        (#"{"type":"control","control":"tap"}"#, "missing \"frame\""),
        (#"{"type":"control","frame":-1,"control":"tap"}"#, "\"frame\" is -1, which is negative"),
        (#"{"type":"control","frame":"x","control":"tap"}"#, "\"frame\" is not a whole number"),
        (#"{"type":"control","frame":1,"control":"setSpeed"}"#, "the control setSpeed needs its \"speed\""),
        (#"{"type":"control","frame":1,"control":"keyHandler","key":"a","event":"hit"}"#, "\"event\" is one of: keydown, keyup"),
        (#"{"frame":1}"#, "missing \"type\""),
        ("[1]", "not a JSON object"),
        ("tap", "invalid JSON at byte 2"),
        (#"{"type":"control","#, "invalid JSON at byte 19"),
    ])
    func `line without a valid control: the error names its number`(line: String, message: String) {
        #expect(throws: Failure("c.jsonl:2: \(message)")) { try parse("{\"type\":\"end\"}\n\(line)") }
    }

    @Test func `control that no plugin handles: warning; missing file: error`() async throws {
        let log = Log()
        let console = Console { log.append($0) }
        let sound = try TemporaryFile(Array(repeating: 0, count: 8192))
        let controls = try TemporaryFile(Array(#"{"type":"control","frame":3,"control":"tap"}"#.utf8))
        let output = try TemporaryFile([])
        let analyze = ["analyze", "--raw", "u8,8000,1", sound.path, "--analyzer", "levels", "-o", output.path, "--replay-controls"]
        #expect(Root.run(analyze + [controls.path], with: .standard, on: console) == .success)
        #expect(
            log.text.contains("warning: \(sound.path): the control tap at frame 3 had no effect: nothing in this pipeline handles tap"))
        #expect(Root.run(analyze + ["/nowhere"], with: .standard, on: console) == .usage)
        #expect(Root.run(analyze + ["/dev/zero"], with: .standard, on: console) == .usage)
        #expect(log.text.contains("--replay-controls: cannot read /nowhere: No such file or directory"))
    }
}
