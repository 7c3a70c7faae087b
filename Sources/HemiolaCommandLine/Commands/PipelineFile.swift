internal import Hemiola
internal import HemiolaEngine
internal import HemiolaFieldMaps

/// A parsed pipeline file: the configuration and the errors of the file itself.
///
/// The registry validates the settings of the plugins: `init(checking:kind:title:_:)` reports the errors of both.
struct PipelineFile {
    /// What the file describes.
    enum Kind {
        case pipeline
        /// Defaults of `hemiola listen`.
        case defaults

        /// Keys of the file.
        var keys: [String] {
            switch self {
            case .pipeline:
                [
                    "min_version", "captures", "inputs", "analyzers", "sinks", "controls", "batch", "rate", "realtime", "whole_file",
                    "seed", "jobs", "select", "sync",
                ]
            case .defaults: ["device", "analyzers", "sinks", "controls"]
            }
        }
    }

    private let kind: Kind
    private(set) var configuration = PipelineConfiguration()
    /// The device of a file of defaults.
    private(set) var device: String?
    /// The keys with a value other than null.
    private(set) var given: Set<String> = []
    /// With their places in the file: `inputs[0]`.
    private(set) var problems: [Problem] = []
    /// That this program is too old for the file, which explains all other problems.
    private(set) var versionProblem: Problem?
    /// The position in the text of every place of the file.
    private(set) var positions: [Place: TextPosition] = [:]
    /// The place in the file of each element of the configuration's lists. Elements that could not be read are in neither.
    private var elements: [Place.List: [Place]] = [.captures: [], .analyzers: [], .sinks: [], .controls: []]
    private let registry: PluginRegistry

    /// Reads a file's text.
    ///
    /// - Throws: The text is not YAML, or its root is not a map.
    init(_ text: String, kind: Kind = .pipeline, registry: PluginRegistry) throws(Problem) {
        self.kind = kind
        self.registry = registry
        configuration.analyzers = registry.defaultAnalyzers
        elements[.analyzers] = registry.defaultAnalyzers.map { _ in .analyzer() }
        switch kind {
        case .pipeline:
            configuration.sinks = [PluginSpec(SinkPlugin.jsonLinesID)]
            elements[.sinks] = [.sink()]
        case .defaults:
            configuration.captures = registry.liveCapture.map { [$0] } ?? []
        }
        guard let root = try YAMLNode.parse(text) else { return }
        switch root.content {
        case .map(let entries): for entry in entries { read(entry) }
        case .null: break
        default:
            let message =
                kind == .pipeline
                ? "a pipeline is a map with the keys captures, analyzers, sinks …"
                : "the defaults are a map with the keys \(kind.keys.joined(separator: ", "))"
            throw Problem(message, at: Place(root.place))
        }
    }

    /// A problem from `assemble`, with its place in the file; nil when a problem of the file already reports it.
    func located(_ problem: Problem) -> Problem? {
        guard let place = problem.place, let list = place.list else { return problem }
        if list == .captures {
            let isReported = kind == .defaults || problems.contains { [.captures, .inputs].contains($0.place?.list) }
            if place == .capture(), isReported { return nil }
            if kind == .defaults { return Problem(problem.message, at: .key("device")) }
        }
        guard let index = place.index, let elements = elements[list], elements.indices.contains(index) else { return problem }
        return Problem(problem.message, at: place.below(elements[index]))
    }

    /// The position of a place in the file; that of what contains it when the file does not have it.
    func position(of place: Place?) -> TextPosition? {
        guard let place else { return nil }
        if let position = positions[place] { return position }
        guard let list = place.list else { return nil }
        return positions[Place(list, place.index)] ?? positions[Place(list)]
    }

    private mutating func report(_ place: Place, _ message: String) {
        problems.append(Problem(message, at: place))
    }

    // MARK: - Keys

