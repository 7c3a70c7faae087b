/// The weights of a format's channels in a stereo downmix, left and right, and in a mono downmix.
///
/// - One channel: left, right and mono are that channel.
/// - Two: left and right are unchanged, mono = (left + right) / 2.
/// - More, with a known ``ChannelMap``: the stereo downmix of ITU-R BS.775, not normalized, so that it may exceed ±1; mono is
///   (left + right) / 2 of it. Stereo played on a 5.1 output has the same level as on a stereo output.
/// - More, without one: left, right and mono are the mean of all channels.
public struct ChannelMix: Sendable, Hashable {
    /// Samples per frame.
    public let channelCount: Int
    /// The weight of each channel in left.
    public let left: [Float]
    /// The weight of each channel in right.
    public let right: [Float]
    /// The weight of each channel in mono.
    public let mono: [Float]
    /// Whether mono is the unweighted mean of the channels.
    let isMean: Bool

    /// The downmix of a format. O(channels), allocates.
    public init(_ format: StreamFormat) {
        channelCount = format.channelCount
        let shares: [(left: Float, right: Float)]
        switch (format.channelCount, format.channelMap) {
        case (2, _):
            shares = [(1, 0), (0, 1)]
            isMean = true
        case (3..., let map?):
            shares = map.positions.map(\.downmix)
            isMean = false
        default:
            let share = 1 / Float(max(1, format.channelCount))
            shares = Array(repeating: (share, share), count: format.channelCount)
            isMean = true
        }
        left = shares.map(\.left)
        right = shares.map(\.right)
        mono = shares.map { ($0.left + $0.right) / 2 }
    }
}

// The mixing loops, eight frames at a time. The unsafe pointers are vector loads and stores within spans whose memory stays valid
// during the call.

extension MutableSpan where Element == Float {
    /// Writes the mean of the channels of interleaved samples to the first elements; returns whether every sample is finite.
    ///
    /// O(n). The order of summation is fixed, so the result is the same on every machine.
    public mutating func mix(_ samples: Span<Float>, channelCount: Int) -> Bool {
        withUnsafeMutableBufferPointer { mono in
            samples.withUnsafeBufferPointer { buffer in
                let frames = buffer.count / channelCount
                precondition(frames <= mono.count, "the mix is shorter than the samples")
                guard let x = buffer.baseAddress, let y = mono.baseAddress else { return true }
                // x · 0 is NaN if x is infinite or NaN, otherwise 0, and a sum that contains NaN is NaN.
                var nonFinite = Lanes.zero
                let share = 1 / Float(channelCount)
                var frame = 0
                switch channelCount {
                case 1:
                    while frame + 8 <= frames {
                        let value = x.lanes(frame)
                        nonFinite += value * 0
                        y.store(value, frame)
                        frame += 8
                    }
                case 2:
                    while frame + 8 <= frames {
                        let low = x.lanes(2 * frame)
                        let high = x.lanes(2 * frame + 8)
                        nonFinite += low * 0
                        nonFinite += high * 0
                        let left = Lanes(lowHalf: low.evenHalf, highHalf: high.evenHalf)
                        let right = Lanes(lowHalf: low.oddHalf, highHalf: high.oddHalf)
                        y.store((left + right) * 0.5, frame)
                        frame += 8
                    }
                default:
                    while frame + 8 <= frames {
                        var sum = Lanes.zero
                        for channel in 0..<channelCount {
                            let value = x.lanes(frame * channelCount + channel, stride: channelCount)
                            sum += value
                            nonFinite += value * 0
                        }
                        y.store(sum * share, frame)
                        frame += 8
                    }
                }
                var check: Float = nonFinite.sum()
                while frame < frames {
                    var sum: Float = 0
                    for channel in 0..<channelCount {
                        let value = x[frame * channelCount + channel]
                        sum += value
                        check += value * 0
                    }
                    y[frame] = sum * share
                    frame += 1
                }
                return check == 0
            }
        }
    }

    /// Writes the mono downmix of interleaved samples to the first elements; returns whether every sample is finite, including
    /// those of weight 0.
    ///
    /// O(n). For one or two channels, and for more channels of unknown positions, equal to `mix(_:channelCount:)`.
    public mutating func mix(_ samples: Span<Float>, by channels: ChannelMix) -> Bool {
        channels.isMean ? mix(samples, channelCount: channels.channelCount) : mix(samples, weights: channels.mono)
    }

    /// Writes the weighted sum of the channels of interleaved samples to the first elements; returns whether every sample is finite,
    /// including those of weight 0. O(n).
    package mutating func mix(_ samples: Span<Float>, weights: [Float]) -> Bool {
        let count = weights.count
        return withUnsafeMutableBufferPointer { mono in
            samples.withUnsafeBufferPointer { buffer in
                weights.withUnsafeBufferPointer { weights in
                    let frames = buffer.count / count
                    precondition(frames <= mono.count, "the mix is shorter than the samples")
                    guard let x = buffer.baseAddress, let y = mono.baseAddress else { return true }
                    var nonFinite = Lanes.zero
                    var frame = 0
                    while frame + 8 <= frames {
                        var sum = Lanes.zero
                        for channel in 0..<count {
                            let value = x.lanes(frame * count + channel, stride: count)
                            sum += value * weights[channel]
                            nonFinite += value * 0
                        }
                        y.store(sum, frame)
                        frame += 8
                    }
                    var check: Float = nonFinite.sum()
                    while frame < frames {
                        var sum: Float = 0
                        for channel in 0..<count {
                            let value = x[frame * count + channel]
                            sum += value * weights[channel]
                            check += value * 0
                        }
                        y[frame] = sum
                        frame += 1
                    }
                    return check == 0
                }
            }
        }
    }
}
