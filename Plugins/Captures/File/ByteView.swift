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
