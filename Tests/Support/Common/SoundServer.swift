public import Foundation
import Glibc

/// A private sound server with a temporary folder. It is killed on deinitialization, and shortly after the end of this process however
/// the process ends.
///
/// Use from one thread. Every wait has a time limit.
public final class SoundServer {
    public enum Kind: String, Sendable, CaseIterable {
        case pulseAudio = "PulseAudio"
        /// PipeWire, wireplumber and pipewire-pulse with a private D-Bus.
        case pipeWire = "PipeWire"

        /// The servers for which tests run.
        public static var expected: [Kind] { allCases.filter(\.tool.isExpected) }

        /// The first missing program, else the first of its programs, for a test's condition.
        public var tool: Tool {
            let tools = programs.map { Tool.program($0) }
            return tools.first { !$0.isThere } ?? tools[0]
        }

        private var programs: [String] {
            switch self {
            case .pulseAudio: ["pulseaudio", "pactl", "pacat"]
            case .pipeWire: ["pipewire", "pipewire-pulse", "wireplumber", "dbus-daemon", "pactl", "pacat"]
            }
        }
    }

    /// A null sink of the server.
    public struct Sink: Sendable {
        public var name: String
        public var sampleRate: Int
        public var channelCount: Int
        /// Its channel positions as for pactl, separated by commas; nil: the server's default for the channel count.
        public var channelMap: String?

        public init(_ name: String, sampleRate: Int = 44_100, channelCount: Int = 2, channelMap: String? = nil) {
            self.name = name
            self.sampleRate = sampleRate
            self.channelCount = channelCount
            self.channelMap = channelMap
        }
    }

    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    public let kind: Kind
    /// The value of PULSE_SERVER.
    public var address: String { "unix:\(socket)" }
    public var socket: String { folder("run/pulse/native") }
    /// Whether all its programs run.
    public var isRunning: Bool { !daemons.isEmpty && daemons.allSatisfy(\.isRunning) }
    /// Process id of the server itself.
    public var identifier: pid_t { daemons.last?.identifier ?? 0 }

    private let folder: TemporaryFolder
    private let sinks: [Sink]
    private let hasSpare: Bool
    private let sampleRates: [Int]
    private var daemons: [ChildProcess] = []
    /// Sink → module, for sinks that were loaded after the start.
    var modules: [String: String] = [:]

