internal import HemiolaSignal

/// The voices of a drum kit that are told apart, in the order of the network's outputs.
enum DrumVoice: Int, CaseIterable, Sendable {
    case kick, snare, hihat

    /// The value in records.
    var name: String {
        switch self {
        case .kick: "kick"
        case .snare: "snare"
        case .hihat: "hihat"
        }
    }

    /// The bands in which a stroke is loud, in hertz.
    fileprivate var range: ClosedRange<Double> {
        switch self {
        case .kick: 30...150
        case .snare: 180...3000
        case .hihat: 6000...11_000
        }
    }
}

/// Detects strokes of kick, snare and hi-hat with a network of its own, live and in files without look-ahead.
///
/// The network is that of `BeatNetwork` with four blocks: it knows 0.6 s of the past. It is trained on rendered music whose drums are known.
///
/// - Complexity: 47 000 multiplications per frame of 10 ms; no allocation.
struct DrumDetector: Sendable {
    /// A stroke of one voice.
    struct Stroke: Sendable {
        var voice: DrumVoice
        /// The attack in the voice's bands over that of the last strokes; 1 is typical.
        var strength: Double
    }

    /// The least activation of a stroke, by voice. Chosen on rendered music that was left out of the training.
    private static let thresholds: [Float] = [0.4, 0.3, 0.35]
    /// The minimum time between strokes of a voice, in frames; also the length of the moving maximum.
    private static let leastDistance = 4
    /// Share of a stroke in the mean attack.
    private static let attackShare: Float = 0.1

    private var network = BeatNetwork(.drums())
    private var voices: [Voice]

    /// One voice, and its latest frames.
    private struct Voice: Sendable {
        let voice: DrumVoice
        /// Its bands, as indices of `BandFilter.increases`.
        let bands: Range<Int>
        /// The mean increases in its bands, and the activations, of the latest frames.
        var attacks = SIMD8<Float>()
        var activations = SIMD8<Float>()
        var frame = 0
        var lastStroke = -leastDistance
        /// Moving average of the attacks of strokes; 0 before the first one.
        var meanAttack: Float = 0

        /// Processes the activation of the next frame: a stroke if it is sufficient and the maximum of the last frames.
        mutating func advance(_ activation: Float) -> Stroke? {
            defer { frame += 1 }
            activations[frame & 7] = activation
            guard activation >= thresholds[voice.rawValue], frame - lastStroke >= leastDistance else { return nil }
            for age in 1..<leastDistance where activations[(frame - age) & 7] > activation { return nil }
            lastStroke = frame
            let attack = max(attacks[frame & 7], attacks[(frame - 1) & 7], attacks[(frame - 2) & 7])
            meanAttack += (attack - meanAttack) * (meanAttack == 0 ? 1 : attackShare)
            return Stroke(voice: voice, strength: meanAttack > 0 ? Double(attack / meanAttack) : 1)
        }
    }

    init(_ filter: BandFilter) {
        let centers = filter.centers
        voices = DrumVoice.allCases.map { voice in
            let bands = centers.indices.filter { voice.range.contains(centers[$0]) }
            return Voice(voice: voice, bands: BandFilter.firstIndex + bands[0]..<BandFilter.firstIndex + bands[0] + bands.count)
        }
    }

    /// Adds a frame to the next group, as `BeatNetwork.add`.
    ///
    /// - Parameter index: The number of the frame in its group.
    mutating func add(_ filter: borrowing BandFilter, as index: Int) {
        network.add(filter)
        for voice in voices.indices {
            var sum: Float = 0
            for band in voices[voice].bands { sum += filter.increases[band] }
            voices[voice].attacks[(voices[voice].frame + index) & 7] = sum / Float(voices[voice].bands.count)
        }
    }

    /// Processes the group of frames.
    mutating func run() { network.run() }

    /// The stroke of a voice in a frame of the group, if any. Call it for each frame, in order.
    mutating func stroke(of voice: DrumVoice, in index: Int) -> Stroke? {
        voices[voice.rawValue].advance(network.outputs[index].drums[voice.rawValue])
    }

    /// Starts anew, after a gap.
    mutating func reset() {
        network.reset()
        for index in voices.indices { (voices[index].activations, voices[index].attacks) = (.zero, .zero) }
    }
}

extension BeatNetwork.Output {
    /// The outputs of the network of drums, in the order of `DrumVoice`.
    fileprivate var drums: SIMD3<Float> { SIMD3(onset, networkBeat, downbeat) }
}
