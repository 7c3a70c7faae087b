import Hemiola
import Testing

@Suite struct PluginSpecTests {
    @Test(arguments: [
        ("levels", PluginSpec("levels")),
        ("levels:", PluginSpec("levels")),
        ("json-lines:/tmp/out.jsonl", PluginSpec("json-lines", primary: .text("/tmp/out.jsonl"))),
        (
            "spectrum:bands=32,scale=mel-slaney",
            PluginSpec("spectrum", settings: ["bands": .text("32"), "scale": .text("mel-slaney")])
        ),
        (
            "socket:/run/user/1000/hemiola.sock,payload=bare",
            PluginSpec("socket", primary: .text("/run/user/1000/hemiola.sock"), settings: ["payload": .text("bare")])
        ),
        ("spectrum:as=fine,size=512", PluginSpec("spectrum", as: "fine", settings: ["size": .text("512")])),
        // A colon in the rest is the plugin's.
        ("vamp:LIB:PLUGIN:OUTPUT", PluginSpec("vamp", primary: .text("LIB:PLUGIN:OUTPUT"))),
        // Text before a = that is not a valid key: part of the primary value.
        ("file:/a/b=c.wav", PluginSpec("file", primary: .text("/a/b=c.wav"))),
        ("file:my file=1.wav", PluginSpec("file", primary: .text("my file=1.wav"))),
        ("file:path=/a=b=c.wav", PluginSpec("file", settings: ["path": .text("/a=b=c.wav")])),
        ("file:\"x=1.wav\"", PluginSpec("file", primary: .text("x=1.wav"))),
        ("file:x\\=1.wav", PluginSpec("file", primary: .text("x=1.wav"))),
        // Commas.
        ("file:a\\,b.wav", PluginSpec("file", primary: .text("a,b.wav"))),
        ("file:\"a,b.wav\",loop=true", PluginSpec("file", primary: .text("a,b.wav"), settings: ["loop": .text("true")])),
        ("x:text=\"a,b=c\"", PluginSpec("x", settings: ["text": .text("a,b=c")])),
        // Backslashes.
        ("file:C:\\music\\a.wav", PluginSpec("file", primary: .text("C:\\music\\a.wav"))),
        ("x:a\\\\b", PluginSpec("x", primary: .text("a\\b"))),
        ("x:\\\"quoted\\\"", PluginSpec("x", primary: .text("\"quoted\""))),
        // JSON strings.
        ("x:text=\"\\u00e4\\n\\t\\r\\\"\\\\\\/\"", PluginSpec("x", settings: ["text": .text("ä\n\t\r\"\\/")])),
        ("x:text=\"\\ud83c\\udfb5\"", PluginSpec("x", settings: ["text": .text("🎵")])),
        ("x:text=\"\\b\\f\"", PluginSpec("x", settings: ["text": .text("\u{8}\u{c}")])),
        // A combining mark is a separate character after any other character.
        ("x:\u{301}a,text=\u{301}b", PluginSpec("x", primary: .text("\u{301}a"), settings: ["text": .text("\u{301}b")])),
        ("x:\"\u{301},\"", PluginSpec("x", primary: .text("\u{301},"))),
        ("x:\"\"", PluginSpec("x", primary: .text(""))),
        ("x:text=", PluginSpec("x", settings: ["text": .text("")])),
        ("x:text=a\"b", PluginSpec("x", settings: ["text": .text("a\"b")])),
        ("x:,size=1", PluginSpec("x", settings: ["size": .text("1")])),
        ("file:Schöne Töne.wav", PluginSpec("file", primary: .text("Schöne Töne.wav"))),
    ])
    func `valid SPEC: parsed`(text: String, spec: PluginSpec) throws {
        #expect(try PluginSpec(parsing: text) == spec)
    }

    @Test(arguments: [
        ("", "\"\" is no plugin SPEC; write id or id:key=value,key=value"),
        (":x", "\":x\" is no plugin SPEC; write id or id:key=value,key=value"),
        ("a b", "\"a b\" is no plugin SPEC; write id or id:key=value,key=value"),
        ("music.wav", "\"music.wav\" is no plugin SPEC; write id or id:key=value,key=value"),
        ("x:size=1,size=2", "\"size\" stands twice in \"x:size=1,size=2\""),
        ("x:as=a,as=b", "\"as\" stands twice in \"x:as=a,as=b\""),
        ("x:a,b", "\"b\" in \"x:a,b\" has no key; write key=value (\\, is a comma)"),
        ("x:size=1,b", "\"b\" in \"x:size=1,b\" has no key; write key=value (\\, is a comma)"),
        ("x:a\\", "\"x:a\\\" ends with a backslash"),
        ("x:\"a", "a quote in \"x:\"a\" is not closed"),
        ("x:\"a\\", "a quote in \"x:\"a\\\" is not closed"),
        ("x:\"\\u12\"", "\\u12\" in \"x:\"\\u12\"\" is no character"),
        ("x:\"\\u+123\"", "\\u+123 in \"x:\"\\u+123\"\" is no character"),
        ("x:\"\\ud800\"", "\\ud800 in \"x:\"\\ud800\"\" is no character"),
    ])
    func `invalid SPEC: an error with the reason`(text: String, message: String) {
        let error = #expect(throws: Problem.self) { try PluginSpec(parsing: text) }
        #expect(error?.description == message)
    }

    @Test func `name: the alias, or the id without one`() {
        #expect(PluginSpec("levels").name == "levels")
        #expect(PluginSpec("levels", as: "loud").name == "loud")
    }
}
