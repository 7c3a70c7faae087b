import Dispatch
import Hemiola
import HemiolaMIDI
import HemiolaNetwork
import HemiolaPlugins
import HemiolaTesting
import LibFuzzer
import Synchronization

@testable import HemiolaCommandLine
@testable import HemiolaEngine
@testable import HemiolaFieldMaps
@testable import HemiolaPictures
@testable import LightsSink
@testable import LinkSink
@testable import MIDISink
@testable import OS2LSink
@testable import WLEDSink

extension Fuzzer {
    /// Any bytes as a recording, of which all is made that `render` and `replay` can make of it: a picture, tables, beats in every format,
    /// notes, a summary, presets, the terminal's line, lights, and the messages of instruments. Its length chooses which.
    func tryOutputs(_ bytes: [UInt8]) {
        let path = InputFile.path(holding: bytes)
        let sinks = OutputSinks.groups[bytes.count % OutputSinks.groups.count]
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            for sink in sinks { OutputSinks.replay(path, to: sink) }
            isDone.signal()
        }
        isDone.wait()
    }
}

/// The sinks that get the recording.
enum OutputSinks {
    typealias Make = @Sendable () -> any Sink

    static let groups: [[Make]] = [
        [picture(.svg, 430, 250)],
        [picture(.png, 430, 250)],
        [picture(.png, 160, 100)],
        [
            plugin("csv", "/dev/null,events=/dev/zero"), plugin("summary", "/dev/null"),
            plugin("summary", "/dev/null,format=csv"), plugin("json-lines", "/dev/null"),
            plugin("notes", "/dev/null"),
        ],
        ["text", "audacity", "jams", "json", "midi", "rekordbox", "xtiming", "edl,fps=25"].map {
            plugin("beats", "/dev/null,format=\($0)")
        },
        [{ LiveLineSink(Console(output: { _ in })) }, { InstrumentSink() }, plugin("presets", "mode=beats")],
    ]

    private static func picture(_ format: PictureOptions.Format, _ width: Int, _ height: Int) -> Make {
        plugin("picture", "/dev/null,recorded=true,format=\(format.rawValue),width=\(width),height=\(height)")
    }

    private static func plugin(_ id: String, _ settings: String) -> Make {
        {
            guard let plugin = PluginRegistry.standard.sinks.first(where: { $0.about.id == id }) else { fatalError("no sink \(id)") }
            return make(plugin, settings)
        }
    }

    private static func make(_ plugin: SinkPlugin, _ settings: String) -> any Sink {
        guard let sink = try? plugin.make(settings: settings) else { fatalError("the fuzzer's own settings are wrong: \(settings)") }
        return sink
    }

    private static let presets = PluginRegistry.standard.sinks.first { $0.about.id == "presets" }!

    /// Replays a recording, in a pipeline whose only sink has the description of `presets`, which declares what a director emits.
    static func replay(_ path: String, to make: @escaping Make) {
        let plugin = SinkPlugin(presets.about, settings: NoSettings.self) { _ throws(Problem) in make() }
        let registry = PluginRegistry.standard.adding(sinks: [plugin])
        guard let recording = try? Recording(path, registry),
            let pipeline = try? registry.assemble(replaying: recording, PipelineConfiguration(sinks: [PluginSpec(presets.about.id)]))
        else { return }
        let _: RunOutcome = pipeline.run { notice in
            if case .sinkFailed(_, let error) = notice { requireOneLine(error.message) }
        }
    }
}

/// What the sinks for lights and instruments compute of a stream, without their network.
private final class InstrumentSink: Sink {
    private struct State: ~Copyable {
        var format = StreamFormat(sampleRate: 1, channelCount: 1)
        var wled = AudioSyncEncoder(peak: .onset, lead: 0)
        var shows: [LightShow] = []
        var channels: MappedChannels?
        var clock = ClockSchedule(hold: 4, continues: true)
        var alignment = SessionAlignment(quantum: nil, hold: 4)
        var count = BeatCount()
        let session = Session()
    }

    /// A session that keeps what is set.
    private final class Session: LinkTimeline, @unchecked Sendable {
        private var tempo = 120.0
        private var origin = 0.0
        let peerCount = 1

