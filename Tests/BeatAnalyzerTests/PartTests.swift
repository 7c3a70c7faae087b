import Glibc
import Hemiola
import HemiolaSignal
import HemiolaTesting
import Testing

@testable import BeatAnalyzer

enum BeatFixture {
    static func analyzer() throws -> BeatAnalyzer {
        var problems: [ConfigurationProblem] = []
        let plugin = AnalyzerPlugin.beat
        let values = try #require(plugin.about.values(from: PluginSpec("beat"), path: "beat", problems: &problems))
        let analyzer = try #require(try plugin.make(values) as? BeatAnalyzer)
        _ = try analyzer.prepare(AnalysisFormat(StreamFormat(sampleRate: 44_100, channelCount: 1)))
        return analyzer
    }
}

@Suite struct `The parts of the beat` {
    @Test func `it passes the exam`() throws {
        try AnalyzerExam(.beat).sit()
    }

    @Test func `tempi lie close, and each leads to its neighbours`() {
        let space = TempoSpace(frameSeconds: 0.01, tempi: 30...240)
        #expect(space.intervals.first == 25)
        #expect(space.intervals.last == 200)
        for (one, next) in zip(space.intervals, space.intervals.dropFirst()) {
            #expect(next > one)
            #expect(next - one == 1 || Double(next) / Double(one) < 1.02)
        }
        #expect(space.count <= 255)
        // What leaves a tempo arrives somewhere.
        for from in 0..<space.count {
            var sum: Float = 0
            for to in 0..<space.count where abs(from - to) <= space.reach {
                sum += space.changes[(from - to + space.reach) * space.laneCount + to]
            }
            #expect(abs(sum - 1) < 1e-4)
        }
    }

    @Test func `powers and logarithms of two are right`() {
        for index in -400...400 {
            let x = Float(index) / 20
            let power = Lanes(repeating: x).powerOfTwo[3]
            #expect(abs(power / exp2(x) - 1) < 1e-5, "\(x)")
            let y = exp2(x)
            #expect(abs(Lanes(repeating: y).binaryLogarithm[5] - x) < 2e-5, "\(x)")
        }
        #expect(Lanes(repeating: 1).binaryLogarithm[0] == 0)
    }

    /// Evidence for a beat every so many frames.
    private static func pulses(_ interval: Int, frames: Int, first: Int = 7) -> [Float] {
        (0..<frames).map { frame in
            // As wide as onsets are.
            let distance = abs((frame - first + interval / 2) % interval - interval / 2)
            return Activation.evidence([0.95, 0.4, 0.1][min(distance, 2)] - (distance > 2 ? 0.099 : 0))
        }
    }

    @Test(arguments: [31, 50, 61, 100, 148])
    func `the belief and the best path find a pulse`(interval: Int) {
        let space = TempoSpace(frameSeconds: 0.01, tempi: 30...240)
        let evidence = Self.pulses(interval, frames: 1500)
        var belief = BeatBelief(space)
        for value in evidence { belief.advance(value) }
        let summary = belief.summary
        #expect(abs(summary.interval / Float(interval) - 1) < 0.02)
        let next = Float(evidence.count - 1) + summary.remaining
        let beats = (next - 7) / Float(interval)
        #expect(abs(beats - beats.rounded()) * Float(interval) < 4)

        let steps = BestPath(space, reluctance: space.reluctance()).decode(evidence)
        #expect(abs(Double(steps.count) - 1500 / Double(interval)) <= 2)
        for step in steps.dropFirst().dropLast() {
            let beats = (step.frame - 7) / Double(interval)
            #expect(abs(beats - beats.rounded()) * Double(interval) < 4)
        }
    }

    /// Random evidence, strong and weak, and now and then none for long: states settle, leave and are scaled; and a user's wish.
    @Test(arguments: [60.0...240, 30...300])
    func `the belief is that of the forward algorithm`(tempi: ClosedRange<Double>) {
        let space = TempoSpace(frameSeconds: 0.01, tempi: tempi)
        var belief = BeatBelief(space)
        var plain = PlainForward(space)
        var random = SeededGenerator(seed: 7)
        var differences = 0
        for frame in 0..<3000 {
            if frame == 1500 {
                let wish = { (interval: Int, age: Double) in exp(-abs(Double(interval) - 60) / 10 - abs(age - 20) / 15) }
                belief.weigh(wish)
                plain.weigh(wish)
            }
            let evidence = frame % 1000 > 700 ? -0.05 : Float.random(in: -1...1, using: &random) * (frame % 60 < 3 ? 4 : 1)
            belief.advance(evidence)
            let (interval, remaining) = plain.advance(Double(evidence))
            let isNear = abs(Double(belief.summary.interval) - interval) < 0.01 && abs(Double(belief.summary.remaining) - remaining) < 0.01
            // Of two states that are alike, single precision may prefer the other.
            if !isNear { differences += 1 }
        }
        #expect(differences <= 3)
    }

