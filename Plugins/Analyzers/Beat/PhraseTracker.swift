internal import Glibc

/// A bar within a phrase.
struct PhrasePlace: Sendable {
    /// 1 is the first bar.
    var bar: Int
    /// The bars of the phrase: 4, 8 or 16.
    var length: Int
    /// The probability that the next phrase begins after the rest of this one.
    var confidence: Double
}

/// Counts the bars of phrases of 4, 8 and 16 bars of four beats.
///
/// A hidden Markov model, one level above `BarTracker`: its states are the beats of 16 bars, with one step per beat. It has bars of its own:
/// in music whose bars `BarTracker` misses, changes tell where they begin.
struct PhraseTracker: Sendable {
    private static let beatsPerBar = 4
    private static let stateCount = 16 * beatsPerBar
    /// The lengths of phrases, in bars, and how much evidence counts where such a phrase begins: longer ones begin with larger changes.
    private static let lengths = [4, 8, 16]
    private static let weights = [0.6, 0.8, 1]
    /// Probability per beat that a phrase ends early, or that a beat was missed or inserted.
    private static let resetProbability = 0.002
    /// Below this confidence the place is unknown.
    private static let minimumConfidence = 0.3
    /// The confidence that a phrase of more than four bars needs; of two places, one of which is right, each has half.
    private static let sufficientConfidence = 0.6
    /// A pause of this number of beats ends a phrase.
    private static let longestPause = 3.0
    /// Frames that are kept for live analysis: more than three of the slowest beats.
    private static let keptFrames = 1024
    /// The beats from the latest one whose evidence is known to the one that is announced: the last beat that is over is two before it.
    private static let delay = PhraseEvidence.delay + 2
    /// The state probabilities before the first beat.
    private static let start = Array(repeating: 1 / Double(stateCount), count: stateCount)

    private var evidence = PhraseEvidence(capacity: keptFrames)
    /// The state probabilities of the latest beat whose evidence is known, and those of the beat that is announced.
    private var probabilities = start
    private var ahead = start
    /// Whether any evidence is known.
    private var hasEvidence = false
    /// The last two beats, in frames; nil: there is none.
    private var lastBeats: (earlier: Double, last: Double)?

    /// Adds a frame.
    mutating func add(_ filter: borrowing BandFilter) {
        evidence.add(filter)
    }

    /// Starts anew, after a gap.
    mutating func reset() {
        evidence.forgetBeats()
        for state in 0..<Self.stateCount { probabilities[state] = Self.start[state] }
        (hasEvidence, lastBeats) = (false, nil)
    }

    /// Processes a beat, which may be ahead by up to its own length.
    ///
    /// - Parameter ahead: The frames from the latest frame to the beat.
    /// - Returns: The bar that begins with the beat; nil if none does, or if it is unknown.
    mutating func advance(ahead: Double) -> PhrasePlace? {
        let beat = Double(evidence.frameCount - 1) + ahead
        guard let (earlier, last) = lastBeats else {
            lastBeats = (beat, beat)
            return nil
        }
        if last > earlier {
            if beat - last > Self.longestPause * (last - earlier) {
                reset()
                lastBeats = (beat, beat)
                return nil
            }
            // The sound of the beat before may not be over.
            if let evidence = evidence.addBeat(from: earlier, to: last) {
                if hasEvidence { Self.predict(&probabilities) }
                Self.observe(evidence, &probabilities)
                hasEvidence = true
            }
        }
        lastBeats = (last, beat)
        guard hasEvidence else { return nil }
        for state in 0..<Self.stateCount { self.ahead[state] = probabilities[state] }
        for _ in 0..<Self.delay { Self.predict(&self.ahead) }
        return Self.place(self.ahead)
    }

    /// The bars that begin with the beats of a recording, by the forward-backward algorithm.
    ///
    /// - Parameters:
    ///   - beats: In frames, in order.
    ///   - evidence: That has all frames.
    /// - Returns: For each beat; nil if no bar begins, or if it is unknown.
    static func places(_ beats: [Double], _ evidence: PhraseEvidence) -> [PhrasePlace?] {
        guard beats.count > 1 else { return beats.map { _ in nil } }
        var evidence = evidence
        var found: [Double] = []
        for (beat, next) in zip(beats, beats.dropFirst()) { if let value = evidence.addBeat(from: beat, to: next) { found.append(value) } }
        return places(found + Array(repeating: 0, count: beats.count - found.count))
    }

    /// As ``places(_:_:)``, of the evidence of the beats.
    static func places(_ evidence: [Double]) -> [PhrasePlace?] {
        var forward: [[Float]] = []
        var probabilities = start
        for value in evidence {
            if !forward.isEmpty { predict(&probabilities) }
            observe(value, &probabilities)
            forward.append(probabilities.map(Float.init))
        }
        // The likelihood of all that follows a beat, for each of its states.
        var later = start.map { _ in 1.0 }
        var places: [PhrasePlace?] = []
        for index in evidence.indices.reversed() {
            for state in 0..<stateCount { probabilities[state] = Double(forward[index][state]) * later[state] }
            normalize(&probabilities)
            places.append(place(probabilities))
            weigh(evidence[index], &later)
            normalize(&later)
            let first = later[0]
            for state in 0..<stateCount {
                let next = state + 1 < stateCount ? later[state + 1] : first
                later[state] = (1 - resetProbability) * next + resetProbability / Double(stateCount)
            }
        }
        return places.reversed()
    }

    /// The prediction step: each beat is followed by the next one.
    private static func predict(_ probabilities: inout [Double]) {
        let last = probabilities[stateCount - 1]
        for state in (0..<stateCount).reversed() {
            let before = state > 0 ? probabilities[state - 1] : last
            probabilities[state] = (1 - resetProbability) * before + resetProbability / Double(stateCount)
        }
    }

    private static func observe(_ evidence: Double, _ probabilities: inout [Double]) {
        weigh(evidence, &probabilities)
        normalize(&probabilities)
    }

    /// Multiplies the states with which a phrase begins by the likelihood of the evidence.
    private static func weigh(_ evidence: Double, _ values: inout [Double]) {
        for state in stride(from: 0, to: stateCount, by: lengths[0] * beatsPerBar) {
            var weight = 0.0
            for index in lengths.indices where state % (lengths[index] * beatsPerBar) == 0 { weight = weights[index] }
            values[state] *= exp(weight * evidence)
        }
    }

    private static func normalize(_ values: inout [Double]) {
        let sum = values.reduce(0, +)
        for state in 0..<stateCount { values[state] /= sum }
    }

    /// The longest phrase that is sufficiently probable.
    private static func place(_ probabilities: [Double]) -> PhrasePlace? {
        var best = 0
        for state in 1..<stateCount where probabilities[state] > probabilities[best] { best = state }
        guard best % beatsPerBar == 0 else { return nil }
        var place: PhrasePlace?
        for length in lengths {
            let beats = length * beatsPerBar
            var confidence = 0.0
            for state in stride(from: best % beats, to: stateCount, by: beats) { confidence += probabilities[state] }
            if confidence >= (length == lengths[0] ? minimumConfidence : sufficientConfidence) {
                place = PhrasePlace(bar: best / beatsPerBar % length + 1, length: length, confidence: min(1, confidence))
            }
        }
        return place
    }
}
