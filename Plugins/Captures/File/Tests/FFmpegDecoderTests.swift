import Foundation
import Hemiola
import HemiolaPCM
import TestSupport
import Testing

@testable import FileCapture

/// What ffmpeg makes of a file.
struct FFmpegRecording {
    let output: FFmpegDecoder.Output
    let sampleRate: Int
    let channelCount: Int
    let samples: [Float]

    var frameCount: Int { samples.count / channelCount }
    /// Frames that are missing, if they are more than a complete file may lack.
    var missingFrames: Int? {
        guard let declared = output.declaredFrames, declared > Int64(frameCount) + output.lengthTolerance else { return nil }
        return Int(declared) - frameCount
    }

    init(of path: String, by ffmpeg: FFmpegDecoder = FFmpegDecoder()) throws {
        output = try ffmpeg.decode(InputFile(path), undecoded(path), isCancelled: { false })
        let bytes = output.file.bytes(at: 0, count: Int(output.file.size))
        let data = try #require(bytes.prefix(256).firstRange(of: Array("data".utf8) + [0xff, 0xff, 0xff, 0xff]))
        channelCount = Int(bytes[22]) | Int(bytes[23]) << 8
        sampleRate = bytes[24..<28].reversed().reduce(0) { $0 << 8 | Int($1) }
        samples = [Float](unsafeUninitializedCapacity: (bytes.count - data.upperBound) / 4) { buffer, count in
            count = buffer.count
            UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes[data.upperBound...].prefix(4 * count))
        }
    }
}

/// The errors of a file that looks like sound and has no other decoder.
func undecoded(_ path: String) -> UndecodedFile { UndecodedFile(path: path, signature: .mpeg, reason: nil) }

/// The error of the decoder for a file that it refuses.
func failure(_ path: String, _ ffmpeg: FFmpegDecoder = FFmpegDecoder()) -> Problem? {
    #expect(throws: Problem.self) { try ffmpeg.decode(InputFile(path), undecoded(path), isCancelled: { false }) }
}

