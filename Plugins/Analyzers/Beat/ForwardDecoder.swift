internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The HMM forward algorithm: the probability of each tempo and phase, given the observations up to the current frame.
///
/// Between beats a state only grows older, so no probabilities are moved: each block of eight tempi has a ring buffer of rows by
/// age, and the head of the ring moves. Observation likelihoods are relative to "no beat", so a frame changes only the beat states
/// (the ages up to the end of the observation window); older states keep their value.
///
/// - Complexity: O(states / 8) per frame; no allocation.
struct ForwardDecoder: Sendable {
    /// The estimate at a frame: weighted means around the most likely state.
    struct Estimate: Sendable {
        /// Frames to the next beat.
        var framesToBeat: Float = 0
        /// Beat interval, in frames; 0 if there is no estimate.
        var interval: Float = 0
        /// The probability of the averaged states, 0…1.
        var probability: Float = 0
    }

    /// Tempi within this relative distance of the most likely tempo, and phases within this part of a beat, are averaged.
    private static let tempoTolerance: Float = 0.06
    private static let phaseTolerance: Float = 0.08
    /// The range of the largest probability. Outside it all are scaled by a power of two, which does not change the mantissas.
    private static let range: ClosedRange<Float> = 0x1p-24...0x1p24

    /// Eight tempi and their ring buffer: a row of eight values per frame of age.
    private struct Block {
        /// Index of the first value, and the number of rows.
        let offset: Int
        let length: Int
        /// The largest tempo transition into the block, in tempo indices.
        let reach: Int
        /// The row of age 0.
        var head = 0

        /// Index of the first value of the row of an age, 0…`length`.
        @inline(__always)
        func row(_ age: Int) -> Int {
            offset + 8 * (age > head ? head - age + length : head - age)
        }
    }

    private let space: BeatStateSpace
    private var blocks: [Block] = []
    /// State probabilities, not normalized.
    private var ring: [Float]
    /// Prior probability of each tempo over the duration of one of its beats.
    private var priorsPerBeat: [Float] = []
    /// Initial probability of each tempo.
    private var initial: [Float] = []
    /// Probability of each tempo whose interval ends in the current frame, with zeros for the neighbours beyond either end.
    private var ending: [Float]
    /// The maximum and the sum over the states of each tempo.
    private var maxima: [Float]
    private var sums: [Float]
    private(set) var estimate = Estimate()

    init(_ space: BeatStateSpace) {
        self.space = space
        var next = 0
        for block in 0..<space.blockCount {
            let slowest = min(space.count, 8 * block + 8) - 1
            let length = space.intervals[slowest]
            blocks.append(Block(offset: next, length: length, reach: space.blockReaches[block]))
            next += 8 * length
        }
        ring = Array(repeating: 0, count: next)
        ending = Array(repeating: 0, count: space.laneCount + 2 * space.transitionReach)
        maxima = Array(repeating: 0, count: space.laneCount)
        sums = maxima
        setTempoPrior(space.tempoPrior())
        reset()
    }

    /// Sets the initial distribution: the tempo prior, and a uniform distribution over the phases.
    mutating func reset() {
        for index in ring.indices { ring[index] = 0 }
        for index in blocks.indices { blocks[index].head = 0 }
        estimate = Estimate()
        for tempo in 0..<space.count {
            let interval = space.intervals[tempo]
            for age in 0..<interval { ring[index(tempo, age: age)] = initial[tempo] / Float(interval) }
        }
    }

    /// Sets the tempo prior for the frames to come.
    ///
    /// - Parameter costs: Negative log probability of each tempo, in nats per second.
    mutating func setTempoPrior(_ costs: [Double]) {
        priorsPerBeat = Array(repeating: 0, count: space.laneCount)
        initial = priorsPerBeat
        var sum = 0.0
        for (tempo, cost) in costs.enumerated() {
            priorsPerBeat[tempo] = Float(exp(-cost * Double(space.intervals[tempo]) * space.frameSeconds))
            sum += exp(-cost)
        }
        for (tempo, cost) in costs.enumerated() { initial[tempo] = Float(exp(-cost) / sum) }
    }

    /// Multiplies each state probability by a weight.
    mutating func multiply(by weight: (_ interval: Int, _ age: Double) -> Double) {
        change { old, interval, age in old * Float(weight(interval, age)) }
    }

