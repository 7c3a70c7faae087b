/// What the user taps.
struct Taps: Sendable {
    /// A pause longer than this ends a run of taps, in seconds.
    private static let pause = 3.0
    private static let capacity = 8
    private var times: [Double] = []

    /// When the last one was; nil: never.
    var last: Double? { times.last }

    init() {
        times.reserveCapacity(Self.capacity + 1)
    }

    /// Adds a tap.
    ///
    /// - Returns: Beats per minute, once three taps or more have come evenly.
    mutating func add(_ time: Double) -> Double? {
        if let last = times.last, time - last > Self.pause { times.removeAll(keepingCapacity: true) }
        if times.count == Self.capacity { times.removeFirst() }
        times.append(time)
        guard times.count >= 3, let first = times.first, time > first else { return nil }
        let mean = (time - first) / Double(times.count - 1)
        for (tap, next) in zip(times, times.dropFirst()) where abs((next - tap) / mean - 1) > 0.25 {
            // Something else is tapped from here on.
            times.removeFirst(times.count - 1)
            return nil
        }
        return 60 / mean
    }
}
