internal import ArgumentParser
internal import Hemiola

/// The user's defaults file, `hemiola/defaults.yaml` in the configuration folder: device, analyzers, sinks and control
/// sources of `hemiola listen`.
///
/// Other commands do not read it: their results depend on their arguments only.
struct DefaultsFile {
    /// Limits the memory for the file.
    static let maxByteCount = 64 << 10

    /// What is at the path of the file.
    enum State {
        /// The environment has neither `XDG_CONFIG_HOME` nor `HOME`.
        case noPath
        case missing(path: String)
        case valid(DefaultsFile)
        /// Cannot be read, or has errors: one line each.
        case invalid(path: String, lines: [String])
    }

    let path: String
    /// nil: the file does not set it, as below.
    var device: String?
    var analyzers: [PluginSpec]?
    var sinks: [PluginSpec]?
    var controls: [PluginSpec]?

    /// The keys that are set.
    var keys: [String] {
        let isSet = ["device": device != nil, "analyzers": analyzers != nil, "sinks": sinks != nil, "controls": controls != nil]
        return PipelineFile.Kind.defaults.keys.filter { isSet[$0] == true }
    }

    /// The path of the file; nil when the environment has neither `XDG_CONFIG_HOME` nor `HOME`.
    ///
    /// - Parameter variable: Reads an environment variable.
    static func path(_ variable: (String) -> String? = EnvironmentVariable.value) -> String? {
        EnvironmentVariable.userFolder("XDG_CONFIG_HOME", default: ".config", variable).map { "\($0)/hemiola/defaults.yaml" }
    }

    /// Reads the file of this environment.
    static func state(_ registry: PluginRegistry, at path: String? = Self.path()) -> State {
        guard let path else { return .noPath }
        do {
            return try DefaultsFile(at: path, registry).map { .valid($0) } ?? .missing(path: path)
        } catch {
            return .invalid(path: path, lines: error.lines)
        }
    }

    /// Reads the file of this environment.
    ///
    /// - Returns: nil when there is no file.
    /// - Throws: One line per error, and one with the option that ignores the file.
    static func read(_ registry: PluginRegistry) throws(Failure) -> DefaultsFile? {
        switch state(registry) {
        case .noPath, .missing: return nil
        case .valid(let defaults): return defaults
        case .invalid(_, let lines) where lines.count == 1: throw Failure("\(lines[0]); --no-defaults ignores the file")
        case .invalid(_, let lines): throw Failure(lines + ["fix the defaults file, or ignore it with --no-defaults"])
        }
    }

    /// - Returns: nil when there is no file.
    private init?(at path: String, _ registry: PluginRegistry) throws(Failure) {
        let title = PathText.shown(path)
        let bytes: [UInt8]
        do {
            // One byte above the limit is enough to detect a file that is too large.
            bytes = try FileSystem.bytes(of: path, count: Self.maxByteCount + 1)
        } catch {
            // HOME may be the folder of another user, which this one cannot enter.
            if error.isMissingFile || !FileSystem.exists(path) { return nil }
            throw Failure("cannot read \(title): \(error)")
        }
        do {
            // The file decides which programs run.
            try TrustedPath.check(path, for: "the defaults file")
        } catch {
            throw Failure(error.message)
        }
        guard bytes.count <= Self.maxByteCount else { throw Failure("\(title): the file has more than \(Self.maxByteCount >> 10) KiB") }
        try self.init(try PipelineFile.text(of: bytes, title: title), path: path, title: title, registry)
    }

    /// - Throws: One line per error.
    init(_ text: String, path: String, title: String, _ registry: PluginRegistry) throws(Failure) {
        let file = try PipelineFile(checking: text, kind: .defaults, title: title, registry)
        self.path = path
        device = file.device
        analyzers = file.given.contains("analyzers") ? file.configuration.analyzers : nil
        sinks = file.given.contains("sinks") ? file.configuration.sinks : nil
        controls = file.given.contains("controls") ? file.configuration.controls : nil
    }
}

struct DefaultsOptions: ParsableArguments {
    @Flag(help: "Ignore ~/.config/hemiola/defaults.yaml.")
    var noDefaults = false
}
