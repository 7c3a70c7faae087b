public import Hemiola
internal import HemiolaSignal

/// The exam that every sink sits: empty streams and full ones, every kind of event, rows without a value, live and from a file,
/// broken off and opened again.
///
///     try await SinkExam(.jsonLines, settings: "/tmp/exam.jsonl").sit()
///
/// It shows that the sink takes what it may be given. Whether what it writes is right is for its own tests to say.
public struct SinkExam: Sendable {
    private let plugin: SinkPlugin
    private let settings: String

    /// An exam for a sink with these settings.
    ///
    /// - Parameters:
    ///   - plugin: Who sits it.
    ///   - settings: As in a SPEC after the colon: `/tmp/out.jsonl`.
    public init(_ plugin: SinkPlugin, settings: String = "") {
        self.plugin = plugin
        self.settings = settings
    }

    /// Sits the exam.
    ///
    /// - Throws: Everything that the sink did wrong.
    public func sit() async throws(ExamFailure) {
        var paper = ExamPaper()
        if let values = paper.settings(settings, of: plugin.about) {
            let needs = plugin.needs(values)
            paper.require(plugin.needs(values) == needs, "With the same settings it needs now this and now that.")
            for spec in needs.analyzers {
                paper.require(!spec.id.isEmpty, "It needs an analyzer without an id.")
            }
            // Made and never opened: nothing to close.
            _ = make(values, &paper)
            // The audio is there whenever any sink of the pipeline needs it, so nobody may mind it.
            for hasSamples in needs.samples ? [true] : [false, true] {
                for isLive in [false, true] {
                    await hear(values, isLive: isLive, hasSamples: hasSamples, &paper)
                }
            }
            await breakOff(values, hasSamples: needs.samples, &paper)
            await direct(values, &paper)
        }
        try paper.handIn(plugin.about.id)
    }

    private func make(_ values: SettingValues, _ paper: inout ExamPaper) -> (any Sink)? {
        do throws(ConfigurationError) {
            return try plugin.make(values)
        } catch {
            paper.fault("It cannot be made with the exam's settings: \(error).")
            return nil
        }
    }

    /// A whole life: an empty stream, then full ones of several shapes, one after the other.
    private func hear(_ values: SettingValues, isLive: Bool, hasSamples: Bool, _ paper: inout ExamPaper) async {
        let place = "\(isLive ? "live" : "from a file"), \(hasSamples ? "with" : "without") samples"
        for selection in [Selection.all, Selection(items: ["beat", "exam.level"])] {
            guard let sink = make(values, &paper) else { return }
            let context = SinkContext(name: plugin.about.id, selection: selection, isLive: isLive)
            do throws(SinkError) {
                try await sink.open(context)
                let empty = ExamStream.empty(isLive: isLive)
                try await sink.begin(empty.header)
                try await sink.end(empty.summary)
                for stream in ExamStream.shapes(isLive: isLive, hasSamples: hasSamples) {
                    try await sink.begin(stream.header)
                    for block in stream.blocks {
                        try await sink.write(block)
                        let events = ExamStream.eventsBetween(after: block, in: stream.header)
                            .filter { selection.contains($0.recordType) }
                        if !events.isEmpty { try await sink.write(events) }
                    }
                    try await sink.end(stream.summary)
                }
                try await sink.close()
            } catch {
                paper.fault("It fails \(place): \(error).")
            }
        }
    }

    /// The pipeline breaks off in the middle of a stream; then the same sink is opened again, as the remedy `reopen` does.
    private func breakOff(_ values: SettingValues, hasSamples: Bool, _ paper: inout ExamPaper) async {
        guard let sink = make(values, &paper) else { return }
        let stream = ExamStream.shapes(isLive: false, hasSamples: hasSamples)[0]
        let context = SinkContext(name: plugin.about.id)
        do throws(SinkError) {
            try await sink.open(context)
            try await sink.close()
        } catch {
            paper.fault("It cannot be closed right after it was opened: \(error).")
            return
        }
        do throws(SinkError) {
            try await sink.open(context)
            try await sink.begin(stream.header)
            try await sink.write(stream.blocks[0])
            try await sink.close()
        } catch {
            paper.fault("It cannot be closed in the middle of a stream: \(error).")
            return
        }
        do throws(SinkError) {
            try await sink.open(context)
            try await sink.begin(stream.header)
            for block in stream.blocks { try await sink.write(block) }
            try await sink.end(stream.summary)
            try await sink.close()
        } catch {
            paper.fault("It cannot be opened again after it was closed: \(error).")
        }
    }

