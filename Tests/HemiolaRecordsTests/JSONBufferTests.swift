import Foundation
import HemiolaRecords
import HemiolaSignal
import Testing

/// Number of values per test. Most of the time is spent in printf.
#if DEBUG
    private let sweep = 20_000
#else
    private let sweep = 100_000
#endif

private let seed: UInt64 = 0x4865_6d69_6f6c_61

private func text(_ write: (inout JSONBuffer) -> Void) -> String {
    var buffer = JSONBuffer(capacity: 64)
    write(&buffer)
    return buffer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
}

/// Writes many values into one buffer and returns the first difference from the expected text.
private func firstDifference<Value>(
    among values: [Value], _ write: (inout JSONBuffer, Value) -> Void, wanted: (Value) -> String
) -> Comment? {
    var buffer = JSONBuffer(capacity: 64)
    for value in values {
        buffer.removeAll()
        write(&buffer, value)
        let written = buffer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let right = wanted(value)
        if written != right { return "\(value) is \(written), not \(right) (seed \(seed))" }
    }
    return nil
}

extension JSONBuffer {
    /// A single value of a row.
    fileprivate mutating func append(_ value: Float, _ digits: HemiolaRecords.Unit.Digits) { append(CollectionOfOne(value).span, digits) }
}

/// The output of printf without trailing zeros, except one after the point.
private func printed(_ value: Double, decimals: Int) -> String {
    var text = String(format: "%.\(decimals)f", value)
    while text.hasSuffix("0"), !text.hasSuffix(".0") { text.removeLast() }
    return text == "-0.0" ? "0.0" : text
}

/// A slow reference of `append(significant:)`, from the digits of printf.
private func printed(significant value: Double) -> String {
    if value == 0 { return "0.0" }
    let parts = String(format: "%.5e", value.magnitude).split(separator: "e")
    guard let exponent = Int(parts[1]) else { return "?" }
    var digits = parts[0].filter { $0 != "." }
    while digits.count > 1, digits.hasSuffix("0") { digits.removeLast() }
    func pointed(_ text: String, after whole: Int) -> String {
        let text = text.padding(toLength: max(text.count, whole + 1), withPad: "0", startingAt: 0)
        return text.prefix(whole) + "." + text.dropFirst(whole)
    }
    let body =
        switch exponent {
        case 0..<15: pointed(digits, after: exponent + 1)
        case -5..<0: "0." + String(repeating: "0", count: -1 - exponent) + digits
        default: pointed(digits, after: 1) + "e\(exponent)"
        }
    return (value < 0 ? "-" : "") + body
}

@Suite struct JSONBufferTests {
    // MARK: Fixed decimals

    @Test(arguments: [
        (-3.01, "-3.01"), (0, "0.0"), (-0.0, "0.0"), (-120, "-120.0"), (0.0004, "0.0"), (-0.0004, "0.0"), (0.0005, "0.001"),
        (0.0625, "0.062"), (0.1875, "0.188"), (-0.9996, "-1.0"), (999.9994, "999.999"), (999.9996, "1000.0"), (1000.5, "1000.5"),
        (1_234_567.125, "1234567.125"), (4_503_599_627_370.499, "4503599627370.499"), (9_007_199_254_740_992, "9007199254740992.0"),
        (9_223_372_036_854_774_784, "9223372036854774784.0"), (0x1p63, "9.223372036854776e18"), (-1e21, "-1.0e21"), (1e300, "1.0e300"),
        (.nan, "null"), (.infinity, "null"), (-.infinity, "null"),
    ])
    func `three decimals: trailing zeros are trimmed to one decimal, no negative zero`(value: Double, wanted: String) {
        #expect(text { $0.append(fixed: value, decimals: 3) } == wanted)
    }

