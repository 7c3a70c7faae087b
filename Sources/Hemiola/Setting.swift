public import HemiolaRecords
public import HemiolaSystem

/// The settings of a plugin: a struct whose initializer reads each in one line, which also declares it.
///
///     struct Options: PluginSettings {
///         var path: String
///         var period: Double
///         var fade: Double
///
///         init(_ read: inout SettingReader) {
///             path = read.text("path", default: "-", "The file, or - for standard output.")
///             period = read.seconds("period_s", default: 15, in: 1...3600, "Time on a preset.")
///             fade = read.milliseconds("fade_ms", default: 0, in: 0...10_000, "Fade of the first colours.")
///         }
///     }
///
/// Help, completions, pipeline files and the headers of streams have the settings from these lines. A plugin names the struct in its
/// declaration and gets it with the values, in range and in seconds and hertz. `Options()` has the defaults.
public protocol PluginSettings: Sendable {
    /// Reads each setting once. The lines declare the settings, in this order: for the declarations they run with a reader that has no values,
    /// so that none may depend on the value of another.
    ///
    /// It does not throw: the values are in range, and what is wrong only together is found where the plugin is made. Settings that several
    /// plugins have are a struct of their own, which is read in its place: `fade = FadeSettings(&read)`.
    init(_ read: inout SettingReader)
}

/// For a plugin without settings.
public struct NoSettings: PluginSettings {
    public init(_ read: inout SettingReader) {}
}

extension PluginSettings {
    /// The settings with their defaults, for tests and outside of a pipeline.
    public init() {
        self.init(SettingValues([]))
    }

    /// The settings with checked values.
    package init(_ values: SettingValues) {
        var reader = SettingReader(values)
        self.init(&reader)
    }

    /// The declarations, in the order in which the settings are read.
    package static var fields: [Field] {
        var reader = SettingReader(SettingValues([]))
        _ = Self(&reader)
        return reader.fields
    }
}

/// Reads the settings of a ``PluginSettings``: each method declares one and returns its value.
///
/// A setting without `default:` may stay unset. Names are `snake_case` and end with the unit.
public struct SettingReader {
    private let values: SettingValues
    /// The declarations of the settings that were read.
    private(set) var fields: [Field] = []

    /// A reader of checked values; a setting that is not among them has its default.
    init(_ values: SettingValues) {
        self.values = values
    }

    /// True or false.
    public mutating func boolean(_ name: String, default value: Bool, _ summary: String) -> Bool {
        read(.boolean(name, default: .boolean(value), summary)).flag ?? value
    }

    /// A whole number.
    public mutating func integer(
        _ name: String, default value: Int, in range: ClosedRange<Int>, unit: Unit = .none, _ summary: String
    ) -> Int {
        read(.integer(name, unit: unit, in: range, default: .integer(value), summary)).integer ?? value
    }

    /// A whole number, or nil.
    public mutating func integer(_ name: String, in range: ClosedRange<Int>, unit: Unit = .none, _ summary: String) -> Int? {
        read(.integer(name, unit: unit, nullable: true, in: range, default: ParameterValue.none, summary)).integer
    }

    /// A number in a unit.
    public mutating func number(
        _ name: String, default value: Double, in range: ClosedRange<Double>, unit: Unit = .none, _ summary: String
    ) -> Double {
        read(.number(name, unit: unit, in: range, default: .number(value), summary)).number ?? value
    }

    /// A number in a unit, or nil.
    public mutating func number(_ name: String, in range: ClosedRange<Double>, unit: Unit = .none, _ summary: String) -> Double? {
        read(.number(name, unit: unit, nullable: true, in: range, default: ParameterValue.none, summary)).number
    }

    /// Seconds.
    public mutating func seconds(_ name: String, default value: Double, in range: ClosedRange<Double>, _ summary: String) -> Double {
        number(name, default: value, in: range, unit: .seconds, summary)
    }

    /// Seconds, or nil.
    public mutating func seconds(_ name: String, in range: ClosedRange<Double>, _ summary: String) -> Double? {
        number(name, in: range, unit: .seconds, summary)
    }

