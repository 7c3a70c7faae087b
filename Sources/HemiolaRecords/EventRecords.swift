public import HemiolaSignal

// The record types of the plugin API: what any analyzer may find, and what the pipeline reports about the stream.

extension RecordType {
    /// A note or a stroke begins: ``Onset``.
    public static let onset = RecordType(
        "onset", "A note or a stroke begins.",
        fields: [
            .number("strength", minimum: 0, "The strength of the attack; 1 is typical."),
            .emittedTime,
        ])

    /// A beat, as detected or announced: ``Beat``.
    public static let beat = RecordType(
        "beat", "A beat, as detected or announced. An announced beat is not withdrawn.",
        fields: [
            .number("bpm", unit: .beatsPerMinute, minimum: 0, "The tempo at this beat."),
            .integer("position", nullable: true, "The place in the bar, 1 = downbeat; null when unknown."),
            .number("confidence", in: 0...1, "The probability that it is within 70 ms of a listener's tap."),
            .emittedTime, .timeUntilEvent,
        ])

    /// An event output of an analyzer without a record type of its own: ``AnalyzerEvent``.
    public static let analyzerEvent = RecordType(
        "event", "An event output of an analyzer without a record type of its own.",
        fields: [
            .number("duration_s", unit: .seconds, nullable: true, minimum: 0, "The duration; null for a moment."),
            .text("analyzer", "The analyzer's name in the pipeline."),
            .text("output", "The name of the analyzer's event output."),
            .numbers("values", "Its numbers, in the unit of that output."),
            .text("label", "Its text, or nothing."),
        ])

    /// A control took effect. An event of this type carries a ``StampedControl``; its record has the fields of that control between
    /// `control` and `from`.
    public static let control = RecordType(
        "control", "A control took effect.",
        fields: [
            .frame, .text("control", "The name of the control."),
            .text("from", "The sender: the sink, then a slash and the client where there are several."),
        ])

    /// Live capture opened, changed or lost its source: ``DeviceEvent``.
    public static let device = RecordType(
        "device", "Live capture opened, changed or lost its source.",
        fields: [
            .text("name", "The device."),
            .text("description", "The description of the device."),
            .choice("state", of: DeviceEvent.State.allCases.map(\.rawValue), "The state of the source."),
            .integer("sample_rate", "Frames per second."),
            .integer("channels", "Samples per frame."),
        ])

    /// Audio was lost: `Gap`.
    public static let gap = RecordType(
        "gap", "Audio was lost: the time advances by the lost frames, which are not analysed.",
        fields: [
            .seconds("duration_s", ofFramesIn: "frames", "The duration."),
            .integer("frames", "The duration in frames."),
            .choice("reason", of: Gap.Reason.allCases.map(\.rawValue), "The cause."),
        ])

    /// A sink or one of its clients was too slow: ``DropReport``.
    public static let dropped = RecordType(
        "dropped", "A sink or one of its clients was too slow and lost batches or events (live only).",
        fields: [
            .text("sink", "The sink's name."),
            .text("client", nullable: true, "The client; null for the sink itself."),
            .integer("batches", "Batches lost since the last such record."),
            .integer("events", "Events lost since the last such record: those beyond an hour of music."),
        ])
}

/// A note or a stroke begins.
public struct Onset: EventRecord, Hashable {
    /// The strength of the attack, 0…; 1 is typical.
    public var strength: Double

    /// An onset of that strength.
    public init(strength: Double) { self.strength = strength }

    public init?(_ event: Event) {
        guard event.type == .onset else { return nil }
        strength = event[0].number ?? .nan
    }

    public func event(at time: Double) -> Event {
        Event(at: time, .onset, .number(strength))
    }
}

/// A beat, as detected or announced.
public struct Beat: EventRecord, Hashable {
    /// The tempo at this beat; NaN when unknown.
    public var beatsPerMinute: Double
    /// The place in the bar, 1 = downbeat; nil when unknown.
    public var position: Int?
    /// 0…1.
    public var confidence: Double

    /// Tempi and places that a beat can have. The event of another program may have others, which count as unknown.
    private static let (tempi, positions) = (1.0...10_000, 1...1024)

    /// A beat of that tempo, place in the bar and confidence.
    public init(beatsPerMinute: Double, position: Int?, confidence: Double) {
        self.beatsPerMinute = beatsPerMinute
        self.position = position
        self.confidence = confidence
    }

    public init?(_ event: Event) {
        guard event.type == .beat else { return nil }
        beatsPerMinute = event[0].number.flatMap { Self.tempi.contains($0) ? $0 : nil } ?? .nan
        position = event[1].integer.flatMap { Self.positions.contains($0) ? $0 : nil }
        confidence = event[2].number ?? .nan
    }

