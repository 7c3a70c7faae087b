import Foundation

/// The spectrum of one channel of interleaved stereo samples.
struct Tones {
    private let samples: [Float]
    private let sampleRate: Double

    init(_ interleaved: ArraySlice<Float>, channel: Int, sampleRate: Double = 44_100) {
        let first = interleaved.startIndex + channel
        samples = stride(from: first, to: interleaved.endIndex, by: 2).map { interleaved[$0] }
        self.sampleRate = sampleRate
    }

    /// The amplitude of one frequency (G. Goertzel, 1958), under a Hann window.
    func amplitude(of frequency: Double) -> Double {
        let count = Double(samples.count)
        let turn = 2 * cos(2 * .pi * frequency / sampleRate)
        var (last, older) = (0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            let window = 1 - cos(2 * .pi * Double(index) / count)
            (last, older) = (Double(sample) * window + turn * last - older, last)
        }
        return 2 / count * (last * last + older * older - turn * last * older).squareRoot()
    }

    /// Whether, in some window of 0.2 s, each side holds its sine of half full scale, and no third one.
    ///
    /// One window suffices, because a player on a busy machine may drop out.
    static func arePresent(left: Double, right: Double, without third: Double? = nil, in interleaved: ArraySlice<Float>) -> Bool {
        let length = 2 * 8_820
        return stride(from: interleaved.startIndex, through: interleaved.endIndex - length, by: length).contains { start in
            let window = interleaved[start..<start + length]
            let sides = [(Tones(window, channel: 0), left, right), (Tones(window, channel: 1), right, left)]
            return sides.allSatisfy { tones, own, other in
                abs(tones.amplitude(of: own) - 0.5) < 0.01 && tones.amplitude(of: other) < 0.002
                    && third.map { tones.amplitude(of: $0) < 0.002 } ?? true
            }
        }
    }
}
