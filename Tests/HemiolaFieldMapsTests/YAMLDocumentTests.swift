import Hemiola
import TestSupport
import Testing

@testable import HemiolaFieldMaps

@Suite struct YAMLDocumentTests {
    /// A document as one line, with the type of every scalar: `{a: int 1, b: [null]}`.
    private func typed(_ text: String) throws -> String {
        try YAMLNode.parse(text).map(typed) ?? "no document"
    }

    private func typed(_ node: YAMLNode) -> String {
        switch node.content {
        case .null: "null"
        case .value(.boolean(let flag)): "bool \(flag)"
        case .value(.integer(let number)): "int \(number)"
        case .value(.number(let number)): "float \(number)"
        case .value(let value): "text \(value.text)"
        case .list(let items): "[\(items.map(typed).joined(separator: ", "))]"
        case .map(let entries): "{\(entries.map { "\($0.key): \(typed($0.node))" }.joined(separator: ", "))}"
        }
    }

    /// `line:column: message`.
    private func refusal(_ text: String) -> String {
        do throws(Problem) {
            _ = try YAMLNode.parse(text)
            return "accepted"
        } catch {
            return error.description
        }
    }

    @Test(arguments: [
        ("", "null"), ("~", "null"), ("null", "null"), ("Null", "null"), ("NULL", "null"), ("nULL", "text nULL"),
        ("true", "bool true"), ("True", "bool true"), ("TRUE", "bool true"), ("tRUE", "text tRUE"),
        ("false", "bool false"), ("False", "bool false"), ("FALSE", "bool false"),
        ("yes", "text yes"), ("no", "text no"), ("on", "text on"), ("off", "text off"), ("y", "text y"),
        ("0", "int 0"), ("-1", "int -1"), ("9223372036854775807", "int 9223372036854775807"),
        ("-9223372036854775808", "int -9223372036854775808"), ("9223372036854775808", "text 9223372036854775808"),
        ("007", "text 007"), ("+1", "text +1"), ("-0", "text -0"), ("0x1F", "text 0x1F"), ("0o17", "text 0o17"), ("1_000", "text 1_000"),
        ("0.5", "float 0.5"), ("-0.5", "float -0.5"), ("5e-324", "float 5e-324"), ("1e+16", "float 1e+16"),
        (".5", "text .5"), ("1.", "text 1."), ("1e3", "text 1e3"), ("0.50", "text 0.50"), ("1e400", "text 1e400"),
        (".inf", "text .inf"), ("-.inf", "text -.inf"), (".nan", "text .nan"), ("nan", "text nan"), ("inf", "text inf"),
        ("2001-01-01", "text 2001-01-01"), ("1:30", "text 1:30"), ("<<", "text <<"), ("=", "text ="),
        ("'1'", "text 1"), ("\"true\"", "text true"), ("''", "text "), ("\"\"", "text "), ("'it''s'", "text it's"),
        ("\"\\u00e9\\x41\\n\"", "text éA\n"), ("|\n   1\n   b\n", "text 1\nb\n"), (">-\n   a\n   b\n", "text a b"),
        ("é a\u{301} 😀", "text é a\u{301} 😀"),
    ])
    func `scalar: has the type of the core schema where it prints as written`(text: String, expected: String) throws {
        #expect(try typed("k: \(text)") == "{k: \(expected)}")
        #expect(try typed("- \(text)") == "[\(expected)]")
    }

    @Test func `document: lists and maps in block and flow style, in their order`() throws {
        let text = """
            %YAML 1.2
            ---
            b: [1, {c: [], 'd': {}}] # a comment
            a:
            - x: 1
              y:
            ? "long key"
            : z
            ...
            """
        #expect(try typed(text) == "{b: [int 1, {c: [], d: {}}], a: [{x: int 1, y: null}], long key: text z}")
    }

    @Test(arguments: ["", "\n", "# nothing", "\u{FEFF}", "\u{FEFF}# nothing\n"])
    func `text without a document: is no document`(text: String) throws {
        #expect(try typed(text) == "no document")
    }

    @Test(arguments: ["a: [1]\r\nb: é: c", "a: [1]\nb: é: c", "\u{FEFF}a: [1]\nb: é: c", "a: [1]\rb: é: c"])
    func `syntax error: has its line and column, whatever the line break, with or without a byte order mark`(text: String) {
        #expect(refusal(text) == "2:5: mapping values are not allowed in this context")
    }

