import Glibc
import Hemiola
import HemiolaSignal
import HemiolaTesting
import Testing

@testable import BeatAnalyzer

enum PreparedAnalyzer {
    /// A beat analyzer with default settings, prepared for mono at 44.1 kHz.
    static func make() throws -> BeatAnalyzer {
        var problems: [ConfigurationProblem] = []
        let plugin = AnalyzerPlugin.beat
        let values = try #require(plugin.about.values(from: PluginSpec("beat"), path: "beat", problems: &problems))
        let analyzer = try #require(try plugin.make(values) as? BeatAnalyzer)
        _ = try analyzer.prepare(AnalysisFormat(StreamFormat(sampleRate: 44_100, channelCount: 1)))
        return analyzer
    }
}

@Suite struct BeatComponentTests {
    @Test func `the analyzer passes the conformance tests`() throws {
        try AnalyzerConformanceSuite(.beat).run()
    }

    @Test func `BeatStateSpace: neighbouring tempi differ by less than 2 %, and transition probabilities sum to 1`() {
        let space = BeatStateSpace(frameSeconds: 0.01, tempi: 30...240)
        #expect(space.intervals.first == 25)
        #expect(space.intervals.last == 200)
        for (one, next) in zip(space.intervals, space.intervals.dropFirst()) {
            #expect(next > one)
            #expect(next - one == 1 || Double(next) / Double(one) < 1.02)
        }
        #expect(space.count <= 255)
        for from in 0..<space.count {
            var sum: Float = 0
            for to in 0..<space.count where abs(from - to) <= space.transitionReach {
                sum += space.transitions[(from - to + space.transitionReach) * space.laneCount + to]
            }
            #expect(abs(sum - 1) < 1e-4)
        }
    }

    /// Log-likelihood ratios with a beat every `interval` frames.
    private static func pulses(_ interval: Int, frames: Int, first: Int = 7) -> [Float] {
        (0..<frames).map { frame in
            // An onset covers five frames.
            let distance = abs((frame - first + interval / 2) % interval - interval / 2)
            return BeatActivation.logLikelihoodRatio([0.95, 0.4, 0.1][min(distance, 2)] - (distance > 2 ? 0.099 : 0))
        }
    }

    @Test(arguments: [31, 50, 61, 100, 148])
    func `ForwardDecoder and ViterbiDecoder: a pulse gives its interval and beat times`(interval: Int) {
        let space = BeatStateSpace(frameSeconds: 0.01, tempi: 30...240)
        let observations = Self.pulses(interval, frames: 1500)
        var decoder = ForwardDecoder(space)
        for value in observations { decoder.advance(value) }
        let estimate = decoder.estimate
        #expect(abs(estimate.interval / Float(interval) - 1) < 0.02)
        let next = Float(observations.count - 1) + estimate.framesToBeat
        let beats = (next - 7) / Float(interval)
        #expect(abs(beats - beats.rounded()) * Float(interval) < 4)

        let path = ViterbiDecoder(space, tempoPrior: space.tempoPrior()).decode(observations)
        #expect(abs(Double(path.count) - 1500 / Double(interval)) <= 2)
        for beat in path.dropFirst().dropLast() {
            let beats = (beat.frame - 7) / Double(interval)
            #expect(abs(beats - beats.rounded()) * Double(interval) < 4)
        }
    }

    /// Random observations of different strength, with long parts without onsets and one change by a control, so that maxima are
    /// computed again and probabilities are scaled.
    @Test(arguments: [60.0...240, 30...300])
    func `ForwardDecoder: estimates equal those of the textbook algorithm in double precision`(tempi: ClosedRange<Double>) {
        let space = BeatStateSpace(frameSeconds: 0.01, tempi: tempi)
        var decoder = ForwardDecoder(space)
        var reference = ReferenceForwardDecoder(space)
        var random = SeededGenerator(seed: 7)
        var differences = 0
        for frame in 0..<3000 {
            if frame == 1500 {
                let weight = { (interval: Int, age: Double) in exp(-abs(Double(interval) - 60) / 10 - abs(age - 20) / 15) }
                decoder.multiply(by: weight)
                reference.multiply(by: weight)
            }
            let observation = frame % 1000 > 700 ? -0.05 : Float.random(in: -1...1, using: &random) * (frame % 60 < 3 ? 4 : 1)
            decoder.advance(observation)
            let (interval, remaining) = reference.advance(Double(observation))
            let isNear =
                abs(Double(decoder.estimate.interval) - interval) < 0.01 && abs(Double(decoder.estimate.framesToBeat) - remaining) < 0.01
            // If two states are equally likely, single precision may select the other one.
            if !isNear { differences += 1 }
        }
        #expect(differences <= 3)
    }

    @Test func `ForwardDecoder: 50 s of silence leave a valid estimate, and a pulse after it is found`() {
        let space = BeatStateSpace(frameSeconds: 0.01, tempi: 30...240)
        var decoder = ForwardDecoder(space)
        for _ in 0..<5000 { decoder.advance(BeatActivation.logLikelihoodRatio(0.001)) }
        #expect((25...200).contains(decoder.estimate.interval) && (0...220).contains(decoder.estimate.framesToBeat))
        for value in Self.pulses(50, frames: 800) { decoder.advance(value) }
        #expect(abs(decoder.estimate.interval - 50) < 1)
    }