    private mutating func read(_ entry: YAMLNode.Entry) {
        positions[entry.key.asPlace] = entry.place
        if case .null = entry.node.content {
            // null is the default. An unknown key is still an error.
            if kind.keys.contains(entry.key) { return }
        }
        given.insert(entry.key)
        guard kind.keys.contains(entry.key) else {
            return report(entry.key.asPlace, "unknown key; \(entry.key.suggestion(among: kind.keys, "keys"))")
        }
        if let list = Place.List(rawValue: entry.key), let specs = list.specs { return read(list, specs, entry) }
        switch entry.key {
        case "min_version": checkVersion(entry)
        case "batch": read(entry, "a whole number of frames", into: \.batchFrames) { Int($0) }
        case "rate":
            read(entry, "a whole number of hertz or native", into: \.sampleRate) { SampleRateOption(argument: $0).map(\.sampleRate) }
        case "seed": read(entry, "a whole number, 0 or more", into: \.seed) { UInt64($0).map(Optional.some) }
        case "jobs":
            read(entry, "a whole number of files, 0 for one per processor", into: \.jobCount) {
                Int($0).flatMap { $0 < 0 ? nil : $0 == 0 ? CurrentProcess.processorCount : $0 }
            }
        case "realtime": read(entry, "true or false", into: \.isPaced) { Bool($0) }
        case "sync": read(entry, "true or false", into: \.syncsFiles) { Bool($0) }
        case "whole_file": read(entry, "true or false", into: \.usesLookAhead) { Bool($0).map(Optional.some) }
        case "select":
            for (index, item) in items(of: entry).enumerated() {
                guard case .value(let value) = item.content else {
                    report(Place(.select, index), "\(item.shown) is not text")
                    continue
                }
                configuration.selection += value.text.split { "+, ".contains($0) }.map(String.init)
            }
        case "device":
            guard case .value(let value) = entry.node.content, !value.text.isEmpty else {
                return report(entry.key.asPlace, "\(entry.node.shown) is not the name of a device")
            }
            device = value.text
            if !configuration.captures.isEmpty { configuration.captures[0].primary = .text(value.text) }
        default: preconditionFailure("the key \(entry.key) is not read")
        }
    }

    /// Compares the version that the file needs with that of this program.
    private mutating func checkVersion(_ entry: YAMLNode.Entry) {
        guard case .value(let value) = entry.node.content, let isMet = HemiolaVersion.isAtLeast(value.text) else {
            return report(entry.key.asPlace, "\(entry.node.shown) is not a version; write three numbers, as \(HemiolaVersion.current)")
        }
        if isMet { return }
        let message =
            "the file needs Hemiola \(value.text), but this is \(HemiolaVersion.current); install a newer version, or lower min_version"
        versionProblem = Problem(message, at: entry.key.asPlace)
    }

    private mutating func read<Value>(
        _ entry: YAMLNode.Entry, _ kind: String, into property: WritableKeyPath<PipelineConfiguration, Value>,
        as convert: (String) -> Value?
    ) {
        guard case .value(let raw) = entry.node.content, let value = convert(raw.text) else {
            report(entry.key.asPlace, "\(entry.node.shown) is not \(kind)")
            return
        }
        configuration[keyPath: property] = value
    }

    /// The elements of a list; a value alone is a list of one.
    private mutating func items(of entry: YAMLNode.Entry) -> [YAMLNode] {
        switch entry.node.content {
        case .list(let nodes): return nodes
        case .value: return [entry.node]
        default:
            report(entry.key.asPlace, "\(entry.node.shown) is not a list")
            return []
        }
    }

    // MARK: - Plugins

