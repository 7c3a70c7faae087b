internal import HemiolaEngine
internal import HemiolaSystem
internal import Synchronization

/// Reports the state of a run to a service manager (systemd's `Type=notify`): ready, status, watchdog, stopping.
///
/// `update` is called on one thread, not the analysis thread; `count` and `stop` on any.
final class ServiceNotifier: Sendable {
    /// Seconds between two reports of the status.
    private static let statusInterval = 10.0
    /// Seconds between two checks whether the source is open.
    private static let openingInterval = 0.05

    private struct State {
        var isReady = false
        var isStopping = false
        var nextStatus = 0.0
        var nextWatchdog = 0.0
        /// The activity of the pipeline at the last watchdog message.
        var activity: Int64 = -1
        var gapCount = 0
        /// The state of the live source, for users.
        var device: String?
    }

    private let socket: System.NotificationSocket
    /// Seconds between two watchdog messages; nil: the service has no watchdog.
    private let watchdogInterval: Double?
    private let pipeline: Pipeline
    private let state = Mutex(State())

    /// The notifier of this process. Removes the variables of the protocol from the environment: they are not for child processes.
    ///
    /// - Returns: nil when the process was not started by a service manager that expects notifications.
    convenience init?(_ pipeline: Pipeline) {
        guard let name = EnvironmentVariable.value("NOTIFY_SOCKET") else { return nil }
        let watchdog = EnvironmentVariable.value("WATCHDOG_USEC")
        let process = EnvironmentVariable.value("WATCHDOG_PID")
        for variable in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { System.removeFromEnvironment(variable) }
        let isForThisProcess = process.map { Int32($0) == System.processIdentifier } ?? true
        self.init(pipeline, socket: name, watchdog: isForThisProcess ? watchdog.flatMap { Int64($0) } : nil)
    }

    /// - Parameters:
    ///   - socket: The name of the socket: a path, or `@` and an abstract name.
    ///   - watchdog: The time in microseconds after which the service manager ends a service without watchdog messages; nil: never.
    private init?(_ pipeline: Pipeline, socket name: String, watchdog: Int64?) {
        guard let socket = System.NotificationSocket(name) else { return nil }
        self.socket = socket
        self.pipeline = pipeline
        watchdogInterval = watchdog.flatMap { $0 > 0 ? Double($0) / 2e6 : nil }
    }

    /// Sends what is due.
    ///
    /// - Parameter now: Seconds on the monotonic clock.
    /// - Returns: Seconds until the next call is due.
    func update(at now: Double) -> Double {
        state.withLock { state in
            if state.isStopping { return .infinity }
            let progress = pipeline.progress
            if !state.isReady {
                // The source is opened after all sinks.
                guard !progress.streamName.isEmpty else { return Self.openingInterval }
                state.isReady = true
                socket.send("READY=1\nSTATUS=\(status(state, progress))\n")
                (state.nextStatus, state.nextWatchdog) = (now + Self.statusInterval, now)
            }
            if now >= state.nextStatus {
                state.nextStatus = now + Self.statusInterval
                socket.send("STATUS=\(status(state, progress))\n")
            }
            guard let watchdogInterval else { return state.nextStatus - now }
            if now >= state.nextWatchdog {
                state.nextWatchdog = now + watchdogInterval
                let activity = pipeline.activity
                if activity != state.activity { socket.send("WATCHDOG=1\n") }
                state.activity = activity
            }
            return min(state.nextStatus, state.nextWatchdog) - now
        }
    }

    /// Counts a notice of the pipeline.
    func count(_ notice: PipelineNotice) {
        switch notice {
        case .gap: state.withLock { $0.gapCount += 1 }
        case .device: state.withLock { $0.device = notice.text }
        default: break
        }
    }

    /// Reports that the run ends. Further calls have no effect.
    func stop() {
        state.withLock { state in
            if !state.isStopping { socket.send("STOPPING=1\n") }
            state.isStopping = true
        }
    }

    private func status(_ state: State, _ progress: PipelineProgress) -> String {
        let source = state.device ?? progress.streamName
        let gaps = "\(state.gapCount) gap\(state.gapCount == 1 ? "" : "s")"
        return "\(source): \(Int(progress.seconds)) s of sound, \(gaps)".onOneLine
    }
}
