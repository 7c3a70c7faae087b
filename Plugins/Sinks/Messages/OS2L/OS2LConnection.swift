internal import Glibc
internal import Hemiola
internal import HemiolaNetwork
internal import HemiolaSignal
internal import HemiolaSystem
internal import Synchronization

/// The connection to a receiver, on a thread of its own: connects, and sends each message when it is due.
///
/// A message that is due while there is no connection is dropped and counted: a beat that is late is worse than none.
final class OS2LConnection: Sendable {
    struct Message: Sendable {
        /// The monotonic clock when it is sent.
        var due: Double
        var bytes: [UInt8]
    }

    private struct State {
        /// In order of time.
        var messages: [Message] = []
        /// Messages that were dropped because too many waited.
        var overflow = 0
        /// The monotonic clock when the thread ends although messages wait; nil: the sink is open.
        var closing: Double?
        var isEnded = false
        /// Why not one message was sent; nil: one was, or there was none.
        var fault: String?
    }

    /// Messages that wait at most: 40 s of the fastest music with a lead that is as long.
    private static let capacity = 256
    /// Seconds after which a message is no longer sent.
    private static let tolerance = 0.1
    /// The shortest time between two messages, in seconds. QLC+ reads all bytes that have arrived as one JSON document, so that two
    /// messages that arrive together are lost.
    private static let spacing = 0.02
    /// Seconds to wait for a connection, and between attempts.
    private static let connectTimeout = 5.0
    private static let longestPause = 2.0
    /// Seconds that the last messages may take when the sink is closed.
    private static let closeTimeout = 1.0
    /// Seconds between two reports of dropped messages.
    private static let reportInterval = 1.0

    private let endpoint: NetworkEndpoint
    private let context: SinkContext
    private let wakeUp: WakeUp
    private let state = Mutex(State())

    /// Starts the thread.
    init(to endpoint: NetworkEndpoint, _ context: SinkContext) throws(SinkError) {
        self.endpoint = endpoint
        self.context = context
        wakeUp = try WakeUp()
        let code = startThreadIfPossible { [self] in run() }
        guard code == 0 else { throw SinkError("cannot create a thread: \(String(cString: strerror(code)))") }
    }

    /// Adds a message. Does not block.
    func add(_ message: Message) {
        state.withLock { state in
            if state.messages.count == Self.capacity {
                state.messages.removeFirst()
                state.overflow += 1
            }
            let place = state.messages.lastIndex { $0.due <= message.due }.map { $0 + 1 } ?? 0
            state.messages.insert(message, at: place)
        }
        wakeUp.signal()
    }

    /// Sends what is due within a second, and ends the thread. A thread that resolves a name ends later.
    ///
    /// - Throws: Not one message could be sent.
    func close() throws(SinkError) {
        let deadline = MonotonicTime.now + Self.closeTimeout
        state.withLock { $0.closing = deadline }
        wakeUp.signal()
        while !state.withLock({ $0.isEnded }), MonotonicTime.now < deadline + 1 { usleep(2000) }
        if let fault = state.withLock({ $0.fault }) { throw SinkError(fault) }
    }

    // MARK: - On the thread

    /// Outages and losses. Used on the thread alone.
    private struct Report {
        /// Whether the current outage was reported.
        var isOutageReported = false
        var wasConnected = false
        var isSlowReported = false
        /// Messages dropped in the outage, since the last report, and in all.
        var outageLosses = 0
        var unreported = 0
        var losses = 0
        var nextReport = 0.0
        var sent = 0

        mutating func drop(_ count: Int) {
            outageLosses += count
            unreported += count
            losses += count
        }
    }

    private enum Step {
        case send(Message)
        case wait(seconds: Double?)
        case stop
    }

