internal import Glibc
internal import HemiolaSignal

/// Onsets at equal distances, as of a metronome or a count-in: they are beats, whatever the sound. The network has learned from music, and
/// finds no beats in soft beeps, and often not even their onsets.
///
/// Music has periodic onsets too, such as eighth notes. Where the network finds beats, they are better; but not in short sounds with silence
/// between them, where nothing else can be a beat.
struct PeriodicOnsets: Sendable {
    /// The number of periodic onsets from which on they are beats.
    static let leastCount = 5
    /// The activation of such a beat, and that of the other frames of its beat states.
    static let activation: Float = 0.9
    static let besides: Float = 0.5
    /// Frames from the first one with sound, whose window ends with the onset, to that of the onset.
    static let attackFrames = 2
    /// The largest difference of a distance from the mean distance, in seconds: onsets are found in frames of 10 ms.
    private static let tolerance = 0.015
    /// An onset so soon after another one belongs to the same sound, in seconds.
    private static let soundSeconds = 0.1
    /// Live: the network finds no beats while its strongest beat probability, which decays with this time constant in seconds, is below.
    private static let decaySeconds = 2.0
    private static let leastBeat: Float = 0.3

    private let frameSeconds: Double
    /// The distances of beats, in seconds.
    private let distances: ClosedRange<Double>
    private let decay: Float
    private var strongest: Float = 0
    private var last = -Double.infinity
    private var distance = 0.0
    /// The onsets so far that are periodic.
    private var count = 0
    /// Frames since the last silence, and frames that are left of the beat states.
    private var soundFrames = 0
    private var beatFrames = 0

    init(_ space: BeatStateSpace) {
        frameSeconds = space.frameSeconds
        distances = 60 / space.tempi.upperBound - Self.tolerance...60 / space.tempi.lowerBound + Self.tolerance
        decay = Float(exp(-space.frameSeconds / Self.decaySeconds))
    }

    /// Adds an onset, and returns whether it is periodic with the ones before it.
    private mutating func add(_ time: Double) -> Bool {
        let distance = time - last
        if distance < Self.soundSeconds { return false }
        last = time
        if count > 1, abs(distance - self.distance) < Self.tolerance {
            count += 1
            self.distance += (distance - self.distance) / Double(min(count - 1, 8))
        } else {
            (count, self.distance) = (distances.contains(distance) ? 2 : 1, distance)
        }
        return count > 2
    }

    /// Live: makes a beat of a periodic onset where the network finds none.
    mutating func advance(_ output: inout BeatNetwork.Output, isOnset: Bool, at time: Double) {
        strongest = max(output.networkBeat, strongest * decay)
        soundFrames = output.isSilent ? 0 : soundFrames + 1
        let begins = isOnset || soundFrames == Self.attackFrames + 1
        if begins, add(time), count >= Self.leastCount, strongest < Self.leastBeat {
            beatFrames = Self.beatFrames(distance, frameSeconds)
            (output.beat, output.networkBeat) = (Self.activation, Self.activation)
        } else if beatFrames > 0 {
            beatFrames -= 1
            output.beat = max(output.beat, Self.besides)
        }
    }

    /// The number of beat states of an interval, in seconds.
    static func beatFrames(_ interval: Double, _ frameSeconds: Double) -> Int {
        Int((interval / frameSeconds / Double(BeatStateSpace.observationLambda)).rounded(.up))
    }

    /// The runs of periodic onsets in a recording.
    ///
    /// - Parameter onsets: In frames, in order.
    static func runs(of onsets: [Int], _ space: BeatStateSpace) -> [[Int]] {
        var (periodic, runs, run) = (PeriodicOnsets(space), [[Int]](), [Int]())
        for onset in onsets {
            let last = periodic.last
            let isPeriodic = periodic.add(Double(onset) * space.frameSeconds)
            if periodic.last == last { continue }
            if !isPeriodic {
                runs.append(run)
                run = Array(run.suffix(periodic.count - 1))
            }
            run.append(onset)
        }
        return (runs + [run]).filter { $0.count >= leastCount }
    }
}

/// A sound after silence: how loud it is and how high, for the accents of a metronome.
struct IsolatedSound: Sendable {
    /// The frame with which it begins, and the number of its frames.
    let frame: Int
    private(set) var length = 0
    /// The logarithm of the largest amplitude of a band, and the centre of the spectrum then, in bands.
    private(set) var values: SIMD2<Float>

    /// The frames of the longest sound of a metronome: 150 ms, and a window of 46 ms.
    static let longest = 20
    var isShort: Bool { length <= Self.longest }

    /// The standard deviations below which differences are not noticed: about 1 dB, and half a semitone.
    private static let leastDeviation = SIMD2<Float>(0.1, 0.5)
    /// The difference between the means of accents and of other sounds, in standard errors.
    private static let leastDifference: Float = 5

    init(frame: Int, values: SIMD2<Float> = SIMD2(-.infinity, 0)) {
        (self.frame, self.values) = (frame, values)
    }

    mutating func add(_ filter: borrowing BandFilter) {
        length += 1
        guard isShort else { return }
        let loudness = log(filter.largest)
        if loudness > values.x { values = SIMD2(loudness, filter.centroid) }
    }

    /// The accents among sounds at equal distances: every second, third or fourth; nil if there are none.
    static func accents(_ sounds: [IsolatedSound]) -> (first: Int, distance: Int)? {
        var (best, greatest): ((first: Int, distance: Int)?, Float) = (nil, leastDifference)
        for distance in 2...4 where sounds.count >= 2 * distance {
            for first in 0..<distance {
                let accented = sounds.indices.filter { $0 % distance == first }.map { sounds[$0].values }
                let others = sounds.indices.filter { $0 % distance != first }.map { sounds[$0].values }
                let difference = mean(accented) - mean(others)
                let variance = (deviations(accented) + deviations(others)) / Float(sounds.count)
                let weight = Float(accented.count * others.count) / Float(sounds.count)
                let ratios = weight * difference * difference / (variance + leastDeviation * leastDeviation)
                // Of two kinds that take turns, the higher one is accented, or the louder one.
                if distance == 2, ratios.y > ratios.x ? difference.y < 0 : difference.x < 0 { continue }
                if ratios.max().squareRoot() > greatest { (best, greatest) = ((first, distance), ratios.max().squareRoot()) }
            }
        }
        return best
    }

    private static func mean(_ values: [SIMD2<Float>]) -> SIMD2<Float> {
        values.reduce(.zero, +) / Float(values.count)
    }

    /// The sum of the squared deviations from the mean.
    private static func deviations(_ values: [SIMD2<Float>]) -> SIMD2<Float> {
        let mean = mean(values)
        return values.reduce(.zero) { $0 + ($1 - mean) * ($1 - mean) }
    }
}
