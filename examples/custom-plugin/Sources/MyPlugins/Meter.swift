import Hemiola

extension SinkPlugin {
    /// Prints beats and levels for people.
    public static let meter = SinkPlugin(
        PluginDescription("meter", "Prints each beat, and the level of the batch in which it was found."), settings: NoSettings.self,
        needs: { _ in Needs(analyzers: [PluginSpec("beat"), PluginSpec("levels")], standardOutput: true, events: [.beat]) },
        make: { _ in Meter() })
}

final class Meter: Sink {
    private var level: FeatureHandle?

    func open(_ context: SinkContext) {}

    func begin(_ stream: StreamHeader) { level = stream.layout.handle("levels", "rms_db") }

    func write(_ batches: BatchBlock) {
        for index in 0..<batches.count {
            let batch = batches[index]
            for place in batch.events.indices {
                guard let beat = Beat(batch.events[place]), let level, batch.hasValues else { continue }
                print("beat \(beat.position ?? 0) at \(batch.events[place].time) s: \(batch.row[level.offset]) dBFS")
            }
        }
    }

    func end(_ summary: StreamSummary) {}
    func close() {}
}
