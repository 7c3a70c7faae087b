internal import HemiolaSystem

/// The progress of a run with one result per input: `128 of 2000 files  6 %  45.2 files/s  3 failed  0:41 left`.
struct CorpusProgress: Sendable, Hashable {
    /// Seconds between two lines where standard error is not a terminal.
    static let plainInterval = 10.0

    var counts: CorpusSource.Counts
    /// Seconds since the start.
    var elapsed: Double

    /// Analysed files per second; nil: none was analysed.
    private var rate: Double? {
        let count = counts.analyzed + counts.failed
        return count > 0 && elapsed > 0 ? Double(count) / elapsed : nil
    }

    /// Estimated seconds until the end; nil: unknown.
    private var remaining: Double? {
        guard let total = counts.total, let rate else { return nil }
        return Double(max(0, total - counts.done)) / rate
    }

    /// One line for any output.
    var text: String {
        var parts = ["\(counts.done)" + (counts.total.map { " of \($0) files" } ?? " files")]
        if let total = counts.total, total > 0 { parts.append("\(counts.done * 100 / total) %") }
        if let rate { parts.append("\(rate < 100 ? rate.rounded(toPlaces: 1) : rate.rounded()) files/s") }
        if counts.skipped > 0 { parts.append("\(counts.skipped) skipped") }
        if counts.failed > 0 { parts.append("\(counts.failed) failed") }
        if let remaining { parts.append("\(ProgressLine.clock(remaining)) left") }
        return parts.joined(separator: "  ")
    }

    /// The line for the end of the run.
    ///
    /// - Parameter failures: The path of the list of failures; nil: it could not be written.
    func summary(failures: String?) -> String {
        var parts = ["\(counts.analyzed) analysed"]
        if counts.skipped > 0 { parts.append("\(counts.skipped) skipped, because their results are complete") }
        if counts.failed > 0 { parts.append("\(counts.failed) failed or incomplete" + (failures.map { ", see \($0)" } ?? "")) }
        return "\(counts.done) file\(counts.done == 1 ? "" : "s") in \(ProgressLine.clock(elapsed)): " + parts.joined(separator: "; ")
    }
}
