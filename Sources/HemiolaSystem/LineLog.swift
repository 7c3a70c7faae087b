/// Passes on what a program prints for people: lines of bounded length, at a bounded rate.
struct LineLog {
    /// Bytes of a line that are kept.
    static let longestLine = 400
    /// Lines that are passed on at once, and per second after that.
    static let burst = 20.0
    static let linesPerSecond = 5.0

    /// The last line that was complete and not empty: a program that fails prints the reason last.
    private(set) var lastLine = ""

    private var lines = LineSplitter(limit: longestLine)
    /// Lines that may be passed on now, and when that was computed.
    private var allowance = LineLog.burst
    private var lastTime = 0.0
    private var skipped = 0

    /// Adds bytes.
    ///
    /// - Parameters:
    ///   - time: Seconds on a monotonic clock.
    ///   - report: Receives each line, without control characters.
    mutating func add(_ bytes: some Sequence<UInt8>, at time: Double, report: (String) -> Void) {
        // Programs that report their progress end a line with a carriage return.
        lines.append(bytes.map { $0 == UInt8(ascii: "\r") ? UInt8(ascii: "\n") : $0 })
        while let line = lines.next() { pass(line, at: time, report: report) }
    }

    /// Passes on the rest after the last line break, and the number of lines that were left out.
    mutating func end(report: (String) -> Void) {
        allowance = 1
        if let line = lines.finish() { pass(line, at: lastTime, report: report) }
        reportSkipped(report)
    }

    private mutating func pass(_ line: LineSplitter.Line, at time: Double, report: (String) -> Void) {
        guard line.bytes.contains(where: { $0 > 0x20 }) else { return }
        lastLine = String(decoding: line.bytes, as: UTF8.self).onOneLine + (line.isCut ? "…" : "")
        allowance = min(Self.burst, allowance + max(0, time - lastTime) * Self.linesPerSecond)
        lastTime = time
        guard allowance >= 1 else {
            skipped += 1
            return
        }
        allowance -= 1
        reportSkipped(report)
        report(lastLine)
    }

    private mutating func reportSkipped(_ report: (String) -> Void) {
        guard skipped > 0 else { return }
        report("\(skipped) more line\(skipped == 1 ? "" : "s") were left out")
        skipped = 0
    }
}
