internal import Glibc
internal import HemiolaSignal

/// The pitch of a frame.
struct DecodedPitch: Sendable, Equatable {
    /// In hertz; nil: unvoiced.
    var frequency: Float?
    /// The probability that the frame is voiced, from this frame alone, 0…1.
    var voicing: Float
    /// The mean square of the frame.
    var power: Float

    static let unvoiced = DecodedPitch(frequency: nil, voicing: 0, power: 0)
}

/// The most probable sequence of pitches: the Viterbi algorithm for a hidden Markov model with a voiced state for each fifth of a semitone
/// and an unvoiced state, as in pYIN.
///
/// The path is decoded a number of frames behind the newest frame. Memory is constant.
///
/// - Complexity: O(states · band) per frame, and O(delay) per decoded frame; no allocation after `init`.
final class PitchDecoder {
    /// States per octave.
    private static let statesPerOctave = 60.0
    /// The largest change of the pitch, in octaves per second.
    private static let fastestChange = 20.0
    /// The log probability of a change between voiced and unvoiced from one frame to the next: 1 %, as in pYIN.
    private static let switching: Float = -4.6
    /// The log probability of a voiced state without a candidate.
    private static let missing: Float = -9
    /// The log probability of the unvoiced state for a frame that is certainly unvoiced. Chosen on synthesised voices.
    private static let unvoicedLevel: Float = -3
    /// An impossible score.
    private static let never: Float = -1e30

    /// What is stored of a frame.
    private struct Frame {
        var places = InlineArray<12, Float>(repeating: 0)
        var probabilities = InlineArray<12, Float>(repeating: 0)
        var count = 0
        var voicing: Float = 0
        var power: Float = 0
        /// The state before the unvoiced state; -1: the unvoiced state.
        var beforeUnvoiced = -1
    }

    /// Frames that the decoder stores.
    private let capacity: Int
    private let lowest: Float
    private let stateCount: Int
    private let band: Int
    private let rowLength: Int
    // Unsafe pointers: the buffers of the hot path, allocated once, indexed without exclusivity checks.
    /// The scores of the voiced states, between `band` impossible ones at either end.
    private let scores: UnsafeMutablePointer<Float>
    private let nextScores: UnsafeMutablePointer<Float>
    /// The log probabilities of a change of the pitch.
    private let transitions: UnsafeMutablePointer<Float>
    /// The offset of the state before each voiced state, for each stored frame; -1: the unvoiced state.
    private let before: UnsafeMutablePointer<Int8>
    private let frames: UnsafeMutablePointer<Frame>
    /// The states of the decoded path; -1: unvoiced.
    private let path: UnsafeMutablePointer<Int32>
    private var unvoicedScore: Float = 0
    /// The number of frames so far.
    private(set) var frameCount = 0

    /// - Parameters:
    ///   - frequencies: The range of pitches, in hertz.
    ///   - capacity: The number of frames to store: the longest delay plus one.
    init(_ frequencies: ClosedRange<Double>, hopSeconds: Double, capacity: Int) {
        self.capacity = capacity
        lowest = Float(log2(frequencies.lowerBound))
        let octaves = log2(frequencies.upperBound / frequencies.lowerBound)
        stateCount = (Int((octaves * Self.statesPerOctave).rounded(.up)) + 1 + 7) / 8 * 8
        band = Int((Self.fastestChange * hopSeconds * Self.statesPerOctave).rounded())
        rowLength = stateCount + 2 * band + 8
        func buffer(_ count: Int) -> UnsafeMutablePointer<Float> {
            let pointer = UnsafeMutablePointer<Float>.allocate(capacity: count)
            pointer.initialize(repeating: Self.never, count: count)
            return pointer
        }
        scores = buffer(rowLength)
        nextScores = buffer(rowLength)
        transitions = buffer(2 * band + 1)
        // A triangular distribution, relative to its maximum, as in pYIN.
        for offset in 0...2 * band { transitions[offset] = logf(1 - Float(abs(offset - band)) / Float(band + 1)) }
        before = .allocate(capacity: capacity * stateCount)
        before.initialize(repeating: -1, count: capacity * stateCount)
        frames = .allocate(capacity: capacity)
        frames.initialize(repeating: Frame(), count: capacity)
        path = .allocate(capacity: capacity)
        path.initialize(repeating: -1, count: capacity)
        reset()
    }

    deinit {
        for pointer in [scores, nextScores, transitions] { pointer.deallocate() }
        before.deallocate()
        frames.deallocate()
        path.deallocate()
    }

    /// Restores the state after `init`.
    func reset() {
        frameCount = 0
        unvoicedScore = 0
        scores.update(repeating: Self.never, count: rowLength)
    }

