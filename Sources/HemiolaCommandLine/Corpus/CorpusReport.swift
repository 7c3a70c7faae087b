internal import Hemiola
internal import HemiolaEngine

/// The progress and the end of a run with one result per input.
struct CorpusReport: Sendable {
    let source: CorpusSource
    let failures: FailureList
    let clock: any MonotonicClock
    /// When the run began, on the clock.
    let start: Double

    var progress: CorpusProgress { CorpusProgress(counts: source.counts, elapsed: clock.now - start) }

    /// Completes the list of failures, and says how the run has ended.
    func end(_ outcome: RunOutcome, signal: Int32?, on console: Console) -> CommandStatus {
        var outcome = outcome
        let isEarly = signal != nil || outcome.failedSinks > 0
        var list: String? = failures.path
        do {
            try failures.finish()
        } catch {
            for line in error.lines { console.error(line) }
            outcome.failedSinks += 1
            list = nil
        }
        let progress = progress
        let counts = progress.counts
        outcome.failedInputs = counts.failed
        if isEarly {
            let total = counts.total.map { " of \($0)" } ?? ""
            console.error("ended with \(counts.analyzed + counts.skipped)\(total) results complete; to continue, add --resume")
        } else if counts.done == 0 {
            console.error(source.emptyText)
            outcome.failedInputs = 1
        } else {
            console.remark(progress.summary(failures: list))
        }
        return CommandStatus(outcome, signal: signal)
    }
}
