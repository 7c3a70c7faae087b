import AllocationCounter
import Hemiola
import HemiolaTesting
import HemiolaVisualizer
import TestSupport
import Testing

@testable import PresetsSink

/// Counts the allocations of the director, which runs on the analysis thread.
@Suite(.serialized) struct AllocationTests {
    private static let triggers: [ChangeTiming.Trigger] = [
        .none, .beats(.bars(64), confidence: 0.3), .drop(decibels: 6), .segments,
    ]

    @Test(.disabled(if: Sanitizer.isOn, "a sanitizer has its own allocator"), arguments: triggers)
    func `a batch without a preset change: no allocation`(trigger: ChangeTiming.Trigger) {
        let timing = ChangeTiming(duration: .uniform(15), trigger: trigger, blend: 1, requestBlend: 1)
        let director = PresetDirector(ScheduleSettings(timing: timing, names: names(50)))
        let format = StreamFormat(sampleRate: 44_100, channelCount: 2)
        director.prepare(
            StreamHeader(
                source: StreamSource(format: format, kind: "test", name: "test"), isLive: false, batching: .standard, seed: 0,
                analyzers: []))
        var events = EventList()
        var emitted: [Event] = []
        emitted.reserveCapacity(1024)
        var row: [Float] = []
        var (before, counts) = (UInt64(0), [UInt64]())
        counts.reserveCapacity(600)
        // Ten seconds, so that the only change is the first preset.
        for number in 0..<430 as Range<Int64> {
            let moment = BatchMoment(number: number, frame: number * 1024, frameCount: 1024, format: format)
            if number % 20 == 0 {
                events.append(Beat(beatsPerMinute: 120, position: 1, confidence: 0.9), at: moment.end + 0.1)
            }
            allocation_trace(number < 30 ? 0 : 4)
            before = allocation_count()
            director.direct(moment, FeatureRow(row.mutableSpan), into: &events)
            counts.append(allocation_count() - before)
            allocation_trace(0)
            events.drain(into: &emitted)
        }
        if counts.dropFirst(30).contains(where: { $0 > 0 }) { allocation_report() }
        #expect(counts.dropFirst(30).allSatisfy { $0 == 0 })
        #expect(emitted.presets.map(\.reason) == [.start])
    }
}
