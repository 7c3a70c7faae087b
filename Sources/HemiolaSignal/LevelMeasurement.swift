/// The level of a block of samples: sum of squares and peak.
public struct LevelMeasurement: Sendable, Hashable {
    /// Σx².
    public var squares: Float
    /// max |x|.
    public var peak: Float

    /// Creates a measurement; that of silence by default.
    public init(squares: Float = 0, peak: Float = 0) {
        self.squares = squares
        self.peak = peak
    }
}

extension Span where Element == Float {
    /// Σx² and max |x|; 0 for no samples. O(n).
    public var level: LevelMeasurement {
        withUnsafeBufferPointer { buffer in
            guard let x = buffer.baseAddress else { return LevelMeasurement() }
            let whole = buffer.count & ~7
            var squares = Lanes.zero
            var peak = Lanes.zero
            var index = 0
            while index < whole {
                let value = x.lanes(index)
                squares += value * value
                peak = peak.maximum(with: value.magnitude)
                index += 8
            }
            var result = LevelMeasurement(squares: squares.sum(), peak: peak.max())
            while index < buffer.count {
                result.squares += x[index] * x[index]
                result.peak = Swift.max(result.peak, abs(x[index]))
                index += 1
            }
            return result
        }
    }

    /// Σx² and max |x| of channel `channel` of interleaved samples. O(n).
    public func level(ofChannel channel: Int, of channelCount: Int) -> LevelMeasurement {
        withUnsafeBufferPointer { buffer in
            guard let x = buffer.baseAddress else { return LevelMeasurement() }
            var squares = Lanes.zero
            var peak = Lanes.zero
            var index = channel
            while index + 7 * channelCount < buffer.count {
                let value = x.lanes(index, stride: channelCount)
                squares += value * value
                peak = peak.maximum(with: value.magnitude)
                index += 8 * channelCount
            }
            var result = LevelMeasurement(squares: squares.sum(), peak: peak.max())
            while index < buffer.count {
                result.squares += buffer[index] * buffer[index]
                result.peak = Swift.max(result.peak, abs(buffer[index]))
                index += channelCount
            }
            return result
        }
    }

    /// The left and right `loudness` of interleaved stereo, in one pass. O(n).
    public var stereoLevels: (left: LevelMeasurement, right: LevelMeasurement) {
        withUnsafeBufferPointer { buffer in
            guard let x = buffer.baseAddress else { return (LevelMeasurement(), LevelMeasurement()) }
            let whole = buffer.count & ~7
            // Even lanes are left, odd lanes are right, so the channels are separated once after the loop.
            var squares = Lanes.zero
            var peak = Lanes.zero
            var index = 0
            while index < whole {
                let value = x.lanes(index)
                squares += value * value
                peak = peak.maximum(with: value.magnitude)
                index += 8
            }
            var left = LevelMeasurement(squares: squares.evenHalf.sum(), peak: peak.evenHalf.max())
            var right = LevelMeasurement(squares: squares.oddHalf.sum(), peak: peak.oddHalf.max())
            while index + 1 < buffer.count {
                left.squares += x[index] * x[index]
                left.peak = Swift.max(left.peak, abs(x[index]))
                right.squares += x[index + 1] * x[index + 1]
                right.peak = Swift.max(right.peak, abs(x[index + 1]))
                index += 2
            }
            return (left, right)
        }
    }
}
