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

/// Draws the line about twenty times per second.
final class LiveLineSink: Sink, Sendable {
    /// Seconds between two updates of the terminal.
    private static let interval = 0.045
    /// The same where each update is a new line, because the terminal cannot move the cursor.
    private static let plainInterval = 10.0

    private struct State {
        var clock: any MonotonicClock = .system
        var live = LiveState()
        var nextUpdate = -Double.infinity
        var reader: KeyReader?
        var isHelpShown = false
    }

    private let console: Console
    private let style = TerminalStyle(environment: EnvironmentVariable.value)
    private let movesCursor = FileDescriptor.canMoveCursor(EnvironmentVariable.value("TERM"))
    private let state = Mutex(State())

    init(_ console: Console) {
        self.console = console
    }

    func open(_ context: SinkContext) {
        state.withLock { $0.clock = context.timing.clock }
        let reader = TerminalKey.reader { [self] key in
            key.submit(state.withLock { $0.live }, to: context) { [self] notice in
                state.withLock { $0.live.show(notice, at: $0.clock.now) }
            }
        }
        state.withLock { $0.reader = reader }
    }

    func begin(_ stream: StreamHeader) {
        state.withLock { state in
            if state.reader != nil, !state.isHelpShown { console.remark("keys: \(TerminalKey.helpOfLine)") }
            state.isHelpShown = true
            state.live.begin(stream)
        }
    }

    func write(_ batches: BatchBlock) {
        state.withLock { state in
            let now = state.clock.now
            for index in 0..<batches.count { state.live.update(with: batches[index], at: now) }
            draw(&state)
        }
    }

    func write(_ events: [Event]) {
        state.withLock { state in
            for event in events { state.live.update(with: event) }
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
        let beats = state.live.beats.count
        state.live.beats.advance(to: now)
        let isBeat = movesCursor && state.live.beats.count > beats
        guard now >= state.nextUpdate || isBeat else { return }
        state.nextUpdate = now + (movesCursor ? Self.interval : Self.plainInterval)
        let line = state.live.line(width: FileDescriptor.standardOutput.columns, style: style, at: now)
        if movesCursor { console.show(bar: line) } else { console.print(bar: line) }
    }
}
