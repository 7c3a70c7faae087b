import Foundation
import HemiolaRecords
import HemiolaVisualizer
import Testing

@testable import PresetsSink

@Suite struct ChangeTimerTests {
    private func intervals(_ timing: ChangeTiming, seed: UInt64, count: Int) -> [Double] {
        var timer = ChangeTimer(timing, seed: seed)
        timer.restart(at: 0)
        // Long batches, to save time: the random durations do not depend on the length.
        var batches = BatchSequence(length: 0.5)
        var (last, result) = (0.0, [Double]())
        while result.count < count {
            guard let change = timer.update(with: batches.next(), isHeld: false) else { continue }
            result.append(change.time - last)
            last = change.time
            timer.restart(at: last)
        }
        return result
    }

    @Test(arguments: [BatchSequence.standardLength, 8192.0 / 8000, 256.0 / 192_000])
    func `timer: changes at exact times for any batch length`(length: Double) {
        var timer = ChangeTimer(ChangeTiming(duration: .uniform(15), blend: 1, requestBlend: 1), seed: 0)
        var batches = BatchSequence(length: length)
        timer.restart(at: 0)
        let changes = timer.run(&batches, until: 61)
        #expect(changes.map(\.time) == [15, 30, 45, 60])
        #expect(changes.allSatisfy { $0.reason == .timer })
    }

    @Test func `a change is returned with the last batch that ends before it`() {
        var timer = ChangeTimer(ChangeTiming(duration: .uniform(15), blend: 1, requestBlend: 1), seed: 0)
        var batches = BatchSequence()
        timer.restart(at: 0)
        while true {
            let batch = batches.next()
            guard let change = timer.update(with: batch, isHeld: false) else { continue }
            #expect(batch.end <= change.time && change.time < batch.end + batch.duration)
            break
        }
    }

    @Test func `a change that is overdue happens at the end of the batch`() {
        var timer = ChangeTimer(ChangeTiming(duration: .uniform(15), blend: 1, requestBlend: 1), seed: 0)
        timer.restart(at: 0)
        let change = timer.update(with: BatchFeatures(start: 40, end: 41, duration: 1), isHeld: false)
        #expect(change?.time == 41)
    }

    @Test(arguments: [0, 1, 2_026])
    func `milkdrop durations: uniform between 18.7 and 28.7 s`(seed: UInt64) {
        let times = intervals(
            ChangeTiming(duration: .uniform(18.7, extra: 10), blend: 2.7, requestBlend: 1.7), seed: seed, count: 10_000)
        #expect(times.allSatisfy { $0 > 18.7 - 1e-9 && $0 < 28.7 })
        var counts = Array(repeating: 0, count: 20)
        for time in times { counts[min(19, max(0, Int((time - 18.7) * 2)))] += 1 }
        // The 99.99 % quantile of the chi-squared distribution with 19 degrees of freedom.
        #expect(chiSquared(counts, expected: Array(repeating: 500, count: 20)) < 50.8)
    }

    @Test(arguments: [0, 1, 2_026])
    func `projectM durations: normal with mean 30 s`(seed: UInt64) {
        let times = intervals(
            ChangeTiming(duration: .normal(30, deviation: 1), minimum: 1, blend: 3, requestBlend: 3), seed: seed, count: 10_000)
        let mean = times.reduce(0, +) / 10_000
        let variance = times.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / 9_999
        #expect(abs(mean - 30) < 0.04)
        #expect(abs(variance - 1) < 0.06)
        // Twenty intervals of equal probability.
        let edges = (1..<20).map { Self.quantile(Double($0) / 20) }
        var counts = Array(repeating: 0, count: 20)
        for time in times { counts[edges.count { $0 < time - 30 }] += 1 }
        #expect(chiSquared(counts, expected: Array(repeating: 500, count: 20)) < 50.8)
    }

    /// Quantile of the standard normal distribution, by bisection of its distribution function.
    private static func quantile(_ share: Double) -> Double {
        var (low, high) = (-8.0, 8.0)
        for _ in 0..<80 {
            let middle = (low + high) / 2
            if 0.5 * erfc(-middle / 2.0.squareRoot()) < share { low = middle } else { high = middle }
        }
        return low
    }

    @Test func `projectM durations: never below 1 s`() {
        let times = intervals(
            ChangeTiming(duration: .normal(1, deviation: 1), minimum: 1, blend: 3, requestBlend: 3), seed: 4, count: 10_000)
        #expect(times.allSatisfy { $0 > 1 - 1e-9 })
        // Half of the durations are at the minimum.
        #expect(abs(times.count { $0 < 1 + 1e-9 } - 5_000) < 200)
    }

    @Test func `minimum and maximum limit every random duration`() {
        let timing = ChangeTiming(duration: .normal(30, deviation: 10), minimum: 25, maximum: 35, blend: 0, requestBlend: 0)
        let times = intervals(timing, seed: 7, count: 10_000)
        #expect(times.allSatisfy { $0 > 25 - 1e-9 && $0 < 35 + 1e-9 })
    }

    @Test func `equal seeds give equal durations, different seeds different ones`() {
        let timing = ChangeTiming(duration: .uniform(16, extra: 10), blend: 0, requestBlend: 0)
        let one = intervals(timing, seed: 5, count: 100)
        #expect(one == intervals(timing, seed: 5, count: 100))
        #expect(one != intervals(timing, seed: 6, count: 100))
    }

    @Test func `held: no change, and the timer continues`() {
        var timer = ChangeTimer(ChangeTiming(duration: .uniform(2), blend: 1, requestBlend: 1), seed: 0)
        var batches = BatchSequence()
        timer.restart(at: 0)
        while batches.time < 5 { #expect(timer.update(with: batches.next(), isHeld: true) == nil) }
        #expect(timer.update(with: batches.next(), isHeld: false)?.time == batches.time)
    }
}
