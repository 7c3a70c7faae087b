extension Header {
    /// AIFF and AIFF-C: `COMM` has the format and a count of frames, `SSND` the sound.
    mutating func readAIFF(_ file: InputFile, from start: Int64) {
        var position = start + 12
        var frameSize: Int64?
        for _ in 0..<Self.chunkLimit {
            let chunk = file.bytes(at: position, count: 8)
            guard chunk.count == 8 else { return }
            let size = Int64(chunk.unsigned32(at: 4, big: true))
            if chunk.hasText("COMM", at: 0) {
                let common = file.bytes(at: position + 8, count: 22)
                guard common.count >= 18 else { return }
                channelCount = Int(common.unsigned16(at: 0, big: true))
                statedFrames = Int64(common.unsigned32(at: 2, big: true))
                sampleRate = common.extended80(at: 8)
                let codec = size >= 22 && common.count == 22 ? String(decoding: common[18..<22], as: UTF8.self) : "NONE"
                let bytes: Int64? =
                    switch codec {
                    case "NONE", "twos", "sowt", "raw ", "in24", "in32", "42n1", "23ni":
                        (Int64(common.unsigned16(at: 6, big: true)) + 7) / 8
                    case "fl32", "FL32": 4
                    case "fl64", "FL64": 8
                    case "alaw", "ALAW", "ulaw", "ULAW": 1
                    default: nil
                    }
                frameSize = bytes.map { $0 * Int64(channelCount!) }
                if frameSize == 0 { frameSize = nil }
            } else if chunk.hasText("CHAN", at: 0) {
                channelOrder = ChannelOrder(coreAudioLayout: file.bytes(at: position + 8, count: Int(min(size, 512))))
            } else if chunk.hasText("SSND", at: 0) {
                let offset = file.bytes(at: position + 8, count: 4)
                guard offset.count == 4 else { return }
                let skip = Int64(offset.unsigned32(at: 0, big: true))
                let present = max(0, file.size - position - 16 - skip)
                let isUnknown = size == 0 && present > 0 || Self.isPlaceholder(size) && size > present
                data = DataRegion(
                    offset: position + 16 + skip, stated: isUnknown ? nil : max(0, size - 8 - skip), present: present,
                    frameSize: frameSize)
                // COMM may come behind it, where the sound is whole.
                if frameSize != nil || isUnknown || size > file.size { return }
            }
            if let frameSize, data != nil {
                data?.frameSize = frameSize
                return
            }
            position += 8 + size + size % 2
        }
    }

    /// Apple's Core Audio Format: `desc` has the format, `data` the sound, of -1 bytes where the length is not known.
    mutating func readCAF(_ file: InputFile, from start: Int64) {
        var position = start + 8
        var frameSize: Int64?
        for _ in 0..<Self.chunkLimit {
            let chunk = file.bytes(at: position, count: 12)
            guard chunk.count == 12 else { return }
            let size = Int64(bitPattern: chunk.unsigned64(at: 4, big: true))
            if chunk.hasText("desc", at: 0) {
                let description = file.bytes(at: position + 12, count: 32)
                guard description.count == 32 else { return }
                let rate = Double(bitPattern: description.unsigned64(at: 0, big: true))
                sampleRate = Int(exactly: rate.rounded()).map { max(0, $0) } ?? 0
                channelCount = Int(description.unsigned32(at: 24, big: true))
                let packetSize = Int64(description.unsigned32(at: 16, big: true))
                if packetSize > 0, description.unsigned32(at: 20, big: true) == 1 { frameSize = packetSize }
            } else if chunk.hasText("chan", at: 0), size > 0 {
                channelOrder = ChannelOrder(coreAudioLayout: file.bytes(at: position + 12, count: Int(min(size, 512))))
            } else if chunk.hasText("data", at: 0) {
                // An edit count of 4 bytes stands before the sound.
                let present = max(0, file.size - position - 16)
                let isUnknown = size < 0 || size == .max || (size <= 4 && present > 0 && position + 12 + size == file.size)
                data = DataRegion(
                    offset: position + 16, stated: isUnknown ? nil : max(0, size - 4), present: present, frameSize: frameSize)
                // libsndfile refuses a length of -1, which the format allows, and one that the file does not bear out.
                if isUnknown || data!.isCutOff, position - start < 1 << 20 {
                    let header = file.bytes(at: start, count: Int(position + 4 - start)) + UInt64(present + 4).bigEndianBytes
                    view = ByteView(header: header + [0, 0, 0, 0], replaced: position + 16)
                }
                return
            }
            guard size >= 0, size < file.size else { return }
            position += 12 + size
        }
    }
}
