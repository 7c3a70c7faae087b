internal import Glibc
public import Hemiola
internal import NIOCore

/// A UDP socket that receives datagrams. Closed on deinitialization.
public final class DatagramListener: Sendable {
    /// The longest datagram.
    public static let maxByteCount = 65_536

    /// For `WakeUp.wait`.
    public let descriptor: Int32

    /// Binds a socket.
    ///
    /// - Parameter endpoint: An address of this computer: `127.0.0.1` for its own programs, `0.0.0.0` or `::` for all.
    /// - Throws: The address is not one of this computer, or its port is in use.
    public init(_ endpoint: NetworkEndpoint) throws(Problem) {
        descriptor = try Self.bound(endpoint)
    }

    private static func bound(_ endpoint: NetworkEndpoint) throws(Problem) -> Int32 {
        let address: SocketAddress
        do {
            address = try SocketAddress.makeAddressResolvingHost(endpoint.host, port: endpoint.port)
        } catch {
            throw Problem("\(endpoint): \((error as? SocketAddressError.UnknownHost)?.errorDescription ?? "no address")")
        }
        let descriptor = socket(
            Int32(address.protocol.rawValue), SocketType.datagram | SocketType.nonBlocking | SocketType.closeOnExec, 0)
        guard descriptor >= 0 else { throw Problem("cannot make a socket: \(SystemCallError.last)") }
        guard address.withSockAddr({ bind(descriptor, $0, socklen_t($1)) }) != 0 else { return descriptor }
        let code = errno
        close(descriptor)
        let remedy =
            switch code {
            case EADDRINUSE: "; end the program that uses the port, or use another"
            case EADDRNOTAVAIL: "; use an address of this computer, or 0.0.0.0 for all"
            case EACCES: "; use a port from 1024 on"
            default: ""
            }
        throw Problem("\(endpoint): \(SystemCallError(number: code))\(remedy)")
    }

    deinit {
        close(descriptor)
    }

    /// The next datagram that has arrived; nil: there is none. Never blocks.
    ///
    /// - Parameter buffer: Memory of ``maxByteCount`` bytes, which is used again.
    public func receive(_ buffer: inout [UInt8]) -> ArraySlice<UInt8>? {
        // Safe: the system writes at most the length of the buffer.
        let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
        return count < 0 ? nil : buffer[..<count]
    }
}
