import Hemiola
import HemiolaRecords
import HemiolaSignal
import HemiolaTesting
import OS2LSink
import Synchronization

/// A sink that gets batches as time passes, as in a live run. Stream time 0 is when the fixture is made.
final class OS2LFixture {
    /// What the sink has reported.
    final class Reports: Sendable {
        private let texts = Mutex<(warnings: [String], information: [String], lost: Int)>(([], [], 0))

        var warnings: [String] { texts.withLock { $0.warnings } }
        var information: [String] { texts.withLock { $0.information } }
        /// Events in `dropped` records.
        var lost: Int { texts.withLock { $0.lost } }

        func warn(_ text: String) { texts.withLock { $0.warnings.append(text) } }
        func inform(_ text: String) { texts.withLock { $0.information.append(text) } }
        func drop(_ report: DropReport) { texts.withLock { $0.lost += report.events } }
    }

    let sink: any Sink
    let reports = Reports()
    private let start = ContinuousClock.now
    private var number: Int64 = 0

    init(_ settings: String, lead: Double = 0) async throws {
        sink = try SinkPlugin.os2l.make(settings: settings)
        let reports = reports
        try sink.open(
            SinkContext(
                name: "os2l", isLive: true, lead: lead,
                controls: ControlPort(submit: { _, _, _ in }, report: { reports.drop($0) }),
                warn: { reports.warn($0) }, inform: { text, _ in reports.inform(text) }))
        try sink.begin(.test(isLive: true))
    }

    /// The current stream time in seconds.
    var now: Double { Double((ContinuousClock.now - start) / .nanoseconds(1)) * 1e-9 }

    /// Writes a batch that ends now.
    func write(_ events: [Event] = []) throws {
        let end = TestSignal.mono.frame(at: now)
        let batch = CollectedBatch(number: number, frame: end - 1024, events: events)
        number += 1
        let block = BatchBlock([batch])
        try sink.write(block)
    }

    /// A beat, by default one that is announced now.
    func beat(in seconds: Double = 0, bpm: Double = 120.5, position: Int? = nil, confidence: Double = 0.9) -> Event {
        Event(at: now + seconds, Beat(beatsPerMinute: bpm, position: position, confidence: confidence))
    }

    /// Repeats an action every 20 ms until a condition is met, at most 30 s.
    func repeatUntil(_ condition: () throws -> Bool, doing action: () async throws -> Void = {}) async throws -> Bool {
        for _ in 0..<1500 {
            if try condition() { return true }
            try await action()
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
}
