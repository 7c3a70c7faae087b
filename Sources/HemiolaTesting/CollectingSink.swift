public import Hemiola
public import HemiolaSignal
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Keeps everything it is given. It can be slow, block, fail as told, and wish for things.
public final class CollectingSink: Sink {
    /// A call that a sink gets.
    public enum Call: String, Sendable, Hashable {
        /// The requirement of `Sink` of that name.
        case open, begin, write, end, close
        /// `write` with events that come without a batch.
        case writeEvents
    }

    /// An answer to a wish.
    public struct Reply: Sendable, Hashable {
        /// The wish.
        public var control: Control
        /// What became of it.
        public var reply: ControlReply
        /// How many batches this sink had been given when the answer came.
        public var batchCount: Int
    }

    private struct Failure {
        var call: Call
        var skipped: Int
        var times: Int
        var error: SinkError
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

    /// Every write waits for it to open.
    private let gate: Gate
    private let delay: Duration
    private let before: @Sendable (Call, CollectingSink) -> Void
    private let state = Mutex(State())

    /// A sink that takes what comes at once, unless told otherwise.
    ///
    /// - Parameters:
    ///   - gate: Every `write` blocks its thread until this is open.
    ///   - delay: How long every `write` blocks its thread.
    ///   - before: Called at the start of every call, on the sink's thread, before anything waits.
    public init(
        gate: Gate = Gate(isOpen: true), delay: Duration = .zero,
        before: @escaping @Sendable (Call, CollectingSink) -> Void = { _, _ in }
    ) {
        self.gate = gate
        self.delay = delay
        self.before = before
    }

    // MARK: - What it was given

    /// One for each `begin`.
    public var streams: [CollectedStream] { state.withLock { $0.streams } }
    /// All calls so far, the failed ones included.
    public var calls: [Call] { state.withLock { $0.calls } }
    /// Batches of all streams so far.
    public var batchCount: Int { state.withLock { $0.batchCount } }
    /// The threads on which it was called.
    public var threads: Set<UInt> { state.withLock { $0.threads } }
    /// What the last `open` was given.
    public var context: SinkContext? { state.withLock { $0.context } }
    /// The answers to its wishes so far.
    public var replies: [Reply] { state.withLock { $0.replies } }

    // MARK: - What it is told

    /// Makes it fail.
    ///
    /// - Parameters:
    ///   - call: Which of its calls fails.
    ///   - skipped: Such calls that succeed first.
    ///   - times: Such calls that fail then.
    ///   - error: What they throw.
    public func fail(_ call: Call, after skipped: Int = 0, times: Int = 1, with error: SinkError) {
        state.withLock { $0.failures.append(Failure(call: call, skipped: skipped, times: times, error: error)) }
    }

    /// Wishes for something through the door that it was given; the answer goes to `replies`.
    public func post(_ control: Control, from origin: String = "test") {
        let door = state.withLock { $0.context?.controls } ?? .closed
        door.post(control, from: origin) { [self] reply in
            state.withLock { $0.replies.append(Reply(control: control, reply: reply, batchCount: $0.batchCount)) }
        }
    }

    /// Tells that a client of it fell behind.
    public func report(_ loss: Loss) {
        let door = state.withLock { $0.context?.controls } ?? .closed
        door.report(loss)
    }

    // MARK: - Sink

    public func open(_ context: SinkContext) async throws(SinkError) {
        state.withLock { $0.context = context }
        try enter(.open)
    }

    public func begin(_ stream: StreamHeader) async throws(SinkError) {
        try enter(.begin)
        state.withLock { $0.streams.append(CollectedStream(stream)) }
    }

    public func write(_ batches: BatchBlock) async throws(SinkError) {
        try enter(.write)
        let copies = (0..<batches.count).map { CollectedBatch(batches[$0]) }
        state.withLock {
            $0.batchCount += copies.count
            guard !$0.streams.isEmpty else { return }
            $0.streams[$0.streams.count - 1].batches += copies
            $0.streams[$0.streams.count - 1].blocks.append(copies.count)
        }
    }

    public func write(_ events: [Event]) async throws(SinkError) {
        try enter(.writeEvents)
        state.withLock {
            guard !$0.streams.isEmpty else { return }
            let stream = $0.streams.count - 1
            $0.streams[stream].eventsBetween.append(.init(batchCount: $0.streams[stream].batches.count, events: events))
        }
    }

    public func end(_ summary: StreamSummary) async throws(SinkError) {
        try enter(.end)
        state.withLock {
            guard !$0.streams.isEmpty else { return }
            $0.streams[$0.streams.count - 1].summary = summary
        }
    }

    public func close() async throws(SinkError) {
        try enter(.close)
    }

    private func enter(_ call: Call) throws(SinkError) {
        before(call, self)
        if call == .write || call == .writeEvents {
            gate.wait()
            if delay > .zero { Self.block(for: delay) }
        }
        let error = state.withLock { state -> SinkError? in
            state.calls.append(call)
            state.threads.insert(UInt(pthread_self()))
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
        usleep(UInt32(seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
    }
}

extension SinkPlugin {
    /// The sink itself as a plugin: every pipeline that names it gets this one.
    public static func collecting(
        _ sink: CollectingSink, as id: String = "collecting", needs: SinkPlugin.Needs = SinkPlugin.Needs()
    ) -> SinkPlugin {
        SinkPlugin(
            id, "Keeps everything it is given.", needs: { _ in needs }, make: { _ throws(ConfigurationError) in sink })
    }
}
