/// A type of event record, declared once by the component that emits it.
///
///     static let clap = RecordType(
///         "clap", "Two hands meet.", fields: [.number("strength", in: 0...1, "The loudest claps have 1.")])
///     …
///     events.append(Event(at: 1.5, clap, .number(0.8)))
///
/// A record begins with its `type` and its time `t`, in seconds; the declared fields follow in their order. A plugin names the types that
/// it emits in its declaration (`records:`), so that every sink and every command has them.
public final class RecordType: Sendable {
    /// The value of the key `type`: `snake_case`, unique in a program.
    public let name: String
    /// One sentence: when it is emitted.
    public let summary: String
    /// Its fields after `type` and `t`, in the order in which they are written.
    public let fields: [Field]
    /// For each field, the place of its value in an event; -1: the value is not stored.
    let slots: [Int]

    /// Declares a type of record.
    ///
    /// - Parameters:
    ///   - name: Unique in a program; not the name of a type that Hemiola declares.
    ///   - summary: One sentence: when it is emitted.
    ///   - fields: At most ``Event/capacity`` of them are stored.
    public init(_ name: String, _ summary: String, fields: [Field]) {
        self.name = name
        self.summary = summary
        self.fields = fields
        var count = 0
        slots = fields.map { field in
            guard field.source == .stored else { return -1 }
            defer { count += 1 }
            return count
        }
        precondition(count <= Event.capacity, "a record stores at most \(Event.capacity) fields: \(name)")
        precondition(Set(fields.map(\.name)).count == fields.count, "field names are unique: \(name)")
    }

    /// The place of a stored field's value in an event, 0…``Event/capacity``-1; nil when there is no such field.
    ///
    /// Who reads a field of many events looks its place up once, and reads `event[place]`, which is no search by name.
    ///
    /// - Complexity: O(fields).
    public func slot(of field: String) -> Int? {
        fields.firstIndex { $0.name == field }.flatMap { slots[$0] < 0 ? nil : slots[$0] }
    }
}

/// Types are equal by name: a program has one declaration for each.
extension RecordType: Hashable {
    public static func == (one: RecordType, other: RecordType) -> Bool {
        one === other || one.name == other.name
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

/// A Swift type for the records of one type: typed access instead of values by position.
public protocol EventRecord: Sendable {
    /// The record of an event; nil when the event is of another type.
    init?(_ event: Event)
    /// The event of this record at a time, in seconds since the stream's first frame.
    func event(at time: Double) -> Event
}
