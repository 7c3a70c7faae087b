import HemiolaTesting
import Testing

@testable import SummarySink

@Suite struct QuantileSketchTests {
    private static let shares = [0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1]

    private func sketch(_ values: [Float], chunk: Int = 1024) -> QuantileSketch {
        var (sketch, sorter) = (QuantileSketch(), RadixSorter(capacity: 1024))
        var start = 0
        while start < values.count {
            let end = min(start + chunk, values.count)
            values.withUnsafeBufferPointer { sketch.add(UnsafeBufferPointer(rebasing: $0[start..<end]), &sorter) }
            start = end
        }
        sketch.sort(&sorter)
        return sketch
    }

    /// The largest distance between a quantile's share and the nearest share that its value has among all values.
    private func rankError(_ sketch: QuantileSketch, _ values: [Float]) -> Double {
        let sorted = values.sorted()
        return Self.shares.map { share in
            let value = sketch.quantile(share)
            let first = sorted.partitioningIndex { $0 >= value }
            let end = sorted.partitioningIndex { $0 > value }
            #expect(first < end, "a quantile is one of the values")
            let rank = share * Double(values.count)
            return max(0, Double(first + 1) - max(rank, 1), rank - Double(end)) / Double(values.count)
        }.max()!
    }

    /// A sequence of numbers without a pattern, equal in every run.
    static func noise(_ count: Int) -> [Float] {
        var state: UInt64 = 1
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Float(state >> 40) / Float(1 << 24) - 0.5
        }
    }

    @Test(arguments: [1, 2, 3, 10, 100, 1023])
    func `fewer than 1024 values: the exact quantile`(count: Int) {
        let values = Self.noise(count)
        let sketch = sketch(values)
        let sorted = values.sorted()
        for share in Self.shares {
            #expect(sketch.quantile(share) == sorted[max(1, Int((share * Double(count)).rounded(.up))) - 1], "\(share)")
        }
    }

    enum Order: String, CaseIterable {
        case sorted, reversed, alternating, zigzag, constant, noise, mostlyConstant, blocks, alternatingBlocks

        func values(_ count: Int) -> [Float] {
            switch self {
            case .sorted: (0..<count).map { Float($0) }
            case .reversed: (0..<count).reversed().map { Float($0) }
            case .alternating: (0..<count).map { $0 % 2 == 0 ? Float($0) : -Float($0) }
            case .zigzag: (0..<count).map { Float($0 % 513) }
            case .constant: Array(repeating: -120, count: count)
            case .noise: QuantileSketchTests.noise(count)
            case .mostlyConstant: (0..<count).map { $0 % 100 == 0 ? Float($0) : -120 }
            // Each block of 1024 fills a level. The number of its zeros is not a multiple of four, so that each compaction has an error.
            case .blocks:
                (0..<count).map { index -> Float in
                    let (block, place) = index.quotientAndRemainder(dividingBy: 1024)
                    let zeros = block % 2 == 0 ? 509 : 511
                    return place < zeros ? 0 : Float(block)
                }
            case .alternatingBlocks:
                (0..<count).map { index -> Float in
                    let (block, place) = index.quotientAndRemainder(dividingBy: 1024)
                    return Float(block % 2 == 0 ? place : 1_000_000 - place)
                }
            }
        }
    }

    @Test(arguments: Order.allCases)
    func `a million values in any order: rank error below 0.5 percent`(order: Order) {
        let values = order.values(1_000_000)
        #expect(rankError(sketch(values), values) < 0.005)
    }

    @Test(arguments: [1024, 1025, 2000, 5000, 13_000, 26_000, 100_000], [1, 64, 511, 1024])
    func `streams of any length in chunks of any size: rank error below 0.5 percent`(count: Int, chunk: Int) {
        for order in [Order.sorted, .reversed, .noise, .blocks] {
            let values = order.values(count)
            #expect(rankError(sketch(values, chunk: chunk), values) <= 0.005, "\(order)")
        }
    }

    @Test func `values of equal streams: equal quantiles`() {
        let values = Self.noise(50_000)
        let (one, other) = (sketch(values), sketch(values))
        for share in Self.shares { #expect(one.quantile(share) == other.quantile(share)) }
    }

    @Test func `no value: NaN`() {
        #expect(sketch([]).quantile(0.5).isNaN)
    }

    @Test func `radix sort: the order of the values, for numbers of every size and sign`() {
        var sorter = RadixSorter(capacity: 4)
        let extremes: [Float] = [
            0, -0.0, 1, -1, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
            -.leastNonzeroMagnitude, 0.1, 16_777_216,
        ]
        for values in [extremes, Self.noise(2000), [1, 1, 1], [2, 1], []] {
            var sorted = values
            sorter.sort(&sorted)
            #expect(sorted == values.sorted())
        }
        for value in extremes { #expect(RadixSorter.value(of: RadixSorter.key(of: value)).bitPattern == value.bitPattern) }
    }
}

extension Array {
    /// The index of the first element that satisfies a condition, which all elements after it satisfy too.
    fileprivate func partitioningIndex(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
