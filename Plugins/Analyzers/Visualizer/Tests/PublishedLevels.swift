import Glibc

/// Reference implementation of the levels of Butterchurn and MilkDrop in double precision, written from the published algorithms and
/// independent of the analyzer.
struct PublishedLevels {
    enum Algorithm: String, CaseIterable {
        case butterchurn, milkdrop
    }

    let algorithm: Algorithm
    let fps: Double
    /// First bin, and bin after the last one, of bass, mid and treb.
    private var starts: [Int] = []
    private var stops: [Int] = []
    private var avg: [Double]
    private var longAvg: [Double]
    private var frame = 0
    private let fft = DoubleFFT(size: 1024)

    init(_ algorithm: Algorithm, sampleRate: Double, fps: Double) {
        self.algorithm = algorithm
        switch algorithm {
        case .butterchurn:
            self.fps = fps < 15 ? 15 : fps > 144 ? 144 : fps
            let bucketHz = sampleRate / 1024
            let bassLow = max(0, min(511, (20 / bucketHz).rounded() - 1))
            let bassHigh = max(0, min(511, (320 / bucketHz).rounded() - 1))
            let midHigh = max(0, min(511, (2800 / bucketHz).rounded() - 1))
            let trebHigh = max(0, min(511, (11025 / bucketHz).rounded() - 1))
            starts = [bassLow, bassHigh, midHigh].map { Int($0) }
            stops = [bassHigh, midHigh, trebHigh].map { Int($0) }
            avg = [1, 1, 1]
            longAvg = [1, 1, 1]
        case .milkdrop:
            self.fps = fps
            for i in 0..<3 {
                starts.append(512 * i / 6)
                stops.append(512 * (i + 1) / 6)
            }
            avg = [0, 0, 0]
            longAvg = [0, 0, 0]
        }
    }

    /// Window length of an update, in frames.
    var windowFrames: Int { algorithm == .butterchurn ? 1024 : 576 }

    /// One update.
    ///
    /// - Parameter wave: The last frames of the mono mix or of the left channel, −1…1.
    /// - Returns: bass, mid, treb, bass_att, mid_att, treb_att, vol.
    mutating func update(_ wave: [Double]) -> [Double] {
        var input = [Double](repeating: 0, count: 1024)
        for i in 0..<wave.count {
            // MilkDrop passes −1 to disable the envelope, but as the wrong argument (bEqualize), so the envelope is applied.
            let envelope =
                algorithm == .butterchurn ? 1 : 0.5 + 0.5 * sin(Double(i) * (1 / 576.0 * 2 * .pi) - .pi * 0.5)
            input[i] = wave[i] * 128 * envelope
        }
        let magnitude = fft.magnitudes(input)
        var imm = [0.0, 0, 0]
        for i in 0..<3 {
            for j in starts[i]..<stops[i] {
                let equalize = -0.02 * log(Double(512 - j) / 512)
                imm[i] += equalize * magnitude[j]
            }
        }
        var val = [1.0, 1, 1]
        var att = [1.0, 1, 1]
        for i in 0..<3 {
            var rate = imm[i] > avg[i] ? 0.2 : 0.5
            rate = pow(rate, 30 / fps)
            avg[i] = avg[i] * rate + imm[i] * (1 - rate)
            rate = frame < 50 ? 0.9 : 0.992
            rate = pow(rate, 30 / fps)
            longAvg[i] = longAvg[i] * rate + imm[i] * (1 - rate)
            if abs(longAvg[i]) >= 0.001 {
                val[i] = imm[i] / longAvg[i]
                att[i] = avg[i] / longAvg[i]
            }
        }
        frame += 1
        return val + att + [(val[0] + val[1] + val[2]) / 3]
    }

    /// The levels of a stereo stream: one update per hop. Each window ends with its hop.
    static func of(_ samples: [Float], _ algorithm: Algorithm, sampleRate: Int, hop: Int) -> [[Double]] {
        var levels = PublishedLevels(algorithm, sampleRate: Double(sampleRate), fps: Double(sampleRate) / Double(hop))
        let frames = samples.count / 2
        let signal = (0..<frames).map { frame in
            let (left, right) = (Double(samples[2 * frame]), Double(samples[2 * frame + 1]))
            return algorithm == .butterchurn ? (left + right) / 2 : left
        }
        return stride(from: hop, through: frames, by: hop).map { end in
            let first = end - levels.windowFrames
            let silence = [Double](repeating: 0, count: max(0, -first))
            return levels.update(silence + signal[max(0, first)..<end])
        }
    }
}

/// A radix-2 FFT in double precision.
final class DoubleFFT {
    let size: Int
    private let real: UnsafeMutablePointer<Double>
    private let imaginary: UnsafeMutablePointer<Double>
    private let cosines: UnsafeMutablePointer<Double>
    private let sines: UnsafeMutablePointer<Double>
    /// Bit-reversed indices.
    private let permutation: [Int]

    init(size: Int) {
        self.size = size
        real = .allocate(capacity: size)
        imaginary = .allocate(capacity: size)
        cosines = .allocate(capacity: size / 2)
        sines = .allocate(capacity: size / 2)
        for index in 0..<size / 2 {
            cosines[index] = cos(2 * .pi * Double(index) / Double(size))
            sines[index] = -sin(2 * .pi * Double(index) / Double(size))
        }
        let bits = size.trailingZeroBitCount
        permutation = (0..<size).map { index in (0..<bits).reduce(0) { $0 | (index >> $1 & 1) << (bits - 1 - $1) } }
    }

    deinit {
        real.deallocate()
        imaginary.deallocate()
        cosines.deallocate()
        sines.deallocate()
    }

    /// |X| from DC to below Nyquist.
    func magnitudes(_ input: [Double]) -> [Double] {
        for index in 0..<size {
            real[index] = input[permutation[index]]
            imaginary[index] = 0
        }
        var half = 1
        while half < size {
            let step = size / (2 * half)
            var turn = 0
            while turn < half {
                let (c, s) = (cosines[turn * step], sines[turn * step])
                var low = turn
                while low < size {
                    let high = low + half
                    let r = c * real[high] - s * imaginary[high]
                    let i = c * imaginary[high] + s * real[high]
                    real[high] = real[low] - r
                    imaginary[high] = imaginary[low] - i
                    real[low] += r
                    imaginary[low] += i
                    low += 2 * half
                }
                turn += 1
            }
            half *= 2
        }
        return (0..<size / 2).map { (real[$0] * real[$0] + imaginary[$0] * imaginary[$0]).squareRoot() }
    }
}
