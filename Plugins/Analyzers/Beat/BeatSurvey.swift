#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A whole piece, heard before any answer is due, and its beats.
struct BeatSurvey: Sendable {
    /// How far from a beat its onset is looked for, in seconds.
    private static let tolerance = 0.035
    /// What rises less is nothing, in octaves of amplitude: a way that is looked for through a whole piece finds some use for it.
    private static let leastRise: Float = 0.003
    /// So many beats in a row are a beat, wherever they are: what is spoken evenly goes on less long.
    private static let leastRun = 12
    /// Beats to either side that share an opinion.
    private static let neighbours = 4

    private let space: TempoSpace
    private var level: Activation.Level
    private var likeness: MusicLikeness
    private var activations: [Float] = []
    private var rises: [Float] = []
    private var likenesses: [Float] = []
    private var bass: [Float] = []
    private var firstTime = 0.0
    /// The beats; empty before the piece is over, and where there are none.
    private(set) var beats: [BeatReport] = []

    init(_ space: TempoSpace) {
        self.space = space
        level = Activation.Level(frameSeconds: space.frameSeconds)
        likeness = MusicLikeness(frameSeconds: space.frameSeconds)
    }

    mutating func hear(_ change: SpectralChange, at time: Double) {
        if activations.isEmpty { firstTime = time }
        let activation = level.activation(max(0, change.rise - Self.leastRise))
        likeness.hear(change, activation: activation)
        activations.append(activation)
        rises.append(change.rise)
        likenesses.append(likeness.value)
        bass.append(change.bassRise)
    }

    /// The piece is over.
    mutating func conclude() {
        let steps = BestPath(space, reluctance: space.reluctance()).decode(activations.map(Activation.evidence))
        beats = report(steps)
        activations = []
        rises = []
        likenesses = []
        bass = []
    }

    private func report(_ steps: [BestPath.Step]) -> [BeatReport] {
        let onsets = steps.map { onset(near: $0.frame) }
        let frames = smooth(steps, onsets)
        let chance = meanPeak
        // Beats that nothing has sounded on, before the piece and after it, are none.
        guard let first = onsets.firstIndex(where: { $0.strength > 0.1 }), let last = onsets.lastIndex(where: { $0.strength > 0.1 })
        else { return [] }
        guard last - first >= 2 else { return [] }
        let opinions = (first...last).map { index -> (agreement: Double, plausibility: Double) in
            let near = max(first + 1, index - Self.neighbours)...max(first + 1, min(last - 1, index + Self.neighbours))
            var (hit, miss) = (0.0, 0.0)
            for other in near {
                hit += onsets[other].strength / Double(near.count)
                let (before, after) = (max(first, other - 1), min(last, other + 1))
                // How far the onset lies from the middle of its neighbours: of a steady beat, nowhere.
                miss += abs(onsets[other].frame - (onsets[before].frame + onsets[after].frame) / 2) / Double(near.count)
            }
            let agreement = max(0, min(1, (hit - chance) / max(0.05, 1 - chance)))
            return (
                agreement,
                BeatPlausibility.value(
                    musicLikeness: musicLikeness(at: frames[index]), agreement: agreement, miss: miss * space.frameSeconds)
            )
        }
        let places = BarTracker.places(frames[first...last].map { bassPeak(near: $0) })
        let beats = (first...last).map { index -> BeatReport? in
            let near = max(first, index - Self.neighbours)...min(last, index + Self.neighbours)
            var plausibility = 0.0
            for other in near { plausibility += opinions[other - first].plausibility / Double(near.count) }
            let close = max(first, index - 2)...min(last, index + 2)
            guard plausibility > 0.5, close.count > 1 else { return nil }
            let time = firstTime + frames[index] * space.frameSeconds
            let interval = (frames[close.upperBound] - frames[close.lowerBound]) / Double(close.count - 1)
            guard time >= 0 else { return nil }
            return BeatReport(
                time: time, beatsPerMinute: 60 / (interval * space.frameSeconds),
                confidence: opinions[index - first].agreement * plausibility * plausibility,
                position: places[index - first]?.position, meter: places[index - first]?.meter)
        }
        // Fewer in a row are no beat, unless the piece has hardly more.
        let least = max(2 * Self.neighbours, min(Self.leastRun, beats.count / 2))
        return beats.split { $0 == nil }.filter { $0.count >= least }.flatMap { $0.compactMap(\.self) }
    }

    /// Puts the beats where their onsets are, and takes out the jitter: a parabola through five (A. Savitzky and M. Golay, 1964).
    private func smooth(_ steps: [BestPath.Step], _ onsets: [(frame: Double, strength: Double)]) -> [Double] {
        let raw = steps.indices.map { onsets[$0].strength > 0.25 ? onsets[$0].frame : steps[$0].frame }
        return raw.indices.map { index in
            guard index >= 2, index + 2 < raw.count else { return raw[index] }
            let outer = raw[index - 2] + raw[index + 2]
            let inner = raw[index - 1] + raw[index + 1]
            let value = (17 * raw[index] + 12 * inner - 3 * outer) / 35
            return max(raw[index] - 3, min(raw[index] + 3, value))
        }
    }

    /// The strongest onset near a frame, and how strong it is.
    private func onset(near frame: Double) -> (frame: Double, strength: Double) {
        let reach = max(1, Int((Self.tolerance / space.frameSeconds).rounded()))
        let middle = Int(frame.rounded())
        let window = max(0, middle - reach)...max(0, min(activations.count - 1, middle + reach))
        guard !rises.isEmpty, let best = window.max(by: { rises[$0] < rises[$1] }) else { return (frame, 0) }
        let place = Attack.place(around: best, in: 0...rises.count - 1, frameSeconds: space.frameSeconds) { rises[$0] }
        return (place, Double(activations[best]))
    }

    /// The strongest bass near a frame.
    private func bassPeak(near frame: Double) -> Double {
        let middle = max(0, min(bass.count - 1, Int(frame.rounded())))
        let reach = Int(0.07 / space.frameSeconds)
        return Double(bass[max(0, middle - reach)...min(bass.count - 1, middle + reach)].max() ?? 0)
    }

    /// The mean of the strongest activation around any frame.
    private var meanPeak: Double {
        let reach = max(1, Int((Self.tolerance / space.frameSeconds).rounded()))
        guard activations.count > 2 * reach else { return 1 }
        var sum = 0.0
        for index in reach..<activations.count - reach {
            var peak: Float = 0
            for other in index - reach...index + reach { peak = max(peak, activations[other]) }
            sum += Double(peak)
        }
        return sum / Double(activations.count - 2 * reach)
    }

    /// What has been heard three seconds later says more than what had been then.
    private func musicLikeness(at frame: Double) -> Float {
        let later = Int(frame + 3 / space.frameSeconds)
        return likenesses.isEmpty ? 0 : likenesses[max(0, min(likenesses.count - 1, later))]
    }
}
