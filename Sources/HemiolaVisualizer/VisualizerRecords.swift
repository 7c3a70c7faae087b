public import HemiolaRecords

// The records of the visualizer protocol: emitted by the preset cycler, or, without one, for what clients report.

extension RecordType {
    /// The visualizer loads another preset: ``PresetChange``.
    public static let preset = RecordType(
        "preset", "The visualizer loads another preset.",
        fields: [
            .frame, .emittedTime,
            .constant("action", "load", "The action of the visualizer."),
            .text("name", "The preset."),
            .choice("cut", of: PresetChange.Cut.allCases.map(\.rawValue), "The transition between the two pictures."),
            .number("blend_s", unit: .seconds, minimum: 0, "Seconds from the old picture to the new."),
            .choice("reason", of: PresetChange.Reason.allCases.map(\.rawValue), "The cause of the change."),
            .number("next_in_s", unit: .seconds, nullable: true, "Seconds until the next change by time, bars or beats; null: not known."),
        ])

    /// A page that does not have the visualizer's preset loads another one: ``PagePresetChange``.
    public static let pagePreset = RecordType(
        "page_preset", "A page that does not have the visualizer's preset loads another one.",
        fields: [
            .frame, .emittedTime,
            .text("page", "The page, as in control records: the sink and the number of the client."),
            .text("name", "The preset."),
            .number("blend_s", unit: .seconds, minimum: 0, "Seconds from the old picture to the new."),
            .choice("reason", of: PresetChange.Reason.allCases.map(\.rawValue), "The cause of the change."),
        ])

    /// The visualizer's speed changed: ``SpeedChange``.
    public static let speed = RecordType(
        "speed", "The visualizer's speed changed.",
        fields: [.number("speed", in: SpeedChange.range, "0.1…1.0.")])

    /// A key was pressed or released in a visualizer: ``KeyStroke``.
    public static let key = RecordType("key", "A key was pressed or released in a visualizer.", fields: KeyStroke.fields)

    /// A page sent a message of its own: ``PageMessage``.
    public static let message = RecordType("message", "A page sent a message of its own.", fields: PageMessage.fields)
}

/// The visualizer loads another preset.
public struct PresetChange: EventRecord, Hashable {
    /// The transition between two pictures.
    public enum Cut: String, Sendable, Hashable, CaseIterable {
        /// `soft`: the pictures are blended. `hard`: the new picture replaces the old one at once.
        case soft, hard
    }

    /// The cause of a change.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// `start`: the first preset. `timer`: the preset's time is over; `bar`, `beat`: and a bar or beat begins. `drop`: a drop in the
        /// music. `segment`: a segment of the music begins. `request`: a client's control. `page`: the page loaded it. `refused`: the page could not load the one before.
        case start, timer, bar, beat, drop, segment, request, page, refused

        /// The cause in a record. Recordings of previews have `hard-cut`, of changes that presets made by themselves.
        fileprivate init(_ text: String?) { self = text.flatMap { Reason(rawValue: $0) } ?? .timer }

        /// Whether presets change by themselves where there is such a change.
        public var isAutomatic: Bool {
            switch self {
            case .timer, .bar, .beat, .drop, .segment: true
            case .start, .request, .page, .refused: false
            }
        }
    }

    /// The preset's name.
    public var name: String
    /// The transition.
    public var cut: Cut
    /// Seconds from the old picture to the new.
    public var blend: Double
    /// The cause.
    public var reason: Reason
    /// Seconds until the next change by time, bars or beats; nil: none is due, or the time is not known.
    public var nextIn: Double?

    /// A change to the preset of that name, within `blend` seconds.
    public init(name: String, cut: Cut, blend: Double, reason: Reason, nextIn: Double? = nil) {
        self.name = name
        self.cut = cut
        self.blend = blend
        self.reason = reason
        self.nextIn = nextIn
    }

    public init?(_ event: Event) {
        guard event.type == .preset, let cut = event[1].string.flatMap(Cut.init) else { return nil }
        self.init(
            name: event[0].string ?? "", cut: cut, blend: event[2].number ?? 0, reason: Reason(event[3].string), nextIn: event[4].number)
    }

    public func event(at time: Double) -> Event {
        Event(
            at: time, .preset, .text(name), .text(cut.rawValue), .number(blend), .text(reason.rawValue), .optional(nextIn))
    }
}

/// A page that does not have the visualizer's preset loads another one.
public struct PagePresetChange: EventRecord, Hashable {
    /// The page: the origin of its controls.
    public var page: String
    /// The preset's name.
    public var name: String
    /// Seconds from the old picture to the new; 0: a hard cut.
    public var blend: Double
    /// The cause.
    public var reason: PresetChange.Reason

