internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem
internal import Synchronization

extension SinkPlugin {
    static let liveLineID = "live-line"

    /// The record type of preset changes, which a plugin declares. Only its name is used here.
    private static let preset = RecordType("preset", "The visualizer loads another preset.", fields: [])

    /// Shows source, level, bars and tempo as one line on a terminal, and submits controls for keys.
    static func liveLine(on console: Console) -> SinkPlugin {
        SinkPlugin(
            liveLineID, "One live line on a terminal.", settings: NoSettings.self,
            needs: { _ in Needs(standardOutput: true, events: [.control, .device, .gap, .dropped, preset]) },
            make: { _ in LiveLineSink(console) })
    }
}

/// Reads levels, bars and tempo from the rows, if the pipeline computes them, and draws about twenty times per second.
final class LiveLineSink: Sink, Sendable {
    /// Seconds between two updates of the terminal.
    private static let interval = 0.045
    /// The same where each update is a new line, because the terminal cannot move the cursor.
    private static let plainInterval = 10.0
    /// Seconds for which a notice is shown.
    private static let noticeTime = 2.0

    private struct State {
        var line = LiveLine(name: "")
        var level: FeatureHandle?
        var bars: FeatureHandle?
        var tempo: FeatureHandle?
        var format = StreamFormat(sampleRate: 44_100, channelCount: 2)
        var nextUpdate = -Double.infinity
        var noticeEnd = -Double.infinity
        var keys = LiveKeyParser()
        var reader: System.KeyReader?
        var isHelpShown = false
    }

    private let console: Console
    private let style = ProgressLine.Style(environment: EnvironmentVariable.value)
    private let movesCursor = ProgressLine.canMoveCursor(EnvironmentVariable.value("TERM"))
    private let state = Mutex(State())

    init(_ console: Console) {
        self.console = console
    }

    func open(_ context: SinkContext) {
        guard System.KeyReader.isPossible else { return }
        let reader = System.KeyReader { [self] bytes in
            for key in state.withLock({ $0.keys.keys(in: bytes) }) { handle(key, context) }
        }
        state.withLock { $0.reader = reader }
    }

    func begin(_ stream: StreamHeader) {
        state.withLock { state in
            if state.reader != nil, !state.isHelpShown { console.remark("keys: \(LiveKey.help)") }
            state.isHelpShown = true
            if state.line.name.isEmpty { state.line.name = stream.source.name }
            state.format = stream.format
            state.level = stream.layout.handle("levels", "rms_db")
            state.bars = stream.layout.handle("visualizer", "bars")
            state.tempo = stream.layout.handle("beat", "bpm")
        }
    }

    func write(_ batches: BatchBlock) {
        state.withLock { state in
            for index in 0..<batches.count {
                update(&state, with: batches[index])
            }
            draw(&state)
        }
    }

    func write(_ events: [Event]) {
        state.withLock { state in
            for event in events { update(&state, with: event) }
            if movesCursor { state.nextUpdate = -.infinity }
            draw(&state)
        }
    }

    func end(_ summary: StreamSummary) {}

    func close() {
        state.withLock { $0.reader }?.stop()
        console.endBar()
    }

    /// Draws the line, at most once per interval. Called with the state locked.
    private func draw(_ state: inout State) {
        let now = MonotonicTime.now
        guard now >= state.nextUpdate else { return }
        state.nextUpdate = now + (movesCursor ? Self.interval : Self.plainInterval)
        if now >= state.noticeEnd { state.line.notice = nil }
        let line = state.line.rendered(width: System.columns(of: System.standardOutput) ?? 80, style: style)
        if movesCursor { console.show(bar: line) } else { console.print(bar: line) }
    }

    private func update(_ state: inout State, with batch: borrowing Batch) {
        state.line.level = state.level.map { batch.row[$0.offset] }
        state.line.bars = state.bars.map { bars in (0..<bars.count).map { batch.row[bars.offset + $0] } } ?? []
        state.line.tempo = state.tempo.map { batch.row[$0.offset] }.flatMap { $0.isNaN ? nil : $0 }
        for index in batch.events.indices { update(&state, with: batch.events[index]) }
    }

    private func update(_ state: inout State, with event: Event) {
        if let device = DeviceEvent(event) {
            if device.state == .lost {
                state.line.showOutage(of: device.summary)
            } else {
                state.line.name = device.summary
            }
        } else if let gap = Gap(event) {
            state.line.lost += state.format.seconds(at: gap.frames)
        } else if let drop = DropReport(event) {
            state.line.dropped += Int64(drop.batches)
        } else if event.type.name == "preset" {
            state.line.preset = event["name"].string
        } else if let control = event.control?.control {
            switch control.name {
            case "lockTempo": state.line.isTempoLocked = control["bpm"].number != nil
            case "resetTempo": state.line.isTempoLocked = false
            default: break
            }
        }
    }

    // MARK: - Keys

    /// Runs on the thread that reads the keys.
    private func handle(_ key: LiveKey, _ context: SinkContext) {
        let line = state.withLock { $0.line }
        let name: String
        var tempo = ParameterValue.none
        switch key {
        case .quit: return context.endRun()
        case .tap: name = "tap"
        case .lock:
            name = "lockTempo"
            if !line.isTempoLocked {
                guard let current = line.tempo else { return show("lock: no tempo yet") }
                tempo = .number(Double(current))
            }
        case .half: name = "halveTempo"
        case .double: name = "doubleTempo"
        case .next: name = "nextPreset"
        case .previous: name = "previousPreset"
        }
        guard let type = context.catalog.control(name) else { return show("\(key.done): no plugin declares this control") }
        var control = Control(type)
        control["bpm"] = tempo
        context.controls.submit(control, from: context.name) { [self] reply, _ in
            switch reply {
            case .done, .switched: show(key.done)
            case .refused(let reason): show("\(key.done): \(reason)")
            case .busy: show("\(key.done): too many controls at once")
            }
        }
    }

    private func show(_ notice: String) {
        state.withLock { state in
            state.line.notice = notice
            state.noticeEnd = MonotonicTime.now + Self.noticeTime
        }
    }
}
