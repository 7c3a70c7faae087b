import Foundation
import Hemiola
import TestSupport
import Testing

@testable import FileCapture

/// All that a decoder delivers.
private struct Decoding: Equatable {
    var format: StreamFormat
    var samples: [Float] = []
    /// All deliveries other than frames, without the end.
    var others: [ReadResult] = []
    /// The number of frames before each of them.
    var places: [Int] = []
    var declared: Int64?
    var present: Int64?
    var endDamage: Gap.Reason?
    var frameCount = 0

    init(_ path: String, room: Int = 1024) throws {
        let file = try InputFile(path)
        let decoder = try MPEGDecoder(file, file.id3Tags(in: 0..<file.size).start..<file.size)
        format = decoder.format
        present = decoder.presentFrames
        var buffer = [Float](repeating: 0, count: room * 2)
        reading: while true {
            var span = buffer.mutableSpan
            switch try decoder.read(into: &span) {
            case .frames(let count):
                samples += buffer[..<(count * decoder.format.channelCount)]
                frameCount += count
            case .end: break reading
            case let other:
                others.append(other)
                places.append(frameCount)
            }
        }
        declared = decoder.declaredFrames
        endDamage = decoder.endDamage
    }

    var gaps: [Int64] { others.compactMap { if case .gap(let gap) = $0 { gap.frames } else { nil } } }
}

private let tools = ["lame", "mpg123", "ffmpeg"].map(Tool.program)

@Suite(.enabled(if: tools.allSatisfy(\.isExpected), "lame, mpg123 or ffmpeg is not installed"))
struct MPEGDecoderTests {
    private let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    // MARK: - Inputs

    /// Runs a line of the shell in the folder of the fixture.
    private func shell(_ line: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "cd '\(fixture.folder)' && \(line)"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(line) failed")
    }

    /// Sines of 10 s, encoded by a line of the shell from in.wav to out.mp3.
    private func encoded(_ line: String, rate: Int = 44_100, channels: Int = 2, frames: Int? = nil) throws -> [UInt8] {
        try fixture.write(WAVBytes.sines(channels: channels, rate: rate, frames: frames ?? 10 * rate).bytes, to: "in.wav")
        try shell(line)
        return try fixture.bytes(of: "out.mp3")
    }

    private func mp3(_ options: String = "-b 128", rate: Int = 44_100, channels: Int = 2, frames: Int? = nil) throws -> [UInt8] {
        try encoded("lame --quiet \(options) in.wav out.mp3", rate: rate, channels: channels, frames: frames)
    }

    private func decode(_ bytes: [UInt8], room: Int = 1024) throws -> Decoding {
        try Decoding(fixture.write(bytes, to: "test.mp3"), room: room)
    }

    /// The samples that mpg123 decodes.
    private func mpg123(_ bytes: [UInt8]) throws -> [Float] { try reference(bytes, "mpg123 -q -e f32 -s ref.mp3 > ref.f32") }

    /// The samples that ffmpeg decodes.
    private func ffmpeg(_ bytes: [UInt8]) throws -> [Float] {
        try reference(bytes, "ffmpeg -v error -y -f mp3 -i ref.mp3 -f f32le ref.f32")
    }

