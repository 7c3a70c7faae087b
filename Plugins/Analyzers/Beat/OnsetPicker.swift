/// Finds the moments at which something begins: peaks of the onset strength, at once.
struct OnsetPicker: Sendable {
    private static let meanSeconds = 0.1
    private static let peakSeconds = 0.03
    /// How far a peak rises over the mean, as a part of the highest of the last seconds, and at least altogether.
    private static let relativeThreshold: Float = 0.03
    private static let threshold: Float = 0.02

    private let meanFrames: Int
    private let peakFrames: Int
    private let keep: Float
    private var recent = [Float](repeating: 0, count: 64)
    private var frame = 0
    private var lastFrame = -1 << 32
    private var highest: Float = 0
    /// What an onset has lately been like.
    private(set) var ordinary: Float = 0

    init(frameSeconds: Double) {
        meanFrames = min(60, max(1, Int((Self.meanSeconds / frameSeconds).rounded())))
        peakFrames = min(60, max(1, Int((Self.peakSeconds / frameSeconds).rounded())))
        keep = Float(1 - frameSeconds / 5)
    }

    /// - Returns: How marked an onset begins here; 1 is an ordinary one.
    mutating func advance(_ strength: Float) -> Float? {
        recent[frame & 63] = strength
        highest = max(strength, highest * keep)
        defer { frame += 1 }
        var sum: Float = 0
        for age in 0...meanFrames { sum += recent[(frame - age) & 63] }
        for age in 1...peakFrames where recent[(frame - age) & 63] > strength { return nil }
        let mean = sum / Float(meanFrames + 1)
        guard strength > Self.threshold, strength >= mean + Self.relativeThreshold * highest, frame - lastFrame > peakFrames
        else { return nil }
        lastFrame = frame
        ordinary += (strength - ordinary) * (ordinary == 0 ? 1 : 0.05)
        return strength / ordinary
    }
}