    private mutating func read(
        _ list: Place.List, _ specs: WritableKeyPath<PipelineConfiguration, [PluginSpec]>, _ entry: YAMLNode.Entry
    ) {
        let role = list == .inputs ? .captures : list
        // A given list replaces the default, even when it is empty. captures and inputs are joined.
        if role != .captures {
            configuration[keyPath: specs] = []
            elements[role] = []
        }
        for (index, item) in items(of: entry).enumerated() {
            let place = Place(list, index)
            positions[place] = item.place
            guard let spec = list == .inputs ? input(item, place) : spec(item, place) else { continue }
            configuration[keyPath: specs].append(spec)
            elements[role]?.append(place)
        }
    }

    private mutating func input(_ node: YAMLNode, _ place: Place) -> PluginSpec? {
        guard case .value(let value) = node.content, !value.text.isEmpty else {
            report(place, "\(node.shown) is not a path")
            return nil
        }
        return captureSpec(for: value.text)
    }

    /// A SPEC as on the command line, or a map: `{id: spectrum, bands: 32, as: coarse}`.
    private mutating func spec(_ node: YAMLNode, _ place: Place) -> PluginSpec? {
        switch node.content {
        case .value(let value):
            do {
                return try PluginSpec(parsing: value.text)
            } catch {
                problems += error.all.map { Problem($0.message, at: place) }
                return nil
            }
        case .map(let entries):
            return spec(entries, place)
        default:
            report(place, "\(node.shown) is neither a SPEC nor a map with the key id")
            return nil
        }
    }

    private mutating func spec(_ entries: [YAMLNode.Entry], _ element: Place) -> PluginSpec? {
        var spec = PluginSpec("")
        for entry in entries {
            let place = Place.key(entry.key).below(element)
            positions[place] = entry.place
            switch (entry.key, entry.node.content) {
            case ("id", .value(let value)): spec.id = value.text
            case ("as", .value(let value)): spec.alias = value.text
            case ("id", _), ("as", _):
                if case .null = entry.node.content { break }
                report(place, "\(entry.node.shown) is not text")
            case (_, .null): break
            case (let key, .value(let value)): spec.settings[key] = value
            case (let key, .list(let items)):
                spec.settings[key] = .list(
                    items.compactMap { if case .value(let value) = $0.content { value } else { nil } })
                if items.contains(where: { if case .value = $0.content { false } else { true } }) {
                    report(place, "a list can contain values only")
                }
            case (_, .map): report(place, "\(entry.node.shown) is not the value of a setting")
            }
        }
        if spec.id.isEmpty {
            let hint = entries.first { $0.key.nearest(in: ["id"]) != nil }?.key
            report(element, "the key id is missing\(hint.map { "; did you mean id instead of \($0)?" } ?? "; add the id of a plugin")")
            return nil
        }
        return spec
    }
}

// MARK: - Writing

extension PipelineFile {
    /// A pipeline file of a configuration, with all defaults. Reading it gives the same pipeline.
    ///
    /// - Parameter analyzers: All analyzers that will run, including those that sinks need.
    static func text(
        _ configuration: PipelineConfiguration, analyzers: [StreamHeader.Analyzer], registry: PluginRegistry
    ) -> String {
        var text = "min_version: \(ParameterValue.none.yaml)\n"
        text += list("captures", configuration.captures.map { settings(of: $0, registry.captures.first(id: $0.id)?.about) })
        text += list(
            "analyzers",
            analyzers.map { analyzer in
                let spec = configuration.analyzers.first { $0.analyzerName == analyzer.name } ?? PluginSpec(analyzer.id, as: analyzer.name)
                // Those that the user has named as well as those that sinks need.
                let common = settings(of: spec, registry.analyzers.first(id: analyzer.id)?.about)
                return [Parameter("id", .text(analyzer.id))]
                    + (analyzer.name == analyzer.id.recordName ? [] : [Parameter("as", .text(analyzer.name))])
                    + analyzer.parameters
                    + common.filter { setting in
                        PluginRegistry.commonSettings.contains { $0.name == setting.key }
                            && !analyzer.parameters.contains { $0.key == setting.key }
                    }
            })
        text += list(
            "sinks",
            configuration.sinks.map {
                let about = registry.sinks.first(id: $0.id)?.about ?? registry.control(namedAsSink: $0.id)?.about
                return settings(of: $0, about, common: PluginRegistry.commonSinkSettings)
            })
        text += list("controls", configuration.controls.map { settings(of: $0, registry.controls.first(id: $0.id)?.about) })
        text += "batch: \(configuration.batchFrames)\n"
        text += "rate: \(configuration.sampleRate.map(String.init) ?? "null")\n"
        text += "realtime: \(configuration.isPaced)\n"
        text += "whole_file: \(configuration.usesLookAhead.map { "\($0)" } ?? "null")\n"
        text += "seed: \(configuration.seed.map(String.init) ?? "null")\n"
        text += "jobs: \(configuration.jobCount)\n"
        text += "sync: \(configuration.syncsFiles)\n"
        return text + "select: \(ParameterValue.list(configuration.selection.map { .text($0) }).yaml)\n"
    }

