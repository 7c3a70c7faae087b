import Foundation
import Glibc
import Hemiola
import HemiolaPCM
import TestSupport
import Testing

@testable import FileCapture

/// All that a `PCMDecoder` delivers.
private struct Decoded {
    var samples: [Float] = []
    var gaps: [Gap] = []
    var format: StreamFormat
    var tags: SoundTags
    var declaredFrames: Int64?
    var presentFrames: Int64?
    var endDamage: Gap.Reason?

    var frameCount: Int { samples.count / format.channelCount }
    var bits: [UInt32] { samples.map(\.bitPattern) }

    init(_ path: String, room: Int = 1024) throws {
        let file = try InputFile(path)
        let header = try #require(PCMHeader.read(file, size: file.size).header)
        try self.init(PCMDecoder(file, header), room: room)
    }

    init(_ decoder: PCMDecoder, room: Int = 1024) throws {
        (format, tags, declaredFrames, presentFrames) = (decoder.format, decoder.tags, decoder.declaredFrames, decoder.presentFrames)
        var buffer = [Float](repeating: 7, count: room * format.channelCount)
        reading: while true {
            var span = buffer.mutableSpan
            switch try decoder.read(into: &span) {
            case .frames(let count): samples += buffer[..<(count * format.channelCount)]
            case .gap(let gap): gaps.append(gap)
            case .end: break reading
            case let other: Issue.record("unexpected: \(other)")
            }
        }
        endDamage = decoder.endDamage
        var span = buffer.mutableSpan
        #expect(try decoder.read(into: &span) == .end, "the end again")
    }
}

