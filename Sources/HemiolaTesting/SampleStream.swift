internal import Hemiola

/// A generated stream: the input of a sink or a director under test.
struct SampleStream {
    var header: StreamHeader
    var blocks: [BatchBlock]
    var summary: StreamSummary

    /// A stream without a batch.
    static func empty(isLive: Bool, catalog: RecordCatalog) -> SampleStream {
        SampleStream(
            header: header(StreamFormat(sampleRate: 8_000, channelCount: 1), .standard, file: nil, isLive: isLive, catalog), blocks: [],
            summary: StreamSummary(frames: 0, batches: 0, reason: .endOfInput))
    }

    /// Streams of three formats and batch sizes, with events of every type and three reasons of the end.
    ///
    /// - Parameter catalog: The declarations of the program, with those of the plugin under test.
    static func all(isLive: Bool, hasSamples: Bool, catalog: RecordCatalog) -> [SampleStream] {
        let formats = [(44_100, 2, 1024), (8_000, 1, 256), (192_000, 6, 4096)].map {
            (StreamFormat(sampleRate: $0.0, channelCount: $0.1), Batching(batchFrames: $0.2)!)
        }
        return zip(formats, [StreamSummary.Reason.endOfInput, .interrupted, isLive ? .formatChange : .error]).map {
            stream($0.0, $0.1, isLive: isLive, hasSamples: hasSamples, reason: $1, catalog: catalog)
        }
    }

    private static func stream(
        _ format: StreamFormat, _ batching: Batching, isLive: Bool, hasSamples: Bool, reason: StreamSummary.Reason,
        catalog: RecordCatalog
    ) -> SampleStream {
        let header = header(format, batching, file: isLive ? nil : "a file, \"quoted\".wav", isLive: isLive, catalog)
        var blocks: [BatchBlock] = []
        var (number, frame) = (Int64(0), Int64(0))
        for count in isLive ? [1, 1, 1, 1] : [BatchBlock.capacity, 1, 3] {
            let storage = BatchStorage(
                capacity: count, width: header.layout.width,
                samplesPerBatch: hasSamples ? batching.batchFrames * format.channelCount : 0, channelCount: format.channelCount)
            for index in 0..<count {
                let isLast = number > 0 && index == count - 1
                let frames = isLast ? batching.batchFrames * 3 / 8 : batching.batchFrames
                fill(storage.openRow, number: number)
                for place in storage.openSamples.indices { storage.openSamples[place] = Float(place % 7) / 7 - 0.5 }
                var events = EventList()
                for event in index == 0 ? self.events(at: format.seconds(at: frame), format) : [] { events.append(event) }
                storage.complete(
                    BatchStorage.Info(number: number, frame: frame, frameCount: frames, isPartial: isLast), events: &events)
                number += 1
                frame += Int64(frames)
            }
            blocks.append(BatchBlock(storage))
        }
        let end = format.seconds(at: frame)
        let summary = StreamSummary(
            frames: frame, batches: number, nonFinite: 3, dropped: isLive ? [("other", 12)] : [],
            sections: [
                StreamSummary.Section(
                    analyzer: "sample",
                    values: [
                        SummaryValue("beats", count: 7), SummaryValue("bpm", 120.5, .beatsPerMinute),
                        SummaryValue("key_hz", .nan, .hertz),
                    ]),
                StreamSummary.Section(analyzer: "nothing", values: []),
            ],
            reason: reason, lateEvents: events(at: end, format))
        return SampleStream(header: header, blocks: blocks, summary: summary)
    }

    private static func header(
        _ format: StreamFormat, _ batching: Batching, file: String?, isLive: Bool, _ catalog: RecordCatalog
    ) -> StreamHeader {
        var outputs = AnalyzerOutputs()
        _ = outputs.add(Feature("level", .decibels, minimum: -120, "The level."))
        _ = outputs.add(Feature("bands", .ratio, count: 3, in: 0...1, edges: [20, 200, 2_000, 20_000], "The distribution over the bands."))
        _ = outputs.add(Feature("none", .none, count: 0, "A feature without values."))
        _ = outputs.add(Feature("tempo", .beatsPerMinute, "The tempo."))
        outputs.add(EventOutput("note", .hertz, "A note."))
        outputs.add(EventOutput("beat", .none, "A beat."))
        outputs.latencyFrames = 512
        outputs.isCausal = false
        return StreamHeader(
            source: StreamSource(format: format, kind: "sample", name: "Beispiel \u{1}\"\\", duration: isLive ? nil : 12.5),
            file: file, isLive: isLive, batching: batching, seed: (1 << 53) - 1,
            analyzers: [
                StreamHeader.Analyzer(
                    name: "sample", id: "sample", version: 2,
                    parameters: [
                        .init("flag", .boolean(true)), .init("size", .integer(-3)), .init("share", .number(0.25)),
                        .init("text", .text("a \"b\"\n")), .init("list", .list([.text("x"), .text("y")])), .init("unset", .none),
                    ], outputs: outputs),
                StreamHeader.Analyzer(name: "nothing", id: "sample", version: 1, parameters: [], outputs: AnalyzerOutputs()),
            ],
            catalog: catalog)
    }

