internal import Glibc
internal import HemiolaSignal

/// The HMM forward algorithm: the probability of each tempo and phase, given the observations up to the current frame.
///
/// Between beats a state only grows older, so no probabilities are moved: each block of eight tempi has a ring buffer of rows by
/// age, and the head of the ring moves. Observation likelihoods are relative to "no beat", so a frame changes only the beat states
/// (the ages up to the end of the observation window); older states keep their value. Maximum and sum over them are those of a queue,
/// so that most of the states are not read.
///
/// - Complexity: O(beat states / 8) per frame, amortized; no allocation.
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
    /// The limit of the evidence of one frame, in nats.
    private static let evidenceLimit: Float = 5
    /// The range of the largest probability. Outside it all are scaled by a power of two, which does not change the mantissas.
    private static let range: ClosedRange<Float> = 0x1p-24...0x1p24

    /// Maximum and sum over states of eight tempi.
    private struct Summary {
        var maximum = Lanes.zero
        var sum = Lanes.zero

        @inline(__always)
        mutating func add(_ values: Lanes) {
            maximum = maximum.maximum(with: values)
            sum += values
        }

        mutating func scale(by factor: Lanes) {
            maximum *= factor
            sum *= factor
        }

        @inline(__always)
        mutating func add(_ other: Summary) {
            maximum = maximum.maximum(with: other.maximum)
            sum += other.sum
        }
    }

    /// Eight tempi and their ring buffer: a row of eight values per frame of age.
    ///
    /// The rows after the beat states and before the shortest interval do not change. They are a queue in two parts: each row of the
    /// older part has a summary of itself and of the newer rows of that part, the newer part has one summary.
    private struct Block {
        /// Index of the first row of the block, and the number of rows.
        let offset: Int
        let length: Int
        /// The largest tempo transition into the block, in tempo indices.
        let reach: Int
        /// The number of beat states of each tempo, and of the tempo with most.
        let widths: Lanes
        let widest: Int
        let shortestInterval: Int
        /// The row of age 0.
        var head = 0
        /// The number of rows in the older part of the queue, and the summary of the newer part.
        var olderCount = 0
        var newer = Summary()

        /// The ages in the older part of the queue.
        var olderAges: Range<Int> { shortestInterval - olderCount..<shortestInterval }

        /// Index of the row of an age, 0…`length`.
        @inline(__always)
        func row(_ age: Int) -> Int {
            offset + (age > head ? head - age + length : head - age)
        }

        /// Summarizes all states after the head has moved by one row.
        @inline(__always)
        mutating func summarize(_ ring: UnsafeMutableBufferPointer<Float>, _ older: UnsafeMutableBufferPointer<Summary>) -> Summary {
            if olderCount == 0 {
                var summary = Summary()
                for age in widest..<shortestInterval {
                    summary.add(ring.lanes(8 * row(age)))
                    older[row(age)] = summary
                }
                (olderCount, newer) = (shortestInterval - widest, Summary())
            } else {
                olderCount -= 1
                newer.add(ring.lanes(8 * row(widest)))
            }
            var summary = newer
            if olderCount > 0 { summary.add(older[row(shortestInterval - 1)]) }
            for age in 0..<widest { summary.add(ring.lanes(8 * row(age))) }
            for age in shortestInterval..<length { summary.add(ring.lanes(8 * row(age))) }
            return summary
        }
    }

    private let space: BeatStateSpace
    private var blocks: [Block] = []
    /// State probabilities, not normalized: eight for each row of the blocks.
    private var ring: [Float]
    /// The summaries of the older parts of the queues, by row.
    private var older: [Summary]
    /// Prior probability of each tempo over the duration of one of its beats.
    private var priorsPerBeat: [Float] = []
    /// Initial probability of each tempo.
    private var initial: [Float] = []
    /// Probability of each tempo whose interval ends in the current frame, with zeros for the neighbours beyond either end.
    private var ending: [Float]
    /// The maximum and the sum over the states of each tempo.
    private var maxima: [Float]
    private var sums: [Float]
    /// The sum over all states.
    private var total: Float = 0
    private(set) var estimate = Estimate()
    /// The log likelihood ratio of the last observation, "beats as this model predicts them" against "beats at random times", in nats,
    /// limited to ±``evidenceLimit``. Positive where beats are periodic; about 0 in speech and noise.
    private(set) var evidence: Float = 0

    init(_ space: BeatStateSpace) {
        self.space = space
        var next = 0
        for block in 0..<space.blockCount {
            let tempi = 8 * block..<min(space.count, 8 * block + 8)
            let (length, widest) = (space.intervals[tempi.upperBound - 1], space.observationFrames[tempi.upperBound - 1])
            var widths = Lanes.zero
            for tempo in tempi { widths[tempo & 7] = Float(space.observationFrames[tempo]) }
            blocks.append(
                Block(
                    offset: next, length: length, reach: space.blockReaches[block], widths: widths, widest: widest,
                    shortestInterval: space.intervals[tempi.lowerBound]))
            next += length
        }
        ring = Array(repeating: 0, count: 8 * next)
        older = Array(repeating: Summary(), count: next)
        ending = Array(repeating: 0, count: space.laneCount + 2 * space.transitionReach)
        maxima = Array(repeating: 0, count: space.laneCount)
        sums = maxima
        setTempoPrior(space.tempoPrior())
        reset()
    }

    /// Sets the initial distribution: the tempo prior, and a uniform distribution over the phases.
    mutating func reset() {
        for index in ring.indices { ring[index] = 0 }
        for index in blocks.indices { (blocks[index].head, blocks[index].olderCount) = (0, 0) }
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
        for index in blocks.indices { blocks[index].olderCount = 0 }
        summarize()
        updateEstimate()
    }

    private func index(_ tempo: Int, age: Int) -> Int {
        8 * blocks[tempo >> 3].row(age) + tempo & 7
    }

    /// Processes a frame.
    ///
    /// - Parameter likelihoodRatio: Of the observation, "beat state" against "other state".
    mutating func advance(_ likelihoodRatio: Float) {
        endBeats()
        startBeats()
        let beatMass = observe(likelihoodRatio)
        summarize()
        updateEvidence(likelihoodRatio, beatMass: beatMass)
        updateEstimate()
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
                        let index = 8 * blocks[tempo >> 3].row(interval) + tempo & 7
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
                            ring.store(sum, 8 * block.row(0))
                        }
                    }
                }
            }
        }
    }

    /// Multiplies the beat states by the likelihood ratio of the observation.
    ///
    /// - Returns: The sum over the beat states.
    private mutating func observe(_ likelihoodRatio: Float) -> Float {
        let (zero, ratio) = (Lanes.zero, Lanes(repeating: likelihoodRatio))
        return ring.withUnsafeMutableBufferPointer { ring in
            var sum = zero
            for block in blocks {
                for age in 0..<block.widest {
                    let row = 8 * block.row(age)
                    let (old, isBeat) = (ring.lanes(row), block.widths .> Float(age))
                    let beat = (old * ratio).replacing(with: zero, where: .!isBeat)
                    sum += beat
                    ring.store(old.replacing(with: beat, where: isBeat), row)
                }
            }
            return sum.sum()
        }
    }

    /// Compares how probable the observation was with how probable it is at a random time.
    ///
    /// - Parameter beatMass: The sum over the beat states after the observation.
    private mutating func updateEvidence(_ likelihoodRatio: Float, beatMass: Float) {
        let before = total - beatMass * (1 - 1 / likelihoodRatio)
        let ratio = total / (before * (1 + (likelihoodRatio - 1) / BeatStateSpace.observationLambda))
        evidence = ratio > 0 && ratio.isFinite ? min(max(log(ratio), -Self.evidenceLimit), Self.evidenceLimit) : 0
    }

    /// Updates the maximum and the sum over the states of each tempo, and the sum over all.
    private mutating func summarize() {
        blocks.withUnsafeMutableBufferPointer { blocks in
            ring.withUnsafeMutableBufferPointer { ring in
                older.withUnsafeMutableBufferPointer { older in
                    maxima.withUnsafeMutableBufferPointer { maxima in
                        sums.withUnsafeMutableBufferPointer { sums in
                            var all = Lanes.zero
                            for index in blocks.indices {
                                let summary = blocks[index].summarize(ring, older)
                                maxima.store(summary.maximum, 8 * index)
                                sums.store(summary.sum, 8 * index)
                                all += summary.sum
                            }
                            total = all.sum()
                        }
                    }
                }
            }
        }
    }

    /// Scales all probabilities if their maximum is outside the range, and computes the estimate; or returns to the initial state if
    /// no state has a positive, finite probability.
    private mutating func updateEstimate() {
        var highest = Lanes.zero
        maxima.withUnsafeBufferPointer { maxima in
            for index in stride(from: 0, to: maxima.count, by: 8) { highest = highest.maximum(with: maxima.lanes(index)) }
        }
        let maximum = highest.max()
        guard maximum > 0, maximum.isFinite else { return reset() }
        if !Self.range.contains(maximum) { scale(by: Float(sign: .plus, exponent: -maximum.exponent, significand: 1)) }
        averageAroundMaximum()
    }

    private mutating func scale(by factor: Float) {
        total *= factor
        let factor = Lanes(repeating: factor)
        ring.withUnsafeMutableBufferPointer { $0.scale(by: factor) }
        maxima.withUnsafeMutableBufferPointer { $0.scale(by: factor) }
        sums.withUnsafeMutableBufferPointer { $0.scale(by: factor) }
        for block in blocks.indices {
            blocks[block].newer.scale(by: factor)
            for age in blocks[block].olderAges { older[blocks[block].row(age)].scale(by: factor) }
        }
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
        estimate =
            mass > 0 ? Estimate(framesToBeat: time / mass, interval: period / mass, probability: min(1, mass / total)) : Estimate()
    }

    /// The most probable tempi: intervals in frames, and the probability of the tempi within `tempoTolerance` of each, in descending
    /// order. An interval of 0 has no tempo.
    func hypotheses() -> TempoHypotheses {
        var result = TempoHypotheses()
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
