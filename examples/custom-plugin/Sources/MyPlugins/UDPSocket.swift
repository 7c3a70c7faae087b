import Glibc
import Hemiola

/// A non-blocking UDP socket with one receiver. Closed with the object.
final class UDPSocket {
    private let descriptor: Int32
    /// Datagrams that were not sent.
    private(set) var lostCount = 0

    /// The address of a host in dotted form.
    static func address(_ host: String, _ port: Int) throws(Problem) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        guard inet_aton(host, &address.sin_addr) == 1 else {
            throw Problem("\"\(host)\" is not an IPv4 address", at: "host")
        }
        return address
    }

    init(to receiver: sockaddr_in) throws(Problem) {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let status = withUnsafeBytes(of: receiver) {
            connect(descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        guard status == 0 else { throw Problem("udp: \(String(cString: strerror(errno)))") }
    }

    /// Sends a datagram without waiting; false when it is too long, when the buffer is full, or when no program has the port.
    func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if Glibc.send(descriptor, bytes.baseAddress, bytes.count, 0) == bytes.count { return true }
        lostCount += 1
        return false
    }

    deinit { close(descriptor) }
}
