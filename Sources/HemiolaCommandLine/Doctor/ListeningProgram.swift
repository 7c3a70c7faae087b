internal import HemiolaSystem

/// Another `hemiola listen`, whose records are read line by line.
final class ListeningProgram {
    private let program: RunningProgram
    private var lines = LineSplitter()
    private var lastRead = 0.0
    private(set) var isRunning = true

    /// - Parameter arguments: Those after `listen --no-defaults --json --quiet`.
    init(_ arguments: [String]) throws(Problem) {
        do {
            program = try RunningProgram(
                .arguments(["/proc/self/exe", "listen", "--no-defaults", "--json", "--quiet"] + arguments), hasInput: false, output: .pipe
            ) { try? FileDescriptor.standardError.writeAll("\($0)\n") }
        } catch {
            throw Problem("cannot start \"hemiola listen\": \(error)")
        }
    }

    /// Ends the program.
    func stop() { program.end(within: 0) }

    /// Reads lines until one matches.
    ///
    /// - Returns: The monotonic time at which the matching line was readable; nil on a timeout or at the end.
    func waitForLine(within seconds: Double, where matches: (Substring) -> Bool) -> Double? {
        let deadline = Deadline(after: seconds)
        while true {
            while let line = lines.next() {
                if matches(String(decoding: line.bytes, as: UTF8.self)[...]) { return lastRead }
            }
            guard read(until: deadline) else { return nil }
        }
    }

    /// Reads and discards lines for some seconds.
    func drain(for seconds: Double) {
        let deadline = Deadline(after: seconds)
        while read(until: deadline) { lines = LineSplitter() }
    }

    private func read(until deadline: Deadline) -> Bool {
        guard isRunning, program.waitForOutput(within: deadline.rest) else { return false }
        lastRead = MonotonicTime.now
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let result = buffer.withUnsafeMutableBytes { program.read(into: $0, within: 0) }
        guard case .bytes(let count) = result else {
            isRunning = result == .timeout
            return isRunning
        }
        lines.append(buffer[..<count])
        return true
    }
}
