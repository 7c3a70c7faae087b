/// A named value: a key of a record, a field of a control, or a setting of a plugin, declared once by the component that has it.
///
/// Values are parsed and checked by this declaration alone (``parse(_:)``, ``fault(of:)``); JSON, CSV columns, `hemiola schema`, `hemiola send`,
/// `hemiola plugins`, completions, replay and clients read it.
public struct Field: Sendable, Hashable {
    /// The type of a field's value.
    public indirect enum Kind: Sendable, Hashable {
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
        /// A list. Numbers are in the field's unit; in an `event` record, in the unit of the analyzer's output.
        case list(of: Kind)
        /// A program to start: text for the shell, or a list of the program and its arguments.
        case command
        /// An object with these keys. Settings, controls and events have no objects.
        case object([Field])
        /// An object whose keys depend on the pipeline. Its numbers may be counts, without a decimal point.
        case table(of: Kind)
        /// The value of a setting or of a summary: anything but an object.
        case parameter
        /// The kind, or null: of the values of a list or a table. The value of a field is null by `isNullable`.
        case nullable(Kind)

        /// A list of texts.
        public static let texts = Kind.list(of: .text)
        /// A list of numbers; null where one is missing.
        public static let numbers = Kind.list(of: .nullable(.number))

        /// The name of the type in declarations: in `hello`, and in the JSON of a plugin page.
        public var name: String {
            switch self {
            case .integer: "integer"
            case .number: "number"
            case .boolean: "boolean"
            case .text: "text"
            case .choice: "choice"
            case .list(.text), .list(.choice): "texts"
            case .list: "numbers"
            case .command: "command"
            case .object, .table: "object"
            case .parameter: "parameter"
            case .nullable(let kind): kind.name
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
    /// Whether a record may be without it.
    public var isOptional: Bool
    /// The number of values of a list, where it is fixed.
    public var count: Int?
    /// The value of a setting or of a control's field that is not given; nil: it has to be given.
    public var defaultValue: ParameterValue?
    /// A value for the examples of the manual; nil: the name in capitals for a text, the default for others.
    public var example: String?
    /// One sentence.
    public var summary: String

    init(
        _ name: String, _ kind: Kind, source: Source = .stored, unit: Unit = .none, in range: ClosedRange<Double>? = nil,
        minimum: Double? = nil, isNullable: Bool = false, isOptional: Bool = false, count: Int? = nil, defaultValue: ParameterValue? = nil,
        example: String? = nil, _ summary: String
    ) {
        self.name = name
        self.kind = kind
        self.source = source
        self.unit = unit
        self.minimum = range?.lowerBound ?? minimum
        self.maximum = range?.upperBound
        self.isNullable = isNullable
        self.isOptional = isOptional
        self.count = count
        self.defaultValue = defaultValue
        self.example = example
        self.summary = summary
    }
}

extension Field {
    /// A whole number.
    ///
    /// - Parameters:
    ///   - name: The key in JSON: `snake_case`, with its unit when it has one.
    ///   - unit: Its unit.
    ///   - nullable: Whether it may be null.
    ///   - range: The values that can occur.
    ///   - defaultValue: In a control, the value where none is given; nil: it has to be given.
    ///   - summary: One sentence.
    public static func integer(
        _ name: String, unit: Unit = .none, nullable: Bool = false, in range: ClosedRange<Int>? = nil,
        default defaultValue: ParameterValue? = nil, _ summary: String
    ) -> Field {
        let range = range.map { Double($0.lowerBound)...Double($0.upperBound) }
        return Field(name, .integer, unit: unit, in: range, isNullable: nullable, defaultValue: defaultValue, summary)
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
        _ name: String, nullable: Bool = false, default defaultValue: ParameterValue? = nil, example: String? = nil, _ summary: String
    ) -> Field {
        Field(name, .text, isNullable: nullable, defaultValue: defaultValue, example: example, summary)
    }

    /// One of a few texts.
    public static func choice(
        _ name: String, of choices: [String], nullable: Bool = false, default defaultValue: ParameterValue? = nil, _ summary: String
    ) -> Field {
        Field(name, .choice(choices), isNullable: nullable, defaultValue: defaultValue, summary)
    }

    /// A category in an event's record: its text, and beside it its number among the labels, as a ``Feature`` with these labels has them.
    ///
    /// The event stores two values: ``ParameterValue/text(_:)`` and ``ParameterValue/integer(_:)``.
    public static func category(_ name: String, labels: [String], nullable: Bool = false, _ summary: String) -> [Field] {
        [
            .choice(name, of: labels, nullable: nullable, summary),
            .integer(
                Feature.numberName(of: name), nullable: nullable, in: 0...max(labels.count - 1, 0), "The number of \(name), from 0 on."),
        ]
    }

    /// Any number of a few texts.
    public static func choices(_ name: String, of choices: [String], default defaultValue: ParameterValue? = nil, _ summary: String)
        -> Field
    {
        Field(name, .list(of: .choice(choices)), defaultValue: defaultValue, summary)
    }

    /// A program to start; by default none.
    public static func command(_ name: String, example: String, _ summary: String) -> Field {
        Field(name, .command, defaultValue: .text(""), example: example, summary)
    }

    /// A list of texts.
    public static func texts(
        _ name: String, default defaultValue: ParameterValue? = nil, example: String? = nil, _ summary: String
    ) -> Field {
        Field(name, .texts, defaultValue: defaultValue, example: example, summary)
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
        "When the line is written, in stream time.")

    /// `due_in_s`: the event's time minus `emitted_t`; positive if it is announced ahead, negative if it is found afterwards.
    public static let timeUntilEvent = Field(
        "due_in_s", .number, source: .timeUntilEvent, unit: .seconds,
        "t − emitted_t: positive when it is announced ahead, negative when it is found afterwards.")

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
}