        func state(at time: Double, quantum: Double) -> LinkState {
            LinkState(beatsPerMinute: tempo, beat: (time - origin) * tempo / 60, isPlaying: false)
        }

        func set(beatsPerMinute: Double, beat: Double, at time: Double, quantum: Double) {
            tempo = min(max(beatsPerMinute, 20), 999)
            origin = time - beat * 60 / tempo
        }

        func setPlaying(_ isPlaying: Bool, at time: Double) {}
    }

    private let state = Mutex(State())

    func open(_ context: SinkContext) throws(Problem) {}

    func begin(_ stream: StreamHeader) throws(Problem) {
        state.withLock { state in
            state.format = stream.format
            state.wled.begin(stream)
            state.shows = [LightEffect.spectrum, .level, .pulse].map { LightShow($0, brightness: 1) }
            for index in state.shows.indices { state.shows[index].begin(stream) }
        }
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        state.withLock { state in
            for index in 0..<batches.count {
                let batch = batches[index]
                let now = state.format.seconds(at: batch.endFrame)
                for place in batch.events.indices { add(batch.events[place], now, &state) }
                var messages: [MIDIMessage] = []
                state.clock.advance(to: now, into: &messages)
                state.wled.add(batch, at: now)
                _ = state.wled.messages(at: now, gain: 1)
                guard batch.hasValues else { continue }
                var colors = [LightsSink.Color](repeating: .black, count: 30)
                for show in state.shows.indices {
                    state.shows[show].add(batch)
                    state.shows[show].render(at: now, into: &colors)
                    for color in colors { require((0...1).contains(color.brightness), "a light of \(color)") }
                }
            }
        }
    }

    private func add(_ event: Event, _ now: Double, _ state: inout State) {
        state.wled.add(event)
        for show in state.shows.indices { state.shows[show].add(event, at: event.time) }
        guard let beat = Beat(event) else { return }
        let period = 60 / beat.beatsPerMinute
        state.clock.addBeat(at: event.time, period: period, position: beat.position, confidence: beat.confidence, now: now)
        _ = state.count.add(position: beat.position, at: event.time)
        let announced = SessionAlignment.AnnouncedBeat(
            time: event.time, period: period, position: beat.position, confidence: beat.confidence)
        _ = state.alignment.add(announced, now: now, to: state.session)
    }

    func end(_ summary: StreamSummary) throws(Problem) {}
    func close() throws(Problem) {}
}

// MARK: - Mutation

/// Replaces a value of a recording by one that no analysis writes; else libFuzzer's own mutation.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int {
    guard Fuzzer.chosen == .outputs, seed % 4 > 0, count > 0 else { return LLVMFuzzerMutate(bytes, count, limit) }
    let text = Array(UnsafeBufferPointer(start: bytes, count: count))
    // A value ends before the next comma or bracket, and begins after a colon, a comma or a bracket.
    let start = Int(seed / 4) % count
    guard let place = text[start...].firstIndex(where: { ":,[".utf8.contains($0) }).map({ $0 + 1 }),
        let end = text[place...].firstIndex(where: { ",]}".utf8.contains($0) })
    else { return LLVMFuzzerMutate(bytes, count, limit) }
    let value = Array(unusualValues[Int(seed >> 8) % unusualValues.count].utf8)
    let result = text[..<place] + value + text[end...]
    guard result.count <= limit else { return LLVMFuzzerMutate(bytes, count, limit) }
    _ = UnsafeMutableBufferPointer(start: bytes, count: limit).update(fromContentsOf: result)
    return result.count
}

private let unusualValues = [
    "null", "0", "-0.0", "1", "-1", "2", "12", "400", "400.0", "-400.0", "1e-300", "1e15", "1e18", "-1e18", "1e300", "-1e300", "1e308",
    "9007199254740991", "9007199254740992", "9223372036854775807", "-9223372036854775808", "2147483648", "\"\"", "\"x\"", "[]", "true",
    "false", "{}", "0.5", "3.4e38", "1e-45", "127", "128", "255", "256", "8192", "384000", "8000",
]
