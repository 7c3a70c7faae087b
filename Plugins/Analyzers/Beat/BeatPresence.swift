internal import Glibc
internal import HemiolaSignal

/// Whether there are beats: the probabilities of two chains of two states each, beats and none, with different evidence.
///
/// *Regularity*: how well the tempo model predicts the activations (`ForwardDecoder.evidence`): about 0.1 nats a frame in steady music, and
/// about 0 in speech, noise, applause and held chords. *Activity*: the network's largest beat probability in the last two seconds, which
/// expressive music has without being regular.
struct BeatPresence: Sendable {
    /// Length of the window of the maximum, in seconds: the longest beat interval of the default tempo range.
    static let windowSeconds = 2.0
    /// A maximum above this is evidence of beats, one below it against them: the geometric mean of the medians for speech (0.17) and
    /// for music (0.75) that was not trained on.
    private static let threshold: Float = 0.3
    /// The same for activity while the audio arrives. It is higher, because regularity finds steady music: with 0.3 there are more false
    /// beats in speech, and music gains nothing.
    private static let activityThreshold: Float = 0.43
    /// Power of the evidence of one frame. It is small, because neighbouring frames share their maximum.
    private static let weight: Float = 0.04
    /// The same in the chain of regularity, where it decides only between speech and music that is hardly regular.
    private static let regularityWeight: Float = 0.01
    /// Evidence of the tempo model above this many nats a frame is for beats, and its power. With 0.03, the first beats come earlier, and
    /// there are more false beats in speech.
    private static let leastEvidence: Float = 0.04
    private static let evidenceWeight: Float = 0.5
    /// Least maximum: no window is certain.
    private static let least: Float = 1e-3
    /// Probability per frame that beats begin or end.
    private static let change: Float = 1e-4

    /// The probability of beats at the start of a stream.
    private static let initial: Float = 0.01

    /// The posterior probabilities of beats by the two kinds of evidence, 0…1.
    private(set) var regularity = Self.initial
    private(set) var activity = Self.initial
    private var recent: [Float]
    private var next = 0
    /// The maximum of the window, and the factors of the odds for it: the maximum seldom changes.
    private var maximum: Float = 0
    private var odds = Self.odds(0, threshold: Self.activityThreshold, weight: Self.weight)
    private var regularityOdds = Self.odds(0, threshold: Self.threshold, weight: Self.regularityWeight)

    init(frameSeconds: Double) {
        // A multiple of eight, filled with zeros.
        recent = Array(repeating: 0, count: Int(Self.windowSeconds / frameSeconds + 7) & ~7)
    }

    /// Processes the network's beat probability of the next frame, and the evidence of the tempo model (`ForwardDecoder.evidence`).
    /// O(window / 8).
    mutating func advance(_ beat: Float, evidence: Float) {
        recent[next] = beat
        next = next + 1 == recent.count ? 0 : next + 1
        let maximum = recent.withUnsafeBufferPointer { recent in
            var maximum = Lanes.zero
            for index in stride(from: 0, to: recent.count, by: 8) { maximum = maximum.maximum(with: recent.lanes(index)) }
            return maximum.max()
        }
        if maximum != self.maximum {
            self.maximum = maximum
            odds = Self.odds(maximum, threshold: Self.activityThreshold, weight: Self.weight)
            regularityOdds = Self.odds(maximum, threshold: Self.threshold, weight: Self.regularityWeight)
        }
        activity = Self.updated(activity, odds)
        regularity = Self.updated(regularity, regularityOdds * exp(Self.evidenceWeight * (evidence - Self.leastEvidence)))
    }

    /// Returns to the initial state.
    mutating func reset() {
        for index in recent.indices { recent[index] = 0 }
        (activity, regularity) = (Self.initial, Self.initial)
    }

    /// The factor of the odds of beats for a maximum of the window.
    private static func odds(_ maximum: Float, threshold: Float, weight: Float) -> Float {
        pow(max(maximum, least) / threshold, weight)
    }

    private static func updated(_ probability: Float, _ odds: Float) -> Float {
        let prior = probability + change * (1 - 2 * probability)
        return prior * odds / (prior * odds + 1 - prior)
    }

    /// The posterior probability of beats at each frame of a recording, from all its frames: the forward-backward algorithm. The
    /// window of the maximum lies around each frame.
    static func smoothed(_ beats: [Float], frameSeconds: Double) -> [Float] {
        let radius = Int(windowSeconds / frameSeconds / 2)
        let maxima = slidingMaximum(beats, radius: radius)
        var (forward, probability) = ([Float](), initial)
        forward.reserveCapacity(maxima.count)
        for maximum in maxima {
            probability = updated(probability, odds(maximum, threshold: threshold, weight: weight))
            forward.append(probability)
        }
        // The evidence of the frames after each frame.
        var later: Float = 0.5
        for index in maxima.indices.reversed() {
            let prior = later + change * (1 - 2 * later)
            let (both, neither) = (forward[index] * prior, (1 - forward[index]) * (1 - prior))
            forward[index] = both / (both + neither)
            later = updated(later, odds(maxima[index], threshold: threshold, weight: weight))
        }
        return forward
    }

    /// The maximum within `radius` of each value, in O(count): the indices of decreasing values wait in a queue.
    private static func slidingMaximum(_ values: [Float], radius: Int) -> [Float] {
        var (queue, first, result) = ([Int](), 0, [Float]())
        result.reserveCapacity(values.count)
        for index in 0..<values.count + radius {
            if index < values.count {
                while queue.count > first, values[queue[queue.count - 1]] <= values[index] { queue.removeLast() }
                queue.append(index)
            }
            guard index >= radius else { continue }
            while queue[first] < index - 2 * radius { first += 1 }
            result.append(values[queue[first]])
        }
        return result
    }
}
