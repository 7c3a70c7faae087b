internal import HemiolaPCM

/// Consecutive frames of MPEG audio that one encoder wrote: a file, or one of several that were concatenated. Its first frame may be a tag.
struct MPEGSection {
    let first: MPEGFrame
    /// The offset of the first frame in the file, in bytes.
    private let start: Int64
    /// Whether the first frame is a tag, and no sound.
    private(set) var hasTag = false
    /// The frames of sound that the tag declares, with delay and padding; nil: none, or an impossible number.
    private var declaredLength: Int64?
    /// The offset in the file behind the last frame, as the tag declares it.
    private(set) var declaredEnd: Int64?
    /// Frames of sound that encoder and decoder put before the sound, 0….
    private var delay: Int64 = 0
    /// Frames of sound that they put behind it, 0….
    private(set) var padding: Int64 = 0
    /// The frames of sound that are decoded or lost, with delay and padding.
    private var length: Int64 = 0

    /// A section that begins with the frame that was read last.
    init(_ frames: MPEGFrameReader) {
        (first, start) = (frames.frame, frames.offset)
        guard let tag = MPEGTag(first, frames.bytes) else { return }
        hasTag = true
        declaredEnd = tag.totalSize.map { start + $0 }
        (delay, padding) = (tag.delay, tag.padding)
        declaredLength = tag.frameCount.map { $0 * Int64(first.length) }.flatMap { $0 <= DeclaredLength.maximumFrames ? $0 : nil }
    }

    /// The declared frames of sound without delay and padding.
    var declaredFrames: Int64? { declaredLength.map { max(0, $0 - delay - padding) } }
    /// Declared frames of sound that are not read, 0….
    var missingLength: Int64 { max(0, (declaredLength ?? 0) - length) }

    /// Whether all that the tag declares has been read.
    func isComplete(at offset: Int64) -> Bool { declaredLength == length && offset >= declaredEnd ?? .max }

    /// The duration in frames of sound of bytes that are lost before an offset, by the mean bit rate before them.
    func length(ofBytes lostBytes: Int64, before offset: Int64) -> Int64 {
        let bytes = offset - lostBytes - start - Int64(hasTag ? first.size : 0)
        let frameSize = length > 0 ? Double(bytes) / Double(length) * Double(first.length) : Double(first.size)
        let lost = max(1, (Double(lostBytes) / frameSize).rounded()) * Double(first.length)
        return Int64(min(lost, Double(DeclaredLength.maximumFrames)))
    }

    /// Counts frames of sound. Returns how many of them are not the encoder's delay.
    mutating func add(_ frames: Int64) -> Int64 {
        let before = max(0, length - delay)
        length += frames
        return max(0, length - delay) - before
    }
}
