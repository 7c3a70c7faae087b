/// A part of a file that one decoder reads from its start to its end: the whole file, a link of a chained Ogg file, or what lies
/// between two damaged places.
struct Section: Sendable, Hashable {
    /// What is lost between a section and the one before it.
    enum Loss: Sendable, Hashable {
        /// Nothing: another stream begins, or the file does.
        case nothing
        /// So many frames, estimated from the bytes that are damaged.
        case frames(Int64)
        /// The distance between the two sections' ends, less what the decoder counts in this one. In granules; nil per second:
        /// as many as frames.
        case distance(Int64, perSecond: Int?)
    }

    /// What libsndfile is shown of the file.
    var view = ByteView()
    var lossBefore = Loss.nothing
    /// Whether the stream goes on behind this section, or was meant to: it has no end-of-stream page.
    var lacksEnd = false
    /// Whether parts inside of it are missing that the decoder passes over.
    var isDamaged = false
}

/// The bytes that a decoder is shown: the file's own, or the file behind a mended header.
///
/// libsndfile refuses or misreads headers that a program could not finish because it wrote to a pipe. Rather than copy the
/// file, it is shown one whose first bytes are other ones.
struct ByteView: Sendable, Hashable {
    /// Stands in the place of the file's first `replaced` bytes.
    var header: [UInt8] = []
    /// Bytes at the start of the file that are not shown, 0….
    var replaced: Int64 = 0
    /// Bytes at the end of the file that are not shown, 0….
    var hidden: Int64 = 0
    /// Where a decoder that asks finds the end, when that is not where it is. Reading still ends where the file ends, but for
    /// `ByteView.tagSize` zeros before the claimed end, where mpg123 looks for a tag.
    var claimedEnd: Int64?

    /// Bytes of an ID3v1 tag, which stands at the very end.
    static let tagSize: Int64 = 128
}
