import Hemiola
import HemiolaEngine
import HemiolaTesting
import Synchronization
import TestSupport

/// A test fixture: makes a pipeline of the given plugins and runs it.
struct Trial {
    var captures: [CapturePlugin]
    var analyzers: [AnalyzerPlugin] = []
    var sinks: [SinkPlugin] = []
    var configuration = PipelineConfiguration()
    var clock: any MonotonicClock = .system

    /// A pipeline with one scripted capture.
    init(
        _ steps: [CaptureStep], format: StreamFormat = TestSignal.mono, isLive: Bool = false, analyzers: [AnalyzerPlugin] = [],
        sinks: [SinkPlugin] = [], batchFrames: Int = 1024
    ) {
        captures = [.scripted(format: format, isLive: isLive, steps)]
        self.analyzers = analyzers
        self.sinks = sinks
        configuration.batchFrames = batchFrames
    }

    func pipeline() throws -> Pipeline {
        var configuration = configuration
        if configuration.captures.isEmpty { configuration.captures = captures.map { PluginSpec($0.about.id) } }
        if configuration.analyzers.isEmpty { configuration.analyzers = analyzers.map { PluginSpec($0.about.id) } }
        if configuration.sinks.isEmpty { configuration.sinks = sinks.map { PluginSpec($0.about.id) } }
        return try PluginRegistry(captures: captures, analyzers: analyzers, sinks: sinks).assemble(configuration, clock: clock)
    }

    @discardableResult
    func run(report: Notices = Notices()) async throws -> RunOutcome {
        try await pipeline().run { report.append($0) }
    }

    /// Runs the pipeline with an additional sink and returns the streams that this sink received.
    func streams() async throws -> [CollectedStream] {
        let sink = CollectingSink()
        var trial = self
        trial.sinks.append(.collecting(sink, as: "listener"))
        try await trial.run()
        return sink.streams
    }

    /// Runs a pipeline that produces one stream, and returns that stream.
    func stream() async throws -> CollectedStream {
        let streams = try await streams()
        precondition(streams.count == 1, "the trial had \(streams.count) streams")
        return streams[0]
    }
}

/// The notices of a pipeline.
final class Notices: Sendable {
    private let list = Mutex<[PipelineNotice]>([])

    func append(_ notice: PipelineNotice) {
        list.withLock { $0.append(notice) }
    }

    /// The notices as text.
    var texts: [String] { list.withLock { $0.map { "\($0)" } } }

    func count(_ name: String) -> Int {
        texts.count { $0.hasPrefix(name) }
    }

    /// The number of warnings with a text.
    func warnings(_ text: String) -> Int {
        texts.count { $0.hasPrefix("warning") && $0.contains(text) }
    }
}

/// A list that several threads write.
final class Log<Item: Sendable>: Sendable {
    private let list = Watched<[Item]>([])

    /// Returns the number of items with this one.
    @discardableResult
    func append(_ item: Item) -> Int {
        var count = 0
        list.change {
            $0.append(item)
            count = $0.count
        }
        return count
    }

    var items: [Item] { list.value }
    var count: Int { list.value.count }

    /// Waits for so many items.
    func wait(for count: Int) -> Bool { list.wait { $0.count >= count } }
}

/// A value that several threads read and write.
final class Shared<Value: Sendable>: Sendable {
    private let box: Watched<Value>

    init(_ value: Value) {
        box = Watched(value)
    }

    var value: Value {
        get { box.value }
        set { box.change { $0 = newValue } }
    }

    /// Waits for a value.
    func wait(until isMet: (Value) -> Bool) -> Bool { box.wait(until: isMet) }
}

extension CollectedStream {
    /// The analyzer events of one output, in order of arrival.
    func analyzerEvents(_ output: String) -> [(time: Double, values: [Double])] {
        events.compactMap { event in
            guard let analyzerEvent = AnalyzerEvent(event), analyzerEvent.output == output else { return nil }
            return (event.time, analyzerEvent.values)
        }
    }

    /// The types of all records except batches, in order of arrival.
    var recordTypes: [String] { events.map(\.type.name) }

    /// The number of the batch that includes an event.
    func batchNumber(where isMeant: (Event) -> Bool) -> Int64? {
        batches.first { $0.events.contains(where: isMeant) }?.number
    }
}

/// Batches of silence.
func silence(batches: Int, of frames: Int = 1024) -> CaptureStep {
    .samples(TestSignal.silence(frames: batches * frames))
}
