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
