import HemiolaRecords
import HemiolaSignal
import TestSupport
import Testing

@testable import FileCapture

@Suite struct ID3TagsTests {
    private func frame(_ name: String, _ text: [UInt8], version: UInt8 = 3) -> [UInt8] {
        let size = text.count
        switch version {
        case 2: return Array(name.utf8) + [0, UInt8(size >> 8), UInt8(size & 0xff)] + text
        case 3: return Array(name.utf8) + [0, 0, UInt8(size >> 8), UInt8(size & 0xff), 0, 0] + text
        default: return Array(name.utf8) + [0, 0, UInt8(size >> 7), UInt8(size & 0x7f), 0, 0] + text
        }
    }

    private func tag(_ frames: [UInt8], version: UInt8 = 3, size: Int? = nil) -> [UInt8] {
        let size = size ?? frames.count
        return Array("ID3".utf8) + [version, 0, 0] + (0..<4).map { UInt8(size >> (21 - 7 * $0) & 0x7f) } + frames
    }

    private func latin(_ text: String) -> [UInt8] { [0] + text.unicodeScalars.map { UInt8($0.value) } }

    private func id3v1(_ title: [UInt8], genre: UInt8, track: UInt8 = 0) -> [UInt8] {
        func field(_ bytes: [UInt8], _ size: Int) -> [UInt8] { bytes + [UInt8](repeating: 0, count: size - bytes.count) }
        return Array("TAG".utf8) + field(title, 30) + field(Array("artist".utf8), 30) + field(Array("album".utf8), 30) + Array("1987".utf8)
            + [UInt8](repeating: 0, count: 29) + [track, genre]
    }

    @Test func `tags of versions 2.2, 2.3 and 2.4 in every encoding: the texts`() {
        let utf16: [UInt8] = [1, 0xff, 0xfe] + Array("Größe".utf16).flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        let big: [UInt8] = [2] + Array("Größe".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        let old = SoundTags(id3v2: tag(frame("TT2", latin("Größe"), version: 2) + frame("TRK", latin("3/9"), version: 2), version: 2))
        #expect(old.title == "Größe" && old.track == "3/9")
        let middle = SoundTags(id3v2: tag(frame("TIT2", utf16) + frame("TPE1", latin("Ä")) + frame("TYER", latin("1998"))))
        #expect(middle.title == "Größe" && middle.artist == "Ä" && middle.year == 1998)
        let last = SoundTags(
            id3v2: tag(
                frame("TIT2", big, version: 4) + frame("TALB", [3] + Array("Größe".utf8), version: 4)
                    + frame("TDRC", latin("2001-05-03"), version: 4), version: 4))
        #expect(last.title == "Größe" && last.album == "Größe" && last.year == 2001)
    }

    @Test func `frames of version 2.2 in a tag of version 2.3, as iTunes wrote them: the texts`() {
        let names = [("TT2", "Title"), ("TP1", "Artist"), ("TAL", "Album"), ("TRK", "3/9"), ("TYE", "1998"), ("TCO", "(17)")]
        let tags = SoundTags(id3v2: tag(names.flatMap { frame($0.0 + "\0", latin($0.1)) }))
        #expect(tags.title == "Title" && tags.artist == "Artist" && tags.album == "Album")
        #expect(tags.track == "3/9" && tags.year == 1998 && tags.genre == "Rock")
    }

    @Test(arguments: [
        ("17", "Rock"), ("(17)", "Rock"), ("(191)", "Psybient"), ("(17)(18)", "Rock"), ("(17)Rocksteady", "Rocksteady"), ("Dub", "Dub"),
        ("(192)", "(192)"), ("80s", "80s"), ("(oldies", "(oldies"), ("0", "Blues"), ("(30)", "Fusion"), ("135", "Beat"),
    ])
    func `genre by number or name: the name`(text: String, name: String) {
        #expect(SoundTags(id3v2: tag(frame("TCON", latin(text)))).genre == name)
    }

    @Test func `two tags in a row and one of version 1: the first that has a text decides`() throws {
        let bytes =
            tag(frame("TIT2", latin("first"))) + tag(frame("TIT2", latin("second")) + frame("TPE1", latin("second artist")))
            + id3v1(Array("third".utf8), genre: 17, track: 5)
        let fixture = try FileFixture()
        let file = try InputFile(fixture.write(bytes, to: "a.mp3"))
        let (tags, _) = file.id3Tags(in: 0..<file.size)
        #expect(tags.title == "first" && tags.artist == "second artist" && tags.album == "album")
        #expect(tags.year == 1987 && tags.genre == "Rock" && tags.track == "5")
    }

    @Test func `tag of version 1, in UTF-8 or Latin-1: the texts`() {
        #expect(SoundTags(id3v1: id3v1(Array("Größe".utf8), genre: 255)).title == "Größe")
        let tags = SoundTags(id3v1: id3v1(Array(latin("Größe").dropFirst()), genre: 192))
        #expect(tags.title == "Größe" && tags.genre == nil && tags.track == nil)
    }

    @Test func `tag with a false size or cut off: the texts that are there`() {
        for size in [30, 1000, 200 << 20] {
            #expect(SoundTags(id3v2: tag(frame("TIT2", latin("title")), size: size) + [0]).title == "title")
        }
        let whole = tag(frame("TIT2", latin("title")) + frame("TPE1", latin("artist")))
        for count in whole.indices { _ = SoundTags(id3v2: Array(whole[..<count])) }
        #expect(SoundTags(id3v2: []).isEmpty && SoundTags(id3v2: Array("ID3".utf8)).isEmpty && SoundTags(id3v1: []).isEmpty)
    }

    @Test func `file with tags at both ends and a picture: the tags, and the start of the sound`() throws {
        let fixture = try FileFixture()
        let picture = frame("APIC", [0] + Array("image/png".utf8) + [0, 3, 0] + [UInt8](repeating: 1, count: 9000))
        let first = tag(frame("TIT2", latin("title")) + picture)
        let second = tag(frame("TCON", latin("(7)")) + [UInt8](repeating: 0, count: 50))
        let bytes = first + second + [UInt8](repeating: 9, count: 500) + id3v1(Array("other".utf8), genre: 1)
        let file = try InputFile(fixture.write(bytes, to: "a.mp3"))
        let (tags, start) = file.id3Tags(in: 0..<file.size)
        #expect(tags.title == "title" && tags.genre == "Hip-Hop" && tags.album == "album")
        #expect(start == Int64(first.count + second.count))
    }
}
