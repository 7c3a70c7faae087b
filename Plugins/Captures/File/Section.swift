/// A part of a file that one decoder reads from start to end: the whole file, a link of a chained Ogg file, or the intact range
/// between two damaged places.
struct Section: Sendable, Hashable {
    /// The audio lost between a section and the one before it.
    enum Loss: Sendable, Hashable {
        /// Nothing: this section begins the file or another stream.
        case nothing
        /// A number of frames, estimated from the number of damaged bytes.
        case frames(Int64)
        /// The distance between the ends of the two sections, less the decoder's frame count of this one. In granules; with a rate of
        /// nil, granules are frames.
        case distance(Int64, perSecond: Int?)
    }

    /// The bytes that libsndfile reads.
    var view = ByteView()
    var lossBefore = Loss.nothing
    /// Whether the stream ends without its end: no end-of-stream page, or an incomplete last frame.
    var isTruncated = false
    /// Whether parts inside are missing that the decoder skips.
    var isDamaged = false
}

/// The bytes that a decoder reads: those of the file, or a corrected header followed by the rest of the file.
///
/// libsndfile refuses or misreads headers that a program could not complete because it wrote to a pipe. Replacing the first bytes
/// on the fly avoids a copy of the file.
struct ByteView: Sendable, Hashable {
    /// Replaces the file's first `replacedCount` bytes.
    var header: [UInt8] = []
    /// Bytes at the start of the file that the decoder does not read, 0….
    var replacedCount: Int64 = 0
    /// Bytes at the end of the file that the decoder does not read, 0….
    var trimmedCount: Int64 = 0
    /// The end of file that a seek reports, in bytes; nil: the actual one. Reads still stop at the actual end, except for
    /// `ByteView.tagSize` zeros before the reported end, where mpg123 searches for a tag.
    var reportedEnd: Int64?

    /// Size of an ID3v1 tag in bytes, the last bytes of a file.
    static let tagSize: Int64 = 128
}