    /// Rows with typical values, with none, and with the limits of Float.
    private static func fill(_ row: UnsafeMutableBufferPointer<Float>, number: Int64) {
        let kinds: [[Float]] = [
            [-12.345, 0.25, 0.5, 1, 120.5], Array(repeating: .nan, count: 5), [-120, 0, .nan, -0.0, .leastNonzeroMagnitude],
            [0, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1e-30, 16_777_216],
        ]
        let values = kinds[Int(number) % kinds.count]
        for index in row.indices { row[index] = values[index % values.count] }
    }

    /// Events between two batches: after a block, the device and its audio are lost.
    static func eventsBetween(after block: BatchBlock, in header: StreamHeader) -> [Event] {
        let time = header.format.seconds(at: block[block.count - 1].endFrame)
        return [
            Event(at: time, DeviceEvent(name: "sample", summary: "A device.", state: .lost, format: header.format)),
            Event(at: time, Gap(frames: 0, reason: .deviceLost)),
        ]
    }

    /// An event of every type of the plugin API, and of the sample types.
    static func events(at time: Double, _ format: StreamFormat) -> [Event] {
        var analyzerEvent = AnalyzerEvent(output: "note", duration: 0.25, values: [440, .nan], label: "A4 \"♪\"\n")
        analyzerEvent.analyzer = "sample"
        let records: [any EventRecord] = [
            Onset(strength: 0.75), Beat(beatsPerMinute: 120.25, position: nil, confidence: 0.5),
            Beat(beatsPerMinute: 60, position: 1, confidence: 1), analyzerEvent, AnalyzerEvent(output: "note"),
            DeviceEvent(name: "sample", summary: "A device.", state: .moved, format: format),
            Gap(frames: 0, reason: .truncatedFile), Gap(frames: 96_000, reason: .deviceLost), Polarity.opposite,
            DropReport(sink: "other", batches: 3), DropReport(sink: "other", client: "7", batches: 1),
        ]
        let declared = [
            Event(
                at: time, recordType, .integer(-1), .number(0.5), .boolean(true), .text("ü \"\\\n"), .text("b"), .texts(["x", "y,z"]),
                .numbers([1, .nan])),
            Event(at: time, recordType, .none, .none, .boolean(false), .none, .text("a"), .texts([]), .numbers([])),
        ]
        let controls = [controlType, ControlType("samplePlain", "A control without fields.")].flatMap(Control.samples)
        let stamped = controls.map { Event(at: time, StampedControl($0, at: format.frame(at: time), from: "test/1")) }
        return (records.map { $0.event(at: time) } + declared + stamped).enumerated().map { index, event in
            var event = event
            event.time = time + Double(index) * 1e-4
            return event
        }
    }

    /// A record type with a field of every type.
    static let recordType = RecordType(
        "sample_record", "A record with a field of every type.",
        fields: [
            .frame, .integer("sample_integer", nullable: true, "A whole number."),
            .number("sample_number", unit: .seconds, nullable: true, "A number."), .boolean("sample_flag", "A flag."),
            .text("sample_text", nullable: true, "A text."), .choice("sample_choice", of: ["a", "b"], "A choice."),
            .texts("sample_texts", "Texts."), .numbers("sample_numbers", unit: .hertz, "Numbers."), .emittedTime,
        ])

    /// A control with a field of every type.
    static let controlType = ControlType(
        "sampleControl", "A control with a field of every type.", fields: recordType.fields.filter { $0.source == .stored })
}

extension RecordCatalog {
    /// The declarations of a program with the plugin under test and the sample types.
    static func sample(with about: PluginDescription) -> RecordCatalog {
        RecordCatalog(
            records: [SampleStream.recordType] + about.records,
            controls: [SampleStream.controlType] + about.controls + about.fallbackControls)
    }
}