    /// Milliseconds for the user, default and range included.
    ///
    /// - Returns: Seconds.
    public mutating func milliseconds(_ name: String, default value: Double, in range: ClosedRange<Double>, _ summary: String) -> Double {
        number(name, default: value, in: range, unit: .milliseconds, summary) / 1000
    }

    /// Milliseconds for the user, the range included, or nil.
    ///
    /// - Returns: Seconds.
    public mutating func milliseconds(_ name: String, in range: ClosedRange<Double>, _ summary: String) -> Double? {
        number(name, in: range, unit: .milliseconds, summary).map { $0 / 1000 }
    }

    /// Hertz.
    public mutating func hertz(_ name: String, default value: Double, in range: ClosedRange<Double>, _ summary: String) -> Double {
        number(name, default: value, in: range, unit: .hertz, summary)
    }

    /// Hertz, or nil.
    public mutating func hertz(_ name: String, in range: ClosedRange<Double>, _ summary: String) -> Double? {
        number(name, in: range, unit: .hertz, summary)
    }

    /// Text. In the examples of the manual it is `example`; nil: the name in capitals.
    public mutating func text(_ name: String, default value: String, example: String? = nil, _ summary: String) -> String {
        read(.text(name, default: .text(value), example: example, summary)).string ?? value
    }

    /// Text, or nil. In the examples of the manual it is `example`; nil: the name in capitals.
    public mutating func text(_ name: String, example: String? = nil, _ summary: String) -> String? {
        read(.text(name, nullable: true, default: ParameterValue.none, example: example, summary)).string
    }

    /// Any number of texts; by default none. In the examples of the manual it is `example`; nil: the name in capitals.
    public mutating func texts(_ name: String, example: String? = nil, _ summary: String) -> [String] {
        read(.texts(name, default: .list([]), example: example, summary)).items?.compactMap(\.string) ?? []
    }

    /// One of the names of an enumeration.
    public mutating func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ name: String, default value: Choice, _ summary: String
    ) -> Choice {
        read(.choice(name, of: Choice.allCases.map { $0.rawValue }, default: .text(value.rawValue), summary)).string
            .flatMap { Choice(rawValue: $0) } ?? value
    }

    /// One of the names of an enumeration, or nil.
    public mutating func choice<Choice: CaseIterable & RawRepresentable<String>>(_ name: String, _ summary: String) -> Choice? {
        read(.choice(name, of: Choice.allCases.map { $0.rawValue }, nullable: true, default: ParameterValue.none, summary)).string
            .flatMap { Choice(rawValue: $0) }
    }

    /// Any number of names of an enumeration.
    public mutating func choices<Choice: CaseIterable & RawRepresentable<String>>(
        _ name: String, default values: [Choice], _ summary: String
    ) -> [Choice] {
        let field = Field.choices(
            name, of: Choice.allCases.map { $0.rawValue }, default: .list(values.map { .text($0.rawValue) }), summary)
        return read(field).items?.compactMap { $0.string.flatMap { Choice(rawValue: $0) } } ?? values
    }

    /// A program to start; by default none. In the examples of the manual it is `example`.
    public mutating func command(_ name: String, example: String, _ summary: String) -> ProgramCommand {
        switch read(.command(name, example: example, summary)) {
        case .list(let words): .arguments(words.compactMap(\.string))
        case let value: .shell(value.string ?? "")
        }
    }

    /// Declares a setting.
    ///
    /// - Returns: The value given, else the default.
    private mutating func read(_ field: Field) -> ParameterValue {
        fields.append(field)
        return values[field.name] ?? field.defaultValue ?? .none
    }
}

/// Settings that were checked, defaults filled in.
public struct SettingValues: Sendable, Hashable {
    /// All of them, in the order of their declaration.
    public let parameters: [Parameter]
    private let byName: [String: ParameterValue]

    init(_ parameters: [Parameter]) {
        self.parameters = parameters
        byName = Dictionary(uniqueKeysWithValues: parameters.map { ($0.key, $0.value) })
    }

    /// The value of a setting; nil when there is no such setting.
    package subscript(_ name: String) -> ParameterValue? { byName[name] }
}
