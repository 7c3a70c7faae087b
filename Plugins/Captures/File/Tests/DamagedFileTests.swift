import Foundation
import Hemiola
import TestSupport
import Testing

@testable import FileCapture

@Suite struct DamagedFileTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    private func read(_ bytes: [UInt8], _ name: String = "a.wav") throws -> Recording {
        try Recording(of: fixture.write(bytes, to: name))
    }

    private func gap(_ frames: Int64) -> [ReadResult] { [.gap(Gap(frames: frames, reason: .truncatedFile)), .end] }

    // MARK: Truncated

    @Test(arguments: WAVBytes.Encoding.allCases, [1, 2, 6])
    func `truncated WAV: ends with a gap of the missing frames`(encoding: WAVBytes.Encoding, channels: Int) throws {
        var wav = WAVBytes.sines(channels: channels, frames: 3000)
        wav.encoding = encoding
        // In the middle of a frame: that frame counts as missing.
        let bytes = wav.bytes.dropLast(1000 * wav.frameSize + 1)
        let recording = try read(Array(bytes))
        #expect(recording.frameCount == 1999)
        #expect(recording.others == gap(1001))
        #expect(recording.source.duration == 1999.0 / 48_000, "the duration of the audio in the file")
    }

    @Test func `WAV that lacks part of a frame: ends with a gap of 0 frames`() throws {
        var wav = WAVBytes.sines(channels: 2, frames: 100)
        wav.statedDataSize = 403
        let recording = try read(wav.bytes + [1])
        #expect(recording.frameCount == 100)
        #expect(recording.others == gap(0))
    }

    @Test func `WAV whose length is no whole number of frames: no gap`() throws {
        var wav = WAVBytes.sines(channels: 2, frames: 100)
        wav.statedDataSize = 403
        #expect(try read(wav.bytes + [1, 2, 3]).others == [.end])
    }

    @Test func `WAV truncated before its first frame: a gap, then an error`() throws {
        let path = try fixture.write(Array(WAVBytes.sines(frames: 100).bytes.prefix(44)), to: "a.wav")
        let recording = try Recording(of: path)
        #expect(recording.frameCount == 0)
        #expect(recording.others == gap(100).dropLast())
        #expect(recording.error == "\(path): none of its sound can be decoded: it is damaged or cut off; get the file again")
    }

    @Test func `truncated WAV after a rewind: the gap is delivered again`() throws {
        let path = try fixture.write(WAVBytes.sines(frames: 100).bytes.dropLast(20), to: "a.wav")
        let capture = FileCapture(path)
        let source = try capture.open(FormatRequest())
        let first = Recording(source, capture)
        try capture.rewind()
        #expect(Recording(source, capture) == first)
        #expect(first.others == gap(10))
        capture.close()
    }

    @Test(
        .enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"),
        arguments: ["a.aiff", "a.au", "a.caf", "a.w64", "rf64.wav"])
    func `truncated AIFF, AU, CAF, Wave64 and RF64: end with a gap of the missing frames`(name: String) throws {
        let recipe = FileCaptureTests.Recipe(name: name, program: .ffmpeg, arguments: ["-i", "IN", "-rf64", "always", "OUT"])
        let plain = FileCaptureTests.Recipe(name: name, program: .ffmpeg, arguments: ["-i", "IN", "OUT"])
        _ = try (name == "rf64.wav" ? recipe : plain).make(in: fixture)
        let recording = try Recording(of: fixture.cut(name, as: "cut-" + name))
        let missing = try #require(recording.gap?.frames)
        #expect(Int64(recording.frameCount) + missing == 96_000)
        #expect((35_000...40_000).contains(missing))
        #expect(recording.source.duration == Double(recording.frameCount) / 48_000)
        #expect(recording.others == gap(missing))
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `truncated ADPCM: ends with a gap by the header's frame count`() throws {
        let recipe = FileCaptureTests.Recipe(name: "adpcm.wav", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "adpcm_ms", "OUT"])
        _ = try recipe.make(in: fixture)
        let recording = try Recording(of: fixture.cut("adpcm.wav", as: "cut.wav"))
        let missing = try #require(recording.gap?.frames)
        #expect(abs(Int64(recording.frameCount) + missing - 96_000) < 2048)
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `truncated FLAC: ends with a gap, and the duration is unknown`() throws {
        _ = try FileCaptureTests.Recipe.of(.flac)[0].make(in: fixture)
        let recording = try Recording(of: fixture.cut("a.flac", as: "cut.flac"))
        let missing = try #require(recording.gap?.frames)
        #expect(recording.frameCount > 10_000)
        #expect(Int64(recording.frameCount) + missing == 96_000)
        #expect(recording.source.duration == nil)
        #expect(recording.error == nil)
        // One byte is enough.
        let most = try Recording(of: fixture.write(fixture.bytes(of: "a.flac").dropLast(), to: "most.flac"))
        #expect(Int64(most.frameCount) + (most.gap?.frames ?? 0) == 96_000)
        #expect(most.gap != nil)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: ["a.ogg", "a.opus"])
    func `truncated Ogg: ends with a gap of unknown length`(name: String) throws {
        let codec = name == "a.ogg" ? "libvorbis" : "libopus"
        _ = try FileCaptureTests.Recipe(name: name, program: .ffmpeg, arguments: ["-i", "IN", "-c:a", codec, "OUT"]).make(
            in: fixture, from: .sines(channels: 2, frames: 480_000))
        let recording = try Recording(of: fixture.cut(name, as: "cut-" + name))
        #expect(recording.frameCount > 48_000)
        #expect(recording.others == gap(0))
        #expect(recording.source.duration == Double(recording.frameCount) / 48_000)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `truncated MP3: every whole frame, then a gap by the length tag, or of 0 frames without one`() throws {
        let tagged = FileCaptureTests.Recipe(name: "a.mp3", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "libmp3lame", "OUT"])
        _ = try tagged.make(in: fixture)
        let cut = try Recording(of: fixture.cut("a.mp3", as: "cut.mp3"))
        let missing = try #require(cut.gap?.frames)
        #expect(Int64(cut.frameCount) + missing == 96_000)
        #expect((34_000...42_000).contains(missing))
        #expect(cut.source.duration == nil)
        let untagged = FileCaptureTests.Recipe(
            name: "b.mp3", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "libmp3lame", "-write_xing", "0", "OUT"])
        _ = try untagged.make(in: fixture)
        let rest = try Recording(of: fixture.cut("b.mp3", as: "rest.mp3"))
        #expect(rest.frameCount % 1152 == 0)
        #expect((54_000...62_000).contains(rest.frameCount))
        // No declared length, but the last frame is incomplete.
        #expect(rest.others == gap(0))
    }

    // MARK: Unknown lengths

    @Test(
        arguments: [
            (0xffff_ffff, 0xffff_ffff), (0x7fff_f024, 0x7fff_f000), (0x8000_0024, 0x7fff_ffff), (0x8000_0000, 0x8000_0000),
            (0, 0), (8, 0), (36, 0), (0xffff_ffff, 0),
        ] as [(UInt32, UInt32)])
    func `WAV with a placeholder length: read to the end of the file`(riff: UInt32, data: UInt32) throws {
        var wav = WAVBytes.sines(channels: 2, frames: 5000)
        wav.statedRIFFSize = riff
        wav.statedDataSize = data
        wav.chunksBefore = [("LIST", Array("INFOISFT".utf8))]
        if data == 0, riff != 0xffff_ffff { wav.chunksBefore = [] }
        let recording = try read(wav.bytes)
        #expect(recording.frameCount == 5000)
        #expect(recording.others == [.end])
        #expect(recording.source.duration == 5000.0 / 48_000)
        #expect(abs(level(of: 1100, in: recording.channel(1), rate: 48_000) - 0.5) < 0.01)
    }

    @Test func `WAV with empty data, with and without chunks after it: an error`() throws {
        var wav = WAVBytes(samples: [])
        #expect(try read(wav.bytes).error?.contains("none of its sound can be decoded") == true)
        wav.chunksBehind = [("LIST", [UInt8](repeating: 1, count: 100))]
        let recording = try read(wav.bytes)
        #expect(recording.frameCount == 0)
        #expect(recording.error?.contains("none of its sound can be decoded") == true)
    }

    @Test func `WAV that declares no data before its samples: all of them, then a gap with the reason false-length`() throws {
        var wav = WAVBytes.sines(channels: 2, frames: 5000)
        wav.statedDataSize = 0
        let recording = try read(wav.bytes)
        #expect(recording.frameCount == 5000)
        #expect(recording.others == [.gap(Gap(frames: 0, reason: .falseLength)), .end])
    }

    @Test func `AU whose header is longer than the file: an error`() throws {
        let header = Array(".snd".utf8) + ([2_000_000, .max, 3, 48_000, 1] as [UInt32]).flatMap { WAVBytes.big($0) }
        #expect(try read(header + WAVBytes.sines(frames: 1000).sound, "a.au").error?.contains("none of its sound can be decoded") == true)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: [false, true])
    func `AIFF that declares 2³² − 1 frames: all that are there, then a gap of 0 frames`(hasFalseSize: Bool) throws {
        _ = try FileCaptureTests.Recipe(name: "a.aiff", program: .ffmpeg, arguments: ["-i", "IN", "OUT"]).make(in: fixture)
        var bytes = try fixture.bytes(of: "a.aiff")
        let common = try #require(bytes.firstRange(of: Array("COMM".utf8))).upperBound + 6
        bytes.replaceSubrange(common..<common + 4, with: [0xff, 0xff, 0xff, 0xff])
        let sound = try #require(bytes.firstRange(of: Array("SSND".utf8))).upperBound
        if hasFalseSize { bytes.replaceSubrange(sound..<sound + 4, with: [0xff, 0xff, 0xff, 0xff]) }
        let recording = try read(bytes, "b.aiff")
        #expect(recording.frameCount == 96_000 && recording.others == gap(0))
    }

    @Test func `WAV with a placeholder length and more than 4 GiB: the whole duration`() throws {
        var wav = WAVBytes.sines(channels: 2, frames: 1000)
        wav.statedRIFFSize = 0xffff_ffff
        wav.statedDataSize = 0xffff_ffff
        let path = try fixture.write(wav.bytes, to: "a.wav")
        // A sparse file takes no space on the disk.
        try #require(truncate(path, 44 + (5 << 30)) == 0)
        let capture = FileCapture(path)
        #expect(try capture.open(FormatRequest()).duration == Double(5 << 30) / 4 / 48_000)
        capture.close()
    }

    @Test(
        .enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"),
        arguments: ["wav", "rf64", "w64", "caf", "au", "aiff", "flac"])
    func `file that ffmpeg wrote to a pipe: no gap`(type: String) throws {
        let options = type == "rf64" ? ["-rf64", "always", "-f", "wav"] : ["-f", type]
        let input = try fixture.write(WAVBytes.sines(channels: 2, frames: 30_000).bytes, to: "input.wav")
        let output = fixture.path("out")
        try Program.ffmpeg.run(["-v", "error", "-i", input] + options + ["-"], output: output)
        let recording = try Recording(of: output)
        #expect(recording.frameCount == 30_000)
        #expect(recording.others == [.end])
        #expect(recording.source.duration == nil || recording.source.duration == 30_000.0 / 48_000)
    }

    @Test(.enabled(if: Program.sox.isRequired, "sox is not installed"), arguments: ["wav", "au", "aiff", "flac"])
    func `file that sox wrote to a pipe: no gap`(type: String) throws {
        // --ignore-length: the length is not available to sox.
        let samples = WAVBytes.sines(channels: 2, frames: 30_000)
        let input = try fixture.write(samples.sound, to: "input.raw")
        let output = fixture.path("out")
        try Program.sox.run(
            ["-t", "raw", "-r", "48000", "-e", "signed", "-b", "16", "-c", "2", "--ignore-length", input, "-t", type, "-"], output: output)
        let recording = try Recording(of: output)
        #expect(recording.frameCount == 30_000)
        #expect(recording.others == [.end])
    }

    // MARK: Implausible lengths

    /// An RF64 file of 1000 frames that declares `size` bytes.
    private func rf64(_ size: UInt64, name: String = "RF64") -> [UInt8] {
        let wav = WAVBytes.sines(channels: 2, frames: 1000)
        let long = WAVBytes.chunk("ds64", WAVBytes.little(size &+ 72) + WAVBytes.little(size) + [UInt8](repeating: 0, count: 12))
        return Array(name.utf8) + [0xff, 0xff, 0xff, 0xff] + Array("WAVE".utf8) + long + WAVBytes.chunk("fmt ", wav.format)
            + Array("data".utf8) + [0xff, 0xff, 0xff, 0xff] + wav.sound
    }

    @Test func `declared length of 2⁴⁰ frames: a gap of the missing frames`() throws {
        let recording = try read(rf64(4 << 40))
        #expect(recording.frameCount == 1000)
        #expect(recording.others == gap((1 << 40) - 1000))
        #expect(recording.source.duration == 1000.0 / 48_000)
    }

    @Test(arguments: [(4 << 40) + 4, 1 << 62, .max, 0] as [UInt64])
    func `declared length beyond 2⁴⁰ frames, or of 0: read to the end, no gap`(size: UInt64) throws {
        let recording = try read(rf64(size))
        #expect(recording.frameCount == 1000)
        #expect(recording.others == [.end])
    }

    @Test func `BW64: read like RF64`() throws {
        #expect(try read(rf64(4000, name: "BW64")).others == [.end])
        #expect(try read(rf64(4400, name: "BW64")).others == gap(100))
        #expect(try read(rf64(4000, name: "BW64")).frameCount == 1000)
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `FLAC that declares 2³⁶ − 1 frames: everything, then a gap`() throws {
        _ = try FileCaptureTests.Recipe.of(.flac)[0].make(in: fixture)
        var bytes = try fixture.bytes(of: "a.flac")
        bytes[21] |= 0x0f
        for index in 22..<26 { bytes[index] = 0xff }
        let recording = try read(bytes, "b.flac")
        #expect(recording.frameCount == 96_000)
        #expect(recording.others == gap((1 << 36) - 1 - 96_000))
        #expect(recording.source.duration == nil)
    }

    // MARK: Damaged in the middle

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `FLAC damaged in its middle: a gap of exact length in its place, and the rest`() throws {
        _ = try FileCaptureTests.Recipe.of(.flac)[0].make(in: fixture)
        var bytes = try fixture.bytes(of: "a.flac")
        let whole = try read(bytes, "whole.flac")
        for index in bytes.count / 2..<bytes.count / 2 + 64 { bytes[index] ^= 0x5a }
        let recording = try read(bytes, "broken.flac")
        let lost = try #require(recording.gap)
        #expect(lost.reason == .damagedFile && (4096...8192).contains(lost.frames))
        #expect(recording.others == [.gap(lost), .end] && recording.error == nil)
        #expect(recording.frameCount + Int(lost.frames) == 96_000)
        #expect(recording.samples.suffix(48_000) == whole.samples.suffix(48_000))
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `FLAC of which no frame can be decoded: an error`() throws {
        _ = try FileCaptureTests.Recipe.of(.flac)[0].make(in: fixture)
        var bytes = try fixture.bytes(of: "a.flac")
        // Behind the metadata: blocks with a size of 24 bits, of which a flag marks the last.
        var start = 4
        var isLast = false
        while !isLast {
            isLast = bytes[start] & 0x80 != 0
            start += 4 + bytes[start + 1..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        for index in start..<bytes.count { bytes[index] = 0x55 }
        let path = try fixture.write(bytes, to: "nothing.flac")
        let error = "\(path): none of its sound can be decoded: it is damaged or cut off; get the file again"
        #expect(refusal(of: path) == error && refusal(of: path, ffmpeg: FFmpegDecoder()) == error)
        // Without a declared length, too.
        bytes.replaceSubrange(21..<26, with: [bytes[21] & 0xf0, 0, 0, 0, 0])
        try fixture.write(bytes, to: "nothing.flac")
        #expect(refusal(of: path) == error)
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `FLAC without a declared length whose first frames are damaged: a gap in their place`() throws {
        _ = try FileCaptureTests.Recipe.of(.flac)[0].make(in: fixture)
        var bytes = try fixture.bytes(of: "a.flac")
        bytes.replaceSubrange(21..<26, with: [bytes[21] & 0xf0, 0, 0, 0, 0])
        let start = try #require(bytes.firstRange(of: [0xff, 0xf8])).lowerBound
        for index in start..<start + 5000 { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) & 0x7f }
        let recording = try read(bytes, "b.flac")
        let lost = try #require(recording.gap?.frames)
        #expect(lost > 0 && recording.frameCount + Int(lost) == 96_000)
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `FLAC with other data after it: only the audio is delivered`() throws {
        _ = try FileCaptureTests.Recipe.of(.flac)[0].make(in: fixture)
        let garbage = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        let recording = try read(fixture.bytes(of: "a.flac") + garbage, "b.flac")
        #expect(recording.frameCount == 96_000)
        #expect(recording.others == [.end])
        #expect(recording.error == nil)
    }

    @Test func `file that shrinks during the analysis: a gap and an error`() throws {
        // Longer than the read-ahead.
        let path = try fixture.write(WAVBytes.sines(frames: 400_000).bytes, to: "a.wav")
        let capture = FileCapture(path)
        let source = try capture.open(FormatRequest())
        try #require(truncate(path, 44 + 2 * 200_000) == 0)
        let recording = Recording(source, capture)
        #expect(recording.frameCount == 200_000)
        #expect(recording.others == gap(200_000).dropLast())
        #expect(recording.error == "\(path): changed during the analysis; run again once it is complete")
        capture.close()
    }

    @Test(arguments: ["append", "replace", "touch"]) func `file that changes while it is read: an error after the last frame`(
        change: String
    ) throws {
        let wave = WAVBytes.sines(frames: 50_000).bytes
        let path = try fixture.write(wave, to: "a.wav")
        let capture = FileCapture(path)
        let source = try capture.open(FormatRequest())
        switch change {
        case "append":
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(count: 4000))
            try handle.close()
        case "replace":
            try fixture.write(wave, to: "b.wav")
            try #require(rename(fixture.path("b.wav"), path) == 0)
        default:
            try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: path)
        }
        let recording = Recording(source, capture)
        #expect(recording.frameCount == 50_000)
        #expect(recording.error == "\(path): changed during the analysis; run again once it is complete")
        capture.close()
    }

    @Test func `file that was overwritten: rewind throws`() throws {
        let path = try fixture.write(WAVBytes.sines(frames: 1000).bytes, to: "a.wav")
        let capture = FileCapture(path)
        _ = try capture.open(FormatRequest())
        // In place: a new file under the same name would leave the open one unchanged.
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.write(contentsOf: Data(WAVBytes.sines(rate: 44_100, frames: 1000).bytes))
        try handle.close()
        let error = #expect(throws: Problem.self) { try capture.rewind() }
        #expect(error?.message == "\(path): changed during the analysis; run again once it is complete")
        capture.close()
    }

    /// Damaged bytes: the stream ends, or there is an error of one line.
    @Test(arguments: 0..<12) func `fuzzed headers: an end or an error of one line, no crash`(seed: UInt64) throws {
        var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
        func random(_ limit: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(limit))
        }
        let wav = WAVBytes.sines(channels: 2, frames: 300)
        let au = Array(".snd".utf8) + [24, 1200, 3, 48_000, 2].flatMap { WAVBytes.big(UInt32($0)) } + wav.sound
        let caf: [UInt8] =
            Array("caff".utf8) + [0, 1, 0, 0] + Array("desc".utf8) + WAVBytes.big(Int64(32)) + WAVBytes.big(48_000.0.bitPattern)
            + Array("lpcm".utf8) + [2, 4, 1, 2, 16].flatMap { WAVBytes.big(UInt32($0)) } + Array("data".utf8)
            + WAVBytes.big(Int64(wav.sound.count + 4)) + [0, 0, 0, 0] + wav.sound
        let rate: [UInt8] = [0x40, 0x0e, 0xbb, 0x80, 0, 0, 0, 0, 0, 0]
        let common = WAVBytes.big(UInt16(2)) + WAVBytes.big(UInt32(300)) + WAVBytes.big(UInt16(16)) + rate
        let aiff =
            Array("FORM".utf8) + WAVBytes.big(UInt32(46 + wav.sound.count)) + Array("AIFFCOMM".utf8) + WAVBytes.big(UInt32(18)) + common
            + Array("SSND".utf8) + WAVBytes.big(UInt32(8 + wav.sound.count)) + [UInt8](repeating: 0, count: 8) + wav.sound
        for (index, whole) in [wav.bytes, rf64(1200), au, caf, aiff].enumerated() {
            let right = try read(whole, "whole-\(index)")
            #expect(right.others == [.end] && right.error == nil)
            for round in 0..<25 {
                var bytes = whole
                for _ in 0..<(1 + random(4)) {
                    bytes[random(min(bytes.count, 100))] = [0, 0xff, 0x7f, 0x80, UInt8(random(256))][random(5)]
                }
                if random(3) == 0 { bytes.removeLast(random(bytes.count)) }
                let path = try fixture.write(bytes, to: "mutant-\(index)-\(round)")
                if let line = refusal(of: path) {
                    #expect(!line.contains("\n") && line.hasPrefix(path))
                } else {
                    let recording = try Recording(of: path)
                    #expect(recording.error != nil || recording.others.last == .end || recording.samples.count > 1 << 24)
                }
            }
        }
    }
}
