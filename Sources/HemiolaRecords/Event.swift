/// An event of a stream: a time, a declared type, and the values of its fields.
///
/// Emitted by analyzers and directors, and by the engine for what happens to the stream. The values are stored inline, so that an event
/// without text is emitted without a memory allocation.
public struct Event: Sendable {
    /// Values that an event can store.
    public static let capacity = 8

    /// Its time, in seconds of audio since the stream's first frame. An announced beat is later than the end of its batch.
    public var time: Double
    /// Its declared type.
    public let type: RecordType
    private var values: InlineArray<8, ParameterValue>
    /// The control that took effect, in a record of type ``RecordType/control``; nil in every other.
    public let control: StampedControl?
    /// The line of a record that the program does not declare, in UTF-8 without a newline; nil in every other event.
    ///
    /// Its type has no fields. A sink that writes JSON passes the line on unread, as ``RecordEncoder`` does; any other leaves the event out.
    public let line: [UInt8]?

    /// An event with the values of its stored fields, in the order of the declaration. Constant cost, no allocation.
    public init(
        at time: Double, _ type: RecordType, _ value0: ParameterValue = .none, _ value1: ParameterValue = .none,
        _ value2: ParameterValue = .none, _ value3: ParameterValue = .none, _ value4: ParameterValue = .none,
        _ value5: ParameterValue = .none, _ value6: ParameterValue = .none, _ value7: ParameterValue = .none
    ) {
        self.time = time
        self.type = type
        values = [value0, value1, value2, value3, value4, value5, value6, value7]
        control = nil
        line = nil
    }

    /// The event of a typed record.
    public init(at time: Double, _ record: some EventRecord) {
        self = record.event(at: time)
    }

    /// The event of a control that took effect.
    public init(at time: Double, _ control: StampedControl) {
        self.time = time
        type = .control
        values = InlineArray(repeating: .none)
        self.control = control
        line = nil
    }

    /// The event of a record whose type, or whose control, the program does not declare.
    ///
    /// - Parameters:
    ///   - time: Its time, in seconds.
    ///   - type: The value of its key `type`.
    ///   - line: The record, without a newline.
    init(at time: Double, undeclared type: String, line: [UInt8]) {
        self.time = time
        self.type = RecordType(type, "A record of another program.", fields: [])
        values = InlineArray(repeating: .none)
        control = nil
        self.line = line
    }

    /// The value of the stored field with that place in the declaration, 0…``capacity``-1.
    public subscript(_ place: Int) -> ParameterValue {
        get { values[place] }
        set { values[place] = newValue }
    }

    /// The value of a stored field; `.none` when its type has no such field.
    ///
    /// - Complexity: O(fields).
    public subscript(_ field: String) -> ParameterValue {
        type.slot(of: field).map { values[$0] } ?? .none
    }
}

/// For tests: an analyzer that was reset emits the same events as a new one.
extension Event: Equatable {
    public static func == (one: Event, other: Event) -> Bool {
        one.time == other.time && one.type == other.type && one.control == other.control && one.line == other.line
            && (0..<capacity).allSatisfy { one.values[$0] == other.values[$0] }
    }
}

extension Event: CustomStringConvertible {
    /// Its time, type and values, for messages of tests.
    public var description: String {
        if let control {
            return "\(time) control \(control.control) frame \(control.frame) from \(control.origin)"
        }
        var text = "\(time) \(type.name)"
        for (field, slot) in zip(type.fields, type.slots) where slot >= 0 { text += " \(field.name)=\(values[slot])" }
        return text
    }
}
