/// Something that happens at a moment: what analyzers find, what directors decide, what befalls the stream.
public struct Event: Sendable, Hashable {
    /// When it happens, in seconds of audio since the stream's first frame. An announced beat lies ahead of its batch.
    public var time: Double
    /// What happens.
    public var payload: Payload

    /// Something that happens at a time, in seconds since the stream's first frame.
    public init(at time: Double, _ payload: Payload) {
        self.time = time
        self.payload = payload
    }

    /// What can happen.
    public enum Payload: Sendable, Hashable {
        /// A note or stroke begins.
        case onset(Onset)
        /// A beat, as found or announced.
        case beat(Beat)
        /// Any other sparse output of an analyzer.
        case finding(Finding)
        /// The visualizer shall show another preset.
        case preset(PresetChange)
        /// The visualizer's speed, 0.1…1.0.
        case speed(Double)
        /// A key was played in a visualizer.
        case key(KeyStroke)
        /// A wish took effect.
        case control(StampedControl)
        /// A live capture opened, moved or lost its source.
        case device(DeviceNotice)
        /// Audio was lost.
        case gap(Gap)
        /// A sink or client fell behind.
        case dropped(Loss)
    }
}

/// A note or stroke begins.
public struct Onset: Sendable, Hashable {
    /// How marked it is, 0…; 1 is an ordinary one.
    public var strength: Double

    /// An onset of that strength.
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

    /// A beat of that tempo, place in the bar and confidence.
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
    /// Numbers, in the output's unit; often none or one.
    public var values: [Double]
    /// A word for it, empty where there is none.
    public var label: String

    /// A finding of one of the analyzer's outputs; the engine adds the analyzer's name.
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
    /// How one picture gives way to the next.
    public enum Cut: String, Sendable, Hashable, CaseIterable {
        /// `soft`: one picture blends into the next. `hard`: it is there at once.
        case soft, hard
    }

    /// Why the preset changes.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// `start`: the show begins. `timer`: its time is up; `bar`, `beat`: and a bar or beat has come. `drop`: the music dropped.
        /// `request`: a client asked. `page`: the page did it. `refused`: the page would not.
        case start, timer, bar, beat, drop, request, page, refused
        /// The music was loud enough for a hard cut.
        case hardCut = "hard-cut"
    }

    /// The preset's name.
    public var name: String
    /// How it comes.
    public var cut: Cut
    /// Seconds from the old picture to the new.
    public var blend: Double
    /// Why it comes.
    public var reason: Reason
    /// Seconds until time alone brings the next one; nil: it does not, or nobody knows.
    public var nextIn: Double?

    /// A change to the preset of that name, within `blend` seconds.
    public init(name: String, cut: Cut, blend: Double, reason: Reason, nextIn: Double? = nil) {
        self.name = name
        self.cut = cut
        self.blend = blend
        self.reason = reason
        self.nextIn = nextIn
    }
}

/// A key was played in a visualizer.
public struct KeyStroke: Sendable, Hashable {
    /// Which half of a stroke.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The key goes down.
        case down = "keydown"
        /// The key comes up.
        case up = "keyup"
    }

    /// The key's name in the page: `a`.
    public var key: String
    /// The MIDI note it stands for, where it stands for one.
    public var note: Int?
    /// Whether the key goes down or comes up.
    public var phase: Phase

    /// The keys of a visualizer's piano, from MIDI note 60 on: the letters where a keyboard's two upper rows look like one.
    private static let piano = Array("awsedftgyhujkolp")

    /// The MIDI note that a key stands for; nil for every other key.
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
}

/// A live capture opened, moved or lost its source.
public struct DeviceNotice: Sendable, Hashable {
    /// What has become of a source.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// `opened`: it is heard. `moved`: from here on another is heard. `lost`: it has gone.
        case opened, moved, lost
    }

    /// The source's name for programs.
    public var name: String
    /// Its name for people.
    public var summary: String
    /// What has become of it.
    public var state: State
    /// The format in which it is heard.
    public var format: StreamFormat

    /// A notice about the source of that name.
    public init(name: String, summary: String, state: State, format: StreamFormat) {
        self.name = name
        self.summary = summary
        self.state = state
        self.format = format
    }
}

/// A sink, or one of its clients, fell behind and lost batches or events (live only).
public struct Loss: Sendable, Hashable {
    /// The sink's name in this pipeline.
    public var sink: String
    /// Which of its clients; nil: the sink itself.
    public var client: String?
    /// Since the last such record.
    public var batches: Int
    /// Events and other lines, since the last such record: those beyond what is kept for a reader that has stopped.
    public var events: Int

    /// A loss of so many batches and events.
    public init(sink: String, client: String? = nil, batches: Int, events: Int = 0) {
        self.sink = sink
        self.client = client
        self.batches = batches
        self.events = events
    }
}
