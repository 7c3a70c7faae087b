import HemiolaRecords
import HemiolaSignal
import Testing

@Suite struct FeatureRowTests {
    /// Three features: one value, four values, one value.
    private func outputs() -> (AnalyzerOutputs, one: FeatureHandle, four: FeatureHandle, last: FeatureHandle) {
        var outputs = AnalyzerOutputs()
        let one = outputs.add(Feature("one", .none, "One value."))
        let four = outputs.add(Feature("four", .none, count: 4, "Four values."))
        let last = outputs.add(Feature("last", .none, "One more."))
        return (outputs, one, four, last)
    }

    @Test func `handles: consecutive, in the order of declaration`() {
        let (outputs, one, four, last) = outputs()
        #expect(outputs.width == 6)
        #expect([one.offset, four.offset, last.offset] == [0, 1, 5])
        #expect([one.count, four.count, last.count] == [1, 4, 1])
    }

    @Test func `write by handle: changes only the values of that handle`() {
        let (outputs, one, four, last) = outputs()
        var values = [Float](repeating: .nan, count: outputs.width)
        var row = FeatureRow(values.mutableSpan)
        row[one] = 1
        row[four, 0] = 10
        row[four, 3] = 13
        row[last] = 2
        #expect(row.count == 6)
        #expect(row[one] == 1)
        #expect(row[four, 3] == 13)
        #expect(values[0...1] == [1, 10])
        #expect(values[4...5] == [13, 2])
        // Values that were not written are NaN.
        #expect(values[2].isNaN && values[3].isNaN)
    }

    @Test func `span of a feature: all its values can be written`() {
        let (outputs, _, four, _) = outputs()
        var values = [Float](repeating: 0, count: outputs.width)
        var row = FeatureRow(values.mutableSpan)
        var span = row[all: four]
        for index in span.indices { span[index] = Float(index + 1) }
        #expect(values == [0, 1, 2, 3, 4, 0])
    }

    @Test func `feature without values: has no columns`() {
        var outputs = AnalyzerOutputs()
        let none = outputs.add(Feature("none", .none, count: 0, "No values."))
        let one = outputs.add(Feature("one", .none, "One value."))
        #expect(one.offset == 0)
        var values: [Float] = [5]
        var row = FeatureRow(values.mutableSpan)
        #expect(row[all: none].count == 0)
        #expect(row[one] == 5)
    }
}

@Suite struct FeatureLayoutTests {
    @Test func `several sections: consecutive, features are found by analyzer and name`() {
        var outputs = AnalyzerOutputs()
        _ = outputs.add(Feature("rms_db", .decibels, "A level."))
        _ = outputs.add(Feature("bands_db", .decibels, count: 3, "Bands."))
        var layout = FeatureLayout()
        layout.append(outputs, of: "a")
        layout.append(outputs, of: "b")
        #expect(layout.width == 8)
        #expect(layout.handle("b", "bands_db") == FeatureHandle(offset: 5, count: 3))
        #expect(layout.handle("c", "bands_db") == nil)
        #expect(layout.handle("a", "flux") == nil)
    }
}

@Suite struct UnitTests {
    static let digits: [(unit: Unit, digits: Unit.Digits)] = [
        (.decibels, .decimals(3)), ("dB", .decimals(3)), (.hertz, .decimals(2)), (.beatsPerMinute, .decimals(2)),
        (.seconds, .decimals(6)), (.amplitude, .significant), (.ratio, .significant), (.none, .significant),
        ("furlong", .significant), (Unit.hertz.withAllDigits, .all), (Unit(rawValue: "furlong").withAllDigits, .all),
    ]

    @Test(arguments: digits)
    func `unit: determines the number of digits`(unit: Unit, digits: Unit.Digits) {
        #expect(unit.digits == digits)
    }

    @Test func `unit: its raw value is its name`() {
        #expect(Unit.decibels.rawValue == "dBFS")
        #expect(Unit(rawValue: "Hz") == .hertz)
        #expect(Unit.hertz.withAllDigits == .hertz && Unit.hertz.withAllDigits.rawValue == "Hz")
    }
}
