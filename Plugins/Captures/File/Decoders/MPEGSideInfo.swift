internal import HemiolaPCM

/// The side information of a frame of layer III. ISO/IEC 11172-3, 2.4.1.7, and 13818-3, 2.4.1.7.
struct MPEGSideInfo {
    /// How many bytes before this frame its audio begins: in the frames before.
    private(set) var mainDataBegin = 0
    /// The size of its audio in bytes, rounded up.
    private(set) var audioSize = 0
    /// Bytes in this frame that hold audio, of this frame or of the following ones.
    let roomSize: Int

    /// nil: a field has a forbidden value, or the audio does not fit.
    init?(_ frame: MPEGFrame, _ bytes: UnsafeBufferPointer<UInt8>) {
        roomSize = frame.size - frame.sideOffset - frame.sideSize
        guard roomSize >= 0, bytes.count > frame.sideOffset + frame.sideSize else { return nil }
        var bit = frame.sideOffset * 8
        func take(_ count: Int) -> Int {
            // At most 12 bits, which are in three bytes; more than that follows the last field.
            let byte = bit >> 3
            let value = Int(bytes[byte]) << 16 | Int(bytes[byte + 1]) << 8 | Int(bytes[byte + 2])
            defer { bit += count }
            return value >> (24 - bit & 7 - count) & ((1 << count) - 1)
        }
        let channels = frame.isMono ? 1 : 2
        mainDataBegin = take(frame.isVersion1 ? 9 : 8)
        bit += frame.isVersion1 ? (frame.isMono ? 5 : 3) + 4 * channels : channels
        var bits = 0
        for _ in 0..<channels * (frame.isVersion1 ? 2 : 1) {
            bits += take(12)
            let bigValues = take(9)
            bit += frame.isVersion1 ? 12 : 17
            let (isSwitched, blockType) = (take(1) == 1, take(2))
            bit += frame.isVersion1 ? 23 : 22
            if bigValues > 288 || isSwitched && blockType == 0 { return nil }
        }
        audioSize = (bits + 7) / 8
        if audioSize > mainDataBegin + roomSize { return nil }
    }
}
