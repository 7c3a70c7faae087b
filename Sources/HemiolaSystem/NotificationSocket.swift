internal import Glibc

/// The datagram socket of a service manager, by the protocol of `sd_notify(3)`. Thread-safe; never blocks.
package struct NotificationSocket: Sendable {
    private let descriptor: Int32
    private let address: [UInt8]

    /// The socket that `NOTIFY_SOCKET` names: a path, or `@` and the name of an abstract socket.
    ///
    /// - Parameter name: The value of the variable; nil: it is unset.
    /// - Returns: nil when there is none, or its name is not valid.
    package init?(_ name: String?) {
        guard let name, name.hasPrefix("/") || name.hasPrefix("@"), name.utf8.count < MemoryLayout<sockaddr_un>.size - 2 else {
            return nil
        }
        descriptor = socket(AF_UNIX, SocketType.datagram | SocketType.closeOnExec, 0)
        guard descriptor >= 0 else { return nil }
        address = Array(name.utf8)
    }

    /// Sends an assignment. A message that the socket does not accept at once is lost.
    package func send(_ text: String) {
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &target.sun_path) { path in
            path.copyBytes(from: address)
            // The name of an abstract socket begins with a zero byte.
            if path[0] == UInt8(ascii: "@") { path[0] = 0 }
        }
        // Of an abstract name every byte counts; a path ends before the zero that follows.
        let length = socklen_t(MemoryLayout.size(ofValue: target.sun_family) + address.count)
        let bytes = Array(text.utf8)
        withUnsafePointer(to: &target) { target in
            target.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
                _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), target, length)
            }
        }
    }
}
