#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The Viterbi algorithm: of all ways through tempi and phases, the likeliest that explains a whole piece.
///
/// The same model as `BeatBelief`, and the same trick: only beats are looked at. For every frame and tempo it keeps the
/// best way to a beat that begins there: a byte each for the way back.
struct BestPath {
    /// A beat on the way.
    struct Step: Sendable {
        /// In frames, where its onset is most likely.
        var frame: Double
        var interval: Int
    }

    /// Cost of a leap to any other tempo at a beat, in nats.
    private static let leapCost: Float = 18

    private let space: TempoSpace
    private let costs: [Float]
    private let logChanges: [Float]

    /// - Parameter reluctance: Of each tempo, nats a second.
    init(_ space: TempoSpace, reluctance: [Double]) {
        precondition(space.count <= 255, "a way back is a byte")
        self.space = space
        costs = reluctance.enumerated().map { Float($0.element * Double(space.intervals[$0.offset]) * space.frameSeconds) }
        logChanges = space.changes.map { $0 > 0 ? log($0) : -.infinity }
    }

    /// - Parameter evidence: Of every frame, how much likelier its onset strength is at a beat than elsewhere, in nats.
    /// - Returns: The beats, in order.
    func decode(_ evidence: [Float]) -> [Step] {
        let (lanes, count, reach) = (space.laneCount, space.count, space.reach)
        guard !evidence.isEmpty, let longest = space.intervals.last else { return [] }
        let areas = areaSums(evidence)
        // How good the best way to a beat at each of the last frames is, without that beat's own evidence.
        var ring = [Float](repeating: 0, count: (longest + 1) * lanes)
        var leaving = [Float](repeating: -.infinity, count: lanes + 2 * reach)
        var origins = [UInt8](repeating: 0, count: evidence.count * count)
        ring.withUnsafeMutableBufferPointer { ring in
            leaving.withUnsafeMutableBufferPointer { leaving in
                origins.withUnsafeMutableBufferPointer { origins in
                    logChanges.withUnsafeBufferPointer { changes in
                        for frame in evidence.indices {
                            var (best, bestTempo) = (-Float.infinity, 0)
                            for tempo in 0..<count {
                                let start = frame - space.intervals[tempo]
                                let row = (start + longest + 1) % (longest + 1)
                                let sum = start < 0 ? 0 : areas.sum(start, area: space.areas[tempo])
                                let value = ring[row * lanes + tempo] + sum - costs[tempo]
                                leaving[reach + tempo] = value
                                if value > best { (best, bestTempo) = (value, tempo) }
                            }
                            if frame & 127 == 127, best.isFinite {
                                // Only differences matter, and small numbers keep them.
                                for index in ring.indices { ring[index] -= best }
                                for index in leaving.indices { leaving[index] -= best }
                                best = 0
                            }
                            let row = frame % (longest + 1)
                            for block in 0..<space.blockCount {
                                var value = Lanes(repeating: best - Self.leapCost)
                                var origin = Lanes(repeating: Float(bestTempo))
                                let first = Lanes(0, 1, 2, 3, 4, 5, 6, 7) + Float(8 * block - reach)
                                for change in 0...2 * reach {
                                    let way =
                                        UnsafeBufferPointer(leaving).lanes(8 * block + change)
                                        + changes.lanes(change * lanes + 8 * block)
                                    let isBetter = way .> value
                                    value.replace(with: way, where: isBetter)
                                    origin.replace(with: first + Float(change), where: isBetter)
                                }
                                ring.store(value, row * lanes + 8 * block)
                                for lane in 0..<min(8, count - 8 * block) {
                                    origins[frame * count + 8 * block + lane] = UInt8(truncatingIfNeeded: Int(origin[lane]))
                                }
                            }
                        }
                    }
                }
            }
        }
        return walk(back: origins, ring, areas, frames: evidence.count)
    }

    private func walk(back origins: [UInt8], _ ring: [Float], _ areas: AreaSums, frames: Int) -> [Step] {
        guard let longest = space.intervals.last else { return [] }
        var (best, frame, tempo) = (-Float.infinity, 0, 0)
        for candidate in 0..<space.count {
            for age in 0..<min(frames, space.intervals[candidate]) {
                let start = frames - 1 - age
                let value =
                    ring[start % (longest + 1) * space.laneCount + candidate] + areas.sum(start, area: space.areas[candidate])
                if value > best { (best, frame, tempo) = (value, start, candidate) }
            }
        }
        var steps: [Step] = []
        while frame >= 0 {
            steps.append(
                Step(frame: Double(frame) + Double(space.areas[tempo] - 1) / 2, interval: space.intervals[tempo]))
            tempo = Int(origins[frame * space.count + tempo])
            frame -= space.intervals[tempo]
        }
        return steps.reversed()
    }

    /// For each width of a beat's area, the weighed evidence of the area that begins at each frame.
    private func areaSums(_ evidence: [Float]) -> AreaSums {
        var sums = AreaSums(frames: evidence.count, widest: space.longestArea)
        for (tempo, area) in space.areas.enumerated() where !sums.has(area) {
            let weights = (0..<area).map { space.areaWeights[$0 * space.laneCount + tempo] }
            sums.add(area: area, evidence, weights)
        }
        return sums
    }
}

/// Sums of evidence over the areas in which the onset of a beat may fall.
private struct AreaSums {
    private let frames: Int
    private var rows: [[Float]]

    init(frames: Int, widest: Int) {
        self.frames = frames
        rows = Array(repeating: [], count: widest + 1)
    }

    func has(_ area: Int) -> Bool { !rows[area].isEmpty }

    mutating func add(area: Int, _ evidence: [Float], _ weights: [Float]) {
        rows[area] = evidence.indices.map { frame in
            var sum: Float = 0
            for (age, weight) in weights.enumerated() where frame + age < frames { sum += weight * evidence[frame + age] }
            return sum
        }
    }

    @inline(__always)
    func sum(_ frame: Int, area: Int) -> Float { rows[area][frame] }
}
