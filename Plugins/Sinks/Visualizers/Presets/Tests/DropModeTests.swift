import HemiolaRecords
import HemiolaVisualizer
import Testing

@testable import PresetsSink

@Suite struct DropModeTests {
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
        // The maximum time is no estimate of the next drop.
        #expect(timer.nextIn(from: batches.time) == nil)
    }
}
