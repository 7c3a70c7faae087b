import HemiolaRecords
import HemiolaVisualizer
import Testing

@testable import PresetsSink

@Suite struct BeatModeTests {
    private func timer(_ count: BeatCount, minimum: Double = 0, maximum: Double? = nil) -> ChangeTimer {
        var timer = ChangeTimer(
            ChangeTiming(
                duration: .uniform(15), trigger: .beats(count, confidence: 0.3), minimum: minimum, maximum: maximum, blend: 1,
                requestBlend: 1), seed: 0)
        timer.restart(at: 0)
        return timer
    }

    /// Runs the timer over beats in 4/4 with the first downbeat at `start`, each announced `ahead` seconds before its time.
    private func run(
        _ timer: inout ChangeTimer, bpm: Double, start: Double, until end: Double, ahead: Double = 0.1, hasPositions: Bool = true,
        confidence: @escaping (Double) -> Double = { _ in 0.9 }, rowConfidence: (Double) -> Double = { _ in .nan }
    ) -> [ScheduledChange] {
        var batches = BatchSequence()
        var (changes, beat) = ([ScheduledChange](), 0)
        while batches.time < end {
            let batch = batches.next { $0.confidence = rowConfidence($0.start) }
            while start + Double(beat) * 60 / bpm < batch.end + ahead {
                let time = start + Double(beat) * 60 / bpm
                let position = hasPositions ? beat % 4 + 1 : nil
                timer.add(Event(at: time, Beat(beatsPerMinute: bpm, position: position, confidence: confidence(time))))
                beat += 1
            }
            guard let change = timer.update(with: batch, isHeld: false) else { continue }
            #expect(change.time >= batch.end && change.time < batch.end + batch.duration)
            changes.append(change)
            timer.restart(at: change.time)
        }
        return changes
    }

    @Test(arguments: [60.0, 97.3, 120, 174], [0.05, 0.1, 0.5])
    func `mode bars: changes have the times of announced downbeats, exactly`(bpm: Double, ahead: Double) {
        var timer = timer(.bars(4))
        let start = 0.31
        let changes = run(&timer, bpm: bpm, start: start, until: 120, ahead: ahead)
        let bar = 240 / bpm
        // The first downbeat counts as the first of the four.
        #expect(!changes.isEmpty)
        for (index, change) in changes.enumerated() {
            #expect(abs(change.time - (start + bar * Double(3 + 4 * index))) < 1e-6)
            #expect(change.reason == .bar)
        }
        #expect(changes.count == Int((120 - start - 3 * bar) / (4 * bar)) + 1)
    }

    @Test func `beats without a downbeat, although with positions: counted by four`() {
        var counter = BeatCounter(.bars(2))
        var changes: [Double] = []
        for beat in 1...40 {
            let time = Double(beat) / 2
            counter.add(Beat(beatsPerMinute: 120, position: beat % 2 + 2, confidence: 0.9), at: time)
            while let change = counter.next(before: time + 0.01) {
                changes.append(change.time)
                counter.restart(at: change.time)
            }
        }
        #expect(changes == [4.5, 8.5, 12.5, 16.5])
    }

    @Test func `beats reported without lead: changes follow within 30 ms`() {
        var timer = timer(.bars(2))
        let changes = run(&timer, bpm: 120, start: 0.5, until: 60, ahead: 0)
        #expect(changes.count > 10)
        for change in changes {
            let bars = (change.time - 0.5) / 2
            #expect(abs(bars - bars.rounded()) * 2 < 0.03)
        }
    }

    @Test func `mode beats: changes on any beat of the bar`() {
        var timer = timer(.beats(5))
        let changes = run(&timer, bpm: 120, start: 0.25, until: 30)
        #expect(changes.first.map { abs($0.time - 2.25) < 1e-9 } == true)
        #expect(zip(changes, changes.dropFirst()).allSatisfy { abs($1.time - $0.time - 2.5) < 1e-9 })
        #expect(changes.contains { $0.reason == .beat } && changes.contains { $0.reason == .bar })
    }

