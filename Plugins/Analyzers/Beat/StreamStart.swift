internal import HemiolaSignal

/// Whether a stream begins with an onset.
///
/// What lies before a stream is unknown. A recording that was cut within a sound begins at full level, and so does one whose first note
/// begins with its first sample: the increase from silence is the same. Two things distinguish an onset from a cut: the sound begins
/// after at least a millisecond that is 20 dB below it, or it is a stroke, which is loudest in the first 20 ms and falls by 4 dB within
/// 50 ms.
struct StreamStart: Sendable {
    /// The number of frames of `BandFilter` after which there is a decision: the last of them ends with the 60 ms.
    static let frameCount = blockCount / 10
    /// The blocks whose power is measured, of 1 ms each.
    private static let blockCount = 60
    private static let blocksPerSecond = 1000.0
    /// The blocks in which the onset lies: later ones are found by the network.
    private static let first = 0..<10
    /// The end of those blocks, in seconds.
    static let end = Double(first.upperBound) / blocksPerSecond
    /// The blocks after them, one of which may be the loudest of a stroke, and those in which it has fallen.
    private static let second = 10..<20
    private static let last = 40..<60
    /// The least mean square of the loudest block: −90 dBFS.
    private static let leastPower = 1e-9
    /// Powers relative to the largest: of the silence before the onset, and of the first blocks, if what begins there is not a slow rise.
    private static let silence: Float = 0.01
    private static let leastRise: Float = 0.1
    /// The mean power of the louder ten blocks relative to the last ones.
    private static let fall: Float = 2.5

    private let sampleRate: Double
    /// The sums of the squares of the blocks' samples.
    private var powers = [Float](repeating: 0, count: blockCount)
    private var frames = 0

    init(sampleRate: Double) {
        self.sampleRate = sampleRate
    }

    mutating func add(_ hop: borrowing Hop) {
        for index in 0..<hop.frameCount {
            let block = Int(Double(frames) * Self.blocksPerSecond / sampleRate)
            if block >= Self.blockCount { return }
            powers[block] += hop.mono[index] * hop.mono[index]
            frames += 1
        }
    }

    /// The time of the onset, in seconds; nil if there is none in the first 10 ms. Valid after 60 ms.
    var onset: Double? {
        guard let largest = powers.max(), Double(largest) * Self.blocksPerSecond > Self.leastPower * sampleRate else { return nil }
        let start = powers[Self.first]
        guard let loudest = start.max(), loudest >= Self.leastRise * largest else { return nil }
        if powers[0] <= Self.silence * largest {
            return start.firstIndex { $0 > Self.silence * largest }.map { Double($0) / Self.blocksPerSecond }
        }
        let (second, last) = (powers[Self.second], powers[Self.last])
        guard loudest == largest || second.contains(largest) else { return nil }
        return 2 * max(start.reduce(0, +), second.reduce(0, +)) >= Self.fall * last.reduce(0, +) ? 0 : nil
    }
}
