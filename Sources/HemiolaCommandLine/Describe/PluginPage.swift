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
        var pages: [PluginPage] = registry.captures.map(Self.init)
        pages += registry.analyzers.map(Self.init)
        pages += registry.sinks.map(Self.init)
        pages += registry.controls.map(Self.init)
        return pages
    }

    /// The pages of an id, which plugins of several roles may share.
    static func pages(_ name: String, of registry: PluginRegistry) throws(Failure) -> [PluginPage] {
        let all = all(of: registry)
        let found = all.filter { $0.about.id == name }
        if !found.isEmpty { return found }
        if let page = all.first(where: { $0.about.aliases[name] != nil }) { return [page] }
        if let control = registry.control(namedAsSink: name) { return [Self(control)] }
        let ids = all.map(\.about.id)
        let hint = name.nearest(in: ids).map { "did you mean \($0)?" } ?? "plugins: \(ids.joined(separator: ", "))"
        throw Failure("unknown plugin \"\(name)\"; \(hint)")
    }

    private init(_ plugin: CapturePlugin) {
        self.init(.capture, plugin.about, common: PluginRegistry.commonSettings, outputs: nil) { values in (try? plugin.make(values)) != nil
        }
    }

    private init(_ plugin: AnalyzerPlugin) {
        var outputs: Result<AnalyzerOutputs, Problem>?
        var problems: [Problem] = []
        if let values = plugin.about.values(from: PluginSpec(plugin.about.id), problems: &problems),
            let analyzer = try? plugin.make(values)
        {
            outputs = Result { () throws(Problem) in try analyzer.prepare(AnalysisFormat(Self.format)) }
        }
        self.init(.analyzer, plugin.about, common: PluginRegistry.commonSettings, outputs: outputs) { values in
            (try? plugin.check(values)) != nil
        }
    }

    private init(_ plugin: SinkPlugin) {
        self.init(.sink, plugin.about, common: PluginRegistry.commonSinkSettings, outputs: nil) { values in
            (try? plugin.make(values)) != nil
        }
    }

    private init(_ plugin: ControlPlugin) {
        self.init(.control, plugin.about, common: PluginRegistry.commonSettings, outputs: nil) { values in
            (try? plugin.sink.make(values)) != nil
        }
    }

    private init(
        _ role: Role, _ about: PluginDescription, common: [Field],
        outputs: Result<AnalyzerOutputs, Problem>?, accepts: (SettingValues) -> Bool
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
        text += section("Settings", about.settings, columns)
        text += section("Settings of every \(role.title)", common, columns)
        if !examples.isEmpty {
            text += "\nSPEC\n" + examples.map { "  \($0)\n" }.joined()
            if let primary = about.primary {
                text += "  \(primary) is the main setting: its key may be omitted.\n"
            }
            text += about.aliasTexts.map { "  \($0)\n" }.joined()
        }
        return text + needsText + declarationText(columns) + outputText(columns)
    }

    /// The libraries that the plugin calls, and whether it uses the network.
    private var needsText: String {
        let libraries = about.libraries.map { "\($0.name): apt install \($0.package)" }
        let lines = libraries + (about.usesNetwork ? ["the network"] : [])
        return lines.isEmpty ? "" : "\nNeeds\n" + lines.map { "  \($0)\n" }.joined()
    }

    private func section(_ title: String, _ settings: [Field], _ columns: Int) -> String {
        if settings.isEmpty { return title == "Settings" ? "\nSettings\n  None.\n" : "" }
        let width = settings.map(\.name.count).max() ?? 0
        var text = "\n\(title)\n"
        for setting in settings {
            text += "  \(setting.name.padded(to: width))  \(setting.valuesText)\n"
            text += setting.summary.wrapped(indent: width + 4, columns: columns)
        }
        return text
    }

    private func outputText(_ columns: Int) -> String {
        switch outputs {
        case nil:
            return ""
        case .failure(let error):
            return "\nOutputs\n  \(error.message)\n"
        case .success(let outputs):
            var text = "\nOutputs for 48000 Hz and 2 channels\n"
            let width = (outputs.features.map(\.name.count) + outputs.events.map(\.name.count)).max() ?? 0
            for feature in outputs.features {
                text += "  \(feature.name.padded(to: width))  \(feature.shapeText)\n"
                text += feature.summary.wrapped(indent: width + 4, columns: columns)
            }
            for event in outputs.events {
                let unit = event.unit.rawValue
                text += "  \(event.name.padded(to: width))  event\(unit.isEmpty ? "" : ", \(unit)")\n"
                text += event.summary.wrapped(indent: width + 4, columns: columns)
            }
            text += "\nLatency  \(outputs.latencyFrames) frames\nCausal   \(outputs.isCausal ? "yes" : "no")\n"
            return text
        }
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
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

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
        members += [.init("aliases", .list(about.aliases.keys.sorted().map { .text($0) }))]
        members += [.init("libraries", .list(about.libraries.map(\.json))), .init("network", .boolean(about.usesNetwork))]
        members += declarationMembers
        if case .success(let outputs) = outputs {
            members += [
                .init("sample_rate", .integer(Self.format.sampleRate)), .init("channels", .integer(Self.format.channelCount)),
                .init("latency_frames", .integer(Int(outputs.latencyFrames))), .init("causal", .boolean(outputs.isCausal)),
                .init("outputs", .list(outputs.features.map(\.json))),
                .init(
                    "events",
                    .list(
                        outputs.events.map {
                            .object([
                                .init("name", .text($0.name)), .init("unit", .text($0.unit.rawValue)),
                                .init("description", .text($0.summary)),
                            ])
                        })
                ),
            ]
        }
        return .object(members)
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
