internal import Glibc
internal import HemiolaSignal

/// Triangular bands, a constant number per octave, over magnitude spectra of a periodic Hann window.
struct TriangularFilterBank: Sendable {
    /// Lowest and highest edge, in hertz. The highest is below the transition band of resamplers to 22.05 kHz, so that the bands do not
    /// depend on the sample rate of the stream.
    static let frequencyRange = 30.0...10_400.0

    /// A run of weights, padded to whole vectors of eight.
    private struct Band {
        var firstBin: Int
        var firstWeight: Int
        var vectors: Int
    }

    private let bands: [Band]
    private let weights: [Float]
    /// The frequency at the top of each triangle, in hertz.
    let centers: [Double]

    var count: Int { bands.count }

    /// Edges that fall on one bin count once: low bands are wider than their share of an octave.
    ///
    /// - Parameters:
    ///   - size: Length of the window, in frames.
    ///   - sampleRate: Sample rate of the spectra, in hertz.
    ///   - top: Bands above this frequency, in hertz, are left out.
    init(bandsPerOctave: Double, size: Int, sampleRate: Double, top: Double = frequencyRange.upperBound) {
        let binCount = size / 2 + 1
        let (lowest, highest) = (Self.frequencyRange.lowerBound, min(Self.frequencyRange.upperBound, top))
        let all = (0...max(0, Int((log2(highest / lowest) * bandsPerOctave).rounded(.down))))
            .map { Int((lowest * exp2(Double($0) / bandsPerOctave) * Double(size) / sampleRate).rounded()) }.filter { $0 < binCount }
        let edges = all.enumerated().filter { $0.offset == 0 || all[$0.offset - 1] != $0.element }.map(\.element)
        centers = edges.dropFirst().dropLast().map { Double($0) * sampleRate / Double(size) }
        var (bands, weights) = ([Band](), [Float]())
        for (low, (center, high)) in zip(edges, zip(edges.dropFirst(), edges.dropFirst(2))) {
            let shares = (low...high).map {
                $0 < center ? Double($0 - low) / Double(center - low) : Double(high - $0) / Double(high - center)
            }
            let vectors = (shares.count + 7) / 8
            let first = max(0, min(low, binCount - 8 * vectors))
            var row = [Float](repeating: 0, count: 8 * vectors)
            // A sine of amplitude 1 has magnitude size / 4: half the sum of the Hann window, which is size / 2.
            let scale = 4 / (Double(size) * shares.reduce(0, +))
            for (offset, share) in shares.enumerated() where low - first + offset < row.count {
                row[low - first + offset] = Float(share * scale)
            }
            bands.append(Band(firstBin: first, firstWeight: weights.count, vectors: vectors))
            weights += row
        }
        self.bands = bands
        self.weights = weights
    }

    /// Writes the amplitude of each band to `amplitudes` from index `first` on. O(bins), no allocation.
    func apply(_ magnitudes: Span<Float>, to amplitudes: inout [Float], from first: Int) {
        precondition(amplitudes.count >= first + bands.count)
        amplitudes.withUnsafeMutableBufferPointer { amplitudes in
            weights.withUnsafeBufferPointer { weights in
                magnitudes.withUnsafeBufferPointer { bins in
                    for index in bands.indices {
                        let band = bands[index]
                        var sum = Lanes.zero
                        for vector in 0..<band.vectors {
                            sum += bins.lanes(band.firstBin + 8 * vector) * weights.lanes(band.firstWeight + 8 * vector)
                        }
                        amplitudes[first + index] = sum.sum()
                    }
                }
            }
        }
    }
}
