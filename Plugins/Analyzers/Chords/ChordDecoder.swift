internal import Glibc

/// The chords that are distinguished: five qualities on 12 roots, and no chord.
enum ChordVocabulary {
    /// The qualities in Harte's syntax, and their notes in semitones above the root. A seventh is the fourth note.
    static let qualities: [(name: String, notes: [Int])] = [
        ("maj", [0, 4, 7]), ("min", [0, 3, 7]), ("7", [0, 4, 7, 10]), ("min7", [0, 3, 7, 10]), ("maj7", [0, 4, 7, 11]),
    ]
    /// The names of the qualities.
    static let names = qualities.map(\.name)
    /// The number of chords, and of chords with no chord, which is the last state.
    static let chordCount = 60
    static let stateCount = 61
    static let none = 60
}

/// The agreement of a frame with each chord, and with no chord.
struct ChordAgreement: Sendable {
    /// Whether there are tones.
    fileprivate(set) var hasTones = false
    /// Of each state; of chords that are left out, and in silence, −1.
    fileprivate(set) var values = InlineArray<61, Float>(repeating: -1)
}

/// The chords as templates of pitch classes. The agreement of a frame with a chord is the correlation of its chroma with the chord's
/// template, plus a weighted share of the root in the bass.
struct ChordTemplates: Sendable {
    /// The weight of a seventh in a template; the other notes have 1. Chosen on rendered lead sheets.
    private static let seventh: Float = 0.5
    /// The weight of the root's share in the bass. Chosen on rendered lead sheets.
    private static let bassWeight: Float = 0.1
    /// The agreement of no chord, below which chords are not reported: so much without tones, so much less with them. Chosen so that a chord
    /// is reported in less than a tenth of the time of speech, and of drums, and hardly ever withheld in rendered music with drums.
    private static let noChord: Float = 0.5
    private static let noChordRange: Float = 0.24
    /// The persistence of the chroma up to which there are no tones, and by how much more there certainly are. Drums and speech have up to
    /// the one, most of rendered music with drums more than both together.
    private static let leastPersistence: Float = 0.15
    private static let persistenceRange: Float = 0.15

    /// The templates on C, each with mean 0 and norm 1.
    private let templates: InlineArray<5, InlineArray<12, Float>>
    /// The number of qualities.
    private let qualityCount: Int

    /// - Parameter hasSevenths: Whether there are chords with a seventh.
    init(hasSevenths: Bool) {
        qualityCount = hasSevenths ? 5 : 2
        templates = InlineArray { quality in
            var weights = [Float](repeating: 0, count: 12)
            for (place, note) in ChordVocabulary.qualities[quality].notes.enumerated() { weights[note] = place == 3 ? Self.seventh : 1 }
            let mean = weights.reduce(0, +) / 12
            let norm = weights.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }.squareRoot()
            return InlineArray { (weights[$0] - mean) / norm }
        }
    }

    /// The agreement of a frame.
    ///
    /// - Parameters:
    ///   - chroma: 12 values from C on; all 0 in silence.
    ///   - bass: 12 values of the low notes from C on; all 0 without bass.
    ///   - persistence: That of the chroma in the last seconds.
    func agreement(_ chroma: Span<Float>, _ bass: Span<Float>, persistence: Float) -> ChordAgreement {
        var agreement = ChordAgreement()
        let tones = min(1, max(0, (persistence - Self.leastPersistence) / Self.persistenceRange))
        agreement.values[ChordVocabulary.none] = Self.noChord - Self.noChordRange * tones
        var (sum, bassSum): (Float, Float) = (0, 0)
        for index in 0..<12 {
            sum += chroma[index]
            bassSum += bass[index]
        }
        let mean = sum / 12
        var square: Float = 0
        for index in 0..<12 { square += (chroma[index] - mean) * (chroma[index] - mean) }
        guard square > 0 else { return agreement }
        agreement.hasTones = tones > 0
        let scale = 1 / square.squareRoot()
        let bassScale = Self.bassWeight / max(bassSum, 1e-6)
        for quality in 0..<qualityCount {
            for root in 0..<12 {
                var product: Float = 0
                for degree in 0..<12 { product += chroma[(root + degree) % 12] * templates[quality][degree] }
                agreement.values[12 * quality + root] = product * scale + bass[root] * bassScale
            }
        }
        return agreement
    }
}

