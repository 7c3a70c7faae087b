import Foundation
import HemiolaSignal
import Testing

@Suite struct ChannelMapTests {
    @Test func `WAVE mask: positions in the order of its bits`() {
        #expect(ChannelMap(waveMask: 0x3f, channelCount: 6)?.names == ["FL", "FR", "FC", "LFE", "BL", "BR"])
        #expect(ChannelMap(waveMask: 0x60f, channelCount: 6)?.names == ["FL", "FR", "FC", "LFE", "SL", "SR"])
        #expect(ChannelMap(waveMask: 0x63f, channelCount: 8)?.names == ["FL", "FR", "FC", "LFE", "BL", "BR", "SL", "SR"])
        #expect(ChannelMap(waveMask: 0x3ffff, channelCount: 3)?.names == ["FL", "FR", "FC"])
    }

    @Test func `WAVE mask with too few or too many loudspeakers: no map`() {
        #expect(ChannelMap(waveMask: 0, channelCount: 6) == nil)
        #expect(ChannelMap(waveMask: 0x3, channelCount: 6) == nil)
        #expect(ChannelMap(waveMask: 0x3ffff, channelCount: 17) == nil)
    }

    @Test func `positions: kept in order, at most sixteen, none twice`() {
        let sixteen = Array(ChannelPosition.allCases.reversed().prefix(16))
        #expect(ChannelMap(sixteen)?.positions == sixteen)
        #expect(ChannelMap(sixteen)?.count == 16)
        #expect(ChannelMap(ChannelPosition.allCases) == nil)
        #expect(ChannelMap([.frontLeft, .frontRight, .frontLeft]) == nil)
        #expect(ChannelMap([]) == nil)
        #expect(Set(ChannelPosition.allCases.map(\.name)).count == ChannelPosition.allCases.count)
    }

    @Test func `format with a map: more than two channels, equal in number`() throws {
        let map = try #require(ChannelMap([.frontLeft, .frontRight, .frontCenter]))
        var format = StreamFormat(sampleRate: 48_000, channelCount: 3, channelMap: map)
        #expect(format.channelMap == map)
        #expect(format != StreamFormat(sampleRate: 48_000, channelCount: 3))
        format.channelCount = 4
        #expect(format.channelMap == nil)
        #expect(StreamFormat(sampleRate: 48_000, channelCount: 2, channelMap: ChannelMap([.frontLeft, .backLeft])).channelMap == nil)
        #expect(StreamFormat(sampleRate: 48_000, channelCount: 6, channelMap: map).channelMap == nil)
    }

    @Test func `5.1 downmix: front channels as in stereo, centre at -3 dB in both`() throws {
        let map = try #require(ChannelMap(waveMask: 0x3f, channelCount: 6))
        let mix = ChannelMix(StreamFormat(sampleRate: 48_000, channelCount: 6, channelMap: map))
        #expect(mix.left[..<2] == [1, 0] && mix.right[..<2] == [0, 1] && mix.mono[..<2] == [0.5, 0.5])
        #expect(abs(20 * log10(mix.left[2]) + 3.01) < 0.01 && mix.left[2] == mix.right[2] && mix.mono[2] == mix.left[2])
        #expect(mix.left[3] == 0 && mix.right[3] == 0 && mix.mono[3] == 0)
        #expect(mix.left[4] == mix.left[2] && mix.right[4] == 0 && mix.right[5] == mix.left[2] && mix.left[5] == 0)
    }
}
