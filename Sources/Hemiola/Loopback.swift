public import HemiolaSystem

/// A private output in a sound server, which a capture of the same plugin can record: to measure the latency of the whole path.
///
/// Used by one thread.
public protocol Loopback: AnyObject {
    /// The value of the capture's primary setting that records it.
    var device: String { get }

    /// Plays a click: one loud sample between silent ones.
    ///
    /// - Returns: When it was handed to the server, in seconds of the monotonic clock.
    func click() throws(Problem) -> Double

    /// Takes the output away again. Called once.
    func close()
}
