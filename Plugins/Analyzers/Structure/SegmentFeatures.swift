internal import Glibc
internal import Hemiola
internal import HemiolaTonal

/// Computes frames of 0.1 s: the powers of 24 bands from a short spectrum, and the chroma of `ChromaExtractor`.
///
/// Both are computed every 0.05 s. The windows of the chroma are longer: the bands are delayed until their windows have about the same
/// centre.
///
/// - Complexity: 20 times a second the chroma, whose spectrum is shared with other analyzers of harmony, a transform of 46 ms and
///   O(its bins); no allocation after `init`.
final class SegmentFeatures {
    /// The interval of frames, in seconds.
    static let frameSeconds = 2 * ChromaExtractor.frameSeconds
    private static let stepSeconds = ChromaExtractor.frameSeconds
    /// The edges of the lowest and highest band, in hertz; the bands have equal widths on a mel scale.
    private static let range = 40.0...12_000.0
    /// The shortest window of the bands, in seconds.
    private static let windowSeconds = 0.04

    /// The last complete frame, and the middle of it in seconds from the start of the stream.
    private(set) var frame = SegmentFrame()
    private(set) var time = 0.0
    /// Whether the last complete frame follows the one before it without a gap.
    private(set) var isContinuous = false
    /// Seconds from the middle of a frame to the end of the audio that it needs.
    let latency: Double

    private let extractor: ChromaExtractor
    private let spectrum: SpectrumHandle
    private let size: Int
    private let sampleRate: Double
    /// Steps from the spectrum of the bands to that of the chroma with the same centre.
    private let delay: Int64
    private let capacity: Int64
    // Unsafe pointers: the buffers of the hot path, allocated once, indexed without exclusivity checks.
    /// For each band its first bin and the bin after its last one.
    private let bands: UnsafeMutablePointer<Range<Int>>
    /// The powers of the bands of the last steps, a ring, and the number of each step.
    private let powers: UnsafeMutablePointer<Float>
    private let steps: UnsafeMutablePointer<Int64>
    /// The first half of the next frame, and the number of its step; 0: there is none.
    private var half = SegmentFrame()
    private var halfStep: Int64 = 0
    /// The number of the last step of the last frame.
    private var lastStep: Int64 = 0

    init(_ stream: AnalysisFormat, outputs: inout AnalyzerOutputs) {
        let sampleRate = Double(stream.sampleRate)
        var size = 256
        while Double(size) < sampleRate * Self.windowSeconds { size *= 2 }
        extractor = ChromaExtractor(sampleRate: stream.sampleRate, hopFrames: stream.hopFrames, outputs: &outputs)
        spectrum = outputs.request(SpectrumRequest(size: size, hop: .seconds(Self.stepSeconds), parts: .power))
        let latency = Double(extractor.latencyFrames) / sampleRate
        self.latency = latency + Self.stepSeconds / 2
        delay = Int64(((latency - Double(size) / 2 / sampleRate) / Self.stepSeconds).rounded())
        capacity = delay + Int64(Double(stream.hopFrames) / sampleRate / Self.stepSeconds) + 4
        (self.size, self.sampleRate) = (size, sampleRate)
        bands = .allocate(capacity: SegmentFrame.bandCount)
        let width = sampleRate / Double(size)
        func mel(_ hertz: Double) -> Double { log(1 + hertz / 700) }
        let (low, high) = (mel(Self.range.lowerBound), mel(min(Self.range.upperBound, sampleRate / 2)))
        for band in 0..<SegmentFrame.bandCount {
            func bin(_ edge: Int) -> Int {
                Int((700 * (exp(low + (high - low) * Double(edge) / Double(SegmentFrame.bandCount)) - 1) / width).rounded())
            }
            let first = min(max(1, bin(band)), size / 2)
            (bands + band).initialize(to: first..<min(size / 2 + 1, max(first + 1, bin(band + 1))))
        }
        powers = .allocate(capacity: Int(capacity) * SegmentFrame.bandCount)
        powers.initialize(repeating: 0, count: Int(capacity) * SegmentFrame.bandCount)
        steps = .allocate(capacity: Int(capacity))
        steps.initialize(repeating: 0, count: Int(capacity))
    }

    deinit {
        bands.deallocate()
        powers.deallocate()
        steps.deallocate()
    }

    /// Measures the bands of a hop. Call it once for each hop, before `update`.
    func measureBands(of hop: borrowing Hop) {
        let spectra = hop.spectra(spectrum)
        // A sine of amplitude 1 has the power (size / 4)² with a Hann window.
        let scale = Float(16 / (Double(size) * Double(size)))
        for index in 0..<spectra.count {
            let step = number(spectra.center(of: index) + Double(size) / 2)
            let power = spectra.power(index)
            let place = Int(step % capacity)
            steps[place] = step
            let result = powers + place * SegmentFrame.bandCount
            for band in 0..<SegmentFrame.bandCount { result[band] = power.sum(bands[band]) * scale / Float(bands[band].count) }
        }
    }

    /// The number of steps that came with a hop.
    func stepCount(in hop: borrowing Hop) -> Int {
        extractor.frameCount(in: hop)
    }

    /// Computes a step of those that came with a hop; call it for each, in order.
    ///
    /// - Returns: Whether a frame is complete: `frame`, `time` and `isContinuous` are its.
    func update(from hop: borrowing Hop, _ index: Int) -> Bool {
        // A span must not outlive the variable that it is taken from.
        let extractor = self.extractor
        extractor.update(from: hop, index)
        let step = number(extractor.center + Double(extractor.latencyFrames))
        let place = Int(max(0, step - delay) % capacity)
        // Steps whose windows begin before the stream have no bands.
        guard step > delay, steps[place] == step - delay else { return false }
        var next = SegmentFrame()
        let bandPowers = powers + place * SegmentFrame.bandCount
        for vector in 0..<SegmentFrame.bandVectors { next.values[vector] = bandPowers.lanes(8 * vector) }
        let chroma = extractor.chroma
        for pitch in 0..<12 { next.values[SegmentFrame.bandVectors + pitch / 8][pitch % 8] = chroma[pitch] }
        guard step.isMultiple(of: 2) else {
            (half, halfStep) = (next, step)
            return false
        }
        guard halfStep == step - 1 else { return false }
        frame = SegmentFrame()
        frame.add(half, weight: 0.5)
        frame.add(next, weight: 0.5)
        time = (Double(step) - 0.5) * Self.stepSeconds - Double(extractor.latencyFrames) / sampleRate
        isContinuous = lastStep == step - 2
        lastStep = step
        return true
    }

    /// The number of the step whose windows end with a frame of the stream.
    private func number(_ end: Double) -> Int64 {
        Int64((end / sampleRate / Self.stepSeconds).rounded())
    }

    /// Audio was lost.
    func skip() {
        extractor.skip()
    }
}
