import CSVSink
import Hemiola
import HemiolaVisualizer
import TestSupport

/// Short streams with one analyzer.
enum Fixture {
    static func header(file: String? = nil, channels: Int = 2) -> StreamHeader {
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, minimum: -120, "RMS level of the mono mix."))
        _ = levels.add(Feature("peak_db", .decibels, minimum: -120, "Largest sample of the mono mix."))
        _ = levels.add(Feature("channel_rms_db", .decibels, count: channels, "RMS level of each channel."))
        levels.add(EventOutput("note", .hertz, "A note."))
        let source = StreamSource(
            format: StreamFormat(sampleRate: 44_100, channelCount: channels), kind: "file", name: "song.wav", duration: 1)
        return StreamHeader(
            source: source, file: file, isLive: false, batching: .standard, seed: 0,
            analyzers: [.init(name: "levels", id: "levels", version: 1, parameters: [], outputs: levels)],
            catalog: catalog)
    }

    /// The record types and controls of a program with a beat tracker, a preset cycler, a bridge and an external plugin.
    static let catalog = RecordCatalog(
        records: [.preset, .speed, .key, clap.type], controls: [lockTempo] + ControlType.presetControls + [.keyHandler, setClap])

    static let lockTempo = ControlType(
        "lockTempo", "Keeps a tempo.", fields: [.number("bpm", unit: .beatsPerMinute, nullable: true, "The tempo; null: none.")])

    static let setClap = ControlType(
        "setClap", "Changes the clap.", fields: [.integer("hands", "The number of hands."), .texts("people", "The people.")])

    /// A record of a type with every type of field, each with a value.
    static let clap = Event(
        at: 0.25,
        RecordType(
            "clap", "Two hands meet.",
            fields: [
                .emittedTime, .integer("hands", nullable: true, "The number of hands."),
                .number("level_db", unit: .decibels, nullable: true, "The level."), .boolean("is_rhythmic", "Whether it follows the beat."),
                .text("place", nullable: true, "The place."), .choice("manner", of: ["soft", "loud"], "The manner."),
                .texts("people", "The people."), .numbers("partials_hz", unit: .hertz, "The frequencies of its partials."),
            ]), .integer(2), .number(-6.0206), .boolean(true), .text("a \"b\", c"), .text("loud"), .texts(["x", "y"]),
        .numbers([440, 880.126]))

    /// The event of a control that took effect.
    static func event(of control: Control) -> Event {
        Event(at: 0.25, StampedControl(control, at: 1, from: "x"))
    }

    static let rows: [[Float]] = [[-13.012, -10.004, -12.5, -13.6], [-13.012, -10.254, .nan, .infinity]]

    /// One batch for each row.
    static func block(_ rows: [[Float]] = rows, events: [Event] = []) -> BatchBlock {
        let storage = BatchStorage(capacity: rows.count, width: rows[0].count, samplesPerBatch: 0, channelCount: 2)
        for (number, row) in rows.enumerated() {
            var list = EventList()
            for event in number == 0 ? events : [] { list.append(event) }
            _ = storage.openRow.update(fromContentsOf: row)
            storage.complete(
                .init(number: Int64(number), frame: Int64(number) * 1024, frameCount: 1024, isPartial: false), events: &list)
        }
        return BatchBlock(storage)
    }

    static func summary(late: [Event] = []) -> StreamSummary {
        StreamSummary(frames: 2048, batches: 2, reason: .endOfInput, lateEvents: late)
    }

    static func values(_ path: String, _ settings: [String: String]) throws -> SettingValues {
        try SinkPlugin.csv.about.values(
            from: PluginSpec("csv", primary: .text(path), settings: settings.mapValues { .text($0) }))
    }

    static func sink(_ path: String, _ settings: [String: String] = [:]) throws -> any Sink {
        try SinkPlugin.csv.make(values(path, settings))
    }

    /// Opens a sink, writes a stream for each header, and closes it.
    static func run(
        _ sink: any Sink, select items: [String]? = nil, live: Bool = false, events: [Event] = [], late: [Event] = [],
        headers: [StreamHeader] = [header()]
    ) throws {
        let selection = items.map { Selection(items: $0, catalog: catalog) } ?? .all
        try sink.open(
            SinkContext(name: "csv", records: RecordChoice(catalog: catalog, selection: selection), timing: SinkTiming(isLive: live)))
        for header in headers {
            try sink.begin(header)
            try sink.write(block(rows.map { Array($0.prefix(header.layout.width)) }, events: events))
            try sink.end(summary(late: late))
        }
        try sink.close()
    }

    static let onsetAndBeat = [
        Event(at: 0.01, Onset(strength: 0.75)),
        Event(at: 0.5, Beat(beatsPerMinute: 120.25, position: 1, confidence: 0.5)),
    ]
}

extension TemporaryFolder {
    func table(_ name: String) throws -> [[String]] { try fields(text(of: name)) }
}

/// Parses rows and fields in the format of RFC 4180.
func fields(_ text: String) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field = String.UnicodeScalarView()
    var isQuoted = false
    for scalar in text.unicodeScalars {
        switch scalar {
        // A quote directly after a closing quote: the pair is an escaped quote.
        case "\"":
            isQuoted.toggle()
            field.append(scalar)
        case "," where !isQuoted, "\n" where !isQuoted:
            row.append(unquoted(String(field)))
            field.removeAll()
            if scalar == "\n" {
                rows.append(row)
                row = []
            }
        default: field.append(scalar)
        }
    }
    return rows
}

private func unquoted(_ field: String) -> String {
    field.hasPrefix("\"") ? String(field.dropFirst().dropLast()).replacing("\"\"", with: "\"") : field
}
