internal import Glibc
public import HemiolaSystem

/// A UDP socket that receives datagrams. Closed on deinitialization.
public struct DatagramListener: ~Copyable, Sendable {
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
        switch SocketAddress.resolve(NetworkTarget(host: endpoint.host, port: endpoint.port), isNumeric: false) {
        case .success(let found): address = found
        case .failure(let error): throw Problem("\(endpoint): \(error.message)")
        }
        let descriptor = try SocketType.makeSocket(address, SocketType.datagram)
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else {
            let code = errno
            closeSocket(descriptor)
            let remedy =
                switch code {
                case EADDRINUSE: "; end the program that uses the port, or use another"
                case EADDRNOTAVAIL: "; use an address of this computer, or 0.0.0.0 for all"
                case EACCES: "; use a port from 1024 on"
                default: ""
                }
            throw Problem("\(endpoint): \(SystemCallError(number: code))\(remedy)")
        }
        return descriptor
    }

    deinit {
        closeSocket(descriptor)
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
