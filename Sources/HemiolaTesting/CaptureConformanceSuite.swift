public import Hemiola

/// Checks the rules that every capture follows.
///
///     try CaptureConformanceSuite(.file, settings: "examples/music/minuet.flac").run()
///
/// The capture is opened and read with buffers of 1 to 4096 frames (a live one of 1024). Checked are:
///
/// - `open`: a supported format, the plugin's id as the kind, a name, a finite duration where one is stated
/// - `read`: 1 to as many frames as fit, all of them written; gaps of 0 frames or more; at most 100 ms per call (the suite allows 1 s)
/// - the samples are equal in every bit for every size of buffer; their number fits the stated duration
/// - after the end every further `read` returns the end
/// - a `RewindableCapture`: after `rewind()` the same samples again
///
/// The suite does not check whether the samples are right; that is for the capture's own tests.
public struct CaptureConformanceSuite {
    /// Sizes of the buffers, in frames.
    private static let capacities = [1, 7, 256, 1024, 4096]
    /// A read waits at most 100 ms; the rest is tolerance for a busy machine.
    private static let longestRead = 1.0
    /// The value of samples before `read`: a NaN that no source delivers by chance.
    private static let unwritten = Float(bitPattern: 0x7FD5_1A3B)

    private let plugin: CapturePlugin
    private let settings: String
    private let request: FormatRequest
    private let maximumDuration: Double

    /// A suite for a capture with these settings.
    ///
    /// - Parameters:
    ///   - plugin: The capture's plugin.
    ///   - settings: The settings, in the syntax of a SPEC after the colon: `music.flac`.
    ///   - request: The requested format.
    ///   - maximumDuration: Audio after which the suite stops reading, in seconds, for a long or endless source.
    public init(_ plugin: CapturePlugin, settings: String = "", request: FormatRequest = FormatRequest(), maximumDuration: Double = 2) {
        self.plugin = plugin
        self.settings = settings
        self.request = request
        self.maximumDuration = maximumDuration
    }

    /// Runs all checks.
    ///
    /// - Throws: All rules that the capture violates.
    public func run() throws(Problem) {
        var report = ConformanceReport()
        if let values = report.settings(settings, of: plugin.about), let first = make(values, &report) {
            let capacities = first.isLive ? [1024] : Self.capacities
            var reference: Recording?
            for capacity in capacities {
                guard let capture = make(values, &report), let recording = record(capture, capacity: capacity, &report) else { break }
                if let reference {
                    report.require(
                        recording.isIdentical(to: reference),
                        "Reads of \(capacity) frames deliver other samples than reads of \(capacities[0]).")
                }
                reference = reference ?? recording
            }
            report.require(reference != nil, "The capture was not read.")
            checkRewind(values, &report)
        }
        try report.throwIfFailed(plugin.about.id)
    }

    private func make(_ values: SettingValues, _ report: inout ConformanceReport) -> (any Capture)? {
        do {
            return try plugin.make(values)
        } catch {
            report.fail("The capture cannot be made with the settings of the suite: \(error).")
            return nil
        }
    }

    /// Opens, reads to the end or the maximum duration, closes.
    private func record(_ capture: any Capture, capacity: Int, _ report: inout ConformanceReport) -> Recording? {
        guard let source = open(capture, &report) else { return nil }
        defer { capture.close() }
        let recording = readAll(capture, source, capacity: capacity, &report)
        if recording.hasEnded {
            for _ in 0..<3 {
                let (result, _) = read(capture, capacity * source.format.channelCount, &report)
                report.require(result == .end, "A read after the end does not return the end.")
            }
            if let duration = source.duration, !recording.isInterrupted {
                let seconds = source.format.seconds(at: recording.frames)
                report.require(
                    abs(seconds - duration) <= 0.1 + duration * 0.01,
                    "The stated duration is \(duration) s; the capture delivers \(seconds) s.")
            }
        }
        return recording
    }

    private func open(_ capture: any Capture, _ report: inout ConformanceReport) -> StreamSource? {
        do {
            let source = try capture.open(request)
            report.require(
                source.format.isSupported,
                "The format of the source, \(source.format.sampleRate) Hz and \(source.format.channelCount) channels, is not supported.")
            checkKind(source, &report)
            report.require(!source.name.isEmpty, "The source has no name.")
            if let duration = source.duration {
                report.require(duration.isFinite && duration >= 0, "The stated duration is \(duration) s.")
            }
            return source
        } catch {
            report.require(!error.message.isEmpty, "The capture fails to open without a reason.")
            report.fail("The capture cannot be opened: \(error).")
            return nil
        }
    }

