internal import ArgumentParser
internal import Hemiola
internal import HemiolaEngine
internal import Synchronization

/// Candidates for the shell's completion (the Tab key): plugins, their settings, devices, record types, controls.
///
/// The completion script runs this program, which reads them from its registry. Additional plugins are completed too.
struct Completions: Sendable {
    /// The instance of the running program. Global, because ArgumentParser's callbacks take no context.
    private static let current = Mutex(Completions(PluginRegistry()))

    private let registry: PluginRegistry

    init(_ registry: PluginRegistry) {
        self.registry = registry
    }

    func makeCurrent() {
        Self.current.withLock { $0 = self }
    }

    /// The record types and controls that the running program declares.
    static var catalog: RecordCatalog { current.withLock { $0.registry.catalog } }

    /// The completion of an option's or argument's value.
    static func kind(_ candidates: @escaping @Sendable (Completions, _ prefix: String) -> [String]) -> CompletionKind {
        .custom { words, index, _ in
            let word = words.indices.contains(index) ? words[index] : ""
            let found = candidates(current.withLock { $0 }, word).filter { $0.hasPrefix(word) }
            // zsh reads an unescaped colon as the end of the completion and the start of its description.
            return CompletionShell.requesting == .zsh ? found.map { $0.replacing(":", with: "\\:") } : found
        }
    }

    static let analyzer = kind { completions, prefix in
        let sign = prefix.hasPrefix("+") ? "+" : ""
        return completions.specs(
            String(prefix.dropFirst(sign.count)), completions.registry.analyzers, common: PluginRegistry.commonSettings
        ).map { sign + $0 }
    }
    static let sink = kind { $0.specs($1, $0.registry.sinks, common: PluginRegistry.commonSinkSettings) }
    static let controlSource = kind { $0.specs($1, $0.registry.controls, common: PluginRegistry.commonSettings) }
    static let capture = kind { $0.specs($1, $0.registry.captures, common: PluginRegistry.commonSettings) }
    static let device = kind { completions, _ in completions.devices }
    static let selection = kind { completions, prefix in completions.selections(prefix) }
    static let plugin = kind { completions, _ in completions.registry.declarations.map(\.id) }
    static let control = kind { completions, _ in ControlMessage.types(completions.registry.catalog) }
    static let controlField = CompletionKind.custom { words, index, prefix in
        let completions = current.withLock { $0 }
        let word = words.indices.contains(index) ? words[index] : prefix
        let found: [String] =
            switch words.first(where: { PageRequest.types.contains($0) }) {
            case "import": paths(besides: word) + ["name=", "page="]
            case "call": ["function=", "arguments=", "page="]
            case "tabs": paths(besides: word)
            case "wait": ["ready"]
            case "window" where words.contains("snapshot"): paths(besides: word)
            case "window" where words.contains("fullscreen"): ["true", "false"]
            case "window": PageRequest.windowRequests
            default: completions.registry.catalog.fieldsOfControls.map { "\($0.name)=" }
            }
        return found.filter { $0.hasPrefix(word) }
    }

    /// The files and folders in the folder of a path; folders end with a slash.
    private static func paths(besides prefix: String) -> [String] {
        let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        let entries = (try? FileSystem.entries(of: folder.isEmpty ? "." : folder)) ?? []
        return entries.map { folder + $0.name + ($0.kind == .folder ? "/" : "") }.sorted()
    }

    // MARK: - Candidates