private func le(_ value: Int, _ count: Int = 4) -> BytePart {
    BytePart((0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
}

extension FileFixture {
    /// Encodes sines with ffmpeg.
    ///
    /// - Parameter recipe: The name of the file, and options of ffmpeg after a space.
    @discardableResult
    func encode(_ recipe: String, _ more: [String] = [], frames: Int = 200_001) throws -> String {
        let words = recipe.split(separator: " ").map(String.init)
        let sines = "aevalsrc='sin(2*PI*1000*t)/2|sin(2*PI*1100*t)/2':s=48000,aformat=s16,atrim=end_sample=\(frames)"
        try Program.ffmpeg.run(
            ["-v", "error", "-y", "-f", "lavfi", "-i", sines, "-strict", "-2", "-bitexact"] + words.dropFirst() + more + [path(words[0])])
        return path(words[0])
    }

    /// A file of 512 bytes, and a shell script that takes the place of ffmpeg.
    func fakeFFmpeg(_ lines: String) throws -> (path: String, ffmpeg: FFmpegDecoder) {
        let path = try write(Array("\0\0\0\u{20}ftypM4A ".utf8) + [UInt8](repeating: 0, count: 500), to: "-a:b.m4a")
        return (path, FFmpegDecoder(program: try writeScript(lines, to: "script"), probe: self.path("none")))
    }

    func append(_ bytes: [UInt8], to name: String, as other: String) throws -> String { try write(self.bytes(of: name) + bytes, to: other) }
}

@Suite(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed")) struct FFmpegFormatTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    @Test(arguments: [
        "a.m4a", "a.mp4 -movflags frag_keyframe+empty_moov", "a.mov -c:a pcm_s16le", "alac.m4a -c:a alac", "a.aac",
        "a.aac -write_id3v2 1", "a.latm -c:a aac", "a.mka", "aac.mka -c:a aac -ar 8000", "a.webm -c:a libopus", "a.wma",
        "wmav1.wma -c:a wmav1 -ar 8000", "a.avi",
        "a.flv -ar 44100", "a.mpg", "a.ts", "a.wv", "a.tta", "a.ac3", "a.eac3", "a.dts -c:a dca", "a.mlp", "a.thd",
        "a.rm -c:a real_144 -ar 8000 -ac 1", "ac3.rm -c:a ac3", "flac.ogg -c:a flac", "flac.mka -c:a flac",
        "a.wav -c:a wmav2", "a.w64 -c:a ac3", "a.caf -c:a alac", "mp3.mp4 -c:a mp3 -ar 22050", "opus.mp4 -c:a libopus",
    ])
    func `whole file: the samples that ffmpeg decodes without limits, the declared length, no damage`(recipe: String) throws {
        let path = try fixture.encode(recipe)
        try Program.ffmpeg.run(["-v", "error", "-i", path, "-c:a", "pcm_f32le", "-f", "f32le", fixture.path("expected")])
        let expected = try fixture.bytes(of: "expected").withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let recording = try FFmpegRecording(of: path)
        #expect(recording.samples.elementsEqual(expected.prefix(recording.samples.count)))
        #expect(expected.count / recording.channelCount - recording.frameCount <= 1184)
        #expect(recording.output.endDamage == nil)
        let declared = recording.output.declaredFrames ?? Int64(recording.frameCount)
        #expect(abs(declared - Int64(recording.frameCount)) <= recording.output.lengthTolerance)
    }

    @Test(arguments: [
        "a.m4a -c:a alac", "a.wv", "a.tta", "a.mka -c:a flac", "a.mov -c:a pcm_s24le", "a.thd", "a.ogg -c:a flac", "a.mp4 -c:a flac",
    ])
    func `lossless file: exactly the frames of the source`(recipe: String) throws {
        #expect(try FFmpegRecording(of: fixture.encode(recipe)).frameCount == 200_001)
    }

    /// The edit list of ffmpeg's files counts milliseconds.
    @Test(arguments: [8000, 22_050, 44_100, 48_000])
    func `AAC in MPEG-4: ends at the end of the edit list`(rate: Int) throws {
        let input = try fixture.write(WAVBytes.sines(rate: rate, frames: 100_001).bytes, to: "in.wav")
        try Program.ffmpeg.run(["-v", "error", "-i", input, fixture.path("a.m4a")])
        let recording = try FFmpegRecording(of: fixture.path("a.m4a"))
        #expect(abs(recording.frameCount - 100_001) <= rate / 1000)
    }

    @Test(arguments: ["a.ac3 -ac 6", "a.mka -c:a flac -ac 6"])
    func `six channels: the loudspeaker positions are in the header`(recipe: String) throws {
        let recording = try FFmpegRecording(of: fixture.encode(recipe))
        let head = recording.output.file.bytes(at: 0, count: 64)
        #expect(recording.channelCount == 6)
        // WAVE_FORMAT_EXTENSIBLE, and the mask of 5.1.
        #expect(Array(head[20..<22]) == [0xfe, 0xff] && [0x3f, 0x60f].contains(Int(head[40]) | Int(head[41]) << 8))
    }

    // MARK: - Sample rates

    /// The delays of encoder and decoder are 80, 223 and 509 frames.
    @Test(arguments: [(8000, 1), (8000, 8), (16_000, 1), (16_000, 8), (32_000, 3)])
    func `Speex with one and several frames a packet: without the delay of encoder and decoder, no damage`(rate: Int, count: Int) throws {
        let input = try fixture.write(WAVBytes.sines(rate: rate, frames: rate).bytes, to: "in.wav")
        let filter = ["-af", "adelay=20000S", "-c:a", "libspeex", "-b:a", "\(rate)", "-frames_per_packet", "\(count)"]
        try Program.ffmpeg.run(["-v", "error", "-y", "-i", input] + filter + [fixture.path("a.spx")])
        let recording = try FFmpegRecording(of: fixture.path("a.spx"))
        let onset = try #require(recording.samples.firstIndex { abs($0) > 0.1 })
        #expect(abs(onset - 20_000) < 40)
        #expect(abs(recording.frameCount - 20_000 - rate) < rate / 50, "\(recording.frameCount) frames")
        #expect(recording.output.endDamage == nil && recording.missingFrames == nil)
    }

    @Test(arguments: ["CRC error", "Extra bits CRC error"]) func `message about a wrong checksum: damage, unless it is one of spare bits`(
        text: String
    ) throws {
        let wav = try fixture.write(WAVBytes.sines(frames: 100).bytes, to: "a.wav")
        let (path, ffmpeg) = try fixture.fakeFFmpeg("echo '\(text)' >&2; exec cat '\(wav)'")
        let output = try ffmpeg.decode(InputFile(path), undecoded(path), isCancelled: { false })
        #expect(output.endDamage == (text.hasPrefix("CRC") ? .damagedFile : nil))
    }

    @Test(arguments: [
        (2_048_000, 256_000), (2_400_000, 300_000), (1_090_000, 272_500), (705_600, 352_800), (400_000, 200_000), (768_000, 384_000),
        (4000, 8000), (7350, 14_700), (384_000, 384_000),
    ])
    func `sample rate out of range: resampled by a whole factor`(rate: Int, expected: Int) throws {
        let recording = try FFmpegRecording(of: fixture.encode("a.wav -ar \(rate)", frames: 48_000))
        #expect(recording.sampleRate == expected)
        #expect(abs(recording.frameCount - expected) <= expected / 1000 && recording.output.declaredFrames == Int64(expected))
        #expect(
            abs(
                level(of: 1000, in: stride(from: 0, to: recording.samples.count, by: 2).map { recording.samples[$0] }, rate: expected) - 0.5
            ) < 0.01)
    }

    @Test(arguments: [(4000, 1, 8000), (6000, 50, 12_000), (1000, 7, 8000), (768_000, 5, 384_000)])
    func `few frames at a rate out of range: as many as the whole factor makes of them`(rate: Int, frames: Int, expected: Int) throws {
        let path = try fixture.write(WAVBytes.sines(rate: rate, frames: frames).bytes, to: "short.wav")
        let recording = try FFmpegRecording(of: path)
        #expect(recording.sampleRate == expected && abs(recording.frameCount - frames * expected / rate) <= 1)
    }

    @Test func `sample rate below 1 kHz: refused`() throws {
        let path = try fixture.write(WAVBytes.sines(rate: 999, frames: 5000).bytes, to: "a.wav")
        #expect(failure(path) == undecoded(path).notDecoded("its sample rate is 999 Hz"))
    }

    @Test(arguments: [(2_822_400, 352_800), (5_644_800, 352_800), (11_289_600, 352_800)])
    func `DSD: at most 384 kHz`(rate: Int, expected: Int) throws {
        let blocks = 20
        // DSF with one channel: blocks of 4096 bytes of the pattern of silence.
        let content: [UInt8] = bytes(
            "DSD ", le(28, 8), le(92 + blocks * 4096, 8), le(0, 8), "fmt ", le(52, 8), le(1), le(0), le(1),
            le(1), le(rate), le(1), le(blocks * 4096 * 8, 8), le(4096), le(0), "data",
            le(12 + blocks * 4096, 8))
        let path = try fixture.write(content + [UInt8](repeating: 0x69, count: blocks * 4096), to: "a.dsf")
        let recording = try FFmpegRecording(of: path)
        #expect(recording.sampleRate == expected)
        #expect(abs(recording.frameCount - blocks * 4096 * 8 / (rate / expected)) < 400)
        #expect(recording.output.endDamage == nil && recording.missingFrames == nil)
    }

    // MARK: - Tags

    @Test(arguments: ["a.m4a", "a.wma", "a.mka", "a.wv", "a.ogg -c:a flac", "a.spx -ar 16000", "a.aac -write_id3v2 1"])
    func `tags: all of them, with the year`(recipe: String) throws {
        let path = try fixture.encode(
            recipe + " -metadata title=\"q\\$=;x -metadata artist=Ärtist -metadata album=Al -metadata track=3/9 -metadata genre=Rock"
                + " -metadata date=1999-01-02")
        let tags = try FFmpegRecording(of: path).output.tags
        #expect(tags.title == "\"q\\$=;x" && tags.artist == "Ärtist" && tags.album == "Al")
        #expect(tags.track == "3/9" && tags.genre == "Rock" && tags.year == 1999)
    }

    @Test func `ffprobe not installed: decoded, without tags and declared length`() throws {
        let path = try fixture.encode("a.wv -metadata title=T")
        let recording = try FFmpegRecording(of: path, by: FFmpegDecoder(probe: fixture.path("none")))
        #expect(recording.frameCount == 200_001)
        #expect(recording.output.tags.isEmpty && recording.output.declaredFrames == nil)
    }
}

