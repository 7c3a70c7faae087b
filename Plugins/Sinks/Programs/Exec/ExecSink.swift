public import Hemiola
internal import HemiolaProcesses
internal import HemiolaSignal
internal import HemiolaWire
internal import Synchronization

extension SinkPlugin {
    /// Writes JSON Lines to the standard input of a program that it starts.
    public static let exec = SinkPlugin(
        "exec", "Starts a program and writes one JSON object per line to its standard input.",
        settings: ProgramSettings.declared, primary: ProgramSettings.primary,
        needs: { _ in Needs(spareStandardOutput: true) },
        make: { settings throws(ConfigurationError) in ExecSink(try ProgramSettings(settings)) })
}

/// The sink `exec`.
///
/// All methods but `writeIfReady` run on the sink's thread and may block. The engine never makes two calls at the same time. The mutex is therefore never
/// contended; it makes the class `Sendable`.
final class ExecSink: NonBlockingSink {
    private let feed: Mutex<ProgramFeed>

    init(_ settings: ProgramSettings) {
        feed = Mutex(ProgramFeed(settings))
    }

    func open(_ context: SinkContext) async throws(SinkError) {
        try feed.withLock { feed throws(SinkError) in try feed.open(context) }
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        try feed.withLock { feed throws(SinkError) in try feed.begin(stream) }
    }

    func write(_ batches: BatchBlock) async throws(SinkError) {
        try feed.withLock { feed throws(SinkError) in
            try feed.send { encoder, buffer in
                for index in 0..<batches.count { encoder.encode(batches[index], into: &buffer) }
            }
        }
    }

    func writeIfReady(_ batches: BatchBlock) -> Bool {
        feed.withLock { feed in
            feed.sendIfReady { encoder, buffer in
                for index in 0..<batches.count { encoder.encode(batches[index], into: &buffer) }
            }
        }
    }

    func write(_ events: [Event]) async throws(SinkError) {
        try feed.withLock { feed throws(SinkError) in
            try feed.send { encoder, buffer in
                for event in events { encoder.encode(event, batchEnd: event.time, into: &buffer) }
            }
        }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {
        try feed.withLock { feed throws(SinkError) in
            try feed.send { encoder, buffer in encoder.encodeEnd(summary, into: &buffer) }
        }
    }

    func close() async throws(SinkError) {
        try feed.withLock { feed throws(SinkError) in try feed.close() }
    }
}
