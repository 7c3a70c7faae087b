/// What the records consist of: one table, from which the JSON Schema and the column types are written, and against which
/// the tests hold every line.
public enum RecordSchema {
    /// A type of record.
    public struct Record: Sendable, Hashable {
        /// The value of its key `type`.
        public var type: String
        /// One sentence for people: when it comes.
        public var summary: String
        /// Its keys in the order in which they are written, after `type` and `file`. In a batch, the analyzers' objects come
        /// before `partial`.
        public var fields: [Field]
    }

    /// A key of a record, or of an object in it.
    public struct Field: Sendable, Hashable {
        /// The key.
        public var name: String
        /// The JSON type of its value.
        public var type: FieldType
        /// Whether the key may be missing.
        public var isOptional: Bool
        /// One sentence for people.
        public var summary: String

        init(_ name: String, _ type: FieldType, optional isOptional: Bool = false, _ summary: String) {
            self.name = name
            self.type = type
            self.isOptional = isOptional
            self.summary = summary
        }
    }

    /// The one JSON type that a key has in every record.
    public indirect enum FieldType: Sendable, Hashable {
        /// Without a decimal point.
        case integer
        /// Always with a decimal point.
        case number
        /// A number within what its feature declares.
        case measurement(minimum: Double?, maximum: Double?)
        /// True or false.
        case boolean
        /// Any text.
        case text
        /// One of these texts.
        case choice([String])
        /// Of so many elements, if that is settled.
        case list(FieldType, count: Int?)
        /// An object of these keys.
        case object([Field])
        /// An object whose keys depend on the pipeline.
        case table(FieldType)
        /// The value of a setting: anything but an object.
        case parameter
        /// The number of a summary: a measurement or a count.
        case figure
        /// The type, or null.
        case nullable(FieldType)
    }

    /// The keys that every record begins with.
    static let file = Field(
        "file", .text, optional: true, "The path as given; only when one run has several files.")
    static let fileBytes = Field(
        "file_base64", .text, optional: true, "The bytes of the path in Base64; only when they are not UTF-8.")
    static let common = [file, fileBytes]

    /// Names that an analyzer cannot have: its name is a key of the batch record, and a key has one type in every record.
    public static let reservedNames: Set<String> = Set(records.flatMap { $0.fields.map(\.name) } + ["type"] + common.map(\.name))
}