    @Test func `byte order mark: does not move a place`() throws {
        let root = try #require(try YAMLNode.parse("\u{FEFF}a: [\u{FEFF}é, b]"))
        guard case .map(let entries) = root.content, case .list(let items) = entries[0].node.content else {
            Issue.record("not a list in a map")
            return
        }
        #expect(entries[0].key == "a" && entries[0].place == TextPosition(line: 1, column: 1))
        // A byte order mark within the text is an ordinary character.
        #expect(items[0].place.column == 5 && items[1].place.column == 9)
        #expect(typed(items[0]) == "text \u{FEFF}é")
    }

    @Test(arguments: [
        ("a: 1\nb: 2\n'a': 3", "3:1: a is already given in line 1"),
        ("x: [{k: 1, k: 2}]", "1:12: k is already given in line 1"),
        ("~: 1\n~: 2", "2:1: ~ is already given in line 1"),
        ("[a, b]: c", "1:1: a key must be text"),
        ("? {a: b}\n: c", "1:3: a key must be text"),
        ("a\n---\nb", "2:1: a second document starts here; write one document per file"),
        ("a: &x 1", "1:4: anchors and aliases (&name, *name) are not supported; write the value itself, text in quotes"),
        ("a: &x [1]", "1:4: anchors and aliases (&name, *name) are not supported; write the value itself, text in quotes"),
        ("&x a: 1", "1:1: anchors and aliases (&name, *name) are not supported; write the value itself, text in quotes"),
        ("a: *x", "1:4: anchors and aliases (&name, *name) are not supported; write the value itself, text in quotes"),
        ("*x : 1", "1:1: anchors and aliases (&name, *name) are not supported; write the value itself, text in quotes"),
        ("a: !!str 5", "1:4: tags (!name) are not supported; write text in quotes"),
        ("a: ! 5", "1:4: tags (!name) are not supported; write text in quotes"),
        ("a: !x [5]", "1:4: tags (!name) are not supported; write text in quotes"),
        ("!x {a: 5}", "1:1: tags (!name) are not supported; write text in quotes"),
        ("a: [1,\nb: }", "2:4: while parsing a flow node: did not find expected node content"),
        ("a: 'x", "1:6: while scanning a quoted scalar: found unexpected end of stream"),
        ("a: \u{1}", "1:4: control characters are not allowed"),
        ("é\r\nö: \u{1}", "2:4: control characters are not allowed"),
    ])
    func `what is not supported: is refused where it stands`(text: String, expected: String) {
        #expect(refusal(text) == expected)
    }

    @Test(
        .mayNotHang,
        arguments: [
            (String(repeating: "[", count: 1_000_000), "1:65: lists and maps are nested more than 64 deep"),
            (String(repeating: "{a: ", count: 1_000_000), "1:257: lists and maps are nested more than 64 deep"),
            (String(repeating: "- ", count: 1_000_000), "1:129: lists and maps are nested more than 64 deep"),
            (String(repeating: "? ", count: 1_000_000), "1:129: lists and maps are nested more than 64 deep"),
            ("[" + String(repeating: "a,", count: 1_000_000) + "]", "1:200000: the document has more than 100000 values"),
        ])
    func `depth and number of values: are bounded`(text: String, expected: String) {
        #expect(refusal(text) == expected)
    }

    @Test func `nesting up to the limit: is read`() throws {
        let depth = YAMLNode.maxDepth
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(try typed(text) == text)
    }

    @Test(.mayNotHang) func `maps of many keys and long texts: take time in proportion to their size`() throws {
        let keys = (0..<40_000).map { "key-\($0): x\n" }.joined()
        guard case .map(let entries)? = try YAMLNode.parse(keys)?.content else {
            Issue.record("not a map")
            return
        }
        #expect(entries.count == 40_000)
        let text = String(repeating: "word ", count: 1_000_000)
        guard case .value(let value)? = try YAMLNode.parse("\"\(text)\"")?.content else {
            Issue.record("not a scalar")
            return
        }
        #expect(value.text.utf8.count == text.utf8.count)
    }
}
