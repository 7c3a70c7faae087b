import Testing

@testable import FileCapture

@Suite struct ShownNameTests {
    @Test(arguments: [
        ("song.wav", "song.wav"), ("käse 音楽.wav", "käse 音楽.wav"), ("a\nb\r\tc", "a\\nb\\r\\tc"), ("\u{1b}[31mred", "\\u{1b}[31mred"),
        ("a\u{202e}vaw.exe", "a\\u{202e}vaw.exe"), ("a\u{2028}b\u{85}c\u{7f}", "a\\u{2028}b\\u{85}c\\u{7f}"),
    ])
    func `a name stays on its line`(name: String, shown: String) {
        #expect(name.shown == shown)
    }

    @Test(arguments: [
        ("song.m4a", "'song.m4a'"), ("it's.m4a", #"'it'\''s.m4a'"#), ("-x.m4a", "'./-x.m4a'"), ("a:b.m4a", "'./a:b.m4a'"),
        ("/a:b.m4a", "'/a:b.m4a'"), ("$HOME `x` \"y\" \\.m4a", "'$HOME `x` \"y\" \\.m4a'"), ("a\nb'c\\d.m4a", #"$'a\012b\'c\\d.m4a'"#),
        ("", "''"),
    ])
    func `a shell takes the name as it is`(name: String, quoted: String) {
        #expect(name.quotedForShell == quoted)
    }
}
