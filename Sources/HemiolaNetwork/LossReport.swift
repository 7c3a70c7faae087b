internal import Hemiola

/// Counts the messages that one receiver did not get, and reports them: a warning when losses begin and a line when they have ended, and
/// a `dropped` record with each. Single losses, which are no outage, have a record once a second at most.
struct LossReport {
    /// Seconds without a loss after which the receiver counts as available again.
    static let quietTime = 2.0
    /// The shortest time between two `dropped` records of single losses, in seconds.
    static let interval = 1.0

    /// Messages lost so far.
    private(set) var lost = 0
    /// Whether a message was sent.
    private(set) var hasSent = false
    private var isFaulty = false
    private var hasRecordOfOutage = false
    private var lostSinceWarning = 0
    private var lastLoss = -Double.infinity
    private var lastRecord = -Double.infinity
    private let context: SinkContext
    private let receiver: String
    private let countsEvents: Bool

    /// A report for one receiver of a sink.
    ///
    /// - Parameters:
    ///   - context: The context of the sink.
    ///   - receiver: The receiver in messages and records: `192.168.1.20:9000`.
    ///   - countsEvents: Whether a message is that of an event, not of a batch.
    init(_ context: SinkContext, receiver: String, countsEvents: Bool) {
        self.context = context
        self.countsEvents = countsEvents
        self.receiver = receiver
    }

    /// Notes lost messages.
    ///
    /// - Parameters:
    ///   - count: The number of messages; 0: none was lost, but the receiver is not available.
    ///   - reason: What is wrong and what to do, for the warning; nil: it is no reason for one.
    ///   - now: The monotonic time.
    mutating func lose(_ count: Int, because reason: String?, at now: Double) {
        lost += count
        lostSinceWarning += count
        if count > 0 || reason != nil { lastLoss = now }
        // The first loss of an outage has its record at once. It can follow the warning.
        report(count, isOngoing: hasRecordOfOutage || now - lastRecord < Self.interval, at: now)
        if let reason, !isFaulty {
            isFaulty = true
            warn("\(reason); messages are lost until it is available")
        }
        hasRecordOfOutage = isFaulty && (hasRecordOfOutage || count > 0)
    }

    /// Notes that a message was sent.
    mutating func send(at now: Double) {
        hasSent = true
        guard isFaulty, now - lastLoss >= Self.quietTime else { return }
        warn("available again; \(lostSinceWarning) messages were lost")
        (isFaulty, hasRecordOfOutage, lostSinceWarning) = (false, false, 0)
        report(0, isOngoing: false, at: now)
    }

    /// Reports what was not reported yet, with a warning or without.
    mutating func close(warns: Bool, at now: Double) {
        report(0, isOngoing: false, at: now)
        if warns, isFaulty, lostSinceWarning > 0 { warn("\(lostSinceWarning) messages were lost") }
    }

    private func warn(_ text: String) { context.messages.warn("\(context.name): \(receiver): \(text)") }

    private mutating func report(_ count: Int, isOngoing: Bool, at now: Double) {
        if count == 0, isOngoing || lost == 0 { return }
        context.controls.report(
            countsEvents
                ? DropReport(sink: context.name, batches: 0, events: count, isOngoing: isOngoing)
                : DropReport(sink: context.name, client: receiver, batches: count, isOngoing: isOngoing))
        if !isOngoing { lastRecord = now }
    }
}
