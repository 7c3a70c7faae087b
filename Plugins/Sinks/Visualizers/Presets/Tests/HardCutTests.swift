import Foundation
import HemiolaRecords
import Testing

@testable import PresetsSink

@Suite struct HardCutTests {
    // MARK: - MilkDrop

    @Test func `MilkDrop's threshold: doubled by a cut, then decays, as computed by hand`() {
        var cut = MilkDropCut(level: 2.5, halfLife: 60)
        // The threshold starts at twice the level: 15 does not exceed 3 · 5.
        #expect(cut.threshold == 5)
        #expect(cut.update(sum: 15, seconds: 0.1, mayCut: true) == false)
        // One update of 0.1 s: 2.5 · exp(−1.3863 · 0.1 / 60) + 2.5.
        #expect(abs(cut.threshold - 4.994230418) < 1e-8)
        #expect(cut.update(sum: 15, seconds: 0.1, mayCut: true) == true)
        #expect(abs(cut.threshold - 9.988460836) < 1e-8)
        #expect(cut.update(sum: 29, seconds: 0.1, mayCut: true) == false)
        // 7.488460836 · exp(−0.0023105) + 2.5
        #expect(abs(cut.threshold - 9.971178720) < 1e-8)
        #expect(cut.update(sum: 30, seconds: 0.1, mayCut: true) == true)
        #expect(abs(cut.threshold - 19.942357440) < 1e-8)
    }

    @Test(arguments: [15.0, 43.06640625, 60, 344.53125])
    func `MilkDrop's threshold: excess halved in 30 s at any update rate`(updatesPerSecond: Double) {
        var cut = MilkDropCut(level: 2.5, halfLife: 60)
        for _ in 0..<Int(30 * updatesPerSecond) { _ = cut.update(sum: 0, seconds: 1 / updatesPerSecond, mayCut: true) }
        // exp(−1.3863) = 0.25 to five digits, so half the time halves the excess. The number of updates is rounded down.
        #expect(abs(cut.threshold - 3.75) < 0.001)
    }

    @Test func `NaN level sum: no hard cut`() {
        var cut = MilkDropCut(level: 2.5, halfLife: 60)
        #expect(cut.update(sum: .nan, seconds: 0.02, mayCut: true) == false)
        #expect(cut.threshold < 5)
    }

    @Test func `hard cuts have the time of the batch end and restart the timer`() {
        let timing = ChangeTiming(
            duration: .uniform(18.7, extra: 10), trigger: .milkDrop(level: 2.5, halfLife: 60), blend: 2.7, requestBlend: 1.7)
        var timer = ChangeTimer(timing, seed: 1)
        var batches = BatchSequence()
        timer.restart(at: 0)
        var loud: Set<Int> = [150, 151, 750]
        // No cut at 151: after the one at 150 the sum would have to exceed 3 · 2 · 4.8.
        var cuts: [(Int, ScheduledChange)] = []
        while batches.time < 18 {
            let index = batches.number
            let batch = batches.next {
                $0.bass = loud.contains(index) ? 8 : 1
                $0.mid = $0.bass
                $0.treb = $0.bass
            }
            guard let change = timer.update(with: batch, isHeld: false) else { continue }
            #expect(change == ScheduledChange(time: batch.end, blend: 0, reason: .hardCut))
            cuts.append((index, change))
            timer.restart(at: change.time)
        }
        loud = []
        // At 750, 13.9 s later, the threshold is 2.5 + 7.11 · exp(−1.3863 · 13.93 / 60) = 7.65: 24 exceeds 23.
        #expect(cuts.map(\.0) == [150, 750])
        let next = timer.run(&batches, until: 60) { ($0.bass, $0.mid, $0.treb) = (1, 1, 1) }
        #expect(next.first.map { $0.time - cuts[1].1.time > 18.7 - 1e-9 } == true)
        #expect(next.first?.reason == .timer)
    }

