import Foundation
import HemiolaRecords
import HemiolaSignal
import HemiolaTesting
import Testing

/// Every kernel against a plain loop in double precision, over all lengths around its lanes and from every alignment.
@Suite struct KernelTests {
    static let lengths = Array(0...70)
    /// Unaligned starts: a span may begin at any float.
    static let starts = [0, 1, 2, 3]
    static let channelCounts = [1, 2, 3, 6, 32]

    /// Rounding of a sum of `terms`: a few units in the last place of the sum of magnitudes.
    private func slack(_ magnitudes: Double, _ terms: Int) -> Double {
        magnitudes * Double(terms + 4) * 6e-8 + 1e-37
    }

    // MARK: - Levels

    @Test(arguments: lengths)
    func `level: sum of squares and largest magnitude`(length: Int) {
        for start in Self.starts {
            let x = noise(start + length, seed: length)
            let level = x.span.extracting(start...).level
            let samples = x.dropFirst(start).map(Double.init)
            let squares = samples.reduce(0) { $0 + $1 * $1 }
            #expect(abs(Double(level.squares) - squares) <= slack(squares, length))
            #expect(Double(level.peak) == samples.map(abs).max() ?? 0)
        }
    }

    @Test(arguments: lengths)
    func `level of stereo: that of each channel`(frames: Int) {
        for start in Self.starts {
            let x = noise(start + 2 * frames, seed: frames)
            let span = x.span.extracting(start...)
            let pair = span.stereoLevels
            for (channel, level) in [pair.left, pair.right].enumerated() {
                let samples = stride(from: start + channel, to: x.count, by: 2).map { Double(x[$0]) }
                let squares = samples.reduce(0) { $0 + $1 * $1 }
                #expect(abs(Double(level.squares) - squares) <= slack(squares, frames))
                #expect(Double(level.peak) == samples.map(abs).max() ?? 0)
            }
        }
    }

    @Test(arguments: lengths, channelCounts)
    func `level of one channel: that of every n-th sample`(frames: Int, channelCount: Int) {
        let x = noise(1 + frames * channelCount, seed: frames)
        for channel in 0..<channelCount {
            let level = x.span.extracting(1...).level(ofChannel: channel, of: channelCount)
            let samples = (0..<frames).map { Double(x[1 + $0 * channelCount + channel]) }
            let squares = samples.reduce(0) { $0 + $1 * $1 }
            #expect(abs(Double(level.squares) - squares) <= slack(squares, frames))
            #expect(Double(level.peak) == samples.map(abs).max() ?? 0)
        }
    }

    @Test(arguments: 0..<24)
    func `peak: found in each lane and with either sign`(place: Int) {
        for sign in [-1, 1] as [Float] {
            var x = [Float](repeating: 0.25, count: 24)
            x[place] = 0.75 * sign
            #expect(x.span.level.peak == 0.75)
            let pair = x.span.stereoLevels
            #expect((pair.left.peak, pair.right.peak) == (place.isMultiple(of: 2) ? (0.75, 0.25) : (0.25, 0.75)))
            #expect(x.span.level(ofChannel: place % 3, of: 3).peak == 0.75)
        }
    }

    // MARK: - Sums

    @Test(arguments: lengths)
    func `sum: that of the elements in the range`(length: Int) {
        for start in Self.starts {
            let x = noise(start + length + 3, seed: length)
            let range = start..<start + length
            let expected = x[range].reduce(0) { $0 + Double($1) }
            #expect(abs(Double(x.span.sum(range)) - expected) <= slack(x[range].reduce(0) { $0 + Double(abs($1)) }, length))
        }
    }

    @Test(arguments: lengths)
    func `dot: product of a range and the weights from an offset`(length: Int) {
        for (start, offset) in [(0, 0), (1, 0), (0, 3), (3, 2)] {
            let (x, w) = (noise(start + length + 2, seed: length), noise(offset + length + 1, seed: length + 100))
            let products = (0..<length).map { Double(x[start + $0]) * Double(w[offset + $0]) }
            let dot = x.span.dot(w.span, from: offset, over: start..<start + length)
            #expect(abs(Double(dot) - products.reduce(0, +)) <= slack(products.reduce(0) { $0 + abs($1) }, length))
        }
    }

    @Test(arguments: lengths)
    func `half-wave rectified difference: sums the increases and stores the new values`(length: Int) {
        for start in Self.starts {
            let (x, y) = (noise(start + length, seed: length), noise(start + length, seed: length + 100))
            var old = y
            var span = old.mutableSpan
            var part = span._mutatingExtracting(start...)
            let rise = x.span.extracting(start...).rectifiedDifference(from: &part)
            let grown = zip(x, y).dropFirst(start).map { max(0, Double($0) - Double($1)) }
            #expect(abs(Double(rise) - grown.reduce(0, +)) <= slack(grown.reduce(0, +), length))
            #expect(old == Array(y[..<start] + x[start...]))
        }
    }

