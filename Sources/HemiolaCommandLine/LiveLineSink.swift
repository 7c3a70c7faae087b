internal import Hemiola
internal import HemiolaSignal
internal import Synchronization

extension SinkPlugin {
    static let liveLineID = "live-line"

    /// Shows what is heard as one line on a terminal.
    static func liveLine(on console: Console) -> SinkPlugin {
        SinkPlugin(
            liveLineID, "One live line on a terminal.", needs: { _ in Needs(standardOutput: true) },
            make: { _ in LiveLineSink(console) })
    }
}

/// Reads levels, bars and tempo out of the row, where there are any, and draws some twenty times a second.
private final class LiveLineSink: Sink {
    /// Seconds between two drawings.
    private static let interval = 0.045

    private struct State {
        var line = LiveLine(name: "")
        var level: FeatureHandle?
        var bars: FeatureHandle?
        var tempo: FeatureHandle?
        var format = StreamFormat(sampleRate: 44_100, channelCount: 2)
        var lastDrawing = -Double.infinity
    }

    private let console: Console
    private let style = ProgressLine.Style(environment: System.environment)
    private let state = Mutex(State())

    init(_ console: Console) {
        self.console = console
    }

    func open(_ context: SinkContext) async {}

    func begin(_ stream: StreamHeader) async {
        state.withLock { state in
            if state.line.name.isEmpty { state.line.name = stream.source.name }
            state.format = stream.format
            state.level = stream.layout.handle("levels", "rms_db")
            state.bars = stream.layout.handle("visualizer", "bars")
            state.tempo = stream.layout.handle("beat", "bpm")
        }
    }

    func write(_ batches: BatchBlock) async {
        state.withLock { state in
            for index in 0..<batches.count {
                hear(batches[index], &state)
            }
            let now = System.now
            guard now - state.lastDrawing >= Self.interval else { return }
            state.lastDrawing = now
            console.show(bar: state.line.rendered(width: System.columns(of: System.standardOutput) ?? 80, style: style))
        }
    }

    func end(_ summary: StreamSummary) async {}

    func close() async {
        console.endBar()
    }

    private func hear(_ batch: borrowing Batch, _ state: inout State) {
        state.line.level = state.level.map { batch.row[$0.offset] }
        state.line.bars = state.bars.map { bars in (0..<bars.count).map { batch.row[bars.offset + $0] } } ?? []
        state.line.tempo = state.tempo.map { batch.row[$0.offset] }.flatMap { $0.isNaN ? nil : $0 }
        for index in batch.events.indices {
            switch batch.events[index].payload {
            case .device(let device): state.line.name = device.state == .lost ? "(waiting) \(device.summary)" : device.summary
            case .gap(let gap): state.line.lost += state.format.seconds(at: gap.frames)
            case .dropped(let loss): state.line.dropped += Int64(loss.batches)
            default: break
            }
        }
    }
}
