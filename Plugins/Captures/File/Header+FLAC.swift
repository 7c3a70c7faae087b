extension Header {
    /// FLAC: the first block has the format, and the frames that were meant to be.
    mutating func readFLAC(_ head: [UInt8]) {
        guard head.count >= 26, head[4] & 0x7f == 0 else { return }
        // 20 bits of rate, 3 of channels less one, 5 of bits less one, 36 of frames; 0 is unknown.
        let packed = head.unsigned64(at: 18, big: true)
        sampleRate = Int(packed >> 44)
        channelCount = Int(packed >> 41 & 7) + 1
        channelOrder = .flac
        let frames = Int64(packed & 0xf_ffff_ffff)
        statedFrames = frames == 0 ? nil : frames
    }
}
