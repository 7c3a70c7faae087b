/// A wish from outside: from a client of a sink, a key, or a replayed file.
public enum Control: Sendable, Hashable {
    // The beat
    /// The user taps on a beat.
    case tap
    /// nil unlocks.
    case lockTempo(beatsPerMinute: Double?)
    /// The tempo is half of what the tracker believes.
    case halveTempo
    /// The tempo is twice what the tracker believes.
    case doubleTempo
    /// The beat next to this moment is the first of its bar.
    case setDownbeat
    /// The tracker forgets what it believes and starts anew.
    case resetTempo
    // The show
    /// On to the next preset of the list.
    case nextPreset
    /// Back to the preset before.
    case previousPreset
    /// On to any preset.
    case randomPreset
    /// On to the preset of that name.
    case loadPreset(name: String)
    /// Keeps the preset that is shown, or lets go of it.
    case lockPreset(Bool)
    /// Presets change by themselves from here on, or no longer.
    case toggleCycle
    /// 0.1…1.0.
    case setSpeed(Double)
    // What a visualizer reports
    /// The page can be driven now; these are its presets.
    case ready(presets: [String])
    /// The presets that the page has.
    case presetNames([String])
    /// The page shows another preset.
    case presetChanged(name: String)
    /// The page cannot show the preset of that name.
    case presetRefused(name: String)
    /// The page runs at another speed, 0.1…1.0.
    case speedChanged(Double)
    /// A key was played in the page.
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
        case .presetRefused: "presetRefused"
        case .speedChanged: "speedHandler"
        case .key: "keyHandler"
        }
    }
}

/// A control with the batch it takes effect in.
public struct StampedControl: Sendable, Hashable {
    /// The wish.
    public var control: Control
    /// The first frame of the batch that obeys it.
    public var frame: Int64
    /// Who wished it: the sink's name, with the client's after a slash where there are several.
    public var origin: String

    /// A wish, the first frame of the batch that obeys it, and who wished it.
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