    /// Seconds to the next change, after each change, as the timer foresees it and as it comes.
    private func forecasts(
        _ timer: inout ChangeTimer, bpm: Double, until end: Double, hasPositions: Bool = true, confidence: Double = 0.9
    ) -> [(foreseen: Double?, actual: Double)] {
        var (batches, beat, changes) = (BatchSequence(), 0, [(time: Double, foreseen: Double?)]())
        while batches.time < end {
            let batch = batches.next()
            while Double(beat) * 60 / bpm < batch.end + 0.1 {
                let position = hasPositions ? beat % 4 + 1 : nil
                timer.add(Event(at: Double(beat) * 60 / bpm, Beat(beatsPerMinute: bpm, position: position, confidence: confidence)))
                beat += 1
            }
            guard let change = timer.update(with: batch, isHeld: false) else { continue }
            timer.restart(at: change.time)
            changes.append((change.time, timer.nextIn(from: change.time)))
        }
        return zip(changes, changes.dropFirst()).map { ($0.foreseen, $1.time - $0.time) }
    }

    @Test(
        arguments: [(.bars(4), 0, true), (.bars(8), 0, true), (.beats(5), 0, true), (.beats(5), 0, false), (.bars(1), 5, true)]
            as [(BeatCount, Double, Bool)])
    func `bars and beats: the time to the next change is that at the present tempo`(count: BeatCount, minimum: Double, hasPositions: Bool) {
        for bpm in [97.3, 120, 174] {
            var timer = timer(count, minimum: minimum)
            let forecasts = forecasts(&timer, bpm: bpm, until: 90, hasPositions: hasPositions)
            #expect(forecasts.count >= 2)
            for (foreseen, actual) in forecasts { #expect(abs((foreseen ?? 0) - actual) < 0.03, "\(foreseen ?? -1), not \(actual)") }
        }
    }

    @Test func `bars, the time to the next change: unknown without reliable beats or bars; from any time after a request`() {
        var timer = timer(.bars(4))
        #expect(timer.nextIn(from: 0) == nil)
        #expect(forecasts(&timer, bpm: 120, until: 50, confidence: 0.1).allSatisfy { $0.foreseen == nil })
        timer = self.timer(.bars(4))
        #expect(forecasts(&timer, bpm: 120, until: 50, hasPositions: false).allSatisfy { $0.foreseen == nil })
        // A request one and a half beats after a downbeat at 10 s: the fourth downbeat from there on.
        timer = self.timer(.bars(4))
        _ = run(&timer, bpm: 120, start: 0, until: 10.75)
        timer.restart(at: 10.75)
        #expect(abs((timer.nextIn(from: 10.75) ?? 0) - 7.25) < 0.01)
    }

    @Test func `bars of three beats: the end of the count is known from the end of the first bar on`() {
        var counter = BeatCounter(.bars(2))
        for (index, position) in [2, 3, 1].enumerated() {
            let time = 0.5 * Double(index + 1)
            #expect(counter.completion(notBefore: 0) == nil)
            counter.add(Beat(beatsPerMinute: 120, position: position, confidence: 0.9), at: time)
            let isComplete = counter.next(before: time + 0.1) != nil
            #expect(!isComplete)
        }
        #expect(counter.completion(notBefore: 0) == 3)
    }

    @Test func `beats without position in the bar: a bar counts as four beats`() {
        var timer = timer(.bars(2))
        let changes = run(&timer, bpm: 120, start: 0.5, until: 20, hasPositions: false)
        #expect(changes.first.map { abs($0.time - 4) < 1e-9 } == true)
        #expect(changes.allSatisfy { $0.reason == .beat })
        #expect(zip(changes, changes.dropFirst()).allSatisfy { abs($1.time - $0.time - 4) < 1e-9 })
    }

    @Test func `beat confidence below the minimum: the timer changes presets`() {
        var timer = timer(.bars(4))
        let changes = run(&timer, bpm: 120, start: 0.5, until: 61, confidence: { _ in 0.2 })
        #expect(changes.map(\.time) == [15, 30, 45, 60])
        #expect(changes.allSatisfy { $0.reason == .timer })
    }

    @Test func `analyzer's confidence below the minimum: the timer changes presets`() {
        var timer = timer(.bars(4))
        let changes = run(&timer, bpm: 120, start: 0.5, until: 31, rowConfidence: { _ in 0.1 })
        #expect(changes.map(\.reason) == [.timer, .timer])
    }

    @Test func `beat confidence drops and recovers: timer in between, bars before and after`() {
        var timer = timer(.bars(4))
        let changes = run(&timer, bpm: 120, start: 0.5, until: 80, confidence: { $0 > 20 && $0 < 55 ? 0.05 : 0.8 })
        #expect(changes.filter { $0.time < 20 }.allSatisfy { $0.reason == .bar })
        #expect(changes.filter { $0.time > 20 && $0.time < 55 }.allSatisfy { $0.reason == .timer })
        #expect(changes.filter { $0.time > 63 }.allSatisfy { $0.reason == .bar })
        #expect(changes.filter { $0.time > 20 && $0.time < 55 }.count == 2)
    }

    @Test func `no beats: the timer changes presets`() {
        var timer = timer(.bars(4))
        var batches = BatchSequence()
        #expect(timer.run(&batches, until: 31).map(\.time) == [15, 30])
    }

    @Test func `minimum time: the change waits for the next downbeat`() {
        var timer = timer(.bars(1), minimum: 5)
        let changes = run(&timer, bpm: 120, start: 0.5, until: 40)
        #expect(zip(changes, changes.dropFirst()).allSatisfy { abs($1.time - $0.time - 6) < 1e-9 })
    }

    @Test func `maximum time: the change does not wait for a bar`() {
        var timer = timer(.bars(64), maximum: 20)
        let changes = run(&timer, bpm: 120, start: 0.5, until: 61)
        #expect(changes.count == 3)
        #expect(zip([20.0, 40, 60], changes).allSatisfy { abs($0 - $1.time) < 0.05 })
        #expect(changes.allSatisfy { $0.reason == .timer })
    }
}

@Suite struct SegmentModeTests {
    private static let segment = RecordType("segment", "A segment of music begins.", fields: [])

