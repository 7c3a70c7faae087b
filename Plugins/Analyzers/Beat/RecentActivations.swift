/// The activations of the last frames.
struct RecentActivations: Sendable {
    /// The activation of a beat that has passed.
    struct Peak {
        /// Time of the largest beat activation near the beat, in seconds, and the activation.
        var time: Double
        var activation: Double
        /// The network's largest beat probability near the beat.
        var strength: Double
        /// The largest downbeat probability near the beat, divided by `strength`.
        var downbeatShare: Double
    }

    /// Half-width of the window around a beat, in seconds: half the tolerance of beat evaluation.
    static let tolerance = 0.035
    /// Frames that are kept, a power of two.
    private static let length = 32

    private let frameSeconds: Double
    private var outputs = [BeatNetwork.Output](repeating: BeatNetwork.Output(), count: length)
    private var frame = 0
    private var lastTime = 0.0

    init(frameSeconds: Double) {
        self.frameSeconds = frameSeconds
    }

    /// Adds a frame.
    mutating func add(_ output: BeatNetwork.Output, at time: Double) {
        outputs[frame & (Self.length - 1)] = output
        frame += 1
        lastTime = time
    }

    /// The peak near a time that is at most 0.2 s before the last frame.
    func peak(near time: Double) -> Peak {
        let middle = frame - 1 + Int(((time - lastTime) / frameSeconds).rounded())
        let frames = max(frame - Self.length, 0)...frame - 1
        let peak = Self.peak(around: Double(middle), in: frames, frameSeconds: frameSeconds) { outputs[$0 & (Self.length - 1)] }
        return Peak(
            time: lastTime + (peak.time - Double(frame - 1)) * frameSeconds, activation: peak.activation,
            strength: peak.strength, downbeatShare: peak.downbeatShare)
    }

    /// The peak of the activations near a frame; times are in frames.
    ///
    /// The time is the centroid of the five frames around the maximum.
    static func peak(
        around middle: Double, in frames: ClosedRange<Int>, frameSeconds: Double, _ output: (Int) -> BeatNetwork.Output
    ) -> Peak {
        let radius = Int((tolerance / frameSeconds).rounded())
        let center = min(max(Int(middle.rounded()), frames.lowerBound), frames.upperBound)
        func near(_ frame: Int, _ radius: Int) -> ClosedRange<Int> {
            max(frames.lowerBound, frame - radius)...min(frames.upperBound, frame + radius)
        }
        var best = center
        for frame in near(center, radius) where output(frame).beat > output(best).beat { best = frame }
        var (mass, moment, beat, downbeat) = (0.0, 0.0, Float(1e-3), Float(0))
        for frame in near(best, 2) {
            let value = output(frame)
            mass += Double(value.beat)
            moment += Double(value.beat) * Double(frame - best)
            beat = max(beat, value.networkBeat)
            downbeat = max(downbeat, value.downbeat)
        }
        return Peak(
            time: Double(best) + (mass > 0 ? moment / mass : 0), activation: Double(output(best).beat),
            strength: Double(beat), downbeatShare: Double(downbeat / beat))
    }
}
