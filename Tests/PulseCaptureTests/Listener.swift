import Foundation
import Hemiola
import HemiolaSignal
import Synchronization
import TestSupport

@testable import PulseCapture

/// A capture of a SPEC that has not been opened.
func pulse(_ spec: String) throws -> any Capture {
    try CapturePlugin.pulse.make(CapturePlugin.pulse.about.values(parsing: spec))
}

/// Hears a capture on a thread of its own and writes down what it hears.
final class Listener: Sendable {
    struct Entry {
        /// On the clock of `now`.
        var time: Double
        var delivery: Delivery
    }

    struct Log {
        var source: StreamSource?
        var error: CaptureError?
        var entries: [Entry] = []
        var samples: [Float] = []
        /// When it had closed.
        var end: Double?

        var isOver: Bool { end != nil }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let log = Mutex(Log())
    private let shallStop = Atomic(false)
    private let isPaused = Atomic(false)

    /// Opens it there.
    ///
    /// - Parameter keepsSamples: Whether to keep all that is heard.
    init(_ spec: String, rate: Int? = 44_100, batchFrames: Int = 1024, keepsSamples: Bool = false) throws {
        _ = try pulse(spec)
        let thread = Thread { [self] in
            let wish = FormatWish(sampleRate: rate, batchFrames: batchFrames) { self.shallStop.load(ordering: .relaxed) }
            run(spec, wish, keepsSamples)
        }
        thread.start()
    }

    private func run(_ spec: String, _ wish: FormatWish, _ keepsSamples: Bool) {
        do throws(CaptureError) {
            guard let capture = try? pulse(spec) else { return }
            var source = try capture.open(wish)
            log.withLock { $0.source = source }
            defer { capture.close() }
            while !shallStop.load(ordering: .relaxed) {
                while isPaused.load(ordering: .relaxed) { usleep(5_000) }
                var buffer = [Float](repeating: .nan, count: 1024 * source.format.channelCount)
                var span = buffer.mutableSpan
                let delivery = try capture.read(into: &span)
                if case .source(let new) = delivery { source = new }
                let entry = Entry(time: Self.now, delivery: delivery)
                log.withLock { log in
                    if delivery != .idle { log.entries.append(entry) }
                    if keepsSamples, case .frames(let count) = delivery {
                        log.samples += buffer[..<(count * source.format.channelCount)]
                    }
                }
            }
        } catch {
            log.withLock { $0.error = error }
        }
        log.withLock { $0.end = Self.now }
    }

    static var now: Double { ProcessInfo.processInfo.systemUptime }

    /// A copy; see `wait` for why it shares nothing with what is still written.
    var current: Log { log.withLock { $0.copy } }

    /// Stops reading for a while, with the source open.
    func pause(_ isPaused: Bool) { self.isPaused.store(isPaused, ordering: .relaxed) }

    /// Ends it and waits for its end.
    func stop() async throws {
        shallStop.store(true, ordering: .relaxed)
        isPaused.store(false, ordering: .relaxed)
        try await wait(10, for: "the capture to close") { $0.isOver }
    }

    /// Waits until the log shows something.
    func wait(_ seconds: Double = 10, for what: String, until isSo: (Log) -> Bool) async throws {
        let deadline = Self.now + seconds
        while true {
            // Looked at in place: what orders the end of a copy is its reference count, which the thread sanitizer cannot see.
            if log.withLock({ isSo($0) }) { return }
            if Self.now > deadline {
                throw Failure(description: "no use waiting for \(what); \(log.withLock { $0.summary })")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Waits until some audio has come from now on.
    func hear(seconds: Double = 0.3, rate: Int = 44_100) async throws {
        let before = log.withLock { $0.frames }
        try await wait(for: "audio") { $0.frames - before >= Int(seconds * Double(rate)) }
    }
}

extension Listener.Log {
    /// With buffers of its own.
    var copy: Self {
        var copy = self
        copy.entries = entries.map(\.self)
        copy.samples = samples.map(\.self)
        return copy
    }

    var summary: String { "heard \(frames) frames, told \(told), error: \(error?.message ?? "none")" }

    var frames: Int {
        entries.reduce(0) { if case .frames(let count) = $1.delivery { $0 + count } else { $0 } }
    }

    var gaps: [Gap] {
        entries.compactMap { if case .gap(let gap) = $0.delivery { gap } else { nil } }
    }

    var notices: [DeviceNotice] {
        entries.compactMap { if case .device(let notice) = $0.delivery { notice } else { nil } }
    }

    /// Each notice as `state name`, but for those of a server that a busy machine did not let run for a moment: `lost`, `opened` and a
    /// gap with the reason `frozen`, one right after the other.
    var devices: [String] {
        var rest = told[...]
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

    /// Each notice as `state name`.
    var allDevices: [String] { notices.map { "\($0.state) \($0.name)" } }

    /// Those that began a new stream.
    var sources: [StreamSource] {
        entries.compactMap { if case .source(let source) = $0.delivery { source } else { nil } }
    }

    var formats: [StreamFormat] { sources.map(\.format) }

    /// Everything but audio.
    var told: [Delivery] {
        entries.compactMap { if case .frames = $0.delivery { nil } else { $0.delivery } }
    }

    /// Seconds of audio and gaps, less the time that went by: 0 when nothing is missing and nothing is told twice.
    ///
    /// A busy machine can only make a delivery late; so the promptest of the first ten is compared with that of the last ten.
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

extension Listener.Log {
    /// Gaps of this reason, and others that a fault makes. On a machine that is too busy the server or this process may stand still
    /// for a moment, which is reported as it should be.
    func gaps(of reason: Gap.Reason?) -> [Gap] {
        gaps.filter { $0.reason == reason || ($0.reason != .frozen && $0.reason != .stopped) }
    }
}