    /// Processes the candidates of the next frame.
    func advance(_ detector: PitchDetector) {
        let slot = frames + frameCount % capacity
        slot.pointee.count = detector.candidateCount
        slot.pointee.voicing = detector.voicing
        slot.pointee.power = detector.power
        let before = before + frameCount % capacity * stateCount
        let best = advanceVoiced(before)
        // The unvoiced state.
        let fromVoiced = best.score + Self.switching
        slot.pointee.beforeUnvoiced = fromVoiced > unvoicedScore ? best.state : -1
        let unvoiced =
            max(unvoicedScore, fromVoiced) + Self.unvoicedLevel + logf(max(1e-4, 1 - detector.voicing))
        // The voiced states with candidates.
        for index in 0..<detector.candidateCount {
            let candidate = detector.candidates[index]
            let place = (-log2f(candidate.period) - lowest) * Float(Self.statesPerOctave)
            slot.pointee.places[index] = place
            slot.pointee.probabilities[index] = candidate.probability
            let state = Int(place.rounded())
            guard state >= 0, state < stateCount else { continue }
            let gain = logf(max(1e-5, candidate.probability)) - Self.missing
            if gain > 0 { nextScores[band + state] += gain }
        }
        // Scores relative to the best one do not grow with the stream.
        var highest = unvoiced
        for state in 0..<stateCount { highest = max(highest, nextScores[band + state]) }
        for state in 0..<stateCount { scores[band + state] = nextScores[band + state] - highest }
        unvoicedScore = unvoiced - highest
        frameCount += 1
    }

    /// Computes the scores of the voiced states without their candidates, and returns the best score and state before.
    private func advanceVoiced(_ before: UnsafeMutablePointer<Int8>) -> (score: Float, state: Int) {
        let (scores, nextScores, transitions, band) = (scores, nextScores, transitions, band)
        var best: (score: Float, state: Int) = (Self.never, 0)
        for state in 0..<stateCount where scores[band + state] > best.score { best = (scores[band + state], state) }
        // From the unvoiced state all pitches are equally probable.
        let fromUnvoiced = Lanes(repeating: unvoicedScore + Self.switching)
        let missing = Lanes(repeating: Self.missing)
        var state = 0
        while state < stateCount {
            var highest = fromUnvoiced
            var source = SIMD8<Int32>(repeating: -1)
            for offset in 0...2 * band {
                let score = scores.lanes(state + offset) + transitions[offset]
                let isHigher = score .> highest
                highest.replace(with: score, where: isHigher)
                source.replace(with: Int32(offset), where: isHigher)
            }
            nextScores.store(highest + missing, band + state)
            UnsafeMutableRawPointer(before + state).storeBytes(of: SIMD8<Int8>(truncatingIfNeeded: source), as: SIMD8<Int8>.self)
            state += 8
        }
        return best
    }

    /// Decodes frames, oldest first.
    ///
    /// - Parameters:
    ///   - delay: The first frame, in frames behind the newest one; below the capacity and the number of frames.
    ///   - count: The number of frames, at most `delay` + 1.
    func decode(delay: Int, count: Int = 1, _ body: (DecodedPitch) -> Void) {
        var state = -1
        var highest = unvoicedScore
        for voiced in 0..<stateCount where scores[band + voiced] > highest {
            highest = scores[band + voiced]
            state = voiced
        }
        // Backwards from the newest frame.
        for age in 0...delay {
            let slot = (frameCount - 1 - age) % capacity
            path[slot] = Int32(state)
            if state < 0 {
                state = frames[slot].beforeUnvoiced
            } else {
                let offset = Int(before[slot * stateCount + state])
                state = offset < 0 ? -1 : state + offset - band
            }
        }
        for step in 0..<count {
            let slot = (frameCount - 1 - delay + step) % capacity
            body(pitch(ofState: Int(path[slot]), frames + slot))
        }
    }

    /// The pitch of a frame in a state: that of the most probable candidate near the state.
    private func pitch(ofState state: Int, _ frame: UnsafeMutablePointer<Frame>) -> DecodedPitch {
        var pitch = DecodedPitch(frequency: nil, voicing: frame.pointee.voicing, power: frame.pointee.power)
        guard state >= 0 else { return pitch }
        var place = Float(state)
        var highest: Float = 0
        for index in 0..<frame.pointee.count {
            guard abs(frame.pointee.places[index] - Float(state)) <= 1, frame.pointee.probabilities[index] > highest else { continue }
            highest = frame.pointee.probabilities[index]
            place = frame.pointee.places[index]
        }
        pitch.frequency = exp2f(lowest + place / Float(Self.statesPerOctave))
        return pitch
    }
}
