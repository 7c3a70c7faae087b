import HemiolaSignal
import Testing

@testable import PresetsSink

@Suite struct BeatModeTests {
    private func pacer(_ count: BeatCount, minimum: Double = 0, maximum: Double? = nil) -> Pacer {
        var pacer = Pacer(
            Pacing(
                period: .fixed(15), trigger: .beats(count, confidence: 0.3), minimum: minimum, maximum: maximum, blend: 1,
                requestBlend: 1), seed: 0)
        pacer.restart(at: 0)
        return pacer
    }

    /// Music in 4/4 whose first downbeat lies at `start`, each beat announced so many seconds ahead.
    private func run(
        _ pacer: inout Pacer, bpm: Double, start: Double, until end: Double, ahead: Double = 0.1, knowsBars: Bool = true,
        confidence: @escaping (Double) -> Double = { _ in 0.9 }, rowConfidence: (Double) -> Double = { _ in .nan }
    ) -> [Change] {
        var stage = Stage()
        var (changes, beat) = ([Change](), 0)
        while stage.time < end {
            let moment = stage.next { $0.confidence = rowConfidence($0.start) }
            while start + Double(beat) * 60 / bpm < moment.end + ahead {
                let time = start + Double(beat) * 60 / bpm
                pacer.hear(
                    Beat(beatsPerMinute: bpm, position: knowsBars ? beat % 4 + 1 : nil, confidence: confidence(time)), at: time)
                beat += 1
            }
            guard let change = pacer.decide(moment, isHeld: false) else { continue }
            #expect(change.time >= moment.end && change.time < moment.end + moment.duration)
            changes.append(change)
            pacer.restart(at: change.time)
        }
        return changes
    }

    @Test(arguments: [60.0, 97.3, 120, 174], [0.05, 0.1, 0.5])
    func `bars come with an announced downbeat, to the sample`(bpm: Double, ahead: Double) {
        var pacer = pacer(.bars(4))
        let start = 0.31
        let changes = run(&pacer, bpm: bpm, start: start, until: 120, ahead: ahead)
        let bar = 240 / bpm
        // The first downbeat is the first that counts.
        #expect(!changes.isEmpty)
        for (index, change) in changes.enumerated() {
            #expect(abs(change.time - (start + bar * Double(3 + 4 * index))) < 1e-6)
            #expect(change.reason == .bar)
        }
        #expect(changes.count == Int((120 - start - 3 * bar) / (4 * bar)) + 1)
    }

    @Test func `a beat that is found late is followed within 30 ms`() {
        var pacer = pacer(.bars(2))
        let changes = run(&pacer, bpm: 120, start: 0.5, until: 60, ahead: 0)
        #expect(changes.count > 10)
        for change in changes {
            let bars = (change.time - 0.5) / 2
            #expect(abs(bars - bars.rounded()) * 2 < 0.03)
        }
    }

    @Test func `beats come with any beat`() {
        var pacer = pacer(.beats(5))
        let changes = run(&pacer, bpm: 120, start: 0.25, until: 30)
        #expect(changes.first.map { abs($0.time - 2.25) < 1e-9 } == true)
        #expect(zip(changes, changes.dropFirst()).allSatisfy { abs($1.time - $0.time - 2.5) < 1e-9 })
        #expect(changes.contains { $0.reason == .beat } && changes.contains { $0.reason == .bar })
    }

    @Test func `where nobody knows the bar it has four beats`() {
        var pacer = pacer(.bars(2))
        let changes = run(&pacer, bpm: 120, start: 0.5, until: 20, knowsBars: false)
        #expect(changes.first.map { abs($0.time - 4) < 1e-9 } == true)
        #expect(changes.allSatisfy { $0.reason == .beat })
        #expect(zip(changes, changes.dropFirst()).allSatisfy { abs($1.time - $0.time - 4) < 1e-9 })
    }

    @Test func `while the beat is not known the timer runs`() {
        var pacer = pacer(.bars(4))
        let changes = run(&pacer, bpm: 120, start: 0.5, until: 61, confidence: { _ in 0.2 })
        #expect(changes.map(\.time) == [15, 30, 45, 60])
        #expect(changes.allSatisfy { $0.reason == .timer })
    }

    @Test func `the analyzer's own word counts too`() {
        var pacer = pacer(.bars(4))
        let changes = run(&pacer, bpm: 120, start: 0.5, until: 31, rowConfidence: { _ in 0.1 })
        #expect(changes.map(\.reason) == [.timer, .timer])
    }

    @Test func `when the beats stop the timer takes over, and bars again when they are back`() {
        var pacer = pacer(.bars(4))
        let changes = run(&pacer, bpm: 120, start: 0.5, until: 80, confidence: { $0 > 20 && $0 < 55 ? 0.05 : 0.8 })
        #expect(changes.filter { $0.time < 20 }.allSatisfy { $0.reason == .bar })
        #expect(changes.filter { $0.time > 20 && $0.time < 55 }.allSatisfy { $0.reason == .timer })
        #expect(changes.filter { $0.time > 63 }.allSatisfy { $0.reason == .bar })
        #expect(changes.filter { $0.time > 20 && $0.time < 55 }.count == 2)
    }

    @Test func `no beats at all is the timer`() {
        var pacer = pacer(.bars(4))
        var stage = Stage()
        #expect(pacer.run(&stage, until: 31).map(\.time) == [15, 30])
    }

    @Test func `the shortest time waits for the next downbeat`() {
        var pacer = pacer(.bars(1), minimum: 5)
        let changes = run(&pacer, bpm: 120, start: 0.5, until: 40)
        #expect(zip(changes, changes.dropFirst()).allSatisfy { abs($1.time - $0.time - 6) < 1e-9 })
    }

    @Test func `the longest time does not wait for a bar`() {
        var pacer = pacer(.bars(64), maximum: 20)
        let changes = run(&pacer, bpm: 120, start: 0.5, until: 61)
        #expect(changes.count == 3)
        #expect(zip([20.0, 40, 60], changes).allSatisfy { abs($0 - $1.time) < 0.05 })
        #expect(changes.allSatisfy { $0.reason == .timer })
    }
}
