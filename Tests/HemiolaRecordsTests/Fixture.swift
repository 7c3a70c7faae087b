import HemiolaRecords
import HemiolaSignal
import HemiolaSystem
import HemiolaVisualizer

/// A stream with two analyzers and a batch of every shape.
enum Fixture {
    static let format = StreamFormat(sampleRate: 44_100, channelCount: 2)

    static var levels: AnalyzerOutputs {
        var outputs = AnalyzerOutputs()
        _ = outputs.add(Feature("rms_db", .decibels, minimum: -120, "RMS level."))
        _ = outputs.add(Feature("channel_rms_db", .decibels, count: 2, minimum: -120, "RMS level of each channel."))
        return outputs
    }

    static var spectrum: AnalyzerOutputs {
        var outputs = AnalyzerOutputs()
        _ = outputs.add(
            Feature("bands_db", .decibels, count: 3, minimum: -120, edges: [20, 200.125, 2000, 20_000], centerOffset: 0, "Bands."))
        _ = outputs.add(Feature("centroid_hz", .hertz, in: 0...22_050, centerOffset: -0.0232199546, "Centroid."))
        _ = outputs.add(Feature("flatness", .ratio, in: 0...1, "Flatness."))
        _ = outputs.add(Feature("mfcc", .none, count: 1, "One coefficient."))
        outputs.latencyFrames = 512
        outputs.isCausal = false
        return outputs
    }

    static var tracker: AnalyzerOutputs {
        var outputs = AnalyzerOutputs()
        outputs.add(EventOutput("beat", .none, "Beats."))
        outputs.add(EventOutput("peaks", .hertz, "Peaks."))
        return outputs
    }

    static func header(file: String? = nil, duration: Double? = 2.5) -> StreamHeader {
        StreamHeader(
            source: StreamSource(format: format, kind: "file", name: "a \"b\".wav", duration: duration), file: file,
            isLive: false, batching: .standard, seed: 7,
            analyzers: [
                .init(name: "levels", id: "levels", version: 1, parameters: [], outputs: levels),
                .init(
                    name: "wide", id: "spectrum", version: 2,
                    parameters: [
                        .init("size", .integer(2048)), .init("min_hz", .number(20)), .init("ratio", .number(0.123456789)),
                        .init("scale", .text("log")), .init("magnitudes", .boolean(false)), .init("limit", .none),
                        .init("weights", .list([.number(1), .number(2.5)])),
                    ], outputs: spectrum),
                .init(name: "tracker", id: "tracker", version: 1, parameters: [], outputs: tracker),
            ], catalog: catalog)
    }

    static let row: [Float] = [-12.3456, -3.01, -120, -60.5, .nan, -0.0001, 1234.567, 0.123456789, 12_345.678]

    /// One block with a batch per list of events, all with the same row.
    static func block(
        _ header: StreamHeader = header(), row: [Float] = row, partial: Bool = false, events: [[Event]] = [[]]
    ) -> BatchBlock {
        let storage = BatchStorage(
            capacity: max(1, events.count), width: header.layout.width, samplesPerBatch: 0, channelCount: 2)
        for (number, events) in events.enumerated() {
            var list = EventList()
            for event in events { list.append(event) }
            _ = storage.openRow.update(fromContentsOf: row)
            storage.complete(
                .init(
                    number: Int64(number), frame: Int64(number) * 1024, frameCount: partial ? 100 : 1024, isPartial: partial),
                events: &list)
        }
        return BatchBlock(storage)
    }

    static let summary = StreamSummary(
        frames: 110_250, batches: 108, nonFinite: 3, dropped: [("socket", 4)],
        sections: [
            .init(analyzer: "levels", values: [SummaryValue("rms_db", -12.3456, .decibels), SummaryValue("peak_db", .nan, .decibels)]),
            .init(analyzer: "tracker", values: [SummaryValue("beats", count: 12)]),
        ], reason: .endOfInput)

