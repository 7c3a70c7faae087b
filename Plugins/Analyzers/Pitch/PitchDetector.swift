internal import Glibc
internal import HemiolaSignal

/// A possible pitch of a frame.
struct PitchCandidate: Sendable {
    /// The period in seconds.
    var period: Float
    /// The probability that the frame has this pitch, 0…1. The sum over the candidates is the probability that it is voiced.
    var probability: Float
}

/// Computes the pitch candidates of a frame from its power spectrum.
///
/// The candidates are those of pYIN (M. Mauch and S. Dixon, "pYIN: a fundamental frequency estimator using probabilistic threshold
/// distributions", ICASSP 2014): the minima of YIN's normalised difference function (A. de Cheveigné and H. Kawahara, "YIN, a fundamental
/// frequency estimator for speech and music", J. Acoust. Soc. Am. 111(4), 2002), each with the probability of the thresholds that
/// select it.
///
/// The difference function is computed from the autocorrelation of the windowed frame, divided by that of the window (P. Boersma,
/// "Accurate short-term analysis of the fundamental frequency and the harmonics-to-noise ratio of a sampled sound", IFA Proceedings 17,
/// 1993): with a window that is longer than six periods, one spectrum per frame is sufficient, and the centre of the estimate is the
/// centre of the window at all frequencies.
///
/// - Complexity: a transform of 2048 frames and O(lags) per frame; no allocation after `init`.
final class PitchDetector {
    /// The rate of the spectra, in hertz, and their size and interval in frames: 93 ms every 11.6 ms.
    static let sampleRate = 11_025
    static let size = 1024
    static let hopFrames = 128
    static let hopSeconds = Double(hopFrames) / Double(sampleRate)
    /// The most candidates of a frame.
    static let mostCandidates = 12

    /// The spectra are free of aliases up to a quarter of their rate; from the first frequency on they are attenuated.
    private static let passband = 2500.0...2756.0
    /// The autocorrelation has twice the resolution of the spectra's frames.
    private static let oversampling = 2
    /// The shape of the distribution of the thresholds, a beta distribution with α = 2: a mean of 1/3. pYIN's mean of 0.1 (β = 18) loses
    /// half of the pitches in noise as loud as the voice. Chosen on synthesised voices; noise alone has no pitch with either.
    private static let beta: Float = 4
    /// The share of the thresholds below the lowest minimum that select it nevertheless.
    private static let absentShare: Float = 0.01
    /// A frame below this mean square is silent: −80 dBFS.
    private static let silence: Float = 1e-8
    /// The entries of the table of the distribution.
    private static let thresholdSteps = 1024

    /// The candidates of the last frame in ascending order of their periods.
    private(set) var candidates = InlineArray<12, PitchCandidate>(repeating: PitchCandidate(period: 0, probability: 0))
    private(set) var candidateCount = 0
    /// The mean square of the last frame.
    private(set) var power: Float = 0
    /// The probability that the last frame is voiced.
    private(set) var voicing: Float = 0

    private let binCount = size / 2 + 1
    /// The lags, in steps of the autocorrelation.
    private let lags: ClosedRange<Int>
    /// The periods of candidates in seconds: those of the range, and a third of a semitone more.
    private let periods: ClosedRange<Float>
    private var fft = RealFFT(size: oversampling * size)
    // Unsafe pointers: the tables of the hot path, allocated once, indexed without exclusivity checks.
    private let weights: UnsafeMutablePointer<Float>
    /// The reciprocal of the window's normalised autocorrelation.
    private let corrections: UnsafeMutablePointer<Float>
    private let differences: UnsafeMutablePointer<Float>
    private let distribution: UnsafeMutablePointer<Float>
    private let powerScale: Float

