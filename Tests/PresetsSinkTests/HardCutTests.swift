import Foundation
import HemiolaSignal
import Testing

@testable import PresetsSink

@Suite struct HardCutTests {
    // MARK: - MilkDrop

    @Test func `a cut doubles MilkDrop's threshold and time brings it back, as computed by hand`() {
        var cut = MilkDropCut(level: 2.5, halfLife: 60)
        // It begins at twice the level: 3 · 5 = 15 is not exceeded by 15.
        #expect(cut.threshold == 5)
        #expect(cut.hear(sum: 15, seconds: 0.1, mayCut: true) == false)
        // One update of 0.1 s: 2.5 · exp(−1.3863 · 0.1 / 60) + 2.5.
        #expect(abs(cut.threshold - 4.994230418) < 1e-8)
        #expect(cut.hear(sum: 15, seconds: 0.1, mayCut: true) == true)
        #expect(abs(cut.threshold - 9.988460836) < 1e-8)
        #expect(cut.hear(sum: 29, seconds: 0.1, mayCut: true) == false)
        // 7.488460836 · exp(−0.0023105) + 2.5
        #expect(abs(cut.threshold - 9.971178720) < 1e-8)
        #expect(cut.hear(sum: 30, seconds: 0.1, mayCut: true) == true)
        #expect(abs(cut.threshold - 19.942357440) < 1e-8)
    }

    @Test(arguments: [15.0, 43.06640625, 60, 344.53125])
    func `in thirty seconds half of the excess has gone, whatever the rate`(updatesPerSecond: Double) {
        var cut = MilkDropCut(level: 2.5, halfLife: 60)
        for _ in 0..<Int(30 * updatesPerSecond) { _ = cut.hear(sum: 0, seconds: 1 / updatesPerSecond, mayCut: true) }
        // exp(−1.3863) is a quarter to five digits, so after half the time it is a half; a part of an update may be missing.
        #expect(abs(cut.threshold - 3.75) < 0.001)
    }

    @Test func `what is no number cuts nothing`() {
        var cut = MilkDropCut(level: 2.5, halfLife: 60)
        #expect(cut.hear(sum: .nan, seconds: 0.02, mayCut: true) == false)
        #expect(cut.threshold < 5)
    }

    @Test func `hard cuts come at the batch's end, at once, and the timer begins anew`() {
        let pacing = Pacing(
            period: .uniform(18.7, extra: 10), trigger: .milkDrop(level: 2.5, halfLife: 60), blend: 2.7, requestBlend: 1.7)
        var pacer = Pacer(pacing, seed: 1)
        var stage = Stage()
        pacer.restart(at: 0)
        var loud: Set<Int> = [150, 151, 750]
        // 151 comes after a cut at 150: the sum would have to exceed 3 · 2 · 4.8.
        var heard: [(Int, Change)] = []
        while stage.time < 18 {
            let index = stage.number
            let moment = stage.next {
                $0.bass = loud.contains(index) ? 8 : 1
                $0.mid = $0.bass
                $0.treb = $0.bass
            }
            guard let change = pacer.decide(moment, isHeld: false) else { continue }
            #expect(change == Change(time: moment.end, blend: 0, reason: .hardCut))
            heard.append((index, change))
            pacer.restart(at: change.time)
        }
        loud = []
        // At 750, 13.9 s later, the threshold is 2.5 + 7.11 · exp(−1.3863 · 13.93 / 60) = 7.65: 24 exceeds 23.
        #expect(heard.map(\.0) == [150, 750])
        let next = pacer.run(&stage, until: 60) { ($0.bass, $0.mid, $0.treb) = (1, 1, 1) }
        #expect(next.first.map { $0.time - heard[1].1.time > 18.7 - 1e-9 } == true)
        #expect(next.first?.reason == .timer)
    }

