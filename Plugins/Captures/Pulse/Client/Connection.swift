internal import CPulse
internal import Hemiola

extension SharedLibrary {
    static let pulse = SharedLibrary(
        "libpulse", soname: "libpulse.so.0", package: "libpulse0", licence: "LGPL-2.1-or-later", relation: .recommends,
        use: "live capture", versionSymbol: .textFunction("pa_get_library_version"))
}

/// Receives the events of a connection, on its loop's thread.
protocol ConnectionDelegate: AnyObject {
    /// The connection is established.
    func connectionDidOpen()
    /// The connection failed or was lost. The connection retries by itself.
    func connectionDidFail(_ reason: String)
    /// A snapshot of the server: after connecting, and after every change.
    func connectionDidUpdate(_ snapshot: ServerSnapshot)
    /// Called every `tickMilliseconds`.
    func connectionDidTick()
    /// The server has answered a ping.
    func connectionDidRespond()
}

extension ConnectionDelegate {
    func connectionDidRespond() {}
}

/// A connection to a sound server that reconnects after a loss. libpulse's main loop runs on a separate thread.
///
/// Everything but `init`, `start`, `stop` and `locked` must run on that thread or under its lock.
///
/// - Note: `pa_context_connect` may fail before it returns, with or without a call of the state callback, and a context must not be freed
///   within its own callback. So a failure is noted, and handled at the next tick.
final class Connection {
    private static let retryInterval: Int64 = 250_000_000
    /// Nanoseconds after which a connection that was accepted but not completed is retried.
    private static let connectTimeout: Int64 = 5_000_000_000

    weak var delegate: (any ConnectionDelegate)?
    /// Interval of `connectionDidTick`. A shorter interval applies at once, a longer one after the next tick.
    var tickMilliseconds: UInt64 = 50 {
        didSet { if tickMilliseconds < oldValue { awaitTick() } }
    }

    private(set) var isOpen = false
    /// The snapshot request in progress.
    var snapshotRequest: SnapshotRequest?
    /// Whether something changed since that request began.
    var isOutdated = false
    /// Whether the server has not answered the last ping yet.
    private var isPinging = false

    private let loop: OpaquePointer
    private let server: String?
    private let watchesStreams: Bool
    private(set) var context: OpaquePointer?
    private var timer: OpaquePointer?
    /// Creation time of the current context, and whether it has failed.
    private var attempt: Int64 = 0
    private var hasFailed = false

    /// - Parameters:
    ///   - server: The address, as in PULSE_SERVER; nil: libpulse's default.
    ///   - watchesStreams: Whether changes of playback streams cause snapshots.
    /// - Throws: libpulse is not installed.
    init(server: String?, watchesStreams: Bool) throws(Problem) {
        if let fault = cpulse_load() {
            throw Problem("cannot connect to sound servers: \(String(cString: fault)); \(SharedLibrary.pulse.remedy)")
        }
        self.server = server
        self.watchesStreams = watchesStreams
        loop = pa_threaded_mainloop_new()
    }

    deinit {
        precondition(context == nil, "stop() must precede deinit")
        pa_threaded_mainloop_free(loop)
    }

    /// Starts the loop's thread and connects.
    ///
    /// - Throws: The system denies a thread. `stop` must be called all the same.
    func start() throws(Problem) {
        locked {
            connect()
            timer = pa_context_rttime_new(
                context, pa_rtclock_now(), { _, _, _, me in Connection.from(me).tick() }, Unmanaged.passUnretained(self).toOpaque())
        }
        guard pa_threaded_mainloop_start(loop) == 0 else {
            throw Problem.noThread(for: "the connection to the sound server", SystemCallError(.wouldBlock))
        }
    }

    /// Disconnects and waits for the thread to end.
    ///
    /// - Parameter closeStreams: Called first, under the same lock, so that no event in between can open another stream.
    func stop(_ closeStreams: () -> Void = {}) {
        locked {
            closeStreams()
            if let timer, let api = pa_threaded_mainloop_get_api(loop) { api.pointee.time_free(timer) }
            timer = nil
            discard()
        }
        pa_threaded_mainloop_stop(loop)
    }