    /// - Parameters:
    ///   - frequencies: The range of pitches, in hertz.
    ///   - streamRate: The rate of the stream, in hertz.
    init(_ frequencies: ClosedRange<Double>, streamRate: Int) {
        let rate = Double(Self.oversampling * Self.sampleRate)
        let lags = max(2, Int(rate / frequencies.upperBound) - 1)...Int((rate / frequencies.lowerBound).rounded(.up)) + 1
        self.lags = lags
        periods = Float(0.98 / frequencies.upperBound)...Float(1.02 / frequencies.lowerBound)
        let window = WindowShape.hann.values(size: Self.size)
        powerScale = Float(2 / (Double(Self.size) * window.reduce(0) { $0 + Double($1) * Double($1) }))
        weights = .allocate(capacity: binCount)
        let binWidth = Double(Self.sampleRate) / Double(Self.size)
        let top = min(1, 0.45 * Double(streamRate) / Self.passband.upperBound)
        for bin in 0..<binCount {
            let frequency = Double(bin) * binWidth
            let (edge, end) = (Self.passband.lowerBound * top, Self.passband.upperBound * top)
            let weight =
                if frequency < 0.6 * frequencies.lowerBound || frequency >= end { 0.0 } else if frequency <= edge { 1.0 } else {
                    0.5 + 0.5 * cos(.pi * (frequency - edge) / (end - edge))
                }
            (weights + bin).initialize(to: Float(weight))
        }
        corrections = .allocate(capacity: lags.upperBound + 2)
        differences = .allocate(capacity: lags.upperBound + 2)
        differences.initialize(repeating: 0, count: lags.upperBound + 2)
        // The autocorrelation of a Hann window of length 1 at lag x (Boersma, equation 8).
        for lag in 0..<lags.upperBound + 2 {
            let x = Double(lag) / Double(Self.oversampling * Self.size)
            let value = (1 - x) * (2.0 / 3 + cos(2 * .pi * x) / 3) + sin(2 * .pi * x) / (2 * .pi)
            (corrections + lag).initialize(to: Float(1 / value))
        }
        distribution = .allocate(capacity: Self.thresholdSteps + 2)
        for step in 0..<Self.thresholdSteps + 2 {
            let x = min(1, Float(step) / Float(Self.thresholdSteps))
            (distribution + step).initialize(to: 1 - powf(1 - x, Self.beta) * (1 + Self.beta * x))
        }
    }

    deinit {
        for pointer in [weights, corrections, differences, distribution] { pointer.deallocate() }
    }

    /// Computes the candidates of a frame from |X|² of its bins.
    func update(_ spectrum: Span<Float>) {
        candidateCount = 0
        voicing = 0
        let total = Self.correlate(spectrum, weights, binCount, &fft)
        power = total * powerScale
        guard power > Self.silence else { return }
        Self.computeDifferences(fft, corrections, differences, last: lags.upperBound + 1)
        selectMinima()
    }

    /// Transforms the weighted spectrum, extended to an even function, and returns the sum of its powers.
    private static func correlate(
        _ spectrum: Span<Float>, _ weights: UnsafePointer<Float>, _ count: Int, _ fft: inout RealFFT
    ) -> Float {
        let size = fft.size
        var sum: Float = 0
        var samples = fft.samples
        samples.withUnsafeMutableBufferPointer { samples in
            for bin in 0..<count {
                let value = spectrum[bin] * weights[bin]
                samples[bin] = value
                if bin > 0 { samples[size - bin] = value }
                sum += value
            }
        }
        fft.transform()
        return sum
    }

    /// d(τ) of the frame, and d'(τ): d divided by its mean over all shorter lags.
    private static func computeDifferences(
        _ fft: borrowing RealFFT, _ corrections: UnsafePointer<Float>, _ differences: UnsafeMutablePointer<Float>, last: Int
    ) {
        let bins = fft.bins
        let scale = 1 / bins[0]
        var sum: Float = 0
        differences[0] = 1
        for lag in 1...last {
            let difference = max(0, 1 - bins[2 * lag] * scale * corrections[lag])
            sum += difference
            differences[lag] = sum > 0 ? difference * Float(lag) / sum : 1
        }
    }

    /// The local minima and their probabilities: a threshold selects the first minimum below it.
    private func selectMinima() {
        let step = 1 / Float(Self.oversampling * Self.sampleRate)
        var lowest: Float = 1
        var best = -1
        let differences = differences
        for lag in lags where differences[lag] < differences[lag - 1] && differences[lag] <= differences[lag + 1] {
            let (low, middle, high) = (differences[lag - 1], differences[lag], differences[lag + 1])
            let shift = 0.5 * (low - high) / (low - 2 * middle + high)
            let height = max(0, middle - 0.25 * (low - high) * shift)
            let period = (Float(lag) + shift) * step
            guard height < lowest, periods.contains(period) else { continue }
            let probability = share(below: lowest) - share(below: height)
            lowest = height
            guard candidateCount < Self.mostCandidates else {
                candidates[candidateCount - 1] = PitchCandidate(
                    period: period, probability: candidates[candidateCount - 1].probability + probability)
                continue
            }
            candidates[candidateCount] = PitchCandidate(period: period, probability: probability)
            best = candidateCount
            candidateCount += 1
        }
        guard best >= 0 else { return }
        candidates[best].probability += share(below: lowest) * Self.absentShare
        for index in 0..<candidateCount { voicing += candidates[index].probability }
    }

    /// The share of the thresholds below a value.
    private func share(below value: Float) -> Float {
        let place = min(max(value, 0), 1) * Float(Self.thresholdSteps)
        let step = Int(place)
        return distribution[step] + (place - Float(step)) * (distribution[step + 1] - distribution[step])
    }
}
