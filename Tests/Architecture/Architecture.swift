import Foundation

/// The layers of Package.swift, which a module that moves to another layer changes here too, and the rules for imports.
struct Architecture {
    /// Module → layer. Plugins are on `pluginLayer` and are found by their folders.
    static let layers = [
        "HemiolaMain": 6,
        "HemiolaCommandLine": 5,
        "HemiolaPlugins": 4, "HemiolaEngine": 4,
        "HemiolaTesting": 3,
        "HemiolaFiles": 2, "HemiolaBridge": 2, "HemiolaFieldMaps": 2, "HemiolaNetwork": 2, "HemiolaPCM": 2,
        "Hemiola": 1, "HemiolaTonal": 1,
        "HemiolaRecords": 0, "HemiolaSignal": -1, "HemiolaSystem": -2,
        "CAbletonLink": -3, "CALSA": -3, "CArchive": -3, "CBeatWeights": -3, "CBuildRecord": -3, "CCairo": -3, "CEBUR128": -3,
        "CFFTW": -3, "CFLAC": -3, "CFieldMaps": -3, "CMPG123": -3, "CMosquitto": -3, "CPulse": -3, "CQREncode": -3, "CSndFile": -3,
        "CVamp": -3, "CWebPage": -3, "CXiph": -3, "CYAML": -3, "CZstd": -3,
    ]
    static let pluginLayer = 3

