internal import Glibc

/// How much speaks for a beat as the first of a phrase: there the music differs from what was one or two phrases of four bars before, where
/// it did not a bar earlier, or the reverse, as a repetition ends or begins (the novelty of J. Foote, ICME 2000, along a time lag).
///
/// A beat is compared with the beats 4, 8, 16 and 32 before it by the levels of its bands, halves of the beat apart. The sum over the four
/// beats from it on counts, so that the evidence of a beat is known when its bar is over.
struct PhraseEvidence: Sendable {
    /// The number of beats after a beat that its evidence waits for.
    static let delay = 3
    /// The parts of a beat that are compared.
    private static let partCount = 2
    private static let beatLength = partCount * BandFilter.bandCount
    /// Stored levels, one byte each, per nat.
    private static let resolution: Float = 50
    private static let lags = [4, 8, 16, 32]
    private static let barLength = 4
    /// Beats whose levels and distances are kept; more than the longest lag.
    private static let keptBeats = 64
    /// Evidence in nats per standard deviation, and that of an ordinary beat: by logistic regression on 30 tracker modules, times 2, with which
    /// the confidence is nearly true.
    private static let weights = SIMD3<Double>(1.3, 0.45, 0.6)
    private static let ordinary = -0.6
    private static let largest = 4.0

    /// The levels of the frames; nil capacity: of all, otherwise of the latest ones, as a ring.
    private var frames: [UInt8] = []
    private let capacity: Int?
    /// The number of frames so far.
    private(set) var frameCount = 0
    /// The levels of the latest beats, and their distances from those before by lag, as rings.
    private var beats = [Float](repeating: 0, count: keptBeats * beatLength)
    private var distances = [Double](repeating: 0, count: keptBeats * lags.count)
    private var beatCount = 0
    private var scales = (RunningScale(), RunningScale(), RunningScale())

    /// - Parameter capacity: The number of frames that are kept; nil: all.
    init(capacity: Int?) {
        self.capacity = capacity
        if let capacity { frames = Array(repeating: 0, count: capacity * BandFilter.bandCount) }
    }

    /// Adds a frame. O(bands).
    mutating func add(_ filter: borrowing BandFilter) {
        for band in 0..<BandFilter.bandCount {
            let level = UInt8(min(255, Self.resolution * filter.levels[BandFilter.firstIndex + band]))
            if let capacity {
                frames[frameCount % capacity * BandFilter.bandCount + band] = level
            } else {
                frames.append(level)
            }
        }
        frameCount += 1
    }

    /// Forgets the beats, but not the frames.
    mutating func forgetBeats() {
        beatCount = 0
        scales = (RunningScale(), RunningScale(), RunningScale())
    }

    /// Adds a beat that lasts from a frame to another one. O(frames of the beat); no allocation.
    ///
    /// - Returns: The evidence of the beat `delay` beats before it, in nats; nil for the first ones.
    mutating func addBeat(from first: Double, to last: Double) -> Double? {
        let slot = beatCount % Self.keptBeats
        for part in 0..<Self.partCount {
            let start = first + (last - first) * Double(part) / Double(Self.partCount)
            let end = start + (last - first) / Double(Self.partCount)
            average(Int(start.rounded()), Int(end.rounded()), into: slot * Self.beatLength + part * BandFilter.bandCount)
        }
        for (index, lag) in Self.lags.enumerated() where lag <= beatCount {
            distances[slot * Self.lags.count + index] = distance(slot, (beatCount - lag) % Self.keptBeats)
        }
        beatCount += 1
        let beat = beatCount - 1 - Self.delay
        guard beat >= 0 else { return nil }
        return evidence(of: beat)
    }

    /// Writes the mean levels of the frames.
    private mutating func average(_ first: Int, _ last: Int, into place: Int) {
        let oldest = capacity.map { max(0, frameCount - $0) } ?? 0
        let first = min(max(first, oldest), frameCount - 1)
        let range = first..<min(max(first + 1, last), frameCount)
        for band in 0..<BandFilter.bandCount {
            var sum = 0
            for frame in range { sum += Int(frames[(capacity.map { frame % $0 } ?? frame) * BandFilter.bandCount + band]) }
            beats[place + band] = Float(sum) / (Float(range.count) * Self.resolution)
        }
    }

    /// The mean distance of the levels of two beats.
    private func distance(_ one: Int, _ other: Int) -> Double {
        var sum: Float = 0
        for index in 0..<Self.beatLength { sum += abs(beats[one * Self.beatLength + index] - beats[other * Self.beatLength + index]) }
        return Double(sum) / Double(Self.beatLength)
    }

    private mutating func evidence(of beat: Int) -> Double {
        /// The mean distance of the beats of a bar from those before; nil if there are none.
        func bar(from beat: Int, lag index: Int) -> Double? {
            guard beat >= Self.lags[index] else { return nil }
            var sum = 0.0
            for offset in 0..<Self.barLength { sum += distances[(beat + offset) % Self.keptBeats * Self.lags.count + index] }
            return sum / Double(Self.barLength)
        }
        func edge(lag index: Int) -> Double? {
            guard let after = bar(from: beat, lag: index), let before = bar(from: beat - Self.barLength, lag: index) else { return nil }
            return abs(after - before)
        }
        var novelty: Double?
        for index in 0..<3 { if let distance = bar(from: beat, lag: index) { novelty = min(novelty ?? distance, distance) } }
        let values = SIMD3(scales.0.scaled(edge(lag: 2)), scales.1.scaled(novelty), scales.2.scaled(edge(lag: 3)))
        return min(max((Self.weights * values).sum() + Self.ordinary, -Self.largest), Self.largest)
    }
}

/// Values relative to the mean and the standard deviation of the latest ones.
private struct RunningScale: Sendable {
    /// Share of a value that is left after the next one.
    private static let decay = 0.97
    private static let leastDeviation = 0.03
    private static let limit = 3.0
    private var count = 0.0
    private var sum = 0.0
    private var squares = 0.0

    /// Adds a value.
    ///
    /// - Returns: Its distance from the mean in standard deviations, −3…3; 0 if it is nil or one of the first.
    mutating func scaled(_ value: Double?) -> Double {
        guard let value else { return 0 }
        count = count * Self.decay + 1
        sum = sum * Self.decay + value
        squares = squares * Self.decay + value * value
        guard count > 2 else { return 0 }
        let mean = sum / count
        let deviation = max(0, squares / count - mean * mean).squareRoot() + Self.leastDeviation
        return min(max((value - mean) / deviation, -Self.limit), Self.limit)
    }
}
