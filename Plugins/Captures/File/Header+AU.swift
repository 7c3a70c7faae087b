extension Header {
    /// Sun and NeXT audio, in either byte order: six numbers, and the sound.
    mutating func readAU(_ file: InputFile, from start: Int64, _ head: [UInt8]) {
        guard head.count >= 24 else { return }
        let isBig = head.hasText(".snd", at: 0)
        let offset = start + Int64(head.unsigned32(at: 4, big: isBig))
        let size = Int64(head.unsigned32(at: 8, big: isBig))
        channelCount = Int(head.unsigned32(at: 20, big: isBig))
        sampleRate = Int(head.unsigned32(at: 16, big: isBig))
        let sampleSizes: [UInt32: Int64] = [1: 1, 2: 1, 3: 2, 4: 3, 5: 4, 6: 4, 7: 8, 27: 1]
        let frameSize = sampleSizes[head.unsigned32(at: 12, big: isBig)].map { $0 * Int64(channelCount!) }
        let present = max(0, file.size - offset)
        let isUnknown = Self.isUnknown(size, present: present, isOpenEnded: true)
        data = DataRegion(offset: offset, stated: isUnknown ? nil : size, present: present, frameSize: frameSize == 0 ? nil : frameSize)
        // Nothing follows the sound in this format: a length that is too short is false, and libsndfile would believe it.
        understatesLength = !isUnknown && size + max(1, data?.frameSize ?? 1) <= present
        if understatesLength { data?.stated = nil }
        if isUnknown && size == 0 || understatesLength, offset >= start + 24, offset - start < 1 << 20 {
            var header = file.bytes(at: start, count: Int(offset - start))
            header.replaceSubrange(8..<12, with: [0xff, 0xff, 0xff, 0xff])
            view = ByteView(header: header, replaced: offset)
        }
    }
}
