/// Online peak picking: detects onsets in the onset strength without look-ahead.
///
/// A frame is an onset if it is a maximum of the last 30 ms and exceeds the moving mean of the last 100 ms by a threshold
/// (S. Böck, F. Krebs and M. Schedl, "Evaluating the Online Capabilities of Onset Detection Methods", ISMIR 2012).
struct OnsetPeakPicker: Sendable {
    /// Length of the moving mean, in seconds.
    private static let meanSeconds = 0.1
    /// Length of the moving maximum, in seconds; also the minimum time between onsets.
    private static let maximumSeconds = 0.03
    /// Minimum height above the moving mean, relative to the decaying maximum of the last seconds.
    private static let relativeThreshold: Float = 0.03
    /// Minimum onset strength, in octaves of amplitude.
    private static let threshold: Float = 0.02

    private let meanFrames: Int
    private let maximumFrames: Int
    private let decayPerFrame: Float
    private var recent = [Float](repeating: 0, count: 64)
    private var frame = 0
    private var lastOnsetFrame = -1 << 32
    private var highest: Float = 0
    /// Moving average of the onset strength of detected onsets; 0 before the first one.
    private(set) var averageStrength: Float = 0

    init(frameSeconds: Double) {
        meanFrames = min(60, max(1, Int((Self.meanSeconds / frameSeconds).rounded())))
        maximumFrames = min(60, max(1, Int((Self.maximumSeconds / frameSeconds).rounded())))
        decayPerFrame = Float(1 - frameSeconds / 5)
    }

    /// Processes the onset strength of the next frame.
    ///
    /// - Returns: The strength of the onset relative to the average onset, or nil if the frame is not an onset.
    mutating func advance(_ strength: Float) -> Float? {
        recent[frame & 63] = strength
        highest = max(strength, highest * decayPerFrame)
        defer { frame += 1 }
        var sum: Float = 0
        for age in 0...meanFrames { sum += recent[(frame - age) & 63] }
        for age in 1...maximumFrames where recent[(frame - age) & 63] > strength { return nil }
        let mean = sum / Float(meanFrames + 1)
        guard strength > Self.threshold, strength >= mean + Self.relativeThreshold * highest, frame - lastOnsetFrame > maximumFrames
        else { return nil }
        lastOnsetFrame = frame
        averageStrength += (strength - averageStrength) * (averageStrength == 0 ? 1 : 0.05)
        return strength / averageStrength
    }
}

/// The time of an onset, at a finer resolution than frames.
enum OnsetTime {
    /// Standard deviation of the onset strength of a typical attack around its centroid, in seconds.
    private static let typicalSpread = 0.00725
    /// Frames before and after the maximum that belong to the attack.
    private static let radius = 2

    /// The centroid of the onset strength, moved to the start of the attack.
    ///
    /// A slow attack starts long before its centroid: the onset strength of a click covers two frames, that of a drum or a piano
    /// three to five. The correction is twice the difference between the typical and the measured spread.
    ///
    /// - Parameters:
    ///   - best: The frame of the maximum. If it is no longer in `frames`, it is returned unchanged.
    ///   - frames: The available frames. `onsetStrength` is called for these only.
    ///   - onsetStrength: Returns the onset strength of a frame.
    /// - Returns: The time in frames.
    static func time(
        around best: Int, in frames: ClosedRange<Int>, frameSeconds: Double, _ onsetStrength: (Int) -> Float
    ) -> Double {
        guard frames.contains(best) else { return Double(best) }
        var (mass, moment, square) = (0.0, 0.0, 0.0)
        for frame in max(frames.lowerBound, best - radius)...min(frames.upperBound, best + radius) {
            let (value, offset) = (Double(onsetStrength(frame)), Double(frame - best))
            mass += value
            moment += value * offset
            square += value * offset * offset
        }
        guard mass > 0 else { return Double(best) }
        let centroid = moment / mass
        let spread = max(0, square / mass - centroid * centroid).squareRoot()
        return Double(best) + centroid + 2 * (typicalSpread / frameSeconds - spread)
    }
}
