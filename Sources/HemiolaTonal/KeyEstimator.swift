internal import Glibc

/// A key with its probability.
public struct KeyEstimate: Hashable, Sendable {
    /// The key: 0…11 major from C on, 12…23 minor from C on.
    public var key: Int
    /// The probability of the key among all 24, 0…1.
    public var confidence: Float

    /// The tonic, 0 = C … 11 = B.
    public var tonic: Int { key % 12 }
    /// 0: major, 1: minor.
    public var mode: Int { key / 12 }
}

/// Estimates the key of the pitch classes of many frames: Pearson's correlation of their mean chroma with the profiles of 24 keys.
///
///     keys.add(extractor.chroma)                  // for each frame of a ChromaExtractor with the weighting .key
///     if let key = keys.estimate() { … }          // nil: keys.status says why
///
/// There is a key where there are tones. The limits were chosen on rendered music, and on noise, drums and speech, of which none gets a
/// key; with them, produced songs with drums, whose mean chroma is flatter, have one too.
///
/// - Complexity: 48 multiplications per frame, about 0.5 µs per estimate; no allocation after `init`.
public struct KeyEstimator: Sendable {
    /// Frames that are not silent, in seconds, from which on there is an estimate.
    private static let leastSeconds = 3.0
    /// The least correlation of the best key.
    private static let leastCorrelation: Float = 0.45
    /// The standard deviation of the mean chroma relative to its mean: noise has less than the one, a single tone more than the other.
    private static let leastContrast: Float = 0.18
    private static let greatestContrast: Float = 1.6
    /// The least persistence of the chroma, and by how much less is enough per correlation with the best key: 0.23 to 0.31.
    private static let leastPersistence: Float = 0.38
    private static let persistencePerCorrelation: Float = 0.15
    /// The odds of two keys are exp(slope · difference of correlations). Fitted to rendered music with a known key.
    private static let slope: Float = 15

    /// What older frames lose per frame; 1: all frames count alike.
    private let decay: Float
    private let leastFrames: Float
    /// The profiles of the keys, each with mean 0 and norm 1, transposed to C.
    private let major: InlineArray<12, Float>
    private let minor: InlineArray<12, Float>
    private var sum = InlineArray<12, Float>(repeating: 0)
    private var weight: Float = 0
    private var persistence: ChromaPersistence
    /// Whether the last `estimate` was a key, and why it was none.
    public private(set) var status = TonalStatus.tooLittleSound
    /// The probability of each key in the last estimate that was one, in the order of ``KeyEstimate/key``; all 0 before the first.
    public private(set) var probabilities = InlineArray<24, Float>(repeating: 0)

    /// Begins with no frames.
    ///
    /// - Parameters:
    ///   - profile: The weights of the pitch classes.
    ///   - window: The time constant of the exponential window, in seconds; nil: all frames count alike.
    ///   - frameSeconds: The time from one frame to the next.
    public init(_ profile: KeyProfile, window: Double?, frameSeconds: Double) {
        decay = window.map { Float(exp(-frameSeconds / $0)) } ?? 1
        leastFrames = Float(Self.leastSeconds / frameSeconds)
        persistence = ChromaPersistence(window: window, frameSeconds: frameSeconds)
        major = Self.normalized(profile.major)
        minor = Self.normalized(profile.minor)
    }

    private static func normalized(_ values: [Float]) -> InlineArray<12, Float> {
        let mean = values.reduce(0, +) / 12
        let norm = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }.squareRoot()
        return InlineArray { (values[$0] - mean) / norm }
    }

    /// Adds a frame.
    ///
    /// - Parameter chroma: 12 values from C on, the largest 1; all 0 in silence: then what came before counts less.
    public mutating func add(_ chroma: Span<Float>) {
        var largest: Float = 0
        for index in 0..<12 {
            sum[index] = sum[index] * decay + chroma[index]
            largest = max(largest, chroma[index])
        }
        weight = weight * decay + (largest > 0 ? 1 : 0)
        persistence.add(chroma)
    }

    /// Audio was lost: what came before counts on.
    public mutating func skip() {
        persistence.skip()
    }

    /// The most probable key; nil without evidence of one, and `status` says why. There is none before three seconds of sound.
    public mutating func estimate() -> KeyEstimate? {
        status = .tooLittleSound
        guard weight >= leastFrames else { return nil }
        status = .noTones
        var mean: Float = 0
        for index in 0..<12 { mean += sum[index] / 12 }
        var square: Float = 0
        for index in 0..<12 { square += (sum[index] - mean) * (sum[index] - mean) }
        let contrast = (square / 12).squareRoot() / mean
        guard square > 0, contrast >= Self.leastContrast else { return nil }
        let scale = 1 / square.squareRoot()
        var correlations = InlineArray<24, Float>(repeating: 0)
        for tonic in 0..<12 {
            for degree in 0..<12 {
                let value = sum[(tonic + degree) % 12]
                correlations[tonic] += value * major[degree]
                correlations[12 + tonic] += value * minor[degree]
            }
        }
        var (best, highest) = (0, -Float.infinity)
        for key in 0..<24 {
            correlations[key] *= scale
            if correlations[key] > highest { (best, highest) = (key, correlations[key]) }
        }
        guard persistence.value >= Self.leastPersistence - Self.persistencePerCorrelation * highest else { return nil }
        status = .undecided
        guard contrast <= Self.greatestContrast, highest >= Self.leastCorrelation else { return nil }
        var total: Float = 0
        for key in 0..<24 {
            probabilities[key] = expf(Self.slope * (correlations[key] - highest))
            total += probabilities[key]
        }
        for key in 0..<24 { probabilities[key] /= total }
        status = .found
        return KeyEstimate(key: best, confidence: probabilities[best])
    }

    /// Restores the state after `init`.
    public mutating func reset() {
        sum = InlineArray(repeating: 0)
        weight = 0
        persistence.reset()
        status = .tooLittleSound
    }
}