    @Test(arguments: [2, 3, 6])
    func `Float, fixed decimals: equal to printf, including ties`(decimals: Int) {
        var random = SplitMix64(seed: seed)
        var values = (0..<sweep).map { _ in Float.random(in: -120...20, using: &random) }
        values += (0..<sweep).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }.filter { $0.magnitude < 0x1p63 }
        values += (0..<sweep).map { _ in Float(Int32.random(in: -(1 << 20)...1 << 20, using: &random)) / 1024 }
        values += (0..<sweep).map { _ in Float.random(in: 0...0x1p62, using: &random) }
        let difference = firstDifference(among: values) {
            $0.append($1, .decimals(decimals))
        } wanted: {
            printed(Double($0), decimals: decimals)
        }
        #expect(difference == nil)
    }

    @Test(arguments: [2, 3, 6])
    func `Double, fixed decimals: equal to printf, including near ties`(decimals: Int) {
        var random = SplitMix64(seed: seed)
        let scale: Double = decimals == 2 ? 100 : decimals == 3 ? 1000 : 1_000_000
        var values = (0..<sweep).map { _ in Double.random(in: -1000...1000, using: &random) }
        values += (0..<sweep).map { _ in Double(bitPattern: random.next()) }.filter { $0.magnitude < 0x1p63 }
        values += (0..<sweep).map { _ in
            let tie = (Double(random.next() >> UInt64.random(in: 12...62, using: &random)) + 0.5) / scale
            return [tie.nextDown, tie, tie.nextUp].randomElement(using: &random) ?? tie
        }
        values += (0..<sweep).map { _ in Double(Int64.random(in: -(1 << 40)...1 << 40, using: &random)) / 0x1p20 }
        values += (0..<sweep).map { _ in Double(random.next() >> 12) / scale + 0.5 }
        for edge in [0x1p51, 0x1p52, 0x1p53] {
            values += stride(from: edge - 2, through: edge + 2, by: 0.25).map { units in units / scale }
        }
        let difference = firstDifference(among: values) {
            $0.append(fixed: $1, decimals: decimals)
        } wanted: {
            printed($0, decimals: decimals)
        }
        #expect(difference == nil)
    }

    @Test func `seconds up to 1e9: equal within half a microsecond when read`() throws {
        var random = SplitMix64(seed: seed)
        for rate in [8000, 44100, 48000, 192_000] {
            for _ in 0..<sweep / 4 {
                let frame = Int64.random(in: 0...1_000_000_000 * Int64(rate), using: &random)
                let seconds = Double(frame) / Double(rate)
                let written = text { $0.append(fixed: seconds, decimals: 6) }
                guard written != printed(seconds, decimals: 6) else { continue }
                let nearest = try #require(Double(written))
                Issue.record("frame \(frame) at \(rate) Hz is \(written), off by \(nearest - seconds) s (seed \(seed))")
                return
            }
        }
        #expect(text { $0.append(fixed: 999_999_999.999999, decimals: 6) } == "999999999.999999")
    }

    @Test func `fixed decimals: equal within half a unit of the last place when read`() throws {
        var random = SplitMix64(seed: seed)
        for (decimals, unit) in [(2, 0.01), (3, 0.001), (6, 0.000001)] {
            let values = (0..<sweep / 4).map { _ in Float.random(in: -30000...30000, using: &random) }
            let written = text { $0.append(values.span, .decimals(decimals)) }
            let read = try numbers(in: written)
            try #require(read.count == values.count)
            // Slightly more than half: the number parsed from the text is rounded, and so is the difference.
            let worst = zip(read, values).map { abs($0 - Double($1)) }.max() ?? 0
            #expect(worst <= unit / 2 + 1e-11, "seed \(seed)")
        }
    }

    @Test func `fixed decimals, values from 2⁶³: equal when read`() {
        var random = SplitMix64(seed: seed)
        for _ in 0..<sweep / 10 {
            let float = Float.random(in: 0x1p63..<Float.greatestFiniteMagnitude, using: &random)
            let double = Double(
                sign: .minus, exponent: .random(in: 63...1023, using: &random), significand: .random(in: 1..<2, using: &random))
            let ofFloat = text { $0.append(float, .decimals(3)) }
            let ofDouble = text { $0.append(fixed: double, decimals: 6) }
            if Float(ofFloat) == float, Double(ofDouble) == double, ofFloat.contains("."), ofDouble.contains(".") { continue }
            Issue.record("\(float) is \(ofFloat), \(double) is \(ofDouble) (seed \(seed))")
            return
        }
    }

    // MARK: Significant digits

    @Test(arguments: [
        (0, "0.0"), (-0.0, "0.0"), (1, "1.0"), (0.1, "0.1"), (-0.5, "-0.5"), (1.0 / 8100, "0.000123457"), (123_456.7, "123457.0"),
        (12345.25, "12345.2"), (12345.75, "12345.8"), (0.9999996, "1.0"), (99999.95, "99999.9"), (999999.5, "1000000.0"), (440, "440.0"),
        (1_234_567, "1234570.0"),
        (1e-5, "0.00001"), (0.000009999996, "0.00001"), (0.00000999999, "9.99999e-6"), (1.234567e-7, "1.23457e-7"), (1e-7, "1.0e-7"),
        (123_456_789_012_345, "123457000000000.0"), (999_999_400_000_000, "999999000000000.0"), (999_999_500_000_001, "1.0e15"),
        (1e21, "1.0e21"),
        (-1.5e300, "-1.5e300"), (.leastNonzeroMagnitude, "4.94066e-324"), (.leastNormalMagnitude, "2.22507e-308"),
        (.greatestFiniteMagnitude, "1.79769e308"), (.nan, "null"), (.infinity, "null"), (-.infinity, "null"),
    ])
    func `significant digits: trailing zeros are trimmed, always with a point`(value: Double, wanted: String) {
        #expect(text { $0.append(significant: value) } == wanted)
    }

    @Test func `Float, six significant digits: equal to printf over the whole range`() {
        var random = SplitMix64(seed: seed)
        var values = (0..<4 * sweep).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }.filter(\.isFinite)
        values += (0..<sweep).map { _ in Float.random(in: 0...1, using: &random) }
        values += (0..<sweep).map { _ in Float(bitPattern: UInt32.random(in: 1..<1 << 23, using: &random)) }  // subnormals
        values += (0..<sweep).map { _ in (Float(Int.random(in: 1...4_000_000, using: &random)) + 0.5) / 4 }  // ties among them
        values += (-149...127).flatMap { power in
            let value = Float(sign: .plus, exponent: power, significand: 1)
            return [value.nextDown, value, value.nextUp]
        }
        values += (-45...38).flatMap { power in
            let value = Float("1e\(power)") ?? 1
            return [value.nextDown, value, value.nextUp]
        }
        let difference = firstDifference(among: values) {
            $0.append($1, .significant)
        } wanted: {
            printed(significant: Double($0))
        }
        #expect(difference == nil)
    }

    @Test func `Double, six significant digits: equal to printf over the whole range and at near ties`() {
        var random = SplitMix64(seed: seed)
        var values = (0..<sweep).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
        values += (0..<sweep).map { _ in
            let digits = Int.random(in: 100_000...999_999, using: &random)
            let power = Int.random(in: -329...301, using: &random)
            let tie = Double("\(digits)5e\(power)") ?? 1
            return [tie.nextDown, tie, tie.nextUp].randomElement(using: &random) ?? tie
        }
        values += (-1074...1023).flatMap { power in
            let value = Double(sign: .plus, exponent: power, significand: 1)
            return [value.nextDown, value, value.nextUp]
        }
        values += (-323...308).flatMap { power in
            let value = Double("1e\(power)") ?? 1
            return [value.nextDown, value, value.nextUp]
        }
        let difference = firstDifference(among: values) {
            $0.append(significant: $1)
        } wanted: {
            printed(significant: $0)
        }
        #expect(difference == nil)
    }

    @Test func `significant digits: strict JSON, equal within half a unit of the sixth digit when read`() throws {
        var random = SplitMix64(seed: seed)
        let values = (0..<sweep / 2).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }.filter(\.isFinite)
        let written = text { $0.append(values.span, .significant) }
        let read = try numbers(in: written)
        try #require(read.count == values.count)
        for (back, value) in zip(read, values) where abs(back - Double(value)) > abs(Double(value)) * 5.000001e-6 {
            Issue.record("\(value) read back as \(back) (seed \(seed))")
            return
        }
    }

    // MARK: Samples and arrays

    @Test func `16-bit samples, six decimals: equal when read`() throws {
        let samples = (Int(Int16.min)...Int(Int16.max)).map { Float($0) / 32768 }
        for written in [text { $0.appendSamples(samples.span) }, text { $0.append(samples.span, .decimals(6)) }] {
            let read = try numbers(in: written).map { Float(($0 * 32768).rounded()) / 32768 }
            #expect(read == samples)
        }
    }

    @Test func `samples: equal to printf, untrimmed and unclamped`() {
        var random = SplitMix64(seed: seed)
        var values = (0..<sweep).map { _ in Float.random(in: -1.5...1.5, using: &random) }
        values += (0..<sweep).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }.filter { $0.magnitude < 0x1p63 }
        values += [0, -0.0, 1e-7, -1e-7, 1, -1, 9.999999, 9.9999995, 10, 999.9999, 123456.78, 1e9, 1e10, 0x1p62]
        let difference = firstDifference(among: values) {
            $0.appendSamples(CollectionOfOne($1).span)
        } wanted: {
            let text = String(format: "%.6f", Double($0))
            return text == "-0.000000" ? "0.000000" : text
        }
        #expect(difference == nil)
    }

    @Test func `non-finite sample: 0`() {
        let samples: [Float] = [.nan, 0.25, .infinity, -.infinity, -1]
        #expect(text { $0.appendSamples(samples.span) } == "0.000000,0.250000,0.000000,0.000000,-1.000000")
    }

    @Test(arguments: [0, 1, 2, 64, 1000])
    func `array: its values with commas between them`(count: Int) {
        var random = SplitMix64(seed: seed)
        let values = (0..<count).map { $0 % 7 == 3 ? Float.nan : Float.random(in: -120...20, using: &random) }
        for decimals in [2, 3, 6] {
            let single = values.map { value in text { $0.append(value, .decimals(decimals)) } }
            #expect(text { $0.append(values.span, .decimals(decimals)) } == single.joined(separator: ","))
        }
        let single = values.map { value in text { $0.append(value, .significant) } }
        #expect(text { $0.append(values.span, .significant) } == single.joined(separator: ","))
    }

    // MARK: Integers, strings, bytes

    @Test func `integers of any size and sign: all digits`() {
        var random = SplitMix64(seed: seed)
        var values: [Int64] = [0, 7, 10, 99, 100, 999, 1000, 1001, 999_999, 1_000_000, 1_000_000_007, .max, .min]
        values += (0..<sweep).map { _ in Int64(bitPattern: random.next()) >> Int64.random(in: 0...63, using: &random) }
        #expect(
            firstDifference(among: values) {
                $0.append(integer: $1)
            } wanted: {
                $0.description
            } == nil)
        #expect(text { $0.append(integer: Int.min) } == Int.min.description)
    }

    @Test(arguments: [
        ("", #""""#), ("rms", #""rms""#), (#"say "hi" \o/"#, #""say \"hi\" \\o/""#), ("a\tb\nc\rd\u{8}e\u{c}f", #""a\tb\nc\rd\be\ff""#),
        ("\0\u{1}\u{f}\u{10}\u{1a}\u{1f}\u{7f}", "\"\\u0000\\u0001\\u000f\\u0010\\u001a\\u001f\\u007f\""), ("</script>", #""</script>""#),
        ("\u{2027}\u{2028}\u{2029}\u{202a}", "\"\u{2027}\\u2028\\u2029\\u202a\""), ("naïve – 日本語 🎧👩‍👩‍👧", "\"naïve – 日本語 🎧👩‍👩‍👧\""),
    ])
    func `string: quoted, and escaped where JSON or JavaScript requires it`(string: String, wanted: String) {
        #expect(text { $0.append(string: string) } == wanted)
    }

    @Test func `string of any Unicode scalars: equal when a JSON parser reads it`() throws {
        var random = SplitMix64(seed: seed)
        let edges: [ClosedRange<UInt32>] = [
            0...0x2ff, 0x7f0...0x80f, 0x2000...0x206f, 0xd7f0...0xd7ff, 0xe000...0xe00f, 0xfff0...0x1000f,
            0x1f300...0x1f3ff, 0x10fff0...0x10ffff,
        ]
        var strings = edges.flatMap { $0.compactMap(Unicode.Scalar.init).map { "<\($0)>" } }
        strings.append("<\u{feff}>")  // not in the random strings: Foundation's parser drops a byte order mark after an escape
        strings += (0..<sweep / 100).map { _ in
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                let range = edges.randomElement(using: &random) ?? 0...0
                if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) { scalars.append(scalar) }
            }
            return String(scalars)
        }
        let written = text { buffer in
            buffer.append("[")
            for (index, string) in strings.enumerated() {
                if index > 0 { buffer.append(byte: UInt8(ascii: ",")) }
                buffer.append(string: string)
            }
            buffer.append("]")
        }
        let unsafe: [ClosedRange<UInt32>] = [0...0x1f, 0x7f...0x9f, 0x2028...0x202e, 0x2066...0x2069]
        #expect(!written.unicodeScalars.contains { scalar in unsafe.contains { $0.contains(scalar.value) } })
        let read = try #require(JSONSerialization.jsonObject(with: Data(written.utf8)) as? [String])
        try #require(read.count == strings.count)
        for (back, string) in zip(read, strings) where !back.unicodeScalars.elementsEqual(string.unicodeScalars) {
            Issue.record("\(string.debugDescription) came back as \(back.debugDescription) (seed \(seed))")
            return
        }
    }

    @Test func `literals and bytes: written unchanged`() {
        let written = text { buffer in
            buffer.append(#"{"type":"#)
            buffer.append(bytes: Array(#""batch","t":"#.utf8))
            buffer.append(fixed: 0.5, decimals: 6)
            buffer.append(bytes: [])
            buffer.append("")
            [UInt8](#","é":"#.utf8).withUnsafeBytes { buffer.append(bytes: $0) }
            buffer.append(integer: -1)
            buffer.append(byte: UInt8(ascii: "}"))
        }
        #expect(written == #"{"type":"batch","t":0.5,"é":-1}"#)
    }

    @Test(arguments: [0, 1, 47, 48, 1000])
    func `growth from any capacity: the bytes are kept`(capacity: Int) {
        var buffer = JSONBuffer(capacity: capacity)
        var wanted = ""
        for round in 0..<3 {
            for index in 0..<500 {
                buffer.append(string: "key \(index)")
                buffer.append(fixed: Double(index) / 4, decimals: 2)
                wanted += "\"key \(index)\"\(Double(index) / 4)"
            }
            #expect(buffer.count == wanted.utf8.count)
            #expect(buffer.withUnsafeBytes { $0.elementsEqual(wanted.utf8) }, "round \(round)")
            buffer.removeAll()
            wanted = ""
            #expect(buffer.count == 0)
            #expect(buffer.withUnsafeBytes { $0.isEmpty })
        }
    }

    @Test(
        arguments: [
            (0.1, "0.1"), (-0.0, "0.0"), (1, "1.0"), (123_456_792, "1.2345679e08"), (1e-7, "1.0e-07"), (-1.25e-38, "-1.25e-38"),
            (3.4028235e38, "3.4028235e38"), (.nan, "null"), (-.infinity, "null"), (0.333333343, "0.33333334"),
        ] as [(Float, String)])
    func `all digits: the shortest text of a 32-bit number`(value: Float, wanted: String) {
        #expect(text { $0.append(value, .all) } == wanted)
    }

    @Test func `all digits: read back as the same number`() throws {
        var random = SplitMix64(seed: 7)
        let values = (0..<20_000).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }.filter(\.isFinite)
        let read = try numbers(in: text { $0.append(values.span, .all) })
        #expect(read.map { Float($0).bitPattern } == values.map { $0 == 0 ? 0 : $0.bitPattern })
    }

    /// Parses the body of an array with a strict parser.
    private func numbers(in body: String) throws -> [Double] {
        try #require(JSONSerialization.jsonObject(with: Data("[\(body)]".utf8)) as? [Double])
    }
}
