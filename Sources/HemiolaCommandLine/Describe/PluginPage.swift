internal import Hemiola
internal import HemiolaEngine

/// The declarations of a plugin, as text and JSON.
struct PluginPage {
    enum Role: String, CaseIterable {
        case capture, analyzer, sink, control

        /// As people read it.
        var title: String { self == .control ? "control source" : rawValue }
    }

    /// The format for which the outputs of an analyzer are listed.
    static let format = StreamFormat(sampleRate: 48_000, channelCount: 2)

    let role: Role
    let about: PluginDescription
    /// Settings that every plugin of this role accepts.
    let common: [Field]
    /// The outputs of an analyzer with its default settings, or why it does not support the format.
    let outputs: Result<AnalyzerOutputs, Problem>?
    /// SPECs that the plugin accepts.
    let examples: [String]

    /// The pages of a registry, in its order: captures, analyzers, sinks, control sources.
    static func all(of registry: PluginRegistry) -> [PluginPage] {
        let settings = PluginRegistry.commonSettings
        var pages = registry.captures.map { plugin in Self(.capture, plugin.about, settings) { (try? plugin.make($0)) != nil } }
        pages += registry.analyzers.map { plugin in
            Self(.analyzer, plugin.about, settings, outputs: outputs(of: plugin)) { (try? plugin.check($0)) != nil }
        }
        pages += registry.sinks.map { plugin in
            Self(.sink, plugin.about, PluginRegistry.commonSinkSettings) { (try? plugin.make($0)) != nil }
        }
        return pages + registry.controls.map { plugin in Self(.control, plugin.about, settings) { (try? plugin.sink.make($0)) != nil } }
    }

    /// The pages of an id, which plugins of several roles may share.
    static func pages(_ name: String, of registry: PluginRegistry) throws(Failure) -> [PluginPage] {
        let all = all(of: registry)
        let found = all.filter { $0.about.id == name }
        if !found.isEmpty { return found }
        if let page = all.first(where: { $0.about.aliases[name] != nil }) { return [page] }
        if let control = registry.control(namedAsSink: name)?.about.id {
            return all.filter { $0.role == .control && $0.about.id == control }
        }
        throw Failure("unknown plugin \"\(name)\"; \(name.suggestion(among: all.map(\.about.id), "plugins"))")
    }

    private static func outputs(of plugin: AnalyzerPlugin) -> Result<AnalyzerOutputs, Problem>? {
        var problems: [Problem] = []
        guard let values = plugin.about.values(from: PluginSpec(plugin.about.id), problems: &problems),
            let analyzer = try? plugin.make(values)
        else { return nil }
        return Result { () throws(Problem) in try analyzer.prepare(AnalysisFormat(format)) }
    }

    private init(
        _ role: Role, _ about: PluginDescription, _ common: [Field], outputs: Result<AnalyzerOutputs, Problem>? = nil,
        accepts: (SettingValues) -> Bool
    ) {
        self.role = role
        self.about = about
        self.common = PluginRegistry.shared(common, with: about)
        self.outputs = outputs
        examples = about.exampleTexts.filter { text in
            var problems: [Problem] = []
            guard let spec = try? PluginSpec(parsing: text), let values = about.values(from: spec, problems: &problems)
            else { return false }
            return accepts(values)
        }
    }
}

extension PluginDescription {
    /// Example SPECs from the declarations: the id alone, with the primary setting, with another setting.
    ///
    /// The other setting comes with the default choice of the primary one: those that are declared first are the ones that it uses.
    fileprivate var exampleTexts: [String] {
        let main = settings.first { $0.name == primary }
        let first = settings.first { $0.name != primary }.map { "\($0.name)=\($0.exampleText)" }
        var texts = [id]
        if let main { texts.append("\(id):\(main.exampleText)") }
        if let first {
            var start = ""
            if let main {
                let isChoice = !main.candidates.isEmpty
                start = (isChoice ? main.defaultValue?.text ?? main.exampleText : main.exampleText) + ","
            }
            texts.append("\(id):\(start)\(first)")
        }
        return texts
    }

    /// `ddp stands for lights:protocol=ddp`
    fileprivate var aliasTexts: [String] {
        aliases.sorted { $0.key < $1.key }.map { alias, settings in
            "\(alias) stands for \(id):" + settings.map { "\($0.key)=\($0.value.text)" }.sorted().joined(separator: ",")
        }
    }
}

// MARK: - Text

extension PluginPage {
    /// One line per plugin, grouped by role.
    static func list(_ pages: [PluginPage]) -> String {
        let width = pages.map(\.about.id.count).max() ?? 0
        var text = ""
        for role in Role.allCases {
            let rows = pages.filter { $0.role == role }
            if rows.isEmpty { continue }
            text += "\(text.isEmpty ? "" : "\n")\(role.title)s\n"
            for page in rows { text += "  \(page.about.id.padded(to: width))  \(page.about.summary)\n" }
        }
        return text + "\nFor the settings of a plugin: hemiola plugins NAME\n"
    }

    /// - Parameter columns: The width of the terminal.
    func text(columns: Int) -> String {
        var text = "\(about.id): \(role == .analyzer ? "an" : "a") \(role.title), version \(about.version)\n\(about.summary)\n"
        text += "\nSettings\n" + (about.settings.isEmpty ? "  None.\n" : lines(about.settings, 2, columns))
        if !common.isEmpty { text += "\nSettings of every \(role.title)\n" + lines(common, 2, columns) }
        if !examples.isEmpty {
            text += "\nSPEC\n" + examples.map { "  \($0)\n" }.joined()
            if let primary = about.primary {
                text += "  \(primary) is the main setting: its key may be omitted.\n"
            }
            text += about.aliasTexts.map { "  \($0)\n" }.joined()
        }
        let needs = about.libraries.map { "\($0.name): apt install \($0.package)" } + (about.usesNetwork ? ["the network"] : [])
        if !needs.isEmpty { text += "\nNeeds\n" + needs.map { "  \($0)\n" }.joined() }
        for (title, _, items) in declarations where !items.isEmpty {
            let width = items.map(\.name.count).max() ?? 0
            text += "\n\(title)\n"
            for item in items {
                text += "  \(item.name.padded(to: width))  "
                text += item.summary.wrapped(indent: width + 4, columns: columns).drop { $0 == " " }
                text += lines(item.fields, 4, columns)
            }
        }
        return text + outputText(columns)
    }