    private func direct(_ values: SettingValues, _ paper: inout ExamPaper) async {
        guard let sink = make(values, &paper) as? any DirectingSink else { return }
        do throws(SinkError) {
            try await sink.open(SinkContext(name: plugin.about.id))
            examine(try sink.makeDirector(), &paper)
            try await sink.close()
        } catch {
            paper.fault("It cannot direct: \(error).")
        }
    }

    private func examine(_ director: any Director, _ paper: inout ExamPaper) {
        for stream in ExamStream.shapes(isLive: false, hasSamples: false) {
            director.prepare(stream.header)
            director.skip(Gap(frames: 100, reason: .overrun))
            var events = EventList()
            for block in stream.blocks {
                for index in 0..<block.count {
                    let batch = block[index]
                    var values = batch.row.withUnsafeBufferPointer { Array($0) }
                    for place in batch.events.indices { events.append(batch.events[place]) }
                    let moment = BatchMoment(
                        number: batch.number, frame: batch.frame, frameCount: batch.frameCount, format: stream.header.format)
                    let given = batch.events.count
                    director.direct(moment, FeatureRow(values.mutableSpan), into: &events)
                    for event in events.events.dropFirst(given) {
                        paper.require(event.time.isFinite, "Its director tells an event at a time that is no number.")
                    }
                    var told: [Event] = []
                    events.drain(into: &told)
                    paper.require(told.count >= given, "Its director takes events away.")
                }
            }
        }
    }
}

/// What the examined sink is given.
struct ExamStream {
    var header: StreamHeader
    var blocks: [BatchBlock]
    var summary: StreamSummary

    /// A stream that ends before there is a whole batch: nothing was heard.
    static func empty(isLive: Bool) -> ExamStream {
        ExamStream(
            header: header(StreamFormat(sampleRate: 8_000, channelCount: 1), .standard, file: nil, isLive: isLive), blocks: [],
            summary: StreamSummary(frames: 0, batches: 0, reason: .endOfInput))
    }

    /// Streams of several formats and batch sizes, with every kind of event and every kind of end.
    static func shapes(isLive: Bool, hasSamples: Bool) -> [ExamStream] {
        let formats = [(44_100, 2, 1024), (8_000, 1, 256), (192_000, 6, 4096)].map {
            (StreamFormat(sampleRate: $0.0, channelCount: $0.1), Batching(batchFrames: $0.2)!)
        }
        return zip(formats, [StreamSummary.Reason.endOfInput, .interrupted, isLive ? .formatChange : .error]).map {
            stream($0.0, $0.1, isLive: isLive, hasSamples: hasSamples, reason: $1)
        }
    }