    @Test func `OnsetPeakPicker: reports peaks, not the frame after them or ripples`() {
        var picker = OnsetPeakPicker(frameSeconds: 0.01)
        var found: [Int] = []
        for frame in 0..<400 {
            let value: Float = frame % 50 == 20 ? 0.8 : frame % 50 == 21 ? 0.5 : 0.004 * Float(frame % 3)
            if picker.advance(value) != nil { found.append(frame) }
        }
        #expect(found == Array(stride(from: 20, to: 400, by: 50)))
    }

    @Test func `OnsetTime: a slow attack starts before its centroid`() {
        func time(_ onsetStrengths: [Float]) -> Double {
            let best = onsetStrengths.firstIndex(of: onsetStrengths.max()!)!
            return OnsetTime.time(around: best, in: 0...onsetStrengths.count - 1, frameSeconds: 0.01) { onsetStrengths[$0] }
        }
        let sharp = time([0, 0, 0, 1, 0, 0, 0])
        let slow = time([0, 0, 0.3, 1, 0.9, 0.5, 0])
        #expect(sharp > 3)
        #expect(slow < sharp - 0.5)
        // An attack one frame later gives a time one frame later.
        #expect(abs(time([0, 0, 0, 0, 1, 0, 0]) - sharp - 1) < 1e-9)
    }

    /// The music score after ten seconds in which the levels of low and high bands change every 0.1 s.
    ///
    /// - Parameter decay: Decrease of the spectrum relative to its increase.
    private func musicScore(decay: Float, _ levels: (_ isFirstHalf: Bool) -> (low: Float, high: Float)) -> Float {
        var discriminator = SpeechMusicDiscriminator(frameSeconds: 0.01)
        for frame in 0..<1000 {
            let (low, high) = levels(frame % 20 < 10)
            let increase: Float = frame % 10 == 0 ? 1 : 0
            let difference = SpectralDifference(
                onsetStrength: increase, decrease: decay * increase, unfilteredIncrease: 2 * increase, level: max(low, high), lowLevel: low,
                highLevel: high)
            discriminator.add(difference, activation: 0.1 * increase)
        }
        return discriminator.musicScore
    }

    @Test func `SpeechMusicDiscriminator: alternating bands with symmetric decay are speech, anything else is music`() {
        #expect(musicScore(decay: 0.85) { $0 ? (1, 0.01) : (0.05, 0.5) } == 0)
        // Music: asymmetric decay, correlated bands, constant levels, or a small alternation of the low band.
        #expect(musicScore(decay: 0.65) { $0 ? (1, 0.01) : (0.05, 0.5) } == 1)
        #expect(musicScore(decay: 0.85) { $0 ? (1, 0.5) : (0.05, 0.01) } == 1)
        #expect(musicScore(decay: 0.85) { _ in (1, 0.1) } == 1)
        for low: Float in [0.2, 0.35, 0.6] {
            #expect(musicScore(decay: 0.85) { $0 ? (1, 0) : (low, 0) } == 1)
            #expect(musicScore(decay: 0.85) { $0 ? (1, 0.3) : (low, 0.3) } == 1)
        }
        // Speech: fully symmetric decay, also without high frequencies (telephone).
        #expect(musicScore(decay: 1) { $0 ? (1, 0) : (0.2, 0) } == 0)
        #expect(musicScore(decay: 1) { _ in (0, 0) } == 0)
    }

    @Test func `TapTempo: three even taps give a tempo, an uneven tap or a pause restarts the series`() {
        var taps = TapTempo()
        #expect(taps.add(1) == nil)
        #expect(taps.add(1.5) == nil)
        #expect(taps.add(2) == 120)
        // An interval of 0.2 s differs from those before it.
        #expect(taps.add(2.2) == nil)
        #expect(taps.add(20) == nil)
        #expect(taps.add(21) == nil)
        #expect(taps.add(22) == 60)
    }

    @Test func `TempoHistogram: the median is that of most beats`() {
        var histogram = TempoHistogram()
        #expect(histogram.median.isNaN)
        for _ in 0..<10 { histogram.add(120) }
        for _ in 0..<3 { histogram.add(61) }
        for _ in 0..<3 { histogram.add(239) }
        #expect(abs(histogram.median - 120) < 1e-9)
    }

    @Test(arguments: [3, 4])
    func `BarTracker: the meter follows from the bass accents`(meter: Int) throws {
        var bar = BarTracker()
        for beat in 0..<48 {
            for frame in 0..<50 {
                bar.add(SpectralDifference(onsetStrength: 0.1, bassIncrease: frame == 45 ? beat % meter == 0 ? 1 : 0.2 : 0))
            }
            bar.advance(steps: 1)
        }
        let position = try #require(bar.position(stepsAhead: 1))
        #expect(position.meter == meter)
        #expect(position.position == 48 % meter + 1)
    }
}
