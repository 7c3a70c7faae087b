import Foundation
import HemiolaRecords
import HemiolaSignal
import HemiolaVisualizer
import Testing

@Suite struct RecordEncoderTests {
    private func object(_ line: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary)
    }

    private func expect(_ line: String, is text: String) throws {
        #expect(line == text)
        _ = try object(line)
    }

    // MARK: Header

    @Test func `header: the source, the format and the outputs of each analyzer`() throws {
        let line = Fixture.lines { RecordEncoder(Fixture.header()).encodeHeader(into: &$0) }[0]
        try expect(
            line,
            is: #"{"type":"header","schema":2,"hemiola":"\#(HemiolaVersion.current)","#
                + #""source":{"kind":"file","name":"a \"b\".wav","duration_s":2.5},"#
                + #""sample_rate":44100,"channels":2,"batch_frames":1024,"seed":7,"analyzers":["#
                + #"{"id":"levels","plugin":"levels","version":1,"latency_frames":0,"causal":true,"parameters":{},"outputs":["#
                + #"{"name":"rms_db","unit":"dBFS","count":1,"list":false,"minimum":-120.0,"description":"RMS level."},"#
                + #"{"name":"channel_rms_db","unit":"dBFS","count":2,"list":true,"minimum":-120.0,"#
                + #""description":"RMS level of each channel."}],"events":[]},"#
                + #"{"id":"wide","plugin":"spectrum","version":2,"latency_frames":512,"causal":false,"parameters":{"size":2048,"#
                + #""min_hz":20.0,"ratio":0.123456789,"scale":"log","magnitudes":false,"limit":null,"weights":[1.0,2.5]},"outputs":["#
                + #"{"name":"bands_db","unit":"dBFS","count":3,"list":true,"edges_hz":[20.0,200.12,2000.0,20000.0],"#
                + #""minimum":-120.0,"center_offset_s":0.0,"description":"Bands."},"#
                + #"{"name":"centroid_hz","unit":"Hz","count":1,"list":false,"minimum":0.0,"maximum":22050.0,"#
                + #""center_offset_s":-0.02322,"description":"Centroid."},"#
                + #"{"name":"flatness","unit":"ratio","count":1,"list":false,"minimum":0.0,"maximum":1.0,"description":"Flatness."},"#
                + #"{"name":"mfcc","unit":"","count":1,"list":true,"description":"One coefficient."}],"events":[]},"#
                + #"{"id":"tracker","plugin":"tracker","version":1,"latency_frames":0,"causal":true,"parameters":{},"outputs":[],"#
                + #""events":[{"name":"beat","unit":"","description":"Beats."},{"name":"peaks","unit":"Hz","description":"Peaks."}]}]}"#
        )
    }

    @Test func `header, unknown duration: null`() throws {
        let line = Fixture.lines { RecordEncoder(Fixture.header(duration: nil)).encodeHeader(into: &$0) }[0]
        #expect((try object(line)["source"] as? NSDictionary)?["duration_s"] is NSNull)
    }

    @Test func `header of 5.1: channel names after the channel count; header of stereo: none`() {
        let surround = Fixture.lines { RecordEncoder(Fixture.surroundHeader()).encodeHeader(into: &$0) }[0]
        #expect(surround.contains(#""channels":6,"channel_names":["FL","FR","FC","LFE","SL","SR"],"batch_frames":"#))
        let stereo = Fixture.lines { RecordEncoder(Fixture.header()).encodeHeader(into: &$0) }[0]
        #expect(!stereo.contains("channel_names"))
    }

    @Test func `header, largest seed: all digits are kept`() {
        var header = Fixture.header()
        header.seed = .max
        #expect(
            Fixture.lines { RecordEncoder(header).encodeHeader(into: &$0) }[0].contains(#""seed":18446744073709551615,"#))
    }

    // MARK: Batches

    @Test func `batch: number, position and one object per analyzer with features`() throws {
        let header = Fixture.header()
        let lines = Fixture.lines { buffer in
            let encoder = RecordEncoder(header)
            let block = Fixture.block(header, events: [[], []])
            for index in 0..<block.count { encoder.encode(block[index], into: &buffer) }
        }
        let values =
            #""levels":{"rms_db":-12.346,"channel_rms_db":[-3.01,-120.0]},"#
            + #""wide":{"bands_db":[-60.5,null,0.0],"centroid_hz":1234.57,"flatness":0.123457,"mfcc":[12345.7]}}"#
        try expect(lines[0], is: #"{"type":"batch","n":0,"frame":0,"t":0.0,"# + values)
        try expect(lines[1], is: #"{"type":"batch","n":1,"frame":1024,"t":0.02322,"# + values)
    }

    @Test func `partial: only in partial batches`() {
        let lines = Fixture.lines { buffer in
            let encoder = RecordEncoder(Fixture.header())
            encoder.encode(Fixture.block(partial: true)[0], into: &buffer)
            encoder.encode(Fixture.block()[0], into: &buffer)
        }
        #expect(lines[0].hasSuffix(#"},"partial":true}"#))
        #expect(!lines[1].contains("partial"))
    }

    @Test func `missing values: null`() throws {
        let row = [Float](repeating: .nan, count: Fixture.row.count)
        let line = Fixture.lines { RecordEncoder(Fixture.header()).encode(Fixture.block(row: row)[0], into: &$0) }[0]
        try expect(
            line,
            is: #"{"type":"batch","n":0,"frame":0,"t":0.0,"levels":{"rms_db":null,"channel_rms_db":[null,null]},"#
                + #""wide":{"bands_db":[null,null,null],"centroid_hz":null,"flatness":null,"mfcc":[null]}}"#)
    }

    @Test func `events of a batch: after its line, in order, emitted at its end`() throws {
        let events = [
            Event(at: 0.02, Beat(beatsPerMinute: 120, position: nil, confidence: 1)), Event(at: 0.01, Onset(strength: 1)),
        ]
        let lines = Fixture.lines {
            RecordEncoder(Fixture.header()).encode(Fixture.block(events: [events])[0], into: &$0)
        }
        #expect(lines.count == 3)
        try expect(lines[1], is: #"{"type":"onset","t":0.01,"strength":1.0,"emitted_t":0.02322}"#)
        #expect(try object(lines[2])["type"] as? String == "beat")
        #expect(try object(lines[2])["emitted_t"] as? Double == 0.02322)
    }

    @Test func `stream without analyzers: has batches`() throws {
        let header = StreamHeader(
            source: StreamSource(format: Fixture.format, kind: "pcm", name: "-"), isLive: true, batching: .standard, seed: 0, analyzers: [])
        let line = Fixture.lines { RecordEncoder(header).encode(Fixture.block(header, row: [])[0], into: &$0) }[0]
        try expect(line, is: #"{"type":"batch","n":0,"frame":0,"t":0.0}"#)
    }

    // MARK: Events

    @Test func `beat emitted before its time: has due_in_s`() throws {
        try expect(
            Fixture.line(Beat(beatsPerMinute: 120.456, position: 1, confidence: 0.75), at: 10.5, batchEnd: 10.25),
            is: #"{"type":"beat","t":10.5,"bpm":120.46,"position":1,"confidence":0.75,"emitted_t":10.25,"due_in_s":0.25}"#)
    }

    @Test func `beat, unknown position in the bar: null`() throws {
        try expect(
            Fixture.line(Beat(beatsPerMinute: 90, position: nil, confidence: 0), at: 1, batchEnd: 1.5),
            is: #"{"type":"beat","t":1.0,"bpm":90.0,"position":null,"confidence":0.0,"emitted_t":1.5,"due_in_s":-0.5}"#)
    }

    @Test func `values of an analyzer event: written in the unit of the output`() throws {
        var analyzerEvent = AnalyzerEvent(output: "peaks", duration: 0.5, values: [440.1234, 880, .nan], label: "A\n")
        analyzerEvent.analyzer = "tracker"
        try expect(
            Fixture.line(analyzerEvent),
            is: #"{"type":"event","t":0.5,"duration_s":0.5,"analyzer":"tracker","output":"peaks","#
                + #""values":[440.12,880.0,null],"label":"A\n"}"#)
        analyzerEvent.output = "undeclared"
        analyzerEvent.duration = nil
        analyzerEvent.values = [440.123456]
        try expect(
            Fixture.line(analyzerEvent),
            is: #"{"type":"event","t":0.5,"duration_s":null,"analyzer":"tracker","output":"undeclared","#
                + #""values":[440.123],"label":"A\n"}"#)
    }

    @Test func `preset change: has its frame`() throws {
        try expect(
            Fixture.line(PresetChange(name: "Fire & Ice", cut: .hard, blend: 0, reason: .drop)),
            is: #"{"type":"preset","t":0.5,"frame":22050,"emitted_t":0.25,"action":"load","name":"Fire & Ice","cut":"hard","#
                + #""blend_s":0.0,"reason":"drop","next_in_s":null}"#)
    }

    @Test func `preset change with the cause of an older version: one by the timer`() {
        let event = Event(at: 0.5, .preset, .text("p"), .text("hard"), .number(0), .text("hard-cut"), .none)
        #expect(PresetChange(event) == PresetChange(name: "p", cut: .hard, blend: 0, reason: .timer))
    }

    @Test func `speed change and key stroke: their records`() throws {
        try expect(Fixture.line(SpeedChange(1)), is: #"{"type":"speed","t":0.5,"speed":1.0}"#)
        try expect(
            Fixture.line(KeyStroke(key: "a", note: 60, phase: .down)),
            is: #"{"type":"key","t":0.5,"key":"a","note":60,"event":"keydown"}"#)
        try expect(
            Fixture.line(KeyStroke(key: "\"", note: nil, phase: .up)),
            is: #"{"type":"key","t":0.5,"key":"\"","note":null,"event":"keyup"}"#)
    }

    @Test(arguments: [
        (Control(.tap), ""), (Control(.lockTempo, .number(128)), #","bpm":128.0"#), (Control(.lockTempo), #","bpm":null"#),
        (Control(.loadPreset, .text("x")), #","name":"x""#), (Control(.presetHandler, .text("x")), #","name":"x""#),
        (Control(.lockPreset, .boolean(false)), #","locked":false"#),
        (Control(.setSpeed, .number(0.5)), #","speed":0.5"#), (Control(.speedHandler, .number(1)), #","speed":1.0"#),
        (Control(.ready, .texts(["a", "b"])), #","presets":["a","b"]"#), (Control(.presetNames, .texts([])), #","names":[]"#),
        (KeyStroke(key: "a", note: nil, phase: .up).control, #","key":"a","note":null,"event":"keyup""#),
        (Control(.ready), #","presets":[]"#),
    ])
    func `control: its fields are between its name and its origin`(control: Control, fields: String) throws {
        try expect(
            Fixture.line(StampedControl(control, at: 22_528, from: "socket/2")),
            is: #"{"type":"control","t":0.5,"frame":22528,"control":"\#(control.name)"\#(fields),"from":"socket/2"}"#)
    }

    @Test func `device event, gap, polarity and drop report: their records`() throws {
        try expect(
            Fixture.line(DeviceEvent(name: "d", summary: "D", state: .moved, format: Fixture.format)),
            is: #"{"type":"device","t":0.5,"name":"d","description":"D","state":"moved","sample_rate":44100,"channels":2}"#)
        try expect(
            Fixture.line(Gap(frames: 441, reason: .deviceLost)),
            is: #"{"type":"gap","t":0.5,"duration_s":0.01,"frames":441,"reason":"device-lost"}"#)
        try expect(Fixture.line(Polarity.opposite), is: #"{"type":"polarity","t":0.5,"frame":22050,"state":"opposite"}"#)
        try expect(
            Fixture.line(DropReport(sink: "socket", client: "3", batches: 2)),
            is: #"{"type":"dropped","t":0.5,"sink":"socket","client":"3","batches":2,"events":0}"#)
        try expect(
            Fixture.line(DropReport(sink: "socket", batches: 2)),
            is: #"{"type":"dropped","t":0.5,"sink":"socket","client":null,"batches":2,"events":0}"#)
    }

    // MARK: End

    @Test func `end: totals, after the late events`() throws {
        var summary = Fixture.summary
        summary.lateEvents = [Event(at: 2.4, Onset(strength: 0.5))]
        let lines = Fixture.lines { RecordEncoder(Fixture.header()).encodeEnd(summary, into: &$0) }
        try expect(lines[0], is: #"{"type":"onset","t":2.4,"strength":0.5,"emitted_t":2.5}"#)
        try expect(
            lines[1],
            is: #"{"type":"end","t":2.5,"frames":110250,"batches":108,"non_finite":3,"dropped":{"socket":4},"#
                + #""summaries":{"levels":{"rms_db":-12.346,"peak_db":null},"tracker":{"beats":12}},"reason":"end-of-input"}"#)
    }

    // MARK: Every line

    @Test func `several files: every line has the file, after its type`() throws {
        for line in Fixture.allLines(file: "b/ü.wav") {
            #expect(try JSONValue(line: line).keys.prefix(2) == ["type", "file"])
            #expect(try object(line)["file"] as? String == "b/ü.wav")
        }
        for line in Fixture.allLines() {
            #expect(try JSONValue(line: line).keys.first == "type")
            #expect(try JSONValue(line: line)["file"] == nil)
        }
    }

    @Test func `line longer than the buffer: complete`() {
        let long = String(repeating: "x", count: 100_000)
        #expect(Fixture.line(StampedControl(Control(.loadPreset, .text(long)), at: 0, from: "a")).contains(long))
    }

    // MARK: Selection

    @Test func `selection of types: only these are written`() {
        let header = Fixture.header()
        let lines = Fixture.lines { buffer in
            let encoder = RecordEncoder(header, selection: Selection(items: ["header", "beat", "end"]))
            encoder.encodeHeader(into: &buffer)
            encoder.encode(Fixture.block(header, events: [Fixture.events])[0], into: &buffer)
            encoder.encodeEnd(Fixture.summary, into: &buffer)
        }
        #expect(lines.compactMap { try? JSONValue(line: $0)["type"]?.string } == ["header", "beat", "beat", "end"])
    }

    @Test func `selection of features: only these and their analyzers are written`() throws {
        let header = Fixture.header()
        let lines = Fixture.lines { buffer in
            let encoder = RecordEncoder(
                header, selection: Selection(items: ["header", "wide.centroid_hz", "wide.mfcc"]))
            encoder.encodeHeader(into: &buffer)
            encoder.encode(Fixture.block(header, events: [Fixture.events])[0], into: &buffer)
            encoder.encodeEnd(Fixture.summary, into: &buffer)
        }
        #expect(lines.count == 2)
        try expect(lines[1], is: #"{"type":"batch","n":0,"frame":0,"t":0.0,"wide":{"centroid_hz":1234.57,"mfcc":[12345.7]}}"#)
        let analyzers = try #require(try JSONValue(line: lines[0])["analyzers"]?.elements)
        #expect(analyzers.map { $0["id"]?.string } == ["levels", "wide", "tracker"])
        #expect(analyzers.map { $0["outputs"]!.elements!.map { $0["name"]?.string } } == [[], ["centroid_hz", "mfcc"], []])
        #expect(analyzers.allSatisfy { $0["events"] == .list([]) })
    }

    @Test func `header with a selection: only the selected outputs`() throws {
        let line = Fixture.lines {
            RecordEncoder(Fixture.header(), selection: Selection(items: ["header", "beat"])).encodeHeader(into: &$0)
        }[0]
        let analyzers = try #require(try JSONValue(line: line)["analyzers"]?.elements)
        #expect(analyzers.flatMap { $0["outputs"]!.elements! }.isEmpty)
        #expect(analyzers.flatMap { $0["events"]!.elements!.map { $0["name"]?.string } } == ["beat"])
    }
}
