import Foundation
import Hemiola
import HemiolaPCM
import TestSupport
import Testing

@testable import FileCapture

/// What a file holds decides how it is read, whatever stands before it and whatever its name is.
@Suite(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed")) struct SoundContentTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    private func encoded(_ name: String, _ arguments: [String] = [], from wav: WAVBytes? = nil) throws -> [UInt8] {
        let recipe = FileCaptureTests.Recipe(name: name, program: .ffmpeg, arguments: ["-i", "IN"] + arguments + ["OUT"])
        _ = try recipe.make(in: fixture, from: wav)
        return try fixture.bytes(of: name)
    }

    private func recording(_ bytes: [UInt8], _ name: String) throws -> Recording { try Recording(of: fixture.write(bytes, to: name)) }

    private static let id3 = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 10] + [UInt8](repeating: 0, count: 10)

    // MARK: Before the sound

    @Test(arguments: ["a.mp3", "a.mp2", "a.flac"], [0, 10, 3000])
    func `zeros before the sound, with and without an ID3 tag: all of it`(name: String, count: Int) throws {
        let bytes = try encoded(name, name == "a.mp3" ? ["-write_xing", "0", "-id3v2_version", "0"] : [])
        let whole = try recording(bytes, name)
        for tag in [[], Self.id3] {
            let recording = try recording(tag + [UInt8](repeating: 0, count: count) + bytes, "zeros")
            #expect(recording.samples == whole.samples && recording.others == [.end])
        }
    }

    @Test(arguments: ["a.aac", "a.latm"]) func `AAC behind a tag and zeros: the samples of AAC`(name: String) throws {
        let bytes = try encoded(name, ["-c:a", "aac"])
        let whole = try recording(bytes, name)
        let recording = try recording(Self.id3 + [UInt8](repeating: 0, count: 10) + bytes, "zeros")
        #expect(abs(recording.frameCount - whole.frameCount) <= 1024 && recording.frameCount > 90_000)
    }

    @Test func `ID3 tag that declares more bytes than the file has: the sound in it`() throws {
        let bytes = try encoded("a.mp3", ["-write_xing", "0", "-id3v2_version", "0"])
        let whole = try recording(bytes, "a.mp3")
        let recording = try recording(Array("ID3".utf8) + [4, 0, 0, 0x7f, 0x7f, 0x7f, 0x7f] + bytes, "tag.mp3")
        #expect(recording.samples == whole.samples)
    }

    @Test func `text in UTF-16 and an image with bytes of MPEG audio: no sound`() throws {
        #expect(
            refusal(of: try fixture.write([0xff, 0xfe] + Array("text".utf8).flatMap { [$0, 0] }, to: "a.txt"))?.contains("text in UTF-16")
                == true)
        let mp3 = try encoded("a.mp3")
        let image = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + mp3
        #expect(refusal(of: try fixture.write(image, to: "a.png"))?.contains("a PNG image") == true)
    }

    @Test(arguments: ["libmp3lame", "mp2", "wmav2"]) func `WAV with another codec: decoded`(codec: String) throws {
        _ = try encoded("a.wav", ["-c:a", codec])
        let recording = try Recording(of: fixture.path("a.wav"))
        #expect(abs(recording.frameCount - 96_000) < 4096 && recording.others == [.end])
        #expect(abs(level(of: 1000, in: recording.channel(0), rate: 48_000) - 0.5) < 0.03)
    }

    // MARK: Declared lengths

    @Test func `STREAMINFO and Xing with half the length: everything, then a gap with the reason false-length`() throws {
        let end: [ReadResult] = [.gap(Gap(frames: 0, reason: .falseLength)), .end]
        var flac = try encoded("a.flac")
        let frames = UInt32(48_000)
        for index in 0..<4 { flac[22 + index] = UInt8(truncatingIfNeeded: frames >> (24 - 8 * index)) }
        let recording = try recording(flac, "half.flac")
        #expect(recording.frameCount == 96_000 && recording.others == end)
        var mp3 = try encoded("a.mp3")
        let tag = try #require(mp3.firstRange(of: Array("Info".utf8)) ?? mp3.firstRange(of: Array("Xing".utf8))).lowerBound
        let declared = mp3[tag + 8..<tag + 12].reduce(0) { $0 << 8 | Int($1) }
        for index in 0..<4 { mp3[tag + 8 + index] = UInt8(truncatingIfNeeded: (declared / 2) >> (24 - 8 * index)) }
        let half = try self.recording(mp3, "half.mp3")
        #expect(half.frameCount > 95_000 && half.others == end)
    }

    @Test(.enabled(if: Program.sox.isRequired, "sox is not installed"))
    func `GSM with an odd number of blocks, and ADPCM whose last block is cut: as many frames as ffmpeg decodes`() throws {
        for (encoding, sizes) in [
            ("gsm-full-rate", [65 * 3, 65 * 4 + 1, 65 * 5]), ("ima-adpcm", [256 * 3 + 100, 256 * 2, 256 + 4, 256 + 8]),
            ("ms-adpcm", [256 * 3]),
        ] {
            let input = try fixture.write(WAVBytes.sines(channels: 1, rate: 8000, frames: 8000).bytes, to: "in.wav")
            try Program.sox.run([input, "-e", encoding, fixture.path("a.wav")])
            let bytes = try fixture.bytes(of: "a.wav")
            let data = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound
            for size in sizes {
                // A data chunk of this size, and nothing behind it.
                let number = (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
                let path = try fixture.write(bytes[..<data] + number + bytes[(data + 4)...].prefix(size), to: "cut.wav")
                try Program.ffmpeg.run(["-v", "error", "-y", "-i", path, "-f", "s16le", fixture.path("decoded")])
                #expect(try Recording(of: path).frameCount == fixture.bytes(of: "decoded").count / 2, "\(encoding), \(size) bytes")
            }
        }
    }

    // MARK: Rates

    @Test(arguments: [("a.wav", 4000, 8000), ("a.wav", 705_600, 352_800), ("a.aiff", 7350, 14_700), ("a.flac", 4000, 8000)])
    func `sample rate out of range: resampled by a whole factor`(name: String, rate: Int, expected: Int) throws {
        let wav = WAVBytes.sines(channels: 2, rate: rate, frames: 3 * rate)
        let path = fixture.path(name)
        if name.hasSuffix("wav") { try fixture.write(wav.bytes, to: name) } else { _ = try encoded(name, from: wav) }
        let recording = try Recording(of: path)
        #expect(recording.source.format == StreamFormat(sampleRate: expected, channelCount: 2))
        #expect(abs(Double(recording.frameCount) / Double(expected) - 3) < 0.001)
        #expect(abs(level(of: 1000, in: recording.channel(0), rate: expected) - 0.5) < 0.03 && recording.others == [.end])
    }

    // MARK: Tags

    @Test(arguments: [
        "a.mp3", "a.flac", "a.ogg -c:a libvorbis", "a.opus -c:a libopus", "a.oga -c:a flac",
        "a.spx -c:a libspeex -ar 16000", "a.wav", "a.aiff -write_id3v2 1", "a.aac -write_id3v2 1", "a.m4a", "a.mka", "a.wma", "a.wv",
    ])
    func `tags of a format: title, artist, album, track, genre and year`(recipe: String) throws {
        let words = recipe.split(separator: " ").map(String.init)
        let tags = ["title": "A title", "artist": "Somebody", "album": "The album", "track": "7", "genre": "Rock", "date": "1998"]
        _ = try encoded(words[0], words.dropFirst() + tags.flatMap { ["-metadata", "\($0)=\($1)"] })
        let found = try Recording(of: fixture.path(words[0])).source.tags
        #expect(found.title == "A title" && found.artist == "Somebody" && found.album == "The album", "\(found)")
        #expect(found.track == "7" && found.genre == "Rock" && found.year == 1998, "\(found)")
    }

    @Test func `ID3v1 alone: title, artist, album, track, genre and year`() throws {
        func field(_ text: String, _ size: Int) -> [UInt8] { Array(text.utf8) + [UInt8](repeating: 0, count: size - text.utf8.count) }
        let texts = field("A title", 30) + field("Somebody", 30) + field("The album", 30) + field("1998", 4) + field("", 29)
        let tag = Array("TAG".utf8) + texts + [7, 17]
        let found = try recording(encoded("a.mp3", ["-id3v2_version", "0"]) + tag, "v1.mp3").source.tags
        #expect(found.title == "A title" && found.artist == "Somebody" && found.album == "The album", "\(found)")
        #expect(found.track == "7" && found.genre == "Rock" && found.year == 1998, "\(found)")
    }

    @Test func `two ID3v2 tags, and one before FLAC: the texts of both, the format's own first`() throws {
        let mp3 = try encoded("a.mp3", ["-metadata", "title=Second", "-metadata", "album=Album"])
        let first = try encoded("b.mp3", ["-metadata", "title=First"])
        let size = try #require(first.id3Size)
        #expect(try recording(Array(first.prefix(Int(size))) + mp3, "two.mp3").source.tags.title == "First")
        #expect(try recording(Array(first.prefix(Int(size))) + mp3, "two.mp3").source.tags.album == "Album")
        let flac = try encoded("a.flac", ["-metadata", "artist=Somebody"])
        let tags = try recording(Array(first.prefix(Int(size))) + flac, "b.flac").source.tags
        #expect(tags.title == "First" && tags.artist == "Somebody")
    }
}