    /// Runs `body` under the lock of the loop's thread. Must not be called on that thread.
    func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        pa_threaded_mainloop_lock(loop)
        defer { pa_threaded_mainloop_unlock(loop) }
        return try body()
    }

    /// The address of the server, for messages.
    var address: String {
        if let server { return server }
        if let context, let name = pa_context_get_server(context) { return String(cString: name) }
        return EnvironmentVariable.value("PULSE_SERVER") ?? "the default address"
    }

    static func from(_ opaque: UnsafeMutableRawPointer?) -> Connection {
        Unmanaged<Connection>.fromOpaque(opaque!).takeUnretainedValue()
    }

    /// Sends a request to the server, unless the last one is still unanswered.
    func ping() {
        guard isOpen, !isPinging else { return }
        let me = Unmanaged.passUnretained(self).toOpaque()
        let operation = pa_context_get_server_info(
            context,
            { _, info, me in
                let connection = Connection.from(me)
                connection.isPinging = false
                if info != nil { connection.delegate?.connectionDidRespond() }
            }, me)
        guard let operation else { return }
        isPinging = true
        pa_operation_unref(operation)
    }

    // MARK: - Connecting

    private func connect() {
        attempt = MonotonicTime.nanosecondsWithSleep
        hasFailed = false
        context = pa_context_new(pa_threaded_mainloop_get_api(loop), "hemiola")
        let me = Unmanaged.passUnretained(self).toOpaque()
        pa_context_set_state_callback(context, { _, me in Connection.from(me).stateDidChange() }, me)
        // Does not start a server: the user decides that.
        if pa_context_connect(context, server, PA_CONTEXT_NOAUTOSPAWN, nil) < 0 { fail() }
    }

    private func discard() {
        isPinging = false
        snapshotRequest = nil
        isOpen = false
        guard let context else { return }
        pa_context_set_state_callback(context, nil, nil)
        pa_context_set_subscribe_callback(context, nil, nil)
        pa_context_disconnect(context)
        pa_context_unref(context)
        self.context = nil
    }

    private func stateDidChange() {
        switch pa_context_get_state(context) {
        case PA_CONTEXT_READY: open()
        case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED: fail()
        default: break
        }
    }

    private func open() {
        isOpen = true
        let me = Unmanaged.passUnretained(self).toOpaque()
        pa_context_set_subscribe_callback(context, { _, _, _, me in Connection.from(me).requestSnapshot() }, me)
        var mask = PA_SUBSCRIPTION_MASK_SERVER.rawValue | PA_SUBSCRIPTION_MASK_SINK.rawValue | PA_SUBSCRIPTION_MASK_SOURCE.rawValue
        if watchesStreams { mask |= PA_SUBSCRIPTION_MASK_SINK_INPUT.rawValue }
        if let operation = pa_context_subscribe(context, pa_subscription_mask_t(rawValue: mask), nil, nil) {
            pa_operation_unref(operation)
        }
        delegate?.connectionDidOpen()
        requestSnapshot()
    }

    private func fail() {
        guard !hasFailed else { return }
        hasFailed = true
        isOpen = false
        snapshotRequest = nil
        delegate?.connectionDidFail(String(cString: pa_strerror(pa_context_errno(context))))
    }

    private func tick() {
        delegate?.connectionDidTick()
        let age = MonotonicTime.nanosecondsWithSleep - attempt
        if hasFailed ? age >= Self.retryInterval : !isOpen && age >= Self.connectTimeout {
            discard()
            connect()
        }
        awaitTick()
    }

    private func awaitTick() {
        guard let context, let timer else { return }
        pa_context_rttime_restart(context, timer, pa_rtclock_now() + tickMilliseconds * 1000)
    }
}
