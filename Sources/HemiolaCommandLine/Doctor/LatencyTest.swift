internal import Hemiola

/// Measures the latency from a player's write to the output line: plays clicks into a temporary output of the sound server and reads
/// the lines of another `hemiola listen` that captures it.
struct LatencyTest {
    /// Peak of a batch above which a click is detected, in dBFS.
    private static let threshold = -12.0
    /// Seconds after which a click counts as lost.
    private static let timeout = 2.0

    var clickCount: Int
    var batchFrames: Int
    /// Whether to stop before all clicks are played.
    var isCancelled: () -> Bool

    /// - Throws: No sound server responds, or no audio is captured.
    func run(with registry: PluginRegistry) throws(Failure) -> LatencyReport {
        guard let id = registry.liveCapture?.id, let plugin = registry.captures.first(id: id), let make = plugin.loopback
        else { throw Failure("this program contains no live capture plugin that supports --latency") }
        do {
            let loopback = try make()
            defer { loopback.close() }
            let server = try plugin.devices?().server ?? id
            return LatencyReport(times: try times(loopback), clickCount: clickCount, batchFrames: batchFrames, server: server)
        } catch {
            throw Failure(error.message, status: .inputFailed)
        }
    }

    private func times(_ loopback: any Loopback) throws(Problem) -> [Double] {
        let listener = try ListeningProgram([
            "--device", loopback.device, "--rate", String(LatencyReport.sampleRate), "--batch", String(batchFrames),
        ])
        defer { listener.stop() }
        // The first lines take longer, because the process and the device start.
        guard listener.waitForLine(within: 10, where: { $0.hasPrefix(#"{"type":"batch","n":20,"#) }) != nil else {
            throw Problem("no audio captured from \(loopback.device); see whether hemiola listen works")
        }
        var generator = SplitMix64(seed: 1)
        var times: [Double] = []
        for _ in 0..<clickCount where !isCancelled() {
            let start = try loopback.click()
            if let time = listener.waitForLine(within: Self.timeout, where: Self.containsClick) {
                times.append(time - start)
            } else if !listener.isRunning {
                throw Problem("\"hemiola listen\" exited before the test was complete")
            }
            // A random pause: clicks are spread evenly over batches and over the server's fragments.
            listener.drain(for: 0.1 + 0.1 * generator.uniform())
        }
        return times
    }

    private static func containsClick(_ line: Substring) -> Bool {
        guard line.hasPrefix(#"{"type":"batch""#), let key = line.firstRange(of: #""peak_db":"#) else { return false }
        return Double(line[key.upperBound...].prefix { "+-.0123456789eE".contains($0) }).map { $0 > threshold } ?? false
    }
}

/// The result of a latency test, as text and JSON.
struct LatencyReport {
    /// The latency of each detected click in seconds, in the order played.
    var times: [Double]
    /// The number of clicks played.
    var clickCount: Int
    var batchFrames: Int
    var server: String

    /// That of the temporary output.
    static let sampleRate = 44_100

    /// A batch, in seconds.
    private var batchSeconds: Double { Double(batchFrames) / Double(Self.sampleRate) }

    /// Quantiles of the latencies in seconds by the nearest-rank method; nil: no click was detected.
    private var quantiles: (least: Double, median: Double, late: Double, most: Double)? {
        let times = times.sorted()
        guard let least = times.first, let most = times.last else { return nil }
        func quantile(_ part: Double) -> Double { times[Int((part * Double(times.count)).rounded(.up)) - 1] }
        return (least, quantile(0.5), quantile(0.99), most)
    }

    var text: String {
        guard let quantiles else { return "\(server): none of \(clickCount) clicks was detected\n" }
        func milliseconds(_ seconds: Double) -> String { "\((seconds * 1000).rounded(toPlaces: 1))" }
        let (least, median, late, most) = quantiles
        var text = "\(server), batches of \(batchFrames) frames (\(milliseconds(batchSeconds)) ms)\n\n"
        text += "Latency from a click's write to its output line, in ms; \(times.count) of \(clickCount) clicks detected\n"
        for (name, time) in [("minimum", least), ("median", median), ("99 %", late), ("maximum", most)] {
            text += "  \(name.padded(to: 7)) \(milliseconds(time))\n"
        }
        return text
    }

    var json: JSONValue {
        func milliseconds(_ seconds: Double?) -> JSONValue { seconds.map { .number(($0 * 1000).rounded(toPlaces: 3)) } ?? .null }
        return .object([
            .init("server", .text(server)), .init("batch_frames", .integer(batchFrames)), .init("batch_ms", milliseconds(batchSeconds)),
            .init("clicks", .integer(clickCount)), .init("received", .integer(times.count)),
            .init("min_ms", milliseconds(quantiles?.least)), .init("median_ms", milliseconds(quantiles?.median)),
            .init("p99_ms", milliseconds(quantiles?.late)), .init("max_ms", milliseconds(quantiles?.most)),
            .init("times_ms", .list(times.map(milliseconds))),
        ])
    }
}
