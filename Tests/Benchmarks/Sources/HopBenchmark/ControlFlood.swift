import Glibc
import Hemiola
import HemiolaEngine
import HemiolaPlugins
import HemiolaVisualizer
import Synchronization

/// Controls that name presets, four for every batch: what they cost the analysis thread, whatever the name and the list.
enum ControlFlood {
    static let perBatch = 4

    static let cases: [(count: Int, what: String, control: Control)] = [10, 10_000].flatMap { count in
        [
            (count, "a name of the list   ", Control(.loadPreset, .text(name(count - 1)))),
            (count, "1 KiB of no list     ", Control(.loadPreset, .text(String(repeating: "an unknown name ", count: 64)))),
            (count, "the next one         ", Control(.nextPreset)),
        ]
    }

    private static func name(_ number: Int) -> String { "Author \(number % 97) - The long name of preset \(number)" }

    /// Processor time of the analysis thread in a run, and how many controls it applied; the least of three.
    static func run(presets count: Int, _ control: Control?) async throws -> (seconds: Double, controls: Int) {
        var best = (seconds: Double.infinity, controls: 0)
        for _ in 0..<3 {
            let state = FloodState(presets: (0..<count).map(name), control: control)
            let registry = PluginRegistry.standard.adding(
                captures: [
                    CapturePlugin(PluginDescription("flood", "Noise and controls."), settings: NoSettings.self) { _ in FloodCapture(state) }
                ],
                sinks: [
                    SinkPlugin(PluginDescription("port", "Passes its port on."), settings: NoSettings.self, make: { _ in PortSink(state) })
                ])
            var configuration = PipelineConfiguration(captures: [PluginSpec("flood")], analyzers: [PluginSpec("levels")])
            configuration.sinks = [try PluginSpec(parsing: "presets:/dev/null,mode=manual,state=none"), PluginSpec("port")]
            _ = await (try registry.assemble(configuration)).run()
            let seconds = state.seconds.withLock { $0 }
            if seconds < best.seconds { best = (seconds, state.applied.load(ordering: .relaxed)) }
        }
        return best
    }
}

/// What the capture and the sink of a run share.
private final class FloodState: Sendable {
    let presets: [String]
    let control: Control?
    let port = Mutex(ControlPort.closed)
    let seconds = Mutex(0.0)
    let applied = Atomic<Int>(0)

    init(presets: [String], control: Control?) {
        self.presets = presets
        self.control = control
    }
}

/// Reads the clock of the thread that it is called on.
private final class FloodCapture: Capture {
    private let noise = NoiseCapture()
    private let state: FloodState
    private var start: Double?

    init(_ state: FloodState) {
        self.state = state
    }

    var isLive: Bool { false }

    func open(_ request: FormatRequest) -> StreamSource { noise.open(request) }

    func read(into samples: inout MutableSpan<Float>) -> ReadResult {
        if start == nil {
            state.port.withLock { $0 }.submit(Control(.ready, .texts(state.presets)), from: "page")
            // The list is read beside: it is there before the clock runs.
            usleep(300_000)
            start = Self.now
        }
        let delivery = noise.read(into: &samples)
        if case .end = delivery { state.seconds.withLock { $0 = Self.now - start! } }
        return delivery
    }

    func close() {}

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// Submits controls on its own thread, as the sink of a client does.
private final class PortSink: Sink {
    private let state: FloodState

    init(_ state: FloodState) {
        self.state = state
    }

    func open(_ context: SinkContext) { state.port.withLock { $0 = context.controls } }
    func begin(_ stream: StreamHeader) {}
    func write(_ batches: BatchBlock) {
        guard let control = state.control else { return }
        let port = state.port.withLock { $0 }
        for number in 0..<ControlFlood.perBatch * batches.count {
            port.submit(control, from: "client \(number % 4)") { [state] reply in
                if reply != .busy { state.applied.add(1, ordering: .relaxed) }
            }
        }
    }
    func end(_ summary: StreamSummary) {}
    func close() {}
}