    private func outputText(_ columns: Int) -> String {
        switch outputs {
        case nil: return ""
        case .failure(let error): return "\nOutputs\n  \(error.message)\n"
        case .success(let outputs):
            let features = outputs.features.map { (name: $0.name, text: $0.shapeText, summary: $0.summary) }
            let events = outputs.events.map { event in
                (name: event.name, text: "event" + (event.unit.rawValue.isEmpty ? "" : ", \(event.unit.rawValue)"), summary: event.summary)
            }
            return "\nOutputs for 48000 Hz and 2 channels\n" + lines(features + events, 2, columns)
                + "\nLatency  \(outputs.latencyFrames) frames\nCausal   \(outputs.isCausal ? "yes" : "no")\n"
        }
    }

    private func lines(_ fields: [Field], _ indent: Int, _ columns: Int) -> String {
        lines(fields.map { ($0.name, $0.valuesText, $0.summary) }, indent, columns)
    }

    /// A line with name and text for each item, with a description below.
    private func lines(_ items: [(name: String, text: String, summary: String)], _ indent: Int, _ columns: Int) -> String {
        let width = items.map(\.name.count).max() ?? 0
        let margin = String(repeating: " ", count: indent)
        return items.map { name, text, summary in
            "\(margin)\(name.padded(to: width))  \(text)\n" + summary.wrapped(indent: indent + width + 2, columns: columns)
        }.joined()
    }

    /// The record types and controls that the plugin declares, as titles of the text and keys of the JSON object.
    private var declarations: [(title: String, key: String, items: [(name: String, summary: String, fields: [Field])])] {
        [
            ("Records", "records", about.records.map { ($0.name, $0.summary, $0.fields) }),
            ("Controls", "controls", about.controls.map { ($0.name, $0.summary, $0.fields) }),
            (
                "Controls handled only if no other plugin of the pipeline handles them", "fallback_controls",
                about.fallbackControls.map { ($0.name, $0.summary, $0.fields) }
            ),
        ]
    }
}

extension Feature {
    /// `64 values, dBFS, -120...`
    fileprivate var shapeText: String {
        if isCategory { return "\(labels.joined(separator: ", ")); its number is \(numberName)" }
        var parts = [isArray ? "\(count) value\(count == 1 ? "" : "s")" : "a value"]
        if !unit.rawValue.isEmpty { parts.append(unit.rawValue) }
        if minimum != nil || maximum != nil {
            let ends = [minimum, maximum].map { $0.map { ParameterValue.number($0).text } ?? "" }
            parts.append(ends.joined(separator: "..."))
        }
        return parts.joined(separator: ", ")
    }
}

extension String {
    /// The text with blanks behind it, up to a width in columns.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }

    /// The text wrapped at `columns`, each line indented and with a newline.
    func wrapped(indent: Int, columns: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > max(columns, indent + 20) {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        if !line.isEmpty { lines.append(line) }
        return lines.map { "\(margin)\($0)\n" }.joined()
    }
}

// MARK: - JSON

extension PluginPage {
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("role", .text(role.rawValue)), .init("id", .text(about.id)), .init("version", .integer(about.version)),
            .init("description", .text(about.summary)), .init("primary", about.primary.map { .text($0) } ?? .null),
            .init("settings", .list((about.settings + common).map(\.settingJSON))), .init("examples", .list(examples.map { .text($0) })),
        ]
        members += [
            .init("aliases", .list(about.aliases.keys.sorted().map { .text($0) })), .init("libraries", .list(about.libraries.map(\.json))),
            .init("network", .boolean(about.usesNetwork)),
        ]
        members += declarations.map { declaration in
            .init(declaration.key, .list(declaration.items.map { Self.json($0.name, $0.summary, $0.fields) }))
        }
        if case .success(let outputs) = outputs {
            members += [
                .init("sample_rate", .integer(Self.format.sampleRate)), .init("channels", .integer(Self.format.channelCount)),
                .init("latency_frames", .integer(Int(outputs.latencyFrames))), .init("causal", .boolean(outputs.isCausal)),
                .init("outputs", .list(outputs.features.map(\.json))), .init("events", .list(outputs.events.map(\.json))),
            ]
        }
        return .object(members)
    }

    private static func json(_ name: String, _ summary: String, _ fields: [Field]) -> JSONValue {
        .object([.init("name", .text(name)), .init("description", .text(summary)), .init("fields", .list(fields.map(\.json)))])
    }
}

extension Feature {
    fileprivate var json: JSONValue {
        .object([
            .init("name", .text(name)), .init("unit", .text(unit.rawValue)), .init("count", .integer(count)),
            .init("list", .boolean(isArray)),
            .init("minimum", minimum.map { .number($0) } ?? .null), .init("maximum", maximum.map { .number($0) } ?? .null),
            .init("labels", .list(labels.map { .text($0) })), .init("description", .text(summary)),
        ])
    }
}

extension EventOutput {
    fileprivate var json: JSONValue {
        .object([.init("name", .text(name)), .init("unit", .text(unit.rawValue)), .init("description", .text(summary))])
    }
}
