internal import HemiolaSignal

/// Divides what a program prints for people into lines of bounded length, and passes them on at a bounded rate.
struct LineLog {
    /// Bytes of a line that are kept.
    static let longestLine = 400
    /// Lines that are passed on at once, and per second after that.
    static let burst = 20.0
    static let linesPerSecond = 5.0

    /// The last line that was complete and not empty: a program that fails prints the reason last.
    private(set) var lastLine = ""

    private var line: [UInt8] = []
    private var isCut = false
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
        for byte in bytes {
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                endLine(at: time, report: report)
            } else if line.count < Self.longestLine {
                line.append(byte)
            } else {
                isCut = true
            }
        }
    }

    /// Passes on the rest after the last line break, and the number of lines that were left out.
    mutating func end(report: (String) -> Void) {
        allowance = 1
        endLine(at: lastTime, report: report)
        reportSkipped(report)
    }

    private mutating func endLine(at time: Double, report: (String) -> Void) {
        defer {
            line.removeAll(keepingCapacity: true)
            isCut = false
        }
        guard line.contains(where: { $0 > 0x20 }) else { return }
        lastLine = String(decoding: line, as: UTF8.self).onOneLine + (isCut ? "…" : "")
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
