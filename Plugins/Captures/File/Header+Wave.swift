internal import HemiolaRIFF

extension Header {
    /// WAV, and its 64-bit variants RF64 and BW64, where a `ds64` chunk holds the sizes.
    mutating func readWave(_ file: InputFile, from start: Int64, _ riff: WaveFileHeader) {
        let isBig = riff.isBigEndian
        var reader = ChunkReader(file, layout: riff.layout, from: start + Int64(WaveFileHeader.size), limit: Self.chunkLimit)
        var sizeBy64: Int64?
        var formatChunk: [UInt8] = []
        var format: WaveFormat?
        while let chunk = reader.next() {
            switch chunk.name {
            case "fmt " where format == nil:
                formatChunk = reader.content(of: chunk, limit: 64)
                guard let read = WaveFormat(formatChunk, isBigEndian: isBig) else { return }
                format = read
                take(read)
            case "ds64" where riff.is64Bit:
                // Only the size of `data` is read. A shorter chunk does not contain it: then the length is unknown.
                let lengths = reader.content(of: chunk, limit: 16)
                if lengths.count == 16 { sizeBy64 = Int64(clamping: lengths.unsigned64(at: 8, isBigEndian: false)) }
            case "fact":
                let frames = reader.content(of: chunk, limit: 4)
                if frames.count == 4 { declaredFrames = Int64(frames.unsigned32(at: 0, isBigEndian: isBig)) }
            case "data":
                guard let format else { return }
                let isBy64 = riff.is64Bit && chunk.size == 0xffff_ffff
                let declared = isBy64 ? (sizeBy64 ?? 0) : chunk.size
                let present = max(0, file.size - chunk.offset)
                let isOpenEnded =
                    riff.is64Bit || riff.fileSize + 8 <= chunk.offset - start || DeclaredLength.isPlaceholder(riff.fileSize)
                let isUnknown =
                    isBy64
                    ? (declared == 0 || declared == .max) && present > 0
                    : Self.isUnknown(declared, present: present, isOpenEnded: isOpenEnded)
                data = DataRegion(
                    offset: chunk.offset, declared: isUnknown ? nil : declared, present: present, frameSize: Self.frameSize(of: format))
                // libsndfile reads nothing with a size of 0, and at most 4 GiB with one of 0xffffffff; it supports RF64 but not BW64.
                let isLost = declared == 0 || present > 0xffff_ffff || riff.is64Bit
                if !isBig, isUnknown && isLost || file.bytes(at: start, count: 4).hasText("BW64", at: 0) {
                    view = ByteView(
                        header: Self.waveHeader(formatChunk, bytes: isUnknown ? present : min(declared, present)),
                        replacedCount: chunk.offset)
                }
                return
            default: break
            }
        }
    }

    private mutating func take(_ format: WaveFormat) {
        channelCount = format.channelCount
        sampleRate = format.sampleRate
        channelOrder = format.channelMap.map(ChannelOrder.explicit) ?? .unknown
    }

    /// Size of a frame in bytes; nil for block codecs.
    private static func frameSize(of format: WaveFormat) -> Int64? {
        let codec = format.subformatTag ?? format.formatTag
        guard [WaveFormat.pcm, WaveFormat.float, WaveFormat.aLaw, WaveFormat.muLaw].contains(codec) else { return nil }
        let size = Int64(format.channelCount) * Int64((format.bitsPerSample + 7) / 8)
        return size > 0 ? size : nil
    }

    /// An RF64 header with the same format and the actual size.
    private static func waveHeader(_ formatChunk: [UInt8], bytes: Int64) -> [UInt8] {
        var header: [UInt8] = Array("RF64".utf8) + [0xff, 0xff, 0xff, 0xff] + Array("WAVEds64".utf8)
        header += UInt32(28).littleEndianBytes
        header += UInt64(12 + 36 + 8 + formatChunk.count + 8 + Int(bytes) - 8).littleEndianBytes
        header += UInt64(bytes).littleEndianBytes + UInt64(0).littleEndianBytes + UInt32(0).littleEndianBytes
        header += Array("fmt ".utf8) + UInt32(formatChunk.count).littleEndianBytes + formatChunk
        return header + Array("data".utf8) + [0xff, 0xff, 0xff, 0xff]
    }

    // MARK: Wave64

    static let wave64: [UInt8] = [
        0x72, 0x69, 0x66, 0x66, 0x2e, 0x91, 0xcf, 0x11, 0xa5, 0xd6, 0x28, 0xdb, 0x04, 0xc1, 0x00, 0x00,
    ]

    /// Sony Wave64: the chunks of a WAV with 64-bit sizes.
    mutating func readWave64(_ file: InputFile, from start: Int64) {
        var reader = ChunkReader(file, layout: .wave64, from: start + 40, limit: Self.chunkLimit)
        var frameSize: Int64?
        while let chunk = reader.next() {
            switch chunk.name {
            case "fmt ":
                guard let format = WaveFormat(reader.content(of: chunk, limit: WaveFormat.maximumSize), isBigEndian: false) else { return }
                take(format)
                frameSize = Self.frameSize(of: format)
            case "fact":
                let frames = reader.content(of: chunk, limit: 8)
                if frames.count == 8 { declaredFrames = Int64(clamping: frames.unsigned64(at: 0, isBigEndian: false)) }
            case "data":
                let present = max(0, file.size - chunk.offset)
                // ffmpeg writes the largest number to a pipe; 0 with audio after it is unknown too.
                let isUnknown = chunk.size >= .max - 0xffff - 24 || (chunk.size <= 0 && present > 0)
                data = DataRegion(
                    offset: chunk.offset, declared: isUnknown ? nil : max(0, chunk.size), present: present, frameSize: frameSize)
                return
            default: break
            }
        }
    }
}

extension FixedWidthInteger {
    var littleEndianBytes: [UInt8] { (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
    var bigEndianBytes: [UInt8] { littleEndianBytes.reversed() }
}