    /// Replaces all state probabilities by weights. A small constant is added so that no state has probability 0.
    mutating func replace(with weight: (_ interval: Int, _ age: Double) -> Double) {
        change { _, interval, age in Float(1e-9 + weight(interval, age)) }
    }

    /// - Parameter value: The new probability of a state. The age passed to it is in frames from the beat time, the middle of the
    ///   beat states.
    private mutating func change(_ value: (_ old: Float, _ interval: Int, _ age: Double) -> Float) {
        for tempo in 0..<space.count {
            let interval = space.intervals[tempo]
            let middle = Double(space.observationFrames[tempo] - 1) / 2
            for age in 0..<interval {
                let index = index(tempo, age: age)
                ring[index] = value(ring[index], interval, Double(age) - middle)
            }
        }
        updateEstimate()
    }

    private func index(_ tempo: Int, age: Int) -> Int {
        blocks[tempo >> 3].row(age) + tempo & 7
    }

    /// Processes a frame.
    ///
    /// - Parameter likelihoodRatio: Of the observation, "beat state" against "other state".
    mutating func advance(_ likelihoodRatio: Float) {
        endBeats()
        startBeats()
        observe(likelihoodRatio)
        updateEstimate()
    }

    private mutating func updateEstimate() {
        if updateMaxima() { averageAroundMaximum() } else { reset() }
    }
}

// MARK: - The steps of a frame

extension ForwardDecoder {
    // The arrays are opened one by one, never copied together with `self`: in a live run the caches are cold at each batch, and
    // a retain of an array would load one more cache line.

    /// Ages all states by one frame, and moves the states whose interval is complete to `ending`.
    private mutating func endBeats() {
        let reach = space.transitionReach
        blocks.withUnsafeMutableBufferPointer { blocks in
            ring.withUnsafeMutableBufferPointer { ring in
                ending.withUnsafeMutableBufferPointer { ending in
                    for index in blocks.indices {
                        blocks[index].head += 1
                        if blocks[index].head == blocks[index].length { blocks[index].head = 0 }
                    }
                    for (tempo, interval) in space.intervals.enumerated() {
                        let index = blocks[tempo >> 3].row(interval) + tempo & 7
                        ending[reach + tempo] = ring[index] * priorsPerBeat[tempo]
                        ring[index] = 0
                    }
                }
            }
        }
    }

    /// Distributes the ended states over the states of age 0, by the tempo transition probabilities.
    private mutating func startBeats() {
        let (reach, laneCount) = (space.transitionReach, space.laneCount)
        ring.withUnsafeMutableBufferPointer { ring in
            ending.withUnsafeBufferPointer { ending in
                space.transitions.withUnsafeBufferPointer { transitions in
                    initial.withUnsafeBufferPointer { initial in
                        var total: Float = 0
                        for value in ending { total += value }
                        let anyTempo = Lanes(repeating: total * BeatStateSpace.newTempoProbability)
                        for (index, block) in blocks.enumerated() {
                            var sum = initial.lanes(8 * index) * anyTempo
                            for row in reach - block.reach...reach + block.reach {
                                sum += ending.lanes(8 * index + row) * transitions.lanes(row * laneCount + 8 * index)
                            }
                            ring.store(sum, block.row(0))
                        }
                    }
                }
            }
        }
    }

    /// Multiplies the beat states by the likelihood ratio of the observation.
    private mutating func observe(_ likelihoodRatio: Float) {
        ring.withUnsafeMutableBufferPointer { ring in
            for (tempo, width) in space.observationFrames.enumerated() {
                let block = blocks[tempo >> 3]
                for age in 0..<width { ring[block.row(age) + tempo & 7] *= likelihoodRatio }
            }
        }
    }

