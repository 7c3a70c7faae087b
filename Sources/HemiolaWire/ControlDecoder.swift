public import HemiolaSignal

/// Decodes controls from JSON: flat objects with the name of the control under one key and its declared fields beside it.
///
///     {"type":"setSpeed","speed":0.5}
///
/// Reads `control` records and messages of the visualizer protocol, from any `Decoder`. Keys that the control does not declare are
/// ignored.
public enum ControlDecoder {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The control of a declared type, with the fields of an object.
    ///
    /// - Returns: The control, or why its fields are invalid.
    /// - Throws: `DecodingError` when a field has another JSON type than its declaration.
    /// - Complexity: O(bytes of the declared fields).
    public static func control(_ type: ControlType, from decoder: any Decoder) throws -> Result<Control, ControlFault> {
        let object = try decoder.container(keyedBy: Key.self)
        var values: [String: ParameterValue] = [:]
        for field in type.fields {
            let key = Key(stringValue: field.name)
            guard object.contains(key) else { continue }
            if try object.decodeNil(forKey: key) {
                // null means that the field is not given, unless null is one of its values.
                if field.isNullable { values[field.name] = ParameterValue.none }
                continue
            }
            values[field.name] =
                switch field.kind {
                case .integer: .integer(try object.decode(Int.self, forKey: key))
                case .number: .number(try object.decode(Double.self, forKey: key))
                case .boolean: .boolean(try object.decode(Bool.self, forKey: key))
                case .text, .choice: .text(try object.decode(String.self, forKey: key))
                case .texts: .texts(try object.decode([String].self, forKey: key))
                case .numbers: .numbers(try object.decode([Double].self, forKey: key))
                }
        }
        return Result { () throws(ControlFault) in try Control(type) { values[$0.name] } }
    }
}