    @Test func `minimum time: no hard cut before it, however loud`() {
        let timing = ChangeTiming(
            duration: nil, trigger: .milkDrop(level: 2.5, halfLife: 60), minimum: 2, blend: 2.7, requestBlend: 1.7)
        var timer = ChangeTimer(timing, seed: 1)
        var batches = BatchSequence()
        timer.restart(at: 0)
        let changes = timer.run(&batches, until: 20) { ($0.bass, $0.mid, $0.treb) = (1e6, 1e6, 1e6) }
        #expect(changes.count == 9)
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $1.time - $0.time >= 2 })
    }

    @Test(arguments: [ChangeTiming.Trigger.milkDrop(level: 2.5, halfLife: 0.1), .projectM(jump: 2, earliest: 0)])
    func `no hard cut in the first three seconds of each stream`(trigger: ChangeTiming.Trigger) {
        var timer = ChangeTimer(ChangeTiming(duration: nil, trigger: trigger, blend: 2.7, requestBlend: 1.7), seed: 1)
        timer.restart(at: 0)
        for start in [0.0, 7.0] {
            // The next stream has a clock of its own.
            if start > 0 { timer.rebase(by: start) }
            var batches = BatchSequence()
            let changes = timer.run(&batches, until: 7) {
                let level = Int($0.start * 43) % 2 == 0 ? 0 : 1e6
                ($0.bass, $0.mid, $0.treb, $0.volume) = (level, level, level, level)
            }
            #expect(changes.allSatisfy { $0.reason == .hardCut && $0.time >= 3 })
            #expect(changes.first.map { $0.time < 3.2 } == true)
        }
    }

    // MARK: - projectM

    @Test func `projectM's volume jump: cuts after the minimum time`() {
        var cut = ProjectMCut(jump: 2, earliest: 20)
        var cuts: [Int] = []
        for index in 0..<200 {
            // The volume jumps by 2.5 on every tenth update and by 2 on every fifth.
            let volume = index % 10 == 0 ? 3.5 : index % 5 == 0 ? 3 : 1
            if cut.update(volume: volume, timeOnPreset: index < 100 ? 20 : 20.1) { cuts.append(index) }
        }
        #expect(cuts == Array(stride(from: 100, to: 200, by: 10)))
    }

    @Test func `NaN volume: no jump`() {
        var cut = ProjectMCut(jump: 2, earliest: 0)
        for _ in 0..<60 { _ = cut.update(volume: 1, timeOnPreset: 1) }
        #expect(cut.update(volume: .nan, timeOnPreset: 1) == false)
        #expect(cut.update(volume: 9, timeOnPreset: 1) == false)
        #expect(cut.update(volume: 10, timeOnPreset: 1) == false)
        #expect(cut.update(volume: 12.5, timeOnPreset: 1) == true)
    }

    // MARK: - Drops

    private func drops(_ level: (Double) -> Double, until end: Double) -> [Double] {
        let timing = ChangeTiming(duration: nil, trigger: .drop(decibels: 6), minimum: 8, maximum: 60, blend: 0, requestBlend: 1)
        var timer = ChangeTimer(timing, seed: 0)
        var batches = BatchSequence()
        timer.restart(at: 0)
        return timer.run(&batches, until: end) { $0.level = level($0.start) }.filter { $0.reason == .drop }.map(\.time)
    }

    @Test func `level returns after a quiet passage: one drop`() {
        let times = drops({ $0 >= 30 && $0 < 38 ? -24 : -10 }, until: 55)
        #expect(times.count == 1)
        #expect(times.first.map { $0 > 38 && $0 < 38.3 } == true)
    }

    @Test func `steady level, silence, fade-in and NaN: no drop`() {
        #expect(drops({ _ in -10 }, until: 60) == [])
        #expect(drops({ _ in -120 }, until: 60) == [])
        #expect(drops({ -60 + $0 / 2 }, until: 60) == [])
        #expect(drops({ _ in .nan }, until: 60) == [])
    }

    @Test func `drops are at least the minimum time apart`() {
        let times = drops({ $0.truncatingRemainder(dividingBy: 6) < 5 ? -40 : -6 }, until: 58)
        #expect(times.count >= 3)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 8 })
    }

    @Test func `no drop: the maximum time changes the preset`() {
        let timing = ChangeTiming(duration: nil, trigger: .drop(decibels: 6), minimum: 8, maximum: 60, blend: 0, requestBlend: 1)
        var timer = ChangeTimer(timing, seed: 0)
        var batches = BatchSequence()
        timer.restart(at: 0)
        let changes = timer.run(&batches, until: 130) { $0.level = -10 }
        #expect(changes.map(\.time) == [60, 120])
        #expect(changes.allSatisfy { $0.reason == .timer })
    }
}
