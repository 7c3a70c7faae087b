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
