import Foundation

/// The rules for sources that no compiler checks. That a target imports only what Package.swift lists for it is checked by the build
/// (`--explicit-target-dependency-import-check`).
struct Architecture {
    /// The types of errors: what is wrong, for people; a system call that failed; why a command ends.
    static let errors: Set = ["Problem", "SystemCallError", "Failure"]
    /// C libraries, each with the files or folders that import it.
    static let wrappers: [String: [String]] = [
        "CAbletonLink": ["Sources/HemiolaNetwork/LinkSession.swift"],
        "CALSA": ["Plugins/Sinks/Messages/MIDI/SequencerPort.swift"],
        "CArchive": ["Sources/HemiolaCommandLine/Presets/Archive.swift"],
        "CFFTW": ["Sources/HemiolaSignal/RealFFT.swift"],
        "CSndFile": ["Plugins/Captures/File/Decoders/SndFileDecoder.swift", "Plugins/Sinks/Files/Audio/SoundFileEncoder.swift"],
        "CFLAC": ["Plugins/Captures/File/Decoders/FLACDecoder.swift"],
        "CMPG123": ["Plugins/Captures/File/Decoders/MPEGDecoder.swift", "Plugins/Captures/File/Decoders/ID3Tags.swift"],
        "CXiph": [
            "Plugins/Captures/File/Decoders/OggReader.swift", "Plugins/Captures/File/Decoders/OggDecoder.swift",
            "Plugins/Captures/File/Decoders/VorbisDecoder.swift", "Plugins/Captures/File/Decoders/OpusDecoder.swift",
        ],
        "CPulse": ["Plugins/Captures/Pulse/Client/"], "CYAML": ["Sources/HemiolaFieldMaps/YAMLEventReader.swift"],
        "CFieldMaps": ["Sources/HemiolaFieldMaps/FieldMap+BuiltIn.swift"],
        "CBuildRecord": ["Sources/HemiolaCommandLine/Describe/ProgramBuild.swift"],
        "CPluginExamples": ["Sources/HemiolaCommandLine/Describe/PluginTemplate.swift"],
        "CCairo": ["Plugins/Sinks/Files/Picture/Canvas.swift"],
        "CEBUR128": ["Plugins/Analyzers/Loudness/WeightedEnergy.swift"],
        "CVamp": [
            "Plugins/Analyzers/Vamp/Host/VampLibrary.swift", "Plugins/Analyzers/Vamp/Host/VampInstance.swift", "Sources/HemiolaVamp/",
        ],
        "CZstd": ["Sources/HemiolaFiles/ZstdStream.swift"], "CQREncode": ["Plugins/Sinks/Visualizers/Web/QRCode.swift"],
        "CMosquitto": ["Plugins/Sinks/Messages/MQTT/MQTTConnection.swift"],
        "CWebPage": ["Sources/HemiolaBridge/Web/PageFiles.swift"],
        "CBeatWeights": ["Plugins/Analyzers/Beat/BeatNetwork.swift", "Plugins/Analyzers/Beat/NetworkWeights.swift"],
    ]
    /// System calls, which HemiolaSystem makes for all other modules: a regular expression.
    static let systemCalls =
        #"\berrno\b|\b(fcntl|ioctl|fstat|lstat|pread|pwrite|poll|flock|getenv|geteuid|waitpid|sigaction|bind|setsockopt|getsockopt)\("#
    /// Calls, types and words that stand in one place, so that there is one clock, two wake-ups, one back-off, one line splitter, one atomic
    /// replacement of files, one JSON tree and one `async` function: a regular expression, and the files where it may match.
    static let places: [(pattern: String, files: [String])] = [
        (
            #"\b(clock_gettime|gettimeofday|time\(nil|ContinuousClock|SuspendingClock|systemUptime)"#,
            ["Sources/HemiolaSystem/MonotonicTime.swift"]
        ),
        (
            // The clock that all else is given, the limits of calls and programs, log lines, and what measures delays.
            #"\bMonotonicTime\.now\b|\.now\(\)"#,
            [
                "Sources/HemiolaSystem/MonotonicClock.swift", "Sources/HemiolaSystem/Deadline.swift",
                "Sources/HemiolaSystem/Condition.swift", "Sources/HemiolaSystem/ProgramTimeLimit.swift",
                "Sources/HemiolaSystem/RunningProgram.swift",
                "Sources/HemiolaCommandLine/Doctor/ListeningProgram.swift", "Plugins/Captures/Pulse/Client/PulseLoopback.swift",
            ]
        ),
        (#"\b(usleep|nanosleep)\("#, ["Sources/HemiolaSystem/MonotonicTime.swift", "Sources/HemiolaSystem/WakeUp.swift"]),
        (#"\bstrerror(_r)?\("#, ["Sources/HemiolaSystem/SystemCallError.swift"]),
        (#"\b(pthread_cond_|sem_(init|wait|timedwait|post))"#, ["Sources/HemiolaSystem/Condition.swift"]),
        (#"\b(eventfd|socketpair|pipe2?)\("#, ["Sources/HemiolaSystem/Spawn.swift"]),
        (#"\bPipeEnds\(\)"#, ["Sources/HemiolaSystem/WakeUp.swift", "Sources/HemiolaSystem/RunningProgram.swift"]),
        (#"\b(struct|class|enum|actor) \w*(Delay|Back[Oo]ff)\b"#, ["Sources/HemiolaSystem/RetryDelay.swift"]),
        (#"\b(struct|class|enum|actor) \w*Splitter\b"#, ["Sources/HemiolaSystem/LineSplitter.swift"]),
        (#"\brename(at2?)?\(|options: \.atomic"#, ["Sources/HemiolaSystem/PartialFile.swift"]),
        (
            #"\b(JSONDecoder|JSONEncoder|JSONSerialization|Decodable|Encodable|Codable|enum \w*(JSON|Tree)\w*)\b"#,
            ["Sources/HemiolaRecords/JSON/JSONValue.swift"]
        ),
        (#"\basync\b(?!-signal)"#, ["Sources/HemiolaEngine/Run/Pipeline+Run.swift"]),
    ]

    /// Path → text of all sources.
    let files: [String: String]

    init(files: [String: String]) {
        self.files = files
    }

    /// Reads a checkout.
    init(root: URL) throws {
        var files: [String: String] = [:]
        for folder in ["Sources", "Plugins"] {
            for path in try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            where path.hasSuffix(".swift") && !path.contains("Tests/") && !path.hasSuffix("Package.swift") {
                files["\(folder)/\(path)"] = try String(contentsOf: root.appending(path: "\(folder)/\(path)"), encoding: .utf8)
            }
        }
        self.init(files: files)
    }

    /// All violations of the rules, one sentence each.
    var violations: [String] {
        files.keys.sorted().flatMap { Self.violations(in: files[$0] ?? "", at: $0) }
    }

    private static func violations(in text: String, at path: String) -> [String] {
        var result = misplaced(in: text, at: path)
        for module in imports(in: text) {
            if let files = wrappers[module], !files.contains(where: { $0.hasSuffix("/") ? path.hasPrefix($0) : path == $0 }) {
                result.append("\(path) imports \(module), which only \(files.joined(separator: " and ")) may import")
            }
            if module == "Foundation" { result.append("\(path) imports Foundation, which links ICU, 40 MB; use HemiolaSystem") }
        }
        if text.contains("UInt8(bitPattern:") || text.contains("CChar(bitPattern:") {
            result.append("\(path) converts a CChar with bitPattern, but it is unsigned on arm64; use truncatingIfNeeded")
        }
        for name in errorTypes(in: text) where !errors.contains(name) {
            result.append("\(path) declares the error \(name); throw a Problem")
        }
        return result + unexplained(in: text).map { "\(path):\($0.line) has \($0.what) without a reason next to it" }
    }

    /// The modules that a file imports, with any attributes and access levels. Indented lines are text for other programs.
    static func imports(in text: String) -> [String] {
        let line =
            /^(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)/
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
        let calls = path.hasPrefix("Sources/HemiolaSystem/") || path.hasPrefix("Sources/HemiolaVamp/") ? [] : [systemCalls]
        let system = calls.compactMap { code.range(of: $0, options: .regularExpression) }.map {
            "\(path) has \(code[$0]), which belongs to HemiolaSystem"
        }
        return system
            + places.compactMap { pattern, files in
                guard !files.contains(path), let match = code.range(of: pattern, options: .regularExpression) else { return nil }
                return "\(path) has \(code[match]), which belongs to \(files.joined(separator: " and "))"
            }
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
