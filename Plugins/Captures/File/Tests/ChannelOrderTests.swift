import Foundation
import HemiolaRecords
import HemiolaSignal
import TestSupport
import Testing

@testable import FileCapture
@testable import HemiolaPCM

/// Each channel holds a sine of its own frequency, which identifies it.
@Suite struct ChannelOrderTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    private static let masks: [Int: UInt32] = [3: 0x7, 4: 0x33, 5: 0x37, 6: 0x3f, 7: 0x70f, 8: 0x63f]

    /// A WAV whose n-th loudspeaker, in the order of the mask, has a sine of 300 + 150 n Hz. LFE has 60 Hz, because codecs low-pass it.
    private func source(_ channels: Int) throws -> (path: String, hertz: [String: Double]) {
        let mask = try #require(Self.masks[channels])
        let names = try #require(ChannelMap(waveMask: mask, channelCount: channels)).names
        let hertz = names.enumerated().map { $1 == "LFE" ? 60 : 300 + 150 * Double($0) }
        var samples: [Float] = []
        for frame in 0..<48_000 {
            for frequency in hertz { samples.append(0.4 * Float(sin(2 * .pi * frequency * Double(frame) / 48_000))) }
        }
        var wav = WAVBytes(samples: samples, sampleRate: 48_000, channelCount: channels)
        wav.channelMask = mask
        return (try fixture.write(wav.bytes, to: "source\(channels).wav"), Dictionary(uniqueKeysWithValues: zip(names, hertz)))
    }

    private func expectTones(in path: String, _ hertz: [String: Double]) throws {
        let recording = try Recording(of: path)
        let map = try #require(recording.source.format.channelMap, "\(path) has no map")
        #expect(Set(map.names) == Set(hertz.keys))
        for (index, name) in map.names.enumerated() {
            let level = level(of: try #require(hertz[name]), in: recording.channel(index), rate: 48_000)
            #expect(level > 0.25, "\(name) is not in channel \(index) of \(path): \(level)")
        }
    }

    @Test(arguments: [3, 4, 5, 6, 7, 8]) func `WAV with a channel mask: each channel has its position`(channels: Int) throws {
        let (path, hertz) = try source(channels)
        try expectTones(in: path, hertz)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired), arguments: [3, 4, 5, 6, 7, 8], ["flac", "w64"])
    func `FLAC and Wave64: each channel has its position`(channels: Int, container: String) throws {
        let (path, hertz) = try source(channels)
        let other = fixture.path("a\(channels).\(container)")
        try Program.ffmpeg.run(["-v", "error", "-i", path, other])
        try expectTones(in: other, hertz)
    }

    @Test(.enabled(if: Program.flac.isRequired)) func `FLAC with a channel mask tag: the order is that of the tag`() throws {
        var wav = WAVBytes.sines(channels: 4, frames: 4800)
        wav.channelMask = 0x107
        let path = try fixture.write(wav.bytes, to: "a.wav")
        try Program.flac.run(["-s", "--channel-map=none", "--tag=WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x107", path])
        #expect(try Recording(of: fixture.path("a.flac")).source.format.channelMap?.names == ["FL", "FR", "FC", "BC"])
        // A tag with a wrong length is ignored.
        var bytes = try fixture.bytes(of: "a.flac")
        let tag = try #require(bytes.firstRange(of: Array("WAVEFORMATEXTENSIBLE".utf8))).lowerBound
        bytes[tag - 1] = 0x7f
        try fixture.write(bytes, to: "b.flac")
        #expect(try Recording(of: fixture.path("b.flac")).source.format.channelMap?.names == ["FL", "FR", "BL", "BR"])
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired), arguments: [3, 4, 5, 6, 7, 8])
    func `Vorbis: the order is that of its specification, section 4.3.9`(channels: Int) throws {
        let (path, hertz) = try source(channels)
        let other = fixture.path("a.ogg")
        try Program.ffmpeg.run(["-v", "error", "-i", path, "-c:a", "libvorbis", "-q:a", "6", other])
        try expectTones(in: other, hertz)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired), arguments: [3, 4, 6])
    func `Opus of mapping family 1: the order is that of Vorbis`(channels: Int) throws {
        let (path, hertz) = try source(channels)
        let other = fixture.path("a.opus")
        try Program.ffmpeg.run(["-v", "error", "-i", path, "-c:a", "libopus", "-b:a", "512k", "-mapping_family", "1", other])
        try expectTones(in: other, hertz)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired), arguments: [3, 4, 5, 6], ["caf", "aiff"])
    func `CAF and AIFF with a layout chunk: each channel has its position`(channels: Int, container: String) throws {
        let (path, hertz) = try source(channels)
        let other = fixture.path("a.\(container)")
        try Program.ffmpeg.run(["-v", "error", "-i", path, other])
        let recording = try Recording(of: other)
        let map = try #require(recording.source.format.channelMap)
        for (index, name) in map.names.enumerated() {
            // Core Audio's surround channels may be at the side or at the back: both have the same gain in a downmix.
            let tone = try #require(hertz[name] ?? hertz[name.replacing("S", with: "B")])
            #expect(level(of: tone, in: recording.channel(index), rate: 48_000) > 0.25)
        }
    }

    @Test func `WAV without a mask, or with a mask of too few loudspeakers: no positions`() throws {
        var wav = WAVBytes.sines(channels: 6, frames: 100)
        #expect(try Recording(of: fixture.write(wav.bytes, to: "a.wav")).source.format.channelMap == nil)
        wav.channelMask = 0
        #expect(try Recording(of: fixture.write(wav.bytes, to: "b.wav")).source.format.channelMap == nil)
        wav.channelMask = 0x3
        #expect(try Recording(of: fixture.write(wav.bytes, to: "c.wav")).source.format.channelMap == nil)
    }

    // MARK: - Layouts by hand

    private func layout(_ tag: UInt32, bits: UInt32 = 0, labels: [UInt32] = [], count: UInt32? = nil) -> ChannelMap? {
        let head = WAVBytes.big(tag) + WAVBytes.big(bits) + WAVBytes.big(count ?? UInt32(labels.count))
        return ChannelMap(coreAudioLayout: head + labels.flatMap { WAVBytes.big($0) + [UInt8](repeating: 0, count: 16) })
    }

    @Test func `Core Audio layout by tag, bitmap or labels: the positions`() {
        #expect(layout(121 << 16 | 6)?.names == ["FL", "FR", "FC", "LFE", "SL", "SR"])
        #expect(layout(124 << 16 | 6)?.names == ["FC", "FL", "FR", "SL", "SR", "LFE"])
        #expect(layout(1 << 16, bits: 0x3f)?.names == ["FL", "FR", "FC", "LFE", "BL", "BR"])
        #expect(layout(0, labels: [3, 1, 2, 4])?.names == ["FC", "FL", "FR", "LFE"])
    }

    @Test func `Core Audio layout with a wrong count, an unknown label or an unknown tag: no positions`() {
        #expect(layout(0, labels: [1, 2, 3], count: 4) == nil)
        #expect(layout(0, labels: [1, 2, 3], count: .max) == nil)
        #expect(layout(0, labels: [1, 2, 400]) == nil)
        #expect(layout(77 << 16 | 6) == nil)
        #expect(ChannelMap(coreAudioLayout: [0, 121]) == nil)
    }
}