    /// The record types and controls of a program with a beat tracker, a preset cycler, a bridge and an external plugin.
    static let catalog = RecordCatalog(
        records: [.preset, .pagePreset, .speed, .key, .clap],
        controls: [.tap, .lockTempo, .halveTempo, .doubleTempo, .setDownbeat, .resetTempo] + ControlType.presetControls
            + [.keyHandler, .setClap])

    /// At least one event of every type, with every optional part both there and missing.
    static let events: [Event] = {
        var peaks = AnalyzerEvent(output: "peaks", duration: 0.5, values: [440.1234, 880], label: "A")
        peaks.analyzer = "tracker"
        var bare = AnalyzerEvent(output: "other", values: [0.123456789])
        bare.analyzer = "unknown"
        let keys = [KeyStroke(key: "a", note: 60, phase: .down), KeyStroke(key: "q", note: nil, phase: .up)]
        let controls: [Control] =
            [
                Control(.tap), Control(.lockTempo, .number(120)), Control(.lockTempo), Control(.halveTempo), Control(.doubleTempo),
                Control(.setDownbeat), Control(.resetTempo), Control(.nextPreset), Control(.previousPreset), Control(.randomPreset),
                Control(.loadPreset, .text("x")), Control(.lockPreset, .boolean(true)), Control(.toggleCycle),
                Control(.setSpeed, .number(0.5)), Control(.ready, .texts(["a", "b"])), Control(.presetNames, .texts([])),
                Control(.setFavourites, .texts(["p"])),
                Control(.presetHandler, .text("y")), Control(.presetRefused, .text("y")), Control(.pageClosed),
                Control(.speedHandler, .number(1)),
            ] + keys.map(\.control) + clapControls
        var records: [any EventRecord] =
            [
                Onset(strength: 1.25), Beat(beatsPerMinute: 120.456, position: 1, confidence: 0.75),
                Beat(beatsPerMinute: 90, position: nil, confidence: 0), peaks, bare, SpeedChange(1), keys[0], keys[1],
                DropReport(sink: "socket", client: "3", batches: 2), DropReport(sink: "json-lines", batches: 2),
                PresetChange(name: "p", cut: .hard, blend: 0, reason: .start),
            ]
            + PresetChange.Reason.allCases.map { PresetChange(name: "p", cut: .soft, blend: 2.7, reason: $0) }
            + PresetChange.Reason.allCases.map { PagePresetChange(page: "web/2", name: "q", blend: 1, reason: $0) }
            + DeviceEvent.State.allCases.map { DeviceEvent(name: "d", summary: "D", state: $0, format: format) }
            + Gap.Reason.allCases.map { Gap(frames: 441, reason: $0) }
        records += Polarity.allCases.map { $0 as any EventRecord }
        return records.map { $0.event(at: 0.5) } + claps
            + controls.map { Event(at: 0.5, StampedControl($0, at: 1024, from: "socket/2")) }
    }()

    /// A header of a 5.1 source.
    static func surroundHeader(file: String? = nil) -> StreamHeader {
        var header = header(file: file)
        header.source.format = StreamFormat(
            sampleRate: 44_100, channelCount: 6, channelMap: ChannelMap(waveMask: 0x60f, channelCount: 6))
        return header
    }

    /// All lines that the encoder can write.
    static func allLines(file: String? = nil) -> [String] {
        let whole = header(file: file)
        var result = header(file: file)
        result.fingerprint = "0123456789abcdef"
        let encoder = RecordEncoder(whole)
        return lines { buffer in
            encoder.encodeHeader(into: &buffer)
            RecordEncoder(header(file: file, duration: nil)).encodeHeader(into: &buffer)
            RecordEncoder(result).encodeHeader(into: &buffer)
            RecordEncoder(surroundHeader(file: file)).encodeHeader(into: &buffer)
            encoder.encode(block(whole, events: [events])[0], into: &buffer)
            encoder.encode(block(whole, partial: true)[0], into: &buffer)
            for reason in StreamSummary.Reason.allCases {
                var summary = summary
                summary.reason = reason
                summary.error = reason == .error ? "a.wav: damaged" : nil
                encoder.encodeEnd(summary, into: &buffer, countsLines: reason == .endOfInput)
            }
        }
    }

