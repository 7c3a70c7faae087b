internal import Hemiola
internal import Synchronization

extension SinkPlugin {
    static let terminalID = "terminal"

    /// Fills a terminal with bars, spectrogram, waveform or a dashboard, and submits controls for keys.
    static func terminal(on console: Console) -> SinkPlugin {
        SinkPlugin(
            PluginDescription(terminalID, "A full-screen view on a terminal: bars, spectrogram, waveform or dashboard."),
            settings: ViewSettings.self,
            needs: { _ in
                Needs(samples: true, realTime: true, standardOutput: true, schedulesEvents: true, events: LiveState.events)
            },
            make: { TerminalView($0, console) })
    }
}

extension PluginRegistry {
    /// The analyzers that the view adds to the default ones, where the program has them. It goes on without one that cannot run.
    var viewAnalyzers: [PluginSpec] { installed(["loudness", "musical-key", "chords"], settings: ["on_error": .text("skip")]) }
}

/// The settings of the view.
struct ViewSettings: PluginSettings {
    var colors: ViewTheme?
    var barWidth: Int

    init(_ read: inout SettingReader) {
        colors = read.choice("colors", "Colours at the start; by default those of the last run. The key t changes them.")
        barWidth = read.integer("bar_width", default: 2, in: 1...32, "Columns of a bar.")
    }
}

/// Draws the newest batch up to 60 times per second, on a thread of its own: a terminal that is paused delays nothing else. Messages
/// appear in the last row, and are printed when the view has ended.
final class TerminalView: Sink, Sendable {
    /// Seconds between two pictures.
    private static let interval = 1.0 / 60
    /// Seconds that `close` waits for a terminal that accepts no text.
    private static let closeTime = 0.5

    private struct State {
        var clock: any MonotonicClock = .system
        var picture: ViewPicture
        var reader: KeyReader?
        /// Seconds by which beats light up earlier.
        var lead = 0.0
    }

    private let console: Console
    private let state: Mutex<State>
    /// Completed by `close`.
    private let stop = Future<Void>()
    /// Completed by the thread that draws, at its end.
    private let ended = Future<Void>()

    init(_ settings: ViewSettings, _ console: Console) {
        self.console = console
        var picture = ViewPicture(style: TerminalStyle(environment: EnvironmentVariable.value), barWidth: settings.barWidth)
        picture.readChoice()
        picture.chosenTheme = settings.colors ?? picture.chosenTheme
        state = Mutex(State(picture: picture))
    }

    func open(_ context: SinkContext) throws(Problem) {
        console.hold { [self] message in
            // The URL of a page is needed for longer than other messages are shown.
            if message.contains("http://") {
                state.withLock { $0.picture.address = String(message.drop { $0 != " " }.dropFirst().prefix { $0 != "\n" }) }
            } else {
                show(message)
            }
        }
        state.withLock { ($0.clock, $0.lead) = (context.timing.clock, context.timing.lead) }
        let reader = TerminalKey.reader { [self] key in
            let live = state.withLock { state in
                state.picture.handle(key)
                return state.picture.state
            }
            key.submit(live, to: context) { [self] in show($0) }
        }
        state.withLock { $0.reader = reader }
        do {
            try startThread(for: "the view on the terminal") { [self] in
                drawUntilStopped()
                ended.complete(())
            }
        } catch {
            ended.complete(())
            close()
            throw error
        }
    }

    func begin(_ stream: StreamHeader) {
        state.withLock { $0.picture.begin(stream) }
    }

    func write(_ batches: BatchBlock) {
        state.withLock { state in
            let now = state.clock.now
            for index in 0..<batches.count { state.picture.update(with: batches[index], at: now) }
        }
    }

    func write(_ events: [Event]) {
        state.withLock { state in
            for event in events { state.picture.state.update(with: event) }
        }
    }

    func end(_ summary: StreamSummary) {}

    func close() {
        stop.complete(())
        _ = ended.value(within: Self.closeTime)
        if let reader = state.withLock({ $0.reader }) { reader.stop() } else { Terminal.restore() }
        console.release()
        state.withLock { $0.picture }.writeChoice()
    }

    private func show(_ notice: String) {
        state.withLock { $0.picture.state.show(notice, at: $0.clock.now) }
    }

    // MARK: - The thread that draws

    private func drawUntilStopped() {
        let (clock, depth) = state.withLock { ($0.clock, $0.picture.style.colors) }
        var screen = Screen(depth)
        var next = clock.now
        while stop.value(within: next - clock.now) == nil {
            next = clock.now + Self.interval
            guard let size = FileDescriptor.standardOutput.terminalSize, Terminal.showScreen({ screen.invalidate() }) else { continue }
            screen.resize(columns: size.columns, rows: size.rows)
            // A beat lights up in the picture that is nearest to it.
            state.withLock { $0.picture.draw(on: &screen, at: $0.clock.now, lead: $0.lead + Self.interval / 2) }
            let text = screen.changes()
            if !text.isEmpty, (try? FileDescriptor.standardOutput.writeAll(text)) == nil { return }
        }
    }
}
