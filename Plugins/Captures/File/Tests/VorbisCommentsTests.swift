import HemiolaRecords
import Testing

@testable import FileCapture

@Suite struct VorbisCommentsTests {
    private func tags(_ comments: String...) -> SoundTags { SoundTags(vorbisComments: comments.map(\.utf8)) }

    @Test func `the six keys, in upper or lower case: all tags`() {
        let tags = tags("title=A=B", "ARTIST=c", "Album=D", "TrackNumber=7/12", "GENRE=Dub", "DATE=1998-05-01")
        var expected = SoundTags()
        (expected.title, expected.artist, expected.album) = ("A=B", "c", "D")
        (expected.track, expected.genre, expected.year) = ("7/12", "Dub", 1998)
        #expect(tags == expected)
    }

    @Test func `several comments of a key: the first that is not empty`() {
        #expect(tags("ARTIST=", "ARTIST=one", "ARTIST=two").artist == "one")
        #expect(tags("DATE=?", "DATE=2001", "DATE=2002").year == 2001)
    }

    @Test func `no key, another key, no separator, no comment: no tags`() {
        #expect(tags().isEmpty)
        #expect(tags("", "=", "=x", "TITLE", "ALBUMARTIST=x", "TIT=x", String(repeating: "T", count: 1000) + "=x").isEmpty)
    }

    @Test func `invalid UTF-8 and a megabyte: U+FFFD and the longest text`() throws {
        #expect(SoundTags(vorbisComments: [Array("TITLE=A".utf8) + [0xe9]]).title == "A\u{fffd}")
        let long = tags("TITLE=" + String(repeating: "x", count: 1 << 20))
        #expect(long.title?.utf8.count == SoundTags.longestText)
    }
}
