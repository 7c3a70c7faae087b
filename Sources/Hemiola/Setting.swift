public import HemiolaRecords
public import HemiolaSystem
internal import Synchronization

/// The settings of a plugin: a struct in which each is one line, which declares it and reads it.
///
///     struct Options: PluginSettings {
///         var path = Setting.text("path", default: "-", "The file, or - for standard output.")
///         var period = Setting.seconds("period_s", default: 15, in: 1...3600, "Time on a preset.")
///         var fade = Setting.milliseconds("fade_ms", default: 0, in: 0...10_000, "Fade of the first colours.")
///     }
///
/// Help, completions, pipeline files and the headers of streams have the settings from these lines. A plugin names the struct in its
/// declaration and gets it with the values, in range and in seconds and hertz. `Options()` alone has the defaults. A property may be such a
/// struct itself, with settings that several plugins have.
public protocol PluginSettings: Sendable {
    /// The settings with their values; outside of a pipeline, with the defaults.
    init()
}

/// For a plugin without settings.
public struct NoSettings: PluginSettings {
    public init() {}
}

extension PluginSettings {
    /// The declarations, in the order of the properties.
    package static var fields: [Field] {
        let reader = SettingReader(SettingValues([]))
        SettingReader.$current.withValue(reader) { _ = Self() }
        return reader.fields.withLock { $0 }
    }

    /// The settings with checked values.
    package init(_ values: SettingValues) {
        self = SettingReader.$current.withValue(SettingReader(values)) { Self() }
    }
}

/// Passes values to the lines of a `PluginSettings` while it is made, and collects the declarations.
private final class SettingReader: Sendable {
    @TaskLocal static var current: SettingReader?

    let values: SettingValues
    let fields = Mutex<[Field]>([])

    init(_ values: SettingValues) {
        self.values = values
    }
}

/// A setting: each function declares one and returns its value. To be called where a property of a ``PluginSettings`` is initialized.
///
/// A setting without `default:` may stay unset. Names are `snake_case` and end with the unit.
public enum Setting {
    /// True or false.
    public static func boolean(_ name: String, default value: Bool, _ summary: String) -> Bool {
        read(.boolean(name, default: .boolean(value), summary)).flag ?? value
    }

    /// A whole number.
    public static func integer(
        _ name: String, default value: Int, in range: ClosedRange<Int>, unit: Unit = .none, _ summary: String
    ) -> Int {
        read(.integer(name, unit: unit, in: range, default: .integer(value), summary)).integer ?? value
    }

    /// A whole number, or nil.
    public static func integer(_ name: String, in range: ClosedRange<Int>, unit: Unit = .none, _ summary: String) -> Int? {
        read(.integer(name, unit: unit, nullable: true, in: range, default: ParameterValue.none, summary)).integer
    }

    /// A number in a unit.
    public static func number(
        _ name: String, default value: Double, in range: ClosedRange<Double>, unit: Unit = .none, _ summary: String
    ) -> Double {
        read(.number(name, unit: unit, in: range, default: .number(value), summary)).number ?? value
    }

    /// A number in a unit, or nil.
    public static func number(_ name: String, in range: ClosedRange<Double>, unit: Unit = .none, _ summary: String) -> Double? {
        read(.number(name, unit: unit, nullable: true, in: range, default: ParameterValue.none, summary)).number
    }

    /// Seconds.
    public static func seconds(_ name: String, default value: Double, in range: ClosedRange<Double>, _ summary: String) -> Double {
        number(name, default: value, in: range, unit: .seconds, summary)
    }

    /// Seconds, or nil.
    public static func seconds(_ name: String, in range: ClosedRange<Double>, _ summary: String) -> Double? {
        number(name, in: range, unit: .seconds, summary)
    }

    /// Milliseconds for the user, default and range included.
    ///
    /// - Returns: Seconds.
    public static func milliseconds(_ name: String, default value: Double, in range: ClosedRange<Double>, _ summary: String) -> Double {
        number(name, default: value, in: range, unit: .milliseconds, summary) / 1000
    }

