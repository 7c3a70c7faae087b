internal import Hemiola
internal import HemiolaBridge
internal import HemiolaSignal
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The sink `socket`: a socket in the file system, and a bridge behind it.
///
/// Its methods run on the caller's thread, the sink's own. The lock is never contended: it is what makes the state safe to share.
final class SocketServer: DirectingSink {
    private struct State {
        var file: SocketFile?
        var bridge: Bridge?
    }

    private let path: String?
    private let group: String?
    private let settings: BridgeSettings
    private let state = Mutex(State())

    init(path: String?, group: String?, _ settings: BridgeSettings) {
        self.path = path
        self.group = group
        self.settings = settings
    }

    func open(_ context: SinkContext) async throws(SinkError) {
        var settings = settings
        let room = DescriptorLimit.raise(forClients: settings.clientLimit)
        if let remark = room.remark { context.warn("\(context.name): \(remark)") }
        settings.clientLimit = room.clients
        let place = path.map { SocketPath(path: $0, isInOwnFolder: false) } ?? .standard()
        let file = try SocketFile(place, group: group)
        do {
            let bridge = try Bridge.listen(on: file.descriptor, context, settings, refusal: refusal(warn: context.warn))
            state.withLock { $0 = State(file: file, bridge: bridge) }
        } catch {
            file.close()
            file.remove()
            throw SinkError("cannot listen at \(place.path): \(error)")
        }
    }

    func makeDirector() throws(SinkError) -> sending any Director {
        PageDirector()
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        bridge?.begin(stream)
    }

    func write(_ batches: BatchBlock) async throws(SinkError) {
        bridge?.write(batches)
    }

    func write(_ events: [Event]) async throws(SinkError) {
        bridge?.write(events)
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {
        bridge?.end(summary)
    }

    func close() async throws(SinkError) {
        let state = state.withLock { state in
            defer { state = State() }
            return state
        }
        state.file?.remove()
        state.bridge?.close()
    }

    private var bridge: Bridge? { state.withLock { $0.bridge } }

    /// The user who runs this and the superuser are let in, and with `group=` whomever the file's mode lets in. (The mode alone
    /// would do, had nobody changed it since.)
    private func refusal(warn: @escaping @Sendable (String) -> Void) -> @Sendable (UInt32) -> String? {
        let owner = geteuid()
        let letsGroupIn = group != nil
        let told = Told()
        return { user in
            if letsGroupIn || user == owner || user == 0 { return nil }
            if told.isNews(user) { warn("socket: user \(user) was turned away; group=NAME lets others in") }
            return "this socket is for user \(owner) alone"
        }
    }

    /// Each user is told once.
    private final class Told: Sendable {
        private let users = Mutex<Set<UInt32>>([])

        func isNews(_ user: UInt32) -> Bool { users.withLock { $0.insert(user).inserted } }
    }
}
