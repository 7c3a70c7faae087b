public import Hemiola

extension SinkPlugin {
    /// Writes JSON Lines to the standard input of a program that it starts.
    public static let exec = SinkPlugin(
        PluginDescription("exec", "Starts a program and writes one JSON object per line to its standard input.", primary: "command"),
        settings: ProgramSettings.self,
        needs: { _ in Needs(spareStandardOutput: true) },
        make: { settings throws(Problem) in
            try settings.check()
            return ExecSink(settings)
        })
}

/// The sink `exec`.
final class ExecSink: Sink {
    private var feed: ProgramFeed

    init(_ settings: ProgramSettings) {
        feed = ProgramFeed(settings)
    }

    func open(_ context: SinkContext) throws(Problem) {
        try feed.open(context)
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        try feed.begin(stream)
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        try feed.send { encoder, buffer in
            for index in 0..<batches.count { encoder.encode(batches[index], into: &buffer) }
        }
    }

    func write(_ events: [Event]) throws(Problem) {
        try feed.send { encoder, buffer in
            for event in events { encoder.encode(event, batchEnd: event.time, into: &buffer) }
        }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        try feed.send { encoder, buffer in encoder.encodeEnd(summary, into: &buffer) }
    }

    func close() throws(Problem) {
        try feed.close()
    }
}
