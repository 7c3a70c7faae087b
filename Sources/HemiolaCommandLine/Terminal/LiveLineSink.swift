internal import Hemiola
internal import Synchronization

extension SinkPlugin {
    static let liveLineID = "live-line"

    /// Shows source, level, bars, tempo and beats as one line on a terminal, and submits controls for keys.
    static func liveLine(on console: Console) -> SinkPlugin {
        SinkPlugin(
            PluginDescription(liveLineID, "One live line on a terminal."), settings: NoSettings.self,
            needs: { _ in Needs(standardOutput: true, events: LiveState.events) },
            make: { _ in LiveLineSink(console) })
    }
}

extension LiveState {
    /// The events that it reads. Some are declared by plugins: only their names are used here.
    static let events: [RecordType] =
        [.beat, .control, .device, .gap, .dropped] + ["preset", "musical_key"].map { RecordType($0, "", fields: []) }
}

/// Draws the line about twenty times per second.
final class LiveLineSink: Sink, Sendable {
    /// Seconds between two updates of the terminal.
    private static let interval = 0.045
    /// The same where each update is a new line, because the terminal cannot move the cursor.
    private static let plainInterval = 10.0
    /// Seconds for which a notice is shown.
    static let noticeTime = 2.0

    private struct State {
        var clock: any MonotonicClock = .system
        var line = LiveLine()
        var nextUpdate = -Double.infinity
        var noticeEnd = -Double.infinity
        var keys = TerminalKeyParser()
        var reader: KeyReader?
        var isHelpShown = false
    }

    private let console: Console
    private let style = TerminalStyle(environment: EnvironmentVariable.value)
    private let movesCursor = ProgressLine.canMoveCursor(EnvironmentVariable.value("TERM"))
    private let state = Mutex(State())

    init(_ console: Console) {
        self.console = console
    }

    func open(_ context: SinkContext) {
        state.withLock { $0.clock = context.timing.clock }
        guard KeyReader.isPossible else { return }
        let reader = KeyReader { [self] bytes in
            for key in state.withLock({ $0.keys.keys(in: bytes) }) {
                key.submit(state.withLock { $0.line.state }, to: context) { [self] in show($0) }
            }
        }
        state.withLock { $0.reader = reader }
    }

    func begin(_ stream: StreamHeader) {
        state.withLock { state in
            if state.reader != nil, !state.isHelpShown { console.remark("keys: \(TerminalKey.helpOfLine)") }
            state.isHelpShown = true
            state.line.state.begin(stream)
        }
    }

    func write(_ batches: BatchBlock) {
        state.withLock { state in
            let now = state.clock.now
            for index in 0..<batches.count { state.line.state.update(with: batches[index], at: now) }
            draw(&state)
        }
    }

    func write(_ events: [Event]) {
        state.withLock { state in
            for event in events { state.line.state.update(with: event) }
            if movesCursor { state.nextUpdate = -.infinity }
            draw(&state)
        }
    }

    func end(_ summary: StreamSummary) {}

    func close() {
        state.withLock { $0.reader }?.stop()
        console.endBar()
    }

    /// Draws the line, at most once per interval, and with each beat. Called with the state locked.
    private func draw(_ state: inout State) {
        let now = state.clock.now
        let beats = state.line.state.beats.count
        state.line.state.beats.advance(to: now)
        let isBeat = movesCursor && state.line.state.beats.count > beats
        guard now >= state.nextUpdate || isBeat else { return }
        state.nextUpdate = now + (movesCursor ? Self.interval : Self.plainInterval)
        if now >= state.noticeEnd { state.line.notice = nil }
        let line = state.line.rendered(width: FileDescriptor.standardOutput.columns, style: style, at: now)
        if movesCursor { console.show(bar: line) } else { console.print(bar: line) }
    }

    /// Called on the thread that reads the keys, or that handles controls.
    private func show(_ notice: String) {
        state.withLock { state in
            state.line.notice = notice
            state.noticeEnd = state.clock.now + Self.noticeTime
        }
    }
}
