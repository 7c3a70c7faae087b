import Foundation
import Hemiola
import TestSupport
import Testing

@testable import FileCapture

/// Everything that a decoder yields.
struct OggRecording: Equatable {
    var formats: [StreamFormat]
    /// The samples of every format.
    var samples: [[Float]] = [[]]
    /// Gaps, each with the number of frames of the same format before it.
    var gaps: [Place] = []
    var endDamage: Gap.Reason?
    var error: Problem?
    var presentFrames: Int64?

    struct Place: Equatable {
        var frame: Int
        var gap: Gap
    }

    init(_ file: InputFile, from start: Int64 = 0, room: Int) throws {
        let decoder = try OggDecoder(file, start..<file.size)
        formats = [decoder.format]
        presentFrames = decoder.presentFrames
        do throws(Problem) {
            while true {
                let channels = formats.last!.channelCount
                var buffer = [Float](repeating: 0, count: room * channels)
                var span = buffer.mutableSpan
                switch try decoder.read(into: &span) {
                case .frames(let count): samples[samples.count - 1] += buffer[..<(count * channels)]
                case .gap(let gap): gaps.append(Place(frame: frameCount, gap: gap))
                case .format(let format):
                    formats.append(format)
                    samples.append([])
                case .end:
                    endDamage = decoder.endDamage
                    return
                default: Issue.record("not a delivery of a decoder")
                }
            }
        } catch {
            self.error = error
        }
    }

    /// The number of frames of the last format.
    var frameCount: Int { samples.last!.count / formats.last!.channelCount }
    /// The number of all frames, lost ones included.
    var length: Int64 {
        zip(samples, formats).reduce(0) { $0 + Int64($1.0.count / $1.1.channelCount) } + gaps.reduce(0) { $0 + $1.gap.frames }
    }
}

/// The pages of an Ogg file, to be moved, changed and written with new checksums.
struct OggPageBytes {
    var bytes: [UInt8]

    static func all(in bytes: [UInt8]) -> [OggPageBytes] {
        var pages: [OggPageBytes] = []
        var start = 0
        while start + 27 <= bytes.count {
            let segments = Int(bytes[start + 26])
            let end = start + 27 + segments + bytes[start + 27..<start + 27 + segments].reduce(0) { $0 + Int($1) }
            pages.append(OggPageBytes(bytes: Array(bytes[start..<end])))
            start = end
        }
        return pages
    }

    var granule: Int64 {
        get { number(at: 6, count: 8) }
        set { set(newValue, at: 6, count: 8) }
    }
    var serial: Int64 {
        get { number(at: 14, count: 4) }
        set { set(newValue, at: 14, count: 4) }
    }
    var sequence: Int64 {
        get { number(at: 18, count: 4) }
        set { set(newValue, at: 18, count: 4) }
    }
    var flags: UInt8 {
        get { bytes[5] }
        set { set(Int64(newValue), at: 5, count: 1) }
    }
    var body: ArraySlice<UInt8> { bytes[(27 + Int(bytes[26]))...] }

    private func number(at offset: Int, count: Int) -> Int64 {
        (0..<count).reduce(0) { $0 | Int64(bytes[offset + $1]) << (8 * $1) }
    }