    /// The records of inputs that failed.
    static let failureLines = lines { buffer in
        buffer.append(failure: InputEnd(file: "b.wav", error: "b.wav: no such file", streamCount: 0))
        buffer.append(failure: InputEnd(file: "c.wav", error: "c.wav: \"cut\""), isPartial: true)
    }

    /// The lines that `body` writes, without newlines.
    static func lines(_ body: (inout JSONBuffer) -> Void) -> [String] {
        var buffer = JSONBuffer(capacity: 16)
        body(&buffer)
        let text = buffer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        precondition(text.isEmpty || text.hasSuffix("\n"))
        return text.split(separator: "\n").map(String.init)
    }

    /// The lines of a recording, decoded and encoded again.
    static func again(_ lines: [String], _ decoder: inout RecordDecoder) throws -> [String] {
        var header = header()
        var encoder = RecordEncoder(header)
        let records = try lines.map { line throws(Problem) in try decoder.decode(Array(line.utf8)) }
        return Fixture.lines { buffer in
            for (line, record) in zip(lines, records) {
                switch record {
                case .header(let decoded):
                    header = decoded
                    encoder = RecordEncoder(header)
                    encoder.encodeHeader(into: &buffer)
                case .batch(let batch):
                    let storage = BatchStorage(capacity: 1, width: header.layout.width, samplesPerBatch: 0, channelCount: 2)
                    _ = storage.openRow.update(fromContentsOf: batch.row)
                    let info = BatchStorage.Info(number: batch.number, frame: batch.frame, frameCount: 1024, isPartial: batch.isPartial)
                    storage.complete(info, events: [])
                    encoder.encode(BatchBlock(storage)[0], into: &buffer)
                case .event(let event, let emitted):
                    let end = emitted.map { header.format.seconds(at: header.format.frame(at: $0)) }
                    encoder.encode(event, batchEnd: end ?? event.time, into: &buffer)
                case .end(let summary):
                    encoder.encodeEnd(summary, into: &buffer, countsLines: line.contains(#","lines":"#))
                case .failure(let end):
                    buffer.append(failure: end)
                }
            }
        }
    }

    /// The line of one record in a stream without a file.
    static func line(_ record: some EventRecord, at time: Double = 0.5, batchEnd: Double = 0.25) -> String {
        line(record.event(at: time), batchEnd: batchEnd)
    }

    /// The line of a control that took effect.
    static func line(_ control: StampedControl) -> String {
        line(Event(at: 0.5, control), batchEnd: 0.25)
    }

    /// The line of one event in a stream without a file.
    static func line(_ event: Event, batchEnd: Double) -> String {
        lines { RecordEncoder(header()).encode(event, batchEnd: batchEnd, into: &$0) }[0]
    }
}

/// The controls of a beat tracker.
extension ControlType {
    static let tap = ControlType("tap", "Marks a beat now.")
    static let lockTempo = ControlType(
        "lockTempo", "Keeps a tempo.",
        fields: [
            .number("bpm", unit: .beatsPerMinute, nullable: true, minimum: 0, default: ParameterValue.none, "The tempo; null: none.")
        ])
    static let halveTempo = ControlType("halveTempo", "Halves the tempo.")
    static let doubleTempo = ControlType("doubleTempo", "Doubles the tempo.")
    static let setDownbeat = ControlType("setDownbeat", "Marks the first beat of a bar.")
    static let resetTempo = ControlType("resetTempo", "Discards the tempo.")
}
