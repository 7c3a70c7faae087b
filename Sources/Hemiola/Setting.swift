public import HemiolaRecords
public import HemiolaSignal
public import HemiolaSystem

/// A plugin's setting with its type: key, default, range and sentence. Help and validation come from it.
///
///     private static let period = Setting("period_s", default: 15.0, in: 1...3600, unit: .seconds, "Seconds on a preset.")
public struct Setting<Value: SettingType>: Sendable {
    /// What the registry, help and validation see.
    public let declared: DeclaredSetting

    private init(_ declared: DeclaredSetting) {
        self.declared = declared
    }

    /// Its name in a SPEC and in a pipeline file.
    public var key: String { declared.key }
}

/// A type that a setting can have.
public protocol SettingType: Sendable {
    /// The value, or nil when it is of another type.
    init?(_ value: ParameterValue)
    /// The value as records and pipeline files bear it.
    var parameterValue: ParameterValue { get }
    /// How the value is read and what the manual calls it.
    static var kind: DeclaredSetting.Kind { get }
}

/// A setting without its Swift type: what the registry, help and validation see.
public struct DeclaredSetting: Sendable, Hashable {
    /// What a setting's value is.
    public indirect enum Kind: Sendable, Hashable {
        /// One value: true or false, a whole number, any number, text.
        case boolean, integer, number, text
        /// One of these names.
        case choice([String])
        /// Any number of these.
        case list(of: Kind)
        /// Text for the shell, or a list: a program and its arguments.
        case command

        /// As the manual names it.
        public var name: String {
            switch self {
            case .boolean: "true or false"
            case .integer: "a whole number"
            case .number: "a number"
            case .text: "text"
            case .choice(let names): "one of \(names.joined(separator: ", "))"
            case .list(let kind): "\(kind.name), joined with +"
            case .command: "a command, or a list of a program and its arguments"
            }
        }
    }

    /// Its name in a SPEC and in a pipeline file.
    public var key: String
    /// What its value is.
    public var kind: Kind
    /// `.none` when it may stay unset.
    public var defaultValue: ParameterValue
    /// Within which a number must lie; nil: anything goes.
    public var range: ClosedRange<Double>?
    /// In which a number is given.
    public var unit: Unit
    /// One sentence for people.
    public var summary: String
    /// A value for the examples of the manual; nil: the key in capitals for a text, the default for others.
    public var example: String?
}

extension Setting where Value: Comparable {
    /// A number within a range.
    public init(_ key: String, default value: Value, in range: ClosedRange<Value>, unit: Unit = .none, _ summary: String)
    where Value: BoundedSetting {
        self.init(
            DeclaredSetting(
                key: key, kind: Value.kind, defaultValue: value.parameterValue,
                range: range.lowerBound.bound...range.upperBound.bound, unit: unit, summary: summary))
    }
}

extension Setting {
    /// Anything, with a default, and a value for the examples of the manual.
    public init(_ key: String, default value: Value, example: String? = nil, unit: Unit = .none, _ summary: String) {
        self.init(
            DeclaredSetting(
                key: key, kind: Value.kind, defaultValue: value.parameterValue, range: nil, unit: unit, summary: summary,
                example: example))
    }

    /// A number that may stay unset; within a range if it is set.
    public init<Number: BoundedSetting>(_ key: String, in range: ClosedRange<Number>, unit: Unit = .none, _ summary: String)
    where Value == Number? {
        self.init(
            DeclaredSetting(
                key: key, kind: Number.kind, defaultValue: .none, range: range.lowerBound.bound...range.upperBound.bound,
                unit: unit, summary: summary))
    }
}

/// A number that a range can bound.
public protocol BoundedSetting: SettingType, Comparable {
    /// The number as a bound of a range.
    var bound: Double { get }
}

extension Int: BoundedSetting {
    public init?(_ value: ParameterValue) {
        guard case .integer(let number) = value else { return nil }
        self = number
    }
    public var parameterValue: ParameterValue { .integer(self) }
    public var bound: Double { Double(self) }
    public static var kind: DeclaredSetting.Kind { .integer }
}

