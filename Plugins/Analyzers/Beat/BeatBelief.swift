#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The forward algorithm: how likely each tempo and phase is, given what was heard up to now.
///
/// Between beats a state only grows older, so nothing is moved: each block of eight tempi keeps a ring of the beats that began
/// so many frames ago, and what was entered as a beat leaves when its interval is over. Weights are relative to "no onset", so
/// that a frame touches only beats that are young enough for their onset to fall into it.
///
/// - Complexity: O(states / 8) per frame for the sums, O(tempi) for all else; no allocation.
struct BeatBelief: Sendable {
    /// What is believed at a frame.
    struct Summary: Sendable {
        /// Frames to the next beat, and from beat to beat.
        var remaining: Float = 0
        var interval: Float = 0
        /// How much of the belief stands behind them, 0…1.
        var share: Float = 0
    }

    /// How often the tempo leaps to any other at a beat.
    private static let leap: Float = 1e-8
    /// Tempi this near to the most likely one, and phases, are one belief.
    private static let tempoTolerance: Float = 0.06
    private static let phaseTolerance: Float = 0.08

    private let space: TempoSpace
    /// The first value of each block's ring, and its frames.
    private let offsets: [Int]
    private let lengths: [Int]
    private var heads: [Int]
    private var ring: [Float]
    /// What a tempo keeps of itself at each of its beats.
    private var keeps: [Float] = []
    private var starts: [Float] = []
    private var exits: [Float]
    private var peaks: [Float]
    private var frames = 0
    private(set) var summary = Summary()

    init(_ space: TempoSpace) {
        self.space = space
        var (offsets, lengths, next) = ([Int](), [Int](), 0)
        for block in 0..<space.blockCount {
            let length = space.intervals[min(space.count, 8 * block + 8) - 1]
            offsets.append(next)
            lengths.append(length)
            next += 8 * length
        }
        self.offsets = offsets
        self.lengths = lengths
        heads = Array(repeating: 0, count: space.blockCount)
        ring = Array(repeating: 0, count: next)
        // Room for neighbours beyond either end.
        exits = Array(repeating: 0, count: space.laneCount + 2 * space.reach)
        peaks = Array(repeating: 0, count: space.laneCount)
        prefer(space.reluctance())
        reset()
    }

    /// Any tempo at any phase again.
    mutating func reset() {
        for index in ring.indices { ring[index] = 0 }
        for index in heads.indices { heads[index] = 0 }
        frames = 0
        summary = Summary()
        for tempo in 0..<space.count {
            let interval = space.intervals[tempo]
            for age in 0..<interval { ring[place(tempo, age: age)] = starts[tempo] / Float(interval) }
        }
    }

    /// Settles what tempi are liked by themselves.
    ///
    /// - Parameter reluctance: Nats a second, of each tempo.
    mutating func prefer(_ reluctance: [Double]) {
        keeps = Array(repeating: 0, count: space.laneCount)
        starts = keeps
        var sum = 0.0
        for (tempo, cost) in reluctance.enumerated() {
            keeps[tempo] = Float(exp(-cost * Double(space.intervals[tempo]) * space.frameSeconds))
            sum += exp(-cost)
        }
        for (tempo, cost) in reluctance.enumerated() { starts[tempo] = Float(exp(-cost) / sum) }
    }

    /// Weighs every state: what the user says about the phase.
    mutating func weigh(_ weight: (_ interval: Int, _ age: Double) -> Double) {
        change { old, interval, age in old * Float(weight(interval, age)) }
    }

    /// Believes what the user says about tempo and phase, whatever was believed before.
    mutating func seed(_ weight: (_ interval: Int, _ age: Double) -> Double) {
        change { _, interval, age in Float(1e-9 + weight(interval, age)) }
    }

    private mutating func change(_ value: (_ old: Float, _ interval: Int, _ age: Double) -> Float) {
        for tempo in 0..<space.count {
            let interval = space.intervals[tempo]
            let middle = Double(space.areas[tempo] - 1) / 2
            for age in 0..<interval {
                let place = place(tempo, age: age)
                ring[place] = value(ring[place], interval, Double(age) - middle)
            }
        }
        normalize()
        summarize()
    }

    private func place(_ tempo: Int, age: Int) -> Int {
        let block = tempo >> 3
        let row = heads[block] - age
        return offsets[block] + 8 * (row < 0 ? row + lengths[block] : row) + tempo & 7
    }

    /// Takes in a frame.
    ///
    /// - Parameter evidence: How much likelier its onset strength is at a beat than elsewhere, in nats.
    mutating func advance(_ evidence: Float) {
        leave()
        enter()
        hear(evidence)
        summarize()
        frames += 1
        if frames & 7 == 0 { normalize() }
    }
}

// MARK: - A frame

