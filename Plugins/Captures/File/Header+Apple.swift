internal import HemiolaRIFF

extension Header {
    /// AIFF and AIFF-C: `COMM` holds the format and the number of frames, `SSND` the samples.
    mutating func readAIFF(_ file: InputFile, from start: Int64) {
        var reader = ChunkReader(file, layout: .iff, from: start + 12, limit: Self.chunkLimit)
        var frameSize: Int64?
        while let chunk = reader.next() {
            switch chunk.name {
            case "COMM":
                let common = reader.content(of: chunk, limit: 22)
                guard common.count >= 18 else { return }
                let channels = Int(common.unsigned16(at: 0, isBigEndian: true))
                channelCount = channels
                declaredFrames = Int64(common.unsigned32(at: 2, isBigEndian: true))
                sampleRate = common.extended80(at: 8)
                let size = Self.sampleSize(common).map { $0 * Int64(channels) }
                frameSize = size == 0 ? nil : size
            case "CHAN":
                channelOrder = ChannelOrder(coreAudioLayout: reader.content(of: chunk, limit: 512))
            case "SSND":
                // An offset and a block size of 4 bytes each precede the samples. The declared size may be 0, so it does not limit this read.
                let offset = file.bytes(at: chunk.offset, count: 4)
                guard offset.count == 4 else { return }
                let skip = 8 + Int64(offset.unsigned32(at: 0, isBigEndian: true))
                let present = max(0, file.size - chunk.offset - skip)
                let isUnknown = chunk.size == 0 && present > 0 || DeclaredLength.isPlaceholder(chunk.size) && chunk.size > present
                data = DataRegion(
                    offset: chunk.offset + skip, declared: isUnknown ? nil : max(0, chunk.size - skip), present: present,
                    frameSize: frameSize)
                // Where the data is complete, COMM may follow it.
                if frameSize != nil || isUnknown || chunk.size > file.size { return }
            default: break
            }
            if let frameSize, data != nil {
                data?.frameSize = frameSize
                return
            }
        }
    }

    /// Size of a sample in bytes, from the content of `COMM`; nil for block codecs.
    private static func sampleSize(_ common: [UInt8]) -> Int64? {
        let codec = common.count == 22 ? String(decoding: common[18..<22], as: UTF8.self) : "NONE"
        return switch codec {
        case "NONE", "twos", "sowt", "raw ", "in24", "in32", "42n1", "23ni":
            (Int64(common.unsigned16(at: 6, isBigEndian: true)) + 7) / 8
        case "fl32", "FL32": 4
        case "fl64", "FL64": 8
        case "alaw", "ALAW", "ulaw", "ULAW": 1
        default: nil
        }
    }

    /// Apple's Core Audio Format: `desc` holds the format, `data` the samples, with a size of -1 where the length is unknown.
    mutating func readCAF(_ file: InputFile, from start: Int64) {
        var reader = ChunkReader(file, layout: .caf, from: start + 8, limit: Self.chunkLimit)
        var frameSize: Int64?
        while let chunk = reader.next() {
            switch chunk.name {
            case "desc":
                let description = reader.content(of: chunk, limit: 32)
                guard description.count == 32 else { return }
                let rate = Double(bitPattern: description.unsigned64(at: 0, isBigEndian: true))
                sampleRate = Int(exactly: rate.rounded()).map { max(0, $0) } ?? 0
                channelCount = Int(description.unsigned32(at: 24, isBigEndian: true))
                let packetSize = Int64(description.unsigned32(at: 16, isBigEndian: true))
                if packetSize > 0, description.unsigned32(at: 20, isBigEndian: true) == 1 { frameSize = packetSize }
            case "chan" where chunk.size > 0:
                channelOrder = ChannelOrder(coreAudioLayout: reader.content(of: chunk, limit: 512))
            case "data":
                // An edit count of 4 bytes precedes the samples.
                let sound = chunk.offset + 4
                let present = max(0, file.size - sound)
                let isUnknown =
                    chunk.size < 0 || chunk.size == .max
                    || (chunk.size <= 4 && present > 0 && chunk.offset + chunk.size == file.size)
                let region = DataRegion(
                    offset: sound, declared: isUnknown ? nil : max(0, chunk.size - 4), present: present, frameSize: frameSize)
                data = region
                // libsndfile refuses a size of -1, which the format allows, and one beyond the end of the file.
                if isUnknown || region.isTruncated, sound - 16 - start < 1 << 20 {
                    let header = file.bytes(at: start, count: Int(sound - 12 - start)) + UInt64(present + 4).bigEndianBytes
                    view = ByteView(header: header + [0, 0, 0, 0], replacedCount: sound)
                }
                return
            default: break
            }
        }
    }
}

extension [UInt8] {
    /// The integer part of an 80-bit floating-point number, the type of AIFF's sample rate; 0 for negative numbers and fractions.
    fileprivate func extended80(at offset: Int) -> Int {
        let exponent = Int(unsigned16(at: offset, isBigEndian: true) & 0x7fff) - 16383
        let mantissa = unsigned64(at: offset + 2, isBigEndian: true)
        guard self[offset] & 0x80 == 0, (0...62).contains(exponent) else { return exponent > 62 ? Int.max : 0 }
        return Int(mantissa >> UInt64(63 - exponent))
    }
}
