internal import Glibc
internal import HemiolaSignal

/// The beats at which the chord changes, which is at the first beat of a bar more often than at others.
///
/// The chord of a beat is the most similar of the 24 major and minor triads (T. Fujishima, "Realtime Chord Recognition of Musical Sound",
/// ICMC 1999); a change has a cost, so that only a clearly better chord replaces another. The pitch classes are means of the bands of the
/// beat network, which cost no further transform: enough to hear that a chord changes, not to name it.
struct ChordChanges: Sendable {
    /// The bands that count, in hertz: below, they are much wider than a semitone, and above there are overtones.
    private static let range = 180.0...2000.0
    private static let classCount = 12
    /// What a chord gets in a beat that is similar to it by 1, and what a change costs.
    private static let similarityWeight: Float = 6
    private static let changeCost: Float = 1
    /// Both chords last at least this number of beats: shorter ones are passing.
    private static let leastBeats = 2
    /// Stored levels, one byte each, per nat.
    private static let resolution: Float = 50

    /// The pitch class of each band, and the share of a band in it; nil: the band is outside of the range.
    private let classes: [(pitchClass: Int, share: Float)?]
    /// The level of each pitch class in each frame.
    private var frames: [UInt8] = []

    /// - Parameter centers: The centre of each band, in hertz.
    init(_ centers: [Double]) {
        let numbers = centers.map { hertz -> Int? in
            guard Self.range.contains(hertz) else { return nil }
            return (Int((Double(Self.classCount) * log2(hertz / 440)).rounded()) % Self.classCount + Self.classCount) % Self.classCount
        }
        classes = numbers.map { number in number.map { ($0, 1 / Float(numbers.count(where: { $0 == number }))) } }
    }

    /// Adds a frame. O(bands).
    mutating func add(_ filter: borrowing BandFilter) {
        var sums = SIMD16<Float>.zero
        for (band, place) in classes.enumerated() {
            guard let place else { continue }
            sums[place.pitchClass] += place.share * filter.levels[BandFilter.firstIndex + band]
        }
        for index in 0..<Self.classCount { frames.append(UInt8(min(255, Self.resolution * sums[index]))) }
    }

    /// Whether the chord changes at each beat. O(frames + beats).
    ///
    /// - Parameter beats: Their frames, in order.
    func changes(at beats: [Int]) -> [Bool] {
        guard beats.count > 1 else { return beats.map { _ in false } }
        let chords = chords(at: beats)
        let starts = [0] + beats.indices.dropFirst().filter { chords[$0] != chords[$0 - 1] } + [beats.count]
        var result = beats.map { _ in false }
        for index in 1..<starts.count - 1 {
            let (before, after) = (starts[index] - starts[index - 1], starts[index + 1] - starts[index])
            result[starts[index]] = min(before, after) >= Self.leastBeats
        }
        return result
    }

    /// The most likely chord of each beat, 0…23, by the Viterbi algorithm: every change costs the same.
    private func chords(at beats: [Int]) -> [Int] {
        var scores = [Float](repeating: 0, count: 2 * Self.classCount)
        // The chord before the one of each beat.
        var origins: [[Int]] = []
        for index in beats.indices {
            let best = scores.indices.max { scores[$0] < scores[$1] } ?? 0
            let moved = scores[best] - Self.changeCost
            origins.append(scores.indices.map { scores[$0] >= moved ? $0 : best })
            let similarities = similarities(from: beats[index], to: end(of: index, beats))
            for chord in scores.indices { scores[chord] = max(scores[chord], moved) + Self.similarityWeight * similarities[chord] }
        }
        var chord = scores.indices.max { scores[$0] < scores[$1] } ?? 0
        return beats.indices.reversed().map { index in
            defer { chord = origins[index][chord] }
            return chord
        }.reversed()
    }

    /// The frame of the next beat; after the last one, as far away as the one before.
    private func end(of index: Int, _ beats: [Int]) -> Int {
        index + 1 < beats.count ? beats[index + 1] : 2 * beats[index] - beats[index - 1]
    }

    /// The cosine similarity of the triads with the pitch classes between two beats, without the attacks of both; 0 where there is nothing.
    private func similarities(from first: Int, to last: Int) -> [Float] {
        var sums = [Float](repeating: 0, count: Self.classCount)
        let start = max(0, first + 2)
        for frame in start..<max(start + 1, last - 1) where (frame + 1) * Self.classCount <= frames.count {
            for index in 0..<Self.classCount { sums[index] += Float(frames[frame * Self.classCount + index]) }
        }
        let mean = sums.reduce(0, +) / Float(Self.classCount)
        let levels = sums.map { $0 - mean }
        let norm = levels.reduce(0) { $0 + $1 * $1 }.squareRoot()
        guard norm > 0 else { return Array(repeating: 0, count: 2 * Self.classCount) }
        return (0..<2 * Self.classCount).map { chord in
            let (root, third) = (chord / 2, chord % 2 == 0 ? 4 : 3)
            let sum = [0, third, 7].reduce(0) { $0 + levels[(root + $1) % Self.classCount] }
            return sum / (norm * Float(3).squareRoot())
        }
    }
}
