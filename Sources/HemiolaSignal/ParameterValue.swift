/// The value of a setting, whatever its type.
public enum ParameterValue: Sendable, Hashable {
    /// Not given, and without a default.
    case none
    case boolean(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case list([ParameterValue])
}