/// A hidden Markov model with one state per chord, decoded by the Viterbi algorithm: a chord stays or changes to any other one, all
/// changes being equally probable.
///
/// With that, a state's best predecessor is itself or the best of all states: a frame of the history is one bit per state and a number.
///
/// - Complexity: O(states) per frame, and O(delay) for a decision.
struct ChordDecoder: Sendable {
    /// The log likelihood of an agreement of 1, relative to 0: neighbouring frames are not independent. Chosen on rendered lead sheets.
    private static let slope: Float = 3

    private let stay: Float
    private let change: Float
    private var scores = Self.start
    /// For each frame, the states whose predecessor is themselves, and the predecessor of all others.
    private var kept: [UInt64] = []
    private var best: [UInt8] = []
    private let capacity: Int?
    /// Frames so far.
    private(set) var count = 0

    /// A stream begins without a chord.
    private static let start = InlineArray<61, Float> { $0 == ChordVocabulary.none ? 0 : -5 }

    /// - Parameters:
    ///   - meanSeconds: The mean duration of a chord, in seconds.
    ///   - frameSeconds: The time from one frame to the next.
    ///   - capacity: Frames of the history that are kept; nil: all, 9 bytes each.
    init(meanSeconds: Double, frameSeconds: Double, capacity: Int?) {
        let probability = min(0.5, frameSeconds / meanSeconds)
        stay = Float(log(1 - probability))
        change = Float(log(probability / Double(ChordVocabulary.stateCount - 1)))
        self.capacity = capacity
        if let capacity {
            kept = Array(repeating: 0, count: capacity)
            best = Array(repeating: 0, count: capacity)
        }
    }

    /// Adds a frame.
    mutating func add(_ agreement: borrowing ChordAgreement) {
        var (leader, highest) = (0, -Float.infinity)
        for state in 0..<ChordVocabulary.stateCount where scores[state] > highest { (leader, highest) = (state, scores[state]) }
        var mask: UInt64 = 0
        for state in 0..<ChordVocabulary.stateCount {
            let staying = scores[state] - highest + stay
            if staying >= change { mask |= 1 << UInt64(state) }
            scores[state] = max(staying, change) + Self.slope * agreement.values[state]
        }
        if let capacity {
            kept[count % capacity] = mask
            best[count % capacity] = UInt8(leader)
        } else {
            kept.append(mask)
            best.append(UInt8(leader))
        }
        count += 1
    }

    /// The state `delay` frames before the last one, on the most probable path so far.
    func state(before delay: Int) -> Int {
        var state = 0
        for other in 1..<ChordVocabulary.stateCount where scores[other] > scores[state] { state = other }
        for frame in stride(from: count - 1, to: count - 1 - delay, by: -1) { state = predecessor(of: state, at: frame) }
        return state
    }

    /// The most probable path: for each run of equal states, its first frame and its state. Needs the whole history.
    func path() -> [(first: Int, state: Int)] {
        guard count > 0 else { return [] }
        var state = state(before: 0)
        var runs: [(first: Int, state: Int)] = []
        for frame in stride(from: count - 1, to: 0, by: -1) {
            let previous = predecessor(of: state, at: frame)
            if previous != state {
                runs.append((frame, state))
                state = previous
            }
        }
        runs.append((0, state))
        return runs.reversed()
    }

    private func predecessor(of state: Int, at frame: Int) -> Int {
        let place = capacity.map { frame % $0 } ?? frame
        return kept[place] & (1 << UInt64(state)) != 0 ? state : Int(best[place])
    }

    /// Restores the state after `init`.
    mutating func reset() {
        scores = Self.start
        count = 0
        if capacity == nil {
            kept = []
            best = []
        }
    }
}