    private static func stream(
        _ format: StreamFormat, _ batching: Batching, isLive: Bool, hasSamples: Bool, reason: StreamSummary.Reason
    ) -> ExamStream {
        let header = header(format, batching, file: isLive ? nil : "a file, \"quoted\".wav", isLive: isLive)
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
                storage.seal(
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
                    analyzer: "exam",
                    values: [
                        SummaryValue("beats", count: 7), SummaryValue("bpm", 120.5, .beatsPerMinute),
                        SummaryValue("key_hz", .nan, .hertz),
                    ]),
                StreamSummary.Section(analyzer: "nothing", values: []),
            ],
            reason: reason, lateEvents: events(at: end, format))
        return ExamStream(header: header, blocks: blocks, summary: summary)
    }

    private static func header(_ format: StreamFormat, _ batching: Batching, file: String?, isLive: Bool) -> StreamHeader {
        var outputs = AnalyzerOutputs()
        _ = outputs.add(Feature("level", .decibels, minimum: -120, "How loud it is."))
        _ = outputs.add(Feature("bands", .ratio, count: 3, in: 0...1, edges: [20, 200, 2_000, 20_000], "How it is spread."))
        _ = outputs.add(Feature("none", .none, count: 0, "A feature of no values."))
        _ = outputs.add(Feature("tempo", .beatsPerMinute, "How fast it is."))
        outputs.add(EventOutput("note", .hertz, "A note."))
        outputs.add(EventOutput("beat", .none, "A beat."))
        outputs.latencyFrames = 512
        outputs.isCausal = false
        return StreamHeader(
            source: StreamSource(format: format, kind: "exam", name: "Prüfung \u{1}\"\\", duration: isLive ? nil : 12.5),
            file: file, isLive: isLive, batching: batching, seed: (1 << 53) - 1,
            analyzers: [
                StreamHeader.Analyzer(
                    name: "exam", id: "exam", version: 2,
                    parameters: [
                        ("flag", .boolean(true)), ("size", .integer(-3)), ("share", .number(0.25)), ("text", .text("a \"b\"\n")),
                        ("list", .list([.text("x"), .text("y")])), ("unset", .none),
                    ], outputs: outputs),
                StreamHeader.Analyzer(name: "nothing", id: "exam", version: 1, parameters: [], outputs: AnalyzerOutputs()),
            ])
    }

    /// Ordinary rows, one without any value, and the ends of what a float can be.
    private static func fill(_ row: UnsafeMutableBufferPointer<Float>, number: Int64) {
        let kinds: [[Float]] = [
            [-12.345, 0.25, 0.5, 1, 120.5], Array(repeating: .nan, count: 5), [-120, 0, .nan, -0.0, .leastNonzeroMagnitude],
            [0, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1e-30, 16_777_216],
        ]
        let values = kinds[Int(number) % kinds.count]
        for index in row.indices { row[index] = values[index % values.count] }
    }

    /// What can happen while no batch is being completed: after a block, a device is lost and audio with it.
    static func eventsBetween(after block: BatchBlock, in header: StreamHeader) -> [Event] {
        let time = header.format.seconds(at: block[block.count - 1].endFrame)
        return [
            Event(at: time, .device(DeviceNotice(name: "exam", summary: "An exam.", state: .lost, format: header.format))),
            Event(at: time, .gap(Gap(frames: 0, reason: .deviceLost))),
        ]
    }

    /// One of every kind.
    static func events(at time: Double, _ format: StreamFormat) -> [Event] {
        var finding = Finding(output: "note", duration: 0.25, values: [440, .nan], label: "A4 \"♪\"\n")
        finding.analyzer = "exam"
        let payloads: [Event.Payload] = [
            .onset(Onset(strength: 0.75)), .beat(Beat(beatsPerMinute: 120.25, position: nil, confidence: 0.5)),
            .beat(Beat(beatsPerMinute: 60, position: 1, confidence: 1)), .finding(finding), .finding(Finding(output: "note")),
            .preset(PresetChange(name: "a/b \"c\".milk", cut: .soft, blend: 2.5, reason: .timer)), .speed(0.5),
            .key(KeyStroke(key: "a", note: 60, phase: .down)), .key(KeyStroke(key: "§", note: nil, phase: .up)),
            .device(DeviceNotice(name: "exam", summary: "An exam.", state: .moved, format: format)),
            .gap(Gap(frames: 0, reason: .truncatedFile)), .gap(Gap(frames: 96_000, reason: .deviceLost)),
            .dropped(Loss(sink: "other", batches: 3)), .dropped(Loss(sink: "other", client: "7", batches: 1)),
        ]
        let controls: [Control] = [
            .tap, .lockTempo(beatsPerMinute: 99.5), .lockTempo(beatsPerMinute: nil), .halveTempo, .doubleTempo, .setDownbeat,
            .resetTempo, .nextPreset, .previousPreset, .randomPreset, .loadPreset(name: "x"), .lockPreset(true), .toggleCycle,
            .setSpeed(0.1), .ready(presets: ["x", "y"]), .presetNames([]), .presetChanged(name: "ü"), .presetRefused(name: "z"),
            .speedChanged(1),
            .key(KeyStroke(key: "p", note: 75, phase: .up)),
        ]
        let wishes = controls.map { Event.Payload.control(StampedControl($0, at: format.frame(at: time), from: "exam/1")) }
        return (payloads + wishes).enumerated().map { Event(at: time + Double($0) * 1e-4, $1) }
    }
}