    /// Updates the maximum and the sum over the states of each tempo, and scales all probabilities if the maximum leaves the range.
    ///
    /// - Returns: false if no state has a positive, finite probability.
    private mutating func updateMaxima() -> Bool {
        var highest = Lanes.zero
        ring.withUnsafeBufferPointer { ring in
            maxima.withUnsafeMutableBufferPointer { maxima in
                sums.withUnsafeMutableBufferPointer { sums in
                    for (index, block) in blocks.enumerated() {
                        var (maximum, sum) = (Lanes.zero, Lanes.zero)
                        for row in 0..<block.length {
                            let values = ring.lanes(block.offset + 8 * row)
                            maximum = maximum.maximum(with: values)
                            sum += values
                        }
                        maxima.store(maximum, 8 * index)
                        sums.store(sum, 8 * index)
                        highest = highest.maximum(with: maximum)
                    }
                }
            }
        }
        let maximum = highest.max()
        guard maximum > 0, maximum.isFinite else { return false }
        if !Self.range.contains(maximum) { scale(by: Float(sign: .plus, exponent: -maximum.exponent, significand: 1)) }
        return true
    }

    private mutating func scale(by factor: Float) {
        let factor = Lanes(repeating: factor)
        ring.withUnsafeMutableBufferPointer { $0.scale(by: factor) }
        maxima.withUnsafeMutableBufferPointer { $0.scale(by: factor) }
        sums.withUnsafeMutableBufferPointer { $0.scale(by: factor) }
    }

    /// Computes the estimate: finds the most likely state and averages over its neighbours.
    private mutating func averageAroundMaximum() {
        var best = 0
        for tempo in 1..<max(1, space.count) where maxima[tempo] > maxima[best] { best = tempo }
        let interval = space.intervals[best]
        guard let age = (0..<interval).first(where: { ring[index(best, age: $0)] == maxima[best] }) else { return }
        let (remaining, spread) = (interval - age, Self.tempoTolerance * Float(interval))
        let window = Int(Self.phaseTolerance * Float(interval)) + 1
        var (mass, time, period): (Float, Float, Float) = (0, 0, 0)
        for (tempo, length) in space.intervals.enumerated() where abs(Float(length - interval)) <= spread {
            let middle = Float(space.observationFrames[tempo] - 1) / 2
            for rest in max(1, remaining - window)...max(1, min(length, remaining + window)) {
                let value = ring[index(tempo, age: length - rest)]
                mass += value
                time += value * (Float(rest) + middle)
                period += value * Float(length)
            }
        }
        var total: Float = 0
        for sum in sums { total += sum }
        estimate =
            mass > 0 ? Estimate(framesToBeat: time / mass, interval: period / mass, probability: min(1, mass / total)) : Estimate()
    }

    /// The most probable tempi: intervals in frames, and the probability of the tempi within `tempoTolerance` of each, in descending
    /// order. An interval of 0 has no tempo.
    func hypotheses() -> TempoHypotheses {
        var (result, total) = (TempoHypotheses(), Float(0))
        for sum in sums { total += sum }
        guard total > 0 else { return result }
        for rank in 0..<TempoHypotheses.count {
            var best = -1
            for tempo in 0..<space.count where best < 0 || sums[tempo] > sums[best] {
                if !result.contains(interval: Float(space.intervals[tempo]), within: 3 * Self.tempoTolerance) { best = tempo }
            }
            guard best >= 0 else { break }
            let interval = Float(space.intervals[best])
            var (mass, mean): (Float, Float) = (0, 0)
            for (tempo, length) in space.intervals.enumerated() where abs(Float(length) / interval - 1) <= Self.tempoTolerance {
                mass += sums[tempo]
                mean += sums[tempo] * Float(length)
            }
            guard mass > 0 else { break }
            (result.intervals[rank], result.weights[rank]) = (mean / mass, mass / total)
        }
        return result
    }
}

/// Tempi in competition, the most probable first.
struct TempoHypotheses: Sendable {
    /// The number of tempi.
    static let count = 3
    /// Beat intervals, in frames; 0 for none.
    var intervals = SIMD4<Float>.zero
    /// Probabilities, 0…1; their sum is at most 1.
    var weights = SIMD4<Float>.zero

    fileprivate func contains(interval: Float, within tolerance: Float) -> Bool {
        for rank in 0..<Self.count where abs(intervals[rank] - interval) <= tolerance * interval { return true }
        return false
    }
}

extension UnsafeMutableBufferPointer where Element == Float {
    /// Multiplies all values, a multiple of eight, by a factor.
    fileprivate func scale(by factor: Lanes) {
        for index in stride(from: 0, to: count, by: 8) { store(lanes(index) * factor, index) }
    }
}
