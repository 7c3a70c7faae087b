internal import Hemiola

/// The part of a preset schedule that is stored between runs, as a JSON object in a file.
struct PersistedState: Sendable, Equatable {
    /// The last preset.
    var preset: String?
    /// The last speed, 0.1…1.0.
    var speed: Double?
    /// The names of the user's favourites; nil: not known, those in the file.
    var favourites: [String]?

    /// More bytes than the name of a preset, which a message of 1 MiB may have, and the longest favourites.
    private static let maximumBytes = 4 << 20

    /// `hemiola/visualizer.json` in the user's state folder.
    ///
    /// - Returns: nil when the environment has neither `XDG_STATE_HOME` nor `HOME`.
    static func defaultPath(_ variable: (String) -> String? = EnvironmentVariable.value) -> String? {
        EnvironmentVariable.stateFolder(variable).map { "\($0)/visualizer.json" }
    }

    /// Reads a state file. A damaged one is renamed to `NAME.damaged`.
    ///
    /// - Parameter warn: Is called with a message when the file cannot be read.
    /// - Returns: The stored state; an empty one when the file does not exist or cannot be read.
    static func read(_ path: String, warn: (String) -> Void) -> PersistedState {
        let bytes: [UInt8]
        do {
            bytes = try FileSystem.bytes(of: path, count: maximumBytes)
        } catch {
            if !error.isMissingFile { warn("\(path): cannot read the state file; starting without the last preset and speed") }
            return PersistedState()
        }
        if let state = try? PersistedState(json: bytes) { return state }
        let newPath = path + ".damaged"
        let isRenamed = (try? PartialFile.write(bytes, to: newPath)) == true && FileSystem.remove(path)
        warn("\(path) is damaged" + (isRenamed ? ", renamed to \(newPath)" : "") + "; starting without the last preset and speed")
        return PersistedState()
    }

    /// Writes a state file atomically: a reader sees the old file or the new one.
    func write(to path: String) throws(SystemCallError) {
        // Without the members that are nil.
        let members = [
            preset.map { JSONValue.Member("preset", .text($0)) }, speed.map { .init("speed", .number($0)) },
            favourites.map { .init("favourites", .list($0.map { .text($0) })) },
        ].compactMap(\.self)
        try FileSystem.createFolder(FileSystem.folder(of: path))
        try PartialFile.write(Array(JSONValue.object(members).line.utf8), to: path)
    }
}

extension PersistedState {
    private init(json: [UInt8]) throws(Problem) {
        let state = try JSONValue(json)
        guard state.members != nil else { throw Problem("not a JSON object") }
        self.init(
            preset: try state.optionalText("preset"), speed: try state.optionalNumber("speed"),
            favourites: state["favourites"] == nil ? nil : try state.texts("favourites"))
    }
}
