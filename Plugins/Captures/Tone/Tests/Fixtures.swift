import Hemiola
import TestSupport

@testable import ToneCapture

/// A capture of a SPEC of `tone`.
func tone(_ spec: String) throws -> FiniteToneCapture {
    try FiniteToneCapture(ToneSettings(CapturePlugin.tone.about.values(parsing: spec)))
}

extension ToneCapture {
    /// Reads to the end.
    ///
    /// - Parameters:
    ///   - frames: Size of the buffer of each read, in frames.
    ///   - limit: Maximum number of samples.
    func samples(_ channelCount: Int, frames: Int = 1024, limit: Int = .max) throws -> [Float] {
        var samples: [Float] = []
        var buffer = [Float](repeating: 77, count: frames * channelCount)
        while samples.count < limit {
            var span = buffer.mutableSpan
            guard case .frames(let count) = try read(into: &span) else { break }
            samples += buffer[..<(count * channelCount)]
        }
        return Array(samples.prefix(limit))
    }
}

/// All samples of a SPEC with one channel; the default sample rate is 44.1 kHz.
func mono(_ spec: String, frames: Int = 1024) throws -> [Float] {
    let capture = try tone("\(spec),channels=1")
    _ = try capture.open(FormatRequest())
    return try capture.samples(1, frames: frames)
}

/// The amplitude of one frequency in a signal (G. Goertzel, 1958), under a Hann window.
func amplitude(of frequency: Double, in samples: some Collection<Float>, sampleRate: Double = 44_100) -> Double {
    let count = Double(samples.count)
    let turn = 2 * PortableMath.sine(PortableMath.phase(periods: frequency / sampleRate + 0.25))
    var (last, older) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
        let window = 1 - PortableMath.sine(PortableMath.phase(periods: Double(index) / count + 0.25))
        (last, older) = (Double(sample) * window + turn * last - older, last)
    }
    return 2 / count * (last * last + older * older - turn * last * older).squareRoot()
}

extension Collection where Element == Float {
    var peak: Float { reduce(0) { Swift.max($0, abs($1)) } }
    var rootMeanSquare: Double { (reduce(0) { $0 + Double($1) * Double($1) } / Double(count)).squareRoot() }
}

extension Double {
    /// The amplitude of this level in decibels.
    var asAmplitude: Double { PortableMath.powerOfTwo(self / 20 * 3.321_928_094_887_362) }
}
