import Glibc
import Hemiola
import HemiolaTesting
import Testing

@testable import BeatAnalyzer

enum PreparedAnalyzer {
    /// A beat analyzer with default settings, prepared for mono at 44.1 kHz.
    static func make() throws -> BeatAnalyzer {
        var problems: [Problem] = []
        let plugin = AnalyzerPlugin.beat
        let values = try #require(plugin.about.values(from: PluginSpec("beat"), problems: &problems))
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

    /// Activations with a beat every `interval` frames.
    private static func pulses(_ interval: Int, frames: Int, first: Int = 7) -> [Float] {
        (0..<frames).map { frame in
            let distance = abs((frame - first + interval / 2) % interval - interval / 2)
            return [0.9, 0.4, 0.005][min(distance, 2)]
        }
    }

    @Test(arguments: [31, 50, 61, 100])
    func `ForwardDecoder and ViterbiDecoder: a pulse gives its interval and beat times`(interval: Int) {
        let space = BeatStateSpace(frameSeconds: 0.01, tempi: 30...240)
        let activations = Self.pulses(interval, frames: 1500)
        var decoder = ForwardDecoder(space)
        for value in activations { decoder.advance(BeatStateSpace.likelihoodRatio(value)) }
        let estimate = decoder.estimate
        #expect(abs(estimate.interval / Float(interval) - 1) < 0.02)
        #expect(estimate.probability > 0.9 && estimate.probability <= 1)
        let next = Float(activations.count - 1) + estimate.framesToBeat
        let beats = (next - 7) / Float(interval)
        #expect(abs(beats - beats.rounded()) * Float(interval) < 4)
        let hypotheses = decoder.hypotheses()
        #expect(abs(hypotheses.intervals[0] / Float(interval) - 1) < 0.02)
        #expect(hypotheses.weights[0] > 0.9)
        #expect(hypotheses.weights[1] <= hypotheses.weights[0] && hypotheses.weights[2] <= hypotheses.weights[1])

        let path = ViterbiDecoder(space, tempoPrior: space.tempoPrior()).decode(activations)
        #expect(abs(Double(path.count) - 1500 / Double(interval)) <= 2)
        for beat in path.dropFirst().dropLast() {
            let middle = Double(beat.frames.lowerBound + beat.frames.upperBound - 1) / 2
            let beats = (middle - 7) / Double(interval)
            #expect(abs(beats - beats.rounded()) * Double(interval) < 4)
        }
    }

    @Test func `hypotheses: a pulse with weak beats between strong ones has two tempi, an octave apart`() {
        let space = BeatStateSpace(frameSeconds: 0.01, tempi: 30...240)
        var decoder = ForwardDecoder(space)
        for frame in 0..<1000 {
            let activation: Float = frame % 100 == 7 ? 0.7 : frame % 100 == 57 ? 0.052 : 0.02
            decoder.advance(BeatStateSpace.likelihoodRatio(activation))
        }
        let hypotheses = decoder.hypotheses()
        let intervals = [hypotheses.intervals[0], hypotheses.intervals[1]].sorted()
        #expect(abs(intervals[0] - 50) < 2 && abs(intervals[1] - 100) < 4, "\(hypotheses)")
        #expect(hypotheses.weights[1] > 0)
        #expect(hypotheses.weights.sum() <= 1.0001)
    }

    /// Random observations of different strength, with long parts without onsets and one change by a control, so that maxima are
    /// computed again and probabilities are scaled.
    @Test(arguments: [60.0...240, 30...300])
    func `ForwardDecoder: estimates equal those of the textbook algorithm in double precision`(tempi: ClosedRange<Double>) {
        let space = BeatStateSpace(frameSeconds: 0.01, tempi: tempi)
        var decoder = ForwardDecoder(space)
        var reference = ReferenceForwardDecoder(space)
        var random = SplitMix64(seed: 7)
        var differences = 0
        for frame in 0..<3000 {
            if frame == 1500 {
                let weight = { (interval: Int, age: Double) in exp(-abs(Double(interval) - 60) / 10 - abs(age - 20) / 15) }
                decoder.multiply(by: weight)
                reference.multiply(by: weight)
            }
            let observation = exp(frame % 1000 > 700 ? -0.05 : Float.random(in: -1...1, using: &random) * (frame % 60 < 3 ? 4 : 1))
            decoder.advance(observation)
            let (interval, remaining, probability) = reference.advance(Double(observation))
            let isNear =
                abs(Double(decoder.estimate.interval) - interval) < 0.01 && abs(Double(decoder.estimate.framesToBeat) - remaining) < 0.01
            // If two states are equally likely, single precision may select the other one.
            let isAsLikely = abs(Double(decoder.estimate.probability) - probability) < 1e-3
            if !isNear || !isAsLikely { differences += 1 }
            #expect(abs(Double(decoder.evidence) - reference.evidence) < 1e-3)
        }
        #expect(differences <= 3)
    }

    @Test func `ForwardDecoder: the evidence is positive for a pulse, not for random activations, and 0 where frames were lost`() {
        let space = BeatStateSpace(frameSeconds: 0.01, tempi: 30...240)
        var random = SplitMix64(seed: 3)
        let times = Set((0..<60).map { _ in Int.random(in: 0..<3000, using: &random) })
        var (pulse, strokes) = (ForwardDecoder(space), ForwardDecoder(space))
        var (regular, irregular): (Float, Float) = (0, 0)
        for (frame, beat) in Self.pulses(50, frames: 3000).enumerated() {
            pulse.advance(BeatStateSpace.likelihoodRatio(beat))
            strokes.advance(BeatStateSpace.likelihoodRatio(times.contains(frame) ? 0.9 : 0.005))
            if frame >= 300 { (regular, irregular) = (regular + pulse.evidence, irregular + strokes.evidence) }
        }
        #expect(regular / 2700 > 0.08)
        #expect(irregular / 2700 < 0.02)
        pulse.advance(1)
        #expect(pulse.evidence == 0)
    }

    @Test func `ForwardDecoder: 50 s of silence leave a valid estimate, and a pulse after it is found`() {
        let space = BeatStateSpace(frameSeconds: 0.01, tempi: 30...240)
        var decoder = ForwardDecoder(space)
        for _ in 0..<5000 { decoder.advance(BeatStateSpace.likelihoodRatio(0.001)) }
        #expect((25...200).contains(decoder.estimate.interval) && (0...220).contains(decoder.estimate.framesToBeat))
        for value in Self.pulses(50, frames: 800) { decoder.advance(BeatStateSpace.likelihoodRatio(value)) }
        #expect(abs(decoder.estimate.interval - 50) < 1)
    }

    @Test func `OnsetPeakPicker: reports peaks, not the frame after them or weak ones`() {
        var picker = OnsetPeakPicker(frameSeconds: 0.01)
        let activations: [Float] = (0..<400).map { frame in
            if frame % 50 == 20 { return 0.8 }
            return frame % 50 == 21 ? 0.5 : 0.04 * Float(frame % 3)
        }
        var found: [Int] = []
        for (frame, activation) in activations.enumerated() {
            if let strength = picker.advance(activation, strength: 2 * activation) {
                found.append(frame)
                #expect(abs(strength - 1) < 1e-5)
            }
        }
        #expect(found == Array(stride(from: 20, to: 400, by: 50)))
        #expect(OnsetPeakPicker.onsets(activations, frameSeconds: 0.01) == found)
    }

    @Test func `OnsetPeakPicker: of two onsets within 30 ms, live the first one counts, in a whole file the stronger one`() {
        var picker = OnsetPeakPicker(frameSeconds: 0.01)
        let activations: [Float] = [0, 0, 0.4, 0.1, 0.9, 0.1, 0, 0, 0]
        #expect(activations.indices.filter { picker.advance(activations[$0], strength: 1) != nil } == [2])
        #expect(OnsetPeakPicker.onsets(activations, frameSeconds: 0.01) == [4])
        #expect(OnsetPeakPicker.onsets([], frameSeconds: 0.01).isEmpty)
    }

    @Test func `OnsetPeakPicker, whole file: the weak second stroke of a flam is an onset, a shoulder or a late weak peak is none`() {
        func onsets(_ peaks: [Int: Float], floor: Float = 0) -> [Int] {
            OnsetPeakPicker.onsets((0..<60).map { peaks[$0] ?? floor }, frameSeconds: 0.01)
        }
        #expect(onsets([10: 0.9, 16: 0.15]) == [10, 16])
        #expect(onsets([10: 0.9, 20: 0.15]) == [10, 20])
        #expect(onsets([10: 0.9, 21: 0.15]) == [10])
        #expect(onsets([10: 0.9, 16: 0.15], floor: 0.08) == [10])
        #expect(onsets([10: 0.15, 16: 0.15]).isEmpty)
    }

    @Test func `RecentActivations: the peak has the time of the activations' centroid, and the downbeat's share`() {
        var recent = RecentActivations(frameSeconds: 0.01)
        for frame in 0..<40 {
            var output = BeatNetwork.Output()
            // The centroid of 0.4, 0.8, 0.8 around frame 30 is 30.2.
            output.beat = [29: 0.4, 30: 0.8, 31: 0.8][frame] ?? 0
            output.networkBeat = output.beat
            output.downbeat = frame == 30 ? 0.6 : 0
            recent.add(output, at: Double(frame) / 100)
        }
        let peak = recent.peak(near: 0.28)
        #expect(abs(peak.time - 0.302) < 1e-6)
        #expect(abs(peak.activation - 0.8) < 1e-6)
        #expect(abs(peak.downbeatShare - 0.75) < 1e-6)
        // Beyond the tolerance of 35 ms there is no peak.
        #expect(recent.peak(near: 0.2).activation == 0)
    }

    @Test func `SteadyBeat: beats at 0.437 s with an error of 5 ms give the period within 1 ms`() {
        var steady = SteadyBeat()
        #expect(steady.refine(next: 1, period: 0.44).period == 0.44)
        for beat in 0..<20 {
            let time = 0.437 * Double(beat)
            steady.add(time + (beat.isMultiple(of: 2) ? 0.005 : -0.005), activation: 0.9, estimate: time, period: 0.44)
        }
        let refined = steady.refine(next: 0.437 * 20 + 0.004, period: 0.44)
        #expect(abs(refined.period - 0.437) < 0.001)
        #expect(abs(refined.next - 0.437 * 20) < 0.005)
        // An estimate with another tempo or phase is left as it is.
        #expect(steady.refine(next: 9, period: 0.7).period == 0.7)
        #expect(steady.refine(next: 0.437 * 20 + 0.1, period: 0.44).next == 0.437 * 20 + 0.1)
    }

    @Test func `BeatPresence: rises with beats or evidence, falls without them, and equals the definition`() {
        var presence = BeatPresence(frameSeconds: 0.01)
        let beats = (0..<3000).map { $0 < 1500 && $0 % 50 == 0 ? Float(0.7) : 0.01 }
        let evidence = (0..<3000).map { $0 < 1000 ? Float(-0.02) : $0 < 2000 ? 0.11 : $0 % 3 == 0 ? -0.1 : 0.01 }
        var (activity, regularity): ([Float], [Float]) = ([], [])
        for (value, evidence) in zip(beats, evidence) {
            presence.advance(value, evidence: evidence)
            activity.append(presence.activity)
            regularity.append(presence.regularity)
        }
        #expect(activity[900] > 0.9 && activity[2990] < 0.05)
        #expect(regularity[990] < 0.3 && regularity[1400] > 0.95 && regularity[2990] < 0.05)
        // The definition in double precision: chains of two states, and the largest value of the last two seconds.
        func updated(_ probability: Double, _ odds: Double) -> Double {
            let prior = probability * 0.9999 + (1 - probability) * 0.0001
            return prior * odds / (prior * odds + 1 - prior)
        }
        var expected = (activity: 0.01, regularity: 0.01)
        for frame in beats.indices {
            let maximum = Double(beats[max(0, frame - 199)...frame].max()!)
            expected.activity = updated(expected.activity, pow(maximum / 0.43, 0.04))
            expected.regularity = updated(expected.regularity, pow(maximum / 0.3, 0.01) * exp(0.5 * (Double(evidence[frame]) - 0.04)))
            #expect(abs(Double(activity[frame]) - expected.activity) < 1e-3)
            #expect(abs(Double(regularity[frame]) - expected.regularity) < 1e-3)
        }
        let smoothed = BeatPresence.smoothed(beats, frameSeconds: 0.01)
        #expect(smoothed.count == beats.count)
        #expect(smoothed[700] > 0.9 && smoothed[2500] < 0.1)
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

    @Test(arguments: [3, 4])
    func `BarTracker: the meter follows from the downbeats, also backward`(meter: Int) throws {
        var bar = BarTracker()
        let shares = (0..<48).map { $0 % meter == 1 ? 0.7 : 0.1 }
        for share in shares { bar.advance(steps: 1, share: share) }
        let position = try #require(bar.position(stepsAhead: 1))
        #expect(position.meter == meter)
        #expect(position.position == (48 - 1) % meter + 1)
        for (beat, position) in BarTracker.positions(shares, chordChanges: shares.map { _ in false }).enumerated() {
            let position = try #require(position)
            #expect(position.meter == meter)
            #expect(position.position == (beat - 1 + meter) % meter + 1)
        }
    }

    @Test func `BeatCertainty: beats that the network marks alike are surer than every second one, and than weak ones`() {
        let (steady, alternating) = (BeatCertainty.certainties([0.9, 0.9, 0.9, 0.9]), BeatCertainty.certainties([0.9, 0.3, 0.9, 0.3]))
        let weak = BeatCertainty.certainties([0.2, 0.2, 0.2, 0.2])
        #expect(steady.allSatisfy { $0 > 0.95 } && alternating.allSatisfy { $0 < 0.8 } && weak.allSatisfy { $0 < 0.8 })
        #expect(BeatCertainty.certainties([]) == [] && BeatCertainty.certainties([0]).allSatisfy { 0..<0.3 ~= $0 })
    }

    @Test func `ChordChanges: where a chord begins that lasts, as the one before`() {
        var filter = BandFilter()
        var harmony = ChordChanges(filter.centers)
        let classes = filter.centers.map { Int((12 * log2($0 / 440)).rounded() + 120) % 12 }
        // Chords of four beats of half a second, with a passing one in the fourth beat.
        let roots = [0, 0, 0, 2, 5, 5, 5, 5, 7, 7, 7, 7, 0, 0, 0, 0]
        for root in roots {
            let chord = [root, (root + 4) % 12, (root + 7) % 12]
            let amplitudes: [Float] = classes.map { chord.contains($0) ? 0.1 : 0.005 }
            for _ in 0..<50 {
                filter.advance(amplitudes: amplitudes.span)
                harmony.add(filter)
            }
        }
        let changes = harmony.changes(at: (0..<16).map { 50 * $0 })
        #expect(changes.indices.filter { changes[$0] } == [8, 12])
        #expect(harmony.changes(at: [0]) == [false])
        #expect(ChordChanges(filter.centers).changes(at: [0, 50, 100]) == [false, false, false])
    }
}
