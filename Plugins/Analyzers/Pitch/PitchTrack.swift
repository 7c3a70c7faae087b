/// The pitches of a whole stream, found in a first pass, and read in a second one.
///
/// - Complexity: 16 bytes per frame: 5 MB per hour.
final class PitchTrack {
    /// The frames that are decoded at once, and the least number of frames behind them: 6 s each.
    private static let blockFrames = 512

    private let decoder: PitchDecoder
    private var pitches: [DecodedPitch] = []
    /// The time of the first pitch, in seconds.
    private var start: Double?
    /// Frames in the decoder that are not decoded yet.
    private var waiting = 0
    /// The pitch that is read next.
    private var position = 0

    /// - Parameter frequencies: The range of pitches, in hertz.
    init(_ frequencies: ClosedRange<Double>) {
        decoder = PitchDecoder(frequencies, hopSeconds: PitchDetector.hopSeconds, capacity: 2 * Self.blockFrames)
    }

    // MARK: - First pass

    /// Adds the frame that the detector has processed. Frames that a gap has left out are unvoiced.
    ///
    /// - Parameter center: Its centre, in seconds.
    func add(_ detector: PitchDetector, at center: Double) {
        let index = Int(((center - (start ?? center)) / PitchDetector.hopSeconds).rounded())
        if start == nil { start = center }
        if index > pitches.count + waiting {
            finish()
            decoder.reset()
            pitches.append(contentsOf: repeatElement(.unvoiced, count: index - pitches.count))
        }
        decoder.advance(detector)
        waiting += 1
        if waiting == 2 * Self.blockFrames { decode(Self.blockFrames) }
    }

    /// Decodes the remaining frames.
    func finish() {
        if waiting > 0 { decode(waiting) }
    }

    /// Decodes the oldest frames of those that are not decoded yet.
    private func decode(_ count: Int) {
        decoder.decode(delay: waiting - 1, count: count) { pitches.append($0) }
        waiting -= count
    }

    // MARK: - Second pass

    /// The next pitch and its time, if that is not after a time; both in seconds.
    func next(until end: Double) -> (pitch: DecodedPitch, time: Double)? {
        guard position < pitches.count, let start else { return nil }
        let time = start + Double(position) * PitchDetector.hopSeconds
        guard time <= end else { return nil }
        defer { position += 1 }
        return (pitches[position], time)
    }
}
