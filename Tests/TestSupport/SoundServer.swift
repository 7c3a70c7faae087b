public import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A sound server of one's own in a temporary folder, gone when this object is, and soon after this process whatever ends it.
///
/// Not for two threads at once. Every wait has a limit.
public final class SoundServer {
    public enum Kind: String, Sendable, CaseIterable {
        case pulseAudio = "PulseAudio"
        /// PipeWire, wireplumber and pipewire-pulse on a D-Bus of their own.
        case pipeWire = "PipeWire"

        /// Those for which tests are to run.
        public static var expected: [Kind] { allCases.filter(\.tool.isExpected) }

        /// The first of its programs that is missing, as a test's condition.
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

    /// A sink that it has from the start.
    public struct Sink: Sendable {
        public var name: String
        public var sampleRate: Int
        public var channelCount: Int
        /// Its channels' positions in pactl's words, with commas; nil: the server's default for so many.
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
    /// What PULSE_SERVER must be.
    public var address: String { "unix:\(socket)" }
    public var socket: String { folder("run/pulse/native") }
    /// Whether its programs run.
    public var isRunning: Bool { !daemons.isEmpty && daemons.allSatisfy(\.isRunning) }
    /// That of the server itself.
    public var identifier: pid_t { daemons.last?.identifier ?? 0 }

    private let folder: TemporaryFolder
    private let sinks: [Sink]
    private let hasSpare: Bool
    private var daemons: [ChildProcess] = []
    /// Sink → the module that makes it, of those that were loaded while it ran.
    var modules: [String: String] = [:]

    /// Starts it and waits until it answers; the first sink is the default one.
    ///
    /// - Parameter hasSpare: Whether a sink comes up by itself when there is no other.
    public init(_ kind: Kind, sinks: [Sink] = [Sink("stage")], hasSpare: Bool = false, isStarted: Bool = true) throws {
        self.kind = kind
        self.sinks = sinks
        self.hasSpare = hasSpare
        folder = try TemporaryFolder()
        for name in ["home", "run", "run/pulse"] {
            try FileManager.default.createDirectory(
                atPath: folder(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        if isStarted { try start() }
    }

    deinit { kill() }

    /// Starts it, again at the same place after it was killed.
    public func start() throws {
        precondition(daemons.isEmpty, "a server is started once")
        switch kind {
        case .pulseAudio: try startPulseAudio()
        case .pipeWire: try startPipeWire()
        }
    }

    /// Ends it without a warning.
    public func kill() {
        for daemon in daemons.reversed() { daemon.send(SIGKILL) }
        // Each waits for its process.
        daemons = []
        modules = [:]
    }

    /// Nothing of it moves any more, and nobody is told.
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
            "--realtime=no", "--high-priority=no", "--log-level=error",
        ]
        for sink in sinks { line += ["-L", "module-null-sink \(Self.arguments(sink, kind))"] }
        if hasSpare { line += ["-L", "module-always-sink"] }
        // The socket last: whoever gets in finds everything.
        line += ["-L", "module-native-protocol-unix auth-anonymous=1 socket=\(socket)"]
        try launch(line)
        try answer()
        if let first = sinks.first { try control("set-default-sink", first.name) }
    }

    private func startPipeWire() throws {
        // Those that a killed server left would pass for the new one's.
        for name in ["run/bus", "run/pipewire-0"] { try? FileManager.default.removeItem(atPath: folder(name)) }
        try launch(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path=\(folder("run/bus"))"])
        try wait(for: "run/bus")
        try launch(["pipewire"])
        try wait(for: "run/pipewire-0")
        try launch(["wireplumber"])
        try launch(["pipewire-pulse"])
        try answer()
        for sink in sinks { try load(sink) }
        if let first = sinks.first {
            // Refused until wireplumber is ready for it.
            try wait(10, for: "\(first.name) to be the default") {
                _ = try self.run("pactl", ["set-default-sink", first.name])
                return try self.control("get-default-sink") == first.name
            }
        }
    }

    /// Starts a daemon that does not outlive this process: a shell holds the other end of a pipe of this object's.
    private func launch(_ line: [String]) throws {
        let script = """
            exec 3<&0
            (cat <&3; grep -qs "$XDG_RUNTIME_DIR" /proc/$$/environ && kill -KILL $$) >/dev/null 2>&1 &
            exec "$@" 3<&- </dev/null >/dev/null 2>&1
            """
        let daemon = try ChildProcess("/bin/sh", ["-c", script, "sh"] + line, environment: environment, input: .bytes([], staysOpen: true))
        daemons.append(daemon)
    }

    private func answer() throws {
        try wait(10, for: "\(kind.rawValue) to answer") {
            guard self.isRunning else { throw Failure(description: "\(self.kind.rawValue) ended as soon as it was started") }
            return try self.run("pactl", ["info"]).status == 0
        }
    }

    private func wait(for name: String) throws {
        try wait(5, for: name) { FileManager.default.fileExists(atPath: self.folder(name)) }
    }

    /// Waits until something is so.
    public func wait(_ seconds: Double, for what: String, until isSo: () throws -> Bool) throws {
        let deadline = ProcessInfo.processInfo.systemUptime + seconds
        while try !isSo() {
            if ProcessInfo.processInfo.systemUptime > deadline { throw Failure(description: "no use waiting for \(what)") }
            usleep(20_000)
        }
    }

    static func arguments(_ sink: Sink, _ kind: Kind) -> String {
        let format = "rate=\(sink.sampleRate) channels=\(sink.channelCount)" + (sink.channelMap.map { " channel_map=\($0)" } ?? "")
        return switch kind {
        // Without norewinds it renders two seconds at a time.
        case .pulseAudio: "sink_name=\(sink.name) norewinds=1 \(format) format=float32le"
        case .pipeWire: "sink_name=\(sink.name) \(format)"
        }
    }

    /// Where a file of its can be.
    func file(named name: String) -> String { folder(name) }

    /// For its programs and its clients; nothing of the session's that could lead elsewhere.
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
