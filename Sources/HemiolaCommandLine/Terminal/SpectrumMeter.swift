internal import Glibc
internal import HemiolaSignal

/// The bars and the spectrum of a stream, computed from its samples: the number of bars depends on the width of the terminal, which no
/// analyzer knows.
///
/// The bars are those of the analyzer `visualizer`; those of the left and right channel have one gain.
///
/// - Complexity: O(n log n) per hop and channel.
final class SpectrumMeter {
    /// One channel.
    private final class Channel {
        private var recent: [Float]
        private let window: [Float]
        private var fft: RealFFT
        private var bars: BarSpectrum
        /// |X| of the last hop, from DC on.
        private(set) var magnitudes: [Float]

        init(_ format: StreamFormat, hopFrames: Int, barCount: Int, to highest: Double) {
            let bars = BarSpectrum(
                count: barCount, from: SpectrumMeter.range.lowerBound, to: highest, sampleRate: format.sampleRate, hopFrames: hopFrames)
            let size = bars.size
            self.bars = consume bars
            recent = [Float](repeating: 0, count: size)
            window = WindowShape.hann.values(size: size)
            fft = RealFFT(size: size)
            magnitudes = [Float](repeating: 0, count: size / 2)
        }

        /// The values of the bars at a hop.
        func bars(_ count: Int, _ hop: [Float]) -> [Float] {
            recent = Array((recent + hop).suffix(recent.count))
            fft.load(recent, under: window)
            fft.transform()
            fft.measure(magnitudes: &magnitudes)
            let spectrum = magnitudes
            var values = [Float](repeating: 0, count: count)
            var span = values.mutableSpan
            bars.measure(hop.span, spectrum.span, into: &span)
            return values
        }
    }

    /// Range of the bars and of the spectrum, in hertz.
    static let range = BarSpectrum.defaultRange

    /// Bars per channel.
    let barCount: Int
    /// Whether left and right have bars of their own.
    let isDouble: Bool
    private let hopFrames: Int
    private let sampleRate: Double
    private let highest: Double
    private var motion: BarMotion
    private let channels: [Channel]
    /// The heights of the bars, 0…1: of the left channel, then of the right, or of the mono mix.
    private(set) var heights: [Float]

    init(_ format: StreamFormat, hopFrames: Int, barCount: Int, isDouble: Bool) {
        let highest = min(Self.range.upperBound, Double(format.sampleRate) / 2)
        (self.hopFrames, self.barCount, self.isDouble, self.highest) = (hopFrames, barCount, isDouble, highest)
        sampleRate = Double(format.sampleRate)
        channels = (0..<(isDouble ? 2 : 1)).map { _ in Channel(format, hopFrames: hopFrames, barCount: barCount, to: highest) }
        heights = [Float](repeating: 0, count: barCount * channels.count)
        motion = BarMotion(
            count: heights.count, noiseReduction: Double(BarMotion.defaultNoiseReduction) / 100,
            hopSeconds: Double(hopFrames) / sampleRate)
    }

    /// Processes the samples of a batch: those of the left and of the right channel.
    ///
    /// - Returns: Whether they are silent.
    func process(_ sides: [[Float]]) -> Bool {
        let signals = isDouble ? sides : [zip(sides[0], sides[1]).map { ($0 + $1) / 2 }]
        var isSilent = true
        for first in stride(from: 0, to: signals[0].count, by: hopFrames) {
            // The last hop of a batch that is not full is filled up with silence.
            let hops = signals.map { samples in
                let hop = Array(samples[first...].prefix(hopFrames))
                return hop + repeatElement(0, count: hopFrames - hop.count)
            }
            var values = zip(channels, hops).flatMap { $0.bars(barCount, $1) }
            let isHopSilent = hops.allSatisfy { BarMotion.isSilent($0.span, frameCount: hopFrames) }
            var span = values.mutableSpan
            motion.update(&span, isSilent: isHopSilent)
            heights = values
            isSilent = isSilent && isHopSilent
        }
        return isSilent
    }

    /// The level at frequencies with equal ratios, from the lowest to the highest, in decibels below a sine of full scale: the mean of
    /// the channels.
    func levels(count: Int) -> [Float] {
        let spectra = channels.map(\.magnitudes)
        let last = spectra[0].count - 1
        // The sum of a Hann window is half its length.
        let scale = 4 / Float(2 * spectra[0].count) / Float(channels.count)
        let binWidth = sampleRate / Double(2 * spectra[0].count)
        let lowest = Self.range.lowerBound
        let edges = (0...count).map { lowest * pow(highest / lowest, Double($0) / Double(count)) / binWidth }
        func magnitude(_ bin: Int) -> Float { spectra.reduce(0) { $0 + $1[min(bin, last)] } * scale }
        return zip(edges, edges.dropFirst()).map { low, high in
            var strongest: Float = 0
            if high - low < 1 {
                let middle = (low + high) / 2
                let (bin, share) = (Int(middle), Float(middle - middle.rounded(.down)))
                strongest = magnitude(bin) * (1 - share) + magnitude(bin + 1) * share
            } else {
                for bin in Int(low.rounded(.up))...max(Int(low.rounded(.up)), Int(high)) { strongest = max(strongest, magnitude(bin)) }
            }
            return 20 * log10(max(strongest, 1e-6))
        }
    }
}