    private static func settings(
        of spec: PluginSpec, _ about: PluginDescription?, common: [Field] = PluginRegistry.commonSettings
    ) -> [Parameter] {
        let head = [Parameter("id", .text(spec.id))] + (spec.alias.map { [Parameter("as", .text($0))] } ?? [])
        guard let about else { return head }
        let settings = about.settings + PluginRegistry.shared(common, with: about)
        let whole = about.with(settings: { settings })
        var problems: [Problem] = []
        guard let values = whole.values(from: spec, problems: &problems) else { return head }
        return head + values.parameters
    }

    private static func list(_ key: String, _ items: [[Parameter]]) -> String {
        if items.isEmpty { return "\(key): []\n" }
        return "\(key):\n"
            + items.map { item in
                item.enumerated().map { "  \($0 == 0 ? "-" : " ") \($1.key): \($1.value.yaml)\n" }.joined()
            }.joined()
    }
}

extension HemiolaVersion {
    /// Whether this version is another one or later.
    ///
    /// - Parameter text: Three whole numbers, as `0.1.0`.
    /// - Returns: nil when the text is no version.
    fileprivate static func isAtLeast(_ text: String) -> Bool? {
        guard let wanted = numbers(text), let own = numbers(current) else { return nil }
        return !own.lexicographicallyPrecedes(wanted)
    }

    private static func numbers(_ text: String) -> [Int]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let numbers = parts.compactMap { $0.utf8.count < 10 && $0.utf8.allSatisfy(digits.contains) ? Int($0) : nil }
        return parts.count == 3 && numbers.count == 3 ? numbers : nil
    }
}

extension ParameterValue {
    /// The value in YAML's flow style.
    fileprivate var yaml: String {
        switch self {
        case .none: "null"
        case .boolean(let flag): String(flag)
        case .integer(let number): String(number)
        case .number(let number): String(number)
        case .text(let text): text.yaml
        case .list(let items): "[\(items.map(\.yaml).joined(separator: ", "))]"
        }
    }
}

extension String {
    /// A key of the root, as a place of the configuration.
    fileprivate var asPlace: Place { Place.List(rawValue: self).map { Place($0) } ?? .key(self) }

    /// Without quotes, if all versions of YAML read it as the same text; else in double quotes.
    fileprivate var yaml: String {
        let words: Set = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        let isBare =
            first.map { $0.isASCII && $0.isLetter } ?? false
            && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-./".contains($0)) } && !words.contains(lowercased())
        return isBare ? self : doubleQuoted
    }

    /// A JSON string, with escapes also for the characters that YAML does not allow in text.
    private var doubleQuoted: String {
        JSONValue.quoted(self).unicodeScalars.map { scalar in
            [0xFEFF, 0xFFFE, 0xFFFF].contains(scalar.value) ? "\\u\(String(scalar.value, radix: 16))" : String(scalar)
        }.joined()
    }
}
