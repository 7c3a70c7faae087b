public import Hemiola
internal import HemiolaRecords
public import HemiolaSystem
internal import Synchronization

/// Counts the messages that one receiver did not get, and reports them: a warning when losses begin and a line when they have ended, and
/// `dropped` records.
///
/// Thread-safe; never blocks.
public final class LossReport: Sendable {
    /// Seconds without a loss after which the receiver counts as available again.
    static let quietTime = 2.0
    /// The shortest time between two `dropped` records, in seconds.
    static let interval = 1.0

    private struct State {
        var lost = 0
        var hasSent = false
        var isFaulty = false
        var lostSinceWarning = 0
        var lostSinceRecord = 0
        var lastLoss = -Double.infinity
        var lastRecord = -Double.infinity
    }

    private let state = Mutex(State())
    private let sink: String
    private let receiver: String
    private let warn: @Sendable (String) -> Void
    private let controls: ControlPort

    /// A report for one receiver of a sink.
    ///
    /// - Parameters:
    ///   - context: The context of the sink.
    ///   - receiver: The receiver in messages and records: `192.168.1.20:9000`.
    public init(_ context: SinkContext, receiver: String) {
        sink = context.name
        self.receiver = receiver
        warn = context.warn
        controls = context.controls
    }

    /// Messages lost so far.
    public var lostCount: Int { state.withLock { $0.lost } }

    /// Messages lost so far, if not one was sent; nil: at least one was sent, or none was lost.
    var totalLoss: Int? { state.withLock { $0.hasSent || $0.lost == 0 ? nil : $0.lost } }

    /// Notes lost messages.
    ///
    /// - Parameters:
    ///   - count: The number of messages; 0: none was lost, but the receiver is not available.
    ///   - reason: What is wrong and what to do, for the warning; nil: the output is about to start, which is no reason for a warning.
    ///   - now: The monotonic time.
    public func lose(_ count: Int, because reason: String?, at now: Double = MonotonicTime.now) {
        let (isNew, records) = state.withLock { state in
            let isNew = !state.isFaulty && reason != nil
            if reason != nil { state.isFaulty = true }
            state.lost += count
            state.lostSinceWarning += count
            state.lostSinceRecord += count
            state.lastLoss = now
            var records = 0
            if now - state.lastRecord >= Self.interval, state.lostSinceRecord > 0 {
                (records, state.lostSinceRecord, state.lastRecord) = (state.lostSinceRecord, 0, now)
            }
            return (isNew, records)
        }
        if isNew, let reason { warn("\(receiver): \(reason); messages are lost until it is available") }
        if records > 0 { controls.report(DropReport(sink: sink, client: receiver, batches: records)) }
    }

    /// Notes that a message was sent.
    public func send(at now: Double = MonotonicTime.now) {
        let ended: Int? = state.withLock { state in
            state.hasSent = true
            guard state.isFaulty, now - state.lastLoss >= Self.quietTime else { return nil }
            defer { (state.isFaulty, state.lostSinceWarning) = (false, 0) }
            return state.lostSinceWarning
        }
        if let ended { warn("\(receiver): available again; \(ended) messages were lost") }
    }

    /// Reports what was not reported yet.
    public func close() {
        let (lost, records) = state.withLock { state in
            defer { (state.lostSinceRecord, state.lostSinceWarning, state.isFaulty) = (0, 0, false) }
            return (state.isFaulty ? state.lostSinceWarning : 0, state.lostSinceRecord)
        }
        if records > 0 { controls.report(DropReport(sink: sink, client: receiver, batches: records)) }
        if lost > 0 { warn("\(receiver): \(lost) messages were lost") }
    }
}
