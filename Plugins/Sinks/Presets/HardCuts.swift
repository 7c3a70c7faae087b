#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

enum HardCut {
    /// Seconds of every stream in which there is no hard cut. The long averages of the levels begin at 0 with the stream, so that its
    /// first updates read as a hundred times as loud as usual; after 3 s a level is within some percent of what it becomes.
    static let settlingSeconds = 3.0
}

/// MilkDrop's hard cut: where the loudness exceeds a threshold, which every cut doubles and time brings back.
struct MilkDropCut: Sendable {
    private let level: Double
    private let halfLife: Double
    private(set) var threshold: Double

    /// - Parameter halfLife: As MilkDrop calls it; with its constant the excess is halved in half that time.
    init(level: Double, halfLife: Double) {
        self.level = level
        self.halfLife = halfLife
        threshold = 2 * level
    }

    /// Hears one update.
    ///
    /// - Parameters:
    ///   - sum: Bass, mid and treb together.
    ///   - seconds: Since the last update.
    ///   - mayCut: Whether a cut is allowed now; if not, the threshold goes on falling.
    mutating func hear(sum: Double, seconds: Double, mayCut: Bool) -> Bool {
        if mayCut, sum > 3 * threshold {
            threshold *= 2
            return true
        }
        threshold = (threshold - level) * exp(-1.3863 * seconds / halfLife) + level
        return false
    }
}

/// projectM's hard cut: where the volume jumps from one update to the next.
struct ProjectMCut: Sendable {
    /// projectM ignores its first frames, in which the averages still settle.
    private static let settlingUpdates = 50

    private let jump: Double
    private let earliest: Double
    private var updates = 0
    private var volume = Double.nan

    /// - Parameter earliest: Seconds that the preset must have stayed.
    init(jump: Double, earliest: Double) {
        self.jump = jump
        self.earliest = earliest
    }

    mutating func hear(volume new: Double, timeOnPreset: Double) -> Bool {
        defer { volume = new }
        updates += 1
        return updates > Self.settlingUpdates && new - volume > jump && timeOnPreset > earliest
    }
}

/// Hears the music come back after a quieter passage: the energy of the last moment against that of the last seconds.
struct DropDetector: Sendable {
    private static let fastSeconds = 0.2
    private static let slowSeconds = 3.0
    /// −90 dBFS: what is quieter is silence, and all silence is alike.
    private static let floor = 1e-9
    /// Below this share of the rise, in decibels, the next drop can come.
    private static let rearmingShare = 0.5

    private let decibels: Double
    private var fast = floor
    private var slow = floor
    private var elapsed = 0.0
    private var isArmed = false

    init(decibels: Double) {
        self.decibels = decibels
    }

    /// - Parameter level: RMS in dBFS over the last `seconds`.
    mutating func hear(level: Double, seconds: Double) -> Bool {
        guard level.isFinite else { return false }
        elapsed += seconds
        let power = max(Self.floor, pow(10, level / 10))
        // Plain means at first, so that the start of a stream is no rise.
        fast += (power - fast) * max(1 - exp(-seconds / Self.fastSeconds), min(1, seconds / elapsed))
        slow += (power - slow) * max(1 - exp(-seconds / Self.slowSeconds), min(1, seconds / elapsed))
        let rise = 10 * log10(fast / slow)
        if rise < decibels * Self.rearmingShare { isArmed = true }
        guard isArmed, rise >= decibels else { return false }
        isArmed = false
        return true
    }
}
