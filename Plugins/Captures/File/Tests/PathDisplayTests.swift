import Testing

@testable import FileCapture

@Suite struct PathDisplayTests {
    @Test(arguments: [
        ("song.wav", "song.wav"), ("käse 音楽.wav", "käse 音楽.wav"), ("a\nb\r\tc", "a\\nb\\r\\tc"), ("\u{1b}[31mred", "\\u001b[31mred"),
        ("a\u{202e}vaw.exe", "a\\u202evaw.exe"), ("a\u{2028}b\u{85}c\u{7f}", "a\\u2028b\\u0085c\\u007f"),
    ])
    func `path in a message: control characters are escaped`(name: String, displayed: String) {
        #expect(name.displayName == displayed)
    }

    @Test(arguments: [
        ("song.m4a", "'song.m4a'"), ("it's.m4a", #"'it'\''s.m4a'"#), ("-x.m4a", "'./-x.m4a'"), ("a:b.m4a", "'./a:b.m4a'"),
        ("/a:b.m4a", "'/a:b.m4a'"), ("$HOME `x` \"y\" \\.m4a", "'$HOME `x` \"y\" \\.m4a'"), ("a\nb'c\\d.m4a", #"$'a\012b\'c\\d.m4a'"#),
        ("", "''"),
    ])
    func `path in a shell command: quoted on one line`(name: String, quoted: String) {
        #expect(name.quotedForShell == quoted)
    }
}
