import Testing

@testable import PresetsSink

@Suite struct PresetOrderTests {
    private func order(_ kind: PresetOrder.Kind, _ list: [String], seed: UInt64 = 0) -> PresetOrder {
        var order = PresetOrder(kind, seed: seed)
        order.replace(PresetNames(list))
        return order
    }

    private func draw(_ order: inout PresetOrder, _ count: Int) -> [String] {
        (0..<count).compactMap { _ in order.next() }
    }

    @Test(arguments: [0, 1, 2_026])
    func `shuffle: each preset once per round, none twice in a row`(seed: UInt64) {
        var order = order(.shuffle, names(10), seed: seed)
        let shown = draw(&order, 20_000)
        for start in stride(from: 0, to: 20_000, by: 10) { #expect(Set(shown[start..<start + 10]).count == 10) }
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test(arguments: [0, 1, 2_026])
    func `shuffle: every position of a round is equally likely for every preset`(seed: UInt64) {
        var order = order(.shuffle, names(10), seed: seed)
        let shown = draw(&order, 20_000)
        var counts = Array(repeating: Array(repeating: 0, count: 10), count: 10)
        for (index, name) in shown.enumerated() { counts[index % 10][Int(name.dropFirst())!] += 1 }
        // The 99.999 % quantile of the chi-squared distribution with 9 degrees of freedom.
        for place in counts { #expect(chiSquared(place, expected: Array(repeating: 200, count: 10)) < 39.3) }
    }

    @Test(arguments: [0, 1, 2_026])
    func `random: every other preset is equally likely`(seed: UInt64) {
        var order = order(.random, names(6), seed: seed)
        let shown = draw(&order, 30_000)
        var pairs = Array(repeating: Array(repeating: 0, count: 6), count: 6)
        for (one, other) in zip(shown, shown.dropFirst()) { pairs[Int(one.dropFirst())!][Int(other.dropFirst())!] += 1 }
        for (index, row) in pairs.enumerated() {
            #expect(row[index] == 0)
            let others = row.enumerated().filter { $0.offset != index }.map(\.element)
            let total = Double(others.reduce(0, +))
            #expect(total > 4_000)
            // The 99.999 % quantile with 4 degrees of freedom.
            #expect(chiSquared(others, expected: Array(repeating: total / 5, count: 5)) < 28.5)
        }
    }

    @Test func `random request: any preset except the current one, equally likely`() {
        var order = order(.sequential, names(5))
        var counts = Array(repeating: 0, count: 5)
        var last = order.next()
        for _ in 0..<10_000 {
            let name = order.random()
            #expect(name != last)
            last = name
            counts[Int(name!.dropFirst())!] += 1
        }
        #expect(chiSquared(counts, expected: Array(repeating: 2_000, count: 5)) < 28.5)
    }

    @Test func `sequential: repeats the list, from the current preset on`() {
        var order = order(.sequential, names(3))
        #expect(draw(&order, 5) == ["p0", "p1", "p2", "p0", "p1"])
        order.select("elsewhere")
        #expect(draw(&order, 2) == ["p0", "p1"])
    }

    @Test func `equal seeds give equal orders, different seeds different ones`() {
        var (one, same, other) = (order(.shuffle, names(50)), order(.shuffle, names(50)), order(.shuffle, names(50), seed: 1))
        let drawn = draw(&one, 200)
        #expect(drawn == draw(&same, 200))
        #expect(drawn != draw(&other, 200))
    }

    @Test(arguments: PresetOrder.Kind.allCases)
    func `empty list: no preset; one preset: no other`(kind: PresetOrder.Kind) {
        var empty = order(kind, [])
        #expect(empty.next() == nil && empty.random() == nil && empty.previous() == nil && empty.current == nil)
        var single = order(kind, ["only"])
        #expect(single.next() == "only")
        #expect(single.next() == nil && single.random() == nil)
        #expect(single.current == "only")
    }

    @Test func `previous and next move in the history, then to new presets`() {
        var order = order(.shuffle, names(20))
        let shown = draw(&order, 4)
        #expect(order.previous() == shown[2])
        #expect(order.previous() == shown[1])
        #expect(order.next() == shown[2])
        #expect(order.next() == shown[3])
        #expect(!shown.contains(order.next()!))
        for _ in 0..<4 { _ = order.previous() }
        #expect(order.current == shown[0])
        #expect(order.previous() == nil)
        order.select("chosen")
        #expect(order.previous() == shown[0])
    }

    @Test func `the history holds at most 256 presets`() {
        var order = order(.random, names(5))
        _ = draw(&order, 5_000)
        var steps = 0
        while order.previous() != nil { steps += 1 }
        #expect(steps == 255)
    }

    @Test(arguments: PresetOrder.Kind.allCases)
    func `smaller list: only its presets follow, and the current preset stays`(kind: PresetOrder.Kind) {
        var order = order(kind, names(10))
        let shown = draw(&order, 6)
        order.replace(PresetNames(["p1", "p3"]))
        #expect(order.current == shown[5])
        let rest = draw(&order, 50)
        #expect(rest.count == 50)
        #expect(Set(rest) == ["p1", "p3"])
        while let name = order.previous() { #expect(["p1", "p3", shown[5]].contains(name)) }
        order.replace(PresetNames([]))
        #expect(draw(&order, 1).count <= 1)
        #expect(order.random() == nil)
    }

    @Test func `remove: the preset leaves the history and the order`() {
        var order = order(.sequential, names(4))
        _ = draw(&order, 3)
        order.remove("p2")
        order.replace(PresetNames(["p0", "p1", "p3"]))
        #expect(order.current == "p1")
        #expect(order.next() == "p3")
        order.remove("p0")
        order.replace(PresetNames(["p1", "p3"]))
        #expect(order.current == "p3")
        #expect(order.previous() == "p1")
        #expect(order.previous() == nil)
    }
}
