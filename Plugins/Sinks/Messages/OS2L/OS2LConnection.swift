internal import Hemiola
internal import HemiolaNetwork
internal import HemiolaRecords
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
    private let isClosing = Atomic(false)
    /// What was sent and lost, when the thread has ended.
    private let result = Future<Report>()

    /// Starts the thread.
    init(to endpoint: NetworkEndpoint, _ context: SinkContext) throws(Problem) {
        self.endpoint = endpoint
        self.context = context
        wakeUp = try WakeUp.forSink()
        let code = startThreadIfPossible { [self] in run() }
        guard code == 0 else { throw Problem("cannot create a thread: \(SystemCallError(number: code))") }
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
    func close() throws(Problem) {
        isClosing.store(true, ordering: .relaxed)
        wakeUp.signal()
        guard var result = result.value(within: Self.closeTimeout + 1) else { return }
        reportLosses(&result, .infinity)
        if result.losses > 0, !result.wasConnected, result.isOutageReported {
            throw Problem("\(context.name): \(endpoint): not one of \(result.losses) messages could be sent")
        } else if result.losses > 0 {
            context.warn("\(context.name): \(result.losses) of \(result.losses + result.sent) messages were not sent to \(endpoint)")
        }
    }

    // MARK: - On the thread

    /// Outages and losses. The thread's until it ends, then that of ``close()``.
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
        var socket: TCPSocket?
        var delay = RetryDelay(first: 0.2, longest: Self.longestPause)
        var earliest = 0.0
        // When the thread ends although messages wait.
        var end = Double.infinity
        var report = Report()
        var mustEnd: Bool { isClosing.load(ordering: .relaxed) }
        while true {
            if socket == nil, !mustEnd, MonotonicTime.now >= delay.nextAttempt {
                do throws(Problem) {
                    socket = try TCPSocket.connect(to: endpoint, timeout: Self.connectTimeout, wakeUp) { mustEnd }
                    delay.reset()
                    noteConnection(&report)
                } catch {
                    if !mustEnd { note(outage: "cannot connect to \(endpoint): \(error.message)", &report) }
                    delay.noteFailure(at: MonotonicTime.now)
                }
            }
            let now = MonotonicTime.now
            if mustEnd { end = min(end, now + Self.closeTimeout) }
            let step = next(at: now, isConnected: socket != nil, earliest: earliest, nextAttempt: delay.nextAttempt, end: end, &report)
            reportLosses(&report, now)
            switch step {
            case .stop:
                // What is left to report, `close` reports.
                return result.complete(report)
            case .wait(let seconds):
                let readiness = wakeUp.wait(seconds: seconds, for: socket?.descriptor)
                if readiness.isReadable, socket?.discardInput() == false {
                    socket = nil
                    delay.noteFailure(at: MonotonicTime.now)
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
                    delay.noteFailure(at: MonotonicTime.now)
                    note(outage: "the connection to \(endpoint) is broken", &report)
                }
            }
        }
    }

    /// The next step of the thread. Drops messages that are too late, and those that are due without a connection.
    private func next(
        at now: Double, isConnected: Bool, earliest: Double, nextAttempt: Double, end: Double, _ report: inout Report
    ) -> Step {
        state.withLock { state in
            let latest = isConnected ? now - Self.tolerance : now
            let late = state.messages.prefix { $0.due < latest }.count
            state.messages.removeFirst(late)
            report.drop(late + state.overflow)
            state.overflow = 0
            if end < .infinity, state.messages.isEmpty || !isConnected || now >= end {
                report.drop(state.messages.count)
                state.messages.removeAll()
                return .stop
            }
            guard let first = state.messages.first else { return .wait(seconds: isConnected ? nil : max(0, nextAttempt - now)) }
            let time = max(first.due, isConnected ? earliest : 0)
            if isConnected, time <= now { return .send(state.messages.removeFirst()) }
            return .wait(seconds: max(0, min(time, isConnected ? end : min(nextAttempt, end)) - now))
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
