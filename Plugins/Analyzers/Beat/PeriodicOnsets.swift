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
    /// The downbeat probability of such a beat, relative to its beat probability, while its place in the bar is unknown.
    static let unknownShare: Float = 0.5
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
    /// The time of the last onset, and the mean distance of the last ones, in seconds.
    private(set) var last = -Double.infinity
    private(set) var distance = 0.0
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
    mutating func add(_ time: Double) -> Bool {
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
        if isShort { note(Self.values(filter)) }
    }

    /// Adds a frame with its values.
    mutating func add(_ values: SIMD2<Float>) {
        length += 1
        if isShort { note(values) }
    }

    private mutating func note(_ values: SIMD2<Float>) {
        if values.x > self.values.x { self.values = values }
    }

    /// The values of a frame.
    static func values(_ filter: borrowing BandFilter) -> SIMD2<Float> { SIMD2(log(filter.largest), filter.centroid) }

    /// The accents among sounds at equal distances: every second, third or fourth; nil if there are none.
    static func accents(_ sounds: [IsolatedSound]) -> (first: Int, distance: Int)? {
        var (best, greatest): ((first: Int, distance: Int)?, Float) = (nil, leastDifference)
        for distance in 2...4 where sounds.count >= 2 * distance {
            for first in 0..<distance {
                let (accented, others) = (Moments(sounds) { $0 % distance == first }, Moments(sounds) { $0 % distance != first })
                let difference = accented.mean - others.mean
                let variance = (accented.deviations + others.deviations) / Float(sounds.count)
                let weight = accented.count * others.count / Float(sounds.count)
                let ratios = weight * difference * difference / (variance + leastDeviation * leastDeviation)
                // Of two kinds that take turns, the higher one is accented, or the louder one.
                if distance == 2, ratios.y > ratios.x ? difference.y < 0 : difference.x < 0 { continue }
                if ratios.max().squareRoot() > greatest { (best, greatest) = ((first, distance), ratios.max().squareRoot()) }
            }
        }
        return best
    }

    /// The mean of the values of some sounds, and the sum of the squared deviations from it.
    private struct Moments {
        private(set) var count: Float = 0
        private(set) var mean = SIMD2<Float>.zero
        private(set) var deviations = SIMD2<Float>.zero

        init(_ sounds: [IsolatedSound], where isIncluded: (Int) -> Bool) {
            for index in sounds.indices where isIncluded(index) {
                count += 1
                let distance = sounds[index].values - mean
                mean += distance / count
                deviations += distance * (sounds[index].values - mean)
            }
        }
    }
}

/// Live: the bars of a metronome. The network has learned the bars of music, and tells those of single sounds at random.
struct MetronomeBars: Sendable {
    /// The number of sounds among which accents are found: four bars of four.
    private static let capacity = 16
    private var periodic: PeriodicOnsets
    /// The last sounds of the metronome, and the one that is heard now.
    private var sounds: [IsolatedSound] = []
    private var current: IsolatedSound?
    private var accents: (first: Int, distance: Int)?
    private var (wasSilent, isActive) = (true, false)
    /// Frames since the last silence, and the values of the frames of a group.
    private var heardFrames = 0
    private var values = [SIMD2<Float>](repeating: .zero, count: BeatNetwork.groupSize)

    init(_ space: BeatStateSpace) {
        periodic = PeriodicOnsets(space)
        sounds.reserveCapacity(Self.capacity)
    }

    /// Notes the values of a frame of the group that is processed next.
    mutating func listen(to filter: borrowing BandFilter, as index: Int) {
        heardFrames = filter.isSilent ? 0 : heardFrames + 1
        if heardFrames > 0, heardFrames <= IsolatedSound.longest { values[index] = IsolatedSound.values(filter) }
    }

    /// Replaces the network's downbeats while there is nothing but short sounds at equal distances, with silence between them.
    ///
    /// - Returns: Whether that begins, so that the network's downbeats before are of these sounds, too.
    mutating func advance(_ output: inout BeatNetwork.Output, at time: Double, index: Int) -> Bool {
        if output.isSilent {
            if let sound = current.take() { append(sound) }
        } else if wasSilent {
            begin(at: time)
        }
        wasSilent = output.isSilent
        current?.add(values[index])
        let distance = periodic.distance
        let wasActive = isActive
        isActive =
            sounds.count + 1 >= PeriodicOnsets.leastCount && current?.isShort ?? true && time - periodic.last < 1.5 * distance
        guard isActive else { return false }
        // The beat of the sound that is heard, of the one before, or of the next one.
        let number = current != nil || time - periodic.last > distance / 2 ? sounds.count : sounds.count - 1
        let share = accents.map { (number - $0.first) % $0.distance == 0 ? 1 : 0 } ?? PeriodicOnsets.unknownShare
        output.downbeat = share * max(output.networkBeat, 1e-3)
        return !wasActive
    }

    private mutating func begin(at time: Double) {
        let last = periodic.last
        let isPeriodic = periodic.add(time)
        // A sound right after another one belongs to it.
        if periodic.last == last { return }
        if !isPeriodic { forget() }
        current = IsolatedSound(frame: 0)
    }

    private mutating func append(_ sound: IsolatedSound) {
        guard sound.isShort else { return forget() }
        if sounds.count == Self.capacity { sounds.removeFirst() }
        sounds.append(sound)
        accents = IsolatedSound.accents(sounds)
    }

    private mutating func forget() {
        sounds.removeAll(keepingCapacity: true)
        accents = nil
    }
}
