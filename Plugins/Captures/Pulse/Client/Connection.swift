internal import CPulse
internal import Glibc
internal import Hemiola
internal import HemiolaSignal

/// Who hears of a connection, on its loop's thread.
protocol ConnectionDelegate: AnyObject {
    /// The server answers.
    func connectionDidOpen()
    /// The server is gone, or was never there. Another attempt follows by itself.
    func connectionDidFail(_ reason: String)
    /// What the server has, the first time and whenever it changed.
    func connectionDidSee(_ snapshot: Snapshot)
    /// Some time has passed: `tickMilliseconds`.
    func connectionDidTick()
}

/// A connection to a sound server that is made again whenever it is lost, by libpulse's loop on a thread of its own.
///
/// Everything but `init`, `start`, `stop` and `locked` is for that thread, or for whoever holds its lock.
///
/// - Note: `pa_context_connect` may fail before it returns, with the callback called or without; and a context must not be freed
///   within its own callback. So failures are noted, and dealt with at the next tick.
final class Connection {
    private static let retryNanoseconds: Int64 = 250_000_000
    /// A server that takes a connection and then says nothing is tried anew.
    private static let patienceNanoseconds: Int64 = 5_000_000_000

    weak var delegate: (any ConnectionDelegate)?
    /// How often the delegate is told that time has passed. A shorter one counts from now on, a longer one from the next time.
    var tickMilliseconds: UInt64 = 50 {
        didSet { if tickMilliseconds < oldValue { awaitTick() } }
    }

    private(set) var isOpen = false
    /// The snapshot under way.
    var survey: Survey?
    /// Whether something changed since the survey began.
    var isStale = false

    private let loop: OpaquePointer
    private let server: String?
    private let watchesStreams: Bool
    private(set) var context: OpaquePointer?
    private var timer: OpaquePointer?
    /// When the context under way was made, and whether it has failed.
    private var attempt: Int64 = 0
    private var hasFailed = false

    /// - Parameters:
    ///   - server: As in PULSE_SERVER; nil for what libpulse finds.
    ///   - watchesStreams: Whether to tell of changes to what applications play.
    /// - Throws: The library is not here.
    init(server: String?, watchesStreams: Bool) throws(CaptureError) {
        if let fault = cpulse_load() {
            throw CaptureError("sound servers cannot be reached: \(String(cString: fault)); install it: apt install libpulse0")
        }
        self.server = server
        self.watchesStreams = watchesStreams
        loop = pa_threaded_mainloop_new()
    }

    deinit {
        precondition(context == nil, "a connection is stopped before it is let go")
        pa_threaded_mainloop_free(loop)
    }

    /// Begins; false when there is no thread to be had.
    func start() -> Bool {
        locked {
            connect()
            timer = pa_context_rttime_new(
                context, pa_rtclock_now(), { _, _, _, me in Connection.from(me).tick() }, Unmanaged.passUnretained(self).toOpaque())
        }
        return pa_threaded_mainloop_start(loop) == 0
    }

    /// Ends everything and waits for the thread's end.
    ///
    /// - Parameter closeStreams: Called first, under the same lock: what the server says in between could open another one.
    func stop(_ closeStreams: () -> Void = {}) {
        locked {
            closeStreams()
            if let timer, let api = pa_threaded_mainloop_get_api(loop) { api.pointee.time_free(timer) }
            timer = nil
            discard()
        }
        pa_threaded_mainloop_stop(loop)
    }

    /// Does something while the loop's thread does nothing. Not for that thread itself.
    func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        pa_threaded_mainloop_lock(loop)
        defer { pa_threaded_mainloop_unlock(loop) }
        return try body()
    }

    /// Where the server was looked for.
    var address: String {
        if let server { return server }
        if let context, let name = pa_context_get_server(context) { return String(cString: name) }
        return getenv("PULSE_SERVER").map { String(cString: $0) } ?? "its usual place"
    }

    /// Nanoseconds of a clock that never goes back and does not stop while the machine sleeps.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    static func from(_ opaque: UnsafeMutableRawPointer?) -> Connection {
        Unmanaged<Connection>.fromOpaque(opaque!).takeUnretainedValue()
    }

    // MARK: - Attempts

    private func connect() {
        attempt = Self.now
        hasFailed = false
        context = pa_context_new(pa_threaded_mainloop_get_api(loop), "hemiola")
        let me = Unmanaged.passUnretained(self).toOpaque()
        pa_context_set_state_callback(context, { _, me in Connection.from(me).stateDidChange() }, me)
        // Whether to start a server is the user's decision.
        if pa_context_connect(context, server, PA_CONTEXT_NOAUTOSPAWN, nil) < 0 { fail() }
    }

    private func discard() {
        survey = nil
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
        pa_context_set_subscribe_callback(context, { _, _, _, me in Connection.from(me).look() }, me)
        var mask = PA_SUBSCRIPTION_MASK_SERVER.rawValue | PA_SUBSCRIPTION_MASK_SINK.rawValue | PA_SUBSCRIPTION_MASK_SOURCE.rawValue
        if watchesStreams { mask |= PA_SUBSCRIPTION_MASK_SINK_INPUT.rawValue }
        if let operation = pa_context_subscribe(context, pa_subscription_mask_t(rawValue: mask), nil, nil) {
            pa_operation_unref(operation)
        }
        delegate?.connectionDidOpen()
        look()
    }

    private func fail() {
        guard !hasFailed else { return }
        hasFailed = true
        isOpen = false
        survey = nil
        delegate?.connectionDidFail(String(cString: pa_strerror(pa_context_errno(context))))
    }

    private func tick() {
        delegate?.connectionDidTick()
        let age = Self.now - attempt
        if hasFailed ? age >= Self.retryNanoseconds : !isOpen && age >= Self.patienceNanoseconds {
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