    /// Milliseconds for the user, the range included, or nil.
    ///
    /// - Returns: Seconds.
    public static func milliseconds(_ name: String, in range: ClosedRange<Double>, _ summary: String) -> Double? {
        number(name, in: range, unit: .milliseconds, summary).map { $0 / 1000 }
    }

    /// Hertz.
    public static func hertz(_ name: String, default value: Double, in range: ClosedRange<Double>, _ summary: String) -> Double {
        number(name, default: value, in: range, unit: .hertz, summary)
    }

    /// Hertz, or nil.
    public static func hertz(_ name: String, in range: ClosedRange<Double>, _ summary: String) -> Double? {
        number(name, in: range, unit: .hertz, summary)
    }

    /// Text. In the examples of the manual it is `example`; nil: the name in capitals.
    public static func text(_ name: String, default value: String, example: String? = nil, _ summary: String) -> String {
        read(.text(name, default: .text(value), example: example, summary)).string ?? value
    }

    /// Text, or nil. In the examples of the manual it is `example`; nil: the name in capitals.
    public static func text(_ name: String, example: String? = nil, _ summary: String) -> String? {
        read(.text(name, nullable: true, default: ParameterValue.none, example: example, summary)).string
    }

    /// Any number of texts; by default none. In the examples of the manual it is `example`; nil: the name in capitals.
    public static func texts(_ name: String, example: String? = nil, _ summary: String) -> [String] {
        read(.texts(name, default: .list([]), example: example, summary)).items?.compactMap(\.string) ?? []
    }

    /// One of the names of an enumeration.
    public static func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ name: String, default value: Choice, _ summary: String
    ) -> Choice {
        read(.choice(name, of: Choice.allCases.map { $0.rawValue }, default: .text(value.rawValue), summary)).string
            .flatMap { Choice(rawValue: $0) } ?? value
    }

    /// One of the names of an enumeration, or nil.
    public static func choice<Choice: CaseIterable & RawRepresentable<String>>(_ name: String, _ summary: String) -> Choice? {
        read(.choice(name, of: Choice.allCases.map { $0.rawValue }, nullable: true, default: ParameterValue.none, summary)).string
            .flatMap { Choice(rawValue: $0) }
    }

    /// Any number of names of an enumeration.
    public static func choices<Choice: CaseIterable & RawRepresentable<String>>(
        _ name: String, default values: [Choice], _ summary: String
    ) -> [Choice] {
        let field = Field.choices(
            name, of: Choice.allCases.map { $0.rawValue }, default: .list(values.map { .text($0.rawValue) }), summary)
        return read(field).items?.compactMap { $0.string.flatMap { Choice(rawValue: $0) } } ?? values
    }

    /// A program to start; by default none. In the examples of the manual it is `example`.
    public static func command(_ name: String, example: String, _ summary: String) -> ProgramCommand {
        switch read(.command(name, example: example, summary)) {
        case .list(let words): .arguments(words.compactMap(\.string))
        case let value: .shell(value.string ?? "")
        }
    }

    /// Declares a setting to the reader under way.
    ///
    /// - Returns: The value given, else the default.
    private static func read(_ field: Field) -> ParameterValue {
        guard let reader = SettingReader.current else { return field.defaultValue ?? .none }
        reader.fields.withLock { $0.append(field) }
        return reader.values[field.name] ?? field.defaultValue ?? .none
    }
}

/// Settings that were checked, defaults filled in.
public struct SettingValues: Sendable, Hashable {
    /// All of them, in the order of their declaration.
    public let parameters: [Parameter]
    private let byName: [String: ParameterValue]

    /// A setting with its value.
    public struct Parameter: Sendable, Hashable {
        /// The setting's name.
        public var key: String
        /// What was given, else the default.
        public var value: ParameterValue

        package init(key: String, value: ParameterValue) {
            self.key = key
            self.value = value
        }
    }

    package init(_ parameters: [Parameter]) {
        self.parameters = parameters
        byName = Dictionary(uniqueKeysWithValues: parameters.map { ($0.key, $0.value) })
    }

    /// The value of a setting; nil when there is no such setting.
    package subscript(_ name: String) -> ParameterValue? { byName[name] }
}
