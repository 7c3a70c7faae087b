import Hemiola
import Testing

@testable import HemiolaPCM
@testable import PCMCapture

@Suite struct WAVHeaderTests {
    static let encodings: [PCMEncoding] = [.u8, .s16le, .s24le, .s32le, .f32le, .f64le]
    static let bigEncodings: [PCMEncoding] = [.u8, .s16be, .s24be, .s32be, .f32be, .f64be]
    /// 200 frames of mono.
    static let bytes: [UInt8] = (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 37) }

    @Test(arguments: encodings, [false, true])
    func `WAV of every encoding: samples, format and duration`(encoding: PCMEncoding, isExtensible: Bool) throws {
        let (bytes, floats) = samples(of: encoding)
        let wav = WAVBytes(encoding: encoding, sampleRate: 22_050, isExtensible: isExtensible, samples: bytes)
        let recording = try record(wav.bytes)
        #expect(recording.bits == floats.map(\.bitPattern))
        #expect(recording.source.format == StreamFormat(sampleRate: 22_050, channelCount: 1))
        #expect(recording.source.duration == Double(floats.count) / 22_050)
    }

    @Test(arguments: bigEncodings)
    func `RIFX: big-endian header and samples`(encoding: PCMEncoding) throws {
        let (bytes, floats) = samples(of: encoding)
        let recording = try record(WAVBytes(magic: "RIFX", encoding: encoding, samples: bytes).bytes)
        #expect(recording.bits == floats.map(\.bitPattern))
    }

    @Test(arguments: 1...32)
    func `1 to 32 channels: in their order`(channelCount: Int) throws {
        let values = (0..<(channelCount * 100)).map { Int16($0) }
        let wav = WAVBytes(channelCount: channelCount, samples: values.flatMap { $0.bytes() })
        let recording = try record(wav.bytes, fragment: 999, frames: 33)
        #expect(recording.source.format.channelCount == channelCount)
        #expect(recording.samples == values.map { Float($0) / 32_768 })
    }

    @Test(arguments: ["RIFF", "RIFX"])
    func `extensible format with a channel mask: the positions of the channels`(magic: String) throws {
        let encoding: PCMEncoding = magic == "RIFX" ? .s16be : .s16le
        let samples = [UInt8](repeating: 0, count: 6 * 2 * 10)
        func map(_ mask: Int, isExtensible: Bool = true) throws -> ChannelMap? {
            let wav = WAVBytes(
                magic: magic, encoding: encoding, channelCount: 6, isExtensible: isExtensible, mask: mask, samples: samples)
            return try record(wav.bytes).source.format.channelMap
        }
        #expect(try map(0x60f)?.names == ["FL", "FR", "FC", "LFE", "SL", "SR"])
        #expect(try map(0) == nil)
        #expect(try map(0x60f, isExtensible: false) == nil)
    }

    @Test func `20 bits in three bytes: read as 24 bits`() throws {
        let (bytes, floats) = samples(of: .s24le)
        let wav = WAVBytes(encoding: .s24le, bits: 20, isExtensible: true, samples: bytes)
        #expect(try record(wav.bytes).samples == floats)
    }

    @Test func `chunks before the samples, of odd size or long: skipped`() throws {
        let wav = WAVBytes(
            before: [("LIST", Array("data1".utf8)), ("JUNK", Array(repeating: 0xff, count: 300_001)), ("fact", [1, 2, 3, 4])],
            samples: Self.bytes)
        let recording = try record(wav.bytes)
        #expect(recording.bits == (try record(Self.bytes, "pcm:raw=s16le:44100:1")).bits)
        #expect(recording.gaps.isEmpty)
    }

    @Test func `chunks after the samples: ignored`() throws {
        let wav = WAVBytes(after: [("LIST", Array(repeating: 0x7f, count: 150_000))], samples: Self.bytes)
        let recording = try record(wav.bytes)
        #expect(recording.samples.count == 200)
        #expect(recording.gaps.isEmpty)
    }

    @Test(
        arguments: [
            0xffff_ffff, 0x7fff_f000, 0x7fff_ffff, 0x7fff_ff00, 0x8000_0000, 0x7fff_effc, 0xffff_ffdb, 0x7f00_0000, 0,
        ] as [UInt32])
    func `placeholder length: read to the end`(length: UInt32) throws {
        let wav = WAVBytes(declaredLength: length, declaredTotal: length == 0 ? 0 : 0xffff_ffff, samples: Self.bytes)
        let recording = try record(wav.bytes)
        #expect(recording.samples.count == 200)
        #expect(recording.source.duration == nil)
        #expect(recording.gaps.isEmpty)
    }

    @Test func `length of 0 with chunks after it: no samples`() throws {
        let recording = try record(WAVBytes(after: [("LIST", [1, 2, 3, 4])]).bytes)
        #expect(recording.samples.isEmpty)
        #expect(recording.source.duration == 0)
    }

    @Test(arguments: ["RF64", "BW64"])
    func `RF64 and BW64: the length of ds64`(magic: String) throws {
        let wav = WAVBytes(
            magic: magic, after: [("LIST", Array(repeating: 9, count: 64))], declaredLength: 0xffff_ffff, declaredTotal: 0xffff_ffff,
            wideLength: 400, samples: Self.bytes)
        let recording = try record(wav.bytes)
        #expect(recording.samples.count == 200)
        #expect(recording.source.duration == 200.0 / 44_100)
    }

    @Test(arguments: [0, .max, 1 << 42] as [UInt64])
    func `RF64 with an implausible length in ds64: read to the end`(length: UInt64) throws {
        let wav = WAVBytes(
            magic: "RF64", declaredLength: 0xffff_ffff, declaredTotal: 0xffff_ffff, wideLength: length, samples: Self.bytes)
        let recording = try record(wav.bytes)
        #expect(recording.samples.count == 200)
        #expect(recording.source.duration == nil)
    }

    @Test(arguments: [(6, "A-law"), (0x11, "IMA ADPCM"), (0x55, "MP3"), (0x2000, "format 0x2000")])
    func `unsupported codec in a WAV stream: refused with its name`(tag: Int, name: String) {
        let message = failure(WAVBytes(tag: tag, samples: Self.bytes).bytes)
        #expect(message.hasPrefix("standard input: this WAV stream holds "))
        #expect(message.contains(name) && message.contains("ffmpeg -v error -i - -f wav - | hemiola analyze -"))
    }

    @Test func `unsupported sample size: refused`() {
        let wide = WAVBytes(encoding: .f32le, tag: 1, bits: 64, samples: Self.bytes)
        #expect(failure(wide.bytes).contains("64-bit integer samples"))
        let half = WAVBytes(encoding: .s16le, tag: 3, samples: Self.bytes)
        #expect(failure(half.bytes).contains("16-bit float samples"))
    }

    @Test func `0 channels or 0 Hz: refused`() {
        #expect(failure(WAVBytes(channelCount: 0, samples: Self.bytes).bytes).contains("0 channels"))
        #expect(failure(WAVBytes(sampleRate: 0, samples: Self.bytes).bytes).contains("at 0 Hz"))
    }

    @Test(arguments: [(4_000, 2), (768_000, 2), (48_000, 33), (48_000, 65_535)])
    func `sample rate or channels outside the range: refused with the ffmpeg command`(sampleRate: Int, channelCount: Int) {
        let wav = WAVBytes(encoding: .u8, sampleRate: sampleRate, channelCount: channelCount, samples: Self.bytes)
        let message = failure(wav.bytes)
        #expect(message.hasPrefix("standard input: \(sampleRate) Hz and \(channelCount) channels are outside 8000...384000 Hz"))
        #expect(message.contains("-ar 48000 -ac 2"))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `fuzzed headers: an error or samples, no crash`(seed: UInt64) throws {
        var state = seed &* 0x9e37_79b9_7f4a_7c15
        func random(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        let whole = WAVBytes(
            magic: seed % 2 == 0 ? "RF64" : "RIFF", isExtensible: true, before: [("LIST", [1, 2, 3])], declaredLength: .max,
            wideLength: 400, samples: Self.bytes
        ).bytes
        for _ in 0..<20 {
            var bytes = whole
            for _ in 0...random(below: 4) {
                bytes[4 + random(below: whole.count - 404)] = UInt8([0, 255, random(below: 256)][random(below: 3)])
            }
            let file = TemporaryFile(bytes)
            guard let recording = try? Recording(PCMReader(settings("pcm:\(file.path)"))) else { continue }
            #expect(recording.samples.count <= bytes.count, "with seed \(seed)")
        }
    }

    @Test func `header truncated at any byte: refused`() {
        let wav = WAVBytes(before: [("LIST", [1, 2, 3, 4, 5])], samples: Self.bytes).bytes
        for length in 12..<(wav.count - Self.bytes.count) {
            #expect(failure(Array(wav[..<length])).contains("this WAV stream ends within its header"), "after \(length) bytes")
        }
    }

    @Test func `data chunk before the format: refused`() {
        let bytes = Array("RIFF\u{24}\0\0\0WAVEdata\u{4}\0\0\0abcd".utf8)
        #expect(failure(bytes).contains("its data before its format"))
    }
}