extension Double: BoundedSetting {
    public init?(_ value: ParameterValue) {
        guard case .number(let number) = value else { return nil }
        self = number
    }
    public var parameterValue: ParameterValue { .number(self) }
    public var bound: Double { self }
    public static var kind: DeclaredSetting.Kind { .number }
}

extension Bool: SettingType {
    public init?(_ value: ParameterValue) {
        guard case .boolean(let flag) = value else { return nil }
        self = flag
    }
    public var parameterValue: ParameterValue { .boolean(self) }
    public static var kind: DeclaredSetting.Kind { .boolean }
}

extension String: SettingType {
    public init?(_ value: ParameterValue) {
        guard case .text(let text) = value else { return nil }
        self = text
    }
    public var parameterValue: ParameterValue { .text(self) }
    public static var kind: DeclaredSetting.Kind { .text }
}

extension Array: SettingType where Element: SettingType {
    public init?(_ value: ParameterValue) {
        guard case .list(let items) = value else { return nil }
        var elements: [Element] = []
        for item in items {
            guard let element = Element(item) else { return nil }
            elements.append(element)
        }
        self = elements
    }
    // A closure, here and below: a key path of a generic type is made at run time, at a high cost.
    public var parameterValue: ParameterValue { .list(map { $0.parameterValue }) }
    public static var kind: DeclaredSetting.Kind { .list(of: Element.kind) }
}

extension Optional: SettingType where Wrapped: SettingType {
    public init?(_ value: ParameterValue) {
        if case .none = value {
            self = Self.none
        } else if let wrapped = Wrapped(value) {
            self = wrapped
        } else {
            return nil
        }
    }
    public var parameterValue: ParameterValue { map { $0.parameterValue } ?? .none }
    public static var kind: DeclaredSetting.Kind { Wrapped.kind }
}

/// An enumeration of names makes a choice: `enum Scale: String, CaseIterable, SettingChoice`.
public protocol SettingChoice: SettingType, CaseIterable, RawRepresentable where RawValue == String {}

extension SettingChoice {
    /// The choice of that name, or nil when there is none.
    public init?(_ value: ParameterValue) {
        guard case .text(let name) = value else { return nil }
        self.init(rawValue: name)
    }
    /// The choice's name.
    public var parameterValue: ParameterValue { .text(rawValue) }
    /// The names to choose from.
    public static var kind: DeclaredSetting.Kind { .choice(allCases.map { $0.rawValue }) }
}

extension WindowShape: SettingChoice {}

/// Settings that were checked, defaults filled in.
public struct SettingValues: Sendable, Hashable {
    private let values: [String: ParameterValue]
    /// All of them, in the order of their declaration.
    public let parameters: [Parameter]

    /// A setting with its value.
    public struct Parameter: Sendable, Hashable {
        /// The setting's key.
        public var key: String
        /// What was given, else the default.
        public var value: ParameterValue

        package init(key: String, value: ParameterValue) {
            (self.key, self.value) = (key, value)
        }
    }

    package init(_ parameters: [Parameter]) {
        self.parameters = parameters
        values = Dictionary(uniqueKeysWithValues: parameters.map { ($0.key, $0.value) })
    }

    /// The values, with another one of a setting.
    public func setting<Value>(_ setting: Setting<Value>, to value: Value) -> SettingValues {
        SettingValues(parameters.map { $0.key == setting.key ? Parameter(key: $0.key, value: value.parameterValue) : $0 })
    }

    /// The value under a key, whatever its type; nil when there is no such setting.
    package func value(_ key: String) -> ParameterValue? { values[key] }

    /// The value of a setting that the plugin has declared.
    public subscript<Value>(_ setting: Setting<Value>) -> Value {
        guard let stored = values[setting.key], let value = Value(stored) else {
            preconditionFailure("the plugin did not declare the setting \(setting.key)")
        }
        return value
    }
}

extension ProgramCommand: SettingType {
    public init?(_ value: ParameterValue) {
        switch value {
        case .text(let text): self = .shell(text)
        case .list(let items): self = .arguments(items.compactMap(\.string))
        default: return nil
        }
    }

    public var parameterValue: ParameterValue {
        switch self {
        case .shell(let text): .text(text)
        case .arguments(let words): .texts(words)
        }
    }

    public static var kind: DeclaredSetting.Kind { .command }
}
