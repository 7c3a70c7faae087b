public import HemiolaRecords
public import HemiolaSignal
public import HemiolaSystem

/// Reads audio from a source, in the format that it reports. Called on the analysis thread only.
///
/// Lifecycle: make (check settings, open nothing) → `open` (open the source, get its format) → `read` … → `close` once.
/// Only a capture may read a clock.
public protocol Capture: AnyObject {
    /// Whether audio arrives in real time, read or not: then the newest audio is kept, and lost audio is reported as a gap of exact
    /// length. From a source that is not live nothing is ever dropped.
    var isLive: Bool { get }

    /// Opens the source. The format may differ from the requested one.
    func open(_ request: FormatRequest) throws(Problem) -> StreamSource

    /// Waits at most 100 ms for audio and writes it to the front of `samples`, interleaved.
    ///
    /// - Parameter samples: Room for a whole number of frames, at least one.
    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult

    /// Closes the source. Called once after every `open` that succeeded.
    func close()
}

/// The result of a read. Copied several times per batch: the cases of many bytes, which are rare, are stored elsewhere (`indirect`).
public enum ReadResult: Sendable, Hashable {
    /// The number of frames at the front of the buffer, 1….
    case frames(Int)
    /// Audio was lost; frames read before stay valid.
    case gap(Gap)
    /// From the next frames on the format is another. A new stream begins.
    case format(StreamFormat)
    /// From the next frames on the source is another, and its format may be. A new stream begins, whose header names it.
    indirect case source(StreamSource)
    /// The source was opened, moved or lost.
    indirect case device(DeviceEvent)
    /// No audio yet.
    case idle
    /// The end of the source.
    case end
}

/// A capture that can start over, for analyzers with a first pass over the whole stream.
public protocol RewindableCapture: Capture {
    /// Returns to the first frame. The same samples are read again.
    func rewind() throws(Problem)
}
