/// The bars of a spectrum meter before automatic gain and motion, which ``BarMotion`` adds: bands of equal width in log frequency.
///
/// Lower bars use longer windows, so that they are as narrow as higher ones; white noise has the same level in each. The lowest bars have a
/// transform of their own, of the decimated signal. The others are computed from a spectrum that the caller has: an analyzer requests it.
///
///     spectrum = outputs.request(SpectrumRequest(size: bars.size, parts: .magnitude))            // in prepare
///     bars.measure(hop.mono, hop.spectra(spectrum).magnitude(0), into: &heights)                 // in process
///     motion.update(&heights, isSilent: BarMotion.isSilent(hop.mono, frameCount: hop.frameCount))
///
/// - Complexity: O(hop + size) per hop, and transforms of 512 and 256 frames for bars below 400 Hz; no allocation after `init`.
public struct BarSpectrum: ~Copyable {
    /// Range of the bars by default, in hertz.
    public static let defaultRange = 50.0...10_000.0

    private let bank: BarBank
    /// The transforms of the lowest bars; nil if no bar needs them.
    private var low: DecimatedSpectrum?

    /// Bars of equal width in log frequency.
    ///
    /// - Parameters:
    ///   - count: The number of bars, 1….
    ///   - lowest: The lower edge of the lowest bar, in hertz; above 0.
    ///   - highest: The upper edge of the highest bar, in hertz: above `lowest`, and at most half the sample rate.
    ///   - sampleRate: The rate of the stream, in hertz.
    ///   - hopFrames: Frames per hop of the stream.
    public init(count: Int, from lowest: Double, to highest: Double, sampleRate: Int, hopFrames: Int) {
        bank = BarBank(count: count, from: lowest, to: highest, sampleRate: sampleRate)
        if bank.usesDecimation {
            low = DecimatedSpectrum(
                windowFrames: bank.bassFrames, binCount: bank.bassBinCount, shortBinCount: bank.lowBinCount, hopFrames: hopFrames)
        }
    }

    /// The window length of the caller's spectrum, in frames: 2048 at 44.1 kHz, about 45 ms at any rate; twice that for narrow bars.
    public var size: Int { bank.size }
    /// The edges of the bars in hertz; one more than there are bars.
    public var edges: [Double] { bank.edges }
    /// Frames from the centre of the lowest bar's window to the newest frame.
    public var centerFrames: Double { bank.centerFrames }

    /// Processes a hop, and writes the value of each bar: about 1 for music at full scale.
    ///
    /// - Parameters:
    ///   - hop: A channel or the mono mix, zero-padded to a whole hop.
    ///   - magnitudes: |X| of the last `size` frames under a Hann window, the hop included: `size` / 2 bins or more, from DC on.
    ///   - values: As many as there are bars.
    public mutating func measure(_ hop: Span<Float>, _ magnitudes: Span<Float>, into values: inout MutableSpan<Float>) {
        if low == nil {
            bank.measure(bass: magnitudes, low: magnitudes, magnitudes, into: &values)
        } else {
            low!.advance(hop)
            low!.measure(bank, magnitudes, into: &values)
        }
    }

    /// Audio was lost: what came before the next hop counts as silence.
    public mutating func clear() {
        low?.clear()
    }
}
