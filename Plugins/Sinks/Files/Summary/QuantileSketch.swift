/// Approximate quantiles of a stream of values, in bounded memory and without chance.
///
/// A hierarchy of compactors (Karnin, Lang, Liberty: Optimal quantile approximation in streams, FOCS 2016; Manku, Rajagopalan, Lindsay,
/// SIGMOD 1998). Level h holds values that each stand for 4ʰ values of the stream. A full level is sorted, and one of every four values moves
/// to the next level. Where KLL chooses by chance, this sketch takes the second and the third of the four in turn, so that equal streams
/// give equal results and the error has a bound in the worst case.
///
/// Error: one compaction of level h changes the rank of any value by −1…2 times 4ʰ, the next one by −2…1, so m of them by at most
/// (1.5·m + 0.5)·4ʰ. A level of capacity k is compacted at most n/(k·4ʰ) times in a stream of n values. All levels together:
/// |error| / n ≤ Σ 1.5/k + 0.7/k of the topmost compacted level. The capacities are chosen such that this is below 0.5 % for up to
/// 2.5·10⁸ values, two months of batches. Below 1024 values, the quantiles are exact.
struct QuantileSketch: Sendable {
    /// Values of a level from which on it is compacted.
    private static func capacity(ofLevel level: Int) -> Int { level < firstLevels.count ? firstLevels[level] : largestLevel }
    private static let firstLevels = [chunkLength, 2048, 2048]
    /// The largest capacity.
    static let largestLevel = 4096
    /// The most values that are added at a time.
    static let chunkLength = 1024

    private var levels: [[Float]] = [[]]
    /// For each level, which of four values its next compaction keeps: 1 or 2, counted from 0.
    private var keptPlaces: [Int] = [1]
    /// Values added.
    private(set) var count: Int64 = 0

    /// Adds finite values, at most `chunkLength` at a time.
    mutating func add(_ values: UnsafeBufferPointer<Float>, _ sorter: inout RadixSorter) {
        count += Int64(values.count)
        levels[0].append(contentsOf: values)
        var level = 0
        while levels[level].count >= Self.capacity(ofLevel: level) {
            compact(level, &sorter)
            level += 1
        }
    }

    private mutating func compact(_ level: Int, _ sorter: inout RadixSorter) {
        if level + 1 == levels.count {
            levels.append([])
            keptPlaces.append(1)
        }
        sorter.sort(&levels[level])
        let end = levels[level].count & ~3
        levels[level + 1].reserveCapacity(Self.capacity(ofLevel: level + 1))
        for index in stride(from: keptPlaces[level], to: end, by: 4) { levels[level + 1].append(levels[level][index]) }
        keptPlaces[level] = 3 - keptPlaces[level]
        // Up to three values stay, the largest ones.
        levels[level].removeFirst(end)
    }

    /// Sorts the levels, so that quantiles can be computed.
    mutating func sort(_ sorter: inout RadixSorter) {
        for level in levels.indices { sorter.sort(&levels[level]) }
    }

    /// The smallest value whose rank is at least a share of the number of values (numpy's `inverted_cdf`, SQL's `percentile_disc`); NaN
    /// without values. Call `sort` first.
    ///
    /// - Parameter share: 0…1.
    /// - Complexity: O(levels · log(capacity) · 32).
    func quantile(_ share: Double) -> Float {
        let total = levels.enumerated().reduce(0) { $0 + $1.element.count << (2 * $1.offset) }
        guard total > 0 else { return .nan }
        let rank = max(1, Int((share * Double(total)).rounded(.up)))
        // A binary search over the keys of all floating-point numbers.
        var (low, high) = (UInt32.min, UInt32.max)
        while low < high {
            let middle = low + (high - low) / 2
            if self.rank(of: RadixSorter.value(of: middle), key: middle) >= rank { high = middle } else { low = middle + 1 }
        }
        return RadixSorter.value(of: low)
    }

    /// The number of values up to one, by the sketch.
    private func rank(of value: Float, key: UInt32) -> Int {
        var rank = 0
        for (level, values) in levels.enumerated() {
            var (low, high) = (0, values.count)
            while low < high {
                let middle = (low + high) / 2
                if RadixSorter.key(of: values[middle]) <= key { low = middle + 1 } else { high = middle }
            }
            rank += low << (2 * level)
        }
        return rank
    }
}

/// Sorts short arrays of floating-point numbers by their bits, in four passes of one byte each: three times as fast as a comparison sort.
struct RadixSorter: Sendable {
    private var keys: [UInt32]
    private var others: [UInt32]
    private var starts = [Int32](repeating: 0, count: 4 * 256)

    /// - Parameter capacity: The longest array at first; it grows as needed.
    init(capacity: Int) {
        keys = Array(repeating: 0, count: capacity)
        others = keys
    }

    /// A number with the order of the values: −0 is below 0.
    static func key(of value: Float) -> UInt32 {
        let bits = value.bitPattern
        return bits ^ (UInt32(bitPattern: Int32(bitPattern: bits) >> 31) | 0x8000_0000)
    }

    static func value(of key: UInt32) -> Float {
        Float(bitPattern: key & 0x8000_0000 != 0 ? key ^ 0x8000_0000 : ~key)
    }

    /// Sorts values in ascending order.
    mutating func sort(_ values: inout [Float]) {
        guard values.count > 1 else { return }
        if values.count > keys.count {
            keys = Array(repeating: 0, count: values.count)
            others = keys
        }
        // Unsafe: without bounds checks, which double the time. Every place is a count of values before, so below their number.
        values.withUnsafeMutableBufferPointer { values in
            keys.withUnsafeMutableBufferPointer { keys in
                others.withUnsafeMutableBufferPointer { others in
                    starts.withUnsafeMutableBufferPointer { Self.sort(values, keys, others, $0) }
                }
            }
        }
    }

    private static func sort(
        _ values: UnsafeMutableBufferPointer<Float>, _ keys: UnsafeMutableBufferPointer<UInt32>,
        _ others: UnsafeMutableBufferPointer<UInt32>, _ starts: UnsafeMutableBufferPointer<Int32>
    ) {
        starts.update(repeating: 0)
        for index in values.indices {
            let key = key(of: values[index])
            keys[index] = key
            starts[Int(key & 0xff)] += 1
            starts[256 + Int(key >> 8 & 0xff)] += 1
            starts[512 + Int(key >> 16 & 0xff)] += 1
            starts[768 + Int(key >> 24)] += 1
        }
        var (source, target) = (keys, others)
        for pass in 0..<4 {
            let shift = UInt32(8 * pass)
            let starts = UnsafeMutableBufferPointer(rebasing: starts[256 * pass..<256 * (pass + 1)])
            // Where all values have the same byte, the pass would only copy.
            if starts[Int(source[0] >> shift & 0xff)] == Int32(values.count) { continue }
            var sum: Int32 = 0
            for digit in 0..<256 {
                let count = starts[digit]
                starts[digit] = sum
                sum += count
            }
            for index in values.indices {
                let key = source[index]
                let digit = Int(key >> shift & 0xff)
                target[Int(starts[digit])] = key
                starts[digit] += 1
            }
            swap(&source, &target)
        }
        for index in values.indices { values[index] = value(of: source[index]) }
    }
}