    /// A change of that page to the preset of that name, within `blend` seconds.
    public init(page: String, name: String, blend: Double, reason: PresetChange.Reason) {
        self.page = page
        self.name = name
        self.blend = blend
        self.reason = reason
    }

    public init?(_ event: Event) {
        guard event.type == .pagePreset else { return nil }
        self.init(
            page: event[0].string ?? "", name: event[1].string ?? "", blend: event[2].number ?? 0,
            reason: PresetChange.Reason(event[3].string))
    }

    public func event(at time: Double) -> Event {
        Event(at: time, .pagePreset, .text(page), .text(name), .number(blend), .text(reason.rawValue))
    }
}

/// The visualizer's speed changed.
public struct SpeedChange: EventRecord, Hashable {
    /// The speeds of a visualizer: 1 is normal.
    public static let range = 0.1...1.0

    /// 0.1…1.0.
    public var speed: Double

    /// A change to that speed.
    public init(_ speed: Double) { self.speed = speed }

    /// A change to a speed that a client or a page has sent, limited to the ``range``; nil: it is not finite.
    public init?(limiting speed: Double?) {
        guard let speed, speed.isFinite else { return nil }
        self.speed = min(Self.range.upperBound, max(Self.range.lowerBound, speed))
    }

    public init?(_ event: Event) {
        guard event.type == .speed else { return nil }
        speed = event[0].number ?? .nan
    }

    public func event(at time: Double) -> Event {
        Event(at: time, .speed, .number(speed))
    }
}

/// A key was pressed or released in a visualizer.
public struct KeyStroke: EventRecord, Hashable {
    static let fields: [Field] = [
        .text("key", "The key."),
        .integer("note", nullable: true, in: notes, default: ParameterValue.none, "The key's MIDI note; null: the key has none."),
        .choice("event", of: Phase.allCases.map(\.rawValue), "Pressed or released."),
    ]

    /// Pressed or released.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The key is pressed.
        case down = "keydown"
        /// The key is released.
        case up = "keyup"
    }

    /// The key's name in the page: `a`.
    public var key: String
    /// The key's MIDI note; nil: the key has none.
    public var note: Int?
    /// Pressed or released.
    public var phase: Phase

    /// The MIDI notes.
    public static let notes = 0...127

    /// The keys of a visualizer's piano, from MIDI note 60 on: the two upper rows of letters in the pattern of a piano's keyboard.
    private static let piano = Array("awsedftgyhujkolp")

    /// The MIDI note of a key; nil for a key without one.
    public static func note(of key: String) -> Int? {
        guard let letter = key.first, key.count == 1 else { return nil }
        return piano.firstIndex(of: letter).map { 60 + $0 }
    }

    /// A stroke of that key.
    public init(key: String, note: Int?, phase: Phase) {
        self.key = key
        self.note = note
        self.phase = phase
    }

    public init?(_ event: Event) {
        guard event.type == .key else { return nil }
        self.init([event[0], event[1], event[2]])
    }

    /// The stroke of a `keyHandler` control.
    public init?(_ control: Control) {
        guard control.type == .keyHandler else { return nil }
        self.init(control.values)
    }

    private init?(_ values: [ParameterValue]) {
        guard let phase = values[2].string.flatMap(Phase.init) else { return nil }
        self.init(key: values[0].string ?? "", note: values[1].integer, phase: phase)
    }

    public func event(at time: Double) -> Event {
        Event(at: time, .key, .text(key), .optional(note), .text(phase.rawValue))
    }

    /// The report of this stroke by a page.
    public var control: Control {
        Control(.keyHandler, .text(key), .optional(note), .text(phase.rawValue))
    }
}

/// A message of a page to a handler that Hemiola does not have, such as one of the native program that the page was written for.
public struct PageMessage: EventRecord, Hashable {
    static let fields: [Field] = [
        .text("handler", "The handler that the page named."),
        .text("body", "The message as JSON text."),
    ]

    /// The handler that the page named.
    public var handler: String
    /// The message as JSON text.
    public var body: String

    /// A message to that handler.
    public init(handler: String, body: String) {
        self.handler = handler
        self.body = body
    }

    public init?(_ event: Event) {
        guard event.type == .message else { return nil }
        self.init(handler: event[0].string ?? "", body: event[1].string ?? "")
    }

    /// The message of a `pageMessage` control.
    public init?(_ control: Control) {
        guard control.type == .pageMessage else { return nil }
        self.init(handler: control["handler"].string ?? "", body: control["body"].string ?? "")
    }

    public func event(at time: Double) -> Event {
        Event(at: time, .message, .text(handler), .text(body))
    }
}
