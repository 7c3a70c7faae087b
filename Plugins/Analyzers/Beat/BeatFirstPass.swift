#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The first pass of two-pass analysis (`--whole-file`): collects the observations of the whole stream and then estimates its beats.
struct BeatFirstPass: Sendable {
    /// Half-width of the window around a beat in which its onset is searched, in seconds.
    private static let tolerance = 0.035
    /// Onset strength below this, in octaves of amplitude, is ignored: over a whole stream the Viterbi path would fit even the
    /// faintest fluctuations.
    private static let minimumOnsetStrength: Float = 0.003
    /// Minimum number of consecutive beats: evenly paced speech gives shorter runs.
    private static let minimumRun = 12
    /// Beats on either side over which agreement and gate score are averaged.
    private static let neighbours = 4

    private let space: BeatStateSpace
    private var normalizer: BeatActivation.PeakNormalizer
    private var discriminator: SpeechMusicDiscriminator
    /// One value per frame each.
    private var activations: [Float] = []
    private var onsetStrengths: [Float] = []
    private var musicScores: [Float] = []
    private var bassIncreases: [Float] = []
    private var firstTime = 0.0
    /// The beats of the stream; empty before `finish()`, and if there are none.
    private(set) var beats: [EstimatedBeat] = []

    init(_ space: BeatStateSpace) {
        self.space = space
        normalizer = BeatActivation.PeakNormalizer(frameSeconds: space.frameSeconds)
        discriminator = SpeechMusicDiscriminator(frameSeconds: space.frameSeconds)
    }

    /// Adds a frame.
    mutating func add(_ difference: SpectralDifference, at time: Double) {
        if activations.isEmpty { firstTime = time }
        let activation = normalizer.activation(max(0, difference.onsetStrength - Self.minimumOnsetStrength))
        discriminator.add(difference, activation: activation)
        activations.append(activation)
        onsetStrengths.append(difference.onsetStrength)
        musicScores.append(discriminator.musicScore)
        bassIncreases.append(difference.bassIncrease)
    }

    /// Estimates the beats after the last frame, and releases the observations.
    mutating func finish() {
        let path = ViterbiDecoder(space, tempoPrior: space.tempoPrior()).decode(activations.map(BeatActivation.logLikelihoodRatio))
        beats = estimatedBeats(path)
        activations = []
        onsetStrengths = []
        musicScores = []
        bassIncreases = []
    }

    private func estimatedBeats(_ path: [ViterbiDecoder.Beat]) -> [EstimatedBeat] {
        let onsets = path.map { onset(near: $0.frame) }
        let frames = smoothedFrames(path, onsets)
        let chance = meanMaximumActivation
        // Beats before the first and after the last onset are left out.
        guard let first = onsets.firstIndex(where: { $0.activation > 0.1 }), let last = onsets.lastIndex(where: { $0.activation > 0.1 })
        else { return [] }
        guard last - first >= 2 else { return [] }
        let scores = (first...last).map { index -> (agreement: Double, gate: Double) in
            let near = max(first + 1, index - Self.neighbours)...max(first + 1, min(last - 1, index + Self.neighbours))
            var (activation, error) = (0.0, 0.0)
            for other in near {
                activation += onsets[other].activation / Double(near.count)
                let (before, after) = (max(first, other - 1), min(last, other + 1))
                // Distance of the onset from the midpoint of its neighbours, which is 0 for a steady beat.
                error += abs(onsets[other].frame - (onsets[before].frame + onsets[after].frame) / 2) / Double(near.count)
            }
            let agreement = max(0, min(1, (activation - chance) / max(0.05, 1 - chance)))
            return (
                agreement,
                BeatGate.score(
                    musicScore: musicScore(at: frames[index]), agreement: agreement, predictionError: error * space.frameSeconds)
            )
        }
        let positions = BarTracker.positions(frames[first...last].map { maximumBass(near: $0) })
        let beats = (first...last).map { index -> EstimatedBeat? in
            let near = max(first, index - Self.neighbours)...min(last, index + Self.neighbours)
            var gate = 0.0
            for other in near { gate += scores[other - first].gate / Double(near.count) }
            let close = max(first, index - 2)...min(last, index + 2)
            guard gate > 0.5, close.count > 1 else { return nil }
            let time = firstTime + frames[index] * space.frameSeconds
            let interval = (frames[close.upperBound] - frames[close.lowerBound]) / Double(close.count - 1)
            guard time >= 0 else { return nil }
            return EstimatedBeat(
                time: time, beatsPerMinute: 60 / (interval * space.frameSeconds),
                confidence: scores[index - first].agreement * gate * gate,
                position: positions[index - first]?.position, meter: positions[index - first]?.meter)
        }
        // Shorter runs are dropped. In a short stream the minimum is half of its beats.
        let minimumCount = max(2 * Self.neighbours, min(Self.minimumRun, beats.count / 2))
        return beats.split { $0 == nil }.filter { $0.count >= minimumCount }.flatMap { $0.compactMap(\.self) }
    }

