import Foundation
public import Hemiola
import HemiolaVisualizer
import Synchronization
public import TestSupport
import Testing

/// A sink with clients, a temporary folder for its files, and a replacement of the engine.
public final class ClientSinkFixture: Sendable {
    /// A control that the sink has submitted.
    public struct Submission: Sendable {
        public var control: Control
        public var origin: String
        public var reply: ControlPort.Reply?
    }

    private struct State {
        var submitted: [Submission] = []
        var drops: [DropReport] = []
        var warnings: [String] = []
        var information: [(text: String, figure: [String])] = []
        var announcements: [String] = []
        var endRunCount = 0
        var frame: Int64 = 0
        var number: Int64 = 0
    }

    public let format: StreamFormat
    /// The clock of the sink.
    public let clock = VirtualClock()
    /// The folder for the sink's files.
    public let folder: TemporaryFolder
    /// The sink's name in `control` records, and in the warnings.
    public let name: String
    private let sink: Mutex<any Sink>
    private let state = Mutex(State())
    /// How often the sink has called. The state itself is not watched, because its arrays would be shared by the threads that wait.
    private let calls = Watched(0)

    /// Opens a sink.
    ///
    /// - Parameters:
    ///   - plugin: The sink's plugin, given the fixture's folder.
    ///   - spec: The SPEC, given the fixture's folder.
    public init(
        _ plugin: (TemporaryFolder) -> SinkPlugin, spec: (TemporaryFolder) -> String, selection: Selection = .all,
        format: StreamFormat = StreamFormat(sampleRate: 44_100, channelCount: 2)
    ) async throws {
        folder = try TemporaryFolder()
        self.format = format
        let plugin = plugin(folder)
        sink = Mutex(try Self.sink(plugin, spec(folder)))
        name = plugin.about.id
        try sink.withLock { try $0.open(context(selection)) }
    }

    public static func sink(_ plugin: SinkPlugin, _ spec: String) throws -> sending any Sink {
        try plugin.make(plugin.about.values(parsing: spec))
    }

    /// Notes a call of the sink.
    private func note(_ change: (inout State) -> Void) {
        state.withLock { change(&$0) }
        calls.change { $0 += 1 }
    }

    private func context(_ selection: Selection) -> SinkContext {
        SinkContext(
            name: name, records: RecordChoice(catalog: Self.catalog, selection: selection), timing: SinkTiming(isLive: true, clock: clock),
            controls: ControlPort(
                submit: { [self] control, origin, reply in
                    note { $0.submitted.append(Submission(control: control, origin: origin, reply: reply)) }
                }, report: { [self] loss in note { $0.drops.append(loss) } }),
            messages: SinkMessages(
                warn: { [self] text in note { $0.warnings.append(text) } },
                inform: { [self] text, figure in note { $0.information.append((text, figure)) } },
                announce: { [self] text, figure in
                    note { state in
                        state.information.append((text, figure))
                        state.announcements.append(text)
                    }
                }),
            run: RunScope(end: { [self] in note { $0.endRunCount += 1 } }))
    }

    // The elements are copied: ThreadSanitizer does not see reference counts, and reports a race for an array whose buffer was shared.
    public var submitted: [Submission] { state.withLock { $0.submitted.map { $0 } } }
    public var drops: [DropReport] { state.withLock { $0.drops.map { $0 } } }
    public var information: [(text: String, figure: [String])] { state.withLock { $0.information.map { $0 } } }
    /// Those of the lines of `information` that are printed with `--quiet` too.
    public var announcements: [String] { state.withLock { $0.announcements.map { $0 } } }
    public var warnings: [String] { state.withLock { $0.warnings.map { $0 } } }
    public var endRunCount: Int { state.withLock { $0.endRunCount } }
    public var names: [String] { folder.names }

    /// The sink's declarations, and those of other plugins.
    public static let catalog = RecordCatalog(
        records: [.preset, .speed, .key, .message, Clap.recordType],
        controls: ControlType.presetControls + [.keyHandler, .pageMessage, .tap, .halveTempo, .doubleTempo, .setClap])

    // MARK: - The stream

    /// The sample of a frame and channel: a multiple of 2⁻²¹, unique for 22 seconds of stereo at 44.1 kHz.
    public static func sample(_ frame: Int64, _ channel: Int) -> Float {
        Float((frame * 2 + Int64(channel)) % 2_000_003) / 2_097_152 - 0.5
    }

