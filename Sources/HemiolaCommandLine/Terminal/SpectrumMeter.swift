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
        /// The values of the bars at the last hop.
        private(set) var values: [Float]

        init(_ format: StreamFormat, hopFrames: Int, barCount: Int) {
            let range = SpectrumMeter.range
            let bars = BarSpectrum(
                count: barCount, from: range.lowerBound, to: min(range.upperBound, Double(format.sampleRate) / 2),
                sampleRate: format.sampleRate, hopFrames: hopFrames)
            let size = bars.size
            self.bars = consume bars
            recent = [Float](repeating: 0, count: size)
            window = WindowShape.hann.values(size: size)
            fft = RealFFT(size: size)
            magnitudes = [Float](repeating: 0, count: size / 2)
            values = [Float](repeating: 0, count: barCount)
        }

        /// The window length of the spectrum, in frames.
        var size: Int { recent.count }

        func process(_ hop: [Float]) {
            let count = min(hop.count, recent.count)
            recent.removeFirst(count)
            recent += hop.suffix(count)
            fft.load(recent, under: window)
            fft.transform()
            fft.measure(magnitudes: &magnitudes)
            let spectrum = magnitudes
            var own = [Float](repeating: 0, count: values.count)
            var span = own.mutableSpan
            bars.measure(hop.span, spectrum.span, into: &span)
            values = own
        }
    }

    /// Range of the bars and of the spectrum, in hertz.
    static let range = BarSpectrum.defaultRange

    /// Bars per channel.
    let barCount: Int
    let isStereo: Bool
    private let format: StreamFormat
    private let hopFrames: Int
    private var motion: BarMotion
    private let channels: [Channel]
    /// The heights of the bars, 0…1: of the left channel, then of the right, or of the mono mix.
    private(set) var heights: [Float]

    /// - Parameters:
    ///   - barCount: Bars per channel, 1….
    ///   - isStereo: Whether left and right have bars of their own, if there are two channels.
    init(_ format: StreamFormat, hopFrames: Int, barCount: Int, isStereo: Bool) {
        self.format = format
        self.hopFrames = hopFrames
        self.barCount = barCount
        self.isStereo = isStereo && format.channelCount > 1
        channels = (0..<(self.isStereo ? 2 : 1)).map { _ in Channel(format, hopFrames: hopFrames, barCount: barCount) }
        let count = barCount * channels.count
        motion = BarMotion(
            count: count, noiseReduction: Double(BarMotion.defaultNoiseReduction) / 100,
            hopSeconds: Double(hopFrames) / Double(format.sampleRate))
        heights = [Float](repeating: 0, count: count)
    }

    /// Processes the samples of a batch: those of the left and of the right channel.
    ///
    /// - Returns: Whether they are silent.
    func process(_ sides: [[Float]]) -> Bool {
        let signals = isStereo ? sides : [zip(sides[0], sides[1]).map { ($0 + $1) / 2 }]
        var isSilent = true
        for first in stride(from: 0, to: signals[0].count, by: hopFrames) {
            var isHopSilent = true
            for (channel, samples) in zip(channels, signals) {
                // The last hop of a batch that is not full is filled up with silence.
                var hop = Array(samples[first..<min(first + hopFrames, samples.count)])
                hop += repeatElement(0, count: hopFrames - hop.count)
                channel.process(hop)
                if !BarMotion.isSilent(hop.span, frameCount: hopFrames) { isHopSilent = false }
            }
            update(isSilent: isHopSilent)
            isSilent = isSilent && isHopSilent
        }
        return isSilent
    }

    private func update(isSilent: Bool) {
        var all = channels.flatMap(\.values)
        var span = all.mutableSpan
        motion.update(&span, isSilent: isSilent)
        heights = all
    }

    /// The level at frequencies with equal ratios, from the lowest to the highest, in decibels below a sine of full scale: the mean of
    /// the channels.
    func levels(count: Int) -> [Float] {
        let size = channels[0].size
        let binWidth = Double(format.sampleRate) / Double(size)
        let last = size / 2 - 1
        // The sum of a Hann window is half its length.
        let scale = 4 / Float(size) / Float(channels.count)
        let top = min(Self.range.upperBound, Double(format.sampleRate) / 2)
        let edges = (0...count).map { Self.range.lowerBound * pow(top / Self.range.lowerBound, Double($0) / Double(count)) / binWidth }
        let magnitudes = channels.map(\.magnitudes)
        func magnitude(_ bin: Int) -> Float { magnitudes.reduce(0) { $0 + $1[min(bin, last)] } * scale }
        return (0..<count).map { column in
            let (low, high) = (edges[column], edges[column + 1])
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