extension BeatBelief {
    /// Beats whose interval is over make room.
    private mutating func leave() {
        let (space, offsets, lengths, keeps) = (space, offsets, lengths, keeps)
        for block in heads.indices { heads[block] = heads[block] + 1 == lengths[block] ? 0 : heads[block] + 1 }
        let heads = heads
        ring.withUnsafeMutableBufferPointer { ring in
            exits.withUnsafeMutableBufferPointer { exits in
                for tempo in 0..<space.count {
                    let block = tempo >> 3
                    let row = heads[block] - space.intervals[tempo]
                    let place = offsets[block] + 8 * (row < 0 ? row + lengths[block] : row) + tempo & 7
                    exits[space.reach + tempo] = ring[place] * keeps[tempo]
                    ring[place] = 0
                }
            }
        }
    }

    /// New beats begin, at nearly the same tempi.
    private mutating func enter() {
        let (space, offsets, heads) = (space, offsets, heads)
        let starts = starts
        ring.withUnsafeMutableBufferPointer { ring in
            exits.withUnsafeBufferPointer { exits in
                space.changes.withUnsafeBufferPointer { changes in
                    starts.withUnsafeBufferPointer { starts in
                        var total: Float = 0
                        for exit in exits { total += exit }
                        let leap = Lanes(repeating: total * Self.leap)
                        for block in 0..<space.blockCount {
                            var sum = starts.lanes(8 * block) * leap
                            for row in 0...2 * space.reach {
                                sum += exits.lanes(8 * block + row) * changes.lanes(row * space.laneCount + 8 * block)
                            }
                            ring.store(sum, offsets[block] + 8 * heads[block])
                        }
                    }
                }
            }
        }
    }

    /// The frame's evidence goes to the beats whose onset it may be.
    private mutating func hear(_ evidence: Float) {
        let (space, offsets, lengths, heads) = (space, offsets, lengths, heads)
        let factor = Lanes(repeating: evidence * 1.442_695)
        ring.withUnsafeMutableBufferPointer { ring in
            space.areaWeights.withUnsafeBufferPointer { weights in
                for block in 0..<space.blockCount {
                    let area = space.areas[min(space.count, 8 * block + 8) - 1]
                    for age in 0..<area {
                        let row = heads[block] - age
                        let place = offsets[block] + 8 * (row < 0 ? row + lengths[block] : row)
                        let weight = (factor * weights.lanes(age * space.laneCount + 8 * block)).powerOfTwo
                        ring.store(UnsafeBufferPointer(ring).lanes(place) * weight, place)
                    }
                }
            }
        }
    }

    private mutating func normalize() {
        var total: Float = 0
        ring.withUnsafeBufferPointer { ring in
            var sum = Lanes.zero
            for index in stride(from: 0, to: ring.count, by: 8) { sum += ring.lanes(index) }
            total = sum.sum()
        }
        guard total > 0, total.isFinite else { return reset() }
        let scale = Lanes(repeating: 1 / total)
        ring.withUnsafeMutableBufferPointer { ring in
            for index in stride(from: 0, to: ring.count, by: 8) {
                ring.store(UnsafeBufferPointer(ring).lanes(index) * scale, index)
            }
        }
    }

    /// Looks for the most likely state, and averages over its neighbours.
    private mutating func summarize() {
        let (space, offsets, lengths, heads) = (space, offsets, lengths, heads)
        let result: Summary = ring.withUnsafeBufferPointer { ring in
            peaks.withUnsafeMutableBufferPointer { peaks in
                var total = Lanes.zero
                for block in 0..<space.blockCount {
                    var peak = Lanes.zero
                    for index in stride(from: offsets[block], to: offsets[block] + 8 * lengths[block], by: 8) {
                        let value = ring.lanes(index)
                        total += value
                        peak.replace(with: value, where: value .> peak)
                    }
                    peaks.store(peak, 8 * block)
                }
                var best = 0
                for tempo in 1..<max(1, space.count) where peaks[tempo] > peaks[best] { best = tempo }
                let block = best >> 3
                var age = 0
                for row in 0..<lengths[block] where ring[offsets[block] + 8 * row + best & 7] == peaks[best] {
                    age = heads[block] - row
                    break
                }
                if age < 0 { age += lengths[block] }
                let interval = space.intervals[best]
                let (remaining, spread) = (interval - age, Self.tempoTolerance * Float(interval))
                let window = Int(Self.phaseTolerance * Float(interval)) + 1
                var (mass, time, period): (Float, Float, Float) = (0, 0, 0)
                for tempo in 0..<space.count where abs(Float(space.intervals[tempo] - interval)) <= spread {
                    let (block, length) = (tempo >> 3, space.intervals[tempo])
                    let middle = Float(space.areas[tempo] - 1) / 2
                    for rest in max(1, remaining - window)...max(1, min(length, remaining + window)) {
                        let row = heads[block] - (length - rest)
                        let value = ring[offsets[block] + 8 * (row < 0 ? row + lengths[block] : row) + tempo & 7]
                        mass += value
                        time += value * (Float(rest) + middle)
                        period += value * Float(length)
                    }
                }
                guard mass > 0 else { return Summary() }
                return Summary(remaining: time / mass, interval: period / mass, share: mass / total.sum())
            }
        }
        summary = result
    }
}
