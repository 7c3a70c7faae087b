import HemiolaSignal
import Testing

@testable import HemiolaPCM

@Suite struct WaveFormatTests {
    /// A `fmt ` chunk's content: 24 bits, 48 kHz, 2 channels, with 18 of `WAVEFORMATEX` or 40 bytes.
    private func content(tag: UInt16, isBigEndian: Bool = false, subformat: [UInt8]? = nil) -> [UInt8] {
        func number(_ value: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: isBigEndian ? value.bigEndian : value.littleEndian) { Array($0) }
        }
        let plain =
            number(tag) + number(UInt16(2)) + number(UInt32(48_000)) + number(UInt32(288_000)) + number(UInt16(6)) + number(UInt16(24))
        guard let subformat else { return plain + number(UInt16(0)) }
        return plain + number(UInt16(22)) + number(UInt16(24)) + number(UInt32(0x3)) + number(UInt16(1)) + subformat
    }

    private static let microsoft: [UInt8] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
    private static let ambisonic: [UInt8] = [0, 0, 0x21, 0x07, 0xd3, 0x11, 0x86, 0x44, 0xc8, 0xc1, 0xca, 0, 0, 0]

    @Test(arguments: [false, true]) func `WAVEFORMATEX: every field, in either byte order`(isBigEndian: Bool) throws {
        let format = try #require(WaveFormat(content(tag: 1, isBigEndian: isBigEndian), isBigEndian: isBigEndian))
        #expect(format.formatTag == WaveFormat.pcm && format.channelCount == 2 && format.sampleRate == 48_000)
        #expect(format.blockSize == 6 && format.bitsPerSample == 24 && format.channelMap == nil)
    }

    @Test(arguments: [microsoft, ambisonic]) func `WAVEFORMATEXTENSIBLE: mask and subformat`(guid: [UInt8]) throws {
        let format = try #require(WaveFormat(content(tag: 0xfffe, subformat: guid), isBigEndian: false))
        #expect(format.formatTag == WaveFormat.pcm && format.channelMap?.names == ["FL", "FR"])
    }

    @Test func `WAVEFORMATEXTENSIBLE with an unknown GUID: no known codec`() throws {
        let guid = [UInt8](repeating: 0x55, count: 14)
        #expect(try #require(WaveFormat(content(tag: 0xfffe, subformat: guid), isBigEndian: false)).formatTag == WaveFormat.extensible)
    }

    @Test func `truncated content: nil below 16 bytes, else the fields that are there`() throws {
        let whole = content(tag: 0xfffe, subformat: Self.microsoft)
        #expect(WaveFormat(Array(whole.prefix(15)), isBigEndian: false) == nil)
        #expect(try #require(WaveFormat(Array(whole.prefix(16)), isBigEndian: false)).channelMap == nil)
        let withoutGUID = try #require(WaveFormat(Array(whole.prefix(26)), isBigEndian: false))
        #expect(withoutGUID.formatTag == WaveFormat.extensible && withoutGUID.channelMap?.names == ["FL", "FR"])
    }

    @Test(arguments: [("RIFF", false, false), ("RIFX", true, false), ("RF64", false, true), ("BW64", false, true)])
    func `file header: variant, byte order and size`(name: String, isBigEndian: Bool, is64Bit: Bool) throws {
        let size: [UInt8] = isBigEndian ? [0, 0, 1, 4] : [4, 1, 0, 0]
        let header = try #require(WaveFileHeader(Array(name.utf8) + size + Array("WAVE".utf8)))
        #expect(header.isBigEndian == isBigEndian && header.is64Bit == is64Bit && header.fileSize == 260)
    }

    @Test(arguments: ["", "RIFF\0\0\0\0WAV", "RIFF\0\0\0\0AVI ", "FORM\0\0\0\0WAVE", "riff\0\0\0\0WAVE"])
    func `file header of another kind: nil`(text: String) {
        #expect(WaveFileHeader(Array(text.utf8)) == nil)
    }
}