    /// Continuations of `id:key=value,key=value`.
    ///
    /// - Parameter common: Settings that every plugin of this role accepts.
    func specs(_ prefix: String, _ plugins: [some Plugin], common: [Field] = []) -> [String] {
        guard let colon = prefix.firstIndex(of: ":") else {
            return plugins.map { $0.about.settings.isEmpty ? $0.about.id : "\($0.about.id):" }
        }
        guard let plugin = plugins.first(id: String(prefix[..<colon])) else { return [] }
        let about = plugin.about
        let settings = about.settings + PluginRegistry.shared(common, with: about)
        // The text before the current setting is kept.
        let start = prefix.lastIndex(of: ",").map { prefix.index(after: $0) } ?? prefix.index(after: colon)
        let (head, item) = (prefix[..<start], prefix[start...])
        let given = prefix[prefix.index(after: colon)..<start].split(separator: ",").map { $0.prefix { $0 != "=" } }
        if let sign = item.firstIndex(of: "=") {
            let key = item[..<sign]
            let values = settings.first { $0.name == key }.map { self.values(of: $0, about) } ?? []
            return values.map { "\(head)\(key)=\($0)" }
        }
        let primary = given.isEmpty ? settings.first { $0.name == about.primary }.map { self.values(of: $0, about) } ?? [] : []
        let keys = settings.map(\.name).filter { key in !given.contains { $0 == key } }
        return (primary + keys.map { "\($0)=" }).map { "\(head)\($0)" }
    }

    private func values(of setting: Field, _ about: PluginDescription) -> [String] {
        if about.id == registry.liveCapture?.id, setting.name == about.primary { return devices }
        return setting.candidates
    }

    /// Values of `--device`; without a sound server only `auto` and `auto-input`.
    var devices: [String] {
        let lists = registry.captures.compactMap(\.devices).compactMap { list in try? list() }
        return ["auto", "auto-input"] + lists.flatMap { $0.devices.map(\.name) }
    }

    /// Record types, default analyzers and their features, appended to the items before the current one.
    private func selections(_ prefix: String) -> [String] {
        let start = prefix.lastIndex { $0 == "," || $0 == "+" }.map { prefix.index(after: $0) } ?? prefix.startIndex
        let configuration = PipelineConfiguration(captures: [captureSpec(for: "-")], analyzers: registry.defaultAnalyzers)
        let analyzers = (try? registry.assemble(configuration).describeAnalyzers(for: PluginPage.format)) ?? []
        let features = analyzers.flatMap { analyzer in
            [analyzer.name] + analyzer.outputs.features.map { "\(analyzer.name).\($0.name)" }
        }
        return (registry.catalog.recordTypes + features).map { prefix[..<start] + $0 }
    }
}

/// Changes ArgumentParser's completion script for bash so that it completes SPECs as one word.
enum BashCompletion {
    /// bash splits words at `:` and `=`: the generated function would receive `spectrum`, `:` and `bands` as three arguments.
    /// The additional function joins them first, and removes from each candidate the part that bash treats as separate words. No
    /// space follows a candidate that ends with `:` or `=`.
    static func joiningWords(in script: String, command: String = "hemiola") -> String {
        let registration = "complete -o filenames -F _\(command) \(command)"
        guard let range = script.firstRange(of: registration) else { return script }
        let function = """
            _\(command)_joined() {
                local line="${COMP_LINE}" word rest previous="" typed="${2}"
                local -a joined=()
                local -i index=0 current=0
                for word in "${COMP_WORDS[@]}"; do
                    rest="${line#"${line%%[![:space:]]*}"}"
                    if [[ "${#joined[@]}" -gt 0 && -n "${word}" && "${rest}" = "${line}" ]]; then
                        joined[${#joined[@]}-1]+="${word}"
                    else
                        joined+=("${word}")
                    fi
                    if [[ "${index}" -eq "${COMP_CWORD}" ]]; then
                        current=$((${#joined[@]} - 1))
                        # Text right of the cursor is not completed.
                        break
                    fi
                    line="${rest#"${word}"}"
                    index+=1
                done
                local -a COMP_WORDS=("${joined[@]}")
                local -i COMP_CWORD="${current}"
                local whole="${joined[${current}]}"
                if [[ "${current}" -gt 0 ]]; then previous="${joined[${current}-1]}"; fi
                COMPREPLY=()
                _\(command) "${1}" "${whole}" "${previous}"
                COMPREPLY=("${COMPREPLY[@]#"${whole%"${typed}"}"}")
                if [[ "${#COMPREPLY[@]}" -eq 1 && "${COMPREPLY[0]}" = *[:=] ]]; then
                    compopt -o nospace 2>/dev/null
                fi
            }

            complete -o filenames -F _\(command)_joined \(command)
            """
        return script[..<range.lowerBound] + function + script[range.upperBound...]
    }
}
