internal import Glibc
internal import Hemiola
package import HemiolaSystem

// The calls of the system under names that differ from those of the senders' methods.

extension SocketType {
    /// Makes a socket that does not block and is not inherited.
    static func makeSocket(_ address: SocketAddress, _ kind: Int32) throws(Problem) -> Int32 {
        let descriptor = socket(address.domain, kind | nonBlocking | closeOnExec, 0)
        guard descriptor >= 0 else { throw Problem("cannot make a socket: \(SystemCallError.last)") }
        return descriptor
    }
}

func closeSocket(_ descriptor: Int32) {
    close(descriptor)
}

/// Sends bytes without blocking and without the signal for a closed connection.
///
/// - Returns: The number of bytes; negative: the error is in `errno`.
func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
}

extension WakeUp {
    /// For the thread of a sink.
    ///
    /// - Throws: No file descriptor is left.
    package static func forSink() throws(Problem) -> WakeUp {
        do throws(SystemCallError) { return try WakeUp() } catch { throw Problem("cannot create a pipe: \(error)") }
    }
}
