/// A field of a record or of a control, declared once by the component that emits the record or handles the control.
///
/// JSON encoding, CSV columns, `hemiola schema`, `hemiola send`, replay and clients all read this declaration.
public struct Field: Sendable, Hashable {
    /// The type of a field's value.
    public enum Kind: Sendable, Hashable {
        /// A whole number.
        case integer
        /// A number in the field's unit, written with a decimal point.
        case number
        /// True or false.
        case boolean
        /// Any text.
        case text
        /// One of these texts.
        case choice([String])
        /// A list of texts.
        case texts
        /// A list of numbers in the field's unit. In an `event` record, in the unit of the analyzer's output.
        case numbers

        /// The name of the type in declarations: in `hello`, and in the JSON of a plugin page.
        public var name: String {
            switch self {
            case .integer: "integer"
            case .number: "number"
            case .boolean: "boolean"
            case .text: "text"
            case .choice: "choice"
            case .texts: "texts"
            case .numbers: "numbers"
            }
        }
    }

    /// Where the value of a record's field comes from.
    public enum Source: Sendable, Hashable {
        /// The event stores it.
        case stored
        /// The same text in every record.
        case constant(String)
        /// The event's time as a whole number of frames.
        case frame
        /// The end, in stream time, of the batch after which the record is written.
        case emittedTime
        /// The event's time minus `emittedTime`.
        case timeUntilEvent
        /// Another field, a number of frames, in seconds.
        case seconds(ofFramesIn: String)
    }

    /// `snake_case`, with its unit when it has one. The key in JSON, the column in a table.
    public var name: String
    /// The type of its value.
    public var kind: Kind
    /// Where a record takes its value from. Fields of controls are stored.
    public var source: Source
    /// The unit of its numbers, which also determines how many digits are written.
    public var unit: Unit
    /// The smallest value, where there is one.
    public var minimum: Double?
    /// The largest value, where there is one.
    public var maximum: Double?
    /// Whether its value may be null.
    public var isNullable: Bool
    /// The value of a control's field that is not given; nil: it has to be given.
    public var defaultValue: ParameterValue?
    /// One sentence.
    public var summary: String

    init(
        _ name: String, _ kind: Kind, source: Source = .stored, unit: Unit = .none, in range: ClosedRange<Double>? = nil,
        minimum: Double? = nil, isNullable: Bool = false, defaultValue: ParameterValue? = nil, _ summary: String
    ) {
        self.name = name
        self.kind = kind
        self.source = source
        self.unit = unit
        self.minimum = range?.lowerBound ?? minimum
        self.maximum = range?.upperBound
        self.isNullable = isNullable
        self.defaultValue = defaultValue
        self.summary = summary
    }
}

extension Field {
    /// A whole number.
    ///
    /// - Parameters:
    ///   - name: The key in JSON: `snake_case`, with its unit when it has one.
    ///   - nullable: Whether it may be null.
    ///   - range: The values that can occur.
    ///   - defaultValue: In a control, the value where none is given; nil: it has to be given.
    ///   - summary: One sentence.
    public static func integer(
        _ name: String, nullable: Bool = false, in range: ClosedRange<Int>? = nil, default defaultValue: ParameterValue? = nil,
        _ summary: String
    ) -> Field {
        let range = range.map { Double($0.lowerBound)...Double($0.upperBound) }
        return Field(name, .integer, in: range, isNullable: nullable, defaultValue: defaultValue, summary)
    }

