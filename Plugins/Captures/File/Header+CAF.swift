extension Header {
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
