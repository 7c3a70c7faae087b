import HemiolaRecords
import HemiolaSignal
import HemiolaTesting
import Testing

@testable import HemiolaEngine

/// Events outside a batch: selection and order for a sink.
@Suite struct EventScheduleTests {
    private let header = StreamHeader(
        source: StreamSource(format: TestSignal.mono, kind: "test", name: "test"), isLive: true, batching: .standard, seed: 0,
        analyzers: [])
    private let lost = Event(
        at: 2, DeviceEvent(name: "d", summary: "D", state: .lost, format: TestSignal.mono))
    private let onset = Event(at: 1.9, Onset(strength: 1))

    private func schedule(lead: Double? = nil, _ items: [String]? = nil) -> EventSchedule {
        var schedule = EventSchedule(lead: lead, selection: items.map { Selection(items: $0) } ?? .all)
        schedule.begin(header)
        return schedule
    }

    /// A block of one batch that ends at 1.95 s.
    private func block(_ events: [Event]) -> BatchBlock {
        let storage = BatchStorage(capacity: 1, width: 1, samplesPerBatch: 0, channelCount: 1)
        var list = EventList()
        for event in events { list.append(event) }
        storage.complete(BatchStorage.Info(number: 0, frame: 0, frameCount: 85_995, isPartial: false), events: &list)
        return BatchBlock(storage)
    }

    @Test func `selection: only selected events are sent`() {
        var schedule = schedule(["device"])
        #expect(schedule.apply(to: [onset, lost]) == [lost])
        #expect(schedule.apply(to: [onset]) == [])
    }

    @Test func `block without lead_ms: selected events stay, in their batches`() {
        var (all, device) = (schedule(), schedule(["device"]))
        #expect(all.apply(to: block([onset, lost])).events == [onset, lost])
        #expect(device.apply(to: block([onset, lost])).events == [lost])
        let empty = device.apply(to: block([onset]))
        #expect(empty.events == [] && empty.count == 1 && empty[0].events.isEmpty)
    }

    @Test(arguments: [-0.5, 0, 0.5]) func `lead_ms: events without a batch are not held back`(lead: Double) {
        var schedule = schedule(lead: lead)
        #expect(schedule.apply(to: [lost]) == [lost])
    }

    @Test func `lead_ms: earlier events that are pending come first, later ones stay`() {
        var schedule = schedule(lead: -0.5)
        let later = Event(at: 2.1, Onset(strength: 2))
        #expect(schedule.apply(to: block([onset, later])).events == [])
        #expect(schedule.apply(to: [lost]) == [onset, lost])
        #expect(schedule.apply(to: StreamSummary(frames: 0, batches: 0, reason: .endOfInput)).lateEvents == [later])
    }
}
