/// The tempo of the user's taps.
struct TapTempo: Sendable {
    /// A pause longer than this starts a new series of taps, in seconds.
    private static let maximumPause = 3.0
    private static let capacity = 8
    private var times: [Double] = []

    /// The time of the last tap in seconds; nil before the first one.
    var last: Double? { times.last }

    init() {
        times.reserveCapacity(Self.capacity + 1)
    }

    /// Adds a tap.
    ///
    /// - Returns: The mean tempo in BPM if the series has at least three taps at even intervals (±25 %), otherwise nil.
    mutating func add(_ time: Double) -> Double? {
        if let last = times.last, time - last > Self.maximumPause { times.removeAll(keepingCapacity: true) }
        if times.count == Self.capacity { times.removeFirst() }
        times.append(time)
        guard times.count >= 3, let first = times.first, time > first else { return nil }
        let mean = (time - first) / Double(times.count - 1)
        for (tap, next) in zip(times, times.dropFirst()) where abs((next - tap) / mean - 1) > 0.25 {
            // The new tap starts a series with another tempo.
            times.removeFirst(times.count - 1)
            return nil
        }
        return 60 / mean
    }
}
