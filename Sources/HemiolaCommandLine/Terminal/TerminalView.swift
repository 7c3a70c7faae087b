internal import Hemiola
internal import Synchronization

extension SinkPlugin {
    static let terminalID = "terminal"

    /// Fills a terminal with bars, spectrogram, waveform or a dashboard, and submits controls for keys.
    static func terminal(on console: Console) -> SinkPlugin {
        SinkPlugin(
            PluginDescription(terminalID, "A full-screen view on a terminal: bars, spectrogram, waveform or dashboard."),
            settings: NoSettings.self,
            needs: { _ in
                Needs(samples: true, realTime: true, standardOutput: true, schedulesEvents: true, events: LiveState.events)
            },
            make: { _ throws(Problem) in
                guard FileDescriptor.standardOutput.isTerminal,
                    ProgressLine.canMoveCursor(EnvironmentVariable.value("TERM"))
                else { throw Problem("standard output is not a terminal that can move its cursor; use json-lines instead") }
                return TerminalView(console)
            })
    }
}

extension PluginRegistry {
    /// The analyzers that the view adds to the default ones, where the program has them. It goes on without one that cannot run.
    var viewAnalyzers: [PluginSpec] { installed(["loudness", "musical-key", "chords"], settings: ["on_error": .text("skip")]) }
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
        var picture = ViewPicture(style: TerminalStyle(environment: EnvironmentVariable.value))
        var noticeEnd = -Double.infinity
        var keys = TerminalKeyParser()
        var reader: KeyReader?
        var mix = ChannelMix(StreamFormat(sampleRate: 1, channelCount: 1))
        var hopFrames = 0
        var meter: SpectrumMeter?
        /// Whether a batch of the stream had samples that are not silent.
        var hasSound = false
        /// Seconds by which beats light up earlier.
        var lead = 0.0
    }

    private let console: Console
    private let state: Mutex<State>
    private let choice = ViewChoice.path()
    /// Signals a key, the end, and that the thread has ended.
    private let condition = Condition()
    private let isStopping = Atomic<Bool>(false)
    private let isDrawing = Atomic<Bool>(false)

    init(_ console: Console) {
        self.console = console
        var state = State()
        ViewChoice.read(choice).apply(to: &state.picture)
        self.state = Mutex(state)
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
        if KeyReader.isPossible {
            let reader = KeyReader { [self] bytes in
                for key in state.withLock({ $0.keys.keys(in: bytes) }) { handle(key, context) }
            }
            state.withLock { $0.reader = reader }
        }
        isDrawing.store(true, ordering: .releasing)
        do throws(Problem) {
            try startThread(for: "the view on the terminal") { [self] in
                drawUntilStopped()
                condition.locked {
                    isDrawing.store(false, ordering: .releasing)
                    condition.broadcast()
                }
            }
        } catch {
            isDrawing.store(false, ordering: .releasing)
            state.withLock { state in
                state.reader?.stop()
                state.reader = nil
            }
            console.release()
            throw error
        }
    }

    func begin(_ stream: StreamHeader) {
        state.withLock { state in
            state.picture.begin(stream)
            state.mix = ChannelMix(stream.format)
            state.hopFrames = stream.batching.hopFrames
            (state.meter, state.hasSound) = (nil, false)
        }
    }

    func write(_ batches: BatchBlock) {
        state.withLock { state in
            let now = state.clock.now
            for index in 0..<batches.count { Self.update(&state, with: batches[index], now) }
        }
    }

    func write(_ events: [Event]) {
        state.withLock { state in
            for event in events { state.picture.state.update(with: event) }
        }
    }

    func end(_ summary: StreamSummary) {}

    func close() {
        condition.locked {
            isStopping.store(true, ordering: .releasing)
            condition.broadcast()
            condition.wait(within: Self.closeTime) { isDrawing.load(ordering: .acquiring) }
        }
        if let reader = state.withLock({ $0.reader }) { reader.stop() } else { Terminal.restore() }
        console.release()
        ViewChoice(state.withLock { $0.picture }).write(choice)
    }

    private static func update(_ state: inout State, with batch: borrowing Batch, _ now: Double) {
        let format = state.picture.state.format
        state.picture.state.update(with: batch, at: now)
        let count = state.picture.barCount
        let isStereo = state.picture.isStereo && format.channelCount > 1
        if state.meter == nil || state.meter?.barCount != count || state.meter?.isStereo != isStereo {
            state.meter = SpectrumMeter(format, hopFrames: state.hopFrames, barCount: count, isStereo: isStereo)
        }
        guard let meter = state.meter else { return }
        let sides = [state.mix.left, state.mix.right].map { weights in
            var side = [Float](repeating: 0, count: batch.samples.count / max(1, weights.count))
            var span = side.mutableSpan
            let isFinite = span.mix(batch.samples, weights: weights)
            return isFinite ? side : [Float](repeating: 0, count: side.count)
        }
        let isSilent = meter.process(sides)
        if isSilent, !state.hasSound, state.picture.state.bars.contains(where: { $0 > 0 }) {
            // A replay without its sound: the bars that were recorded.
            state.picture.isRecorded = true
        } else if !isSilent {
            (state.hasSound, state.picture.isRecorded) = (true, false)
        }
        let isRecorded = state.picture.isRecorded
        let seconds = format.seconds(at: Int64(batch.frameCount))
        state.picture.add(heights: isRecorded ? state.picture.state.bars : meter.heights, now: now, batchSeconds: seconds)
        switch state.picture.layout {
        case .spectrogram:
            state.picture.add(
                levels: isRecorded ? state.picture.recordedLevels : meter.levels(count: state.picture.lineWidth))
        case .waveform, .dashboard: state.picture.add(sides)
        case .bars: break
        }
    }

    // MARK: - Keys and messages

    /// Runs on the thread that reads the keys.
    private func handle(_ key: TerminalKey, _ context: SinkContext) {
        let live = state.withLock { state in
            state.picture.handle(key)
            return state.picture.state
        }
        condition.broadcast()
        key.submit(live, to: context) { [self] in show($0) }
    }

    private func show(_ notice: String) {
        state.withLock { state in
            state.picture.notice = notice
            state.noticeEnd = state.clock.now + LiveLineSink.noticeTime
        }
    }

    // MARK: - The thread that draws

    private func drawUntilStopped() {
        var screen = Screen(state.withLock { $0.picture.style.colors })
        let clock = state.withLock { $0.clock }
        while !isStopping.load(ordering: .acquiring) {
            let next = clock.now + Self.interval
            if let size = FileDescriptor.standardOutput.terminalSize, Terminal.showScreen({ screen.invalidate() }) {
                screen.resize(columns: size.columns, rows: size.rows)
                let text = picture(on: &screen)
                if !text.isEmpty, (try? FileDescriptor.standardOutput.writeAll(text)) == nil { return }
            }
            condition.locked { if !isStopping.load(ordering: .acquiring) { condition.wait(within: next - clock.now) } }
        }
    }

    /// Draws a picture, and returns what has to be written for it.
    private func picture(on screen: inout Screen) -> [UInt8] {
        state.withLock { state in
            let now = state.clock.now
            if now >= state.noticeEnd { state.picture.notice = nil }
            // A beat lights up in the picture that is nearest to it.
            state.picture.draw(on: &screen, at: now, lead: state.lead + Self.interval / 2)
        }
        return screen.changes()
    }
}