    public func event(at time: Double) -> Event {
        Event(at: time, .beat, .number(beatsPerMinute), .optional(position), .number(confidence))
    }
}

/// An event output of an analyzer without a record type of its own.
public struct AnalyzerEvent: EventRecord, Hashable {
    /// The analyzer's name in the pipeline; set by the engine.
    public var analyzer: String
    /// The name of the declared event output.
    public var output: String
    /// In seconds; nil for a moment.
    public var duration: Double?
    /// Numbers, in the output's unit; often none or one.
    public var values: [Double]
    /// A label, empty where there is none.
    public var label: String

    /// An event of one of the analyzer's outputs; the engine adds the analyzer's name.
    public init(output: String, duration: Double? = nil, values: [Double] = [], label: String = "") {
        analyzer = ""
        self.output = output
        self.duration = duration
        self.values = values
        self.label = label
    }

    public init?(_ event: Event) {
        guard event.type == .analyzerEvent else { return nil }
        duration = event[0].number
        analyzer = event[1].string ?? ""
        output = event[2].string ?? ""
        values = event[3].items?.map { $0.number ?? .nan } ?? []
        label = event[4].string ?? ""
    }

    public func event(at time: Double) -> Event {
        Event(at: time, .analyzerEvent, .optional(duration), .text(analyzer), .text(output), .numbers(values), .text(label))
    }

    /// The place of `analyzer` among the stored fields.
    static let analyzerPlace = 1
}

/// Live capture opened, changed or lost its source.
public struct DeviceEvent: EventRecord, Hashable {
    /// The state of a source.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// `opened`: capture has begun. `moved`: from here on capture reads another source. `lost`: the source is gone.
        case opened, moved, lost
    }

    /// The source's name for programs.
    public var name: String
    /// The source's description for users.
    public var summary: String
    /// The state of the source.
    public var state: State
    /// The format in which the source is captured.
    public var format: StreamFormat

    /// What users are shown: the description, else the name, as of an application that does not play.
    public var shownName: String { summary.isEmpty ? name : summary }

    /// An event of the source of that name.
    public init(name: String, summary: String, state: State, format: StreamFormat) {
        self.name = name
        self.summary = summary
        self.state = state
        self.format = format
    }

    public init?(_ event: Event) {
        guard event.type == .device, let state = event[2].string.flatMap(State.init) else { return nil }
        self.init(
            name: event[0].string ?? "", summary: event[1].string ?? "", state: state,
            format: StreamFormat(sampleRate: event[3].integer ?? 1, channelCount: event[4].integer ?? 1))
    }

    public func event(at time: Double) -> Event {
        Event(
            at: time, .device, .text(name), .text(summary), .text(state.rawValue), .integer(format.sampleRate),
            .integer(format.channelCount))
    }
}

extension Gap: EventRecord {
    public init?(_ event: Event) {
        guard event.type == .gap, let frames = event[0].integer, let reason = event[1].string.flatMap(Reason.init) else { return nil }
        self.init(frames: min(max(Int64(frames), 0), StreamFormat.lastFrame), reason: reason)
    }

    public func event(at time: Double) -> Event {
        Event(at: time, .gap, .integer(Int(frames)), .text(reason.rawValue))
    }
}

/// A sink or one of its clients was too slow and lost batches or events (live only).
public struct DropReport: EventRecord, Hashable {
    /// The sink's name in the pipeline.
    public var sink: String
    /// The client; nil: the sink itself.
    public var client: String?
    /// Batches lost since the last such record.
    public var batches: Int
    /// Events and other lines lost since the last such record: those beyond the limit kept for a reader that has stopped.
    public var events: Int
    /// Whether more losses are expected: the pipeline then adds these to the next report that does not expect more, or records them at the
    /// end of the stream. Not in the record.
    public var isOngoing: Bool

    /// A report of so many lost batches and events.
    public init(sink: String, client: String? = nil, batches: Int, events: Int = 0, isOngoing: Bool = false) {
        self.sink = sink
        self.client = client
        self.batches = batches
        self.events = events
        self.isOngoing = isOngoing
    }

    public init?(_ event: Event) {
        guard event.type == .dropped else { return nil }
        self.init(
            sink: event[0].string ?? "", client: event[1].string, batches: Self.count(event[2]), events: Self.count(event[3]))
    }

    /// Bounded, so that sums of the reports of a recording are, too.
    private static func count(_ value: ParameterValue) -> Int { min(max(value.integer ?? 0, 0), Int(Int32.max)) }

    public func event(at time: Double) -> Event {
        Event(at: time, .dropped, .text(sink), .optional(client), .integer(batches), .integer(events))
    }
}
