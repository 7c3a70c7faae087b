public import HemiolaSystem

/// A type of control message, declared once by the component that handles it.
///
///     static let setDepth = ControlType(
///         "setDepth", "Sets the depth of the reverb.", fields: [.number("depth", in: 0...1, "0 (dry) to 1 (wet).")])
///
/// A plugin names the controls that it handles in its declaration (`controls:`). `hemiola send`, the socket, shell completion and
/// replay have them then.
public final class ControlType: Sendable {
    /// Its name in records and in the visualizer protocol: `camelCase`, unique in a program.
    public let name: String
    /// One sentence, imperative: what it does.
    public let summary: String
    /// Its fields. `hemiola send NAME VALUE` sets the first.
    public let fields: [Field]

    /// Declares a type of control.
    public init(_ name: String, _ summary: String, fields: [Field] = []) {
        self.name = name
        self.summary = summary
        self.fields = fields
        precondition(Set(fields.map(\.name)).count == fields.count, "field names are unique: \(name)")
        precondition(fields.allSatisfy { $0.source == .stored }, "the fields of a control are stored: \(name)")
    }
}

/// Types are equal by name: a program has one declaration for each.
extension ControlType: Hashable {
    public static func == (one: ControlType, other: ControlType) -> Bool {
        one === other || one.name == other.name
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

/// A control message: from a client of a sink, a key of the terminal, or a replayed file.
public struct Control: Sendable, Hashable {
    /// Its declared type.
    public let type: ControlType
    /// A value for each declared field, in their order; `.none` where it is null.
    public private(set) var values: [ParameterValue]

    /// Its name in records and in the visualizer protocol.
    public var name: String { type.name }

    /// A control with values for its fields, in the order of the declaration; missing ones have their defaults.
    public init(_ type: ControlType, _ values: ParameterValue...) {
        precondition(values.count <= type.fields.count, "the control \(type.name) has \(type.fields.count) fields")
        self.type = type
        self.values = values + type.fields[values.count...].map { $0.defaultValue ?? .none }
    }

    /// A control with a value for every field.
    ///
    /// - Throws: The first field that has none, or a value of another type. Ranges are checked when it is submitted.
    public init(_ type: ControlType, fields: (Field) -> ParameterValue?) throws(Problem) {
        self.type = type
        values = []
        for field in type.fields {
            guard let value = fields(field) ?? field.defaultValue else {
                throw Problem("the control \(type.name) needs its \"\(field.name)\"")
            }
            guard field.accepts(value) else { throw Problem(field.typeFault) }
            values.append(value)
        }
    }

    /// The value of a field; `.none` when it is null or when the type has no such field.
    ///
    /// - Complexity: O(fields).
    public subscript(_ field: String) -> ParameterValue {
        get { type.fields.firstIndex { $0.name == field }.map { values[$0] } ?? .none }
        set {
            guard let place = type.fields.firstIndex(where: { $0.name == field }) else { return }
            values[place] = newValue
        }
    }

    /// That a value has another type than its field or is outside the field's range; nil: none is.
    package var fault: String? {
        zip(type.fields, values).lazy.compactMap { field, value in value == .none ? nil : field.fault(of: value) }.first
    }
}

extension Control: CustomStringConvertible {
    /// Its name and values, for messages of tests.
    public var description: String {
        zip(type.fields, values).reduce(name) { "\($0) \($1.0.name)=\($1.1)" }
    }
}

/// A control with the batch in which it takes effect.
public struct StampedControl: Sendable, Hashable {
    /// The control.
    public var control: Control
    /// The first frame of the batch in which it takes effect.
    public var frame: Int64
    /// The sender: the sink's name, with the client's after a slash where there are several.
    public var origin: String
    /// In the event of a control that switches something: whether that is on after it, as the handler's reply says. For the sinks of the run,
    /// and no part of the record; nil: not known, or the control switches nothing.
    public var isOn: Bool?

    /// A control, the first frame of the batch in which it takes effect, and its sender.
    public init(_ control: Control, at frame: Int64, from origin: String) {
        self.control = control
        self.frame = frame
        self.origin = origin
    }
}

/// The reply to a control.
public enum ControlReply: Sendable, Hashable {
    /// It has taken effect.
    case done
    /// It has taken effect, and what it switches is on or off now.
    case switched(Bool)
    /// It has no effect, and why.
    case refused(String)
    /// The inbox is full; try again.
    case busy

    /// Whether the control has taken effect.
    public var isDone: Bool {
        switch self {
        case .done, .switched: true
        case .refused, .busy: false
        }
    }

    /// The refusal of a control for which a handler has no code.
    public static func unknown(_ control: Control) -> ControlReply {
        .refused("nothing here handles \(control.name)")
    }
}
