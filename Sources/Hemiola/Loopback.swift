/// An output of its own in a sound server, which a capture of the same plugin can hear: for measuring how long a sound takes.
///
/// Used by one thread.
public protocol Loopback: AnyObject {
    /// What the capture's primary setting takes to hear it.
    var device: String { get }

    /// Plays a click: one loud sample between silent ones.
    ///
    /// - Returns: When it was handed to the server, in seconds of the monotonic clock.
    func click() throws(CaptureError) -> Double

    /// Takes the output away again. Called once.
    func close()
}
