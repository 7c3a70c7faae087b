extension Header {
    /// WAV, and its 64-bit kin RF64 and BW64, where a `ds64` chunk states the length.
    mutating func readWave(_ file: InputFile, from start: Int64, _ head: [UInt8]) {
        let isBig = head.hasText("RIFX", at: 0)
        let is64 = !head.hasText("RIFF", at: 0) && !isBig
        let riffSize = Int64(head.unsigned32(at: 4, big: isBig))
        var position = start + 12
        var sizeBy64: Int64?
        var formatChunk: [UInt8] = []
        for _ in 0..<Self.chunkLimit {
            let chunk = file.bytes(at: position, count: 8)
            guard chunk.count == 8 else { return }
            let size = Int64(chunk.unsigned32(at: 4, big: isBig))
            if chunk.hasText("fmt ", at: 0), formatChunk.isEmpty {
                formatChunk = file.bytes(at: position, count: 8 + Int(min(size, 64)))
                guard formatChunk.count >= 24 else { return }
                channelCount = Int(formatChunk.unsigned16(at: 10, big: isBig))
                sampleRate = Int(formatChunk.unsigned32(at: 12, big: isBig))
                channelOrder = ChannelOrder(waveFormat: formatChunk, isBig: isBig)
            } else if chunk.hasText("ds64", at: 0), is64 {
                let long = file.bytes(at: position + 8, count: 24)
                guard long.count == 24 else { return }
                sizeBy64 = Int64(clamping: long.unsigned64(at: 8, big: false))
            } else if chunk.hasText("fact", at: 0) {
                let frames = file.bytes(at: position + 8, count: 4)
                if frames.count == 4 { statedFrames = Int64(frames.unsigned32(at: 0, big: isBig)) }
            } else if chunk.hasText("data", at: 0) {
                guard !formatChunk.isEmpty else { return }
                let isBy64 = is64 && size == 0xffff_ffff
                let stated = isBy64 ? (sizeBy64 ?? 0) : size
                let present = max(0, file.size - position - 8)
                let isUnknown =
                    isBy64
                    ? (stated == 0 || stated == .max) && present > 0
                    : Self.isUnknown(
                        stated, present: present, isOpenEnded: is64 || riffSize + 8 <= position + 8 - start || Self.isPlaceholder(riffSize))
                data = DataRegion(
                    offset: position + 8, stated: isUnknown ? nil : stated, present: present,
                    frameSize: Self.waveFrameSize(formatChunk, isBig: isBig))
                // libsndfile would find nothing in a length of 0, and no more than 4 GiB in one of 0xffffffff; and it knows RF64 but
                // not BW64.
                let isLost = stated == 0 || present > 0xffff_ffff || is64
                if !isBig, isUnknown && isLost || head.hasText("BW64", at: 0) {
                    view = ByteView(
                        header: Self.waveHeader(formatChunk, bytes: isUnknown ? present : min(stated, present)),
                        replaced: position + 8)
                }
                return
            }
            position += 8 + size + size % 2
        }
    }

    /// Bytes of a frame in a WAV; nil for block codecs.
    private static func waveFrameSize(_ chunk: [UInt8], isBig: Bool) -> Int64? {
        var tag = chunk.unsigned16(at: 8, big: isBig)
        if tag == 0xfffe, chunk.count >= 34 { tag = chunk.unsigned16(at: 32, big: isBig) }
        // Whole numbers, floating point, A-law, µ-law.
        guard [1, 3, 6, 7].contains(tag) else { return nil }
        let channels = Int64(chunk.unsigned16(at: 10, big: isBig))
        let bits = Int64(chunk.unsigned16(at: 22, big: isBig))
        let size = channels * ((bits + 7) / 8)
        return size > 0 ? size : nil
    }

    /// A header of RF64 with the format of the old one and the length that is true.
    private static func waveHeader(_ formatChunk: [UInt8], bytes: Int64) -> [UInt8] {
        var header: [UInt8] = Array("RF64".utf8) + [0xff, 0xff, 0xff, 0xff] + Array("WAVEds64".utf8)
        header += UInt32(28).littleEndianBytes
        header += UInt64(12 + 36 + formatChunk.count + 8 + Int(bytes) - 8).littleEndianBytes
        header += UInt64(bytes).littleEndianBytes + UInt64(0).littleEndianBytes + UInt32(0).littleEndianBytes
        header += Array("fmt ".utf8) + UInt32(formatChunk.count - 8).littleEndianBytes + formatChunk[8...]
        return header + Array("data".utf8) + [0xff, 0xff, 0xff, 0xff]
    }

    // MARK: Wave64

    static let wave64: [UInt8] = [
        0x72, 0x69, 0x66, 0x66, 0x2e, 0x91, 0xcf, 0x11, 0xa5, 0xd6, 0x28, 0xdb, 0x04, 0xc1, 0x00, 0x00,
    ]

    /// Sony Wave64: 16 bytes of name and 8 of size, which counts these 24.
    mutating func readWave64(_ file: InputFile, from start: Int64, _ head: [UInt8]) {
        var position = start + 40
        var frameSize: Int64?
        for _ in 0..<Self.chunkLimit {
            let chunk = file.bytes(at: position, count: 24)
            guard chunk.count == 24 else { return }
            let size = Int64(clamping: chunk.unsigned64(at: 16, big: false))
            if chunk.hasText("fmt ", at: 0) {
                // As in a WAV, whose chunk has 8 bytes before the same fields.
                let formatChunk = [UInt8](repeating: 0, count: 8) + file.bytes(at: position + 24, count: 40)
                guard formatChunk.count >= 24 else { return }
                channelCount = Int(formatChunk.unsigned16(at: 10, big: false))
                sampleRate = Int(formatChunk.unsigned32(at: 12, big: false))
                channelOrder = ChannelOrder(waveFormat: formatChunk, isBig: false)
                frameSize = Self.waveFrameSize(formatChunk, isBig: false)
            } else if chunk.hasText("fact", at: 0) {
                let frames = file.bytes(at: position + 24, count: 8)
                if frames.count == 8 { statedFrames = Int64(clamping: frames.unsigned64(at: 0, big: false)) }
            } else if chunk.hasText("data", at: 0) {
                let present = max(0, file.size - position - 24)
                let stated = size - 24
                // ffmpeg writes the largest number there is to a pipe; 0, with sound behind it, is as unfinished.
                let isUnknown = size >= .max - 0xffff || (stated <= 0 && present > 0)
                data = DataRegion(
                    offset: position + 24, stated: isUnknown ? nil : max(0, stated), present: present, frameSize: frameSize)
                return
            }
            guard size >= 24, size < file.size else { return }
            position += (size + 7) / 8 * 8
        }
    }
}