    private func run() {
        defer { state.withLock { $0.isEnded = true } }
        var socket: TCPSocket?
        var delay = ReconnectDelay(last: Self.longestPause)
        var nextAttempt = 0.0
        var earliest = 0.0
        var report = Report()
        loop: while true {
            if socket == nil, !isClosing, MonotonicTime.now >= nextAttempt {
                do throws(TCPSocket.Failure) {
                    socket = try TCPSocket.connect(to: endpoint, timeout: Self.connectTimeout, wakeUp) { isClosing }
                    delay.reset()
                    noteConnection(&report)
                } catch {
                    if !isClosing { note(outage: "cannot connect to \(endpoint): \(error.reason)", &report) }
                    nextAttempt = MonotonicTime.now + delay.next()
                }
            }
            let now = MonotonicTime.now
            let step = next(at: now, isConnected: socket != nil, earliest: earliest, nextAttempt: nextAttempt, &report)
            reportLosses(&report, now)
            switch step {
            case .stop: break loop
            case .wait(let seconds):
                let readiness = wakeUp.wait(seconds: seconds, for: socket?.descriptor)
                if readiness.isReadable, socket?.discardInput() == false {
                    socket = nil
                    nextAttempt = MonotonicTime.now + delay.next()
                    note(outage: "\(endpoint) has closed the connection", &report)
                }
            case .send(let message):
                switch socket?.send(message.bytes) {
                case .sent?:
                    report.sent += 1
                    earliest = MonotonicTime.now + Self.spacing
                case .full?:
                    report.drop(1)
                    if !report.isSlowReported { context.warn("\(context.name): \(endpoint) does not read; messages are dropped") }
                    report.isSlowReported = true
                case .broken?, nil:
                    socket = nil
                    report.drop(1)
                    nextAttempt = MonotonicTime.now + delay.next()
                    note(outage: "the connection to \(endpoint) is broken", &report)
                }
            }
        }
        reportLosses(&report, .infinity)
        if report.losses > 0, !report.wasConnected, report.isOutageReported {
            state.withLock { $0.fault = "\(context.name): \(endpoint): not one of \(report.losses) messages could be sent" }
        } else if report.losses > 0 {
            context.warn("\(context.name): \(report.losses) of \(report.losses + report.sent) messages were not sent to \(endpoint)")
        }
    }

    private var isClosing: Bool { state.withLock { $0.closing != nil } }

    /// The next step of the thread. Drops messages that are too late, and those that are due without a connection.
    private func next(at now: Double, isConnected: Bool, earliest: Double, nextAttempt: Double, _ report: inout Report) -> Step {
        state.withLock { state in
            let latest = isConnected ? now - Self.tolerance : now
            let late = state.messages.prefix { $0.due < latest }.count
            state.messages.removeFirst(late)
            report.drop(late + state.overflow)
            state.overflow = 0
            if let deadline = state.closing {
                if state.messages.isEmpty || !isConnected || now >= deadline {
                    report.drop(state.messages.count)
                    state.messages.removeAll()
                    return .stop
                }
            }
            guard let first = state.messages.first else { return .wait(seconds: isConnected ? nil : max(0, nextAttempt - now)) }
            let time = max(first.due, isConnected ? earliest : 0)
            if isConnected, time <= now { return .send(state.messages.removeFirst()) }
            let end = min(time, isConnected ? .infinity : nextAttempt, state.closing ?? .infinity)
            return .wait(seconds: max(0, end - now))
        }
    }

    // MARK: - Reports

    private func note(outage: String, _ report: inout Report) {
        if !report.isOutageReported { context.warn("\(context.name): \(outage); trying again") }
        report.isOutageReported = true
    }

    private func noteConnection(_ report: inout Report) {
        if report.isOutageReported {
            let losses = report.outageLosses == 0 ? "" : "; messages not sent: \(report.outageLosses)"
            context.inform("\(context.name): connected to \(endpoint)\(losses)", [])
        }
        (report.isOutageReported, report.isSlowReported, report.outageLosses, report.wasConnected) = (false, false, 0, true)
    }

    /// Reports losses for `dropped` records, at most once a second.
    private func reportLosses(_ report: inout Report, _ now: Double) {
        guard report.unreported > 0, now >= report.nextReport else { return }
        context.controls.report(DropReport(sink: context.name, batches: 0, events: report.unreported))
        report.unreported = 0
        report.nextReport = now + Self.reportInterval
    }
}
