internal import Glibc
internal import HemiolaSignal

/// Mel-frequency cepstral coefficients, exactly as `librosa.feature.mfcc` defines them: 128 Slaney mel bands of |X|² from DC
/// to Nyquist, 10·log₁₀ with a floor of 10⁻¹⁰, orthonormal DCT-II. Unlike librosa's default, values more than 80 dB
/// below the maximum are kept (`top_db=None`): the maximum of a stream is not known in advance.
struct Cepstrum {
    private static let bandCount = 128
    private static let floor: Float = 1e-10

    private let bank: BandBank
    /// `count` rows of 128.
    private let cosines: [Float]
    private var bands = [Float](repeating: 0, count: bandCount)
    let count: Int

    init(count: Int, size: Int, sampleRate: Double) {
        self.count = count
        let edges = BandScale.melSlaney.edges(bands: Self.bandCount, from: 0, to: sampleRate / 2)
        bank = BandBank(triangles: edges, size: size, sampleRate: sampleRate, isSingleSided: false)
        let bandCount = Double(Self.bandCount)
        cosines = (0..<count).flatMap { row in
            (0..<Self.bandCount).map { column in
                let norm = (row == 0 ? 1 / bandCount : 2 / bandCount).squareRoot()
                return Float(norm * cos(Double.pi * Double(row) * (Double(column) + 0.5) / bandCount))
            }
        }
    }

    /// O(bins + 128 · count), no allocation.
    mutating func transform(_ power: Span<Float>, into result: inout MutableSpan<Float>) {
        // Local copies: during the access to `bands` no other property of this value can be read.
        let (bank, cosines, count) = (bank, cosines, count)
        var levels = bands.mutableSpan
        bank.sum(power, times: 1, into: &levels)
        for index in 0..<Self.bandCount { levels[index] = max(levels[index], Self.floor) }
        levels.convertToDecibels(factor: 10)
        let table = cosines.span
        for row in 0..<count {
            result[row] = levels.span.dot(table, from: row * Self.bandCount, over: 0..<Self.bandCount)
        }
    }
}
