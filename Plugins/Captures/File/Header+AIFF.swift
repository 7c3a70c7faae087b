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
}