    /// Runs a timer over 130 s; each segment is added `ahead` seconds before its start.
    private func changes(_ segments: [Double], ahead: Double, minimum: Double = 8, maximum: Double = 60) -> [ScheduledChange] {
        var timer = ChangeTimer(
            ChangeTiming(trigger: .segments, minimum: minimum, maximum: maximum, blend: 1, requestBlend: 1), seed: 0)
        timer.restart(at: 0)
        var (batches, changes, next) = (BatchSequence(), [ScheduledChange](), 0)
        while batches.time < 130 {
            let batch = batches.next()
            while next < segments.count, segments[next] < batch.end + ahead {
                timer.add(Event(at: segments[next], Self.segment))
                next += 1
            }
            guard let change = timer.update(with: batch, isHeld: false) else { continue }
            changes.append(change)
            timer.restart(at: change.time)
        }
        return changes
    }

    @Test func `segments announced ahead: changes at their times, exactly`() {
        let changes = changes([0, 20, 45.3, 71], ahead: 0.5, maximum: 1000)
        #expect(changes.map(\.time) == [20, 45.3, 71] && changes.allSatisfy { $0.reason == .segment })
    }

    @Test func `segments reported seconds late: changes when they are reported`() {
        let changes = changes([20, 50], ahead: -4.5, maximum: 1000)
        #expect(changes.count == 2)
        for (time, change) in zip([24.5, 54.5], changes) { #expect(abs(change.time - time) < 0.05) }
    }

    @Test func `segment before the minimum time: no change`() {
        #expect(changes([20, 25, 40], ahead: 0.5, maximum: 1000).map(\.time) == [20, 40])
    }

    @Test func `no segment for the maximum time: the timer changes presets`() {
        let changes = changes([20], ahead: 0.5)
        #expect(changes.map(\.reason) == [.segment, .timer])
        #expect(changes.last.map { abs($0.time - 80) < 0.05 } == true)
    }
}
