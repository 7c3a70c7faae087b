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

    /// Eight tempi and their ring, a row of eight values for each frame that a beat may be old.
    private struct Block {
        /// The first value, and the rows.
        let offset: Int
        let length: Int
        /// The frames in which the onset of a beat may fall.
        let area: Int
        /// How far tempi are from where they come from, in places of the table.
        let reach: Int
        /// The row of the beats that begin.
        var head = 0
        /// Whether the likeliest state that has settled has left.
        var isStale = true

        /// The first value of the row of that age, 0…`length`.
        @inline(__always)
        func row(_ age: Int) -> Int {
            offset + 8 * (age > head ? head - age + length : head - age)
        }
    }

    private let space: TempoSpace
    private var blocks: [Block] = []
    private var ring: [Float]
    /// What a tempo keeps of itself at each of its beats.
    private var keeps: [Float] = []
    private var starts: [Float] = []
    private var exits: [Float]
    /// The likeliest phase of each tempo, of all and of those that have settled. These change only by leaving, by `scale`, which
    /// takes both alike, and where all blocks are made stale.
    private var peaks: [Float]
    private var settledPeaks: [Float]
    private(set) var summary = Summary()

    init(_ space: TempoSpace) {
        self.space = space
        var next = 0
        for block in 0..<space.blockCount {
            let slowest = min(space.count, 8 * block + 8) - 1
            let length = space.intervals[slowest]
            blocks.append(Block(offset: next, length: length, area: space.areas[slowest], reach: space.reaches[block]))
            next += 8 * length
        }
        ring = Array(repeating: 0, count: next)
        // Room for neighbours beyond either end.
        exits = Array(repeating: 0, count: space.laneCount + 2 * space.reach)
        peaks = Array(repeating: 0, count: space.laneCount)
        settledPeaks = peaks
        prefer(space.reluctance())
        reset()
    }

    /// Any tempo at any phase again.
    mutating func reset() {
        for index in ring.indices { ring[index] = 0 }
        for index in blocks.indices { (blocks[index].head, blocks[index].isStale) = (0, true) }
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
        for index in blocks.indices { blocks[index].isStale = true }
        conclude()
    }

    private func place(_ tempo: Int, age: Int) -> Int {
        blocks[tempo >> 3].row(age) + tempo & 7
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
        if findPeaks() { summarize() } else { reset() }
    }
}

// MARK: - A frame

extension BeatBelief {
    // The tables are opened one by one and never copied with what they belong to: the caches are cold at every batch of a live
    // run, and a reference count is the dearest thing to fetch.

    /// Beats whose interval is over make room.
    private mutating func leave() {
        let reach = space.reach
        blocks.withUnsafeMutableBufferPointer { blocks in
            ring.withUnsafeMutableBufferPointer { ring in
                exits.withUnsafeMutableBufferPointer { exits in
                    for index in blocks.indices {
                        blocks[index].head += 1
                        if blocks[index].head == blocks[index].length { blocks[index].head = 0 }
                    }
                    for (tempo, interval) in space.intervals.enumerated() {
                        let place = blocks[tempo >> 3].row(interval) + tempo & 7
                        if ring[place] > 0, ring[place] >= settledPeaks[tempo] { blocks[tempo >> 3].isStale = true }
                        exits[reach + tempo] = ring[place] * keeps[tempo]
                        ring[place] = 0
                    }
                }
            }
        }
    }

    /// New beats begin, at nearly the same tempi.
    private mutating func enter() {
        let (reach, laneCount) = (space.reach, space.laneCount)
        ring.withUnsafeMutableBufferPointer { ring in
            exits.withUnsafeBufferPointer { exits in
                space.changes.withUnsafeBufferPointer { changes in
                    starts.withUnsafeBufferPointer { starts in
                        var total: Float = 0
                        for exit in exits { total += exit }
                        let leap = Lanes(repeating: total * Self.leap)
                        for (index, block) in blocks.enumerated() {
                            var sum = starts.lanes(8 * index) * leap
                            for row in reach - block.reach...reach + block.reach {
                                sum += exits.lanes(8 * index + row) * changes.lanes(row * laneCount + 8 * index)
                            }
                            ring.store(sum, block.row(0))
                        }
                    }
                }
            }
        }
    }

    /// The frame's evidence goes to the beats whose onset it may be.
    private mutating func hear(_ evidence: Float) {
        let laneCount = space.laneCount
        let factor = Lanes(repeating: evidence * 1.442_695)
        ring.withUnsafeMutableBufferPointer { ring in
            space.areaWeights.withUnsafeBufferPointer { weights in
                for (index, block) in blocks.enumerated() {
                    for age in 0..<block.area {
                        let place = block.row(age)
                        let weight = (factor * weights.lanes(age * laneCount + 8 * index)).powerOfTwo
                        ring.store(UnsafeBufferPointer(ring).lanes(place) * weight, place)
                    }
                }
            }
        }
    }

    /// Finds the likeliest phase of each tempo.
    ///
    /// - Returns: false when nothing is likely any more.
    private mutating func findPeaks() -> Bool {
        var highest = Lanes.zero
        blocks.withUnsafeMutableBufferPointer { blocks in
            ring.withUnsafeBufferPointer { ring in
                settledPeaks.withUnsafeMutableBufferPointer { settledPeaks in
                    peaks.withUnsafeMutableBufferPointer { peaks in
                        for index in blocks.indices {
                            let block = blocks[index]
                            var settled = UnsafeBufferPointer(settledPeaks).lanes(8 * index).larger(ring.lanes(block.row(block.area)))
                            if block.isStale {
                                settled = .zero
                                for age in block.area..<block.length { settled = settled.larger(ring.lanes(block.row(age))) }
                                blocks[index].isStale = false
                            }
                            var peak = settled
                            for age in 0..<block.area { peak = peak.larger(ring.lanes(block.row(age))) }
                            settledPeaks.store(settled, 8 * index)
                            peaks.store(peak, 8 * index)
                            highest = highest.larger(peak)
                        }
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
        var best = 0
        for tempo in 1..<max(1, space.count) where peaks[tempo] > peaks[best] { best = tempo }
        let interval = space.intervals[best]
        guard let age = (0..<interval).first(where: { ring[place(best, age: $0)] == peaks[best] }) else { return }
        let (remaining, spread) = (interval - age, Self.tempoTolerance * Float(interval))
        let window = Int(Self.phaseTolerance * Float(interval)) + 1
        var (mass, time, period): (Float, Float, Float) = (0, 0, 0)
        for (tempo, length) in space.intervals.enumerated() where abs(Float(length - interval)) <= spread {
            let middle = Float(space.areas[tempo] - 1) / 2
            for rest in max(1, remaining - window)...max(1, min(length, remaining + window)) {
                let value = ring[place(tempo, age: length - rest)]
                mass += value
                time += value * (Float(rest) + middle)
                period += value * Float(length)
            }
        }
        summary = mass > 0 ? Summary(remaining: time / mass, interval: period / mass) : Summary()
    }
}

extension UnsafeMutableBufferPointer where Element == Float {
    fileprivate func scale(by factor: Lanes) {
        for index in stride(from: 0, to: count, by: 8) { store(UnsafeBufferPointer(self).lanes(index) * factor, index) }
    }
}