    private func checkKind(_ source: StreamSource, _ report: inout ConformanceReport) {
        report.require(
            source.kind == plugin.about.id, "The kind of the source is \"\(source.kind)\" instead of \"\(plugin.about.id)\".")
    }

    private func readAll(
        _ capture: any Capture, _ source: StreamSource, capacity: Int, _ report: inout ConformanceReport
    ) -> Recording {
        var recording = Recording()
        var format = source.format
        var idleReads = 0
        // A live source may be idle for any time; the suite stops after 30 reads without audio.
        while source.format.seconds(at: recording.frames) < maximumDuration && idleReads < 30 {
            let (result, samples) = read(capture, capacity * format.channelCount, &report)
            guard let result else {
                recording.isInterrupted = true
                return recording
            }
            switch result {
            case .frames(let count):
                guard count >= 1, count <= capacity else {
                    report.fail("A read into a buffer of \(capacity) frames returns \(count) frames.")
                    return recording
                }
                let delivered = samples[..<(count * format.channelCount)]
                report.require(
                    !delivered.contains { $0.bitPattern == Self.unwritten.bitPattern },
                    "A read returns \(count) frames and has not written all of them.")
                recording.samples += delivered
                recording.frames += Int64(count)
                idleReads = 0
                continue
            case .gap(let gap):
                report.require(gap.frames >= 0, "A gap has \(gap.frames) frames.")
                recording.frames += gap.frames
                recording.isInterrupted = true
            case .source(let new):
                report.require(new.format.isSupported, "The capture changes to a format that is not supported.")
                checkKind(new, &report)
                format = new.format
                recording.isInterrupted = true
            case .format(let new):
                report.require(new.isSupported, "The capture changes to a format that is not supported.")
                format = new
                recording.isInterrupted = true
            case .device: break
            case .idle:
                idleReads += 1
                continue
            case .end:
                recording.hasEnded = true
                return recording
            }
            recording.events.append(result)
        }
        return recording
    }

    /// - Returns: The result, nil when the capture throws; and the buffer.
    private func read(_ capture: any Capture, _ count: Int, _ report: inout ConformanceReport) -> (ReadResult?, [Float]) {
        var samples = [Float](repeating: Self.unwritten, count: count)
        let deadline = Deadline(after: Self.longestRead)
        var result: ReadResult?
        do {
            var span = samples.mutableSpan
            result = try capture.read(into: &span)
        } catch {
            report.fail("A read fails: \(error).")
        }
        report.require(!deadline.hasPassed, "A read blocks for longer than 100 ms.")
        return (result, samples)
    }

    /// Rewinds after the first read and after the last one, and compares the samples.
    private func checkRewind(_ values: SettingValues, _ report: inout ConformanceReport) {
        guard let capture = make(values, &report) as? any RewindableCapture, let source = open(capture, &report) else { return }
        defer { capture.close() }
        do {
            _ = read(capture, 100 * source.format.channelCount, &report)
            try capture.rewind()
            let first = readAll(capture, source, capacity: 1000, &report)
            try capture.rewind()
            let second = readAll(capture, source, capacity: 1000, &report)
            report.require(first.isIdentical(to: second), "After rewind() the capture delivers other samples than before.")
        } catch {
            report.fail("rewind() fails: \(error).")
        }
    }

    /// The audio and events of a capture from `open` to the end or the maximum duration.
    private struct Recording {
        var samples: [Float] = []
        /// Frames delivered and lost.
        var frames: Int64 = 0
        /// Gaps, formats, sources and device events, in order.
        var events: [ReadResult] = []
        var hasEnded = false
        /// Whether a gap, an error or a change of format makes the number of frames incomparable with the duration of the source.
        var isInterrupted = false

        /// Whether both are equal in every bit, as far as both were read: with another size of buffer, reading stops at another frame.
        func isIdentical(to other: Recording) -> Bool {
            let count = min(samples.count, other.samples.count)
            let areWhole = hasEnded && other.hasEnded
            return hasEnded == other.hasEnded && (!areWhole || samples.count == other.samples.count && events == other.events)
                && samples[..<count].map(\.bitPattern) == other.samples[..<count].map(\.bitPattern)
        }
    }
}
