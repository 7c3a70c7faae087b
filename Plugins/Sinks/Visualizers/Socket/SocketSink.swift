public import Hemiola
internal import HemiolaBridge
internal import HemiolaVisualizer
internal import Synchronization

extension SinkPlugin {
    /// Sends samples and records to visualizers on a Unix socket, and receives controls from them.
    public static let socket = SinkPlugin(
        PluginDescription(
            "socket", "Sends samples and records to visualizers on a Unix socket, and receives controls from them.", primary: "path",
            declares: .init(records: [.preset, .speed, .key, .message], fallbackControls: PageDirector.controls)),
        settings: SocketSettings.self,
        needs: { _ in Needs(samples: true, realTime: true, events: [.beat, .control, .device, .gap, .preset, .speed]) },
        make: { settings throws(Problem) in
            try settings.check()
            return SocketServer(settings)
        })
}

/// The settings of the sink `socket`.
struct SocketSettings: PluginSettings {
    var path: String?
    var payload: SamplePayload
    var group: String?
    var maxClients: Int
    var exitsOnClose: Bool

    init(_ read: inout SettingReader) {
        path = read.text("path", "Socket path. Default: hemiola.sock in XDG_RUNTIME_DIR, else in a private folder for temporary files.")
        payload = read.choice(
            "payload", default: SamplePayload.json, "Sample format for clients that do not subscribe: json, base64, or bare (arrays only).")
        group = read.text("group", "Group (name or number) whose members may also connect. Requires a path that the group can access.")
        maxClients = read.integer("max_clients", default: 64, in: 1...1000, "Maximum number of connected clients.")
        exitsOnClose = read.boolean("exit_on_close", default: false, "End the run when a client sends closeViz.")
    }

    func check() throws(Problem) {
        if let path {
            if path.isEmpty { throw Problem("the path is empty; is a variable of the shell unset?", at: "path") }
            if let error = SocketFile.error(inPath: path) { throw Problem(error, at: "path") }
        } else if group != nil {
            throw Problem("the default path is in a private folder; set a path that the group can access", at: "group")
        }
    }

    /// Where the socket lies.
    var location: SocketPath { path.map { SocketPath(path: $0) } ?? .standard() }
}

/// The sink `socket`: a Unix socket and its bridge.
final class SocketServer: DirectingSink {
    private struct State {
        var file: SocketFile?
        var bridge: Bridge?
        /// Why the sink is opened again; nil at the first opening.
        var fault: String?
        /// Whether the next batch requests to be reopened, because the socket was removed.
        var isReopenDue = false
        /// Whether a warning was given that a removed socket cannot be replaced, and batches until the next attempt.
        var isWarned = false
        var batchesToAttempt = 0
        var warn: @Sendable (String) -> Void = { _ in }
    }

    private let settings: SocketSettings
    private var state = State()

    init(_ settings: SocketSettings) {
        self.settings = settings
    }

    func open(_ context: SinkContext) throws(Problem) {
        let fault = state.fault
        do {
            try listen(context)
        } catch {
            // The engine retries.
            throw fault == nil ? error : Problem(error.message, remedy: .reopen)
        }
        if let fault {
            context.messages.warn("\(fault); a new socket was created, and clients have to connect again")
        } else {
            context.messages.inform("\(context.name): clients can connect to \(settings.location.path)", [])
        }
    }

    private func listen(_ context: SinkContext) throws(Problem) {
        let bridgeSettings = BridgeSettings(
            payload: settings.payload, clientLimit: settings.maxClients, exitsOnClose: settings.exitsOnClose)
        let path = settings.location
        let file = try SocketFile(path, group: settings.group)
        do {
            let bridge = try Bridge.listen(
                on: file.descriptor.number, context, bridgeSettings, refusal: refusal(warn: context.messages.warn))
            state = State(file: file, bridge: bridge, warn: context.messages.warn)
        } catch {
            file.close()
            file.remove()
            throw Problem("\(path.path): cannot listen: \(error)")
        }
    }

    func makeDirector() throws(Problem) -> sending any Director {
        PageDirector(state.bridge?.presets)
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        state.bridge?.begin(stream)
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        // The batch before was written to the old clients, and their controls have their replies.
        if state.isReopenDue, let fault = state.fault { throw Problem(fault, remedy: .reopen) }
        state.bridge?.write(batches)
        checkSocket()
    }

    /// Checks whether the socket was removed from its path. Costs one `lstat`.
    ///
    /// If another one can be created there, the next batch requests to be reopened. If not, because of another file at the path or the
    /// permissions of its folder, the connected clients remain served; the next attempt follows about a second later.
    private func checkSocket() {
        guard let file = state.file, !state.isReopenDue, file.wasRemoved else { return }
        state.batchesToAttempt -= 1
        guard state.batchesToAttempt < 0 else { return }
        state.batchesToAttempt = Self.batchesBetweenAttempts
        let fault = "\(file.path): the socket was removed"
        do {
            let trial = try SocketFile(settings.location, group: settings.group)
            trial.close()
            trial.remove()
            (state.fault, state.isReopenDue) = (fault, true)
        } catch {
            if !state.isWarned { state.warn("\(fault), and cannot be created again: \(error.message)") }
            state.isWarned = true
        }
    }

    /// About a second of batches of 1024 frames.
    private static let batchesBetweenAttempts = 43

    func write(_ events: [Event]) throws(Problem) {
        state.bridge?.write(events)
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        state.bridge?.end(summary)
    }

    func close() throws(Problem) {
        state.file?.remove()
        state.bridge?.close()
        state = State(fault: state.fault)
    }

    /// Accepts the user that runs the program and root; with `group=` every user that the file's mode admits. Without `group=` the check
    /// repeats what the mode enforces, in case another program has changed the mode.
    private func refusal(warn: @escaping @Sendable (String) -> Void) -> @Sendable (UInt32) -> String? {
        let owner = CurrentProcess.user
        let acceptsGroup = settings.group != nil
        let reported = ReportedUsers()
        return { user in
            if acceptsGroup || user == owner || user == 0 { return nil }
            if reported.insert(user) { warn("socket: refused a connection from user \(user); to accept other users, set group=NAME") }
            return "permission denied: only user \(owner) may connect"
        }
    }

    /// The refused users for which a warning was issued: one warning each.
    private final class ReportedUsers: Sendable {
        private let users = Mutex<Set<UInt32>>([])

        /// - Returns: Whether the user is new.
        func insert(_ user: UInt32) -> Bool { users.withLock { $0.insert(user).inserted } }
    }
}
