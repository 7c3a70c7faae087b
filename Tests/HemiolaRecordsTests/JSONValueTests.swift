import Foundation
import HemiolaRecords
import HemiolaSignal
import HemiolaSystem
import Testing

@Suite struct JSONValueTests {
    private func record(_ text: String) throws(Problem) -> JSONValue { try JSONValue(Array(text.utf8)) }
    private func message(_ text: String) throws(Problem) -> JSONValue { try JSONValue(message: Array(text.utf8)) }

    private func fault(_ parse: () throws(Problem) -> JSONValue) -> String? {
        do throws(Problem) {
            _ = try parse()
            return nil
        } catch {
            return error.message
        }
    }

    // MARK: - Numbers

    @Test func `random numbers: the same as Foundation's parser reads, bit for bit`() throws {
        var generator = SplitMix64(seed: 1)
        func digits(_ count: ClosedRange<Int>) -> String {
            (0..<Int.random(in: count, using: &generator)).map { _ in "\(Int.random(in: 0...9, using: &generator))" }.joined()
        }
        let texts = (0..<20_000).map { _ in
            let whole = Bool.random(using: &generator) ? "0" : "\(Int.random(in: 1...9, using: &generator))\(digits(0...24))"
            let fraction = Bool.random(using: &generator) ? "" : ".\(digits(1...24))"
            let exponent = Bool.random(using: &generator) ? "" : "e\(Int.random(in: -330...280, using: &generator))"
            return (Bool.random(using: &generator) ? "-" : "") + whole + fraction + exponent
        }
        for text in texts {
            // Foundation refuses a number that is rounded to zero.
            guard let expected = try? JSONDecoder().decode([Double].self, from: Data("[\(text)]".utf8)) else {
                #expect(try record(text).double == 0, "\(text)")
                continue
            }
            #expect(try record(text).double?.bitPattern == expected[0].bitPattern, "\(text)")
        }
    }

    @Test func `whole numbers up to the limits of an Int: exact; beyond: rounded`() throws {
        #expect(try record("9223372036854775807") == .integer(.max))
        #expect(try record("-9223372036854775808") == .integer(.min))
        #expect(try record("9007199254740993") == .integer(9_007_199_254_740_993))
        #expect(try record("9223372036854775808") == .number(9_223_372_036_854_775_808))
        #expect(try record("1234567890123456789") == .integer(1_234_567_890_123_456_789))
        #expect(try record("12345678901234567890").integer == nil)
    }

    @Test func `negative zero: a number with a sign, and a whole number`() throws {
        for text in ["-0", "-0.0", "-0e5"] {
            let value = try record(text)
            #expect(value.double?.sign == .minus && value.integer == 0, "\(text)")
        }
    }

    @Test func `whole number with a point or an exponent: a whole number too`() throws {
        #expect(try record("3.0").integer == 3 && record("3e2").integer == 300 && record("3.5").integer == nil)
        #expect(try record("3.0") != .integer(3), "the tree keeps the difference")
    }

    @Test func `number outside the range of a Double: refused in a record, no number in a message`() throws {
        #expect(fault { () throws(Problem) in try record("1e999") } == "the number 1e999 is too large")
        #expect(try message("[1e999]") == .list([.number(.infinity)]))
        #expect(try message("-1e999").double == nil && message("1e999").integer == nil)
    }

    // MARK: - Texts

    @Test func `escapes: decoded`() throws {
        #expect(try record(#""\"\\\/\b\f\n\r\t\u00e9\u00E9\u0000\ud83d\ude00""#) == .text("\"\\/\u{8}\u{c}\n\r\téé\u{0}😀"))
    }

