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
/// (the ages up to the end of the observation window); older states keep their value. The maximum over the older states of a
/// tempo is therefore stored and computed again only after its state has completed its interval.
///
/// - Complexity: O(tempi · reach / 8) per frame, and O(states / 8) for the blocks whose maximum has to be computed again; no
///   allocation.
struct ForwardDecoder: Sendable {
    /// The estimate at a frame: weighted means around the most likely state.
    struct Estimate: Sendable {
        /// Frames to the next beat.
        var framesToBeat: Float = 0
        /// Beat interval, in frames; 0 if there is no estimate.
        var interval: Float = 0
    }

    /// Probability per beat of a transition to any tempo, distributed as the tempo prior.
    private static let anyTempoProbability: Float = 1e-8
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
        /// The largest number of beat states of the eight tempi, in frames.
        let observationFrames: Int
        /// The largest tempo transition into the block, in tempo indices.
        let reach: Int
        /// The row of age 0.
        var head = 0
        /// Whether the maximum over the older states has to be computed again.
        var needsScan = true

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
    /// The maximum over the states of each tempo: over all states, and over those older than the beat states. The values change
    /// only when a state ends, in `scale`, which scales both, and where all blocks are marked with `needsScan`.
    private var maxima: [Float]
    private var olderMaxima: [Float]
    private(set) var estimate = Estimate()

    init(_ space: BeatStateSpace) {
        self.space = space
        var next = 0
        for block in 0..<space.blockCount {
            let slowest = min(space.count, 8 * block + 8) - 1
            let length = space.intervals[slowest]
            blocks.append(
                Block(
                    offset: next, length: length, observationFrames: space.observationFrames[slowest],
                    reach: space.blockReaches[block]))
            next += 8 * length
        }
        ring = Array(repeating: 0, count: next)
        ending = Array(repeating: 0, count: space.laneCount + 2 * space.transitionReach)
        maxima = Array(repeating: 0, count: space.laneCount)
        olderMaxima = maxima
        setTempoPrior(space.tempoPrior())
        reset()
    }

    /// Sets the initial distribution: the tempo prior, and a uniform distribution over the phases.
    mutating func reset() {
        for index in ring.indices { ring[index] = 0 }
        for index in blocks.indices { (blocks[index].head, blocks[index].needsScan) = (0, true) }
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
        for index in blocks.indices { blocks[index].needsScan = true }
        updateEstimate()
    }

    private func index(_ tempo: Int, age: Int) -> Int {
        blocks[tempo >> 3].row(age) + tempo & 7
    }

    /// Processes a frame.
    ///
    /// - Parameter logLikelihoodRatio: Of the observation, "beat" against "no beat", in nats.
    mutating func advance(_ logLikelihoodRatio: Float) {
        endBeats()
        startBeats()
        observe(logLikelihoodRatio)
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
                        if ring[index] > 0, ring[index] >= olderMaxima[tempo] { blocks[tempo >> 3].needsScan = true }
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
                        let anyTempo = Lanes(repeating: total * Self.anyTempoProbability)
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
    private mutating func observe(_ logLikelihoodRatio: Float) {
        let laneCount = space.laneCount
        let factor = Lanes(repeating: logLikelihoodRatio * 1.442_695)
        ring.withUnsafeMutableBufferPointer { ring in
            space.observationWeights.withUnsafeBufferPointer { weights in
                for (index, block) in blocks.enumerated() {
                    for age in 0..<block.observationFrames {
                        let row = block.row(age)
                        let weight = (factor * weights.lanes(age * laneCount + 8 * index)).approximateExp2
                        ring.store(ring.lanes(row) * weight, row)
                    }
                }
            }
        }
    }

    /// Updates the maximum over the states of each tempo, and scales all probabilities if it leaves the range.
    ///
    /// - Returns: false if no state has a positive, finite probability.
    private mutating func updateMaxima() -> Bool {
        var highest = Lanes.zero
        blocks.withUnsafeMutableBufferPointer { blocks in
            ring.withUnsafeBufferPointer { ring in
                olderMaxima.withUnsafeMutableBufferPointer { olderMaxima in
                    maxima.withUnsafeMutableBufferPointer { maxima in
                        for index in blocks.indices {
                            let block = blocks[index]
                            let newlyOlder = ring.lanes(block.row(block.observationFrames))
                            var older = olderMaxima.lanes(8 * index).maximum(with: newlyOlder)
                            if block.needsScan {
                                older = .zero
                                for age in block.observationFrames..<block.length {
                                    older = older.maximum(with: ring.lanes(block.row(age)))
                                }
                                blocks[index].needsScan = false
                            }
                            var maximum = older
                            for age in 0..<block.observationFrames { maximum = maximum.maximum(with: ring.lanes(block.row(age))) }
                            olderMaxima.store(older, 8 * index)
                            maxima.store(maximum, 8 * index)
                            highest = highest.maximum(with: maximum)
                        }
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
        olderMaxima.withUnsafeMutableBufferPointer { $0.scale(by: factor) }
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
        estimate = mass > 0 ? Estimate(framesToBeat: time / mass, interval: period / mass) : Estimate()
    }
}

extension UnsafeMutableBufferPointer where Element == Float {
    /// Multiplies all values, a multiple of eight, by a factor.
    fileprivate func scale(by factor: Lanes) {
        for index in stride(from: 0, to: count, by: 8) { store(lanes(index) * factor, index) }
    }
}
