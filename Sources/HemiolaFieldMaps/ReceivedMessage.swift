public import HemiolaRecords

/// A message of a device or of another program, in the words of a map of controls.
public struct ReceivedMessage: Sendable {
    /// What a map calls it: `/fader/1`, `note.36`, `controller.1`.
    public var name: String
    /// Its values, of which entries use the first.
    public var values: [ParameterValue]
    /// Whether it begins something, as a key that is pressed does, and one that is released does not. Entries with `when` are for these
    /// messages only.
    public var isStart: Bool
    /// Whether its value is a difference: of several that arrive together, all count.
    public var isRelative: Bool
    /// What `where` can compare besides `value`.
    public var fields: [String: ParameterValue]

    /// A message from its parts.
    public init(
        _ name: String, _ values: [ParameterValue], isStart: Bool = true, isRelative: Bool = false, fields: [String: ParameterValue] = [:]
    ) {
        self.name = name
        self.values = values
        self.isStart = isStart
        self.isRelative = isRelative
        self.fields = fields
    }
}

/// The messages of MIDI devices in maps of controls.
///
/// | name | value | begins |
/// |---|---|---|
/// | `note.0`…`note.127` | velocity; 0: released | when it is pressed |
/// | `controller.0`…`controller.127` | 0…127 | when it rises above 63 |
/// | `controller.0.steps`… | of a wheel without end: steps up, negative: down | with each message |
/// | `program.0`…`program.127` | the number | with each message |
public enum MIDISource {
    private static let kinds = ["note", "controller", "program"]
    private static let steps = "steps"

    /// The key of the channel, 1…16, for `where`.
    public static let channel = "channel"

    /// The name of a note.
    public static func note(_ number: Int) -> String { "note.\(number)" }
    /// The name of a controller.
    public static func controller(_ number: Int) -> String { "controller.\(number)" }
    /// The name of a controller whose values are steps: 1…63 up, 127…65 down.
    public static func steps(_ number: Int) -> String { "controller.\(number).\(steps)" }
    /// The name of a program.
    public static func program(_ number: Int) -> String { "program.\(number)" }

    /// What is wrong with a name; nil: nothing.
    public static func fault(in name: String) -> String? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isValid =
            isMessage(name) && (parts.count == 2 || parts.count == 3 && parts[0] == kinds[1] && parts[2] == steps)
            && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) } && Int(parts[1]).map { (0...127).contains($0) } == true
        return isValid
            ? nil : "\"\(name)\" is no MIDI message; write note.N, controller.N, controller.N.steps or program.N, with N from 0 to 127"
    }

    /// Whether a name begins as that of a MIDI message does.
    static func isMessage(_ name: String) -> Bool {
        kinds.contains { name.hasPrefix("\($0).") }
    }
}
