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

    /// The first frame was an onset after all. Call it while there is no other one.
    ///
    /// - Parameter strength: Its onset strength after silence.
    /// - Returns: Its strength relative to the average onset, or nil if it is too small for an onset.
    mutating func markFirst(_ strength: Float) -> Float? {
        guard strength > Self.threshold else { return nil }
        recent[0] = strength
        highest = max(strength, highest)
        lastOnsetFrame = 0
        averageStrength = strength
        return 1
    }
}
