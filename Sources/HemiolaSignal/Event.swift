/// Something that happens at a moment: what analyzers find, what directors decide, what befalls the stream.
public struct Event: Sendable, Hashable {
    /// When it happens, in seconds of audio since the stream's first frame. An announced beat lies ahead of its batch.
    public var time: Double
    public var payload: Payload

    public init(at time: Double, _ payload: Payload) {
        self.time = time
        self.payload = payload
    }

    public enum Payload: Sendable, Hashable {
        case onset(Onset)
        case beat(Beat)
        /// Any other sparse output of an analyzer.
        case finding(Finding)
        case preset(PresetChange)
        /// The visualizer's speed, 0.1…1.0.
        case speed(Double)
        case key(KeyStroke)
        case control(StampedControl)
        case device(DeviceNotice)
        case gap(Gap)
        case dropped(Loss)
    }
}

/// A note or stroke begins.
public struct Onset: Sendable, Hashable {
    /// How marked it is, 0…; 1 is an ordinary one.
    public var strength: Double

    public init(strength: Double) { self.strength = strength }
}

/// A beat, as found or announced.
public struct Beat: Sendable, Hashable {
    /// The tempo at this beat.
    public var beatsPerMinute: Double
    /// Its place in the bar, 1 = downbeat; nil when unknown.
    public var position: Int?
    /// 0…1.
    public var confidence: Double

    public init(beatsPerMinute: Double, position: Int?, confidence: Double) {
        self.beatsPerMinute = beatsPerMinute
        self.position = position
        self.confidence = confidence
    }
}

/// A sparse output of an analyzer that has no record type of its own.
public struct Finding: Sendable, Hashable {
    /// The analyzer's name in this pipeline; set by the engine.
    public var analyzer: String
    /// Which of its declared event outputs.
    public var output: String
    /// In seconds; nil for a moment.
    public var duration: Double?
    public var values: [Double]
    public var label: String

    public init(output: String, duration: Double? = nil, values: [Double] = [], label: String = "") {
        analyzer = ""
        self.output = output
        self.duration = duration
        self.values = values
        self.label = label
    }
}

/// The visualizer shall show another preset.
public struct PresetChange: Sendable, Hashable {
    public enum Cut: String, Sendable, Hashable, CaseIterable { case soft, hard }
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        case start, timer, bar, beat, drop, request, page, refused
        case hardCut = "hard-cut"
    }

    public var name: String
    public var cut: Cut
    /// Seconds from the old picture to the new.
    public var blend: Double
    public var reason: Reason

    public init(name: String, cut: Cut, blend: Double, reason: Reason) {
        self.name = name
        self.cut = cut
        self.blend = blend
        self.reason = reason
    }
}

/// A key was played in a visualizer.
public struct KeyStroke: Sendable, Hashable {
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        case down = "keydown"
        case up = "keyup"
    }

    public var key: String
    /// The MIDI note it stands for, where it stands for one.
    public var note: Int?
    public var phase: Phase

    public init(key: String, note: Int?, phase: Phase) {
        self.key = key
        self.note = note
        self.phase = phase
    }
}

/// A live capture opened, moved or lost its source.
public struct DeviceNotice: Sendable, Hashable {
    public enum State: String, Sendable, Hashable, CaseIterable { case opened, moved, lost }

    public var name: String
    public var summary: String
    public var state: State
    public var format: StreamFormat

    public init(name: String, summary: String, state: State, format: StreamFormat) {
        self.name = name
        self.summary = summary
        self.state = state
        self.format = format
    }
}

/// A sink, or one of its clients, fell behind and lost batches (live only).
public struct Loss: Sendable, Hashable {
    public var sink: String
    public var client: String?
    /// Since the last such record.
    public var batches: Int

    public init(sink: String, client: String? = nil, batches: Int) {
        self.sink = sink
        self.client = client
        self.batches = batches
    }
}
