import Glibc

/// A socket that is bound to a free port of the loopback interface.
final class Receiver {
    private let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)

    init() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        withAddress(&address) { _ = bind(descriptor, $0, $1) }
    }

    var port: UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withAddress(&address) { address, _ in getsockname(descriptor, address, &length) }
        return address.sin_port.bigEndian
    }

    /// The next datagram; nil when none has arrived.
    func receive() -> String? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }

    private func withAddress(_ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Void) {
        withUnsafeMutableBytes(of: &address) { body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) }
    }

    deinit { close(descriptor) }
}
