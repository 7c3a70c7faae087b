#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The forward algorithm: how likely each tempo and phase is, given what was heard up to now.
///
/// Between beats a state only grows older, so nothing is moved: each block of eight tempi keeps a ring of the beats that began
/// so many frames ago, and what was entered as a beat leaves when its interval is over. Weights are relative to "no onset", so
/// that a frame touches only beats that are young enough for their onset to fall into it: older ones have settled. How likely
/// the likeliest of those is stays known until it leaves.
///
/// - Complexity: O(tempi · reach / 8) per frame, and O(states / 8) now and then; no allocation.
struct BeatBelief: Sendable {
    /// What is believed at a frame.
    struct Summary: Sendable {
        /// Frames to the next beat, and from beat to beat.
        var remaining: Float = 0
        var interval: Float = 0
    }

    /// How often the tempo leaps to any other at a beat.
    private static let leap: Float = 1e-8
    /// Tempi this near to the most likely one, and phases, are one belief.
    private static let tempoTolerance: Float = 0.06
    private static let phaseTolerance: Float = 0.08
    /// Within this the likeliest state is kept, by powers of two, which change nothing else.
    private static let range: ClosedRange<Float> = 0x1p-24...0x1p24

    private let space: TempoSpace
    /// The first value of each block's ring, and its frames.
    private let offsets: [Int]
    private let lengths: [Int]
    /// Of each block, the frames in which the onset of a beat may fall.
    private let areas: [Int]
    private var heads: [Int]
    private var ring: [Float]
    /// What a tempo keeps of itself at each of its beats.
    private var keeps: [Float] = []
    private var starts: [Float] = []
    private var exits: [Float]
    /// The likeliest phase of each tempo, of all and of those that have settled.
    private var peaks: [Float]
    private var settledPeaks: [Float]
    /// Blocks in which the likeliest settled phase has left.
    private var isStale: [Bool]
    private(set) var summary = Summary()

    init(_ space: TempoSpace) {
        self.space = space
        var (offsets, lengths, areas, next) = ([Int](), [Int](), [Int](), 0)
        for block in 0..<space.blockCount {
            let slowest = min(space.count, 8 * block + 8) - 1
            offsets.append(next)
            lengths.append(space.intervals[slowest])
            areas.append(space.areas[slowest])
            next += 8 * space.intervals[slowest]
        }
        self.offsets = offsets
        self.lengths = lengths
        self.areas = areas
        heads = Array(repeating: 0, count: space.blockCount)
        ring = Array(repeating: 0, count: next)
        // Room for neighbours beyond either end.
        exits = Array(repeating: 0, count: space.laneCount + 2 * space.reach)
        peaks = Array(repeating: 0, count: space.laneCount)
        settledPeaks = peaks
        isStale = Array(repeating: true, count: space.blockCount)
        prefer(space.reluctance())
        reset()
    }

    /// Any tempo at any phase again.
    mutating func reset() {
        for index in ring.indices { ring[index] = 0 }
        for index in heads.indices { heads[index] = 0 }
        for index in isStale.indices { isStale[index] = true }
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
        for index in isStale.indices { isStale[index] = true }
        conclude()
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
        conclude()
    }

    private mutating func conclude() {
        if weigh() { summarize() } else { reset() }
    }
}

// MARK: - A frame

extension BeatBelief {
    /// Beats whose interval is over make room.
    private mutating func leave() {
        let (space, offsets, lengths, keeps) = (space, offsets, lengths, keeps)
        for block in heads.indices { heads[block] = heads[block] + 1 == lengths[block] ? 0 : heads[block] + 1 }
        let (heads, settledPeaks) = (heads, settledPeaks)
        isStale.withUnsafeMutableBufferPointer { isStale in
            ring.withUnsafeMutableBufferPointer { ring in
                exits.withUnsafeMutableBufferPointer { exits in
                    for tempo in 0..<space.count {
                        let block = tempo >> 3
                        let row = heads[block] - space.intervals[tempo]
                        let place = offsets[block] + 8 * (row < 0 ? row + lengths[block] : row) + tempo & 7
                        if ring[place] >= settledPeaks[tempo] { isStale[block] = true }
                        exits[space.reach + tempo] = ring[place] * keeps[tempo]
                        ring[place] = 0
                    }
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
                            for row in space.reach - space.reaches[block]...space.reach + space.reaches[block] {
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
        let (space, areas, offsets, lengths, heads) = (space, areas, offsets, lengths, heads)
        let factor = Lanes(repeating: evidence * 1.442_695)
        ring.withUnsafeMutableBufferPointer { ring in
            space.areaWeights.withUnsafeBufferPointer { weights in
                for block in 0..<space.blockCount {
                    for age in 0..<areas[block] {
                        let row = heads[block] - age
                        let place = offsets[block] + 8 * (row < 0 ? row + lengths[block] : row)
                        let weight = (factor * weights.lanes(age * space.laneCount + 8 * block)).powerOfTwo
                        ring.store(UnsafeBufferPointer(ring).lanes(place) * weight, place)
                    }
                }
            }
        }
    }

    /// Finds the likeliest phase of each tempo.
    ///
    /// - Returns: false when nothing is likely any more.
    private mutating func weigh() -> Bool {
        let (space, areas, offsets, lengths, heads) = (space, areas, offsets, lengths, heads)
        var highest = Lanes.zero
        ring.withUnsafeBufferPointer { ring in
            settledPeaks.withUnsafeMutableBufferPointer { settledPeaks in
                peaks.withUnsafeMutableBufferPointer { peaks in
                    for block in 0..<space.blockCount {
                        let (offset, length) = (offsets[block], lengths[block])
                        func row(_ age: Int) -> Lanes {
                            let row = heads[block] - age
                            return ring.lanes(offset + 8 * (row < 0 ? row + length : row))
                        }
                        var settled = UnsafeBufferPointer(settledPeaks).lanes(8 * block).larger(row(areas[block]))
                        if isStale[block] {
                            settled = .zero
                            for age in areas[block]..<length { settled = settled.larger(row(age)) }
                            isStale[block] = false
                        }
                        var peak = settled
                        for age in 0..<areas[block] { peak = peak.larger(row(age)) }
                        settledPeaks.store(settled, 8 * block)
                        peaks.store(peak, 8 * block)
                        highest = highest.larger(peak)
                    }
                }
            }
        }
        let peak = highest.max()
        guard peak > 0, peak.isFinite else { return false }
        if !Self.range.contains(peak) { scale(by: Float(sign: .plus, exponent: -peak.exponent, significand: 1)) }
        return true
    }

    private mutating func scale(by factor: Float) {
        let factor = Lanes(repeating: factor)
        ring.withUnsafeMutableBufferPointer { $0.scale(by: factor) }
        peaks.withUnsafeMutableBufferPointer { $0.scale(by: factor) }
        settledPeaks.withUnsafeMutableBufferPointer { $0.scale(by: factor) }
    }

    /// Looks for the most likely state, and averages over its neighbours.
    private mutating func summarize() {
        let (space, offsets, lengths, heads) = (space, offsets, lengths, heads)
        let result: Summary = ring.withUnsafeBufferPointer { ring in
            peaks.withUnsafeBufferPointer { peaks in
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
                return Summary(remaining: time / mass, interval: period / mass)
            }
        }
        summary = result
    }
}

extension UnsafeMutableBufferPointer where Element == Float {
    fileprivate func scale(by factor: Lanes) {
        for index in stride(from: 0, to: count, by: 8) { store(UnsafeBufferPointer(self).lanes(index) * factor, index) }
    }
}
