/// The first frame of MPEG audio where it is no sound, but a tag that declares the length: `Xing` or `Info`, with LAME's extension, or `VBRI`
/// of Fraunhofer.
public struct MPEGTag: Sendable {
    /// The delay in frames of sound that every decoder of layer III has.
    private static let decoderDelay: Int64 = 529

    /// The number of frames of MPEG audio that follow; nil: not declared.
    public private(set) var frameCount: Int64?
    /// The size in bytes of all frames, with this one; nil: not declared.
    public private(set) var totalSize: Int64?
    /// Frames of sound that encoder and decoder put before the sound, 0….
    public private(set) var delay: Int64 = 0
    /// Frames of sound that they put behind it, 0….
    public private(set) var padding: Int64 = 0
    /// The offset in bytes of LAME's extension, which begins with the name of the encoder; nil: there is none.
    public private(set) var extensionOffset: Int?

    /// Reads a tag.
    ///
    /// - Parameters:
    ///   - frame: The first frame of a file.
    ///   - bytes: Those from the frame's header on.
    /// - Returns: nil where the frame is sound.
    public init?(_ frame: MPEGFrame, _ bytes: UnsafeBufferPointer<UInt8>) {
        func number(_ offset: Int) -> Int64? {
            let number = offset + 4 <= bytes.count ? bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) } : 0
            return number > 0 ? number : nil
        }
        guard frame.layer == 3 else { return nil }
        if number(36) == 0x5642_5249 {  // "VBRI"
            (totalSize, frameCount) = (number(46), number(50))
            return
        }
        // A CRC does not move it.
        let start = 4 + frame.sideSize
        guard let name = number(start), name == 0x5869_6e67 || name == 0x496e_666f,  // "Xing", "Info"
            bytes[6..<start].allSatisfy({ $0 == 0 })
        else { return nil }
        let flags = Int(number(start + 4) ?? 0)
        let fields = start + 8
        if flags & 1 != 0 { frameCount = number(fields) }
        if flags & 2 != 0 { totalSize = number(fields + 4 * (flags & 1)) }
        // A field is there if its flag is set.
        let end = fields + 4 * (flags & 1) + 4 * (flags >> 1 & 1) + 100 * (flags >> 2 & 1) + 4 * (flags >> 3 & 1)
        // Without the number of frames, nobody can tell where the padding begins.
        guard let count = frameCount, end + 24 <= bytes.count, bytes[end] != 0 else { return }
        extensionOffset = end
        let both = bytes[end + 21..<end + 24].reduce(0) { $0 << 8 | Int64($1) }
        let (delay, padding) = (both >> 12 + Self.decoderDelay, max(0, both & 0xfff - Self.decoderDelay))
        // Padding that is longer than the sound is not true.
        if delay + padding <= count * Int64(frame.length) { (self.delay, self.padding) = (delay, padding) }
    }
}