@Suite struct PCMDecoderTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    private func decode(_ bytes: [UInt8], _ name: String = "a.wav") throws -> Decoded { try Decoded(fixture.write(bytes, to: name)) }

    private func header(_ bytes: [UInt8]) throws -> PCMHeader.Outcome {
        let file = try InputFile(fixture.write(bytes, to: "header"))
        return PCMHeader.read(file, size: file.size)
    }

    /// Three channels of noise that reaches full scale, as floats of 64 bits, 44.1 kHz.
    private static let noise: [Double] = {
        var state: UInt64 = 1
        return (0..<3 * 5000).map { index in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return index % 100 < 2 ? (index % 2 == 0 ? 1 : -1) : Double(Int64(bitPattern: state)) / 0x1p63
        }
    }()

    /// Writes the noise in one encoding and container.
    private func make(_ name: String, _ program: Program, _ arguments: [String]) throws -> String {
        let raw = try fixture.write(Self.noise.flatMap { WAVBytes.little($0.bitPattern) }, to: "noise.raw")
        let output = fixture.path(name)
        switch program {
        case .ffmpeg:
            try program.run(["-v", "error", "-y", "-f", "f64le", "-ar", "44100", "-ac", "3", "-i", raw] + arguments + [output])
        default:
            let input = ["-D", "-t", "raw", "-e", "floating-point", "-b", "64", "-L", "-r", "44100", "-c", "3", raw]
            try program.run(input + arguments + [output])
        }
        return output
    }

    /// The samples that ffmpeg decodes.
    private func ffmpeg(_ path: String) throws -> [Float] {
        let output = fixture.path("ffmpeg.raw")
        try Program.ffmpeg.run(["-v", "error", "-y", "-i", path, "-f", "f32le", output])
        return try floats(fixture.bytes(of: "ffmpeg.raw")) { Float(bitPattern: $0) }
    }

    /// The samples that sox decodes, as integers of 32 bits.
    private func sox(_ path: String) throws -> [Float] {
        try Program.sox.run(["-D", path, "-t", "raw", "-e", "signed-integer", "-b", "32", "-L", fixture.path("sox.raw")])
        return try floats(fixture.bytes(of: "sox.raw")) { Float(Int32(bitPattern: $0)) * 0x1p-31 }
    }

    private func floats(_ bytes: [UInt8], _ float: (UInt32) -> Float) -> [Float] {
        stride(from: 0, to: bytes.count, by: 4).map { at in float((0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << (8 * $1) }) }
    }

    // MARK: Encodings

    @Test(
        .enabled(if: Program.ffmpeg.isRequired && Program.sox.isRequired),
        arguments: [
            "u8.wav", "s16le.wav", "s24le.wav", "s32le.wav", "f32le.wav", "f64le.wav", "s16le.w64", "s24le.w64", "s32le.w64", "f32le.w64",
            "s8.aiff", "s16be.aiff", "s24be.aiff", "s32be.aiff", "s16le.aiff", "f32be.aiff", "f64be.aiff", "s8.au", "s16be.au",
            "s24be.au", "s32be.au", "f32be.au", "f64be.au", "s8.caf", "s16be.caf", "s16le.caf", "s24be.caf", "s24le.caf", "s32be.caf",
            "s32le.caf", "f32be.caf", "f32le.caf", "f64be.caf", "f64le.caf",
        ])
    func `file of ffmpeg in each container and encoding: the samples of ffmpeg and sox`(name: String) throws {
        let codec = "pcm_" + name.prefix { $0 != "." }
        for (other, options) in [(name, []), ("rf64-" + name, ["-rf64", "always"])] where options.isEmpty || name.hasSuffix(".wav") {
            let path = try make(other, .ffmpeg, ["-c:a", codec] + options)
            let decoded = try Decoded(path)
            #expect(decoded.format.sampleRate == 44_100 && decoded.format.channelCount == 3)
            #expect(decoded.gaps.isEmpty && decoded.endDamage == nil)
            #expect(decoded.declaredFrames == 5000 && decoded.presentFrames == 5000)
            #expect(decoded.samples == (try ffmpeg(path)))
            // sox's own numbers are integers of 32 bits, and it does not read RF64.
            if name.hasPrefix("f") || !options.isEmpty { continue }
            #expect(decoded.samples == (try sox(path)))
        }
    }

    @Test(
        .enabled(if: Program.ffmpeg.isRequired && Program.sox.isRequired),
        arguments: [
            ["-B", "-b", "16", "a.wav"], ["-B", "-b", "24", "b.wav"], ["-L", "-b", "16", "a.au"], ["-L", "-b", "24", "b.au"],
            ["-L", "-b", "32", "c.au"], ["-b", "16", "a.aifc"], ["-b", "8", "a.aiff"], ["-b", "24", "b.aifc"], ["-b", "24", "a.caf"],
            ["-e", "signed-integer", "-b", "8", "a.au"], ["-b", "16", "a.w64"], ["-e", "unsigned-integer", "-b", "8", "c.wav"],
        ])
    func `file of sox in each container, byte order and size: the samples of sox, and of ffmpeg where it reads the file`(
        arguments: [String]
    ) throws {
        let name = try #require(arguments.last)
        let path = try make(name, .sox, arguments.dropLast())
        let decoded = try Decoded(path)
        #expect(decoded.frameCount == 5000 && decoded.gaps.isEmpty)
        #expect(decoded.samples == (try sox(path)))
        // ffmpeg knows neither RIFX nor AU in little-endian order.
        if arguments[0] != "-B", arguments[0] != "-L" { #expect(decoded.samples == (try ffmpeg(path))) }
    }

    /// A WAV of two channels with this `fmt ` chunk.
    private func wav(tag: UInt16 = 1, bits: UInt16, blockSize: UInt16, validBits: UInt16? = nil, _ sound: [UInt8]) -> [UInt8] {
        var format = WAVBytes.little(validBits == nil ? tag : 0xfffe) + WAVBytes.little(UInt16(2)) + WAVBytes.little(UInt32(44_100))
        format += WAVBytes.little(44_100 * UInt32(blockSize)) + WAVBytes.little(blockSize) + WAVBytes.little(bits)
        if let validBits {
            format += WAVBytes.little(UInt16(22)) + WAVBytes.little(validBits) + WAVBytes.little(UInt32(3)) + WAVBytes.little(tag)
            format += [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        }
        let body = Array("WAVE".utf8) + WAVBytes.chunk("fmt ", format) + WAVBytes.chunk("data", sound)
        return Array("RIFF".utf8) + WAVBytes.little(UInt32(body.count)) + body
    }

    /// An AIFF, or an AIFF-C with a codec, of two channels at 44.1 kHz.
    private func aiff(_ codec: String? = nil, bits: UInt16, frames: UInt32, _ sound: [UInt8], soundFirst: Bool = false) -> [UInt8] {
        let rate: [UInt8] = [0x40, 0x0e, 0xac, 0x44, 0, 0, 0, 0, 0, 0]
        let name: [UInt8] = codec.map { Array($0.utf8) + [0, 0] } ?? []
        let common: [UInt8] = WAVBytes.big(UInt16(2)) + WAVBytes.big(frames) + WAVBytes.big(bits) + rate + name
        let chunks = [iff("COMM", common), iff("SSND", [UInt8](repeating: 0, count: 8) + sound)]
        let body = Array((codec == nil ? "AIFF" : "AIFC").utf8) + (soundFirst ? chunks.reversed() : chunks).joined()
        return Array("FORM".utf8) + WAVBytes.big(UInt32(body.count)) + body
    }

    private func iff(_ name: String, _ content: [UInt8], isPadded: Bool = true) -> [UInt8] {
        Array(name.utf8) + WAVBytes.big(UInt32(content.count)) + content + (isPadded && content.count % 2 == 1 ? [0] : [])
    }

    private static let ramp = (0..<960).map { UInt8(truncatingIfNeeded: $0 * 37 + 5) }

    /// The ramp as signed integers of a number of bytes.
    private func integers(_ bytes: Int, isBigEndian: Bool) -> [Float] {
        stride(from: 0, to: Self.ramp.count, by: bytes).map { at in
            let sample = Self.ramp[at..<at + bytes]
            let word = (isBigEndian ? Array(sample) : sample.reversed()).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return Float(Int32(bitPattern: word << UInt32(32 - 8 * bytes))) * 0x1p-31
        }
    }

    // What libsndfile 1.2.0 and ffmpeg 5.1.9 read, which agree on all but two: of 24 bits in 4 bytes, the plain form (libsndfile: 3 bytes,
    // ffmpeg: floats of Cool Edit) and the extensible one (ffmpeg: floats too).
    @Test(arguments: [(12, 4, nil, 2), (20, 6, nil, 3), (24, 6, 20, 3), (24, 8, nil, 4), (32, 8, 24, 4), (16, 2, nil, 2), (16, 8, nil, 2)])
    func `WAV with fewer bits than its container, or a wrong frame size: aligned to the left`(
        bits: UInt16, blockSize: UInt16, validBits: UInt16?, bytes: Int
    ) throws {
        let decoded = try decode(wav(bits: bits, blockSize: blockSize, validBits: validBits, Self.ramp))
        #expect(decoded.samples == integers(bytes, isBigEndian: false))
        #expect(decoded.gaps.isEmpty)
    }

    @Test(
        arguments: [
            (nil, 8, 1), (nil, 12, 2), (nil, 20, 3), (nil, 24, 3), (nil, 28, 4), ("NONE", 16, 2), ("twos", 24, 3), ("sowt", 16, 2),
            ("sowt", 24, 3), ("in24", 24, 3), ("in32", 32, 4), ("42n1", 24, 3), ("23ni", 32, 4),
        ] as [(String?, UInt16, Int)])
    func `AIFF of each codec and number of bits: aligned to the left`(codec: String?, bits: UInt16, bytes: Int) throws {
        let isBigEndian = !["sowt", "42n1", "23ni"].contains(codec ?? "")
        let decoded = try decode(aiff(codec, bits: bits, frames: UInt32(480 / bytes), Self.ramp))
        #expect(decoded.samples == integers(bytes, isBigEndian: isBigEndian))
        #expect(decoded.declaredFrames == Int64(480 / bytes) && decoded.gaps.isEmpty)
    }

    @Test func `AIFF-C with the codec raw: unsigned`() throws {
        #expect(try decode(aiff("raw ", bits: 8, frames: 480, Self.ramp)).samples == Self.ramp.map { (Float($0) - 128) / 128 })
    }

    @Test(arguments: [0, 2] as [UInt32], [(6, 20, 3), (8, 24, 4), (4, 12, 2)] as [(UInt32, UInt32, Int)])
    func `CAF with fewer bits than its container: aligned to the left`(flags: UInt32, sizes: (UInt32, UInt32, Int)) throws {
        let (packet, bits, bytes) = sizes
        let description =
            WAVBytes.big(44_100.0.bitPattern) + Array("lpcm".utf8) + [flags, packet, 1, 2, bits].flatMap { WAVBytes.big($0) }
        let caf =
            Array("caff".utf8) + [0, 1, 0, 0] + Array("desc".utf8) + WAVBytes.big(Int64(32)) + description + Array("data".utf8)
            + WAVBytes.big(Int64(-1)) + [0, 0, 0, 0] + Self.ramp
        let decoded = try decode(caf)
        #expect(decoded.samples == integers(bytes, isBigEndian: flags == 0))
        #expect(decoded.declaredFrames == nil && decoded.presentFrames == Int64(480 / bytes))
    }

    @Test(
        .enabled(if: Program.ffmpeg.isRequired),
        arguments: [
            ("adpcm_ms", "a.wav", "Microsoft ADPCM"), ("libmp3lame", "b.wav", "MP3"), ("pcm_mulaw", "c.wav", "µ-law"),
            ("pcm_alaw", "d.au", "A-law"), ("alac", "e.caf", "the codec alac"), ("adpcm_ima_qt", "f.aiff", "the codec ima4"),
        ])
    func `compressed samples: their codec, their range and their length`(codec: String, name: String, shown: String) throws {
        let path = try make(name, .ffmpeg, ["-ac", "2", "-c:a", codec])
        let file = try InputFile(path)
        let header = try #require(PCMHeader.read(file, size: file.size).header)
        guard case .other(shown, let tag) = header.encoding else { throw CocoaError(.featureUnsupported) }
        #expect(tag == ["a.wav": 2, "b.wav": 0x55, "c.wav": 7][name])
        #expect(header.stream == StreamFormat(sampleRate: 44_100, channelCount: 2) && header.format == nil)
        #expect(header.offset > 20 && header.offset + (header.byteCount ?? 0) <= file.size)
        #expect(throws: Problem.self) { try PCMDecoder(file, header) }
    }

    @Test func `AU whose samples begin within its header, and files of other kinds: refused`() throws {
        var bytes = au(4, [1, 2, 3, 4])
        bytes[7] = 23
        #expect(try header(bytes) == .damaged(.au))
        #expect(try header(Array(bytes.prefix(23))) == .incomplete(.au))
        #expect(try header(Array("FORM\0\0\0\u{4}8SVX".utf8)) == .otherFormat)
        #expect(try header([]) == .otherFormat)
        #expect(try header(WAVBytes(samples: []).bytes.dropLast(8)) == .incomplete(.wav))
    }

    @Test func `header after other bytes: the same samples`() throws {
        let junk = [UInt8](repeating: 0x55, count: 1001)
        for bytes in [WAVBytes.sines(frames: 500).bytes, aiff(bits: 16, frames: 240, Self.ramp), au(960, Self.ramp)] {
            let file = try InputFile(fixture.write(junk + bytes, to: "shifted"))
            let decoder = try PCMDecoder(file, #require(PCMHeader.read(file, from: 1001, size: file.size).header))
            #expect(try Decoded(decoder).bits == (try decode(bytes)).bits)
        }
    }

    // MARK: Chunks

    @Test(arguments: [true, false]) func `odd chunk before the samples, padded or not: the same samples`(isPadded: Bool) throws {
        let odd = WAVBytes.chunk("LIST", Array("INFOabc".utf8))
        let wav = wav(bits: 16, blockSize: 4, Self.ramp)
        let decoded = try decode(Array(wav[..<36] + (isPadded ? odd : odd.dropLast()) + wav[36...]))
        #expect(decoded.samples == integers(2, isBigEndian: false))
        let aiff = aiff(bits: 16, frames: 240, Self.ramp)
        for at in [12, 38] {
            let decoded = try decode(Array(aiff[..<at] + iff("ANNO", [65, 66, 67], isPadded: isPadded) + aiff[at...]))
            #expect(decoded.samples == integers(2, isBigEndian: true))
        }
    }

    @Test func `AIFF whose COMM follows the samples: decoded`() throws {
        let decoded = try decode(aiff(bits: 16, frames: 240, Self.ramp, soundFirst: true))
        #expect(decoded.samples == integers(2, isBigEndian: true))
        #expect(decoded.declaredFrames == 240)
    }

    @Test(arguments: [true, false]) func `WAV with tags after its samples, padded or not: the tags`(isPadded: Bool) throws {
        func text(_ name: String, _ text: String) -> [UInt8] { WAVBytes.chunk(name, Array(text.utf8) + [0]) }
        let info =
            text("INAM", "Title") + text("IART", "Ärtist") + text("IPRD", "Album") + text("ITRK", "7/12") + text("IGNR", "Genre")
            + text("ICRD", "1998-05-01") + text("INAM", "Another")
        let id3: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 1, 0]
        // 301 frames of 3 bytes: an odd number.
        var wav = WAVBytes(samples: [Float](repeating: 0.25, count: 301), encoding: .int24).bytes
        if isPadded, wav.count % 2 == 1 { wav.append(0) }
        let tail = WAVBytes.chunk("LIST", Array("INFO".utf8) + info) + WAVBytes.chunk("id3 ", id3)
        let bytes = (isPadded ? wav : Array(wav.prefix(44 + 903))) + tail
        let decoded = try decode(bytes)
        #expect(decoded.frameCount == 301 && decoded.gaps.isEmpty)
        #expect(decoded.tags.title == "Title" && decoded.tags.artist == "Ärtist" && decoded.tags.album == "Album")
        #expect(decoded.tags.track == "7/12" && decoded.tags.genre == "Genre" && decoded.tags.year == 1998)
        let range = try #require(header(bytes).header?.id3)
        #expect(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]) == id3)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired), arguments: ["a.wav", "b.aiff", "c.caf", "d.aiff"])
    func `tags of ffmpeg: read`(name: String) throws {
        let tags = ["-metadata", "title=A title", "-metadata", "artist=Somebody", "-metadata", "author=Somebody"]
        let path = try make(name, .ffmpeg, tags + (name == "d.aiff" ? ["-write_id3v2", "1"] : []))
        let file = try InputFile(path)
        let header = try #require(PCMHeader.read(file, size: file.size).header)
        if name == "d.aiff" {
            let range = try #require(header.id3)
            #expect(file.bytes(at: range.lowerBound, count: 3) == Array("ID3".utf8) && range.upperBound <= file.size)
        } else {
            #expect(header.tags.title == "A title" && header.tags.artist == "Somebody")
        }
    }

    // MARK: Lengths

    @Test(arguments: [0, 1, 2, 3, 4, 399])
    func `truncated WAV: the frames that are there, then a gap of the missing ones`(lost: Int) throws {
        var wav = WAVBytes.sines(channels: 2, frames: 100)
        wav.chunksBefore = [("LIST", Array("INFOISFT".utf8))]
        let decoded = try decode(Array(wav.bytes.dropLast(lost)))
        let missing = (lost + 3) / 4
        #expect(decoded.frameCount == 100 - missing && decoded.presentFrames == Int64(100 - missing))
        #expect(decoded.declaredFrames == 100)
        #expect(decoded.gaps == (lost == 0 ? [] : [Gap(frames: Int64(missing), reason: .truncatedFile)]))
    }

    @Test(arguments: [1, 3]) func `WAV whose declared length is no whole number of frames: a gap only where bytes are missing`(
        present: Int
    ) throws {
        var wav = WAVBytes.sines(channels: 2, frames: 100)
        wav.statedDataSize = 403
        let decoded = try decode(wav.bytes + [UInt8](repeating: 1, count: present))
        #expect(decoded.frameCount == 100)
        #expect(decoded.gaps == (present == 3 ? [] : [Gap(frames: 0, reason: .truncatedFile)]))
    }

    @Test(
        .enabled(if: Program.ffmpeg.isRequired), arguments: ["wav", "rf64", "w64", "caf", "au", "aiff"])
    func `file that ffmpeg wrote to a pipe, and the same cut: no gap, or one of 0 frames where part of a frame is left`(
        type: String
    ) throws {
        let options = type == "rf64" ? ["-rf64", "always", "-f", "wav"] : ["-f", type]
        let input = try fixture.write(WAVBytes.sines(channels: 2, frames: 30_000).bytes, to: "input.wav")
        let output = fixture.path("out")
        try Program.ffmpeg.run(["-v", "error", "-i", input] + options + ["-"], output: output)
        let whole = try Decoded(output)
        #expect(whole.frameCount == 30_000 && whole.gaps.isEmpty && whole.endDamage == nil)
        #expect(whole.declaredFrames == nil && whole.presentFrames == 30_000)
        #expect(try decode(fixture.bytes(of: "out").dropLast(400)).frameCount == 29_900)
        let part = try decode(fixture.bytes(of: "out").dropLast(401))
        #expect(part.frameCount == 29_899 && part.gaps == [Gap(frames: 0, reason: .truncatedFile)])
    }

    @Test(.enabled(if: Program.sox.isRequired), arguments: ["wav", "au", "aiff"])
    func `file that sox wrote to a pipe: no gap`(type: String) throws {
        let input = try fixture.write(WAVBytes.sines(channels: 2, frames: 30_000).sound, to: "input.raw")
        let raw = ["-t", "raw", "-r", "48000", "-e", "signed", "-b", "16", "-c", "2", "--ignore-length", input]
        try Program.sox.run(raw + ["-t", type, "-"], output: fixture.path("out"))
        let decoded = try Decoded(fixture.path("out"))
        #expect(decoded.frameCount == 30_000 && decoded.gaps.isEmpty && decoded.declaredFrames == nil)
    }

    private func au(_ size: UInt32, _ sound: [UInt8]) -> [UInt8] {
        Array(".snd".utf8) + [28, size, 3, 48_000, 2].flatMap { WAVBytes.big($0) } + [0, 0, 0, 0] + sound
    }

    @Test func `AU that declares less than it holds: everything, and a false length`() throws {
        for (declared, isFalse) in [(1000, true), (1196, true), (1197, false), (1200, false), (0, false), (0xffff_ffff, false)] {
            let decoded = try decode(au(UInt32(declared), [UInt8](repeating: 1, count: 1200)))
            #expect(decoded.endDamage == (isFalse ? .falseLength : nil), "\(declared)")
            #expect(decoded.frameCount == (declared == 1197 ? 299 : 300) && decoded.gaps.isEmpty, "\(declared)")
        }
        let cut = try decode(au(1200, [UInt8](repeating: 1, count: 1001)))
        #expect(cut.frameCount == 250 && cut.gaps == [Gap(frames: 50, reason: .truncatedFile)] && cut.endDamage == nil)
    }

    @Test(
        arguments: [(4000, 0), (4400, 100), (4 << 40, (1 << 40) - 1000), ((4 << 40) + 4, nil), (.max, nil), (0, nil)]
            as [(UInt64, Int64?)])
    func `RF64 and BW64: the length of ds64, unless it is implausible`(size: UInt64, missing: Int64?) throws {
        let wav = WAVBytes.sines(channels: 2, frames: 1000)
        for name in ["RF64", "BW64"] {
            let long = WAVBytes.chunk("ds64", WAVBytes.little(size &+ 72) + WAVBytes.little(size) + [UInt8](repeating: 0, count: 12))
            let tail = size == 4000 ? WAVBytes.chunk("LIST", Array("INFO".utf8) + WAVBytes.chunk("INAM", Array("Name".utf8))) : []
            let decoded = try decode(
                Array(name.utf8) + [0xff, 0xff, 0xff, 0xff] + Array("WAVE".utf8) + long + WAVBytes.chunk("fmt ", wav.format)
                    + Array("data".utf8) + [0xff, 0xff, 0xff, 0xff] + wav.sound + tail)
            #expect(decoded.frameCount == 1000)
            #expect(decoded.declaredFrames == missing.map { $0 + 1000 })
            #expect(decoded.gaps == (missing ?? 0 == 0 ? [] : [Gap(frames: missing!, reason: .truncatedFile)]))
            #expect(decoded.tags.title == (size == 4000 ? "Name" : nil))
        }
    }

    @Test func `file that shrinks while it is read: a gap of the missing frames`() throws {
        let path = try fixture.write(WAVBytes.sines(frames: 400_000).bytes, to: "a.wav")
        let file = try InputFile(path)
        let decoder = try PCMDecoder(file, #require(PCMHeader.read(file, size: file.size).header))
        try #require(truncate(path, 44 + 2 * 200_000) == 0)
        let decoded = try Decoded(decoder)
        #expect(decoded.frameCount == 200_000 && decoded.gaps == [Gap(frames: 200_000, reason: .truncatedFile)])
    }

    @Test(arguments: [1, 7, 1023, 100_000]) func `any size of the reader's buffer: the same samples`(room: Int) throws {
        var wav = WAVBytes.sines(channels: 6, frames: 10_000)
        wav.encoding = .int24
        let path = try fixture.write(wav.bytes, to: "a.wav")
        #expect(try Decoded(path, room: room).bits == Decoded(path).bits)
    }

    @Test(arguments: 0..<20) func `damaged headers: an error, or no more samples than bytes`(seed: UInt64) throws {
        var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
        func random(_ limit: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(limit))
        }
        let info = WAVBytes.chunk("LIST", Array("INFO".utf8) + WAVBytes.chunk("INAM", Array("Name".utf8)))
        let whole = [
            wav(bits: 16, blockSize: 4, validBits: 16, Self.ramp) + info, aiff("sowt", bits: 16, frames: 240, Self.ramp),
            au(960, Self.ramp),
        ]
        for (index, whole) in whole.enumerated() {
            #expect(try decode(whole, "whole-\(index)").frameCount == 240)
            for _ in 0..<50 {
                var bytes = whole
                for _ in 0...random(4) { bytes[random(min(bytes.count, 80))] = [0, 0xff, 0x7f, 0x80, UInt8(random(256))][random(5)] }
                if random(3) == 0 { bytes.removeLast(random(bytes.count)) }
                guard let header = try header(bytes).header, header.format != nil, header.stream.isSupported else { continue }
                #expect(try decode(bytes).samples.count <= bytes.count)
            }
        }
    }
}
