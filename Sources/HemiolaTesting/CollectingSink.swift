public import Hemiola
internal import Synchronization

/// A sink that stores all that it receives. On demand it is slow, blocks, fails, and submits controls.
///
///     let sink = CollectingSink()
///     let registry = PluginRegistry(captures: [.scripted([.samples(noise)])], analyzers: [.levels], sinks: [.collecting(sink)])
///     …
///     #expect(sink.streams[0].value("levels", "rms_db").count == 43)
///
/// Thread-safe.
public final class CollectingSink: Sink, Sendable {
    /// A method of `Sink`.
    public enum Call: String, Sendable, Hashable {
        /// The method of that name.
        case open, begin, write, end, close
        /// `write` with events between batches.
        case writeEvents
    }

    /// The reply to a control.
    public struct Reply: Sendable, Hashable {
        /// The submitted control.
        public var control: Control
        /// The reply.
        public var reply: ControlReply
        /// The number of batches that this sink had received before the reply.
        public var batchCount: Int
    }

    private struct Failure {
        var call: Call
        var skipped: Int
        var times: Int
        var error: Problem
    }

    private struct State {
        var context: SinkContext?
        var streams: [CollectedStream] = []
        var calls: [Call] = []
        var batchCount = 0
        var threads: Set<UInt> = []
        var failures: [Failure] = []
        var replies: [Reply] = []
    }

    /// Every `write` waits until this is open.
    private let gate: Gate
    private let delay: Duration
    private let before: @Sendable (Call, CollectingSink) -> Void
    private let state = Mutex(State())

    /// A sink that neither waits nor fails by default.
    ///
    /// - Parameters:
    ///   - gate: Every `write` blocks its thread until this is open.
    ///   - delay: The time for which every `write` blocks its thread.
    ///   - before: Called on the sink's thread at the start of every method, before `gate` and `delay`.
    public init(
        gate: Gate = Gate(isOpen: true), delay: Duration = .zero,
        before: @escaping @Sendable (Call, CollectingSink) -> Void = { _, _ in }
    ) {
        self.gate = gate
        self.delay = delay
        self.before = before
    }

    // MARK: - Received

    /// The streams so far, one per `begin`.
    public var streams: [CollectedStream] { state.withLock { $0.streams } }
    /// All calls so far, with those that failed.
    public var calls: [Call] { state.withLock { $0.calls } }
    /// The number of batches of all streams so far.
    public var batchCount: Int { state.withLock { $0.batchCount } }
    /// The threads on which methods were called after `open`, as `pthread_self()`.
    public var threads: Set<UInt> { state.withLock { $0.threads } }
    /// The context of the last `open`; nil before.
    public var context: SinkContext? { state.withLock { $0.context } }
    /// The replies to submitted controls so far.
    public var replies: [Reply] { state.withLock { $0.replies } }

    // MARK: - Behaviour

    /// Makes a method fail.
    ///
    /// - Parameters:
    ///   - call: The method.
    ///   - skipped: The number of calls that succeed before.
    ///   - times: The number of calls that fail then.
    ///   - error: The error that they throw.
    public func fail(_ call: Call, after skipped: Int = 0, times: Int = 1, with error: Problem) {
        state.withLock { $0.failures.append(Failure(call: call, skipped: skipped, times: times, error: error)) }
    }

    /// Submits a control through the port of the last `open`; the reply is appended to `replies`. Never blocks.
    ///
    /// - Parameters:
    ///   - control: The control.
    ///   - origin: The sender, for the `from` of the `control` record.
    public func post(_ control: Control, from origin: String = "test") {
        let port = state.withLock { $0.context?.controls } ?? .closed
        port.submit(control, from: origin) { [self] reply in
            state.withLock { $0.replies.append(Reply(control: control, reply: reply, batchCount: $0.batchCount)) }
        }
    }

    /// Reports that a client of this sink lost batches.
    public func report(_ loss: DropReport) {
        let port = state.withLock { $0.context?.controls } ?? .closed
        port.report(loss)
    }

    // MARK: - Sink

    public func open(_ context: SinkContext) throws(Problem) {
        state.withLock { $0.context = context }
        try enter(.open)
    }

    public func begin(_ stream: StreamHeader) throws(Problem) {
        try enter(.begin)
        state.withLock { $0.streams.append(CollectedStream(stream)) }
    }

    public func write(_ batches: BatchBlock) throws(Problem) {
        try enter(.write)
        let copies = (0..<batches.count).map { CollectedBatch(batches[$0]) }
        state.withLock {
            $0.batchCount += copies.count
            guard !$0.streams.isEmpty else { return }
            $0.streams[$0.streams.count - 1].batches += copies
            $0.streams[$0.streams.count - 1].blocks.append(copies.count)
        }
    }

    public func write(_ events: [Event]) throws(Problem) {
        try enter(.writeEvents)
        state.withLock {
            guard !$0.streams.isEmpty else { return }
            let stream = $0.streams.count - 1
            $0.streams[stream].eventsBetween.append(.init(batchCount: $0.streams[stream].batches.count, events: events))
        }
    }

    public func end(_ summary: StreamSummary) throws(Problem) {
        try enter(.end)
        state.withLock {
            guard !$0.streams.isEmpty else { return }
            $0.streams[$0.streams.count - 1].summary = summary
        }
    }

    public func close() throws(Problem) {
        try enter(.close)
    }

    private func enter(_ call: Call) throws(Problem) {
        before(call, self)
        if call == .write || call == .writeEvents {
            gate.wait()
            if delay > .zero { Self.block(for: delay) }
        }
        let error = state.withLock { state -> Problem? in
            state.calls.append(call)
            if call != .open { state.threads.insert(currentThreadIdentifier) }
            for index in state.failures.indices where state.failures[index].call == call && state.failures[index].times > 0 {
                if state.failures[index].skipped > 0 {
                    state.failures[index].skipped -= 1
                    continue
                }
                state.failures[index].times -= 1
                return state.failures[index].error
            }
            return nil
        }
        if let error { throw error }
    }

    private static func block(for delay: Duration) {
        let (seconds, attoseconds) = delay.components
        MonotonicTime.sleep(for: Double(seconds) + Double(attoseconds) * 1e-18)
    }
}

extension SinkPlugin {
    /// A plugin whose sink is always this instance.
    ///
    /// - Parameters:
    ///   - sink: The sink that every pipeline gets.
    ///   - id: The plugin's id.
    ///   - needs: The needs of the sink.
    public static func collecting(
        _ sink: CollectingSink, as id: String = "collecting", needs: SinkPlugin.Needs = SinkPlugin.Needs()
    ) -> SinkPlugin {
        SinkPlugin(
            PluginDescription(id, "Stores all that it receives."), settings: NoSettings.self, needs: { _ in needs },
            make: { _ throws(Problem) in sink })
    }
}
