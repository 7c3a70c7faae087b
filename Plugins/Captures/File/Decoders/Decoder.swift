internal import Hemiola

/// Decodes a sound file, from its first frame to its last, and reports what is missing or damaged.
///
/// A decoder is made for one pass; another pass makes another, because a seek in a lossy format does not yield the same bits.
protocol Decoder: AnyObject {
    /// The format of the next frames.
    var format: StreamFormat { get }
    /// The tags of the file.
    var tags: SoundTags { get }
    /// The number of frames that the file declares, 0…; nil: it declares none, or none that is plausible.
    var declaredFrames: Int64? { get }
    /// By how many frames the sound of a complete file may differ from `declaredFrames`, 0…: in lossy formats, encoders and decoders
    /// differ in the padding.
    var lengthTolerance: Int64 { get }
    /// The number of frames that can be read; nil: only decoding shows it.
    var presentFrames: Int64? { get }
    /// What is wrong with the end of the file, read after `.end`; nil: nothing that the decoder has seen.
    var endDamage: Gap.Reason? { get }

    /// Goes on at a later frame without decoding those before it, if the format allows that with the same samples. Called before `read`.
    /// Returns the number of frames that are skipped, 0…`count`.
    func skip(_ count: Int64) -> Int64

    /// Reads the next frames to the front of `samples`, interleaved.
    ///
    /// - Parameter samples: Room for a whole number of frames of `format`, at least one.
    /// - Returns: `.frames`; a `.gap` where audio is lost; `.format` before frames of another format; `.end`, also when called again.
    /// - Throws: When nothing that follows can be decoded.
    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult
}

extension Decoder {
    var tags: SoundTags { SoundTags() }
    var lengthTolerance: Int64 { 0 }
    var endDamage: Gap.Reason? { nil }
    func skip(_ count: Int64) -> Int64 { 0 }
}
