internal import Glibc
public import HemiolaRecords
public import HemiolaSignal

/// The constant-Q transform of the mono mix, from spectra of the bank.
///
/// J. C. Brown and M. S. Puckette, "An efficient algorithm for the calculation of a constant Q transform", J. Acoust. Soc. Am. 92(5),
/// 1992: the inner product of the signal with a bin's windowed complex exponential is computed from the spectrum of a longer frame and
/// the spectrum of the exponential, which is narrow. The window is Hann. Its spectrum is known in closed form, so that tables are
/// made without a transform.
///
/// Bins up to 2 kHz are computed from spectra at 8 kHz, higher ones at the rate of the stream. Spectra get shorter with the windows;
/// with centred windows there is one spectrum for all bins.
///
/// - Complexity: the transforms of the spectra, shared by all transforms with the same spectra, and O(bins · window ratio) per frame;
///   no allocation after `init`.
public final class ConstantQTransform {
    /// The sample rate of the spectra for low bins, in hertz, and the highest frequency for which they are used, which the bank's
    /// resampler attenuates by less than 0.1 dB.
    private static let lowRate = 8000
    private static let highestLow = 2100.0
    /// The part of a kernel's spectrum that is kept, in bandwidths of a window: from here on it is 57 dB below its maximum.
    private static let reach = 6.0
    /// A spectrum is not longer than so many windows: shorter windows have a shorter spectrum.
    private static let longestRatio = 16.0

    /// The bins of one spectrum.
    private struct Tier {
        var spectrum: SpectrumHandle
        var size: Int
        var bins: Range<Int>
    }

    /// Where the coefficients of a bin stand.
    private struct Kernel {
        /// The first value of the spectrum, which holds Re and Im alternately.
        var first: Int
        /// Vectors of eight values.
        var vectors: Int
        /// The first coefficient.
        var offset: Int
    }

    /// The bins. Those above the Nyquist frequency of the stream are left out.
    public let layout: ConstantQLayout
    private let tiers: [Tier]
    // Unsafe pointers: the tables of the hot path, allocated once, from which vectors are loaded without checks.
    private let kernels: UnsafeMutablePointer<Kernel>
    private let weights: UnsafeMutablePointer<Float>
    /// |X|² of each bin, and zeros up to a whole number of vectors.
    let values: UnsafeMutablePointer<Float>

    /// Makes the tables and requests the spectra.
    ///
    /// - Parameters:
    ///   - layout: The bins. Those above the Nyquist frequency of the stream are left out.
    ///   - sampleRate: The rate of the stream, in hertz.
    ///   - hop: How often the transform is computed.
    ///   - outputs: The outputs of the analyzer, to which the requests are added.
    public init(_ layout: ConstantQLayout, sampleRate: Int, hop: SpectrumHop, outputs: inout AnalyzerOutputs) {
        let layout = ConstantQLayout(
            lowest: layout.lowest, binsPerOctave: layout.binsPerOctave, count: layout.count(below: Double(sampleRate) / 2),
            quality: layout.quality, longestWindow: layout.longestWindow, alignment: layout.alignment)
        self.layout = layout
        var tiers: [Tier] = []
        var table: [Kernel] = []
        var coefficients: [Float] = []
        var bin = 0
        while bin < layout.count {
            let rate = layout.frequency(of: bin) <= Self.highestLow ? Self.lowRate : sampleRate
            let isCentered = layout.alignment == .centered
            let size = Self.size(for: isCentered ? layout.longestWindow : layout.window(of: bin), rate: rate)
            var end = bin + 1
            while end < layout.count, (layout.frequency(of: end) <= Self.highestLow ? Self.lowRate : sampleRate) == rate,
                isCentered || layout.window(of: end) * Double(rate) * Self.longestRatio >= Double(size)
            {
                end += 1
            }
            let request = SpectrumRequest(size: size, window: .rectangular, hop: hop, sampleRate: rate, parts: .complex)
            tiers.append(Tier(spectrum: outputs.request(request), size: size, bins: bin..<end))
            for index in bin..<end {
                table.append(Self.kernel(index, layout, size: size, rate: Double(rate), &coefficients))
            }
            bin = end
        }
        self.tiers = tiers
        kernels = .allocate(capacity: max(1, table.count))
        kernels.initialize(from: table, count: table.count)
        weights = .allocate(capacity: max(1, coefficients.count))
        weights.initialize(from: coefficients, count: coefficients.count)
        values = .allocate(capacity: (layout.count + 8) / 8 * 8)
        values.initialize(repeating: 0, count: (layout.count + 8) / 8 * 8)
    }

    deinit {
        kernels.deallocate()
        weights.deallocate()
        values.deallocate()
    }

    /// The smallest power of two of frames in which a window fits.
    private static func size(for seconds: Double, rate: Int) -> Int {
        var size = 64
        while Double(size) < seconds * Double(rate) - 1e-6, size < SpectrumRequest.sizes.upperBound { size *= 2 }
        return size
    }

