import Foundation
import Hemiola
import HemiolaSignal
import SocketSink
import Synchronization
import TestSupport
import Testing

/// The sink on a socket of its own, and what an engine would be to it.
final class Stage: Sendable {
    /// A wish that came through the door.
    struct Wish: Sendable {
        var control: Control
        var origin: String
        var reply: (@Sendable (ControlReply) -> Void)?
    }

    private struct State {
        var wishes: [Wish] = []
        var losses: [Loss] = []
        var warnings: [String] = []
        var runsEnded = 0
        var frame: Int64 = 0
        var number: Int64 = 0
    }

    let path: String
    let format: StreamFormat
    private let folder: TemporaryFolder
    private let sink: any Sink
    private let state = Mutex(State())

    /// Opens it.
    ///
    /// - Parameter settings: As in a SPEC, behind the path.
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
            name: "socket", selection: selection, isLive: true,
            controls: ControlPort(
                post: { [self] control, origin, reply in
                    state.withLock { $0.wishes.append(Wish(control: control, origin: origin, reply: reply)) }
                }, report: { [self] loss in state.withLock { $0.losses.append(loss) } }),
            warn: { [self] text in state.withLock { $0.warnings.append(text) } },
            endRun: { [self] in state.withLock { $0.runsEnded += 1 } })
    }

    // Copies of the elements: an array that is shared for a moment is one that ThreadSanitizer, which sees no reference count,
    // takes for shared for ever.
    var wishes: [Wish] { state.withLock { $0.wishes.map { $0 } } }
    var losses: [Loss] { state.withLock { $0.losses.map { $0 } } }
    var warnings: [String] { state.withLock { $0.warnings.map { $0 } } }
    var runsEnded: Int { state.withLock { $0.runsEnded } }
    var names: [String] { folder.names }

    func client() throws -> SocketClient { try SocketClient(path) }

    // MARK: - The stream

    /// The sample of a frame and channel: every one is another for half a minute, and a multiple of 2⁻²¹.
    static func sample(_ frame: Int64, _ channel: Int) -> Float {
        Float((frame * 2 + Int64(channel)) % 2_000_003) / 2_097_152 - 0.5
    }

    func begin(batchFrames: Int = 1024) async throws {
        state.withLock { ($0.frame, $0.number) = (0, 0) }
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, minimum: -120, "How loud it is."))
        let header = StreamHeader(
            source: StreamSource(format: format, kind: "stage", name: "stage \"1\""), isLive: true,
            batching: Batching(batchFrames: batchFrames)!, seed: 7,
            analyzers: [.init(name: "levels", id: "levels", version: 1, parameters: [], outputs: levels)])
        try await sink.begin(header)
    }

    /// Writes batches; the events are the first one's.
    func play(_ count: Int = 1, frames: Int = 1024, partial: Bool = false, events: [Event.Payload] = []) async throws {
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
            for event in index == 0 ? events : [] { list.append(event, at: format.seconds(at: frame)) }
            storage.seal(.init(number: number, frame: frame, frameCount: frames, isPartial: partial), events: &list)
            try await sink.write(BatchBlock(storage))
        }
    }

    /// Writes events without a batch.
    func write(_ events: [Event]) async throws {
        try await sink.write(events)
    }

    /// Audio is lost.
    func skip(_ frames: Int64) {
        state.withLock { $0.frame += frames }
    }

    func end() async throws {
        let (frame, number) = state.withLock { ($0.frame, $0.number) }
        try await sink.end(StreamSummary(frames: frame, batches: number, reason: .endOfInput))
    }

    func close() async throws {
        try await sink.close()
        // A wish holds its client, which holds this: an engine lets go of what it has answered, too.
        state.withLock { $0.wishes = [] }
    }

    // MARK: - Waiting

    /// Waits until something holds; the limit is a guard against hanging.
    func wait(for what: String = "something", _ holds: () -> Bool) async throws {
        for _ in 0..<30_000 {
            if holds() { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("there was never \(what)")
    }

    /// Answers what was wished, in this order, as the engine does.
    func answer(_ numbers: [Int], _ reply: ControlReply = .done) {
        for number in numbers { wishes[number].reply?(reply) }
    }
}

/// A line as JSON.
struct Line {
    let text: String
    private let fields: [String: Any]

    init(_ text: String?) throws {
        self.text = try #require(text, "the socket ended")
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

    /// Reads what every client is greeted with.
    func expectGreeting() throws {
        #expect(try line().type == "hello")
        #expect(try line().type == "resumeAudio")
    }

    /// Sends a request and waits for its answer.
    func ask(_ line: String) throws -> Line {
        try send(line)
        while true {
            let line = try self.line()
            if line.type == "reply" { return line }
        }
    }
}
