/// Where in time an onset lies, finer than frames.
///
/// An attack that is slow begins long before its middle: the rise of the spectrum of a click is over in two frames, that of a drum
/// or a piano takes three to five.
enum Attack {
    /// How far the rise of an ordinary attack reaches from its middle.
    private static let ordinarySpread = 0.00725
    /// Frames before and after the strongest one that belong to it.
    private static let reach = 2

    /// The middle of what rises, moved by how much longer or shorter than usual it takes.
    ///
    /// - Parameters:
    ///   - best: The frame where it is strongest; one that is not there any more is taken for the place.
    ///   - frames: The ones there are; `rise` is asked for no other.
    ///   - rise: The onset strength of a frame.
    /// - Returns: In frames.
    static func place(around best: Int, in frames: ClosedRange<Int>, frameSeconds: Double, _ rise: (Int) -> Float) -> Double {
        guard frames.contains(best) else { return Double(best) }
        var (mass, moment, square) = (0.0, 0.0, 0.0)
        for frame in max(frames.lowerBound, best - reach)...min(frames.upperBound, best + reach) {
            let (value, offset) = (Double(rise(frame)), Double(frame - best))
            mass += value
            moment += value * offset
            square += value * offset * offset
        }
        guard mass > 0 else { return Double(best) }
        let middle = moment / mass
        let spread = max(0, square / mass - middle * middle).squareRoot()
        return Double(best) + middle + 2 * (ordinarySpread / frameSeconds - spread)
    }
}