    @Test func `a preset stays its shortest time in the loudest music`() {
        let pacing = Pacing(
            period: nil, trigger: .milkDrop(level: 2.5, halfLife: 60), minimum: 2, blend: 2.7, requestBlend: 1.7)
        var pacer = Pacer(pacing, seed: 1)
        var stage = Stage()
        pacer.restart(at: 0)
        let changes = pacer.run(&stage, until: 20) { ($0.bass, $0.mid, $0.treb) = (1e6, 1e6, 1e6) }
        #expect(changes.count == 9)
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $1.time - $0.time >= 2 })
    }

    @Test(arguments: [Pacing.Trigger.milkDrop(level: 2.5, halfLife: 0.1), .projectM(jump: 2, earliest: 0)])
    func `there is no hard cut in the first three seconds of a stream, nor of the next one`(trigger: Pacing.Trigger) {
        var pacer = Pacer(Pacing(period: nil, trigger: trigger, blend: 2.7, requestBlend: 1.7), seed: 1)
        pacer.restart(at: 0)
        for start in [0.0, 7.0] {
            // The next stream's clock starts anew.
            if start > 0 { pacer.rebase(by: start) }
            var stage = Stage()
            let changes = pacer.run(&stage, until: 7) {
                let level = Int($0.start * 43) % 2 == 0 ? 0 : 1e6
                ($0.bass, $0.mid, $0.treb, $0.volume) = (level, level, level, level)
            }
            #expect(changes.allSatisfy { $0.reason == .hardCut && $0.time >= 3 })
            #expect(changes.first.map { $0.time < 3.2 } == true)
        }
    }

    // MARK: - projectM

    @Test func `a jump of the volume cuts after the settling frames and the preset's time`() {
        var cut = ProjectMCut(jump: 2, earliest: 20)
        var heard: [Int] = []
        for index in 0..<200 {
            // A jump of 2.5 on every tenth update, of 2 on every fifth.
            let volume = index % 10 == 0 ? 3.5 : index % 5 == 0 ? 3 : 1
            if cut.hear(volume: volume, timeOnPreset: index < 100 ? 20 : 20.1) { heard.append(index) }
        }
        #expect(heard == Array(stride(from: 100, to: 200, by: 10)))
    }

    @Test func `projectM's first fifty updates cut nothing`() {
        var cut = ProjectMCut(jump: 2, earliest: 0)
        let heard = (0..<100).filter { cut.hear(volume: $0 % 2 == 0 ? 0 : 5, timeOnPreset: 1) }
        #expect(heard.first == 51)
    }

    @Test func `a volume that is missing makes no jump`() {
        var cut = ProjectMCut(jump: 2, earliest: 0)
        for _ in 0..<60 { _ = cut.hear(volume: 1, timeOnPreset: 1) }
        #expect(cut.hear(volume: .nan, timeOnPreset: 1) == false)
        #expect(cut.hear(volume: 9, timeOnPreset: 1) == false)
        #expect(cut.hear(volume: 10, timeOnPreset: 1) == false)
        #expect(cut.hear(volume: 12.5, timeOnPreset: 1) == true)
    }

    // MARK: - Drops

    private func drops(_ level: (Double) -> Double, until end: Double) -> [Double] {
        let pacing = Pacing(period: nil, trigger: .drop(decibels: 6), minimum: 8, maximum: 60, blend: 0, requestBlend: 1)
        var pacer = Pacer(pacing, seed: 0)
        var stage = Stage()
        pacer.restart(at: 0)
        return pacer.run(&stage, until: end) { $0.level = level($0.start) }.filter { $0.reason == .drop }.map(\.time)
    }

    @Test func `the music that comes back after a break is a drop`() {
        let times = drops({ $0 >= 30 && $0 < 38 ? -24 : -10 }, until: 55)
        #expect(times.count == 1)
        #expect(times.first.map { $0 > 38 && $0 < 38.3 } == true)
    }

    @Test func `steady music, silence and music that fades in have none`() {
        #expect(drops({ _ in -10 }, until: 60) == [])
        #expect(drops({ _ in -120 }, until: 60) == [])
        #expect(drops({ -60 + $0 / 2 }, until: 60) == [])
        #expect(drops({ _ in .nan }, until: 60) == [])
    }

    @Test func `drops keep their distance`() {
        let times = drops({ $0.truncatingRemainder(dividingBy: 6) < 5 ? -40 : -6 }, until: 58)
        #expect(times.count >= 3)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 8 })
    }

    @Test func `without any drop the longest time changes the preset`() {
        let pacing = Pacing(period: nil, trigger: .drop(decibels: 6), minimum: 8, maximum: 60, blend: 0, requestBlend: 1)
        var pacer = Pacer(pacing, seed: 0)
        var stage = Stage()
        pacer.restart(at: 0)
        let changes = pacer.run(&stage, until: 130) { $0.level = -10 }
        #expect(changes.map(\.time) == [60, 120])
        #expect(changes.allSatisfy { $0.reason == .timer })
    }
}
