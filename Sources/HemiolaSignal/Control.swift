/// A wish from outside: from a client of a sink, a key, or a replayed file.
public enum Control: Sendable, Hashable {
    // The beat
    case tap
    /// nil unlocks.
    case lockTempo(beatsPerMinute: Double?)
    case halveTempo
    case doubleTempo
    case setDownbeat
    case resetTempo
    // The show
    case nextPreset
    case previousPreset
    case randomPreset
    case loadPreset(name: String)
    case lockPreset(Bool)
    case toggleCycle
    /// 0.1…1.0.
    case setSpeed(Double)
    // What a visualizer reports
    case ready(presets: [String])
    case presetNames([String])
    case presetChanged(name: String)
    case speedChanged(Double)
    case key(KeyStroke)

    /// Its name in the records and in the visualizer protocol.
    public var name: String {
        switch self {
        case .tap: "tap"
        case .lockTempo: "lockTempo"
        case .halveTempo: "halveTempo"
        case .doubleTempo: "doubleTempo"
        case .setDownbeat: "setDownbeat"
        case .resetTempo: "resetTempo"
        case .nextPreset: "nextPreset"
        case .previousPreset: "previousPreset"
        case .randomPreset: "randomPreset"
        case .loadPreset: "loadPreset"
        case .lockPreset: "lockPreset"
        case .toggleCycle: "toggleCycle"
        case .setSpeed: "setSpeed"
        case .ready: "ready"
        case .presetNames: "presetNames"
        case .presetChanged: "presetHandler"
        case .speedChanged: "speedHandler"
        case .key: "keyHandler"
        }
    }
}

/// A control with the batch it takes effect in.
public struct StampedControl: Sendable, Hashable {
    public var control: Control
    /// The first frame of the batch that obeys it.
    public var frame: Int64
    /// Who wished it: the sink's name, with the client's after a slash where there are several.
    public var origin: String

    public init(_ control: Control, at frame: Int64, from origin: String) {
        self.control = control
        self.frame = frame
        self.origin = origin
    }
}

/// What became of a control.
public enum ControlReply: Sendable, Hashable {
    /// It has taken effect.
    case done
    /// It cannot be obeyed, and why.
    case refused(String)
    /// The inbox is full; try again.
    case busy
}
