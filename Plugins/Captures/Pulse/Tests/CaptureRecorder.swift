import Foundation
import Hemiola
import Synchronization
import TestSupport

@testable import PulseCapture

/// A capture of a SPEC that has not been opened.
func pulse(_ spec: String) throws -> any Capture {
    try CapturePlugin.pulse.make(CapturePlugin.pulse.about.values(parsing: spec))
}

/// Reads a capture on a separate thread and logs its deliveries.
final class CaptureRecorder: Sendable {
    struct Entry {
        /// Seconds on the clock of `now`.
        var time: Double
        var delivery: ReadResult
    }

    struct Log {
        var source: StreamSource?
        var error: Problem?
        var entries: [Entry] = []
        var samples: [Float] = []
        var warnings: [String] = []
        /// How often the capture has waited in vain, for 0.1 s at most: in a read, or while it was being opened.
        var idleTurns = 0
        /// How often it was told while it was being opened that the run is cancelled.
        var cancelledTurns = 0
        /// When the capture was closed; nil before.
        var end: Double?

        var isOver: Bool { end != nil }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let log = Mutex(Log())
    /// Signals each change of the log, and the end of a pause.
    private let condition = Condition()
    private let shallStop = Atomic(false)
    private let isPaused = Atomic(false)

    /// Opens the capture on that thread.
    ///
    /// - Parameters:
    ///   - rate: The requested sample rate; nil: that of the device.
    ///   - keepsSamples: Whether to keep all samples.
    init(_ spec: String, rate: Int? = 44_100, batchFrames: Int = 1024, keepsSamples: Bool = false) throws {
        _ = try pulse(spec)
        let thread = Thread { [self] in
            let request = FormatRequest(
                sampleRate: rate, followsDeviceRate: rate == nil, batchFrames: batchFrames,
                isCancelled: {
                    let isCancelled = self.shallStop.load(ordering: .relaxed)
                    self.change { log in
                        log.idleTurns += 1
                        if isCancelled { log.cancelledTurns += 1 }
                    }
                    return isCancelled
                }, warn: { text in self.change { $0.warnings.append(text) } })
            run(spec, request, keepsSamples)
        }
        thread.start()
    }

    private func change(_ body: (inout Log) -> Void) {
        condition.locked {
            log.withLock { body(&$0) }
            condition.broadcast()
        }
    }

    private func run(_ spec: String, _ request: FormatRequest, _ keepsSamples: Bool) {
        do throws(Problem) {
            guard let capture = try? pulse(spec) else { return }
            var source = try capture.open(request)
            change { $0.source = source }
            defer { capture.close() }
            while !shallStop.load(ordering: .relaxed) {
                condition.locked {
                    while isPaused.load(ordering: .relaxed) { condition.wait() }
                }
                var buffer = [Float](repeating: .nan, count: 1024 * source.format.channelCount)
                var span = buffer.mutableSpan
                let delivery = try capture.read(into: &span)
                if case .source(let new) = delivery { source = new }
                let entry = Entry(time: Self.now, delivery: delivery)
                change { log in
                    if delivery == .idle { log.idleTurns += 1 } else { log.entries.append(entry) }
                    if keepsSamples, case .frames(let count) = delivery {
                        log.samples += buffer[..<(count * source.format.channelCount)]
                    }
                }
            }
        } catch {
            change { $0.error = error }
        }
        change { $0.end = Self.now }
    }

    static var now: Double { ProcessInfo.processInfo.systemUptime }

    /// A copy with storage of its own; see `wait` for the reason.
    var current: Log { log.withLock { $0.copy } }

    /// Pauses or resumes reading, with the source open.
    func pause(_ isPaused: Bool) {
        condition.locked {
            self.isPaused.store(isPaused, ordering: .relaxed)
            condition.broadcast()
        }
    }

    /// Stops the thread and waits for the capture to close.
    func stop() async throws {
        shallStop.store(true, ordering: .relaxed)
        pause(false)
        try await wait(10, for: "the capture to close") { $0.isOver }
    }

    /// Waits until a condition on the log holds.
    func wait(_ seconds: Double = 10, for what: String, until isSo: @escaping @Sendable (Log) -> Bool) async throws {
        // Blocks a thread of its own: those of the tasks are as few as the processors.
        let hasCome = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            try! startThread(for: "a test") { continuation.resume(returning: self.wait(within: seconds, isSo)) }
        }
        if !hasCome { throw Failure(description: "timeout while waiting for \(what); \(log.withLock { $0.summary })") }
    }

