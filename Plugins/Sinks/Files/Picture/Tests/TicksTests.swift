import Testing

@testable import HemiolaPictures

@Suite struct TicksTests {
    private func time(_ start: Double, _ end: Double, length: Double = 1000) -> Ticks {
        Ticks.time(start...end, length: length, gap: 26) { Double($0.count) * 7 }
    }

    @Test(
        arguments: [
            (0.0, 0.1, "Time (s)", ["0.00", "0.01", "0.02"]),
            (0, 3, "Time (s)", ["0.0", "0.2", "0.4"]),
            (0, 30, "Time (s)", ["0", "2", "4"]),
            (0, 180, "Time (m:ss)", ["0:00", "0:10", "0:20"]),
            (90, 92, "Time (m:ss)", ["1:30.0", "1:30.2", "1:30.4"]),
            (0, 3 * 3600, "Time (h:mm)", ["0:00", "0:10", "0:20"]),
            (3599, 3605, "Time (h:mm:ss)", ["0:59:59", "1:00:00", "1:00:01"]),
            (0, 36_000, "Time (h:mm)", ["0:00", "1:00", "2:00"]),
            (0, 864_000, "Time (h:mm)", ["0:00", "24:00", "48:00"]),
        ] as [(Double, Double, String, [String])])
    func `time axis: labels at round times, in the unit of the range`(start: Double, end: Double, title: String, labels: [String]) {
        let ticks = time(start, end)
        #expect(ticks.title == title)
        #expect(Array(ticks.ticks.map(\.label).prefix(3)) == labels)
        #expect(ticks.ticks.allSatisfy { (start - 1e-6...end + 1e-6).contains($0.value) })
    }

    @Test(arguments: [0.01, 1, 7.3, 59, 61, 200, 3599, 3601, 40_000, 900_000], [80.0, 300, 1000, 16_000])
    func `time axis of any length: labels do not overlap`(end: Double, length: Double) {
        let ticks = time(0, end, length: length).ticks
        for (one, next) in zip(ticks, ticks.dropFirst()) {
            let half = Double(one.label.count + next.label.count) * 7 / 2
            #expect((next.value - one.value) / end * length >= half + 20, "\(one) \(next)")
        }
    }

    @Test func `logarithmic frequency axis: labels at 1, 2 and 5 times powers of ten, marks at the other multiples`() {
        let axis = FrequencyAxis(.log, minimum: 20, maximum: nil, sampleRate: 44_100)
        let ticks = Ticks.frequency(axis, length: 600, spacing: 17).ticks
        #expect(ticks.map(\.label).filter { !$0.isEmpty } == ["20", "50", "100", "200", "500", "1k", "2k", "5k", "10k", "20k"])
        #expect(ticks.contains { $0.value == 3000 && $0.label.isEmpty })
    }

    @Test func `low logarithmic axis: powers of ten keep their labels`() {
        let axis = FrequencyAxis(.log, minimum: 20, maximum: nil, sampleRate: 44_100)
        let labels = Ticks.frequency(axis, length: 60, spacing: 17).ticks.map(\.label).filter { !$0.isEmpty }
        #expect(labels == ["100", "1k", "10k"])
    }

    @Test func `narrow logarithmic axis: labels at round numbers`() {
        let axis = FrequencyAxis(.log, minimum: 300, maximum: 620, sampleRate: 44_100)
        let labels = Ticks.frequency(axis, length: 400, spacing: 17).ticks.map(\.label).filter { !$0.isEmpty }
        #expect(labels.count >= 3 && labels.contains("400"), "\(labels)")
    }

    @Test func `linear frequency axis: kilohertz`() {
        let axis = FrequencyAxis(.linear, minimum: nil, maximum: nil, sampleRate: 44_100)
        let ticks = Ticks.frequency(axis, length: 400, spacing: 17)
        #expect(ticks.title == "Frequency (kHz)")
        #expect(ticks.ticks.map(\.label) == (0...10).map { "\($0 * 2)" })
        #expect(ticks.ticks.map(\.value) == (0...10).map { Double($0) * 2000 })
    }

    @Test(arguments: FrequencyScale.allCases)
    func `frequency and place: inverse of each other`(scale: FrequencyScale) {
        let axis = FrequencyAxis(scale, minimum: nil, maximum: nil, sampleRate: 44_100)
        for frequency in [31.0, 100, 440, 999, 1001, 5000, 19_999] {
            #expect(abs(axis.frequency(at: axis.fraction(of: frequency)) - frequency) < 1e-6 * frequency)
        }
    }

    @Test(arguments: [(440.0, "440"), (1000, "1k"), (1500, "1.5k"), (2000, "2k"), (62.5, "62.5"), (12_345, "12.345k")])
    func `label of a frequency`(value: Double, label: String) {
        #expect(Ticks.hertz(value) == label)
    }

    @Test(arguments: [(0.0, 0, "0"), (-0.4, 0, "0"), (-6, 0, "\u{2212}6"), (1.25, 2, "1.25"), (0.05, 1, "0.1"), (-0.05, 2, "\u{2212}0.05")])
    func `number: fixed decimals, a true minus sign, no negative zero`(value: Double, decimals: Int, text: String) {
        #expect(value.text(decimals: decimals) == text)
    }
}
