/// A setting with its value.
public struct Parameter: Sendable, Hashable {
    /// The setting's name.
    public var key: String
    /// What was given, else the default.
    public var value: ParameterValue

    /// A setting of that name.
    public init(_ key: String, _ value: ParameterValue) {
        self.key = key
        self.value = value
    }
}

/// The value of a setting, of a field of a control, or of a stored field of an event.
public enum ParameterValue: Sendable, Hashable {
    /// Not given, and without a default.
    case none
    /// True or false.
    case boolean(Bool)
    /// A whole number.
    case integer(Int)
    /// A number; written with a decimal point.
    case number(Double)
    /// Text, or the name of a choice.
    case text(String)
    /// Several, in order.
    case list([ParameterValue])
}

extension ParameterValue {
    /// The number; nil for any other value. A whole number is converted.
    public var number: Double? {
        switch self {
        case .number(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }

    /// The whole number; nil for any other value.
    public var integer: Int? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The flag; nil for any other value.
    public var flag: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    /// The text; nil for any other value.
    public var string: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The items of a list; nil for any other value.
    public var items: [ParameterValue]? {
        if case .list(let items) = self { items } else { nil }
    }

    /// A list of texts.
    public static func texts(_ texts: [String]) -> ParameterValue { .list(texts.map { .text($0) }) }
    /// A list of numbers.
    public static func numbers(_ numbers: [Double]) -> ParameterValue { .list(numbers.map { .number($0) }) }
    /// A number, or no value.
    public static func optional(_ number: Double?) -> ParameterValue { number.map { .number($0) } ?? .none }
    /// A whole number, or no value.
    public static func optional(_ number: Int?) -> ParameterValue { number.map { .integer($0) } ?? .none }
    /// A text, or no value.
    public static func optional(_ text: String?) -> ParameterValue { text.map { .text($0) } ?? .none }

    /// As a person would type it.
    public var text: String {
        switch self {
        case .none: ""
        case .boolean(let flag): String(flag)
        case .integer(let number): String(number)
        // Without a decimal point where there is nothing behind it.
        case .number(let number): number.rounded() == number && abs(number) < 1e15 ? String(Int(number)) : String(number)
        case .text(let text): text
        case .list(let items): items.map(\.text).joined(separator: "+")
        }
    }
}
