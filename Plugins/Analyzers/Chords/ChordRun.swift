internal import Hemiola
internal import HemiolaTonal

/// A run of frames with the same chord: becomes a record when it ends.
struct ChordRun: Sendable {
    /// The state of the chord; nil before the first frame.
    private(set) var state: Int?
    private var start = 0.0
    private var sum: Float = 0
    private var count: Float = 0
    /// Frames with tones.
    private var tonalCount: Float = 0
    /// The names, made before the stream: a global table would be allocated at its first use.
    private let qualities = ChordVocabulary.names
    private let roots = PitchClass.names
    /// For each key, the names of all states as they are spelled in it.
    private let labels: [[String]]

    init() {
        labels = (0..<24).map { key in
            let signature = KeySignature(ofKey: key)
            return ChordVocabulary.names.flatMap { quality in (0..<12).map { "\(signature.name(of: $0)):\(quality)" } } + ["N"]
        }
    }

    /// The mean correlation of the frames with the chord, 0…1; of no chord, 1 minus that of the best chord.
    var confidence: Float { count > 0 ? min(1, max(0, sum / count)) : 0 }

    /// Whether there is a chord; without one, whether at least half of the frames have tones.
    var status: TonalStatus {
        guard let state else { return .tooLittleSound }
        return state != ChordVocabulary.none ? .found : 2 * tonalCount >= count ? .undecided : .noTones
    }

    /// Adds a frame.
    ///
    /// - Parameters:
    ///   - state: Its chord.
    ///   - agreement: Its agreement with all chords.
    ///   - time: Its centre, in seconds.
    ///   - key: The key for its spelling: 0…11 major from C on, 12…23 minor.
    mutating func add(
        _ state: Int, _ agreement: borrowing ChordAgreement, at time: Double, in key: Int, into events: inout EventList
    ) {
        if state != self.state {
            // The chord changes half-way between two frames.
            if self.state != nil { finish(at: time - ChromaExtractor.frameSeconds / 2, in: key, into: &events) }
            (self.state, sum, count, tonalCount) = (state, 0, 0, 0)
        }
        if state == ChordVocabulary.none {
            var highest: Float = 0
            for chord in 0..<ChordVocabulary.chordCount { highest = max(highest, agreement.values[chord]) }
            sum += 1 - min(1, highest)
        } else {
            sum += min(1, agreement.values[state])
        }
        count += 1
        if agreement.hasTones { tonalCount += 1 }
    }

    /// Ends the chord, which is spelled in a key.
    mutating func finish(at time: Double, in key: Int, into events: inout EventList) {
        defer { state = nil }
        guard let state, time > start else { return }
        let isChord = state != ChordVocabulary.none
        let (root, quality) = (state % 12, state / 12)
        let reason: ParameterValue = isChord ? .none : .text(status == .noTones ? "no tones" : "undecided")
        events.append(
            Event(
                at: start, .chord, .number(time - start), .text(labels[key][state]), isChord ? .text(roots[root]) : .none,
                isChord ? .integer(root) : .none, isChord ? .text(qualities[quality]) : .none, isChord ? .integer(quality) : .none,
                .number(Double(confidence)), reason))
        start = time
    }

    /// The next chord begins after a gap.
    mutating func resume(at time: Double) {
        start = time
    }
}
