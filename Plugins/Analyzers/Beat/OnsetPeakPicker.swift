/// Peak picking in the network's onset activation, live without look-ahead.
///
/// On annotated recordings (`onsets-dev`) the network's activation gives F 0.95 where the onset strength of `BandFilter` gives 0.87, and in
/// noise 2 onsets a minute in place of 900. That strength says how strong an onset is.
struct OnsetPeakPicker: Sendable {
    /// The least activation of an onset. Chosen on rendered music that was left out of the training: 0.2 to 0.4 differ by less than 0.01.
    private static let threshold: Float = 0.3
    /// In a whole file, an onset shortly after another one is weak in the activation, as of a flam or a roll: the least activation of one within
    /// so many seconds, if there is less than half of it between them.
    private static let leastAfterOnset: Float = 0.1
    private static let afterOnset = 0.1
    /// The minimum time between onsets, in seconds; also the length of the moving maximum.
    static let leastDistance = 0.03
    /// Minimum onset strength of a first frame, in octaves of amplitude.
    private static let leastFirstStrength: Float = 0.02

    private let maximumFrames: Int
    /// Activations and onset strengths of the last frames.
    private var activations = [Float](repeating: 0, count: 16)
    private var strengths = [Float](repeating: 0, count: 16)
    private var frame = 0
    private var lastOnsetFrame = -1 << 32
    /// Moving average of the onset strength of detected onsets; 0 before the first one.
    private(set) var averageStrength: Float = 0

    init(frameSeconds: Double) {
        maximumFrames = Self.maximumFrames(frameSeconds)
    }

    private static func maximumFrames(_ frameSeconds: Double) -> Int {
        min(15, max(1, Int((leastDistance / frameSeconds).rounded())))
    }

    /// Processes the next frame: an onset if its activation is sufficient and a maximum of the last 30 ms.
    ///
    /// - Parameters:
    ///   - activation: The network's.
    ///   - strength: Of `BandFilter`.
    /// - Returns: The strength of the onset relative to the average onset, or nil if the frame is not an onset.
    mutating func advance(_ activation: Float, strength: Float) -> Float? {
        defer { frame += 1 }
        activations[frame & 15] = activation
        strengths[frame & 15] = strength
        guard activation >= Self.threshold, frame - lastOnsetFrame > maximumFrames else { return nil }
        for age in 1...maximumFrames where activations[(frame - age) & 15] > activation { return nil }
        return mark()
    }

    /// Processes a frame of a stream whose onsets are known.
    ///
    /// - Returns: As above.
    mutating func advance(isOnset: Bool, strength: Float) -> Float? {
        defer { frame += 1 }
        strengths[frame & 15] = strength
        return isOnset ? mark() : nil
    }

    private mutating func mark() -> Float {
        lastOnsetFrame = frame
        var strength: Float = 0
        for age in 0...maximumFrames { strength = max(strength, strengths[(frame - age) & 15]) }
        averageStrength += (strength - averageStrength) * (averageStrength == 0 ? 1 : 0.05)
        return averageStrength > 0 ? strength / averageStrength : 1
    }

    /// The first frame was an onset after all. Call it while there is no other one.
    ///
    /// - Parameter strength: Its onset strength after silence.
    /// - Returns: Its strength relative to the average onset, or nil if it is too small for an onset.
    mutating func markFirst(_ strength: Float) -> Float? {
        guard strength > Self.leastFirstStrength else { return nil }
        lastOnsetFrame = 0
        averageStrength = strength
        return 1
    }

    /// The onsets of a whole recording, as indices of frames: local maxima of the activations.
    static func onsets(_ activations: [Float], frameSeconds: Double) -> [Int] {
        let radius = maximumFrames(frameSeconds)
        var found: [Int] = []
        for frame in activations.indices where activations[frame] >= leastAfterOnset {
            if activations[frame] < threshold {
                guard let last = found.last, Double(frame - last) * frameSeconds <= afterOnset + frameSeconds / 2,
                    activations[last..<frame].contains(where: { 2 * $0 < activations[frame] })
                else { continue }
            }
            let near = max(0, frame - radius)...min(activations.count - 1, frame + radius)
            let isMaximum = near.allSatisfy { activations[$0] <= activations[frame] }
            if isMaximum, found.last.map({ frame - $0 > radius }) ?? true { found.append(frame) }
        }
        return found
    }
}
