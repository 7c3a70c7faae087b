internal import BeatAnalyzer
internal import CVamp
internal import ChromaAnalyzer
internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSystem
internal import HemiolaTonal
internal import MusicalKeyAnalyzer
internal import SpectrumAnalyzer

/// An analyzer as a Vamp plugin: with settings that hosts show as parameters.
struct ExportedPlugin: Sendable {
    /// A parameter: a setting of the analyzer, or whether the whole file is read first.
    struct Parameter: Sendable {
        /// The setting; nil: the whole file.
        var setting: Field?
        var identifier: String
        var summary: String
        var unit = ""
        var range: ClosedRange<Float>
        var defaultValue: Float
        /// The distance of two values; nil: any value.
        var step: Float?
        /// The names of the values.
        var names: [String] = []

        /// The nearest valid value.
        func nearest(to value: Float) -> Float {
            guard value.isFinite else { return defaultValue }
            let value = min(max(value, range.lowerBound), range.upperBound)
            guard let step else { return value }
            return min(range.upperBound, range.lowerBound + ((value - range.lowerBound) / step).rounded() * step)
        }

        /// The value of the setting.
        func settingValue(_ value: Float) -> ParameterValue {
            switch setting?.kind {
            case .boolean: .boolean(value != 0)
            case .integer: .integer(Int(value))
            case .choice: .text(names[Int(value)])
            // The decimal number that the user has set: 0.1, and not 0.10000000149.
            default: .number(Double(value.description) ?? Double(value))
            }
        }
    }

    let plugin: AnalyzerPlugin
    let parameters: [Parameter]
    /// Settings that are no parameters, because they determine which outputs there are.
    private let fixed: [String: ParameterValue]

    /// All of them, in the order in which hosts find them.
    static let all = [
        ExportedPlugin(.beat, readsWholeFile: true),
        ExportedPlugin(
            .spectrum, fixed: ["magnitudes": .boolean(true)], minima: ["bands": 1, "mfcc": 1, "min_hz": 1], defaults: ["mfcc": 13],
            steps: ["size": 2]),
        ExportedPlugin(.chroma, steps: ["bins": 12]),
        ExportedPlugin(.musicalKey, readsWholeFile: true),
    ]

    /// - Parameters:
    ///   - readsWholeFile: Whether the analyzer has two passes.
    ///   - minima: The smallest values where they are not those of the setting.
    ///   - defaults: The same for defaults.
    ///   - steps: The distance of two values where it is not 1.
    private init(
        _ plugin: AnalyzerPlugin, readsWholeFile: Bool = false, fixed: [String: ParameterValue] = [:], minima: [String: Float] = [:],
        defaults: [String: Float] = [:], steps: [String: Float] = [:]
    ) {
        self.plugin = plugin
        self.fixed = fixed
        var parameters: [Parameter] = []
        for setting in plugin.about.settings where fixed[setting.name] == nil {
            let key = setting.name
            var parameter = Parameter(
                setting: setting, identifier: key, summary: setting.summary, unit: setting.unit.rawValue, range: 0...1, defaultValue: 0)
            switch (setting.kind, setting.defaultValue) {
            case (.boolean, .boolean(let value)):
                (parameter.defaultValue, parameter.step) = (value ? 1 : 0, 1)
            case (.choice(let names), .text(let name)):
                parameter.range = 0...Float(names.count - 1)
                (parameter.defaultValue, parameter.step, parameter.names) = (Float(names.firstIndex(of: name) ?? 0), 1, names)
            case (.integer, .integer), (.number, .number):
                guard let lowest = setting.minimum, let highest = setting.maximum, let value = setting.defaultValue?.number else {
                    continue
                }
                parameter.range = (minima[key] ?? Float(lowest))...Float(highest)
                parameter.defaultValue = defaults[key] ?? Float(value)
                parameter.step = setting.kind == .integer ? steps[key] ?? 1 : nil
            default:
                // A setting that may be unset has no place in Vamp.
                continue
            }
            parameters.append(parameter)
        }
        if readsWholeFile {
            parameters.append(
                Parameter(
                    identifier: "whole_file",
                    summary: "Read the whole file before the first result: more accurate; all results come at the end.", range: 0...1,
                    defaultValue: 0, step: 1))
        }
        self.parameters = parameters
    }

    /// An analyzer with these values of the parameters.
    ///
    /// - Returns: nil when the analyzer refuses them.
    func makeAnalyzer(_ values: [Float]) -> (any Analyzer)? {
        var spec = PluginSpec(plugin.about.id, settings: fixed)
        for (parameter, value) in zip(parameters, values) {
            if let setting = parameter.setting { spec.settings[setting.name] = parameter.settingValue(value) }
        }
        var problems: [Problem] = []
        guard let settings = plugin.about.values(from: spec, problems: &problems) else { return nil }
        return try? plugin.make(settings)
    }

    /// Whether the whole file is read first.
    func readsWholeFile(_ values: [Float]) -> Bool {
        zip(parameters, values).contains { $0.setting == nil && $1 != 0 }
    }

    // MARK: - For hosts

    /// The names of bins, by the feature's edges or pitch classes; nil: it has none.
    static func binNames(of feature: Feature, in plugin: String) -> [String]? {
        let (edges, count) = (feature.edges.map { Int($0.rounded()) }, feature.count)
        if count > 1, edges.count == count + 1 { return (0..<count).map { "\(edges[$0])-\(edges[$0 + 1]) Hz" } }
        // Triangles, which overlap: their peaks.
        if count > 1, edges.count == count + 2 { return (0..<count).map { "\(edges[$0 + 1]) Hz" } }
        return plugin == "chroma" && count == PitchClass.names.count ? PitchClass.names : nil
    }

    /// The parameters as C structures, which stay in memory.
    var structures: UnsafePointer<UnsafePointer<CVampParameter>?> {
        let list = UnsafeMutablePointer<UnsafePointer<CVampParameter>?>.allocate(capacity: parameters.count + 1)
        for (index, parameter) in parameters.enumerated() {
            let structure = UnsafeMutablePointer<CVampParameter>.allocate(capacity: 1)
            structure.initialize(
                to: CVampParameter(
                    identifier: Text.stored(parameter.identifier), name: Text.stored(Text.title(parameter.identifier)),
                    description: Text.stored(parameter.summary), unit: Text.stored(parameter.unit),
                    minValue: parameter.range.lowerBound, maxValue: parameter.range.upperBound, defaultValue: parameter.defaultValue,
                    isQuantized: parameter.step == nil ? 0 : 1, quantizeStep: parameter.step ?? 0,
                    valueNames: parameter.names.isEmpty ? nil : Text.list(parameter.names)))
            (list + index).initialize(to: UnsafePointer(structure))
        }
        (list + parameters.count).initialize(to: nil)
        return UnsafePointer(list)
    }
}
