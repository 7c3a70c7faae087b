import Foundation
import Hemiola
import TestSupport
import Testing

@testable import FileCapture

@Suite struct FileCaptureTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    @Test func `SPEC with a path: a capture that is not live and is rewindable`() throws {
        let path = try fixture.write(WAVBytes.sines(frames: 100).bytes, to: "a.wav")
        let capture = try CapturePlugin.file.make(CapturePlugin.file.about.values(parsing: "file:\(path)"))
        #expect(!capture.isLive)
        #expect(capture is any RewindableCapture)
        let source = try capture.open(FormatRequest(sampleRate: 96_000, channelCount: 7))
        #expect(source.format == StreamFormat(sampleRate: 48_000, channelCount: 1), "the requested format is ignored")
        #expect(source.kind == "file")
        #expect(source.name == path)
        capture.close()
    }

    @Test func `SPEC without a path: a configuration error`() throws {
        let values = try CapturePlugin.file.about.values(parsing: "file")
        let error = #expect(throws: Problem.self) { try CapturePlugin.file.make(values) }
        #expect(error?.description == "path: no file is given; write file:PATH")
    }

    @Test(arguments: WAVBytes.Encoding.allCases, [1, 2, 32])
    func `WAV of every encoding and 1, 2 or 32 channels: the samples are those written`(encoding: WAVBytes.Encoding, channels: Int) throws {
        var wav = WAVBytes.sines(channels: channels, rate: 44_100, frames: 5000, level: 1)
        wav.encoding = encoding
        let recording = try Recording(of: fixture.write(wav.bytes, to: "a.wav"))
        #expect(recording.source.format == StreamFormat(sampleRate: 44_100, channelCount: channels))
        #expect(recording.source.duration == 5000.0 / 44_100)
        #expect(recording.others == [.end])
        #expect(recording.frameCount == 5000)
        let worst = zip(recording.samples, wav.samples).map { abs($0 - $1) }.max() ?? 1
        #expect(worst <= 2 * encoding.step)
    }

    @Test(arguments: [1, 2], [1, 5, 8, 1023, 100_000])
    func `16-bit samples: each value divided by 32768, for any read size`(channels: Int, room: Int) throws {
        let values = (Int16.min ... .max).map { $0 &* 25_173 &+ 13_849 }
        let wav = WAVBytes(samples: Array(repeating: 0, count: values.count), channelCount: channels)
        let bytes = wav.bytes.dropLast(2 * values.count) + values.flatMap { WAVBytes.little($0) }
        let recording = try Recording(of: fixture.write(Array(bytes), to: "a.wav"), room: room)
        #expect(recording.samples == values.map { Float($0) / 32_768 })
    }

    @Test func `floating-point samples: not clipped, NaN and infinity unchanged`() throws {
        var wav = WAVBytes(samples: [0.5, 2, -300, .nan, .infinity, -.infinity, -0.0, .leastNonzeroMagnitude])
        wav.encoding = .float32
        let recording = try Recording(of: fixture.write(wav.bytes, to: "a.wav"))
        #expect(recording.samples.map(\.bitPattern) == wav.samples.map(\.bitPattern))
    }

    @Test(arguments: [8_000, 384_000]) func `lowest and highest sample rate: every frame is delivered`(rate: Int) throws {
        let recording = try Recording(of: fixture.write(WAVBytes.sines(rate: rate, frames: 100).bytes, to: "a.wav"))
        #expect(recording.source.format.sampleRate == rate)
        #expect(recording.frameCount == 100)
    }

    @Test(arguments: [1, 7, 1023, 1024, 1025, 100_000]) func `any size of the reader's buffer: the same samples`(room: Int) throws {
        let wav = WAVBytes.sines(channels: 2, frames: 10_000)
        let recording = try Recording(of: fixture.write(wav.bytes, to: "a.wav"), room: room)
        let whole = try Recording(of: fixture.path("a.wav"))
        #expect(recording == whole)
        #expect(recording.frameCount == 10_000)
    }

    @Test func `file without frames: an error`() throws {
        let recording = try Recording(of: fixture.write(WAVBytes(samples: []).bytes, to: "a.wav"))
        #expect(recording.source.duration == 0)
        #expect(recording.error?.contains("none of its sound can be decoded") == true)
        #expect(recording.others.isEmpty && recording.samples.isEmpty)
    }

    @Test func `read after the end: the end again`() throws {
        let path = try fixture.write(WAVBytes.sines(frames: 10).bytes, to: "a.wav")
        let capture = FileCapture(path)
        let source = try capture.open(FormatRequest())
        #expect(Recording(source, capture).others == [.end])
        #expect(Recording(source, capture).others == [.end])
        capture.close()
    }

    @Test func `chunks before and after the audio, and other data: not delivered`() throws {
        var wav = WAVBytes.sines(frames: 1001)
        wav.chunksBefore = [("LIST", Array("INFOISFT....odd".utf8)), ("junk", [1, 2, 3])]
        wav.chunksBehind = [("LIST", [UInt8](repeating: 0x55, count: 999)), ("id3 ", [UInt8](repeating: 0x77, count: 500))]
        let garbage = (0..<3001).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        let recording = try Recording(of: fixture.write(wav.bytes + garbage, to: "a.wav"))
        #expect(recording.frameCount == 1001)
        #expect(recording.others == [.end])
    }

    @Test func `ID3 tag before a WAV: skipped`() throws {
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 1, 0] + [UInt8](repeating: 0xff, count: 128)
        let recording = try Recording(of: fixture.write(tag + WAVBytes.sines(frames: 1000).bytes, to: "a.wav"))
        #expect(recording.frameCount == 1000)
        #expect(abs(level(of: 1000, in: recording.channel(0), rate: 48_000) - 0.5) < 0.01)
    }

    @Test func `names with spaces, quotes, line breaks and non-ASCII characters: opened`() throws {
        for name in ["with space.wav", "käse – 音楽.wav", "new\nline.wav", "-dash.wav", "it's \"quoted\".wav", "a=b,c:d.wav"] {
            let recording = try Recording(of: fixture.write(WAVBytes.sines(frames: 10).bytes, to: name))
            #expect(recording.frameCount == 10)
            #expect(recording.source.name.hasSuffix(name))
        }
    }

    // MARK: Formats

    /// The command that converts a WAV (two channels, 48 kHz, two seconds) to one format.
    struct Recipe: CustomTestStringConvertible, Sendable {
        var name: String
        var program: Program
        var arguments: [String]
        /// Frames that encoder and decoder may add or lose.
        var padding = 0
        /// Maximum error of the measured amplitude.
        var tolerance = 0.001

        var testDescription: String { name }

        static let all = [
            Recipe(name: "a.flac", program: .flac, arguments: ["-s", "-f", "-o", "OUT", "IN"]),
            Recipe(name: "sox.flac", program: .sox, arguments: ["IN", "OUT"]),
            Recipe(name: "a.aiff", program: .sox, arguments: ["IN", "OUT"]),
            Recipe(name: "a.au", program: .sox, arguments: ["IN", "OUT"]),
            Recipe(name: "a.caf", program: .sox, arguments: ["IN", "OUT"]),
            Recipe(name: "a.w64", program: .sox, arguments: ["IN", "OUT"]),
            Recipe(name: "24.wav", program: .sox, arguments: ["IN", "-b", "24", "OUT"]),
            Recipe(name: "float.aifc", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "pcm_f32be", "-f", "aiff", "OUT"]),
            Recipe(name: "rf64.wav", program: .ffmpeg, arguments: ["-i", "IN", "-rf64", "always", "OUT"]),
            Recipe(name: "law.wav", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "pcm_alaw", "OUT"], tolerance: 0.03),
            Recipe(
                name: "adpcm.wav", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "adpcm_ms", "OUT"], padding: 2048, tolerance: 0.03),
            Recipe(name: "vorbis.ogg", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "libvorbis", "OUT"], tolerance: 0.03),
            Recipe(name: "a.opus", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "libopus", "OUT"], padding: 960, tolerance: 0.03),
            Recipe(name: "a.mp3", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "libmp3lame", "OUT"], padding: 2304, tolerance: 0.03),
            Recipe(
                name: "untagged.mp3", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "libmp3lame", "-write_xing", "0", "OUT"],
                padding: 4608, tolerance: 0.03),
            Recipe(name: "a.mp2", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "mp2", "OUT"], padding: 2304, tolerance: 0.03),
        ]

        static func of(_ program: Program) -> [Recipe] { all.filter { $0.program == program } }

        func make(in fixture: FileFixture, from wav: WAVBytes? = nil) throws -> String {
            let wav = wav ?? WAVBytes.sines(channels: 2, frames: 96_000)
            let input = try fixture.write(wav.bytes, to: "input.wav")
            let output = fixture.path(name)
            let quiet = program == .ffmpeg ? ["-v", "error", "-y"] : []
            try program.run(quiet + arguments.map { $0 == "IN" ? input : $0 == "OUT" ? output : $0 })
            return output
        }
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"), arguments: Recipe.of(.flac))
    func `file of flac: format, length, content and rewind`(recipe: Recipe) throws { try check(recipe) }

    @Test(.enabled(if: Program.sox.isRequired, "sox is not installed"), arguments: Recipe.of(.sox))
    func `file of sox: format, length, content and rewind`(recipe: Recipe) throws { try check(recipe) }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: Recipe.of(.ffmpeg))
    func `file of ffmpeg: format, length, content and rewind`(recipe: Recipe) throws { try check(recipe) }

    /// Format, length, content, and the same bits after a rewind.
    private func check(_ recipe: Recipe) throws {
        let capture = FileCapture(try recipe.make(in: fixture))
        let source = try capture.open(FormatRequest())
        defer { capture.close() }
        let recording = Recording(source, capture)
        #expect(source.format == StreamFormat(sampleRate: 48_000, channelCount: 2))
        #expect(recording.others == [.end])
        #expect(abs(recording.frameCount - 96_000) <= recipe.padding)
        if let duration = source.duration {
            #expect(duration == Double(recording.frameCount) / 48_000)
        } else {
            #expect(recipe.name == "untagged.mp3" || recipe.name == "a.mp2")
        }
        for (channel, frequency) in [1000.0, 1100].enumerated() {
            let measured = level(of: frequency, in: recording.channel(channel), rate: 48_000)
            #expect(abs(measured - 0.5) <= recipe.tolerance, "\(frequency) Hz at \(measured)")
        }
        try capture.rewind()
        let again = Recording(source, capture)
        #expect(again.samples.map(\.bitPattern) == recording.samples.map(\.bitPattern))
        #expect(again.others == recording.others)
        // A rewind in the middle.
        try capture.rewind()
        var buffer = [Float](repeating: 0, count: 2 * 1024)
        for _ in 0..<20 {
            var span = buffer.mutableSpan
            _ = try capture.read(into: &span)
        }
        try capture.rewind()
        #expect(Recording(source, capture).samples.map(\.bitPattern) == recording.samples.map(\.bitPattern))
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `MP3 of variable bit rate without a length tag: delivered to its end`() throws {
        // Noise first, then silence: by the size of the first frame the length would be far too short.
        var wav = WAVBytes.sines(frames: 48_000 * 8)
        var seed: UInt64 = 7
        for index in 0..<48_000 * 2 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            wav.samples[index] = Float(seed >> 40) / Float(1 << 24) - 0.5
        }
        for index in 48_000 * 2..<48_000 * 7 { wav.samples[index] = 0 }
        let recipe = Recipe(
            name: "vbr.mp3", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "libmp3lame", "-q:a", "0", "-write_xing", "0", "OUT"])
        let recording = try Recording(of: recipe.make(in: fixture, from: wav))
        #expect(abs(recording.frameCount - 48_000 * 8) <= 4608)
        #expect(recording.others == [.end])
        #expect(abs(level(of: 1000, in: Array(recording.samples.suffix(40_000)), rate: 48_000) - 0.5) < 0.02)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `concatenated MP3 files: delivered to the end of the last`() throws {
        let recipe = Recipe(name: "a.mp3", program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "libmp3lame", "OUT"])
        let one = try fixture.bytes(of: URL(fileURLWithPath: recipe.make(in: fixture)).lastPathComponent)
        let recording = try Recording(of: fixture.write(one + one, to: "two.mp3"))
        #expect(abs(recording.frameCount - 2 * 96_000) <= 4 * 2304)
        #expect(recording.others == [.end])
        let tag = Array("TAG".utf8) + [UInt8](repeating: 0, count: 125)
        #expect(try Recording(of: fixture.write(one + tag, to: "tagged.mp3")).frameCount == 96_000)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `chained Ogg: every link is delivered, a link of another format after a format change`() throws {
        func link(_ name: String, _ wav: WAVBytes) throws -> [UInt8] {
            let recipe = Recipe(name: name, program: .ffmpeg, arguments: ["-i", "IN", "-c:a", "libvorbis", "OUT"])
            _ = try recipe.make(in: fixture, from: wav)
            return try fixture.bytes(of: name)
        }
        let stereo = try link("stereo.ogg", .sines(channels: 2, frames: 30_000))
        let mono = try link("mono.ogg", .sines(rate: 44_100, frames: 20_000))
        let same = try Recording(of: fixture.write(stereo + stereo, to: "same.ogg"))
        #expect(same.frameCount == 60_000)
        #expect(same.others == [.end])
        #expect(same.source.duration == nil)
        let capture = FileCapture(try fixture.write(stereo + mono, to: "mixed.ogg"))
        let source = try capture.open(FormatRequest())
        defer { capture.close() }
        let mixed = Recording(source, capture)
        #expect(mixed.others == [.format(StreamFormat(sampleRate: 44_100, channelCount: 1)), .end])
        #expect(mixed.samples.count == 2 * 30_000 + 20_000)
        try capture.rewind()
        #expect(Recording(source, capture) == mixed)
    }
}