    @Test(arguments: lengths + [64, 127, 128, 129, 1025])
    func `roll-off index: the first at which the running sum reaches a fraction of the total`(length: Int) {
        guard length > 0 else {
            #expect([Float]().span.firstIndex(reaching: 1) == 0)
            return
        }
        // Whole numbers, so that no order of summing matters.
        var generator = SplitMix64(seed: UInt64(length))
        let x = (0..<length).map { _ in Float(Int.random(in: 0...9, using: &generator)) }
        let total = x.reduce(0, +)
        for share in [0, 0.01, 0.5, 0.85, 0.999, 1] as [Float] {
            let threshold = (total * share).rounded()
            var sum: Float = 0
            let expected = x.firstIndex { value in
                sum += value
                return sum >= threshold
            }
            #expect(x.span.firstIndex(reaching: threshold) == expected)
        }
        #expect(x.span.firstIndex(reaching: total + 1) == length - 1)
    }

    @Test(arguments: lengths + [511, 512, 513, 1025, 4097])
    func `sumAndLogSum: equal to a plain loop, values below the floor are replaced by it`(length: Int) {
        for start in Self.starts {
            let floor: Float = 1e-10
            var generator = SplitMix64(seed: UInt64(length))
            // From far below the floor to far above 1, and some zeros.
            let x = (0..<start + length).map { _ in
                Bool.random(using: &generator) ? Float(pow(10, Double.random(in: -14...14, using: &generator))) : 0
            }
            let clamped = x.dropFirst(start).map { Double(max($0, floor)) }
            let (sum, logSum) = x.span.extracting(start...).sumAndLogSum(floor: floor)
            let logs = clamped.map(log2)
            #expect(abs(Double(sum) - clamped.reduce(0, +)) <= slack(clamped.reduce(0, +), length))
            #expect(abs(Double(logSum) - logs.reduce(0, +)) <= 1e-6 * logs.reduce(0) { $0 + abs($1) } + 1e-5)
        }
    }

    // MARK: - Whole vectors

    @Test(arguments: lengths, [1, 3, 16])
    func `mean: divides by the count and computes roots`(length: Int, count: Int) {
        for start in Self.starts {
            let x = noise(start + length, seed: length).map { $0 * $0 }
            var means = [Float](repeating: -1, count: length)
            var roots = means
            var meanSpan = means.mutableSpan
            var rootSpan = roots.mutableSpan
            x.span.extracting(start...).mean(of: count, into: &meanSpan, roots: &rootSpan)
            for index in 0..<length {
                let mean = Double(x[start + index]) / Double(count)
                #expect(abs(Double(means[index]) - mean) <= mean * 2e-7)
                #expect(abs(Double(roots[index]) - mean.squareRoot()) <= mean.squareRoot() * 2e-7)
            }
        }
    }

    @Test(arguments: lengths)
    func `accumulate: replaces with the first and adds the others`(length: Int) {
        let (x, y) = (noise(length, seed: length), noise(length, seed: length + 100))
        var sums = [Float](repeating: .nan, count: length)
        var span = sums.mutableSpan
        span.accumulate(x.span, isFirst: true)
        span.accumulate(y.span, isFirst: false)
        #expect(sums == zip(x, y).map(+))
    }

    @Test(arguments: lengths)
    func `scale: multiplies by a factor`(length: Int) {
        let x = noise(length, seed: length)
        var result = [Float](repeating: .nan, count: length)
        var span = result.mutableSpan
        span.scale(x.span, by: 0.3)
        #expect(result == x.map { $0 * 0.3 })
    }

    // MARK: - Mixing

    @Test(arguments: lengths, channelCounts)
    func `mix: the mean of the channels; elements after it are unchanged`(frames: Int, channelCount: Int) {
        for start in Self.starts {
            let x = noise(start + frames * channelCount, seed: frames)
            var mono = [Float](repeating: 7, count: frames + 3)
            var span = mono.mutableSpan
            let isFinite = span.mix(x.span.extracting(start...), channelCount: channelCount)
            #expect(isFinite)
            for frame in 0..<frames {
                let samples = x[start + frame * channelCount..<start + (frame + 1) * channelCount].map(Double.init)
                let mean = samples.reduce(0, +) / Double(channelCount)
                #expect(abs(Double(mono[frame]) - mean) <= slack(samples.reduce(0) { $0 + abs($1) }, channelCount) / Double(channelCount))
            }
            #expect(mono[frames...] == [7, 7, 7])
        }
    }

