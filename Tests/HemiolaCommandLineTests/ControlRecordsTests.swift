import Hemiola
import HemiolaEngine
import HemiolaPlugins
import HemiolaSignal
import HemiolaWire
import Testing

@testable import HemiolaCommandLine

@Suite struct ControlRecordsTests {
    private func parse(_ text: String) throws -> ControlReplay {
        try ControlRecords.parse(Array(text.utf8), title: "c.jsonl")
    }

    private static let controls: [Control] = [
        .tap, .lockTempo(beatsPerMinute: 128), .lockTempo(beatsPerMinute: nil), .halveTempo, .doubleTempo, .setDownbeat,
        .resetTempo, .nextPreset, .previousPreset, .randomPreset, .loadPreset(name: "a \"b\" \u{1F600}\n"), .lockPreset(true),
        .toggleCycle, .setSpeed(0.5), .ready(presets: ["x", "y"]), .presetNames([]), .presetChanged(name: "é"),
        .presetRefused(name: "z"), .speedChanged(1),
        .key(KeyStroke(key: "a", note: 60, phase: .down)), .key(KeyStroke(key: "/", note: nil, phase: .up)),
    ]

    @Test func `every control comes back as it was written`() throws {
        let format = StreamFormat(sampleRate: 44_100, channelCount: 2)
        let header = StreamHeader(
            source: StreamSource(format: format, kind: "file", name: "x"), file: nil, isLive: false,
            batching: .standard, seed: 0, analyzers: [])
        var buffer = JSONBuffer(capacity: 4096)
        var expected = ControlReplay()
        let encoder = RecordEncoder(header, version: "1")
        for (index, control) in Self.controls.enumerated() {
            let stamped = StampedControl(control, at: Int64(index) * 1024, from: "web/\(index)")
            expected.add(stamped)
            encoder.encode(
                Event(at: format.seconds(at: stamped.frame), .control(stamped)), batchEnd: format.seconds(at: stamped.frame + 1024),
                into: &buffer)
        }
        let text = buffer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(try parse(text) == expected)
        #expect(try parse("{\"type\":\"header\"}\n\n\(text)\r\n {\"t\":1, \"type\":\"end\"}") == expected)
    }

    @Test func `what has an input's name is for that input`() throws {
        let replay = try parse(#"{"type":"control","file":"a.wav","frame":5,"control":"tap"}"#)
        var expected = ControlReplay()
        expected.add(StampedControl(.tap, at: 5, from: "controls"), file: "a.wav")
        #expect(replay == expected)
    }

    @Test(arguments: [
        (#"{"type":"control","frame":3,"control":"tapp"}"#, "there is no control \"tapp\""),
        (#"{"type":"control","control":"tap"}"#, "the record has no \"frame\""),
        (#"{"type":"control","frame":-1,"control":"tap"}"#, "\"frame\" is -1: no batch contains it"),
        (#"{"type":"control","frame":"x","control":"tap"}"#, "\"frame\" has another type"),
        (#"{"type":"control","frame":1,"control":"setSpeed"}"#, "the control setSpeed needs its \"speed\""),
        (#"{"type":"control","frame":1,"control":"keyHandler","key":"a","event":"hit"}"#, "the control keyHandler needs its \"event\""),
        (#"{"frame":1}"#, "the record has no \"type\""),
        ("[1]", "this is no JSON record"),
        ("tap", "this is no JSON record"),
        (#"{"type":"control","#, "this is no JSON record"),
    ])
    func `a line that is no control is told with its number`(line: String, message: String) {
        #expect(throws: Failure("c.jsonl:2: \(message)")) { try parse("{\"type\":\"end\"}\n\(line)") }
    }

    @Test func `a control that nobody obeys is told, and a missing file too`() async throws {
        let log = Log()
        let console = Console { log.append($0) }
        let sound = try TemporaryFile(Array(repeating: 0, count: 8192))
        let controls = try TemporaryFile(Array(#"{"type":"control","frame":3,"control":"tap"}"#.utf8))
        let output = try TemporaryFile([])
        let analyze = ["analyze", "--raw", "u8,8000,1", sound.path, "--analyzer", "levels", "-o", output.path, "--controls"]
        #expect(await Root.run(analyze + [controls.path], with: .standard, on: console) == .success)
        #expect(
            log.text.contains("warning: \(sound.path): the control tap at frame 3 had no effect: nothing in this pipeline obeys tap"))
        #expect(await Root.run(analyze + ["/nowhere"], with: .standard, on: console) == .usage)
        #expect(log.text.contains("--controls: cannot read /nowhere: No such file or directory"))
    }
}