    @Test(arguments: [
        (#"\ud800"#, "\u{FFFD}"), (#"\udc00"#, "\u{FFFD}"), (#"\ud800\u0041"#, "\u{FFFD}A"), (#"\ud800x"#, "\u{FFFD}x"),
        (#"\ud83d\ud83d\ude00"#, "\u{FFFD}😀"), (#"a\udbff\n"#, "a\u{FFFD}\n"),
    ])
    func `half of a surrogate pair: refused in a record, U+FFFD in a message`(text: String, read: String) throws {
        #expect(fault { () throws(Problem) in try record("\"\(text)\"") }?.hasPrefix("invalid JSON at byte") == true)
        #expect(try message("\"\(text)\"") == .text(read))
    }

    @Test(arguments: [
        "\"\u{0}\"", "\"\u{1F}\"", "\"\n\"", "\u{0}", "\u{FEFF}1", "1\u{FEFF}", "\u{A0}1", #""\u12""#, #""\ud800\u12""#, #""\x""#, "\"",
        #""\"#,
        "[1,]", "{\"a\":1,}", "{a:1}", "'a'", "+1", ".5", "1.", "1e", "01", "-", "NaN", "Infinity", "tru", "nul", "[", "{", "{\"a\"", "1 2",
    ])
    func `text outside the grammar: refused in records and messages`(text: String) {
        #expect(fault { () throws(Problem) in try record(text) }?.hasPrefix("invalid JSON at byte") == true)
        #expect(fault { () throws(Problem) in try message(text) }?.hasPrefix("invalid JSON at byte") == true)
    }

    @Test func `invalid UTF-8: refused`() {
        for bytes: [UInt8] in [[0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0xFE, 0xFF]] {
            #expect(fault { () throws(Problem) in try JSONValue(bytes) } == "invalid UTF-8")
            #expect(fault { () throws(Problem) in try JSONValue(message: bytes) } == "invalid UTF-8")
        }
    }

    // MARK: - Limits

    @Test func `nesting: up to 32 brackets in a record, 512 in a message`() {
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            #expect(fault { () throws(Problem) in try record(nested(32, open, close)) } == nil)
            #expect(fault { () throws(Problem) in try record(nested(33, open, close)) }?.contains("more than 32 deep") == true)
            #expect(fault { () throws(Problem) in try message(nested(512, open, close)) } == nil)
            #expect(fault { () throws(Problem) in try message(nested(513, open, close)) }?.contains("more than 512 deep") == true)
            #expect(fault { () throws(Problem) in try message(nested(500_000, open, close)) }?.contains("more than 512 deep") == true)
        }
    }

    @Test func `more than a million values: refused`() {
        let many = "[" + String(repeating: "1,", count: 1 << 20) + "1]"
        #expect(fault { () throws(Problem) in try record(many) } == "more than 1048576 values")
    }

    // MARK: - Members

    @Test func `members: in their order, the first of a name is found`() throws {
        let value = try record(#"{"b":1,"a":2,"b":3}"#)
        #expect(value.members?.map(\.key) == ["b", "a", "b"])
        #expect(value["b"] == .integer(1) && value["c"] == nil && JSONValue.integer(1)["b"] == nil)
    }

    @Test func `source of a member: the bytes of its value without the space around it`() throws {
        let text = #"{ "a" : [1.50, {"b":"\u00e9"}] ,"c":-0 , "\u0064": null}"#
        let members = try #require(try message(text).members)
        let bytes = Array(text.utf8)
        #expect(members.map { String(decoding: bytes[$0.source], as: UTF8.self) } == [#"[1.50, {"b":"\u00e9"}]"#, "-0", "null"])
        #expect(members.map(\.key) == ["a", "c", "d"])
        #expect(members[2] == .init("d", .null), "equal values are equal wherever they come from")
    }

    @Test func `member of another type, or missing: the fault names it`() throws {
        let value = try record(#"{"text":"a","number":1.5,"list":["a",1],"null":null}"#)
        #expect(try value.text("text") == "a" && value.optionalText("null") == nil && value.optionalNumber("none") == nil)
        #expect(throws: Problem("missing \"none\"")) { try value.text("none") }
        #expect(throws: Problem("\"text\" is not a number")) { try value.number("text") }
        #expect(throws: Problem("\"number\" is not a whole number")) { try value.integer("number") }
        #expect(throws: Problem("\"number\" is not true or false")) { try value.optionalFlag("number") }
        #expect(throws: Problem("\"list\" is not a list of texts")) { try value.texts("list") }
        #expect(throws: Problem("\"list\" is not a list of objects")) { try value.objects("list") }
        #expect(throws: Problem("\"null\" is not an object")) { try value.object("null") }
        #expect(throws: Problem("not a JSON object")) { try JSONValue.list([]).text("a") }
    }

    // MARK: - Printing

    @Test func `line: strict JSON, numbers with all digits or those of their unit`() {
        let value = JSONValue.object([
            .init("a\"", .list([.null, .boolean(true), .integer(-1), .text("\u{1}")])), .init("b", .object([])), .init("c", .list([])),
            .init("d", .number(0.1)), .init("e", .number(1)), .init("f", .number(.nan)), .init("g", .number(1 / 3, in: .seconds)),
            .init("h", .number(.infinity, in: .hertz)), .init("i", .number(2, in: "dB")),
        ])
        #expect(
            value.line
                == #"{"a\"":[null,true,-1,"\u0001"],"b":{},"c":[],"d":0.1,"e":1.0,"f":null,"g":0.333333,"h":null,"i":2.0}"# + "\n")
    }
}
