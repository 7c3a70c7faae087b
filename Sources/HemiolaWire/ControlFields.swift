public import HemiolaSignal

/// What a control carries, flat, by the names and types of records and of the visualizer protocol, before it is known to be a
/// control. Whoever has a decoder reads it.
public struct ControlFields: Sendable, Hashable, Decodable {
    /// Beats a minute; `lockTempo` without it unlocks.
    public var bpm: Double?
    /// A preset's name.
    public var name: String?
    /// Whether the preset is kept.
    public var locked: Bool?
    /// 0.1…1.0.
    public var speed: Double?
    /// What a page has, when it is ready.
    public var presets: [String]?
    /// What a page has, when it is asked.
    public var names: [String]?
    /// A key's name in the page.
    public var key: String?
    /// The MIDI note that it stands for.
    public var note: Int?
    /// `keydown` or `keyup`.
    public var event: String?

    /// Nothing.
    public init() {}

    /// The names of the fields.
    public enum CodingKeys: String, CodingKey, CaseIterable {
        /// Each is a property's.
        case bpm, name, locked, speed, presets, names, key, note, event
    }

    /// The names of all controls, in the order of the manual: first the wishes, then what a visualizer reports.
    public static let controlNames = [
        "nextPreset", "previousPreset", "randomPreset", "loadPreset", "lockPreset", "toggleCycle", "setSpeed", "tap", "lockTempo",
        "halveTempo", "doubleTempo", "setDownbeat", "resetTempo", "ready", "presetNames", "presetHandler", "presetRefused",
        "speedHandler", "keyHandler",
    ]

    /// The control of a name, with these fields.
    ///
    /// - Parameter control: One of `controlNames`, which are those of `Control.name`.
    /// - Throws: What is missing, or that there is no such control.
    public func control(_ control: String) throws(ControlFault) -> Control {
        switch control {
        case "tap": .tap
        case "lockTempo": .lockTempo(beatsPerMinute: bpm)
        case "halveTempo": .halveTempo
        case "doubleTempo": .doubleTempo
        case "setDownbeat": .setDownbeat
        case "resetTempo": .resetTempo
        case "nextPreset": .nextPreset
        case "previousPreset": .previousPreset
        case "randomPreset": .randomPreset
        case "loadPreset": .loadPreset(name: try need(name, "name", control))
        case "lockPreset": .lockPreset(try need(locked, "locked", control))
        case "toggleCycle": .toggleCycle
        case "setSpeed": .setSpeed(try need(speed, "speed", control))
        case "ready": .ready(presets: try need(presets, "presets", control))
        case "presetNames": .presetNames(try need(names, "names", control))
        case "presetHandler": .presetChanged(name: try need(name, "name", control))
        case "presetRefused": .presetRefused(name: try need(name, "name", control))
        case "speedHandler": .speedChanged(try need(speed, "speed", control))
        case "keyHandler":
            .key(
                KeyStroke(
                    key: try need(key, "key", control), note: note,
                    phase: try need(event.flatMap(KeyStroke.Phase.init), "event", control)))
        default: throw ControlFault(message: "there is no control \"\(control)\"")
        }
    }

    private func need<Value>(_ value: Value?, _ key: String, _ control: String) throws(ControlFault) -> Value {
        guard let value else { throw ControlFault(message: "the control \(control) needs its \"\(key)\"") }
        return value
    }
}

/// Why fields are no control.
public struct ControlFault: Error, Sendable, Hashable {
    /// In words.
    public var message: String

    /// A fault in words.
    public init(message: String) {
        self.message = message
    }
}
