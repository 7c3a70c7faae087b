import Foundation
import Hemiola
import HemiolaSignal
import HemiolaVisualizer
import SocketSink
import Synchronization
import TestSupport
import Testing

/// The sink with a socket in a temporary folder, and a replacement of the engine.
final class SocketSinkFixture: Sendable {
    /// A control that the sink has submitted.
    struct Submission: Sendable {
        var control: Control
        var origin: String
        var reply: (@Sendable (ControlReply) -> Void)?
    }

    private struct State {
        var submitted: [Submission] = []
        var drops: [DropReport] = []
        var warnings: [String] = []
        var endRunCount = 0
        var frame: Int64 = 0
        var number: Int64 = 0
    }

    let path: String
    let format: StreamFormat
    private let folder: TemporaryFolder
    private let sink: any Sink
    private let state = Mutex(State())

    /// Opens the sink.
    ///
    /// - Parameter settings: The part of the SPEC after the path.
    init(_ settings: String = "", selection: Selection = .all, format: StreamFormat = StreamFormat(sampleRate: 44_100, channelCount: 2))
        async throws
    {
        folder = try TemporaryFolder()
        path = folder("s")
        self.format = format
        sink = try Self.sink("socket:\(path)" + (settings.isEmpty ? "" : ",\(settings)"))
        try await sink.open(context(selection))
    }

    static func sink(_ spec: String) throws -> any Sink {
        try SinkPlugin.socket.make(SinkPlugin.socket.about.values(parsing: spec))
    }

    private func context(_ selection: Selection) -> SinkContext {
        SinkContext(
            name: "socket", selection: selection, catalog: Self.catalog, isLive: true,
            controls: ControlPort(
                submit: { [self] control, origin, reply in
                    state.withLock { $0.submitted.append(Submission(control: control, origin: origin, reply: reply)) }
                }, report: { [self] loss in state.withLock { $0.drops.append(loss) } }),
            warn: { [self] text in state.withLock { $0.warnings.append(text) } },
            endRun: { [self] in state.withLock { $0.endRunCount += 1 } })
    }

    // The elements are copied: ThreadSanitizer does not see reference counts, and reports a race for an array whose buffer was shared.
    var submitted: [Submission] { state.withLock { $0.submitted.map { $0 } } }
    var drops: [DropReport] { state.withLock { $0.drops.map { $0 } } }
    var warnings: [String] { state.withLock { $0.warnings.map { $0 } } }
    var endRunCount: Int { state.withLock { $0.endRunCount } }
    var names: [String] { folder.names }

    func client() throws -> SocketClient { try SocketClient(path) }

    /// The sink's declarations, and those of other plugins.
    static let catalog = RecordCatalog(
        records: [.preset, .speed, .key, .message, Clap.recordType],
        controls: ControlType.presetControls + [.keyHandler, .pageMessage, .tap, .halveTempo, .doubleTempo, .setClap])

    // MARK: - The stream

    /// The sample of a frame and channel: a multiple of 2⁻²¹, unique for 22 seconds of stereo at 44.1 kHz.
    static func sample(_ frame: Int64, _ channel: Int) -> Float {
        Float((frame * 2 + Int64(channel)) % 2_000_003) / 2_097_152 - 0.5
    }

