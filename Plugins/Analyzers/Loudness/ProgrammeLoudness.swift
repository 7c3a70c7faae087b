internal import Hemiola

/// Momentary, short-term and integrated loudness, and loudness range, as in EBU Tech 3341 and 3342, from energies of 10 ms.
///
/// Windows move in steps of 10 ms, gating blocks (400 ms) and blocks of the loudness range (3 s) in steps of 100 ms.
struct ProgrammeLoudness {
    /// Lengths in steps of 10 ms.
    private static let (momentarySteps, shortTermSteps, stepsPerBlock) = (40, 300, 10)

    /// A ring of the last 3 s.
    private var energies = [Double](repeating: 0, count: shortTermSteps)
    private var next = 0
    /// Steps since the start or the last gap, at most those of the ring.
    private var stepCount = 0
    /// Steps since the last block.
    private var stepsInBlock = 0
    private var gatingBlocks = GatedHistogram()
    private var rangeBlocks = GatedHistogram()
    private var highestMomentary = 0.0
    private var highestShortTerm = 0.0
    private var latestIntegrated: Double?
    private var latestRange: Double?
    /// Whether a block was added since the values above were computed.
    private var isIntegratedDue = false
    private var isRangeDue = false

    /// Adds the energy of the next 10 ms. O(300).
    mutating func add(_ energy: Double) {
        energies[next] = energy
        next = next + 1 == Self.shortTermSteps ? 0 : next + 1
        stepCount = min(stepCount + 1, Self.shortTermSteps)
        stepsInBlock += 1
        let isBlock = stepsInBlock == Self.stepsPerBlock
        if isBlock { stepsInBlock = 0 }
        if let momentary = mean(of: Self.momentarySteps) {
            highestMomentary = max(highestMomentary, momentary)
            if isBlock {
                gatingBlocks.add(momentary)
                isIntegratedDue = true
            }
        }
        if let shortTerm = mean(of: Self.shortTermSteps) {
            highestShortTerm = max(highestShortTerm, shortTerm)
            if isBlock {
                rangeBlocks.add(shortTerm)
                isRangeDue = true
            }
        }
    }

    /// Windows and blocks start anew: none contains audio from both sides of a gap.
    mutating func skip() {
        stepCount = 0
        stepsInBlock = 0
    }

    /// Loudness of the last 400 ms, in LUFS. nil before, and in silence.
    var momentary: Double? { mean(of: Self.momentarySteps).flatMap(Self.audible) }
    /// Loudness of the last 3 s, in LUFS. nil before, and in silence.
    var shortTerm: Double? { mean(of: Self.shortTermSteps).flatMap(Self.audible) }
    /// The highest momentary loudness so far, in LUFS.
    var maximumMomentary: Double? { Self.audible(highestMomentary) }
    /// The highest short-term loudness so far, in LUFS.
    var maximumShortTerm: Double? { Self.audible(highestShortTerm) }

    /// Integrated loudness so far, in LUFS. nil while all blocks are below −70 LUFS.
    mutating func integrated() -> Double? {
        if isIntegratedDue {
            latestIntegrated = gatingBlocks.gatedLoudness(relativeGate: -10)
            isIntegratedDue = false
        }
        return latestIntegrated
    }

    /// Loudness range so far, in LU. nil while all blocks are below −70 LUFS.
    mutating func range() -> Double? {
        if isRangeDue {
            latestRange = rangeBlocks.range(relativeGate: -20, from: 0.1, to: 0.95)
            isRangeDue = false
        }
        return latestRange
    }

    mutating func reset() {
        skip()
        gatingBlocks.removeAll()
        rangeBlocks.removeAll()
        next = 0
        (highestMomentary, highestShortTerm) = (0, 0)
        (latestIntegrated, latestRange) = (nil, nil)
        (isIntegratedDue, isRangeDue) = (false, false)
    }

    /// nil below −120 LUFS: silence, or what the filters still output after the audio ended.
    private static func audible(_ energy: Double) -> Double? {
        let loudness = Loudness.of(energy)
        return loudness < -120 ? nil : loudness
    }

    /// The mean energy of the last `count` steps; nil before there are as many.
    private func mean(of count: Int) -> Double? {
        guard stepCount >= count else { return nil }
        // The last `count` steps of the ring: up to `next`, and before that the end of the ring.
        let start = next - count
        let sum = start >= 0 ? sum(start..<next) : self.sum(0..<next) + self.sum(start + Self.shortTermSteps..<Self.shortTermSteps)
        return sum / Double(count)
    }

    /// Four sums at a time: one addition waits for the result of the one before it.
    private func sum(_ range: Range<Int>) -> Double {
        var sums = SIMD4<Double>.zero
        var index = range.lowerBound
        while index + 4 <= range.upperBound {
            sums += SIMD4(energies[index], energies[index + 1], energies[index + 2], energies[index + 3])
            index += 4
        }
        var total = sums.sum()
        while index < range.upperBound {
            total += energies[index]
            index += 1
        }
        return total
    }
}