    /// Modules that name no plugin.
    static let core: Set = [
        "HemiolaSystem", "HemiolaSignal", "HemiolaTonal", "HemiolaRecords", "Hemiola", "HemiolaFiles", "HemiolaPCM", "HemiolaNetwork",
        "HemiolaFieldMaps", "HemiolaBridge", "HemiolaEngine", "HemiolaTesting",
    ]
    /// The most modules in Sources, without `HemiolaMain`.
    static let moduleLimit = 14
    /// The types of errors: what is wrong, for people; a system call that failed; why a command ends.
    static let errors: Set = ["Problem", "SystemCallError", "Failure"]
    /// C libraries, each with the files or folders that import it.
    static let wrappers: [String: [String]] = [
        "CAbletonLink": ["Sources/HemiolaNetwork/LinkSession.swift"],
        "CALSA": ["Plugins/Sinks/Messages/MIDI/SequencerPort.swift"],
        "CArchive": ["Sources/HemiolaCommandLine/Presets/Archive.swift"],
        "CFFTW": ["Sources/HemiolaSignal/RealFFT.swift"],
        "CSndFile": ["Plugins/Captures/File/Decoders/SndFileDecoder.swift", "Plugins/Sinks/Files/Audio/FLACEncoder.swift"],
        "CFLAC": ["Plugins/Captures/File/Decoders/FLACDecoder.swift"],
        "CMPG123": ["Plugins/Captures/File/Decoders/MPEGDecoder.swift", "Plugins/Captures/File/Decoders/ID3Tags.swift"],
        "CXiph": [
            "Plugins/Captures/File/Decoders/OggReader.swift", "Plugins/Captures/File/Decoders/OggDecoder.swift",
            "Plugins/Captures/File/Decoders/VorbisDecoder.swift", "Plugins/Captures/File/Decoders/OpusDecoder.swift",
        ],
        "CPulse": ["Plugins/Captures/Pulse/Client/"], "CYAML": ["Sources/HemiolaFieldMaps/YAMLEventReader.swift"],
        "CFieldMaps": ["Sources/HemiolaFieldMaps/FieldMap+BuiltIn.swift"],
        "CBuildRecord": ["Sources/HemiolaCommandLine/System/System+Libraries.swift"],
        "CCairo": ["Plugins/Sinks/Files/Picture/Canvas.swift"],
        "CEBUR128": ["Plugins/Analyzers/Loudness/WeightedEnergy.swift"],
        "CVamp": ["Plugins/Analyzers/Vamp/Host/VampLibrary.swift", "Plugins/Analyzers/Vamp/Host/VampInstance.swift", "VampPlugin/"],
        "CZstd": ["Sources/HemiolaFiles/ZstdStream.swift"], "CQREncode": ["Plugins/Sinks/Visualizers/Web/QRCode.swift"],
        "CMosquitto": ["Plugins/Sinks/Messages/MQTT/MQTTConnection.swift"],
        "CWebPage": ["Plugins/Sinks/Visualizers/Web/PageFiles.swift"], "CBeatWeights": ["Plugins/Analyzers/Beat/NetworkWeights.swift"],
    ]
    /// Calls, types and words that stand in one place, so that there is one clock, two wake-ups, one back-off, one line splitter, one atomic
    /// replacement of files, one JSON tree and one `async` function: a regular expression, and the files where it may match.
    static let places: [(pattern: String, files: [String])] = [
        (
            #"\b(clock_gettime|gettimeofday|time\(nil|ContinuousClock|SuspendingClock|systemUptime)"#,
            ["Sources/HemiolaSystem/MonotonicTime.swift"]
        ),
        (#"\b(usleep|nanosleep)\("#, ["Sources/HemiolaSystem/MonotonicTime.swift", "Sources/HemiolaSystem/WakeUp.swift"]),
        (#"\bstrerror(_r)?\("#, ["Sources/HemiolaSystem/SystemCallError.swift"]),
        (#"\b(pthread_cond_|sem_(init|wait|timedwait|post))"#, ["Sources/HemiolaSystem/Condition.swift"]),
        (#"\b(eventfd|socketpair|pipe2?)\("#, ["Sources/HemiolaSystem/Spawn.swift"]),
        (
            #"\bPipeEnds\(\)"#,
            [
                "Sources/HemiolaSystem/WakeUp.swift", "Sources/HemiolaSystem/RunningProgram.swift",
                "Sources/HemiolaCommandLine/System/System+Child.swift", "Sources/HemiolaCommandLine/System/System+Player.swift",
            ]
        ),
        (#"\b(struct|class|enum|actor) \w*(Delay|Back[Oo]ff)\b"#, ["Sources/HemiolaSystem/RetryDelay.swift"]),
        (#"\b(struct|class|enum|actor) \w*Splitter\b"#, ["Sources/HemiolaSystem/LineSplitter.swift"]),
        (#"\brename(at2?)?\(|options: \.atomic"#, ["Sources/HemiolaSystem/PartialFile.swift"]),
        (
            #"\b(JSONDecoder|JSONEncoder|JSONSerialization|Decodable|Encodable|Codable|enum \w*(JSON|Tree)\w*)\b"#,
            ["Sources/HemiolaRecords/JSON/JSONValue.swift"]
        ),
        (#"\basync\b(?!-signal)"#, ["Sources/HemiolaEngine/Run/Pipeline.swift"]),
    ]
    /// Uses of `withLock` in sinks and control sources, which have one owner: a lock is for what a thread of their own, a library or a
    /// client shares with it.
    static let lockLimit = 3
    static let withoutFoundation = core.union(["HemiolaCommandLine", "HemiolaPictures"])
    /// External modules that any module may import, and those that only some modules may import. Foundation is in neither: it links ICU,
    /// about 40 MB, into the program.
    static let everywhere: Set = ["Glibc", "Synchronization", "FoundationEssentials"]
    static let outside: [String: [String]] = [
        "ArgumentParser": ["HemiolaCommandLine"], "NIOCore": ["HemiolaBridge", "HemiolaNetwork"],
        "NIOPosix": ["HemiolaBridge", "HemiolaNetwork"], "NIOHTTP1": ["HemiolaBridge"], "NIOWebSocket": ["HemiolaBridge"],
    ]

    /// Path → text of all checked files.
    let files: [String: String]

    init(files: [String: String]) {
        self.files = files
    }

    /// Reads a checkout.
    init(root: URL) throws {
        var files: [String: String] = [:]
        for folder in ["Sources", "Plugins", "VampPlugin"] {
            for path in try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            where path.hasSuffix(".swift") || path.hasSuffix("README.md") || path.hasSuffix("module.modulemap") {
                files["\(folder)/\(path)"] = try String(contentsOf: root.appending(path: "\(folder)/\(path)"), encoding: .utf8)
            }
        }
        files["Package.swift"] = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
        self.init(files: files)
    }

    /// All violations of the rules, one sentence each.
    var violations: [String] {
        let manifest = Manifest(files["Package.swift"] ?? "")
        let sources = files.keys.filter { $0.hasSuffix(".swift") && $0 != "Package.swift" && !$0.contains("/Tests/") }.sorted()
        var result = checkModules(manifest)
        for path in sources {
            guard let target = target(of: path, manifest) else { continue }
            let text = Self.code(of: files[path]!)
            for module in Self.imports(in: text) {
                result += check(module, from: target, isPlugin: path.hasPrefix("Plugins/"), at: path, manifest)
                if let wrappers = Self.wrappers[module],
                    !wrappers.contains(where: { $0.hasSuffix("/") ? path.hasPrefix($0) : path == $0 })
                {
                    result.append("\(path) imports \(module), which only \(wrappers.joined(separator: " and ")) may import")
                }
                let mayUseFoundation = !Self.withoutFoundation.contains(target) && !path.hasPrefix("Plugins/Analyzers/")
                if module.hasPrefix("Foundation"), !mayUseFoundation {
                    result.append("\(path) imports \(module), which \(target) must not import")
                }
                if !manifest.targets.isEmpty, isOurs(module, manifest), manifest.uses(of: target)?.contains(module) == false {
                    result.append("\(path) imports \(module), which Package.swift does not list for \(target)")
                }
            }
            if Self.core.contains(target) {
                for plugin in manifest.plugins.keys.sorted() where Self.words(in: text).contains(Substring(plugin)) {
                    result.append("\(path) names the plugin \(plugin), but is a core module")
                }
            }
            if text.contains("UInt8(bitPattern:") || text.contains("CChar(bitPattern:") {
                result.append("\(path) converts a CChar with bitPattern, but it is unsigned on arm64; use truncatingIfNeeded")
            }
            result += Self.misplaced(in: text, at: path)
            for name in Self.errorTypes(in: text) where !Self.errors.contains(name) {
                result.append("\(path) declares the error \(name); throw a Problem")
            }
            result += Self.unexplained(in: files[path]!).map { "\(path):\($0.line) has \($0.what) without a reason next to it" }
        }
        let modules = Set(files.keys.filter { $0.hasPrefix("Sources/") }.map { $0.split(separator: "/")[1] }).subtracting(["HemiolaMain"])
        if modules.count > Self.moduleLimit { result.append("Sources has \(modules.count) modules, more than \(Self.moduleLimit)") }
        let locks = sources.filter { $0.hasPrefix("Plugins/Sinks/") || $0.hasPrefix("Plugins/Controls/") }
            .reduce(0) { $0 + files[$1]!.components(separatedBy: "withLock").count - 1 }
        if locks > Self.lockLimit { result.append("sinks use withLock \(locks) times, more than \(Self.lockLimit)") }
        return result
    }

    // MARK: - Rules

    private func checkModules(_ manifest: Manifest) -> [String] {
        var result: [String] = []
        var folders: Set<String> = []
        for path in files.keys.sorted() {
            let parts = path.split(separator: "/").map(String.init)
            if parts.first == "Sources", parts.count > 2 {
                if Self.layers[parts[1]] == nil, folders.insert(parts[1]).inserted {
                    result.append("Sources/\(parts[1]) has no layer")
                }
            } else if parts.first == "Plugins", path.hasSuffix(".swift"), target(of: path, manifest) == nil {
                result.append("\(path) belongs to no plugin of Package.swift")
            }
        }
        for folder in manifest.plugins.values.sorted()
        where files["Plugins/\(folder)/README.md"]?.contains(where: { !$0.isWhitespace }) != true {
            result.append("Plugins/\(folder) has no README.md")
        }
        for (name, uses) in manifest.targets.sorted(by: { $0.key < $1.key }) {
            if Self.layers[name] == nil, manifest.plugins[name] == nil {
                result.append("Package.swift has the target \(name), which has no layer")
                continue
            }
            for module in uses {
                result += check(module, from: name, isPlugin: manifest.plugins[name] != nil, at: "Package.swift", manifest)
            }
        }
        return result
    }

    /// Checks that an import points to a lower layer.
    private func check(_ module: String, from target: String, isPlugin: Bool, at path: String, _ manifest: Manifest) -> [String] {
        if module == "Foundation" { return ["\(path) imports Foundation, which links ICU; use FoundationEssentials"] }
        if let owners = Self.outside[module] {
            return owners.contains(target)
                ? [] : ["\(path): \(target) uses \(module), which belongs to \(owners.joined(separator: " and "))"]
        }
        guard isOurs(module, manifest) else {
            return Self.everywhere.contains(module) ? [] : ["\(path): \(target) uses \(module), which is not an allowed module"]
        }
        if manifest.plugins[module] != nil {
            if isPlugin { return ["\(path): the plugin \(target) uses the plugin \(module)"] }
            if Self.core.contains(target) { return ["\(path): \(target) uses the plugin \(module), but is a core module"] }
        }
        let (from, to) = (layer(of: target, manifest), layer(of: module, manifest))
        return to < from ? [] : ["\(path): \(target) on layer \(from) uses \(module) on layer \(to)"]
    }

    private func isOurs(_ module: String, _ manifest: Manifest) -> Bool {
        Self.layers[module] != nil || manifest.plugins[module] != nil
    }

    private func layer(of target: String, _ manifest: Manifest) -> Int {
        Self.layers[target] ?? Self.pluginLayer
    }

    private func target(of path: String, _ manifest: Manifest) -> String? {
        let parts = path.split(separator: "/").map(String.init)
        if parts.first == "Sources", parts.count > 2 { return parts[1] }
        return manifest.plugins.first { path.hasPrefix("Plugins/\($0.value)/") }?.key
    }

    // MARK: - Reading

    /// A file without its string literals of several lines, which may be text of other programs.
    static func code(of text: String) -> String {
        text.replacing(/"""\n(?:.*\n)*?[ \t]*"""/, with: "\"\"")
    }

    /// The modules that a file imports, with any attributes and access levels.
    static func imports(in text: String) -> [String] {
        let line =
            /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)/
        return text.split(separator: "\n").compactMap { $0.firstMatch(of: line).map { String($0.1) } }
    }

    /// The types that a file declares as errors. Comments are not searched.
    static func errorTypes(in text: String) -> [String] {
        let declaration = /\b(?:struct|class|enum|actor|extension)\s+([\w.]+)(?:<[^>]*>)?\s*:[^{\n]*\b(?:Error|LocalizedError)\b/
        let lines = text.split(separator: "\n").filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
        return lines.compactMap { $0.firstMatch(of: declaration).map { String($0.1) } }
    }

    /// Calls and types of `places` in another place. Comments are not searched.
    static func misplaced(in text: String, at path: String) -> [String] {
        let lines = text.split(separator: "\n").filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
        let code = lines.joined(separator: "\n")
        return places.compactMap { pattern, files in
            guard !files.contains(path), let match = code.range(of: pattern, options: .regularExpression) else { return nil }
            return "\(path) has \(code[match]), which belongs to \(files.joined(separator: " and "))"
        }
    }

    private static func words(in text: String) -> Set<Substring> {
        Set(text.split { !($0.isLetter || $0.isNumber || $0 == "_") })
    }

    /// Uses of `@unchecked Sendable` and `nonisolated(unsafe)` without a comment on the same line or directly above.
    static func unexplained(in text: String) -> [(line: Int, what: String)] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        var result: [(Int, String)] = []
        for (index, line) in lines.enumerated() where !line.hasPrefix("//") {
            for what in ["@unchecked Sendable", "nonisolated(unsafe)"] where line.contains(what) {
                if let comment = line.range(of: "//"), line.range(of: what)!.lowerBound < comment.lowerBound { continue }
                var above = index - 1
                while above >= 0, lines[above].hasPrefix("@") { above -= 1 }
                var comment = ""
                while above >= 0, lines[above].hasPrefix("//") {
                    comment += lines[above]
                    above -= 1
                }
                // A doc comment must mention the attribute; any other comment directly above counts as the reason.
                let isReason = comment.contains(what) || (!comment.isEmpty && !comment.hasPrefix("///"))
                if !isReason { result.append((index + 1, what)) }
            }
        }
        return result
    }
}

/// The targets of Package.swift: their dependencies, and the folders of the plugins.
struct Manifest {
    /// Target → dependencies. Tests and their support targets are not included.
    private(set) var targets: [String: [String]] = [:]
    /// Plugin → its folder below Plugins.
    private(set) var plugins: [String: String] = [:]

    init(_ text: String) {
        let call = /(?:\.?\b)(module|plugin|cLibrary|data|executableTarget)\(\s*(?:name:\s*)?"(\w+)"/
        for match in text.matches(of: call) {
            let arguments = Self.arguments(text[match.range.lowerBound...])
            let name = String(match.2)
            var uses = Self.list(after: "uses:", in: arguments) + Self.list(after: "dependencies:", in: arguments)
            if match.1 == "plugin" {
                uses += ["Hemiola", "HemiolaRecords", "HemiolaSignal", "HemiolaSystem"]
                plugins[name] = arguments.firstMatch(of: /at:\s*"([^"]+)"/).map { String($0.1) } ?? ""
            }
            targets[name] = uses
        }
        // Its dependencies are the list of plugins.
        if let uses = targets["HemiolaPlugins"] { targets["HemiolaPlugins"] = uses + plugins.keys + ["Hemiola"] }
    }

    /// - Returns: nil for an unknown target.
    func uses(of target: String) -> [String]? {
        targets[target]
    }

    /// The text of a call, from its name to the closing parenthesis.
    private static func arguments(_ text: Substring) -> Substring {
        var depth = 0
        for index in text.indices {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" {
                depth -= 1
                if depth == 0 { return text[...index] }
            }
        }
        return text
    }

    /// The names in the array after a label. Package.swift has constants for some dependencies, such as `arguments`.
    private static func list(after label: String, in text: Substring) -> [String] {
        guard let start = text.range(of: label), let open = text[start.upperBound...].firstIndex(of: "["),
            let close = text[open...].firstIndex(of: "]")
        else { return [] }
        return text[open..<close].dropFirst().split(separator: ",").compactMap { item in
            let name = item.trimmingCharacters(in: .whitespacesAndNewlines)
            if name == "arguments" { return "ArgumentParser" }
            if name == "nioCore" { return "NIOCore" }
            if name == "nioPosix" { return "NIOPosix" }
            if name == "nioHTTP" { return "NIOHTTP1" }
            if name == "nioWebSocket" { return "NIOWebSocket" }
            return name.hasPrefix("\"") ? name.trimmingCharacters(in: ["\""]) : nil
        }
    }
}
