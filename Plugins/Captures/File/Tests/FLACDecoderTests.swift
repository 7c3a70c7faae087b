import Foundation
import Hemiola
import Testing

@testable import FileCapture

/// Expected samples are the integers that `flac` encoded, as FLAC is lossless; one test compares them with what ffmpeg decodes, whose
/// decoder is its own. `flac -d` is no second opinion: it uses libFLAC.
@Suite struct FLACDecoderTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    /// What a decoder delivers.
    private struct Decoded {
        var samples: [Float] = []
        /// All deliveries other than frames, each with the number of samples before it.
        var others: [(before: Int, ReadResult)] = []
        var format: StreamFormat
        /// At the end.
        var declared: Int64?
        var present: Int64?
        var endDamage: Gap.Reason?
        var tags: SoundTags

        init(_ path: String, isOgg: Bool = false, room: Int = 1000, from start: Int64 = 0) throws {
            let file = try InputFile(path)
            let decoder = try FLACDecoder(file, start..<file.size, isOgg: isOgg)
            (format, present, tags) = (decoder.format, decoder.presentFrames, decoder.tags)
            var buffer = [Float](repeating: 0, count: room * 8)
            while true {
                let channels = decoder.format.channelCount
                var span = buffer.mutableSpan
                var part = span._mutatingExtracting(0..<room * channels)
                let result = try decoder.read(into: &part)
                if case .frames(let count) = result {
                    samples += buffer[..<(count * channels)]
                    continue
                }
                others.append((samples.count, result))
                if result == .end { break }
            }
            (declared, endDamage) = (decoder.declaredFrames, decoder.endDamage)
        }

        var gaps: [Gap] {
            others.compactMap {
                if case .gap(let gap) = $0.1 { return gap }
                return nil
            }
        }
    }

    /// Noise and a sine, so that frames differ: raw little-endian integers of a whole number of bytes.
    private func integers(_ count: Int, bits: Int) -> [Int32] {
        var state: UInt32 = 1
        return (0..<count).map { index in
            state = state &* 1_664_525 &+ 1_013_904_223
            let noise = Double(Int32(bitPattern: state)) / 2_147_483_648 * 0.1
            let scale = Double(1 << (bits - 1)) - 1
            return Int32(((sin(Double(index) * 0.01) * 0.8 + noise) * scale).rounded())
        }
    }

    /// A WAV file of integers, in the upper bits of their bytes. Encoders take other numbers of bits than 8, 16, 24 and 32 from it only.
    private func wav(_ values: [Int32], bits: Int, channels: Int, rate: Int) -> [UInt8] {
        let size = (bits + 7) / 8
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        let guid: [UInt8] = [1, 0, 0, 0, 0, 0, 16, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        var format = number(0xfffe, 2) + number(channels, 2) + number(rate, 4) + number(rate * channels * size, 4)
        format += number(channels * size, 2) + number(8 * size, 2) + number(22, 2) + number(bits, 2)
        format += number(0, 4) + guid
        let data = values.flatMap { number(Int($0) << (8 * size - bits) + (size == 1 ? 128 : 0), size) }
        let content = Array("WAVEfmt ".utf8) + number(format.count, 4) + format + Array("data".utf8) + number(data.count, 4) + data
        return Array("RIFF".utf8) + number(content.count, 4) + content
    }

    /// Encodes integers with `flac`.
    private func encode(
        _ values: [Int32], as name: String, bits: Int = 16, channels: Int = 2, rate: Int = 44_100, _ options: [String] = []
    ) throws {
        try fixture.write(wav(values, bits: bits, channels: channels, rate: rate), to: "a.wav")
        let output = ["-o", fixture.path(name), fixture.path("a.wav")]
        try Program.flac.run(["-s", "-f", "--no-padding", "--lax", "--channel-map=none"] + options + output)
    }

    private func floats(_ values: [Int32], bits: Int = 16) -> [Float] { values.map { Float($0) / Float(1 << (bits - 1)) } }

    // MARK: Intact

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"), arguments: [4, 8, 12, 16, 20, 24, 32], [1, 2, 3, 8])
    func `every bit depth and number of channels: the integers over a power of two`(bits: Int, channels: Int) throws {
        let values = integers(10_000 * channels, bits: bits)
        try encode(values, as: "a.flac", bits: bits, channels: channels)
        let decoded = try Decoded(fixture.path("a.flac"))
        #expect(decoded.samples == floats(values, bits: bits))
        #expect(decoded.others.map(\.1) == [.end])
        #expect(decoded.format.sampleRate == 44_100 && decoded.format.channelCount == channels)
        #expect(decoded.declared == 10_000 && decoded.present == 10_000 && decoded.endDamage == nil)
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"), arguments: [1, 7, 4096, 100_000])
    func `any size of the buffer: the same samples`(room: Int) throws {
        let values = integers(20_000, bits: 16)
        for (name, options) in [("a.flac", []), ("a.oga", ["--ogg"])] {
            try encode(values, as: name, options)
            #expect(try Decoded(fixture.path(name), isOgg: name == "a.oga", room: room).samples == floats(values))
        }
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `tags and the mask of channels: those of the comments, native and in Ogg`() throws {
        let options = ["-T", "TITLE=t", "-T", "artist=a", "-T", "DATE=1999", "-T", "WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x107"]
        for (name, ogg) in [("a.flac", []), ("a.oga", ["--ogg"])] {
            try encode(integers(4000, bits: 16), as: name, channels: 4, ogg + options)
            let decoded = try Decoded(fixture.path(name), isOgg: !ogg.isEmpty)
            #expect(decoded.tags.title == "t" && decoded.tags.artist == "a" && decoded.tags.year == 1999)
            #expect(decoded.format.channelMap?.names == ["FL", "FR", "FC", "BC"])
            try encode(integers(4000, bits: 16), as: name, channels: 4, ogg)
            #expect(try Decoded(fixture.path(name), isOgg: !ogg.isEmpty).format.channelMap?.names == ["FL", "FR", "BL", "BR"])
        }
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired && Program.flac.isRequired))
    func `files of two encoders, native and in Ogg: what was encoded, and what ffmpeg decodes`() throws {
        try encode(integers(200_000, bits: 16), as: "flac.flac")
        try encode(integers(200_000, bits: 16), as: "flac.oga", ["--ogg"])
        for name in ["ffmpeg.flac", "ffmpeg.oga"] {
            try Program.ffmpeg.run(["-i", fixture.path("a.wav"), "-c:a", "flac", fixture.path(name)])
        }
        for name in ["flac.flac", "flac.oga", "ffmpeg.flac", "ffmpeg.oga"] {
            let decoded = try Decoded(fixture.path(name), isOgg: name.hasSuffix("oga"))
            try Program.ffmpeg.run(["-y", "-i", fixture.path(name), "-f", "f32le", fixture.path("a.f32")])
            let reference = try fixture.bytes(of: "a.f32").withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            #expect(decoded.samples == reference && decoded.samples == floats(integers(200_000, bits: 16)))
            #expect(decoded.others.map(\.1) == [.end] && decoded.endDamage == nil)
            #expect(decoded.declared ?? 100_000 == 100_000 && decoded.present == decoded.declared)
        }
    }

    // MARK: Lengths

    /// Replaces the length that STREAMINFO declares.
    private func declare(_ count: Int, in bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes[21] = bytes[21] & 0xf0 | UInt8(count >> 32)
        for index in 0..<4 { bytes[22 + index] = UInt8(truncatingIfNeeded: count >> (24 - 8 * index)) }
        return bytes
    }

    private func flac(_ values: [Int32], rate: Int = 44_100, channels: Int = 2, _ options: [String] = []) throws -> [UInt8] {
        try encode(values, as: "a.flac", channels: channels, rate: rate, options)
        return try fixture.bytes(of: "a.flac")
    }

    private func decoded(_ bytes: [UInt8], isOgg: Bool = false, room: Int = 1000) throws -> Decoded {
        try Decoded(fixture.write(bytes, to: "b.flac"), isOgg: isOgg, room: room)
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `a declared length that is half, double or none: all samples`() throws {
        let values = integers(100_000, bits: 16)
        let bytes = try flac(values)
        for (declared, present) in [(25_000, 25_000), (100_000, nil), (0, nil)] as [(Int, Int64?)] {
            let decoded = try decoded(declare(declared, in: bytes))
            #expect(decoded.samples == floats(values) && decoded.others.map(\.1) == [.end] && decoded.endDamage == nil)
            #expect(decoded.declared == (declared == 0 ? nil : Int64(declared)) && decoded.present == present)
        }
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `tags or junk after the end: no sound and no damage`() throws {
        let values = integers(100_000, bits: 16)
        let bytes = try flac(values)
        let id3 = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
        let ape = Array("APETAGEX".utf8) + [0xd0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
        let noise = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        for junk in [id3, ape + id3, [UInt8](repeating: 0, count: 100_000), noise] {
            for declared in [50_000, 0] {
                let decoded = try decoded(declare(declared, in: bytes) + junk)
                #expect(decoded.samples == floats(values) && decoded.others.map(\.1) == [.end] && decoded.endDamage == nil)
            }
        }
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `a cut frame at the end: truncated, where no length is declared`() throws {
        let values = integers(100_000, bits: 16)
        let bytes = try flac(values)
        for cut in [1, 100, 2000] {
            let decoded = try decoded(declare(0, in: bytes).dropLast(cut))
            #expect(decoded.samples == Array(floats(values).prefix(2 * 49_152)))
            #expect(decoded.others.map(\.1) == [.end] && decoded.endDamage == .truncatedFile)
            #expect(try self.decoded(bytes.dropLast(cut)).present == nil)
        }
    }

    // MARK: Damage

    /// The places of the frames of a native file of the encoder `flac`, by its codes of synchronisation.
    private func frames(of bytes: [UInt8]) -> [Int] {
        // All frames of fixed size have the same first four bytes, the fifth and sixth are the number.
        let first = (42..<bytes.count - 4).first { bytes[$0] == 0xff && bytes[$0 + 1] == 0xf8 }!
        return (first..<bytes.count - 4).filter { bytes[$0..<$0 + 3] == bytes[first..<first + 3] }
    }

    /// The samples with silence for the gaps.
    private func filled(_ decoded: Decoded) -> [Float] {
        var (samples, start): ([Float], Int) = ([], 0)
        for case (let before, .gap(let gap)) in decoded.others {
            samples += decoded.samples[start..<before] + [Float](repeating: 0, count: 2 * Int(gap.frames))
            start = before
        }
        return samples + decoded.samples[start...]
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"), arguments: [1, 1000])
    func `damage in the middle: a gap of the frame at its place, and the rest as it is`(room: Int) throws {
        let values = integers(200_000, bits: 16)
        let bytes = try flac(values)
        let places = frames(of: bytes)
        try #require(places.count >= 24)
        var damaged = bytes
        damaged[(places[10] + places[11]) / 2] ^= 0x55
        damaged[places[15] + 1] = 0
        var expected = floats(values)
        for frame in [10, 15] { for index in frame * 8192..<(frame + 1) * 8192 { expected[index] = 0 } }
        let decoded = try decoded(damaged, room: room)
        #expect(decoded.gaps == Array(repeating: Gap(frames: 4096, reason: .damagedFile), count: 2))
        #expect(decoded.others.map(\.before) == [81_920, 114_688, 200_000 - 16_384])
        #expect(filled(decoded) == expected)
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `frames that are cut out, overwritten or the first: a gap of their length`() throws {
        let values = integers(200_000, bits: 16)
        let bytes = try flac(values)
        let places = frames(of: bytes)
        let cases: [(Range<Int>, [UInt8])] = [
            (places[4]..<places[6], []), (places[4] - 100..<places[6] + 100, []),
            (places[4]..<places[6], [UInt8](repeating: 0, count: 30_000)), (places[0]..<places[0] + 30, [0, 0, 0]),
        ]
        for (range, replacement) in cases {
            var damaged = bytes
            damaged.replaceSubrange(range, with: replacement)
            let decoded = try decoded(damaged)
            let lost = decoded.gaps.reduce(0) { $0 + $1.frames }
            #expect(decoded.gaps.count == 1 && lost % 4096 == 0 && lost <= 4 * 4096)
            let first = decoded.others[0].before
            var expected = floats(values)
            for index in first..<first + 2 * Int(lost) { expected[index] = 0 }
            #expect(filled(decoded) == expected)
        }
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `junk between frames, and a stream from its middle: no gap`() throws {
        let values = integers(200_000, bits: 16)
        let bytes = try flac(values)
        let places = frames(of: bytes)
        let junk = try decoded(Array(bytes[..<places[7]]) + [UInt8](repeating: 0x11, count: 500) + bytes[places[7]...])
        #expect(junk.samples == floats(values) && junk.gaps.isEmpty && junk.endDamage == nil)
        let middle = try decoded(declare(0, in: Array(bytes[..<places[0]])) + bytes[places[7]...])
        #expect(middle.samples == Array(floats(values)[(7 * 8192)...]) && middle.gaps.isEmpty)
        let bare = try decoded(Array(bytes[places[7]...]))
        #expect(bare.samples == middle.samples && bare.gaps.isEmpty && bare.format == middle.format && bare.declared == nil)
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `every frame damaged: no samples, and an end`() throws {
        var bytes = try flac(integers(100_000, bits: 16))
        for place in frames(of: bytes) { bytes[place + 50] ^= 1 }
        // The last frame is shorter, and its first bytes are others.
        bytes[bytes.count - 50] ^= 1
        let decoded = try decoded(bytes)
        #expect(decoded.samples.isEmpty && decoded.others.map(\.1) == [.end] && decoded.declared == 50_000)
    }

    // MARK: Several streams

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `frames of another rate or number of channels: the new format at their place`() throws {
        let (first, second) = (integers(65_536, bits: 16), integers(32_768, bits: 16))
        let bytes = try flac(first)
        let other = try flac(second, rate: 22_050, channels: 1)
        let decoded = try decoded(bytes + other[frames(of: other)[0]...])
        #expect(decoded.samples == floats(first) + floats(second))
        #expect(decoded.others.map(\.1) == [.format(StreamFormat(sampleRate: 22_050, channelCount: 1)), .end])
        #expect(decoded.others[0].before == 65_536)
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `chained Ogg: all of both, and the second length is declared`() throws {
        let (first, second) = (integers(70_000, bits: 16), integers(30_000, bits: 24))
        try encode(first, as: "first", ["--ogg", "--serial-number=1"])
        try encode(second, as: "second", bits: 24, rate: 48_000, ["--ogg", "--serial-number=2"])
        let (one, other) = (try fixture.bytes(of: "first"), try fixture.bytes(of: "second"))
        let both = try decoded(one + other, isOgg: true)
        #expect(both.samples == floats(first) + floats(second, bits: 24))
        #expect(both.others.map(\.1) == [.format(StreamFormat(sampleRate: 48_000, channelCount: 2)), .end])
        #expect(both.endDamage == nil && both.declared == 15_000 && both.present == nil)
        #expect(try decoded(one.dropLast(1), isOgg: true).present == nil)
        let twice = try decoded(one + one, isOgg: true)
        #expect(twice.samples == floats(first + first) && twice.others.map(\.1) == [.end] && twice.declared == 70_000)
        let cut = try decoded(one[..<(one.count / 2)] + one, isOgg: true)
        #expect(cut.gaps.count == 1 && cut.declared == 70_000 && cut.gaps[0].reason == .damagedFile)
        #expect(filled(cut).count == 140_000 && filled(cut).suffix(70_000) == floats(first)[...])
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `native files one after another: all of both, more than is declared`() throws {
        let (first, second) = (integers(70_000, bits: 16), integers(30_000, bits: 24))
        let one = try flac(first)
        try encode(second, as: "second", bits: 24)
        let decoded = try decoded(one + fixture.bytes(of: "second"))
        #expect(decoded.samples == floats(first) + floats(second, bits: 24))
        #expect(decoded.others.map(\.1) == [.end] && decoded.declared == 35_000)
    }

    // MARK: Ogg

    /// The byte ranges of the pages.
    private func pages(of bytes: [UInt8]) -> [Range<Int>] {
        var (pages, start): ([Range<Int>], Int) = ([], 0)
        while start + 27 <= bytes.count {
            let segments = Int(bytes[start + 26])
            let end = start + 27 + segments + bytes[start + 27..<start + 27 + segments].reduce(0) { $0 + Int($1) }
            pages.append(start..<end)
            start = end
        }
        return pages
    }

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `Ogg with pages that are missing, damaged or without "OggS": a gap at their place`() throws {
        let values = integers(400_000, bits: 16)
        try encode(values, as: "a.oga", ["--ogg"])
        let bytes = try fixture.bytes(of: "a.oga")
        let pages = pages(of: bytes)
        try #require(pages.count > 12)
        for kind in 0..<3 {
            var damaged = bytes
            switch kind {
            case 0: damaged.removeSubrange(pages[7].lowerBound..<pages[9].lowerBound)
            case 1: damaged[(pages[7].lowerBound + pages[7].upperBound) / 2] ^= 1
            default: damaged[pages[7].lowerBound] = 0
            }
            let decoded = try decoded(damaged, isOgg: true)
            #expect(decoded.gaps.count == 1)
            let (first, lost) = (decoded.others[0].before, decoded.gaps.first?.frames ?? 0)
            // A page holds four frames, one of them perhaps in part; the one after the loss is lost as well.
            #expect(lost % 4096 == 0 && lost > 0 && lost <= (kind == 0 ? 10 : 6) * 4096)
            var expected = floats(values)
            for index in first..<first + 2 * Int(lost) { expected[index] = 0 }
            #expect(filled(decoded) == expected)
        }
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired && Program.flac.isRequired))
    func `Ogg without a declared length, cut or damaged at its end: truncated, or a gap`() throws {
        let values = integers(400_000, bits: 16)
        try encode(values, as: "a.flac")
        try Program.ffmpeg.run(["-i", fixture.path("a.wav"), "-c:a", "flac", fixture.path("b.oga")])
        let bytes = try fixture.bytes(of: "b.oga")
        let cut = try decoded(bytes.dropLast(bytes.count / 3), isOgg: true)
        #expect(cut.declared == nil && cut.present == nil && cut.endDamage == .truncatedFile)
        #expect(cut.samples == Array(floats(values).prefix(cut.samples.count)))
        let pages = pages(of: bytes)
        var damaged = bytes
        damaged[pages[pages.count - 2].lowerBound + 300] ^= 1
        let ending = try decoded(damaged, isOgg: true)
        #expect(filled(ending).count == 400_000 && ending.gaps.count == 1 && ending.endDamage == nil)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired && Program.flac.isRequired))
    func `chained Ogg without declared lengths: all of both`() throws {
        let values = integers(100_000, bits: 16)
        try encode(values, as: "a.flac")
        for number in ["1", "2"] {
            let options = ["-c:a", "flac", "-serial_offset", number, fixture.path(number + ".oga")]
            try Program.ffmpeg.run(["-i", fixture.path("a.wav")] + options)
        }
        let both = try decoded(fixture.bytes(of: "1.oga") + fixture.bytes(of: "2.oga"), isOgg: true)
        #expect(both.samples == floats(values) + floats(values) && both.others.map(\.1) == [.end] && both.endDamage == nil)
    }

    // MARK: Hostile files

    @Test(.enabled(if: Program.flac.isRequired, "flac is not installed"))
    func `damaged metadata: all samples`() throws {
        let values = integers(100_000, bits: 16)
        var bytes = try flac(values)
        // The length of the comments, after STREAMINFO.
        bytes[43] = 0xff
        #expect(try decoded(bytes).samples == floats(values))
        #expect(try decoded(Array("fLaC".utf8) + [0xff] + bytes[5...]).samples == floats(values))
    }

    @Test(.timeLimit(.minutes(1))) func `half a million beginnings of frames as long as the largest: refused`() throws {
        // A frame of 65,535 samples of 8 channels, verbatim, and of STREAMINFO what is needed.
        let frame: [UInt8] = [0xff, 0xf9, 0x79, 0x78, 1, 0xff, 0xfe]
        let sum = frame.reduce(UInt8(0)) { sum, byte in
            (0..<8).reduce(sum ^ byte) { value, _ in value << 1 ^ (value >> 7 == 1 ? 7 : 0) }
        }
        let header: [UInt8] = Array("fLaC".utf8) + [0x80, 0, 0, 34, 16, 0, 16, 0, 0, 0, 0, 0, 0, 0, 10, 0xc4, 0x4e, 0xf0]
        let bytes = header + [UInt8](repeating: 0, count: 20) + (0..<500_000).flatMap { _ in frame + [sum, 2] }
        #expect { try decoded(bytes) } throws: { "\($0)".contains("too many damaged frames") }
    }
}