    public func begin(batchFrames: Int = 1024, isLive: Bool = true) async throws {
        state.withLock { ($0.frame, $0.number) = (0, 0) }
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, minimum: -120, "RMS level."))
        let header = StreamHeader(
            source: StreamSource(format: format, kind: "fixture", name: "fixture \"1\""), isLive: isLive,
            batching: Batching(batchFrames: batchFrames)!, seed: 7,
            analyzers: [.init(name: "levels", id: "levels", version: 1, parameters: [], outputs: levels)], catalog: Self.catalog)
        try sink.withLock { try $0.begin(header) }
    }

    /// Writes batches. The controls and events are in the first one.
    public func play(
        _ count: Int = 1, frames: Int = 1024, partial: Bool = false, events: [any EventRecord] = [], controls: [StampedControl] = []
    )
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
            try sink.withLock { try $0.write(BatchBlock(storage)) }
        }
    }

    /// Writes events outside a batch.
    public func write(_ events: [Event]) async throws {
        try sink.withLock { try $0.write(events) }
    }

    /// Leaves a gap in the audio.
    public func skip(_ frames: Int64) {
        state.withLock { $0.frame += frames }
    }

    public func end() async throws {
        let (frame, number) = state.withLock { ($0.frame, $0.number) }
        try sink.withLock { try $0.end(StreamSummary(frames: frame, batches: number, reason: .endOfInput)) }
    }

    /// Closes the sink and opens it again, as the engine does after the remedy `reopen`.
    public func reopen() async throws {
        try sink.withLock { try $0.close() }
        try sink.withLock { try $0.open(context(.all)) }
    }

    public func close() async throws {
        try sink.withLock { try $0.close() }
        // A submission retains its client, which retains this fixture.
        state.withLock { $0.submitted = [] }
    }

    // MARK: - Waiting

    /// Waits until a condition on what the sink has submitted and reported is true, and checks it again with each of its calls.
    public func wait(_ condition: () -> Bool) async throws {
        if !calls.wait(until: { _ in condition() }) { Issue.record("the condition is not met") }
    }

    /// Replies to a submitted control, as the engine does.
    public func reply(to index: Int, with reply: ControlReply = .done) {
        submitted[index].reply?(reply)
    }
}

extension ControlType {
    public static let tap = ControlType("tap", "Marks a beat.")
    public static let halveTempo = ControlType("halveTempo", "Halves the tempo.")
    public static let doubleTempo = ControlType("doubleTempo", "Doubles the tempo.")
    /// A control of a plugin outside.
    public static let setClap = ControlType("setClap", "Sets the threshold.", fields: [.number("level", in: 0...1, "The level.")])
}

/// A record of a plugin outside.
public struct Clap: EventRecord {
    public static let recordType = RecordType("clap", "A clap.", fields: [.number("strength", "The strength.")])
    public var strength: Double

    public init(strength: Double) { self.strength = strength }
    public init?(_ event: Event) {
        guard event.type == Self.recordType, let strength = event[0].number else { return nil }
        self.strength = strength
    }
    public func event(at time: Double) -> Event { Event(at: time, Self.recordType, .number(strength)) }
}

/// A line, parsed as JSON.
public struct Line {
    public let text: String
    private let fields: [String: Any]

    public init(_ text: String?) throws {
        self.text = try #require(text, "the socket was closed")
        fields = try #require(try JSONSerialization.jsonObject(with: Data(self.text.utf8)) as? [String: Any], "\(self.text)")
        samples = fields["samples"] as? [Double] ?? []
    }

    public var type: String { fields["type"] as? String ?? "" }
    public let samples: [Double]
    public subscript(_ key: String) -> String? { fields[key] as? String }
    public func int(_ key: String) -> Int? { fields[key] as? Int }
    public func double(_ key: String) -> Double? { fields[key] as? Double }
    public func bool(_ key: String) -> Bool? { fields[key] as? Bool }
    public func isNull(_ key: String) -> Bool { fields[key] is NSNull }
    public func object(_ key: String) -> [String: Any] { fields[key] as? [String: Any] ?? [:] }
}

extension SocketClient {
    public func line() throws -> Line { try Line(try readLine()) }

    /// The next line that is not one of these types.
    public func line(except types: String...) throws -> Line {
        while true {
            let line = try line()
            if !types.contains(line.type) { return line }
        }
    }

    /// Reads the first lines of every connection.
    public func expectHello() throws {
        #expect(try line().type == "hello")
        #expect(try line().type == "resumeAudio")
    }

    /// Sends a request and waits for its reply.
    public func request(_ line: String) throws -> Line {
        try send(line)
        while true {
            let line = try self.line()
            if line.type == "reply" { return line }
        }
    }
}
