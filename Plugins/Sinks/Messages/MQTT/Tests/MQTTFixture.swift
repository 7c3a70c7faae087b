import Foundation
import Hemiola
import HemiolaTesting
import MQTTSink
import Synchronization
import TestSupport

/// A sink that gets batches of one analyzer, `levels`, with a number and a list of two.
final class MQTTFixture {
    /// What the sink has reported.
    final class Reports: Sendable {
        /// The sums of `dropped` records.
        struct Losses: Equatable {
            var batches = 0
            var events = 0
        }

        private struct State {
            var warnings: [String] = []
            var information: [String] = []
            var lost = Losses()
        }

        private let state = Mutex(State())
        /// The number of reports.
        private let count = Watched(0)

        var warnings: [String] { state.withLock { $0.warnings } }
        var information: [String] { state.withLock { $0.information } }
        var lost: Losses { state.withLock { $0.lost } }

        func warn(_ text: String) { note { $0.warnings.append(text) } }
        func inform(_ text: String) { note { $0.information.append(text) } }
        func drop(_ report: DropReport) {
            note {
                $0.lost.batches += report.batches
                $0.lost.events += report.events
            }
        }

        private func note(_ change: (inout State) -> Void) {
            state.withLock { change(&$0) }
            count.change { $0 += 1 }
        }

        /// Waits until a condition on the reports holds, and checks it again with each of them.
        func wait(until isMet: (Reports) -> Bool) -> Bool {
            count.wait { _ in isMet(self) }
        }
    }

    private static let outputs = {
        var outputs = AnalyzerOutputs()
        _ = outputs.add(Feature("rms_db", .decibels, "The level."))
        _ = outputs.add(Feature("bands", .none, count: 2, "Two values."))
        return outputs
    }()

    let sink: any Sink
    let reports = Reports()
    private var number: Int64 = 0

    /// Opens the sink, and begins a stream.
    init(
        _ settings: String, select items: [String] = [], clock: any MonotonicClock = .system,
        stream: StreamHeader = .test(isLive: true, analyzers: [("levels", outputs)])
    ) async throws {
        sink = try SinkPlugin.mqtt.make(settings: settings)
        let reports = reports
        try sink.open(
            SinkContext(
                name: "mqtt", records: RecordChoice(selection: items.isEmpty ? .all : Selection(items: items)),
                timing: SinkTiming(isLive: true, clock: clock),
                controls: ControlPort(submit: { _, _, _ in }, report: { reports.drop($0) }),
                messages: SinkMessages(warn: { reports.warn($0) }, inform: { text, _ in reports.inform(text) })))
        try sink.begin(stream)
    }

    /// Writes a batch of 1024 frames.
    func write(_ row: [Float] = [-20.5, 0.25, .nan], _ events: [Event] = []) throws {
        let block = BatchBlock([CollectedBatch(number: number, frame: number * 1024, row: row, events: events)])
        number += 1
        try sink.write(block)
    }
}