@Suite(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed")) struct FFmpegDamageTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    @Test(arguments: [
        "a.m4a -movflags faststart", "alac.m4a -c:a alac -movflags faststart", "a.mov -c:a pcm_s16le -movflags faststart",
        "a.flv -ar 44100",
        "a.wv", "a.tta", "a.mka", "flac.mka -c:a flac", "a.webm -c:a libopus", "ac3.rm -c:a ac3",
        "a.wav -c:a wmav2",
    ])
    func `file cut at 60 %: the missing length`(recipe: String) throws {
        try fixture.encode(recipe, frames: 960_001)
        let name = String(recipe.prefix { $0 != " " })
        let recording = try FFmpegRecording(of: fixture.cut(name, as: "cut-" + name))
        let total = 960_001 * recording.sampleRate / 48_000
        let missing = try #require(recording.missingFrames)
        #expect(recording.frameCount > total / 2 && recording.frameCount < total * 2 / 3)
        #expect(abs(recording.frameCount + missing - total) <= Int(recording.output.lengthTolerance))
    }

    @Test(arguments: ["a.spx -ar 16000", "a.ogg -c:a flac", "a.avi"])
    func `cut file without a declared length: truncated`(recipe: String) throws {
        try fixture.encode(recipe, frames: 960_001)
        let name = String(recipe.prefix { $0 != " " })
        let recording = try FFmpegRecording(of: fixture.cut(name, as: "cut-" + name))
        #expect(recording.frameCount > recording.sampleRate * 8)
        #expect(recording.output.endDamage == .truncatedFile)
    }

    @Test(arguments: [
        "a.aac", "a.m4a", "a.m4a -c:a alac", "a.wv", "a.tta", "a.ac3", "a.mka -c:a flac", "a.latm -c:a aac", "a.spx -ar 16000",
    ])
    func `damaged bytes in the middle: reported`(recipe: String) throws {
        let path = try fixture.encode(recipe, frames: 480_000)
        let name = String(recipe.prefix { $0 != " " })
        var bytes = try fixture.bytes(of: name)
        for index in bytes.count / 2..<bytes.count / 2 + 400 where index % 3 == 0 { bytes[index] ^= 0x5a }
        let recording = try FFmpegRecording(of: fixture.write(bytes, to: name))
        #expect(recording.frameCount > recording.sampleRate * 7, "\(path)")
        #expect(recording.output.endDamage == .damagedFile)
    }

    private static let id3v1 = Array("TAGSome title".utf8) + [UInt8](repeating: 0, count: 115)

    private static func ape(size: Int? = nil, hasHeader: Bool = true) -> [UInt8] {
        let item = bytes(le(8), le(0), "Title", .zeros(1), "From APE")
        func end(_ flags: Int) -> [UInt8] {
            bytes("APETAGEX", le(2000), le(size ?? item.count + 32), le(1), le(flags), .zeros(8))
        }
        return (hasHeader ? end(0xa000_0000) : []) + item + end(hasHeader ? 0x8000_0000 : 0)
    }

    @Test(
        arguments: ["a.wv", "a.ac3", "a.aac", "a.mka -c:a flac", "a.m4a -c:a alac"], [id3v1, ape(), ape() + id3v1])
    func `tag at the end: no damage, no sound`(recipe: String, tag: [UInt8]) throws {
        let whole = try FFmpegRecording(of: fixture.encode(recipe))
        let tagged = try FFmpegRecording(of: fixture.append(tag, to: String(recipe.prefix { $0 != " " }), as: "tagged"))
        #expect(tagged.samples == whole.samples)
        #expect(tagged.output.endDamage == nil && tagged.missingFrames == nil)
    }

    @Test(arguments: [ape(), ape(hasHeader: false), ape() + id3v1])
    func `APE tag after WavPack: reported`(tag: [UInt8]) throws {
        try fixture.encode("a.wv")
        let recording = try FFmpegRecording(of: fixture.append(tag, to: "a.wv", as: "b.wv"))
        #expect(recording.output.tags.title == "From APE" && recording.frameCount == 200_001 && recording.output.endDamage == nil)
    }

    @Test(arguments: [10_000, 31, 0, 1 << 30])
    func `APE tag with a wrong size: all of the sound`(size: Int) throws {
        try fixture.encode("a.wv")
        let recording = try FFmpegRecording(of: fixture.append(Self.ape(size: size, hasHeader: false), to: "a.wv", as: "b.wv"))
        #expect(recording.frameCount == 200_001)
    }

    @Test(arguments: [0, 8, 31]) func `nothing but an APE tag and an ID3v1 tag: refused`(count: Int) throws {
        let path = try fixture.write(Self.ape().suffix(32).prefix(count) + Self.id3v1, to: "a")
        #expect(throws: Problem.self) { try FFmpegRecording(of: path) }
    }

    @Test(arguments: ["a.aac", "a.latm -c:a aac", "a.ac3", "a.eac3", "a.dts -c:a dca", "a.thd"], [10, 1000])
    func `bytes before the first frame: all of the sound`(recipe: String, count: Int) throws {
        let whole = try FFmpegRecording(of: fixture.encode(recipe))
        let bytes = try fixture.bytes(of: String(recipe.prefix { $0 != " " }))
        let zeros = try FFmpegRecording(of: fixture.write([UInt8](repeating: 0, count: count) + bytes, to: "zeros"))
        #expect(abs(zeros.frameCount - whole.frameCount) <= 1024)
        let junk = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 7 ^ $0 >> 3) & 0x7f }
        let other = try FFmpegRecording(of: fixture.write(junk + bytes, to: "junk"))
        #expect(abs(other.frameCount - whole.frameCount) <= 1024)
    }

    @Test func `time stamps that jump back: both parts, no damage`() throws {
        let part = try FFmpegRecording(of: fixture.encode("a.ts"))
        let twice = try FFmpegRecording(of: fixture.append(fixture.bytes(of: "a.ts"), to: "a.ts", as: "b.ts"))
        #expect(twice.frameCount == 2 * part.frameCount && twice.output.endDamage == nil)
    }

    @Test func `cover picture that cannot be decoded: no damage`() throws {
        try Program.ffmpeg.run(["-v", "error", "-f", "lavfi", "-i", "testsrc=s=64x64:d=0.1", "-frames:v", "1", fixture.path("cover.png")])
        let path = try fixture.encode("a.m4a -i \(fixture.path("cover.png")) -map 0:a -map 1:v -c:v copy -disposition:v attached_pic")
        var bytes = try fixture.bytes(of: "a.m4a")
        let picture = try #require(bytes.firstRange(of: Array("IHDR".utf8)))
        for index in picture.upperBound..<picture.upperBound + 100 { bytes[index] ^= 0x5a }
        let recording = try FFmpegRecording(of: fixture.write(bytes, to: "b.m4a"))
        #expect(recording.output.endDamage == nil)
        #expect(try recording.frameCount == FFmpegRecording(of: path).frameCount)
    }
}

