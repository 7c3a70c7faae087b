internal import HemiolaEngine
internal import HemiolaSystem
internal import Synchronization

/// Tells a service manager (systemd's `Type=notify`) that a run is ready, that it makes progress, and that it ends.
///
/// `update` is called on one thread, not the analysis thread; `stop` on any.
final class ServiceNotifier: Sendable {
    /// Seconds between two checks whether the source is open.
    private static let openingInterval = 0.05

    private struct State {
        var isReady = false
        var isStopping = false
        var nextWatchdog = 0.0
        /// The activity of the pipeline at the last watchdog message.
        var activity: Int64 = -1
    }

    private let socket: NotificationSocket
    /// Seconds between two watchdog messages; nil: the service has no watchdog.
    private let watchdogInterval: Double?
    private let pipeline: Pipeline
    private let state = Mutex(State())

    /// The notifier of this process. Removes the variables of the protocol from the environment: they are not for child processes.
    ///
    /// - Returns: nil when the process was not started by a service manager that expects notifications.
    init?(_ pipeline: Pipeline) {
        guard let name = EnvironmentVariable.value("NOTIFY_SOCKET") else { return nil }
        let microseconds = EnvironmentVariable.value("WATCHDOG_USEC").flatMap { Double($0) } ?? 0
        for variable in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { EnvironmentVariable.remove(variable) }
        guard let socket = NotificationSocket(name) else { return nil }
        self.socket = socket
        self.pipeline = pipeline
        // Half of the time after which the service manager ends a service without watchdog messages.
        watchdogInterval = microseconds > 0 ? microseconds / 2e6 : nil
    }

    /// Sends what is due.
    ///
    /// - Returns: Seconds until the next call is due.
    func update() -> Double {
        let now = pipeline.clock.now
        return state.withLock { state in
            if state.isStopping { return .infinity }
            if !state.isReady {
                // The source is opened after all sinks.
                guard !pipeline.progress.streamName.isEmpty else { return Self.openingInterval }
                state.isReady = true
                socket.send("READY=1\n")
            }
            guard let watchdogInterval else { return .infinity }
            if now >= state.nextWatchdog {
                state.nextWatchdog = now + watchdogInterval
                let activity = pipeline.activity
                if activity != state.activity { socket.send("WATCHDOG=1\n") }
                state.activity = activity
            }
            return state.nextWatchdog - now
        }
    }

    /// Reports that the run ends. Further calls have no effect.
    func stop() {
        state.withLock { state in
            if !state.isStopping { socket.send("STOPPING=1\n") }
            state.isStopping = true
        }
    }
}