    @Test(arguments: lengths)
    func `mix of known positions: half the sum of the BS.775 downmix, without LFE`(frames: Int) {
        let minus3 = 0.5.squareRoot()
        let layouts: [([ChannelPosition], [Double])] = [
            ([.frontLeft, .frontRight, .frontCenter], [0.5, 0.5, minus3]),
            ([.frontLeft, .frontRight, .backLeft, .backRight], [0.5, 0.5, minus3 / 2, minus3 / 2]),
            (
                [.frontLeft, .frontCenter, .frontRight, .backLeft, .backRight, .lowFrequency],
                [0.5, minus3, 0.5, minus3 / 2, minus3 / 2, 0]
            ),
            ([.frontLeft, .frontRight, .frontCenter, .backCenter], [0.5, 0.5, minus3, 0.5]),
        ]
        for (positions, weights) in layouts {
            let count = positions.count
            let mix = ChannelMix(StreamFormat(sampleRate: 48_000, channelCount: count, channelMap: ChannelMap(positions)))
            let x = noise(frames * count, seed: frames)
            var mono = [Float](repeating: 7, count: frames + 3)
            var span = mono.mutableSpan
            let isFinite = span.mix(x.span, by: mix)
            #expect(isFinite)
            for frame in 0..<frames {
                let terms = (0..<count).map { Double(x[frame * count + $0]) * weights[$0] }
                #expect(abs(Double(mono[frame]) - terms.reduce(0, +)) <= slack(terms.reduce(0) { $0 + abs($1) }, count) + 1e-7)
            }
            #expect(mono[frames...] == [7, 7, 7])
        }
    }

    @Test(arguments: [1, 2, 3, 6])
    func `mix of mono, stereo and unknown positions: the mean of the channels, bit for bit`(channelCount: Int) {
        let x = noise(100 * channelCount, seed: channelCount)
        var (one, other) = ([Float](repeating: 0, count: 100), [Float](repeating: 0, count: 100))
        var span = one.mutableSpan
        _ = span.mix(x.span, by: ChannelMix(StreamFormat(sampleRate: 48_000, channelCount: channelCount)))
        var second = other.mutableSpan
        _ = second.mix(x.span, channelCount: channelCount)
        #expect(one.map(\.bitPattern) == other.map(\.bitPattern))
    }

    @Test(arguments: [.nan, .infinity, -.infinity] as [Float])
    func `mix of known positions, non-finite sample in any channel: reported`(bad: Float) throws {
        let map = try #require(ChannelMap([.frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight]))
        let mix = ChannelMix(StreamFormat(sampleRate: 48_000, channelCount: 6, channelMap: map))
        for place in 0..<19 * 6 {
            var x = [Float](repeating: 0.5, count: 19 * 6)
            x[place] = bad
            var mono = [Float](repeating: 0, count: 19)
            var span = mono.mutableSpan
            let isFinite = span.mix(x.span, by: mix)
            #expect(!isFinite, "at \(place)")
        }
    }

    @Test(arguments: [.nan, .infinity, -.infinity] as [Float], channelCounts)
    func `mix, one non-finite sample at any position: reported`(bad: Float, channelCount: Int) {
        for place in 0..<19 * channelCount {
            var x = [Float](repeating: 0.5, count: 19 * channelCount)
            x[place] = bad
            var mono = [Float](repeating: 0, count: 19)
            var span = mono.mutableSpan
            let isFinite = span.mix(x.span, channelCount: channelCount)
            #expect(!isFinite, "at \(place)")
        }
    }

    @Test func `mix, samples of opposite infinity: reported, although their sum is NaN`() {
        let x = [Float](repeating: 0, count: 16) + [.infinity, -.infinity]
        var mono = [Float](repeating: 0, count: 9)
        var span = mono.mutableSpan
        let isFinite = span.mix(x.span, channelCount: 2)
        #expect(!isFinite)
    }

    @Test(arguments: lengths)
    func `silenceNonFinite: replaces non-finite samples by 0 and counts them`(length: Int) {
        var generator = SplitMix64(seed: UInt64(length))
        let x = (0..<length).map { _ in [0.5, -1, .nan, .infinity, -.infinity, 1e38].randomElement(using: &generator)! as Float }
        var y = x
        var span = y.mutableSpan
        let count = span.silenceNonFinite()
        #expect(count == x.count { !$0.isFinite })
        #expect(y == x.map { $0.isFinite ? $0 : 0 })
    }
}