@Suite struct FFmpegFailureTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `cut MPEG-4 file whose index is at its end: says so`() throws {
        try fixture.encode("a.m4a")
        let path = try fixture.cut("a.m4a", as: "b.m4a")
        #expect(failure(path) == undecoded(path).notDecoded("it is truncated: its index (moov) is missing"))
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: ["ffprobe", "/nowhere/ffprobe"])
    func `video without sound: holds no audio`(probe: String) throws {
        try Program.ffmpeg.run(["-v", "error", "-f", "lavfi", "-i", "testsrc=s=64x64:d=1", fixture.path("a.mkv")])
        let path = fixture.path("a.mkv")
        #expect(
            failure(path, FFmpegDecoder(probe: probe))?.message
                == "\(path): looks like MPEG audio, but cannot be decoded (it holds no audio); show the messages of ffmpeg: "
                + "ffmpeg -protocol_whitelist file -i '\(path)' -f null -")
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `random bytes: refused`() throws {
        let path = try fixture.write((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }, to: "a")
        #expect(failure(path) == undecoded(path).notDecoded("its content is damaged or unknown"))
    }

    @Test func `ffmpeg not installed: says so`() throws {
        let path = try fixture.write([1, 2, 3], to: "a.m4a")
        #expect(failure(path, FFmpegDecoder(program: fixture.path("none"), probe: fixture.path("none"))) == undecoded(path).withoutFFmpeg)
    }

    @Test(.mayNotHang, arguments: [true, false])
    func `program that does not end: killed when the run is cancelled`(isProbe: Bool) throws {
        let pid = fixture.path("pid")
        let (path, slow) = try fixture.fakeFFmpeg("echo $$ > '\(pid)'\nexec sleep 1000")
        let ffmpeg = isProbe ? FFmpegDecoder(program: fixture.path("none"), probe: slow.program) : slow
        #expect(throws: Problem("\(path): interrupted during decoding", remedy: .finish)) {
            try ffmpeg.decode(
                InputFile(path), undecoded(path), isCancelled: { (try? Data(contentsOf: URL(fileURLWithPath: pid)))?.last == 0x0a })
        }
        let number = try #require(pid_t(String(contentsOfFile: pid, encoding: .utf8).trimmingCharacters(in: .newlines)))
        #expect(kill(number, 0) == -1 && errno == ESRCH)
    }

    @Test(.mayNotHang) func `full temporary folder: its name`() throws {
        let (path, ffmpeg) = try fixture.fakeFFmpeg("echo 'av_interleaved_write_frame(): No space left on device' >&2; exit 1")
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        #expect(
            failure(path, ffmpeg)?.message
                == "\(path): no space left in \(folder) for the decoded sound; set TMPDIR to a folder with more space")
    }

    @Test(.mayNotHang) func `ffmpeg killed by a signal: its number`() throws {
        let (path, ffmpeg) = try fixture.fakeFFmpeg("kill -9 $$")
        #expect(
            failure(path, ffmpeg)?.message
                == "\(path): ffmpeg was killed by signal 9 while decoding; free memory and try again, or show its messages: "
                + "ffmpeg -protocol_whitelist file -i '\(path)' -f null -")
    }

    @Test(.mayNotHang) func `ffmpeg that prints errors without end: refused in one line of ours`() throws {
        let (path, ffmpeg) = try fixture.fakeFFmpeg("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1")
        #expect(failure(path, ffmpeg) == undecoded(path).notDecoded("its content is damaged or unknown"))
    }
}