    @Test func `an endless silence does no harm to the belief`() {
        let space = TempoSpace(frameSeconds: 0.01, tempi: 30...240)
        var belief = BeatBelief(space)
        for _ in 0..<5000 { belief.advance(Activation.evidence(0.001)) }
        #expect((25...200).contains(belief.summary.interval) && (0...220).contains(belief.summary.remaining))
        for value in Self.pulses(50, frames: 800) { belief.advance(value) }
        #expect(abs(belief.summary.interval - 50) < 1)
    }

    @Test func `onsets are peaks, not plateaus or ripples`() {
        var picker = OnsetPicker(frameSeconds: 0.01)
        var found: [Int] = []
        for frame in 0..<400 {
            let value: Float = frame % 50 == 20 ? 0.8 : frame % 50 == 21 ? 0.5 : 0.004 * Float(frame % 3)
            if picker.advance(value) != nil { found.append(frame) }
        }
        #expect(found == Array(stride(from: 20, to: 400, by: 50)))
    }

    @Test func `a slow attack begins before its middle`() {
        func place(_ rises: [Float]) -> Double {
            let best = rises.firstIndex(of: rises.max()!)!
            return Attack.place(around: best, in: 0...rises.count - 1, frameSeconds: 0.01) { rises[$0] }
        }
        let sharp = place([0, 0, 0, 1, 0, 0, 0])
        let slow = place([0, 0, 0.3, 1, 0.9, 0.5, 0])
        #expect(sharp > 3)
        #expect(slow < sharp - 0.5)
        // As far as its middle moves the place does.
        #expect(abs(place([0, 0, 0, 0, 1, 0, 0]) - sharp - 1) < 1e-9)
    }

    /// What is heard of ten seconds in which, every 0.2 s, low and high bands are loud together, in turn, or not at all.
    private func likeness(falls: Float, _ levels: (_ isFirstHalf: Bool) -> (low: Float, high: Float)) -> Float {
        var likeness = MusicLikeness(frameSeconds: 0.01)
        for frame in 0..<1000 {
            let (low, high) = levels(frame % 20 < 10)
            let rise: Float = frame % 10 == 0 ? 1 : 0
            let change = SpectralChange(
                rise: rise, fall: falls * rise, unsuppressedRise: 2 * rise, level: max(low, high), lowLevel: low, highLevel: high)
            likeness.hear(change, activation: 0.1 * rise)
        }
        return likeness.value
    }

    @Test func `speech is where high and low take turns and as much falls as rises`() {
        #expect(likeness(falls: 0.85) { $0 ? (1, 0.01) : (0.05, 0.5) } == 0)
        // What strikes and dies away is none, nor what has high and low together, nor what only glides a little.
        #expect(likeness(falls: 0.65) { $0 ? (1, 0.01) : (0.05, 0.5) } == 1)
        #expect(likeness(falls: 0.85) { $0 ? (1, 0.5) : (0.05, 0.01) } == 1)
        #expect(likeness(falls: 0.85) { _ in (1, 0.1) } == 1)
        for low: Float in [0.2, 0.35, 0.6] {
            #expect(likeness(falls: 0.85) { $0 ? (1, 0) : (low, 0) } == 1)
            #expect(likeness(falls: 0.85) { $0 ? (1, 0.3) : (low, 0.3) } == 1)
        }
        // What falls as it rises is speech, be it on the telephone.
        #expect(likeness(falls: 1) { $0 ? (1, 0) : (0.2, 0) } == 0)
        #expect(likeness(falls: 1) { _ in (0, 0) } == 0)
    }

    @Test func `three even taps are a tempo`() {
        var taps = Taps()
        #expect(taps.add(1) == nil)
        #expect(taps.add(1.5) == nil)
        #expect(taps.add(2) == 120)
        // Another tempo: the first intervals do not fit any more.
        #expect(taps.add(2.2) == nil)
        #expect(taps.add(20) == nil)
        #expect(taps.add(21) == nil)
        #expect(taps.add(22) == 60)
    }

    @Test func `the tempo of a piece is that of most of its beats`() {
        var tally = TempoTally()
        #expect(tally.median.isNaN)
        for _ in 0..<10 { tally.add(120) }
        for _ in 0..<3 { tally.add(61) }
        for _ in 0..<3 { tally.add(239) }
        #expect(abs(tally.median - 120) < 1e-9)
    }

    @Test(arguments: [3, 4])
    func `the bar is found by its bass`(meter: Int) throws {
        var bar = BarTracker()
        for beat in 0..<48 {
            for frame in 0..<50 {
                bar.hear(SpectralChange(rise: 0.1, bassRise: frame == 45 ? beat % meter == 0 ? 1 : 0.2 : 0))
            }
            bar.settle(steps: 1)
        }
        let place = try #require(bar.place(stepsAhead: 1))
        #expect(place.meter == meter)
        #expect(place.position == 48 % meter + 1)
    }
}
