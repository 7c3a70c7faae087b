internal import Glibc
internal import HemiolaRecords
internal import HemiolaSignal

/// The Viterbi algorithm: the most likely sequence of beats for all observations of a stream.
///
/// It uses the model of `ForwardDecoder`. Between beats a state only grows older, so only the states of age 0 are computed: for
/// each frame and tempo the best path to a beat that starts there, with a backpointer of one byte.
struct ViterbiDecoder {
    /// A beat on the most likely path.
    struct Beat: Sendable {
        /// The frames of its beat states.
        var frames: Range<Int>
        /// The interval to the next beat, in frames.
        var interval: Int
    }

    private let space: BeatStateSpace
    private let costsPerBeat: [Float]
    private let logTransitions: [Float]
    private let newTempoCost = -log(BeatStateSpace.newTempoProbability)

    /// Cost of a beat, in nats: between two levels that explain the music equally well, the slower one has half the beats. Real music was
    /// reported at twice its tempo far more often than at half of it. One nat helps slow music more, and costs metal of 170 to 190 BPM
    /// 0.03 of F.
    private static let costPerBeat: Float = 0.5

    /// - Parameter tempoPrior: Negative log probability of each tempo, in nats per second.
    init(_ space: BeatStateSpace, tempoPrior: [Double]) {
        precondition(space.count <= 255, "a backpointer is one byte")
        self.space = space
        costsPerBeat = tempoPrior.enumerated().map {
            Self.costPerBeat + Float($0.element * Double(space.intervals[$0.offset]) * space.frameSeconds)
        }
        logTransitions = space.transitions.map { $0 > 0 ? log($0) : -.infinity }
    }

    /// - Parameter activations: The beat activation of each frame.
    /// - Returns: The beats in order of time.
    func decode(_ activations: [Float]) -> [Beat] {
        let (lanes, count, reach) = (space.laneCount, space.count, space.transitionReach)
        guard !activations.isEmpty, let longest = space.intervals.last else { return [] }
        let observations = ObservationSums(activations, widths: space.observationFrames)
        // Log probability of the best path to a beat at each of the last frames, without the observation of that beat.
        var ring = [Float](repeating: 0, count: (longest + 1) * lanes)
        var ending = [Float](repeating: -.infinity, count: lanes + 2 * reach)
        var backpointers = [UInt8](repeating: 0, count: activations.count * count)
        ring.withUnsafeMutableBufferPointer { ring in
            ending.withUnsafeMutableBufferPointer { ending in
                backpointers.withUnsafeMutableBufferPointer { backpointers in
                    logTransitions.withUnsafeBufferPointer { transitions in
                        for frame in activations.indices {
                            var (best, bestTempo) = (-Float.infinity, 0)
                            for tempo in 0..<count {
                                let start = frame - space.intervals[tempo]
                                let row = (start + longest + 1) % (longest + 1)
                                let sum = start < 0 ? 0 : observations.sum(start, width: space.observationFrames[tempo])
                                let value = ring[row * lanes + tempo] + sum - costsPerBeat[tempo]
                                ending[reach + tempo] = value
                                if value > best { (best, bestTempo) = (value, tempo) }
                            }
                            if frame & 127 == 127, best.isFinite {
                                // Only differences matter. Small values keep their precision.
                                for index in ring.indices { ring[index] -= best }
                                for index in ending.indices { ending[index] -= best }
                                best = 0
                            }
                            let row = frame % (longest + 1)
                            for block in 0..<space.blockCount {
                                var value = Lanes(repeating: best - newTempoCost)
                                var origin = Lanes(repeating: Float(bestTempo))
                                let first = Lanes(0, 1, 2, 3, 4, 5, 6, 7) + Float(8 * block - reach)
                                for change in 0...2 * reach {
                                    let candidate =
                                        ending.lanes(8 * block + change)
                                        + transitions.lanes(change * lanes + 8 * block)
                                    let isBetter = candidate .> value
                                    value.replace(with: candidate, where: isBetter)
                                    origin.replace(with: first + Float(change), where: isBetter)
                                }
                                ring.store(value, row * lanes + 8 * block)
                                for lane in 0..<min(8, count - 8 * block) {
                                    backpointers[frame * count + 8 * block + lane] = UInt8(truncatingIfNeeded: Int(origin[lane]))
                                }
                            }
                        }
                    }
                }
            }
        }
        return backtrack(backpointers, ring, observations, frames: activations.count)
    }

    private func backtrack(_ backpointers: [UInt8], _ ring: [Float], _ observations: ObservationSums, frames: Int) -> [Beat] {
        guard let longest = space.intervals.last else { return [] }
        var (best, frame, tempo) = (-Float.infinity, 0, 0)
        for candidate in 0..<space.count {
            for age in 0..<min(frames, space.intervals[candidate]) {
                let start = frames - 1 - age
                let value =
                    ring[start % (longest + 1) * space.laneCount + candidate]
                    + observations.sum(start, width: space.observationFrames[candidate])
                if value > best { (best, frame, tempo) = (value, start, candidate) }
            }
        }
        var beats: [Beat] = []
        while frame >= 0 {
            let end = min(frames, frame + space.observationFrames[tempo])
            beats.append(Beat(frames: frame..<end, interval: space.intervals[tempo]))
            tempo = Int(backpointers[frame * space.count + tempo])
            frame -= space.intervals[tempo]
        }
        return beats.reversed()
    }
}

/// Sums of the log likelihood ratios over the beat states that start at each frame, by the number of beat states.
private struct ObservationSums {
    private var rows: [[Float]]

    init(_ activations: [Float], widths: [Int]) {
        rows = Array(repeating: [], count: (widths.max() ?? 0) + 1)
        let ratios = activations.map { log(BeatStateSpace.likelihoodRatio($0)) }
        for width in Set(widths) {
            rows[width] = ratios.indices.map { frame in
                var sum: Float = 0
                for index in frame..<min(ratios.count, frame + width) { sum += ratios[index] }
                return sum
            }
        }
    }

    @inline(__always)
    func sum(_ frame: Int, width: Int) -> Float { rows[width][frame] }
}
