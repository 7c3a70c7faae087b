/// The value of a setting, whatever its type.
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