@Suite struct LanesTests {
    @Test func `approximateExp2: within 4e-7; approximateLog2: within 2e-5`() {
        for index in -400...400 {
            let x = Float(index) / 20
            let power = Lanes(repeating: x).approximateExp2[3]
            #expect(abs(power / exp2(x) - 1) < 4e-7, "\(x)")
            let y = exp2(x)
            #expect(abs(Lanes(repeating: y).approximateLog2[5] - x) < 2e-5, "\(x)")
        }
        #expect(Lanes(repeating: 1).approximateLog2[0] == 0)
    }

    @Test func `maximum: compares each lane; magnitudeSquareRoot: ignores the sign`() {
        let x = Lanes(-4, 9, 0, -0.25, 1, -16, 25, 2.25)
        #expect(x.maximum(with: Lanes(repeating: 0.5)) == Lanes(0.5, 9, 0.5, 0.5, 1, 0.5, 25, 2.25))
        #expect(x.magnitudeSquareRoot == Lanes(2, 3, 0, 0.5, 1, 4, 5, 1.5))
    }

    @Test func `load and store: at any offset, and with a stride`() {
        var values = (0..<40).map(Float.init)
        values.withUnsafeMutableBufferPointer { buffer in
            let loaded = buffer.lanes(3)
            #expect(loaded == Lanes(3, 4, 5, 6, 7, 8, 9, 10))
            #expect(UnsafeBufferPointer(buffer).lanes(3) == loaded)
            #expect(UnsafePointer(buffer.baseAddress!).lanes(1, stride: 5) == Lanes(1, 6, 11, 16, 21, 26, 31, 36))
            buffer.store(loaded, 20)
            #expect(buffer.lanes(19) == Lanes(19, 3, 4, 5, 6, 7, 8, 9))
            #expect(buffer[28] == 28)
        }
    }
}

@Suite struct DecibelTests {
    private func converted(_ x: [Float], factor: Float) -> [Float] {
        var y = x
        var span = y.mutableSpan
        span.convertToDecibels(factor: factor)
        return y
    }

    @Test(arguments: [10, 20] as [Float])
    func `decibels: within 1e-6 of Foundation's log10`(factor: Float) {
        // Every exponent, normal and subnormal, at some 17 000 places of the mantissa in turn.
        let x = stride(from: UInt32(1), to: 0x7f80_0000, by: 9973).map(Float.init(bitPattern:))
        for (power, level) in zip(x, converted(x, factor: factor)) {
            let expected = max(-120, Double(factor) * log10(Double(power)))
            guard abs(Double(level) - expected) <= 1e-6 * abs(expected) + 1e-6 else {
                Issue.record("\(power) became \(level) dB and not \(expected) dB")
                return
            }
        }
    }

    @Test(arguments: [10, 20] as [Float])
    func `decibels of values around 1: exact to a few units in the last place`(factor: Float) {
        let one = Float(1).bitPattern
        let x = (one - 2000...one + 2000).map(Float.init(bitPattern:))
        for (power, level) in zip(x, converted(x, factor: factor)) {
            let expected = Double(factor) * log10(Double(power))
            #expect(abs(Double(level) - expected) <= 4e-7 * abs(expected))
        }
    }

    @Test(arguments: Array(0...17))
    func `span of any length: all elements are converted`(length: Int) {
        let x = (0..<length).map { Float(exactly: $0 + 1)! }
        for (power, level) in zip(x, converted(x, factor: 10)) {
            #expect(abs(level - 10 * log10(power)) < 1e-5)
        }
    }

    /// The vector path and the path of the last few values must both be right.
    @Test(arguments: [1, 8])
    func `zero, subnormal and negative values: -120 dB`(count: Int) {
        for value in [0, -0.0, .leastNonzeroMagnitude, .leastNormalMagnitude, 1e-38, 1e-13, -1, -.infinity] as [Float] {
            #expect(converted(Array(repeating: value, count: count), factor: 10) == Array(repeating: -120, count: count), "\(value)")
        }
        let floor = converted(Array(repeating: 1e-12, count: count), factor: 10)
        #expect(floor.allSatisfy { abs($0 + 120) < 1e-4 && $0 >= -120 })
    }

    @Test(arguments: [1, 8])
    func `NaN: NaN`(count: Int) {
        for value in [.nan, -.nan, .signalingNaN] as [Float] {
            let levels = converted(Array(repeating: value, count: count), factor: 20)
            #expect(levels.allSatisfy { $0.isNaN })
        }
    }

    @Test(arguments: [1, 8])
    func `infinity: converted as 2^128, to a finite number`(count: Int) {
        for level in converted(Array(repeating: .infinity, count: count), factor: 10) {
            #expect(abs(Double(level) - 10 * log10(pow(2, 128))) < 1e-3)
        }
    }
}

/// Random samples of −1…1, the same for the same seed.
private func noise(_ count: Int, seed: Int) -> [Float] {
    TestSignal.noise(seed: UInt64(seed), frames: count)
}