    /// Moves the beats to their onsets and smooths their times by a quadratic polynomial through five points (A. Savitzky and
    /// M. Golay, 1964).
    private func smoothedFrames(_ path: [ViterbiDecoder.Beat], _ onsets: [(frame: Double, activation: Double)]) -> [Double] {
        let raw = path.indices.map { onsets[$0].activation > 0.25 ? onsets[$0].frame : path[$0].frame }
        return raw.indices.map { index in
            guard index >= 2, index + 2 < raw.count else { return raw[index] }
            let outer = raw[index - 2] + raw[index + 2]
            let inner = raw[index - 1] + raw[index + 1]
            let value = (17 * raw[index] + 12 * inner - 3 * outer) / 35
            return max(raw[index] - 3, min(raw[index] + 3, value))
        }
    }

    /// The time of the strongest onset near a frame, in frames, and its activation.
    private func onset(near frame: Double) -> (frame: Double, activation: Double) {
        let radius = max(1, Int((Self.tolerance / space.frameSeconds).rounded()))
        let middle = Int(frame.rounded())
        let window = max(0, middle - radius)...max(0, min(activations.count - 1, middle + radius))
        guard !onsetStrengths.isEmpty, let best = window.max(by: { onsetStrengths[$0] < onsetStrengths[$1] }) else { return (frame, 0) }
        let time = OnsetTime.time(around: best, in: 0...onsetStrengths.count - 1, frameSeconds: space.frameSeconds) {
            onsetStrengths[$0]
        }
        return (time, Double(activations[best]))
    }

    /// The largest bass increase near a frame.
    private func maximumBass(near frame: Double) -> Double {
        let middle = max(0, min(bassIncreases.count - 1, Int(frame.rounded())))
        let radius = Int(0.07 / space.frameSeconds)
        return Double(bassIncreases[max(0, middle - radius)...min(bassIncreases.count - 1, middle + radius)].max() ?? 0)
    }

    /// The mean over all frames of the largest activation around the frame: the agreement expected by chance.
    private var meanMaximumActivation: Double {
        let radius = max(1, Int((Self.tolerance / space.frameSeconds).rounded()))
        guard activations.count > 2 * radius else { return 1 }
        var sum = 0.0
        for index in radius..<activations.count - radius {
            var maximum: Float = 0
            for other in index - radius...index + radius { maximum = max(maximum, activations[other]) }
            sum += Double(maximum)
        }
        return sum / Double(activations.count - 2 * radius)
    }

    /// The music score three seconds after a frame: its exponential window then includes the signal on both sides of the frame.
    private func musicScore(at frame: Double) -> Float {
        let later = Int(frame + 3 / space.frameSeconds)
        return musicScores.isEmpty ? 0 : musicScores[max(0, min(musicScores.count - 1, later))]
    }
}
