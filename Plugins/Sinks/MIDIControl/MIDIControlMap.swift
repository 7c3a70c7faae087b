internal import HemiolaOutput
internal import HemiolaSignal

/// Which messages are which controls.
struct MIDIControlMap: Sendable {
    /// The messages of an entry.
    enum Trigger: Sendable, Hashable {
        /// A note of that number begins; the control has no value, or a fixed one.
        case note(Int)
        /// A controller of that number.
        case controller(Int)
    }

    /// The value of a control's first field.
    enum Value: Sendable, Hashable {
        /// The control has no field. A controller triggers it when it rises above 63: a pedal.
        case none
        case fixed(Double)
        /// True while the key is held.
        case held
        /// The controller's value 0…127, in this range.
        case absolute(ClosedRange<Double>)
        /// A wheel without end: 1…63 are steps up, 127…65 steps down, each of this size.
        case relative(Double)
    }

    struct Entry: Sendable, Hashable {
        var trigger: Trigger
        /// The name of a control that the program declares. An entry of another name has no effect.
        var control: String
        var value: Value
    }

    /// The map of the program: the README has the same table.
    static let standard = MIDIControlMap([
        Entry(trigger: .note(36), control: "tap", value: .none),
        Entry(trigger: .note(37), control: "setDownbeat", value: .none),
        Entry(trigger: .note(38), control: "previousPreset", value: .none),
        Entry(trigger: .note(39), control: "nextPreset", value: .none),
        Entry(trigger: .note(40), control: "randomPreset", value: .none),
        Entry(trigger: .note(41), control: "halveTempo", value: .none),
        Entry(trigger: .note(42), control: "doubleTempo", value: .none),
        Entry(trigger: .note(43), control: "blackout", value: .held),
        Entry(trigger: .note(44), control: "nudge", value: .fixed(-10)),
        Entry(trigger: .note(45), control: "nudge", value: .fixed(10)),
        Entry(trigger: .note(46), control: "toggleCycle", value: .none),
        Entry(trigger: .note(47), control: "resetTempo", value: .none),
        Entry(trigger: .controller(1), control: "setSpeed", value: .absolute(0.1...1)),
        Entry(trigger: .controller(16), control: "nudge", value: .relative(1)),
        Entry(trigger: .controller(64), control: "tap", value: .none),
    ])

    private let entries: [Trigger: Entry]

    /// All entries.
    let all: [Entry]

    init(_ entries: [Entry]) {
        all = entries
        self.entries = Dictionary(entries.map { ($0.trigger, $0) }) { first, _ in first }
    }

    /// Whether only the last value of a controller counts.
    func isAbsolute(controller: Int) -> Bool {
        if case .absolute = entries[.controller(controller)]?.value { true } else { false }
    }

    /// The control of a message; nil for a message without one, and for a control that the program does not declare.
    func control(for message: MIDIMessage, in catalog: RecordCatalog) -> Control? {
        let isNote = message.isNoteOn || message.isNoteOff
        guard isNote || message.isController,
            let entry = entries[isNote ? .note(Int(message[1])) : .controller(Int(message[1]))],
            let type = catalog.control(entry.control)
        else { return nil }
        let number = Int(message[2])
        switch entry.value {
        case .none:
            guard isNote ? message.isNoteOn : number > 63 else { return nil }
            return control(type, nil)
        case .fixed(let value): return message.isNoteOn ? control(type, .number(value)) : nil
        case .held: return control(type, .boolean(isNote ? message.isNoteOn : number > 63))
        case .absolute(let range):
            return control(type, .number(range.lowerBound + (range.upperBound - range.lowerBound) * Double(number) / 127))
        case .relative(let step):
            let steps = number < 64 ? number : number - 128
            return steps == 0 || number == 64 ? nil : control(type, .number(step * Double(steps)))
        }
    }

    /// The control with that value of its first field; nil if the field has another type.
    private func control(_ type: ControlType, _ value: ParameterValue?) -> Control? {
        let first = type.fields.first
        return try? Control(type) { field in field == first ? value : nil }
    }
}