    /// Appends the coefficients of a bin: for centred windows each twice, for Re and Im; else the row for the real part of the result
    /// and the row for the imaginary part.
    private static func kernel(
        _ bin: Int, _ layout: ConstantQLayout, size: Int, rate: Double, _ coefficients: inout [Float]
    ) -> Kernel {
        let size = Double(size)
        let length = min(size, layout.window(of: bin) * rate)
        let position = layout.frequency(of: bin) / rate * size
        let halfWidth = reach * size / length
        let lowest = max(0, Int((position - halfWidth).rounded(.up)))
        let highest = min(Int(size) / 2, Int((position + halfWidth).rounded(.down)))
        // Four complex values are a vector. The last values are 0, and none of them is behind the spectrum.
        let vectors = min((highest - lowest + 4) / 4, (Int(size) / 2 + 1) / 4)
        let first = min(lowest, Int(size) / 2 + 1 - 4 * vectors)
        let center = layout.alignment == .centered ? size / 2 : size - length / 2
        let kernel = Kernel(first: 2 * first, vectors: vectors, offset: coefficients.count)
        var (real, imaginary): ([Float], [Float]) = ([], [])
        for index in first..<first + 4 * vectors {
            let x = (Double(index) - position) * length / size
            // The transform of a Hann window, with a maximum of 2: a sine of amplitude 1 has the value 1.
            let value = abs(x) > reach ? 0 : 2 / size * hannTransform(x)
            if layout.alignment == .centered {
                // The phase at the centre of the frame is 0 or π.
                let signed = Float(index.isMultiple(of: 2) ? value : -value)
                real += [signed, signed]
            } else {
                // The number of whole turns is left out, which keeps the angle exact.
                let turns = (Double(index) * center / size).truncatingRemainder(dividingBy: 1)
                let (cosine, sine) = (Float(value * cos(2 * .pi * turns)), Float(value * sin(2 * .pi * turns)))
                real += [cosine, -sine]
                imaginary += [sine, cosine]
            }
        }
        coefficients += real
        coefficients += imaginary
        return kernel
    }

    /// The Fourier transform of a Hann window at x bandwidths from its centre, 1 at the centre.
    private static func hannTransform(_ x: Double) -> Double {
        if abs(x) < 1e-9 { return 1 }
        if abs(abs(x) - 1) < 1e-9 { return 0.5 }
        return sin(.pi * x) / (.pi * x) / (1 - x * x)
    }

    /// The number of frames that came with a hop.
    public func frameCount(in hop: borrowing Hop) -> Int {
        tiers.isEmpty ? 0 : hop.spectra(tiers[0].spectrum).count
    }

    /// The centre of the windows of the lowest bins of a frame, in frames of the stream.
    public func center(in hop: borrowing Hop, _ index: Int) -> Double {
        hop.spectra(tiers[0].spectrum).center(of: index)
    }

    /// |X|² of each bin, computed by the last `update`. A full-scale sine at the frequency of a bin has the value 1.
    public var powers: Span<Float> {
        @_lifetime(borrow self)
        get {
            let span = UnsafeBufferPointer(start: values, count: layout.count).span
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Computes a frame of those that came with a hop.
    public func update(from hop: borrowing Hop, _ index: Int) {
        for tier in tiers {
            let spectrum = hop.spectra(tier.spectrum).complex(index)
            precondition(spectrum.count == tier.size + 2, "the spectrum has the size of the request")
            spectrum.withUnsafeBufferPointer { buffer in
                guard let bins = buffer.baseAddress else { return }
                if layout.alignment == .centered {
                    for bin in tier.bins { values[bin] = Self.centered(bins, kernels[bin], weights) }
                } else {
                    for bin in tier.bins { values[bin] = Self.power(bins, kernels[bin], weights) }
                }
            }
        }
    }

    @inline(__always)
    private static func centered(_ bins: UnsafePointer<Float>, _ kernel: Kernel, _ weights: UnsafeMutablePointer<Float>) -> Float {
        let (x, w) = (bins + kernel.first, weights + kernel.offset)
        var (one, two) = (Lanes.zero, Lanes.zero)
        var index = 0
        while index + 16 <= 8 * kernel.vectors {
            one += x.lanes(index) * w.lanes(index)
            two += x.lanes(index + 8) * w.lanes(index + 8)
            index += 16
        }
        if index < 8 * kernel.vectors { one += x.lanes(index) * w.lanes(index) }
        let sum = one + two
        let (real, imaginary) = (sum.evenHalf.sum(), sum.oddHalf.sum())
        return real * real + imaginary * imaginary
    }

    @inline(__always)
    private static func power(_ bins: UnsafePointer<Float>, _ kernel: Kernel, _ weights: UnsafeMutablePointer<Float>) -> Float {
        let (x, w, v) = (bins + kernel.first, weights + kernel.offset, weights + kernel.offset + 8 * kernel.vectors)
        var (real, imaginary) = (Lanes.zero, Lanes.zero)
        var index = 0
        while index < 8 * kernel.vectors {
            let lanes = x.lanes(index)
            real += lanes * w.lanes(index)
            imaginary += lanes * v.lanes(index)
            index += 8
        }
        let (a, b) = (real.sum(), imaginary.sum())
        return a * a + b * b
    }
}