    /// Starts the server and waits until it responds. The first sink is the default sink.
    ///
    /// - Parameters:
    ///   - hasSpare: Whether the server creates a sink when there is no other.
    ///   - sampleRates: The rates between which PipeWire changes with the music; empty: 48 kHz only.
    public init(
        _ kind: Kind, sinks: [Sink] = [Sink("stage")], hasSpare: Bool = false, sampleRates: [Int] = [], isStarted: Bool = true
    ) throws {
        self.kind = kind
        self.sinks = sinks
        self.hasSpare = hasSpare
        self.sampleRates = sampleRates
        folder = try TemporaryFolder()
        for name in ["home", "run", "run/pulse"] {
            try FileManager.default.createDirectory(
                atPath: folder(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        if isStarted { try start() }
    }

    deinit { kill() }

    /// Starts the server. After `kill()` it starts with the same address.
    public func start() throws {
        precondition(daemons.isEmpty, "the server is running")
        switch kind {
        case .pulseAudio: try startPulseAudio()
        case .pipeWire: try startPipeWire()
        }
    }

    /// Ends the server with SIGKILL.
    public func kill() {
        for daemon in daemons.reversed() { daemon.send(SIGKILL) }
        // Deinitialization waits for the process.
        daemons = []
        modules = [:]
    }

    /// Stops all its processes with SIGSTOP. Connections stay open.
    public func freeze() {
        for daemon in daemons { daemon.send(SIGSTOP) }
    }

    public func thaw() {
        for daemon in daemons.reversed() { daemon.send(SIGCONT) }
    }

    // MARK: - Programs

    private func startPulseAudio() throws {
        var line = [
            "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disallow-exit=yes", "--disable-shm=yes",
            "--realtime=no", "--high-priority=no", "--log-level=info", "--log-target=file:\(folder("log"))",
        ]
        for sink in sinks { line += ["-L", "module-null-sink \(Self.arguments(sink, kind))"] }
        if hasSpare { line += ["-L", "module-always-sink"] }
        line += ["-L", "module-native-protocol-unix auth-anonymous=1 socket=\(socket)"]
        // That of a killed server.
        try? FileManager.default.removeItem(atPath: folder("log"))
        try launch(line)
        try folder.wait(for: "the start of PulseAudio") {
            guard isRunning else { throw Failure(description: "PulseAudio ended after the start") }
            return (try? folder.text(of: "log"))?.contains("Daemon startup complete") == true
        }
        if let first = sinks.first { try control("set-default-sink", first.name) }
    }

    private func startPipeWire() throws {
        // Sockets of a killed server would be mistaken for those of the new one.
        for name in ["run/bus", "run/pipewire-0", "run/pulse/native"] { try? FileManager.default.removeItem(atPath: folder(name)) }
        try launch(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path=\(folder("run/bus"))"])
        try waitForSocket("bus", in: "run")
        if !sampleRates.isEmpty {
            let settings = folder("home/config/pipewire/pipewire.conf.d")
            try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
            let rates = sampleRates.map(String.init).joined(separator: " ")
            try "context.properties = { default.clock.allowed-rates = [ \(rates) ] }\n"
                .write(toFile: "\(settings)/rates.conf", atomically: true, encoding: .utf8)
        }
        try launch(["pipewire"])
        try waitForSocket("pipewire-0", in: "run")
        try launch(["wireplumber"])
        try launch(["pipewire-pulse"])
        try waitForSocket("native", in: "run/pulse")
        for sink in sinks { try load(sink) }
        if let first = sinks.first {
            // The command fails until wireplumber is ready.
            try wait(10, for: "\(first.name) to be the default") {
                _ = try self.run("pactl", ["set-default-sink", first.name])
                return try self.control("get-default-sink") == first.name
            }
        }
    }

    /// Starts a daemon that ends with this process: a shell kills it when the pipe from this process is closed.
    private func launch(_ line: [String]) throws {
        let script = """
            exec 3<&0
            (cat <&3; grep -qs "$XDG_RUNTIME_DIR" /proc/$$/environ && kill -KILL $$) >/dev/null 2>&1 &
            exec "$@" 3<&- </dev/null >/dev/null 2>&1
            """
        let daemon = try ChildProcess("/bin/sh", ["-c", script, "sh"] + line, environment: environment, input: .bytes([], staysOpen: true))
        daemons.append(daemon)
    }

    /// Waits until a socket of one of its programs exists. The next program takes longer to start than this one from its file to listening.
    private func waitForSocket(_ name: String, in parent: String) throws {
        try folder.wait(for: name, in: parent) { FileManager.default.fileExists(atPath: folder("\(parent)/\(name)")) }
    }

    /// Waits until a condition is true for which the server has to be asked.
    public func wait(_ seconds: Double, for what: String, until isSo: () throws -> Bool) throws {
        let deadline = ProcessInfo.processInfo.systemUptime + seconds
        while try !isSo() {
            if ProcessInfo.processInfo.systemUptime > deadline { throw Failure(description: "timeout while waiting for \(what)") }
            // An event of the server, as of `pactl subscribe`, would be lost before the subscription, whose start nothing announces.
            usleep(20_000)
        }
    }

    static func arguments(_ sink: Sink, _ kind: Kind) -> String {
        let format = "rate=\(sink.sampleRate) channels=\(sink.channelCount)" + (sink.channelMap.map { " channel_map=\($0)" } ?? "")
        return switch kind {
        // Without norewinds it renders two seconds at once.
        case .pulseAudio: "sink_name=\(sink.name) norewinds=1 \(format) format=float32le"
        case .pipeWire: "sink_name=\(sink.name) \(format)"
        }
    }

    /// The path for a file in its folder.
    func file(named name: String) -> String { folder(name) }

    /// The environment of its programs and clients, without references to the user's session.
    public var environment: [String: String] {
        [
            "HOME": folder("home"), "XDG_RUNTIME_DIR": folder("run"), "PULSE_RUNTIME_PATH": folder("run/pulse"),
            "XDG_CONFIG_HOME": folder("home/config"), "XDG_STATE_HOME": folder("home/state"), "XDG_CACHE_HOME": folder("home/cache"),
            "PULSE_SERVER": address, "PULSE_COOKIE": folder("home/cookie"), "DISPLAY": "", "LC_ALL": "C",
            "DBUS_SESSION_BUS_ADDRESS": kind == .pipeWire ? "unix:path=\(folder("run/bus"))" : "disabled:",
        ]
    }

    func run(_ program: String, _ arguments: [String], timeout seconds: Double = 10) throws -> ChildProcess.Outcome {
        try ChildProcess.run(try path(of: program), arguments, environment: environment, timeout: seconds)
    }

    func path(of program: String) throws -> String {
        guard let path = Tool.location(of: program) else { throw Failure(description: "\(program) is not installed") }
        return path
    }
}
