import Foundation
import Glibc

/// A TCP server on the loopback interface. Use from one thread. All calls block it, each with a time limit.
public final class TCPServer {
    private let descriptor: Int32
    public let port: Int

    /// Listens.
    ///
    /// - Parameter port: 0: any free port.
    public init(port: Int = 0) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let result = withUnsafeMutableBytes(of: &address) { bytes in
            let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
            return bind(descriptor, address, length) == 0 && listen(descriptor, 64) == 0 && getsockname(descriptor, address, &length) == 0
        }
        guard result else { throw SocketClient.Failure(description: "cannot listen on port \(port): \(String(cString: strerror(errno)))") }
        self.port = Int(in_port_t(bigEndian: address.sin_port))
    }

    deinit {
        close(descriptor)
    }

    /// The next connection.
    ///
    /// - Throws: No client connects in time.
    public func accept(timeout seconds: Double = 60) throws -> SocketClient {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, Int32(seconds * 1000)) > 0 else {
            throw SocketClient.Failure(description: "timeout: no client has connected")
        }
        let connection = Foundation.accept(descriptor, nil, nil)
        guard connection >= 0 else { throw SocketClient.Failure(description: "cannot accept: \(String(cString: strerror(errno)))") }
        return SocketClient(descriptor: connection)
    }
}