    private mutating func set(_ value: Int64, at offset: Int, count: Int) {
        for index in 0..<count { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
        seal()
    }

    /// Writes the checksum, bit by bit as RFC 3533 defines it.
    mutating func seal() {
        for index in 22..<26 { bytes[index] = 0 }
        var sum: UInt32 = 0
        for byte in bytes {
            sum ^= UInt32(byte) << 24
            for _ in 0..<8 { sum = sum << 1 ^ (sum >> 31 == 1 ? 0x04c1_1db7 : 0) }
        }
        for index in 0..<4 { bytes[22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
    }
}

extension Sequence<OggPageBytes> {
    var file: [UInt8] { flatMap(\.bytes) }

    /// The pages with another serial number.
    func serial(_ serial: Int64) -> [OggPageBytes] {
        map {
            var page = $0
            page.serial = serial
            return page
        }
    }
}

@Suite(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed")) struct OggDecoderTests {
    let fixture: FileFixture

    init() throws {
        fixture = try FileFixture()
        try #require(OggReader.missingLibrary() == nil)
    }

    static let codecs = ["libvorbis", "libopus"]

    /// The pages of an encoded signal of two sines.
    private func pages(
        _ codec: String, channels: Int = 2, frames: Int = 480_000, rate: Int = 48_000, _ arguments: [String] = []
    ) throws -> [OggPageBytes] {
        let name = "\(UUID().uuidString).ogg"
        let input = try fixture.write(WAVBytes.sines(channels: channels, rate: rate, frames: frames).bytes, to: "input.wav")
        try Program.ffmpeg.run(["-v", "error", "-i", input, "-c:a", codec] + arguments + [fixture.path(name)])
        return OggPageBytes.all(in: try fixture.bytes(of: name))
    }

    /// Decodes with buffers of several sizes, which must not matter.
    private func decode(_ bytes: [UInt8]) throws -> OggRecording {
        let file = try InputFile(fixture.write(bytes, to: "test.ogg"))
        let first = try OggRecording(file, room: 1024)
        for room in [37, 5000] { #expect(try OggRecording(file, room: room) == first) }
        if bytes.count < 40_000 { #expect(try OggRecording(file, room: 1) == first) }
        return first
    }

    private func codec(_ bytes: [UInt8]) throws -> OggCodec? {
        let file = try InputFile(fixture.write(bytes, to: "codec.ogg"))
        return OggCodec(file, 0..<file.size)
    }

    /// Decoders to compare with: sox with libvorbisfile; ffmpeg with its own demuxer and decoders, and with libopus.
    enum Reference: CaseIterable {
        case sox, ffmpeg, ffmpegWithLibopus

        var codecs: [String] {
            switch self {
            case .sox: ["libvorbis"]
            case .ffmpeg: OggDecoderTests.codecs
            case .ffmpegWithLibopus: ["libopus"]
            }
        }
    }

    private func reference(_ reference: Reference, _ bytes: [UInt8]) throws -> [Float] {
        let (input, output) = (try fixture.write(bytes, to: "reference.ogg"), fixture.path("reference.raw"))
        switch reference {
        case .sox: try Program.sox.run([input, "-t", "raw", "-e", "floating-point", "-b", "32", "-L", output])
        case .ffmpeg: try Program.ffmpeg.run(["-y", "-v", "error", "-i", input, "-f", "f32le", output])
        case .ffmpegWithLibopus: try Program.ffmpeg.run(["-y", "-v", "error", "-c:a", "libopus", "-i", input, "-f", "f32le", output])
        }
        return try fixture.bytes(of: "reference.raw").withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    private func gap(_ frames: Int64, at frame: Int) -> OggRecording.Place {
        OggRecording.Place(frame: frame, gap: Gap(frames: frames, reason: .damagedFile))
    }

    // MARK: - Whole files

    @Test(arguments: codecs, [1, 2])
    func `whole file: frames and samples of two other decoders`(codec: String, channels: Int) throws {
        let bytes = try pages(codec, channels: channels, frames: 123_457).file
        let recording = try decode(bytes)
        #expect(recording.length == 123_457 && recording.presentFrames == 123_457)
        #expect(recording.gaps.isEmpty && recording.endDamage == nil && recording.error == nil)
        for decoder in Reference.allCases where decoder.codecs.contains(codec) {
            let expected = try reference(decoder, bytes)
            #expect(expected.count == recording.samples[0].count, "\(decoder)")
            // sox and ffmpeg's use of libopus round to 16 bits.
            let difference = zip(expected, recording.samples[0]).reduce(0) { max($0, abs($1.0 - $1.1)) }
            #expect(difference < (decoder == .ffmpeg ? 1e-3 : 2e-5), "\(decoder) \(difference)")
        }
    }

    @Test(arguments: codecs)
    func `six channels: the order of Vorbis, and the frames of sox or ffmpeg`(codec: String) throws {
        let arguments = codec == "libopus" ? ["-mapping_family", "1", "-b:a", "512k"] : []
        let bytes = try pages(codec, channels: 6, frames: 48_000, arguments).file
        let recording = try decode(bytes)
        let expected = try reference(codec == "libopus" ? .ffmpeg : .sox, bytes).count
        #expect(recording.samples[0].count == expected)
        #expect(
            recording.formats[0].channelMap
                == ChannelMap([.frontLeft, .frontCenter, .frontRight, .backLeft, .backRight, .lowFrequency]))
    }

    @Test(arguments: codecs)
    func `comments: tags`(codec: String) throws {
        let metadata = ["title=Ünïque", "artist=A=B", "date=1987-01-02"].flatMap { ["-metadata", $0] }
        let bytes = try pages(codec, frames: 4800, metadata).file
        let file = try InputFile(fixture.write([UInt8](repeating: 0, count: 1000) + bytes, to: "test.ogg"))
        let decoder = try OggDecoder(file, 1000..<file.size)
        #expect(decoder.tags.title == "Ünïque" && decoder.tags.artist == "A=B" && decoder.tags.year == 1987)
    }

    @Test func `Opus whose first position is not 0: every frame of it, as ffmpeg and opusdec`() throws {
        let pages = try pages("libopus", frames: 123_457)
        let shifted = pages.enumerated().map { index, page in
            var page = page
            if index >= 2 { page.granule += 48 }
            return page
        }
        let (whole, recording) = (try decode(pages.file), try decode(shifted.file))
        #expect(recording.samples == whole.samples && recording.presentFrames == 123_457 && recording.gaps.isEmpty)
        #expect(try reference(.ffmpegWithLibopus, shifted.file).count == recording.samples[0].count)
    }

    @Test func `Opus with a gain: applied`() throws {
        var pages = try pages("libopus", frames: 48_000)
        let whole = try decode(pages.file)
        // Output gain at byte 16 of the first packet, in 1/256 dB.
        pages[0].bytes[28 + 17] = 6
        pages[0].seal()
        let louder = try decode(pages.file)
        let ratio = level(of: 1000, in: louder.channel(0), rate: 48_000) / level(of: 1000, in: whole.channel(0), rate: 48_000)
        #expect(abs(ratio - pow(10, 6 / 20)) < 1e-3)
        #expect(louder.samples[0].contains { $0 > 0.9 })
    }

    @Test func `Vorbis whose first position is too small: its first frames do not belong to it, as in sox`() throws {
        let pages = try pages("libvorbis", frames: 123_457)
        let early = pages.enumerated().map { index, page in
            var page = page
            if index >= 2 { page.granule -= 1000 }
            return page
        }
        let (whole, recording) = (try decode(pages.file), try decode(early.file))
        #expect(recording.samples[0] == Array(whole.samples[0].dropFirst(2000)))
        #expect(recording.presentFrames == 122_457)
        #expect(try reference(.sox, early.file).count == recording.samples[0].count)
    }

    @Test func `Vorbis with sound on the last page of the header: every frame of it, as ffmpeg`() throws {
        let pages = try pages("libvorbis", frames: 123_457)
        let segments = pages[1...2].flatMap { $0.bytes[27..<27 + Int($0.bytes[26])] }
        try #require(segments.count < 256)
        var joined = OggPageBytes(bytes: Array(pages[1].bytes[..<26]) + [UInt8(segments.count)] + segments + pages[1].body + pages[2].body)
        joined.granule = pages[2].granule
        let rest = pages[3...].map {
            var page = $0
            page.sequence -= 1
            return page
        }
        let bytes = ([pages[0], joined] + rest).file
        let recording = try decode(bytes)
        #expect(recording == (try decode(pages.file)) && recording.length == 123_457)
        #expect(try reference(.ffmpeg, bytes).count == recording.samples[0].count)
    }

    @Test(arguments: codecs, [1, 0])
    func `packets that span pages: the same samples, even without the flag that says so`(codec: String, flag: UInt8) throws {
        let pages = try pages(codec, frames: 96_000, codec == "libopus" ? ["-b:a", "510k"] : ["-q:a", "10"])
        let whole = try decode(pages.file)
        // Divides every page, after its first segment of 255 bytes or else in its middle.
        var sequence = pages[1].sequence
        var divided = Array(pages[..<2])
        var count = 0
        for page in pages[2...] {
            let segments = Array(page.bytes[27..<27 + Int(page.bytes[26])])
            let place = segments.firstIndex(of: 255).map { $0 + 1 } ?? segments.count / 2
            let parts = [(segments[..<place], 0), (segments[place...], segments[..<place].reduce(0) { $0 + Int($1) })]
            for (index, (part, start)) in parts.enumerated() where !part.isEmpty {
                sequence += 1
                let body = page.body.dropFirst(start).prefix(part.reduce(0) { $0 + Int($1) })
                var piece = OggPageBytes(bytes: Array(page.bytes[..<26]) + [UInt8(part.count)] + part + body)
                piece.sequence = sequence
                let isContinued = index == 1 && segments[place - 1] == 255
                if isContinued { count += 1 }
                piece.flags = index == 0 ? page.flags & ~4 : page.flags & ~1 | (isContinued ? flag : 0)
                // Without a position: what follows tells it.
                if index == 0 { piece.granule = -1 }
                divided.append(piece)
            }
        }
        try #require(count > 0)
        #expect(try decode(divided.file).samples == whole.samples)
    }

    // MARK: - Chained files

    @Test(arguments: [false, true])
    func `1100 links, with one serial number or with many: every frame`(isUnique: Bool) throws {
        let link = try pages("libvorbis", channels: 1, frames: 4800)
        let chain = (0..<1100).flatMap { isUnique ? link.serial(Int64($0)) : link }
        let file = try InputFile(fixture.write(chain.file, to: "chain.ogg"))
        let recording = try OggRecording(file, room: 1024)
        #expect(recording.length == 1100 * 4800 && recording.gaps.isEmpty && recording.error == nil && recording.formats.count == 1)
        #expect(recording.presentFrames == nil)
    }

    @Test func `links of other rates, channel counts and codecs: a format before each`() throws {
        let links = [
            try pages("libvorbis", frames: 20_000), try pages("libvorbis", channels: 1, frames: 30_000, rate: 44_100),
            try pages("libopus", frames: 40_000), try pages("libopus", frames: 10_000),
        ]
        let recording = try decode(links.joined().file)
        #expect(recording.formats.map(\.sampleRate) == [48_000, 44_100, 48_000])
        #expect(recording.formats.map(\.channelCount) == [2, 1, 2])
        #expect(recording.samples.map(\.count) == [40_000, 30_000, 100_000])
        #expect(recording.samples[1] == (try decode(links[1].file)).samples[0])
        #expect(recording.gaps.isEmpty && recording.error == nil)
    }

    @Test func `a link of a codec that cannot be decoded: everything before it, then an error`() throws {
        let links = [try pages("libvorbis", frames: 20_000), try pages("flac", frames: 20_000)]
        let recording = try decode(links.joined().file)
        #expect(recording.frameCount == 20_000 && recording.error != nil)
    }

    @Test(arguments: codecs, [0, 1])
    func `a link whose first or second page is damaged: a gap of its length`(codec: String, damaged: Int) throws {
        let links = try [20_000, 30_000, 40_000].enumerated().map { try pages(codec, frames: $1).serial(Int64($0)) }
        var chain = Array(links.joined())
        chain[links[0].count + damaged].bytes[40] ^= 1
        let recording = try decode(chain.file)
        #expect(recording.gaps == [gap(30_000, at: 20_000)])
        #expect(recording.frameCount == 60_000 && recording.error == nil && recording.endDamage == nil)
        #expect(try decode((links[0] + chain[links[0].count..<links[0].count + links[1].count]).file).gaps == [gap(30_000, at: 20_000)])
    }

    // MARK: - Damage

    @Test(arguments: codecs, [2, 3, 5])
    func `pages are missing: a gap of exact length in their place`(codec: String, first: Int) throws {
        let pages = try pages(codec)
        let whole = try decode(pages.file)
        let recording = try decode((pages[..<first] + pages[(first + 2)...]).file)
        try #require(recording.gaps.count == 1)
        let (place, lost) = (recording.gaps[0].frame, recording.gaps[0].gap.frames)
        #expect((95_000...98_000).contains(lost))
        #expect(recording.length == 480_000 && recording.endDamage == nil && recording.error == nil)
        #expect(recording.samples[0].prefix(2 * place) == whole.samples[0].prefix(2 * place))
        // The decoder of Opus converges, that of Vorbis needs one packet, which counts as lost.
        let settled = codec == "libopus" ? 2 * 48_000 : 0
        let (rest, expected) = (recording.samples[0].dropFirst(2 * place), whole.samples[0].dropFirst(2 * (place + Int(lost))))
        #expect(rest.count == expected.count)
        let difference = zip(rest.dropFirst(settled), expected.dropFirst(settled)).reduce(0) { max($0, abs($1.0 - $1.1)) }
        #expect(difference < (codec == "libopus" ? 0.02 : 1e-6), "\(difference)")
    }

    @Test(arguments: codecs)
    func `stream recorded from its middle on, with the position and page number of its sender: no damage`(codec: String) throws {
        let pages = try pages(codec, frames: 96_000)
        let joined = pages.enumerated().map { index, page in
            var page = page
            if index >= 2 {
                page.granule += 3600 * 48_000
                page.sequence += 3600
            }
            return page
        }
        let recording = try decode(joined.file)
        #expect(recording.samples == (try decode(pages.file)).samples && recording.gaps.isEmpty)
    }

    @Test(arguments: codecs)
    func `a wrong checksum: the page is a gap`(codec: String) throws {
        var pages = try pages(codec)
        pages[6].bytes[pages[6].bytes.count - 20] ^= 1
        let recording = try decode(pages.file)
        #expect(recording.gaps.count == 1 && recording.length == 480_000)
        #expect((47_000...50_000).contains(recording.gaps.first?.gap.frames ?? 0))
    }

    @Test(arguments: codecs)
    func `the page before the last is missing, or claims to be larger than the rest: the length is exact`(codec: String) throws {
        let pages = try pages(codec)
        var large = pages
        large[pages.count - 2].bytes.replaceSubrange(26..<282, with: repeatElement(255, count: 256))
        for bytes in [(pages.dropLast(2) + pages.suffix(1)).file, large.file] {
            let recording = try decode(bytes)
            #expect(recording.gaps.count == 1 && recording.length == 480_000 && recording.endDamage == nil)
        }
    }

    @Test(arguments: codecs)
    func `the last page is cut: every frame before it, and a truncated file`(codec: String) throws {
        let pages = try pages(codec)
        let whole = try decode(pages.file)
        for count in [5, pages.last!.bytes.count - 20, pages.last!.bytes.count - 4] {
            let bytes = Array(pages.file.dropLast(count))
            let recording = try decode(bytes)
            #expect(recording.endDamage == .truncatedFile && recording.gaps.isEmpty && recording.error == nil)
            #expect(recording.length > 400_000 && recording.samples[0] == Array(whole.samples[0].prefix(recording.samples[0].count)))
            #expect(recording.presentFrames == recording.length)
        }
    }

    @Test(arguments: codecs)
    func `a last page that is not marked, or bytes after the marked one: a complete file`(codec: String) throws {
        var pages = try pages(codec)
        for ending in [0, 128] {
            let file = try InputFile(fixture.write(pages.file + [UInt8](repeating: 0, count: ending), to: "test.ogg"))
            let recording = try OggRecording(file, room: 1024)
            #expect(recording.endDamage == nil && recording.gaps.isEmpty && recording.length >= 480_000)
            pages[pages.count - 1].flags &= ~4
        }
    }

    @Test(arguments: codecs)
    func `header pages twice: as once`(codec: String) throws {
        let pages = try pages(codec, frames: 20_000)
        #expect(try decode((pages[..<2] + pages).file).samples == decode(pages.file).samples)
        #expect(try decode((pages[..<2] + pages).file).gaps.isEmpty)
    }

    @Test func `header pages only: no frames, and a truncated file`() throws {
        let recording = try decode(Array(try pages("libvorbis")[..<2]).file)
        #expect(recording.length == 0 && recording.endDamage == .truncatedFile)
    }

    @Test func `1100 damaged places: a gap for each, of exact length`() throws {
        var pages = try pages("libopus", ["-frame_duration", "2.5", "-page_duration", "1"])
        try #require(pages.count > 3900)
        for index in stride(from: 4, to: 3304, by: 3) { pages[index].bytes[pages[index].bytes.count - 1] ^= 1 }
        let recording = try decode(pages.file)
        #expect(recording.gaps.count == 1100 && recording.length == 480_000)
        #expect(recording.gaps.allSatisfy { $0.gap.frames == 120 })
    }

    @Test func `Opus with a packet that cannot be decoded: a gap of its length before its page`() throws {
        var pages = try pages("libopus", ["-frame_duration", "20", "-page_duration", "20000"])
        let whole = try decode(pages.file)
        // One frame as before, but a padding that is longer than the packet.
        let start = pages[20].bytes.count - pages[20].body.count
        pages[20].bytes[start] |= 3
        pages[20].bytes.replaceSubrange(start + 1..<start + 8, with: [0x41, 255, 255, 255, 255, 255, 255])
        pages[20].seal()
        let recording = try decode(pages.file)
        #expect(recording.gaps.map(\.gap) == [gap(960, at: 0).gap])
        #expect(recording.length == whole.length && recording.error == nil)
    }

    // MARK: - Codecs and hostile files

    @Test(arguments: codecs)
    func `position that no file can have: as none`(codec: String) throws {
        for index in [2, try pages(codec, frames: 20_000).count - 1] {
            let files = try [Int64.min, .min + 792, -1].map { position in
                var pages = try pages(codec, frames: 20_000)
                pages[index].granule = position
                return try decode(pages.file)
            }
            #expect(files.allSatisfy { $0.samples == files[2].samples && $0.gaps.map(\.gap) == files[2].gaps.map(\.gap) }, "page \(index)")
        }
    }

    @Test func `start of a file: its codec`() throws {
        for (codec, expected) in [("libvorbis", OggCodec.vorbis), ("libopus", .opus), ("flac", .flac), ("libspeex", nil)] {
            let arguments = codec == "libspeex" ? ["-ac", "1", "-ar", "16000"] : []
            #expect(try self.codec(pages(codec, frames: 4800, arguments).file) == expected, "\(codec)")
        }
        let picture = ["-f", "lavfi", "-i", "testsrc=s=64x64:d=1", "-c:v", "libtheora", "-map", "0:a", "-map", "1:v"]
        let video = try pages("libvorbis", frames: 48_000, picture)
        #expect(try self.codec(video.file) == .vorbis)
        #expect(try self.codec(Array("OggS".utf8)) == nil && self.codec([0]) == nil)
        let recording = try decode(video.file)
        #expect(recording.length == 48_000 && recording.gaps.isEmpty && recording.endDamage == nil)
    }

    @Test(.timeLimit(.minutes(1)), arguments: codecs)
    func `imitated pages of 64 KiB at every fourth byte: ends soon`(codec: String) throws {
        let page = Array("OggS".utf8)
        let imitations = Array(repeatElement(page, count: 100_000).joined())
        let pages = try pages(codec, frames: 48_000)
        for bytes in [imitations, pages[..<2].file + imitations, pages[..<3].file + imitations + pages[3...].file] {
            let file = try InputFile(fixture.write(Array(bytes), to: "test.ogg"))
            _ = try? OggRecording(file, room: 1024)
        }
    }

    @Test(arguments: [(1, 1 << 23 - 1), (1 << 15, 1 << 8)])
    func `Vorbis header of 3 KB that declares gigabytes of codebooks: refused`(dimensions: Int, entries: Int) throws {
        var bits: [Bool] = []
        func add(_ value: Int, _ count: Int) { for bit in 0..<count { bits.append(value >> bit & 1 == 1) } }
        for _ in 0..<256 {
            // Mark, dimensions, entries, ordered, length of the first codes, their number, no values.
            for (value, count) in [(0x56_4342, 24), (dimensions, 16), (entries, 24), (1, 1), (22, 5), (entries, 23), (0, 4)] {
                add(value, count)
            }
        }
        let books = stride(from: 0, to: bits.count - 7, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) { $0 | (bits[start + $1] ? 1 << UInt8($1) : 0) }
        }
        let setup = Array("\u{5}vorbis".utf8) + [255] + books
        let comment = Array("\u{3}vorbis".utf8) + [UInt8](repeating: 0, count: 8) + [1]
        let sizes = [comment, setup].flatMap { [UInt8](repeating: 255, count: $0.count / 255) + [UInt8($0.count % 255)] }
        var pages = Array(try pages("libvorbis", frames: 4800)[..<2])
        pages[1].bytes = Array(pages[1].bytes[..<26]) + [UInt8(sizes.count)] + sizes + comment + setup
        pages[1].seal()
        #expect(throws: Problem("Vorbis codebooks of absurd size")) { try decode(pages.file) }
    }

    @Test(.timeLimit(.minutes(1)), arguments: codecs)
    func `damaged bytes anywhere: no crash, and the same with any buffer`(codec: String) throws {
        let pages = try pages(codec, frames: 20_000)
        var random = SplitMix(state: 38)
        for _ in 0..<60 {
            var changed = pages
            for _ in 0..<3 {
                let page = Int(random.next() % UInt64(changed.count))
                let offset = 4 + Int(random.next() % UInt64(changed[page].bytes.count - 4))
                if offset == 26 { continue }
                changed[page].bytes[offset] = UInt8(truncatingIfNeeded: random.next())
                changed[page].seal()
            }
            let file = try InputFile(fixture.write(changed.file, to: "test.ogg"))
            guard let first = try? OggRecording(file, room: 1024) else { continue }
            #expect(try OggRecording(file, room: 333) == first)
        }
    }
}

private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

extension OggRecording {
    /// The samples of one channel, of the first format.
    func channel(_ index: Int) -> [Float] {
        stride(from: index, to: samples[0].count, by: formats[0].channelCount).map { samples[0][$0] }
    }
}
