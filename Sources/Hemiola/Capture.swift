public import HemiolaSignal

/// Delivers audio to whoever asks next, in the format it states. Used by the analysis thread alone.
///
/// Lifecycle: make (check settings, touch nothing) → `open` (touch the world, learn the format) → `read` … → `close` once.
/// Only a capture may read a clock.
public protocol Capture: AnyObject {
    /// Whether the world goes on while nobody reads: then the newest audio wins and losses are told as gaps. From a
    /// source that is not live nothing is ever dropped.
    var isLive: Bool { get }

    /// Opens the source. The format may differ from the wish.
    func open(_ wish: FormatWish) throws(CaptureError) -> StreamSource

    /// Waits at most 100 ms for audio and writes it to the front of `samples`, interleaved.
    ///
    /// - Parameter samples: Room for a whole number of frames, at least one.
    func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> Delivery

    /// Lets go of the source. Called once after every `open` that succeeded.
    func close()
}

/// What a capture has for its reader.
public enum Delivery: Sendable, Hashable {
    /// So many frames stand at the front of the buffer, 1….
    case frames(Int)
    /// Audio was lost; what was delivered before stands.
    case gap(Gap)
    /// From the next frames on the format is another. A new stream begins.
    case format(StreamFormat)
    /// From the next frames on the source is another, and its format may be. A new stream begins, whose header names it.
    case source(StreamSource)
    /// The source was opened, moved or lost.
    case device(DeviceNotice)
    /// Nothing yet.
    case idle
    /// Nothing more will come.
    case end
}

/// A capture that can start over, so that analyzers may look at the whole of it before they answer.
public protocol RewindableCapture: Capture {
    /// Back to the first frame. What was delivered before is delivered again, sample for sample.
    func rewind() throws(CaptureError)
}