    private func reference(_ bytes: [UInt8], _ line: String) throws -> [Float] {
        try fixture.write(bytes, to: "ref.mp3")
        try shell(line)
        return try fixture.bytes(of: "ref.f32").withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    private func isClose(_ first: [Float], _ second: [Float]) -> Bool {
        first.count == second.count && zip(first, second).allSatisfy { abs($0 - $1) < 1e-4 }
    }

    /// An ID3v2.3 tag of a declared size.
    private func id3(_ content: [UInt8], size: [UInt8]? = nil) -> [UInt8] {
        Array("ID3".utf8) + [3, 0, 0] + (size ?? [0, 0, UInt8(content.count >> 7), UInt8(content.count & 0x7f)]) + content
    }

    /// Changes the number at a distance behind "Xing" or "Info".
    private func setting(_ value: Int, at distance: Int, in bytes: [UInt8]) throws -> [UInt8] {
        var bytes = bytes
        let tag = try #require(bytes.indices.first { bytes[$0...].starts(with: "Info".utf8) || bytes[$0...].starts(with: "Xing".utf8) })
        for index in 0..<4 { bytes[tag + distance + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
        return bytes
    }

    // MARK: - Whole files

    @Test(arguments: [
        "lame --quiet -b 128 in.wav out.mp3", "lame --quiet -V 2 in.wav out.mp3", "lame --quiet -m m in.wav out.mp3",
        "lame --quiet -p -b 192 in.wav out.mp3", "lame --quiet --resample 22.05 in.wav out.mp3",
        "lame --quiet --resample 8 -b 32 in.wav out.mp3", "lame --quiet -t in.wav out.mp3", "ffmpeg -v error -y -i in.wav out.mp3",
        "ffmpeg -v error -y -i in.wav -f mp2 out.mp3", "ffmpeg -v error -y -i in.wav -ar 24000 -f mp2 out.mp3",
    ])
    func `MPEG audio of every version, layers II and III: the samples of mpg123 and ffmpeg`(line: String) throws {
        let bytes = try encoded(line)
        let decoding = try decode(bytes)
        #expect(try decoding.samples == mpg123(bytes))
        #expect(try isClose(decoding.samples, ffmpeg(bytes)))
        #expect(decoding.others.isEmpty && decoding.endDamage == nil && decoding.frameCount > 70_000)
        if let declared = decoding.declared {
            #expect(Int64(decoding.frameCount) == declared && decoding.present == declared)
        }
        #expect(try decode(bytes, room: 1) == decoding)
        #expect(try decode(bytes, room: 5000) == decoding)
    }

    @Test func `free bit rate: the samples of mpg123, and as many as were encoded`() throws {
        let bytes = try mp3("--freeformat -b 400")
        let decoding = try decode(bytes)
        #expect(try decoding.samples == mpg123(bytes) && decoding.frameCount == 441_000 && decoding.others.isEmpty)
        // Layer II: the same stream with the bit rate erased.
        var layer2 = try encoded("ffmpeg -v error -y -i in.wav -b:a 192k -f mp2 out.mp3", rate: 48_000)
        let whole = try decode(layer2)
        for frame in try mpegFrames(of: layer2) { layer2[frame.lowerBound + 2] &= 0x0f }
        #expect(try decode(layer2).samples == whole.samples && whole.frameCount > 400_000)
        #expect(try mpg123(layer2) == whole.samples)
    }

    @Test(arguments: [[0xff, 0xfe], [0xff, 0xff]] as [[UInt8]])
    func `layer I, with and without CRC: the samples of mpg123`(start: [UInt8]) throws {
        // 384 kbit/s, 48 kHz, mono; one subband with four bits a sample.
        let frame: [UInt8] = start + [0xc4, 0xc0] + (start[1] == 0xfe ? [0, 0] : []) + [0x03] + [UInt8](repeating: 0, count: 15)
        var bytes: [UInt8] = []
        for index in 0..<100 {
            let content = (0..<40).map { UInt8(truncatingIfNeeded: ($0 &* 37 &+ index &* 11) | 0x10) }
            bytes += frame + content + [UInt8](repeating: 0, count: 384 - frame.count - content.count)
        }
        let decoding = try decode(bytes)
        #expect(decoding.frameCount == 38_400 && decoding.others.isEmpty)
        #expect(try decoding.samples == mpg123(bytes) && decoding.samples.contains { abs($0) > 0.001 })
    }

    // MARK: - Start and end

    @Test(arguments: [
        [UInt8](repeating: 0, count: 10), [UInt8](repeating: 0, count: 100_000), [0xff, 0xfe, 0x41, 0],
        (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) },
    ])
    func `zeros or junk before the first frame, with and without a tag: the same samples`(junk: [UInt8]) throws {
        let bytes = try mp3()
        let whole = try decode(bytes)
        for start in [junk, id3([UInt8](repeating: 0, count: 300)) + junk] {
            let decoding = try decode(start + bytes)
            #expect(decoding.samples == whole.samples && decoding.others.isEmpty && decoding.declared == whole.declared)
        }
        #expect(try mpg123(bytes) == whole.samples)
    }

    @Test func `junk or tags behind the last frame: every frame is delivered`() throws {
        let bytes = try mp3("-t -b 128")
        let whole = try decode(bytes)
        let sizes = WAVBytes.little(UInt32(2000)) + WAVBytes.little(UInt32(100_000))
        let footer = Array("APETAGEX".utf8) + sizes + [UInt8](repeating: 0, count: 16)
        let junk = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        let id3v1 = Array("TAG".utf8) + [UInt8](repeating: 0x41, count: 125)
        for end in [junk, footer, footer + id3v1, id3v1, [UInt8](repeating: 0, count: 70_000), Array("LYRICSBEGIN".utf8) + junk] {
            let decoding = try decode(bytes + end)
            #expect(decoding.samples == whole.samples && decoding.others.isEmpty && decoding.endDamage == nil)
        }
        #expect(whole.frameCount % 1152 == 0 && whole.frameCount >= 441_000)
        #expect(try mpg123(bytes) == whole.samples)
    }

    @Test func `truncated last frame: every whole frame, and the end is damaged`() throws {
        for options in ["-t -b 128", "-b 128"] {
            let bytes = try mp3(options)
            let frames = try mpegFrames(of: bytes)
            let cut = try decode(Array(bytes[..<(frames[200].upperBound - 1)]))
            #expect(cut.endDamage == .truncatedFile && cut.others.isEmpty && cut.present == nil)
            #expect(try mpg123(Array(bytes[..<frames[199].upperBound])) == cut.samples)
            #expect(cut.declared == (options == "-b 128" ? 441_000 : nil))
        }
    }

    // MARK: - Length tags

    @Test func `Xing with half the frames: everything is delivered, more than declared`() throws {
        let bytes = try mp3("-V 2")
        let count = try mpegFrames(of: bytes).count - 1
        let decoding = try decode(setting(count / 2, at: 8, in: bytes))
        #expect(try decoding.samples == mpg123(bytes))
        let declared = try #require(decoding.declared)
        #expect(declared + 200_000 < decoding.frameCount && decoding.others.isEmpty)
    }

    @Test func `Xing with 0 frames: the length is unknown, and every frame is delivered`() throws {
        let bytes = try mp3("-V 2")
        let decoding = try decode(setting(0, at: 8, in: bytes))
        #expect(decoding.declared == nil && decoding.others.isEmpty && decoding.endDamage == nil)
        #expect(try decoding.frameCount == (mpegFrames(of: bytes).count - 1) * 1152)
    }

    @Test func `Xing with too many frames: they are declared, and the sound ends before`() throws {
        let bytes = try mp3("-V 2")
        let count = try mpegFrames(of: bytes).count - 1
        let decoding = try decode(setting(2 * count, at: 8, in: bytes))
        let whole = try decode(bytes)
        #expect(decoding.declared == 441_000 + Int64(count) * 1152)
        // Nobody knows whether the last frames are padding.
        #expect(decoding.samples.starts(with: whole.samples) && decoding.frameCount - whole.frameCount <= 2304)
    }

    /// A stream behind a frame with the tag VBRI.
    private func vbri(_ sound: [UInt8], frames: Int) -> [UInt8] {
        func big(_ value: Int, _ size: Int) -> [UInt8] { (1...size).map { UInt8(truncatingIfNeeded: value >> (8 * (size - $0))) } }
        var tag: [UInt8] = [0xff, 0xfb, 0x90, 0x00] + [UInt8](repeating: 0, count: 32) + Array("VBRI".utf8)
        tag += big(1, 2) + big(0x3ee0, 2) + big(75, 2) + big(417 + sound.count, 4) + big(frames, 4)
        return tag + [UInt8](repeating: 0, count: 417 - tag.count) + sound
    }

    @Test func `VBRI: its frame count is the declared length, and its frame is no sound`() throws {
        let sound = try mp3("-t -V 2")
        let count = try mpegFrames(of: sound).count
        let bytes = vbri(sound, frames: count)
        let decoding = try decode(bytes)
        #expect(decoding.declared == Int64(count * 1152) && decoding.present == decoding.declared && decoding.others.isEmpty)
        #expect(try decoding.samples == mpg123(sound))
        #expect(try isClose(decoding.samples, ffmpeg(bytes)))
        #expect(try decode(bytes + bytes).samples.count == 2 * decoding.samples.count)
    }

    // MARK: - Joints

    @Test(arguments: ["-b 128", "-V 2"]) func `concatenated files: the frames of each, exactly`(options: String) throws {
        let bytes = try mp3(options)
        let once = try decode(bytes)
        #expect(once.frameCount == 441_000)
        #expect(try isClose(once.samples, ffmpeg(bytes)))
        #expect(try mpg123(bytes) == once.samples)
        let tag = id3(Array("TIT2".utf8) + [0, 0, 0, 5, 0, 0, 0] + Array("song".utf8) + [UInt8](repeating: 0, count: 500))
        for joint in [[], tag, [UInt8](repeating: 0, count: 700), Array("TAG".utf8) + [UInt8](repeating: 0x41, count: 125)] {
            let twice = try decode(bytes + joint + bytes)
            #expect(twice.samples == once.samples + once.samples && twice.others.isEmpty, "\(joint.count)")
            #expect(twice.declared == 882_000 && twice.present == nil && twice.endDamage == nil)
        }
    }

    @Test func `file without a tag behind one with a tag: all of both, and the length is unknown`() throws {
        let (first, second) = (try mp3(), try mp3("-t"))
        let decoding = try decode(first + second)
        #expect(try decoding.samples == mpg123(first) + mpg123(second))
        #expect(decoding.declared == nil && decoding.others.isEmpty)
    }

    @Test func `concatenated files, the first one cut: every frame of both, and the declared length of both`() throws {
        let bytes = try mp3()
        let cut = Array(bytes[..<(try mpegFrames(of: bytes)[200].lowerBound)])
        let decoding = try decode(cut + bytes)
        #expect(decoding.others.isEmpty && decoding.declared == 882_000 && decoding.frameCount == 199 * 1152 - 1105 + 441_000)
        #expect(try decoding.samples.suffix(882_000) == mpg123(bytes)[...])
    }

    @Test func `stream of another rate behind another: a change of the format`() throws {
        let (first, second) = (try mp3("-t"), try mp3("-t --resample 32"))
        let decoding = try decode(first + second)
        let (a, b) = (try mpg123(first), try mpg123(second))
        #expect(decoding.samples == a + b)
        #expect(decoding.others == [.format(StreamFormat(sampleRate: 32_000, channelCount: 2))] && decoding.places == [a.count / 2])
    }

    @Test func `single frame of another rate: one gap in its place`() throws {
        var bytes = try mp3("-t -b 128")
        let frames = try mpegFrames(of: bytes)
        // 48 kHz.
        bytes[frames[100].lowerBound + 2] = bytes[frames[100].lowerBound + 2] & 0xf3 | 0x04
        let decoding = try decode(bytes)
        #expect(decoding.others.first == .gap(Gap(frames: 1152, reason: .damagedFile)) && decoding.places.first == 100 * 1152)
        #expect(decoding.frameCount + Int(decoding.gaps.reduce(0, +)) == frames.count * 1152)
        #expect(decoding.gaps.reduce(0, +) <= 3 * 1152)
    }

    @Test func `mono and stereo in turns: every frame, with the channels of the first`() throws {
        let (stereo, mono) = (try mp3("-t -b 128 --nores"), try mp3("-t -b 128 --nores -m m"))
        let (pairs, singles) = (try mpegFrames(of: stereo), try mpegFrames(of: mono))
        var mixed: [UInt8] = []
        for index in 0..<300 { mixed += index / 10 % 2 == 0 ? stereo[pairs[index]] : mono[singles[index]] }
        let decoding = try decode(mixed)
        #expect(decoding.format.channelCount == 2 && decoding.frameCount == 300 * 1152 && decoding.others.isEmpty)
        let both = decoding.samples[(15 * 1152 * 2)..<(18 * 1152 * 2)]
        #expect(both.contains { abs($0) > 0.1 })
        let first = try decode(Array(mixed[pairs[9].upperBound...]))
        #expect(first.format.channelCount == 1 && first.frameCount == 290 * 1152 && first.others.isEmpty)
    }

    // MARK: - Damage

    @Test(arguments: ["-b 128", "-t -b 128"]) func `damaged frames with right headers: a gap, the same for every buffer`(options: String)
        throws
    {
        var bytes = try mp3(options)
        let whole = try decode(bytes)
        for frame in try mpegFrames(of: bytes)[100..<200] {
            for index in frame.dropFirst(4) { bytes[index] = 0x7f }
        }
        let first = try decode(bytes)
        let gap = try #require(first.gaps.first)
        #expect((100 * 1152...103 * 1152).contains(gap) && first.frameCount + Int(gap) == whole.frameCount)
        #expect(first.others == [.gap(Gap(frames: gap, reason: .damagedFile))])
        #expect(try decode(bytes, room: 1) == first)
        #expect(try decode(bytes, room: 5000) == first)
    }

    @Test(arguments: ["-b 128", "-t -b 128"]) func `zeros in the middle: a gap of their length`(options: String) throws {
        var bytes = try mp3(options)
        let whole = try decode(bytes)
        let frames = try mpegFrames(of: bytes)
        for index in frames[100].lowerBound..<frames[200].lowerBound { bytes[index] = 0 }
        let decoding = try decode(bytes)
        #expect(decoding.gaps.contains(100 * 1152))
        #expect(decoding.frameCount + Int(decoding.gaps.reduce(0, +)) == whole.frameCount)
    }

    @Test func `side information by which the audio of two frames overlaps: a gap there`() throws {
        var bytes = try mp3("-t -b 128")
        let whole = try decode(bytes)
        let frames = try mpegFrames(of: bytes)
        let next = frames[101].lowerBound
        try #require(Int(bytes[next + 4]) << 1 | Int(bytes[next + 5]) >> 7 > 400, "the reservoir is not full")
        // The length of the audio of the first granule and channel: 4095 bits.
        bytes[frames[100].lowerBound + 6] |= 0x0f
        bytes[frames[100].lowerBound + 7] = 0xff
        let decoding = try decode(bytes)
        let lost = decoding.gaps.reduce(0, +)
        #expect((1152...4 * 1152).contains(lost) && decoding.frameCount + Int(lost) == whole.frameCount)
        #expect(decoding.places.allSatisfy { (100 * 1152...101 * 1152).contains($0) })
    }

    @Test(arguments: [[0x7f, 0x7f, 0x7f, 0x7f], [0, 0, 0x40, 0], [0, 0, 0, 20]] as [[UInt8]])
    func `ID3 tag between two frames: every frame is read, whatever length the tag states`(size: [UInt8]) throws {
        let bytes = try mp3("-t -b 128")
        let whole = try decode(bytes)
        let place = try mpegFrames(of: bytes)[200].lowerBound
        let decoding = try decode(Array(bytes[..<place]) + id3([UInt8](repeating: 0, count: 20), size: size) + bytes[place...])
        #expect(decoding.samples == whole.samples && decoding.others.isEmpty)
    }

    @Test func `ID3 tag that contains frames: they are not decoded`() throws {
        let bytes = try mp3("-t -b 128")
        let frames = try mpegFrames(of: bytes)
        let content = [UInt8](repeating: 0, count: 100) + bytes[frames[10].lowerBound..<frames[20].lowerBound] + [0, 0, 0]
        let place = frames[200].lowerBound
        #expect(try decode(Array(bytes[..<place]) + id3(content) + bytes[place...]).samples == decode(bytes).samples)
    }

    @Test func `start in the middle of a stream: no damage`() throws {
        let bytes = try mp3("-t -V 0")
        let part = Array(bytes[(try mpegFrames(of: bytes)[101].lowerBound)...])
        let decoding = try decode(part)
        #expect(decoding.others.isEmpty && decoding.endDamage == nil)
        #expect(try decoding.samples == mpg123(part))
    }

    // MARK: - Hostile files

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            [0xff, 0xfb, 0x00, 0x00], [0xff, 0xe3, 0x18, 0xc4], Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 0], [0xff],
            [0xff, 0xfb, 0x90, 0x64, 0],
        ] as [[UInt8]])
    func `bytes that look like frames or tags everywhere: an error or an end, soon`(pattern: [UInt8]) throws {
        let bytes = Array(repeatElement(pattern, count: 1 << 18).joined())
        if let decoding = try? decode(bytes) { #expect(decoding.frameCount < 1 << 30) }
        let sound = try mp3("-t", frames: 20_000)
        #expect(try decode(sound + bytes + sound).frameCount >= 40_000)
    }

    @Test func `no frame at all: an error`() throws {
        let text: [UInt8] = [0xff, 0xfe] + Array(repeatElement([0x41, 0, 0x42, 0] as [UInt8], count: 3000).joined())
        for bytes in [[UInt8](repeating: 0, count: 1000), Array("RIFF and so on".utf8), [], text] {
            #expect(throws: Problem.self) { try decode(bytes) }
        }
    }
}
