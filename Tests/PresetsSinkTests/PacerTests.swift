import Foundation
import HemiolaSignal
import Testing

@testable import PresetsSink

@Suite struct PacerTests {
    private func intervals(_ pacing: Pacing, seed: UInt64, count: Int) -> [Double] {
        var pacer = Pacer(pacing, seed: seed)
        pacer.restart(at: 0)
        // A coarse batch, since what is drawn does not depend on it.
        var stage = Stage(batch: 0.5)
        var (last, result) = (0.0, [Double]())
        while result.count < count {
            guard let change = pacer.decide(stage.next(), isHeld: false) else { continue }
            result.append(change.time - last)
            last = change.time
            pacer.restart(at: last)
        }
        return result
    }

    @Test(arguments: [Stage.standardBatch, 8192.0 / 8000, 256.0 / 192_000])
    func `the timer is exact, whatever the batch`(batch: Double) {
        var pacer = Pacer(Pacing(period: .fixed(15), blend: 1, requestBlend: 1), seed: 0)
        var stage = Stage(batch: batch)
        pacer.restart(at: 0)
        let changes = pacer.run(&stage, until: 61)
        #expect(changes.map(\.time) == [15, 30, 45, 60])
        #expect(changes.allSatisfy { $0.reason == .timer && $0.blend == 1 })
    }

    @Test func `a change is told in the last batch before it`() {
        var pacer = Pacer(Pacing(period: .fixed(15), blend: 1, requestBlend: 1), seed: 0)
        var stage = Stage()
        pacer.restart(at: 0)
        while true {
            let moment = stage.next()
            guard let change = pacer.decide(moment, isHeld: false) else { continue }
            #expect(moment.end <= change.time && change.time < moment.end + moment.duration)
            break
        }
    }

    @Test func `what comes too late comes at once`() {
        var pacer = Pacer(Pacing(period: .fixed(15), blend: 1, requestBlend: 1), seed: 0)
        pacer.restart(at: 0)
        let change = pacer.decide(ShowMoment(start: 40, end: 41, duration: 1), isHeld: false)
        #expect(change?.time == 41)
    }

    @Test(arguments: [0, 1, 2_026])
    func `milkdrop's times are even between 18.7 and 28.7 s`(seed: UInt64) {
        let times = intervals(
            Pacing(period: .uniform(18.7, extra: 10), blend: 2.7, requestBlend: 1.7), seed: seed, count: 10_000)
        #expect(times.allSatisfy { $0 > 18.7 - 1e-9 && $0 < 28.7 })
        var counts = Array(repeating: 0, count: 20)
        for time in times { counts[min(19, max(0, Int((time - 18.7) * 2)))] += 1 }
        // 99.99 % of all seeds stay below, with 19 degrees of freedom.
        #expect(chiSquared(counts, expected: Array(repeating: 500, count: 20)) < 50.8)
    }

    @Test(arguments: [0, 1, 2_026])
    func `projectM's times are normal around 30 s`(seed: UInt64) {
        let times = intervals(
            Pacing(period: .normal(30, deviation: 1), minimum: 1, blend: 3, requestBlend: 3), seed: seed, count: 10_000)
        let mean = times.reduce(0, +) / 10_000
        let variance = times.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / 9_999
        #expect(abs(mean - 30) < 0.04)
        #expect(abs(variance - 1) < 0.06)
        // In twenty cells that are equally likely.
        let edges = (1..<20).map { Self.quantile(Double($0) / 20) }
        var counts = Array(repeating: 0, count: 20)
        for time in times { counts[edges.count { $0 < time - 30 }] += 1 }
        #expect(chiSquared(counts, expected: Array(repeating: 500, count: 20)) < 50.8)
    }

    /// The normal distribution's, by bisection of its distribution function.
    private static func quantile(_ share: Double) -> Double {
        var (low, high) = (-8.0, 8.0)
        for _ in 0..<80 {
            let middle = (low + high) / 2
            if 0.5 * erfc(-middle / 2.0.squareRoot()) < share { low = middle } else { high = middle }
        }
        return low
    }

    @Test func `projectM's times have a floor of 1 s`() {
        let times = intervals(
            Pacing(period: .normal(1, deviation: 1), minimum: 1, blend: 3, requestBlend: 3), seed: 4, count: 10_000)
        #expect(times.allSatisfy { $0 > 1 - 1e-9 })
        // Half of all lie on the floor.
        #expect(abs(times.count { $0 < 1 + 1e-9 } - 5_000) < 200)
    }

    @Test func `shortest and longest times bound every draw`() {
        let pacing = Pacing(period: .normal(30, deviation: 10), minimum: 25, maximum: 35, blend: 0, requestBlend: 0)
        let times = intervals(pacing, seed: 7, count: 10_000)
        #expect(times.allSatisfy { $0 > 25 - 1e-9 && $0 < 35 + 1e-9 })
    }

    @Test func `the same seed draws the same, another another`() {
        let pacing = Pacing(period: .uniform(16, extra: 10), blend: 0, requestBlend: 0)
        let one = intervals(pacing, seed: 5, count: 100)
        #expect(one == intervals(pacing, seed: 5, count: 100))
        #expect(one != intervals(pacing, seed: 6, count: 100))
    }

    @Test func `nothing changes while it is held, and time goes on`() {
        var pacer = Pacer(Pacing(period: .fixed(2), blend: 1, requestBlend: 1), seed: 0)
        var stage = Stage()
        pacer.restart(at: 0)
        while stage.time < 5 { #expect(pacer.decide(stage.next(), isHeld: true) == nil) }
        #expect(pacer.decide(stage.next(), isHeld: false)?.time == stage.time)
    }
}
