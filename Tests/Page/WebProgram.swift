import Foundation
import TestSupport
import Testing

/// The program with the sink `web`, a socket for `hemiola send`, and its records in a file. It is killed on deinitialization.
final class WebProgram {
    /// A source of sound. All but files are endless.
    enum Source {
        /// 120 clicks per minute.
        case clicks
        case noise
        case silence
        case file(String)

        var arguments: [String] {
            switch self {
            case .clicks: ["--capture", "tone:clicks,bpm=120,seconds=0"]
            case .noise: ["--capture", "tone:noise,color=pink,level_db=-6,seconds=0"]
            case .silence: ["--capture", "tone:silence,seconds=0"]
            case .file(let path): [path]
            }
        }
    }

    let process: ChildProcess
    let folder: TemporaryFolder
    /// The address that the program prints, with the token.
    let url: String
    private let file: String
    private var offset: UInt64 = 0
    private var rest: [UInt8] = []
    private var unread: [JSONValue] = []

    /// Starts the program and waits until it prints its URL.
    ///
    /// - Parameters:
    ///   - web: Settings of the sink; port 0 is any free port.
    ///   - analyzers: Analyzers besides the default ones.
    ///   - sinks: Further sinks.
    ///   - folder: The folder of an earlier run, whose token is used again.
    init(_ source: Source = .clicks, web: String = "port=0", analyzers: [String] = [], sinks: [String] = [], folder: TemporaryFolder? = nil)
        throws
    {
        self.folder = try folder ?? TemporaryFolder()
        file = "\(UUID().uuidString).jsonl"
        let sinks = ["web:\(web)", "socket:s", "json-lines:\(file)"] + sinks
        process = try ChildProcess(
            Self.path,
            ["analyze"] + source.arguments + ["--realtime"] + analyzers.flatMap { ["--analyzer", "+\($0)"] }
                + sinks.flatMap { ["--sink", $0] }, in: self.folder.path,
            environment: ["XDG_STATE_HOME": self.folder("state")])
        let line = try process.readErrorLine(containing: "web: open http://")
        url = String(try #require(line.split(separator: " ").last { $0.hasPrefix("http://") }))
    }

    /// The path of the program, which the build puts next to these tests. `$HEMIOLA` selects another build.
    static let path: String = {
        if let path = ProcessInfo.processInfo.environment["HEMIOLA"] { return path }
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (tests as NSString).deletingLastPathComponent + "/hemiola"
    }()

    var port: Int { URL(string: url)?.port ?? 0 }
    var origin: String { "http://127.0.0.1:\(port)" }
    var token: String { url.split(separator: "=").last.map(String.init) ?? "" }

    /// The address with further query parameters.
    func address(_ parameters: String) -> String { "\(url)&\(parameters)" }

    /// Runs `hemiola send`.
    func send(_ type: String, _ arguments: [String] = [], timeout seconds: Double = 60) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            Self.path, ["send", type] + arguments + ["--socket", "s"], in: folder.path,
            environment: ["XDG_STATE_HOME": folder("state")], timeout: seconds)
    }

    /// The reply to `hemiola send status`.
    func status() throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(send("status").output.utf8))
    }

    /// Ends the program with an interrupt.
    func stop() throws -> ChildProcess.Outcome {
        process.send(SIGINT)
        return try process.finish()
    }

    /// Waits for the next record of a type that has these members. Records before it are skipped, also for later calls.
    @discardableResult
    func next(_ type: String, _ members: [String: JSONValue] = [:], timeout seconds: Double = 60) throws -> JSONValue {
        var found: JSONValue?
        try wait(seconds, for: "a record \(type) with \(members)") {
            try read()
            guard let index = unread.firstIndex(where: { $0["type"]?.text == type && Self.has($0, members) }) else { return false }
            found = unread[index]
            unread.removeFirst(index + 1)
            return true
        }
        return try #require(found)
    }

    /// The records of a type that no call of `next` has returned or skipped.
    func rest(of type: String) throws -> [JSONValue] {
        try read()
        return unread.filter { $0["type"]?.text == type }
    }

    private static func has(_ record: JSONValue, _ members: [String: JSONValue]) -> Bool {
        members.allSatisfy { record[$0.key] == $0.value }
    }

    /// Reads the lines that the program has added to its file, except batches.
    private func read() throws {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder(file)))
        defer { try? handle.close() }
        try handle.seek(toOffset: offset)
        let bytes = try handle.readToEnd() ?? Data()
        offset += UInt64(bytes.count)
        rest += bytes
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return }
        for line in rest[..<end].split(separator: UInt8(ascii: "\n")) where !line.starts(with: #"{"type":"batch""#.utf8) {
            unread.append(try JSONDecoder().decode(JSONValue.self, from: Data(line)))
        }
        rest.removeFirst(end + 1)
    }
}
