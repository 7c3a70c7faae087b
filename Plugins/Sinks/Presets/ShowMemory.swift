internal import FoundationEssentials
internal import HemiolaOutput

/// What is remembered of a show until the next.
struct ShowMemory: Codable, Sendable, Equatable {
    /// The last preset.
    var preset: String?
    /// The last speed, 0.1…1.0.
    var speed: Double?
}

/// The file that a show is remembered in.
struct MemoryFile: Sendable, Equatable {
    var path: String

    /// Where a live show is remembered when nobody says otherwise: in the user's state directory.
    ///
    /// - Returns: nil when the environment names neither that nor a home.
    static func standard(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> MemoryFile? {
        // A relative path there is invalid and has to be ignored, says the XDG Base Directory Specification.
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            return MemoryFile(path: "\(state)/hemiola/visualizer.json")
        }
        return environment["HOME"].map { MemoryFile(path: "\($0)/.local/state/hemiola/visualizer.json") }
    }

    /// Reads it; one that cannot be understood is set aside.
    ///
    /// - Parameter warn: Hears what is wrong with it.
    func read(warn: (String) -> Void) -> ShowMemory {
        guard FileManager.default.fileExists(atPath: path) else { return ShowMemory() }
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            warn("cannot read \(path); the last preset and speed are not known")
            return ShowMemory()
        }
        if let memory = try? JSONDecoder().decode(ShowMemory.self, from: data) { return memory }
        let aside = path + ".damaged"
        try? FileManager.default.removeItem(atPath: aside)
        let isAside = (try? FileManager.default.moveItem(atPath: path, toPath: aside)) != nil
        warn("\(path) is damaged" + (isAside ? " and now \(aside)" : "") + "; the last preset and speed are not known")
        return ShowMemory()
    }

    /// Writes it as a whole: who reads it sees the old one or the new one.
    func write(_ memory: ShowMemory) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let folder = OutputTarget.folder(of: path)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try (try encoder.encode(memory) + Data("\n".utf8)).write(to: URL(filePath: path), options: .atomic)
    }
}
