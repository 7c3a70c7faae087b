internal import Hemiola
internal import HemiolaEngine
internal import Synchronization

/// Prints a pipeline's notices as messages for the user.
final class NoticePrinter: Sendable {
    private let pipeline: Pipeline
    private let console: Console
    private let saysEnd: Bool
    private let state: Mutex<State>

    private struct State {
        var repetitions: RepeatedMessages
        /// When the last input ended, on the monotonic clock.
        var lastEnd: Double
    }

    /// - Parameter saysEnd: Whether the end of an input is said, unless the duration of the run is given.
    init(_ pipeline: Pipeline, _ console: Console, saysEnd: Bool) {
        self.pipeline = pipeline
        self.saysEnd = saysEnd && pipeline.configuration.duration == nil
        self.console = console
        let now = pipeline.clock.now
        state = Mutex(State(repetitions: RepeatedMessages(start: now), lastEnd: now))
    }

    /// Prints a notice. In real time, one that is like an earlier one is counted.
    func print(_ notice: PipelineNotice) {
        guard pipeline.isRealTime, notice.canRepeat else { return printNow(notice) }
        var source: String?
        if case .sinkInformation(let sink, _, _) = notice { source = sink }
        let (isNew, counts) = state.withLock { $0.repetitions.add(notice.text, at: pipeline.clock.now, stateOf: source) }
        for count in counts { console.remark(count) }
        if isNew { printNow(notice) }
    }

    /// Prints the numbers of notices that were counted since the last such line.
    func finish() {
        for count in state.withLock({ $0.repetitions.takeCounts() }) { console.remark(count) }
    }

    private func printNow(_ notice: PipelineNotice) {
        switch notice {
        // Lost audio is reported whatever the verbosity: --quiet hides warnings only.
        case .inputFailed, .sinkFailed, .runFailed, .gap, .damage:
            console.error(notice.text)
        case .captureWarning:
            console.remark(notice.text)
        case .sinkInformation(_, _, let figure):
            console.remark(notice.text, figure: figure)
        case .sinkAddress(_, _, let figure):
            console.announce(notice.text, figure: figure)
        case .silence, .sound, .sinkWarning, .sinkOutput, .warning:
            console.warning(notice.text)
        case .device(_, let device):
            device.state == .lost ? console.warning(notice.text) : console.remark(notice.text)
        case .finished(let input, let summary, let seconds):
            if saysEnd, summary.reason == .endOfInput {
                console.remark("\(input): ended after \(seconds.rounded(toPlaces: 2)) s")
            }
            let now = pipeline.clock.now
            let took = state.withLock { state in
                defer { state.lastEnd = now }
                return now - state.lastEnd
            }
            let speed = took > 0 && seconds > 0 ? ", \(ProgressLine.speedText(seconds / took))" : ""
            console.note("\(notice.text), \(seconds.rounded(toPlaces: 2)) s of sound\(speed)")
        }
    }
}

extension PipelineNotice {
    /// Whether receivers, programs and sources that fail again and again cause it without end. Not what differs from others in more
    /// than numbers, such as the lines of a program, and not what is reported once per input.
    fileprivate var canRepeat: Bool {
        switch self {
        case .captureWarning, .sinkWarning, .sinkInformation: true
        case .gap(_, _, _, _, let reason): !reason.isOfFile
        default: false
        }
    }
}