    /// A number.
    ///
    /// - Parameters:
    ///   - name: The key in JSON: `snake_case`, with its unit when it has one.
    ///   - unit: Its unit. It also determines how many digits are written.
    ///   - nullable: Whether it may be null. A value that is not finite is written as null.
    ///   - range: The values that can occur.
    ///   - minimum: The smallest value that can occur, where there is no largest one.
    ///   - defaultValue: In a control, the value where none is given; nil: it has to be given.
    ///   - summary: One sentence.
    public static func number(
        _ name: String, unit: Unit = .none, nullable: Bool = false, in range: ClosedRange<Double>? = nil, minimum: Double? = nil,
        default defaultValue: ParameterValue? = nil, _ summary: String
    ) -> Field {
        Field(
            name, .number, unit: unit, in: range, minimum: minimum, isNullable: nullable, defaultValue: defaultValue, summary)
    }

    /// True or false.
    public static func boolean(_ name: String, default defaultValue: ParameterValue? = nil, _ summary: String) -> Field {
        Field(name, .boolean, defaultValue: defaultValue, summary)
    }

    /// Any text.
    public static func text(
        _ name: String, nullable: Bool = false, default defaultValue: ParameterValue? = nil, _ summary: String
    ) -> Field {
        Field(name, .text, isNullable: nullable, defaultValue: defaultValue, summary)
    }

    /// One of a few texts.
    public static func choice(
        _ name: String, of choices: [String], default defaultValue: ParameterValue? = nil, _ summary: String
    ) -> Field {
        Field(name, .choice(choices), defaultValue: defaultValue, summary)
    }

    /// A list of texts.
    public static func texts(_ name: String, default defaultValue: ParameterValue? = nil, _ summary: String) -> Field {
        Field(name, .texts, defaultValue: defaultValue, summary)
    }

    /// A list of numbers in one unit.
    public static func numbers(_ name: String, unit: Unit = .none, _ summary: String) -> Field {
        Field(name, .numbers, unit: unit, summary)
    }

    /// A text that is the same in every record.
    public static func constant(_ name: String, _ text: String, _ summary: String) -> Field {
        Field(name, .choice([text]), source: .constant(text), summary)
    }

    /// A number of frames, stored in the field of that name, in seconds.
    public static func seconds(_ name: String, ofFramesIn frames: String, _ summary: String) -> Field {
        Field(name, .number, source: .seconds(ofFramesIn: frames), unit: .seconds, minimum: 0, summary)
    }

    /// `frame`: the event's time as a whole number of frames.
    public static let frame = Field("frame", .integer, source: .frame, "The same as a whole number of frames.")

    /// `emitted_t`: the end, in stream time, of the batch after which the record is written.
    public static let emittedTime = Field(
        "emitted_t", .number, source: .emittedTime, unit: .seconds,
        "The end, in stream time, of the batch after which the line stands.")

    /// `due_in_s`: the event's time minus `emitted_t`; positive for an event that is announced ahead.
    public static let timeUntilEvent = Field(
        "due_in_s", .number, source: .timeUntilEvent, unit: .seconds,
        "t − emitted_t: positive when it is announced ahead.")

    /// Widens the declaration so that it also accepts the values of another field of the same JSON type.
    mutating func widen(toAccept other: Field) {
        switch (kind, other.kind) {
        case (.choice(let own), .choice(let others)): kind = .choice(own + others.filter { !own.contains($0) })
        case (.choice, .text): kind = .text
        default: break
        }
        minimum = minimum.flatMap { own in other.minimum.map { min(own, $0) } }
        maximum = maximum.flatMap { own in other.maximum.map { max(own, $0) } }
        isNullable = isNullable || other.isNullable
    }

    /// Whether a value is of the declared type. Ranges are not checked: they are the handler's.
    public func accepts(_ value: ParameterValue) -> Bool {
        switch (kind, value) {
        case (_, .none): isNullable
        case (.integer, .integer), (.number, .number), (.boolean, .boolean), (.text, .text): true
        case (.choice(let choices), .text(let text)): choices.contains(text)
        case (.texts, .list(let items)): items.allSatisfy { if case .text = $0 { true } else { false } }
        case (.numbers, .list(let items)): items.allSatisfy { if case .number = $0 { true } else { false } }
        default: false
        }
    }
}