    private func wait(within seconds: Double, _ isSo: (Log) -> Bool) -> Bool {
        // Checked in place: the release of a copy is ordered by its reference count only, which the thread sanitizer does not see.
        condition.locked { condition.wait(within: seconds) { !log.withLock { isSo($0) } } }
    }

    /// Waits while the capture delivers nothing: at least so many seconds pass, and it has looked for audio in all of them.
    func idle(seconds: Double) async throws {
        let before = log.withLock { $0.idleTurns }
        // The first of the turns has begun before, and what came before may have cut the second one short.
        try await wait(seconds + 60, for: "an outage") { $0.idleTurns - before >= Int((seconds * 10).rounded(.up)) + 2 }
    }

    /// Waits until `seconds` of audio have arrived from now on.
    func receive(seconds: Double = 0.3, rate: Int = 44_100) async throws {
        let before = log.withLock { $0.frames }
        try await wait(for: "audio") { $0.frames - before >= Int(seconds * Double(rate)) }
    }
}

extension CaptureRecorder.Log {
    /// A copy that shares no storage.
    var copy: Self {
        var copy = self
        copy.entries = entries.map(\.self)
        copy.samples = samples.map(\.self)
        copy.warnings = warnings.map(\.self)
        return copy
    }

    var summary: String { "\(frames) frames, events: \(events), error: \(error?.message ?? "none")" }

    var frames: Int {
        entries.reduce(0) { if case .frames(let count) = $1.delivery { $0 + count } else { $0 } }
    }

    var gaps: [Gap] {
        entries.compactMap { if case .gap(let gap) = $0.delivery { gap } else { nil } }
    }

    var deviceEvents: [DeviceEvent] {
        entries.compactMap { if case .device(let notice) = $0.delivery { notice } else { nil } }
    }

    /// Each device event as `state name`, except short freezes of a server on a busy machine: consecutive `lost`, `opened` and a gap with
    /// the reason `frozen`.
    var devices: [String] {
        var rest = events[...]
        var result: [String] = []
        while let delivery = rest.popFirst() {
            guard case .device(let notice) = delivery else { continue }
            if notice.state == .lost, case .device(let next)? = rest.first, next.state == .opened, next.name == notice.name,
                case .gap(let gap)? = rest.dropFirst().first, gap.reason == .frozen
            {
                rest = rest.dropFirst(2)
            } else {
                result.append("\(notice.state) \(notice.name)")
            }
        }
        return result
    }

    /// Each device event as `state name`.
    var allDevices: [String] { deviceEvents.map { "\($0.state) \($0.name)" } }

    /// The sources that began a new stream.
    var sources: [StreamSource] {
        entries.compactMap { if case .source(let source) = $0.delivery { source } else { nil } }
    }

    var formats: [StreamFormat] { sources.map(\.format) }

    /// All deliveries other than frames.
    var events: [ReadResult] {
        entries.compactMap { if case .frames = $0.delivery { nil } else { $0.delivery } }
    }

    /// Seconds of audio and gaps, minus the elapsed time: 0 when every lost frame is reported once.
    ///
    /// A busy machine can only delay a delivery, so the earliest of the first ten is compared with the earliest of the last ten.
    func imbalance(rate: Int = 44_100) -> Double {
        var total: Int64 = 0
        var leads: [Double] = []
        for entry in entries {
            switch entry.delivery {
            case .gap(let gap): total += gap.frames
            case .frames(let count):
                total += Int64(count)
                leads.append(Double(total) / Double(rate) - entry.time)
            default: break
            }
        }
        return (leads.suffix(10).max() ?? .nan) - (leads.prefix(10).max() ?? .nan)
    }
}

extension CaptureRecorder.Log {
    /// All gaps, except those with the reason `frozen` or `stopped` unless requested: on a busy machine the server or this process may
    /// stop for a moment.
    func gaps(of reason: Gap.Reason?) -> [Gap] {
        gaps.filter { $0.reason == reason || ($0.reason != .frozen && $0.reason != .stopped) }
    }
}
