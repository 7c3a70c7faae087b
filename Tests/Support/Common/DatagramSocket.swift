import Foundation
import Glibc

/// A datagram socket that receives messages, such as that of a service manager. Use from one thread.
public final class DatagramSocket {
    private let descriptor: Int32

    /// Binds a socket.
    ///
    /// - Parameter name: A path, or `@` and the name of an abstract socket.
    public init(_ name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: name.utf8)
            if name.hasPrefix("@") { path[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0 else { throw SocketClient.Failure(description: "cannot bind \(name): \(String(cString: strerror(errno)))") }
    }

    deinit {
        close(descriptor)
    }

    /// The next message; nil when none arrives in time.
    public func receive(timeout seconds: Double) -> String? {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, Int32(seconds * 1000)) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }
}
