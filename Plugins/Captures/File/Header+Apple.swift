internal import HemiolaRIFF

extension Header {
    /// AIFF and AIFF-C: `COMM` has the format and a count of frames, `SSND` the sound.
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
                statedFrames = Int64(common.unsigned32(at: 2, isBigEndian: true))
                sampleRate = common.extended80(at: 8)
                let size = Self.sampleSize(common).map { $0 * Int64(channels) }
                frameSize = size == 0 ? nil : size
            case "CHAN":
                channelOrder = ChannelOrder(coreAudioLayout: reader.content(of: chunk, limit: 512))
            case "SSND":
                // Read past the declared size, which may be 0: an offset and a block size of 4 bytes each stand before the sound.
                let offset = file.bytes(at: chunk.offset, count: 4)
                guard offset.count == 4 else { return }
                let skip = 8 + Int64(offset.unsigned32(at: 0, isBigEndian: true))
                let present = max(0, file.size - chunk.offset - skip)
                let isUnknown = chunk.size == 0 && present > 0 || DeclaredLength.isPlaceholder(chunk.size) && chunk.size > present
                data = DataRegion(
                    offset: chunk.offset + skip, stated: isUnknown ? nil : max(0, chunk.size - skip), present: present,
                    frameSize: frameSize)
                // COMM may come behind it, where the sound is whole.
                if frameSize != nil || isUnknown || chunk.size > file.size { return }
            default: break
            }
            if let frameSize, data != nil {
                data?.frameSize = frameSize
                return
            }
        }
    }

    /// Bytes of a sample, from the content of `COMM`; nil for block codecs.
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

    /// Apple's Core Audio Format: `desc` has the format, `data` the sound, of -1 bytes where the length is not known.
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
                // An edit count of 4 bytes stands before the sound.
                let sound = chunk.offset + 4
                let present = max(0, file.size - sound)
                let isUnknown =
                    chunk.size < 0 || chunk.size == .max
                    || (chunk.size <= 4 && present > 0 && chunk.offset + chunk.size == file.size)
                let region = DataRegion(
                    offset: sound, stated: isUnknown ? nil : max(0, chunk.size - 4), present: present, frameSize: frameSize)
                data = region
                // libsndfile refuses a length of -1, which the format allows, and one that the file does not bear out.
                if isUnknown || region.isCutOff, sound - 16 - start < 1 << 20 {
                    let header = file.bytes(at: start, count: Int(sound - 12 - start)) + UInt64(present + 4).bigEndianBytes
                    view = ByteView(header: header + [0, 0, 0, 0], replaced: sound)
                }
                return
            default: break
            }
        }
    }
}

extension [UInt8] {
    /// The 80-bit floating-point number that AIFF keeps its rate in, as a whole number; 0 for what is none.
    fileprivate func extended80(at offset: Int) -> Int {
        let exponent = Int(unsigned16(at: offset, isBigEndian: true) & 0x7fff) - 16383
        let mantissa = unsigned64(at: offset + 2, isBigEndian: true)
        guard self[offset] & 0x80 == 0, (0...62).contains(exponent) else { return exponent > 62 ? Int.max : 0 }
        return Int(mantissa >> UInt64(63 - exponent))
    }
}
