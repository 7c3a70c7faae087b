public import Hemiola
internal import HemiolaSystem
internal import NIOCore

/// A UDP socket that receives datagrams. Closed on deinitialization.
public final class DatagramListener: Sendable {
    /// The longest datagram.
    public static let maxByteCount = 65_536

    /// For `WakeUp.wait`.
    public var descriptor: Int32 { socket.number }

    // NIO has a protocol of this name.
    private let socket: HemiolaSystem.FileDescriptor

    /// Binds a socket.
    ///
    /// - Parameter endpoint: An address of this computer: `127.0.0.1` for its own programs, `0.0.0.0` or `::` for all.
    /// - Throws: The address is not one of this computer, or its port is in use.
    public init(_ endpoint: NetworkEndpoint) throws(Problem) {
        socket = try Self.bound(endpoint)
    }

    private static func bound(_ endpoint: NetworkEndpoint) throws(Problem) -> HemiolaSystem.FileDescriptor {
        let address: SocketAddress
        do {
            address = try SocketAddress.makeAddressResolvingHost(endpoint.host, port: endpoint.port)
        } catch {
            throw Problem("\(endpoint): \((error as? SocketAddressError.UnknownHost)?.errorDescription ?? "no address")")
        }
        do {
            let result = address.withSockAddr { address, length in
                Result { () throws(SystemCallError) in try InternetAddress.receiver(at: address, length: length) }
            }
            return try result.get()
        } catch {
            let remedy =
                switch error.code {
                case .addressInUse: "; end the program that uses the port, or use another"
                case .addressNotAvailable: "; use an address of this computer, or 0.0.0.0 for all"
                case .permissionDenied: "; use a port from 1024 on"
                default: ""
                }
            throw Problem("\(endpoint): \(error)\(remedy)")
        }
    }

    deinit {
        socket.close()
    }

    /// The next datagram that has arrived; nil: there is none. Never blocks.
    ///
    /// - Parameter buffer: Memory of ``maxByteCount`` bytes, which is used again.
    public func receive(_ buffer: inout [UInt8]) -> ArraySlice<UInt8>? {
        // Safe: at most the length of the buffer is read, and the socket does not wait.
        let count = buffer.withUnsafeMutableBytes { try? socket.read(into: $0) }
        return count.map { buffer[..<$0] }
    }
}
