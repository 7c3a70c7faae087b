internal import Hemiola
internal import HemiolaEngine
internal import HemiolaFieldMaps
internal import HemiolaRecords

/// A parsed pipeline file: the configuration and the errors of the file itself.
///
/// The registry validates the settings of the plugins: `PipelinePlan.init(_:pipelineFile:)` reports the errors of both.
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
                    "min_version", "captures", "inputs", "analyzers", "sinks", "batch", "rate", "realtime", "whole_file", "seed", "jobs",
                    "select", "sync",
                ]
            case .defaults: ["device", "analyzers", "sinks"]
            }
        }
    }

    private let kind: Kind
    private(set) var configuration = PipelineConfiguration()
    /// The device of a file of defaults.
    private(set) var device: String?
    /// The keys with a value other than null.
    private(set) var given: Set<String> = []
    /// By path: `sinks[1].period_s`.
    private(set) var problems: [ConfigurationProblem] = []
    /// That this program is too old for the file, which explains all other problems.
    private(set) var versionProblem: ConfigurationProblem?
    /// The place of every path in the file.
    private(set) var places: [String: YAMLNode.Place] = [:]
    /// The file's path of each element of the configuration's lists. Elements that could not be read are in neither.
    private var paths: [String: [String]] = ["captures": [], "analyzers": [], "sinks": []]
    private let registry: PluginRegistry

    /// Reads a file's text.
    ///
    /// - Throws: The text is not YAML, or its root is not a map.
    init(_ text: String, kind: Kind = .pipeline, registry: PluginRegistry) throws(YAMLNode.SyntaxError) {
        self.kind = kind
        self.registry = registry
        configuration.analyzers = registry.defaultAnalyzers
        paths["analyzers"] = registry.defaultAnalyzers.map { _ in "analyzers" }
        switch kind {
        case .pipeline:
            configuration.sinks = [PluginSpec(PipelinePlan.jsonLines)]
            paths["sinks"] = ["sinks"]
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
            throw YAMLNode.SyntaxError(message: message, place: root.place)
        }
    }

    /// A problem from `assemble`, with the file's own path; nil when a problem of the file already reports it.
    func located(_ problem: ConfigurationProblem) -> ConfigurationProblem? {
        if problem.path == "captures",
            kind == .defaults || problems.contains(where: { $0.path.hasPrefix("captures") || $0.path.hasPrefix("inputs") })
        {
            return nil
        }
        if kind == .defaults, problem.path.hasPrefix("captures") { return ConfigurationProblem("device", problem.message) }
        let parts = problem.path.split(separator: "[", maxSplits: 1)
        guard parts.count == 2, let list = paths[String(parts[0])], let end = parts[1].firstIndex(of: "]"),
            let index = Int(parts[1][..<end]), list.indices.contains(index)
        else { return problem }
        return ConfigurationProblem(list[index] + parts[1][parts[1].index(after: end)...], problem.message)
    }

    /// The place of a path in the file; that of its parent when the file does not contain the path.
    func place(of path: String) -> YAMLNode.Place? {
        var path = path[...]
        while true {
            if let place = places[String(path)] { return place }
            guard let cut = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            path = path[..<cut]
        }
    }

    private mutating func report(_ path: String, _ message: String) {
        problems.append(ConfigurationProblem(path, message))
    }

    // MARK: - Keys

    private mutating func read(_ entry: YAMLNode.Entry) {
        places[entry.key] = entry.place
        if case .null = entry.node.content {
            // null is the default. An unknown key is still an error.
            if kind.keys.contains(entry.key) { return }
        }
        given.insert(entry.key)
        guard kind.keys.contains(entry.key) else {
            let hint = entry.key.nearest(in: kind.keys).map { "did you mean \($0)?" } ?? "keys: \(kind.keys.joined(separator: ", "))"
            return report(entry.key, "unknown key; \(hint)")
        }
        switch entry.key {
        case "min_version": checkVersion(entry)
        case "captures", "inputs", "analyzers", "sinks": readList(entry)
        case "batch": read(entry, "a whole number of frames", into: \.batchFrames) { Int($0) }
        case "rate":
            read(entry, "a whole number of hertz or native", into: \.sampleRate) { SampleRateOption(argument: $0).map(\.sampleRate) }
        case "seed": read(entry, "a whole number, 0 or more", into: \.seed) { UInt64($0).map(Optional.some) }
        case "jobs":
            read(entry, "a whole number of files, 0 for one per processor", into: \.jobCount) {
                Int($0).flatMap { $0 < 0 ? nil : $0 == 0 ? System.processorCount : $0 }
            }
        case "realtime": read(entry, "true or false", into: \.isPaced) { Bool($0) }
        case "sync": read(entry, "true or false", into: \.syncsFiles) { Bool($0) }
        case "whole_file": read(entry, "true or false", into: \.usesLookAhead) { Bool($0) }
        case "select":
            if let items = texts(of: entry.node, entry.key) {
                configuration.selection = items.flatMap { $0.split { "+, ".contains($0) }.map(String.init) }
            }
        case "device":
            guard case .value(let value) = entry.node.content, !value.text.isEmpty else {
                return report(entry.key, "\(entry.node.shown) is not the name of a device")
            }
            device = value.text
            if !configuration.captures.isEmpty { configuration.captures[0].primary = .text(value.text) }
        default: preconditionFailure("the key \(entry.key) is not read")
        }
    }

    /// Compares the version that the file needs with that of this program.
    private mutating func checkVersion(_ entry: YAMLNode.Entry) {
        guard case .value(let value) = entry.node.content, let isMet = HemiolaVersion.isAtLeast(value.text) else {
            return report(entry.key, "\(entry.node.shown) is not a version; write three numbers, as \(HemiolaVersion.current)")
        }
        if isMet { return }
        let message =
            "the file needs Hemiola \(value.text), but this is \(HemiolaVersion.current); install a newer version, or lower min_version"
        versionProblem = ConfigurationProblem(entry.key, message)
    }

    private mutating func read<Value>(
        _ entry: YAMLNode.Entry, _ kind: String, into place: WritableKeyPath<PipelineConfiguration, Value>,
        as convert: (String) -> Value?
    ) {
        guard case .value(let raw) = entry.node.content, let value = convert(raw.text) else {
            report(entry.key, "\(entry.node.shown) is not \(kind)")
            return
        }
        configuration[keyPath: place] = value
    }

    private mutating func texts(of node: YAMLNode, _ path: String) -> [String]? {
        switch node.content {
        case .value(let value): return [value.text]
        case .list(let items):
            var texts: [String] = []
            for (index, item) in items.enumerated() {
                guard case .value(let value) = item.content else {
                    report("\(path)[\(index)]", "\(item.shown) is not text")
                    continue
                }
                texts.append(value.text)
            }
            return texts
        default:
            report(path, "\(node.shown) is not a list")
            return nil
        }
    }

    // MARK: - Plugins

    private mutating func readList(_ entry: YAMLNode.Entry) {
        let (role, list): (String, WritableKeyPath<PipelineConfiguration, [PluginSpec]>) =
            switch entry.key {
            case "analyzers": ("analyzers", \.analyzers)
            case "sinks": ("sinks", \.sinks)
            default: ("captures", \.captures)
            }
        // A given list replaces the default, even when it is empty. captures and inputs are joined.
        if role != "captures" { (configuration[keyPath: list], paths[role]) = ([], []) }
        let items: [YAMLNode]
        switch entry.node.content {
        case .list(let list): items = list
        case .value: items = [entry.node]
        default:
            report(entry.key, "\(entry.node.shown) is not a list")
            return
        }
        var specs: [PluginSpec] = []
        var found: [String] = []
        for (index, item) in items.enumerated() {
            let path = "\(entry.key)[\(index)]"
            places[path] = item.place
            guard let spec = entry.key == "inputs" ? input(item, path) : spec(item, path) else { continue }
            specs.append(spec)
            found.append(path)
        }
        configuration[keyPath: list] += specs
        paths[role]! += found
    }

    private mutating func input(_ node: YAMLNode, _ path: String) -> PluginSpec? {
        guard case .value(let value) = node.content, !value.text.isEmpty else {
            report(path, "\(node.shown) is not a path")
            return nil
        }
        return captureSpec(for: value.text)
    }

    /// A SPEC as on the command line, or a map: `{id: spectrum, bands: 32, as: coarse}`.
    private mutating func spec(_ node: YAMLNode, _ path: String) -> PluginSpec? {
        switch node.content {
        case .value(let value):
            do throws(ConfigurationError) {
                return try PluginSpec(parsing: value.text)
            } catch {
                problems += error.problems.map { ConfigurationProblem(path, $0.message) }
                return nil
            }
        case .map(let entries):
            return spec(entries, path)
        default:
            report(path, "\(node.shown) is neither a SPEC nor a map with the key id")
            return nil
        }
    }

    private mutating func spec(_ entries: [YAMLNode.Entry], _ path: String) -> PluginSpec? {
        var spec = PluginSpec("")
        for entry in entries {
            let path = "\(path).\(entry.key)"
            places[path] = entry.place
            switch (entry.key, entry.node.content) {
            case ("id", .value(let value)): spec.id = value.text
            case ("as", .value(let value)): spec.alias = value.text
            case ("id", _), ("as", _):
                if case .null = entry.node.content { break }
                report(path, "\(entry.node.shown) is not text")
            case (_, .null): break
            case (let key, .value(let value)): spec.settings[key] = value
            case (let key, .list(let items)):
                spec.settings[key] = .list(
                    items.compactMap { if case .value(let value) = $0.content { value } else { nil } })
                if items.contains(where: { if case .value = $0.content { false } else { true } }) {
                    report(path, "a list can contain values only")
                }
            case (_, .map): report(path, "\(entry.node.shown) is not the value of a setting")
            }
        }
        if spec.id.isEmpty {
            let hint = entries.map(\.key).compactMap { $0.nearest(in: ["id"]) == nil ? nil : $0 }.first
            report(path, "the key id is missing\(hint.map { "; did you mean id instead of \($0)?" } ?? "; add the id of a plugin")")
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
        text += list(
            "captures",
            configuration.captures.map {
                settings(of: $0, registry.captures.first(id: $0.id), common: PluginRegistry.commonSettings)
            })
        text += list(
            "analyzers",
            analyzers.map { analyzer in
                let spec = configuration.analyzers.first { $0.name == analyzer.name } ?? PluginSpec(analyzer.id, as: analyzer.name)
                // Those that the user has named as well as those that sinks need.
                let common = settings(of: spec, registry.analyzers.first(id: analyzer.id), common: PluginRegistry.commonSettings)
                return [("id", .text(analyzer.id))] + (analyzer.name == analyzer.id ? [] : [("as", .text(analyzer.name))])
                    + analyzer.parameters
                    + common.filter { setting in
                        PluginRegistry.commonSettings.contains { $0.key == setting.key }
                            && !analyzer.parameters.contains { $0.key == setting.key }
                    }
            })
        text += list(
            "sinks",
            configuration.sinks.map {
                settings(of: $0, registry.sinks.first(id: $0.id), common: PluginRegistry.commonSinkSettings)
            })
        text += "batch: \(configuration.batchFrames)\n"
        text += "rate: \(configuration.sampleRate.map(String.init) ?? "null")\n"
        text += "realtime: \(configuration.isPaced)\n"
        text += "whole_file: \(configuration.usesLookAhead)\n"
        text += "seed: \(configuration.seed.map(String.init) ?? "null")\n"
        text += "jobs: \(configuration.jobCount)\n"
        text += "sync: \(configuration.syncsFiles)\n"
        return text + "select: \(ParameterValue.list(configuration.selection.map { .text($0) }).yaml)\n"
    }

    private static func settings(
        of spec: PluginSpec, _ about: PluginDescription?, common: [DeclaredSetting]
    ) -> [(key: String, value: ParameterValue)] {
        let head: [(key: String, value: ParameterValue)] =
            [("id", .text(spec.id))] + (spec.alias.map { [("as", .text($0))] } ?? [])
        guard let about else { return head }
        var whole = about
        whole.settings += PluginRegistry.shared(common, with: about)
        var problems: [ConfigurationProblem] = []
        guard let values = whole.values(from: spec, path: "", problems: &problems) else { return head }
        return head + values.parameters.map { ($0.key, $0.value) }
    }

    private static func list(_ key: String, _ items: [[(key: String, value: ParameterValue)]]) -> String {
        if items.isEmpty { return "\(key): []\n" }
        return "\(key):\n"
            + items.map { item in
                item.enumerated().map { "  \($0 == 0 ? "-" : " ") \($1.key): \($1.value.yaml)\n" }.joined()
            }.joined()
    }
}

extension Array where Element: Plugin {
    fileprivate func first(id: String) -> PluginDescription? {
        first { $0.about.id == id }?.about
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
    /// Without quotes, if all versions of YAML read it as the same text; else in double quotes.
    fileprivate var yaml: String {
        let words: Set = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        let isBare =
            first.map { $0.isASCII && $0.isLetter } ?? false
            && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-./".contains($0)) } && !words.contains(lowercased())
        return isBare ? self : doubleQuoted
    }

    /// A JSON string, with escapes also for the characters that YAML does not allow in text or reads as a line break.
    private var doubleQuoted: String {
        var text = ""
        for scalar in JSONValue.quoted(self).unicodeScalars {
            switch scalar.value {
            case 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
