internal import FoundationEssentials
internal import HemiolaRecords
internal import HemiolaSystem

/// The part of a preset schedule that is stored between runs.
struct PersistedState: Sendable, Equatable {
    /// The last preset.
    var preset: String?
    /// The last speed, 0.1…1.0.
    var speed: Double?
}

extension PersistedState {
    fileprivate init(json: [UInt8]) throws(Problem) {
        let state = try JSONValue(json)
        guard state.members != nil else { throw Problem("not a JSON object") }
        self.init(preset: try state.optionalText("preset"), speed: try state.optionalNumber("speed"))
    }

    /// Without the members that are nil.
    fileprivate var json: JSONValue {
        .object([preset.map { .init("preset", .text($0)) }, speed.map { .init("speed", .number($0)) }].compactMap(\.self))
    }
}

/// The file that stores the persisted state, as JSON.
struct StateFile: Sendable, Equatable {
    var path: String

    init(path: String) {
        self.path = path
    }

    /// The state file of a stream.
    ///
    /// - Parameter setting: Its path, `none`, or nil: the default for live runs.
    /// - Returns: nil: the state is not stored.
    init?(_ setting: String?, for stream: StreamHeader) {
        guard setting != "none", let file = setting.map(StateFile.init) ?? (stream.isLive ? .standard() : nil) else { return nil }
        self = file
    }

    /// The default for live runs: `hemiola/visualizer.json` in the user's state directory.
    ///
    /// - Returns: nil when the environment has neither `XDG_STATE_HOME` nor `HOME`.
    static func standard(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> StateFile? {
        // The XDG Base Directory Specification requires that relative paths are ignored.
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            return StateFile(path: "\(state)/hemiola/visualizer.json")
        }
        return environment["HOME"].map { StateFile(path: "\($0)/.local/state/hemiola/visualizer.json") }
    }

    /// Reads the state. A damaged file is renamed to `NAME.damaged`.
    ///
    /// - Parameter warn: Is called with a message when the file cannot be read.
    /// - Returns: The stored state; an empty one when the file does not exist or cannot be read.
    func read(warn: (String) -> Void) -> PersistedState {
        guard FileManager.default.fileExists(atPath: path) else { return PersistedState() }
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            warn("\(path): cannot read the state file; starting without the last preset and speed")
            return PersistedState()
        }
        if let state = try? PersistedState(json: Array(data)) { return state }
        let newPath = path + ".damaged"
        try? FileManager.default.removeItem(atPath: newPath)
        let isRenamed = (try? FileManager.default.moveItem(atPath: path, toPath: newPath)) != nil
        warn("\(path) is damaged" + (isRenamed ? ", renamed to \(newPath)" : "") + "; starting without the last preset and speed")
        return PersistedState()
    }

    /// Writes the state atomically: a reader sees the old file or the new one.
    func write(_ state: PersistedState) throws {
        try FileSystem.createFolder(FileSystem.folder(of: path))
        try PartialFile.write(Array(state.json.line.utf8), to: path)
    }
}
