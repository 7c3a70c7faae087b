internal import Hemiola
internal import HemiolaEngine

/// The progress and the end of a run with one result per input.
struct CorpusReport: Sendable {
    /// Seconds between two lines with the progress where standard error is not a terminal.
    static let plainInterval = 10.0

    let source: CorpusSource
    let failures: FailureList
    let clock: any MonotonicClock
    /// When the run began, on the clock.
    let start: Double

    /// The progress in one line: `128 of 2000 files  6 %  45.2 files/s  3 failed  0:41 left`.
    var progress: String {
        let counts = source.counts
        let taken = counts.analyzed + counts.failed
        let elapsed = clock.now - start
        let rate = taken > 0 && elapsed > 0 ? Double(taken) / elapsed : nil
        var parts = ["\(counts.done)" + (counts.total.map { " of \($0) files" } ?? " files")]
        if let total = counts.total, total > 0 { parts.append("\(counts.done * 100 / total) %") }
        if let rate { parts.append("\(rate < 100 ? rate.rounded(toPlaces: 1) : rate.rounded()) files/s") }
        if counts.skipped > 0 { parts.append("\(counts.skipped) skipped") }
        if counts.failed > 0 { parts.append("\(counts.failed) failed") }
        if let total = counts.total, let rate {
            parts.append("\(ProgressLine.clock(Double(max(0, total - counts.done)) / rate)) left")
        }
        return parts.joined(separator: "  ")
    }

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
        let counts = source.counts
        outcome.failedInputs = counts.failed
        if isEarly {
            let total = counts.total.map { " of \($0)" } ?? ""
            console.error("ended with \(counts.analyzed + counts.skipped)\(total) results complete; to continue, add --resume")
        } else if counts.done == 0 {
            console.error(source.emptyText)
            outcome.failedInputs = 1
        } else {
            console.remark(summary(counts, failures: list))
        }
        return CommandStatus(outcome, signal: signal)
    }

    /// - Parameter failures: The path of the list of failures; nil: it could not be written.
    private func summary(_ counts: CorpusSource.Counts, failures: String?) -> String {
        var parts = ["\(counts.analyzed) analysed"]
        if counts.skipped > 0 { parts.append("\(counts.skipped) skipped, because their results are complete") }
        if counts.failed > 0 { parts.append("\(counts.failed) failed or incomplete" + (failures.map { ", see \($0)" } ?? "")) }
        let files = "\(counts.done) file\(counts.done == 1 ? "" : "s")"
        return "\(files) in \(ProgressLine.clock(clock.now - start)): " + parts.joined(separator: "; ")
    }
}