    func begin(batchFrames: Int = 1024) async throws {
        state.withLock { ($0.frame, $0.number) = (0, 0) }
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, minimum: -120, "RMS level."))
        let header = StreamHeader(
            source: StreamSource(format: format, kind: "fixture", name: "fixture \"1\""), isLive: true,
            batching: Batching(batchFrames: batchFrames)!, seed: 7,
            analyzers: [.init(name: "levels", id: "levels", version: 1, parameters: [], outputs: levels)], catalog: Self.catalog)
        try await sink.begin(header)
    }

    /// Writes batches. The controls and events are in the first one.
    func play(_ count: Int = 1, frames: Int = 1024, partial: Bool = false, events: [any EventRecord] = [], controls: [StampedControl] = [])
        async throws
    {
        for index in 0..<count {
            let (number, frame) = state.withLock { state in
                defer {
                    state.number += 1
                    state.frame += Int64(frames)
                }
                return (state.number, state.frame)
            }
            let channels = format.channelCount
            let storage = BatchStorage(capacity: 1, width: 1, samplesPerBatch: frames * channels, channelCount: channels)
            storage.openRow[0] = -20
            for place in 0..<frames * channels {
                storage.openSamples[place] = Self.sample(frame + Int64(place / channels), place % channels)
            }
            var list = EventList()
            if index == 0 {
                let time = format.seconds(at: frame)
                for control in controls { list.append(Event(at: time, control)) }
                for event in events { list.append(event, at: time) }
            }
            storage.complete(.init(number: number, frame: frame, frameCount: frames, isPartial: partial), events: &list)
            try await sink.write(BatchBlock(storage))
        }
    }

    /// Writes events outside a batch.
    func write(_ events: [Event]) async throws {
        try await sink.write(events)
    }

    /// Leaves a gap in the audio.
    func skip(_ frames: Int64) {
        state.withLock { $0.frame += frames }
    }

    func end() async throws {
        let (frame, number) = state.withLock { ($0.frame, $0.number) }
        try await sink.end(StreamSummary(frames: frame, batches: number, reason: .endOfInput))
    }

    /// Closes the sink and opens it again, as the engine does after the remedy `reopen`.
    func reopen() async throws {
        try await sink.close()
        try await sink.open(context(.all))
    }

    func close() async throws {
        try await sink.close()
        // A submission retains its client, which retains this fixture.
        state.withLock { $0.submitted = [] }
    }

    // MARK: - Waiting

    /// Waits until a condition is true, at most 30 seconds.
    func wait(for description: String = "condition", _ condition: () -> Bool) async throws {
        for _ in 0..<30_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("time limit reached: \(description)")
    }

    /// Replies to a submitted control, as the engine does.
    func reply(to index: Int, with reply: ControlReply = .done) {
        submitted[index].reply?(reply)
    }
}

extension ControlType {
    static let tap = ControlType("tap", "Marks a beat.")
    static let halveTempo = ControlType("halveTempo", "Halves the tempo.")
    static let doubleTempo = ControlType("doubleTempo", "Doubles the tempo.")
    /// A control of a plugin outside.
    static let setClap = ControlType("setClap", "Sets the threshold.", fields: [.number("level", in: 0...1, "The level.")])
}

/// A record of a plugin outside.
struct Clap: EventRecord {
    static let recordType = RecordType("clap", "A clap.", fields: [.number("strength", "The strength.")])
    var strength: Double

    init(strength: Double) { self.strength = strength }
    init?(_ event: Event) {
        guard event.type == Self.recordType, let strength = event[0].number else { return nil }
        self.strength = strength
    }
    func event(at time: Double) -> Event { Event(at: time, Self.recordType, .number(strength)) }
}

/// A line, parsed as JSON.
struct Line {
    let text: String
    private let fields: [String: Any]

    init(_ text: String?) throws {
        self.text = try #require(text, "the socket was closed")
        fields = try #require(try JSONSerialization.jsonObject(with: Data(self.text.utf8)) as? [String: Any], "\(self.text)")
        samples = fields["samples"] as? [Double] ?? []
    }

    var type: String { fields["type"] as? String ?? "" }
    let samples: [Double]
    subscript(_ key: String) -> String? { fields[key] as? String }
    func int(_ key: String) -> Int? { fields[key] as? Int }
    func double(_ key: String) -> Double? { fields[key] as? Double }
    func bool(_ key: String) -> Bool? { fields[key] as? Bool }
    func isNull(_ key: String) -> Bool { fields[key] is NSNull }
    func object(_ key: String) -> [String: Any] { fields[key] as? [String: Any] ?? [:] }
}

extension SocketClient {
    func line() throws -> Line { try Line(try readLine()) }

    /// The next line that is not one of these types.
    func line(except types: String...) throws -> Line {
        while true {
            let line = try line()
            if !types.contains(line.type) { return line }
        }
    }

    /// Reads the first lines of every connection.
    func expectHello() throws {
        #expect(try line().type == "hello")
        #expect(try line().type == "resumeAudio")
    }

    /// Sends a request and waits for its reply.
    func request(_ line: String) throws -> Line {
        try send(line)
        while true {
            let line = try self.line()
            if line.type == "reply" { return line }
        }
    }
}
