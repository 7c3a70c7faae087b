import HemiolaRecords
import Testing

@Suite struct SoundTagsTests {
    @Test func `text: up to the first zero, without white space at its ends, U+FFFD for invalid UTF-8`() {
        #expect(SoundTags.text(of: Array(" \tA b\r\n\u{0}c".utf8)) == "A b")
        #expect(SoundTags.text(of: [0x41, 0xe9, 0x42]) == "A\u{fffd}B")
        for bytes: [UInt8] in [[], [0], Array("  \n".utf8)] { #expect(SoundTags.text(of: bytes) == nil) }
    }

    @Test(arguments: ["x", "é", "€", "𝄞"]) func `long text: at most 1024 bytes, no divided character`(character: String) throws {
        for prefix in ["", "a", "aa", "aaa"] {
            let text = try #require(SoundTags.text(of: Array((prefix + String(repeating: character, count: 2000)).utf8)))
            #expect(text.utf8.count <= SoundTags.longestText && text.utf8.count > SoundTags.longestText - 4)
            #expect(text == prefix + String(repeating: character, count: text.count - prefix.count))
        }
        let exact = String(repeating: character, count: SoundTags.longestText / character.utf8.count)
        #expect(SoundTags.text(of: Array(exact.utf8)) == exact)
    }

    @Test(
        arguments: [
            ("1998", 1998), ("1998-05-01", 1998), ("May 2, 2003", 2003), ("20010203", 2001), ("98", nil), ("", nil), ("٢٠٠١", nil),
        ] as [(String, Int?)])
    func `year: the first four digits in a row`(date: String, year: Int?) {
        #expect(SoundTags.year(of: date) == year)
    }

    @Test func `tags without a value: empty`() {
        var tags = SoundTags()
        #expect(tags.isEmpty)
        tags.year = 1998
        #expect(!tags.isEmpty)
    }
}
