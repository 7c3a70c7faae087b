import Foundation
import Hemiola
import TestSupport
import Testing

@testable import FileCapture

/// Missing or damaged parts in the middle of a file: gaps in their place.
@Suite struct DamagedPartTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    /// Ten seconds, of two sines.
    private func encoded(_ name: String, _ arguments: [String]) throws -> [UInt8] {
        let recipe = FileCaptureTests.Recipe(name: name, program: .ffmpeg, arguments: ["-i", "IN"] + arguments + ["OUT"])
        _ = try recipe.make(in: fixture, from: .sines(channels: 2, frames: 480_000))
        return try fixture.bytes(of: name)
    }

    private func recording(_ bytes: [UInt8], _ name: String, room: Int = 1024) throws -> Recording {
        try Recording(of: fixture.write(bytes, to: name), room: room)
    }

    private func damage(_ frames: Int64) -> [ReadResult] { [.gap(Gap(frames: frames, reason: .damagedFile)), .end] }

    // MARK: Ogg

    static let oggCodecs = [("a.ogg", "libvorbis"), ("a.opus", "libopus")]

    /// The byte ranges of the pages of an Ogg file, including headers.
    private func pages(of bytes: [UInt8]) -> [Range<Int>] {
        var pages: [Range<Int>] = []
        var start = 0
        while start + 27 <= bytes.count {
            let segments = Int(bytes[start + 26])
            let end = start + 27 + segments + bytes[start + 27..<start + 27 + segments].reduce(0) { $0 + Int($1) }
            pages.append(start..<end)
            start = end
        }
        return pages
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: Self.oggCodecs)
    func `Ogg with missing pages: a gap of exact length at their place`(name: String, codec: String) throws {
        let bytes = try encoded(name, ["-c:a", codec])
        let pages = pages(of: bytes)
        try #require(pages.count > 9)
        let lost = Array(bytes[..<pages[5].lowerBound] + bytes[pages[7].lowerBound...])
        for room in [1024, 37] {
            let recording = try recording(lost, "lost-" + name, room: room)
            let frames = try #require(recording.gap?.frames)
            #expect(Int64(recording.frameCount) + frames == 480_000)
            // Two pages of a second each, and the start-up of the decoder.
            #expect((80_000...110_000).contains(frames))
            #expect(recording.others == damage(frames))
        }
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: Self.oggCodecs)
    func `Ogg with a wrong checksum: the page is a gap, after a rewind too`(name: String, codec: String) throws {
        var bytes = try encoded(name, ["-c:a", codec])
        bytes[pages(of: bytes)[6].upperBound - 20] ^= 1
        let capture = FileCapture(try fixture.write(bytes, to: "flipped-" + name))
        let source = try capture.open(FormatRequest())
        let first = Recording(source, capture)
        let frames = try #require(first.gap?.frames)
        #expect(Int64(first.frameCount) + frames == 480_000)
        #expect((40_000...60_000).contains(frames))
        try capture.rewind()
        #expect(Recording(source, capture) == first)
        capture.close()
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `Ogg Vorbis with header pages only: an error`() throws {
        let bytes = try encoded("a.ogg", ["-c:a", "libvorbis"])
        let path = try fixture.write(Array(bytes[..<pages(of: bytes)[2].lowerBound]), to: "headers.ogg")
        let error = "\(path): none of its sound can be decoded: it is damaged or cut off; get the file again"
        #expect(refusal(of: path) == error && refusal(of: path, ffmpeg: FFmpegDecoder()) == error)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `FLAC in Ogg whose comment has a false length: what ffmpeg decodes, or an error`() throws {
        var bytes = try encoded("a.oga", ["-c:a", "flac"])
        // The length of the block of comments, in the second packet; libogg computes the checksum of the page.
        let page = pages(of: bytes)[1]
        let block = page.lowerBound + 27 + Int(bytes[page.lowerBound + 26])
        bytes[block + 1] = 0x7f
        let path = try fixture.write(checked(bytes, page), to: "b.oga")
        let recording = try Recording(of: path)
        #expect(recording.frameCount == 480_000 && recording.others == [.end])
        #expect(refusal(of: path) == "\(path): none of its sound can be decoded: it is damaged or cut off; get the file again")
    }

    /// The file with the right checksum in a page that was changed: a CRC of the polynomial 04c11db7 over the page with a checksum of 0.
    private func checked(_ bytes: [UInt8], _ page: Range<Int>) -> [UInt8] {
        var (bytes, sum) = (bytes, UInt32(0))
        for index in page.lowerBound + 22..<page.lowerBound + 26 { bytes[index] = 0 }
        for byte in bytes[page] {
            sum ^= UInt32(byte) << 24
            for _ in 0..<8 { sum = sum & 0x8000_0000 == 0 ? sum << 1 : sum << 1 ^ 0x04c1_1db7 }
        }
        bytes.replaceSubrange(page.lowerBound + 22..<page.lowerBound + 26, with: WAVBytes.little(sum))
        return bytes
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `Ogg without its first pages of audio: a gap before the first frame`() throws {
        let bytes = try encoded("a.ogg", ["-c:a", "libvorbis"])
        let pages = pages(of: bytes)
        let recording = try recording(Array(bytes[..<pages[2].lowerBound] + bytes[pages[4].lowerBound...]), "late.ogg")
        let frames = try #require(recording.gap?.frames)
        #expect(Int64(recording.frameCount) + frames == 480_000)
        #expect(recording.others == damage(frames))
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `chained Ogg of 1100 links: every link is decoded`() throws {
        let recipe = FileCaptureTests.Recipe(name: "a.ogg", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "libvorbis", "OUT"])
        _ = try recipe.make(in: fixture, from: .sines(channels: 1, frames: 4800))
        let link = try fixture.bytes(of: "a.ogg")
        let whole = try recording(link, "one.ogg")
        try #require(whole.frameCount > 4000)
        let chain = try recording(Array(repeatElement(link, count: 1100).joined()), "chain.ogg")
        #expect(chain.frameCount == 1100 * whole.frameCount)
        #expect(chain.others == [.end])
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `Ogg with more damaged places than sections: what follows the last section is decoded`() throws {
        var bytes = try encoded("a.opus", ["-c:a", "libopus", "-frame_duration", "2.5", "-page_duration", "1"])
        let pages = pages(of: bytes)
        try #require(pages.count > 3900)
        // 1100 holes in 8.25 s, then 1.75 s without one.
        for index in stride(from: 4, to: 3304, by: 3) { bytes[pages[index].upperBound - 1] ^= 1 }
        let recording = try recording(bytes, "holes.opus")
        #expect(recording.error == nil)
        let gaps = recording.others.compactMap { if case .gap(let gap) = $0 { gap } else { nil } }
        #expect(gaps.count > 900 && gaps.allSatisfy { $0.reason == .damagedFile })
        #expect(recording.others.last == .end)
        // The decoder counts up to the granule position of the last page.
        #expect(abs(recording.frameCount + gaps.reduce(0) { $0 + Int($1.frames) } - 480_000) < 4800)
        let tail = Array(recording.channel(0).suffix(72_000))
        #expect(abs(level(of: 1000, in: tail, rate: 48_000) - 0.5) < 0.05)
    }

    // MARK: MP3

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: [true, false])
    func `MP3 with damaged frames: a gap, the same for every buffer`(hasTag: Bool) throws {
        var bytes = try encoded("a.mp3", ["-c:a", "libmp3lame"] + (hasTag ? [] : ["-write_xing", "0"]))
        let whole = try recording(bytes, "whole.mp3")
        // Keeps the headers, and fills the rest of each frame with forbidden values.
        for frame in try mpegFrames(of: bytes)[100..<200] {
            for index in frame.dropFirst(4) { bytes[index] = 0x7f }
        }
        let first = try recording(bytes, "damaged.mp3")
        let frames = try #require(first.gap?.frames)
        #expect((100 * 1152...103 * 1152).contains(frames))
        #expect(first.frameCount + Int(frames) == whole.frameCount)
        #expect(first.others == damage(frames))
        #expect(try recording(bytes, "damaged.mp3", room: 1) == first)
        #expect(try recording(bytes, "damaged.mp3", room: 5000) == first)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: [true, false])
    func `MP3 with zeros in its middle: a gap of their length`(hasTag: Bool) throws {
        var bytes = try encoded("a.mp3", ["-c:a", "libmp3lame"] + (hasTag ? [] : ["-write_xing", "0"]))
        let whole = try recording(bytes, "whole.mp3")
        let frames = try mpegFrames(of: bytes)
        for index in frames[100].lowerBound..<frames[200].lowerBound { bytes[index] = 0 }
        let recording = try recording(bytes, "zeros.mp3")
        #expect(recording.error == nil)
        let gaps = recording.others.compactMap { if case .gap(let gap) = $0 { gap } else { nil } }
        #expect(gaps.contains(Gap(frames: 100 * 1152, reason: .damagedFile)))
        #expect(abs(recording.frameCount + gaps.reduce(0) { $0 + Int($1.frames) } - whole.frameCount) <= 2 * 1152)
    }

    @Test(
        .enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"),
        arguments: [[0x7f, 0x7f, 0x7f, 0x7f], [0, 0, 0x40, 0], [0, 0, 0, 20]] as [[UInt8]])
    func `MP3 with an ID3 tag between two frames: every frame is read, whatever length the tag states`(size: [UInt8]) throws {
        let bytes = try encoded("a.mp3", ["-c:a", "libmp3lame", "-write_xing", "0"])
        let whole = try recording(bytes, "whole.mp3")
        let place = try mpegFrames(of: bytes)[200].lowerBound
        let tag = Array("ID3".utf8) + [3, 0, 0] + size + [UInt8](repeating: 0, count: 20)
        let recording = try recording(Array(bytes[..<place] + tag + bytes[place...]), "tag.mp3")
        #expect(recording.others == [.end] && recording.error == nil)
        // A frame at that position may be lost to the start-up of the decoder.
        #expect(abs(recording.frameCount - whole.frameCount) <= 2 * 1152)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `MP3 with an ID3 tag that contains MPEG frames: those frames are not decoded`() throws {
        let bytes = try encoded("a.mp3", ["-c:a", "libmp3lame", "-write_xing", "0"])
        let frames = try mpegFrames(of: bytes)
        func tagged(_ content: [UInt8], _ name: String) throws -> Recording {
            let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, UInt8(content.count >> 7), UInt8(content.count & 0x7f)] + content
            let place = frames[200].lowerBound
            return try recording(Array(bytes[..<place] + tag + bytes[place...]), name)
        }
        let content = [UInt8](repeating: 0, count: 100) + bytes[frames[10].lowerBound..<frames[20].lowerBound] + [0, 0, 0]
        let result = try tagged(content, "frames.mp3")
        // The decoder restarts after any tag.
        #expect(result.samples == (try tagged([UInt8](repeating: 0, count: content.count), "zeros.mp3")).samples)
        #expect(result.others == [.end] && result.samples.count > 0)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: [1000, 40_960])
    func `MP3 with zeros between two frames, whose tag declares its size: the samples without them`(count: Int) throws {
        let bytes = try encoded("a.mp3", ["-c:a", "libmp3lame"])
        let whole = try recording(bytes, "whole.mp3")
        let place = try mpegFrames(of: bytes)[200].lowerBound
        let recording = try recording(Array(bytes[..<place] + [UInt8](repeating: 0, count: count) + bytes[place...]), "zeros.mp3")
        #expect(recording.samples == whole.samples && recording.others == [.end])
    }

    // MARK: AU

    @Test(arguments: [0, 1, 24_000, 95_998] as [UInt32])
    func `AU with a length that is too short: all samples, then a gap with the reason false-length`(stated: UInt32) throws {
        let wav = WAVBytes.sines(frames: 48_000)
        let sound = wav.sound
        let samples = stride(from: 0, to: sound.count, by: 2).flatMap { [sound[$0 + 1], sound[$0]] }
        let header = Array(".snd".utf8) + [24, stated, 3, 48_000, 1].flatMap { WAVBytes.big(UInt32($0)) }
        let recording = try recording(header + samples, "a.au")
        #expect(recording.frameCount == 48_000)
        // 0 means an unknown length.
        #expect(recording.others == (stated == 0 ? [.end] : [.gap(Gap(frames: 0, reason: .falseLength)), .end]))
    }
}
