internal import Hemiola

/// A listening TCP socket.
struct ListeningSocket {
    /// Number of ports after the given one that are tried if it is in use.
    static let furtherPorts = 20

    let descriptor: FileDescriptor
    /// The address in its canonical form, which browsers send as `Host`.
    let address: String
    /// The port that the system has assigned.
    let port: Int

    /// - Parameters:
    ///   - address: An IPv4 or IPv6 address of this machine, as text.
    ///   - port: 0: any free port.
    /// - Throws: An error that names the address and port, and the remedy.
    init(address: String, port: Int) throws(Problem) {
        guard let canonical = InternetAddress.canonical(address) else { throw Problem(Self.fault(inAddress: address)) }
        self.address = canonical
        let place = "\(address.contains(":") ? "[\(address)]" : address):\(port)"
        let last = port == 0 ? 0 : min(65_535, port + Self.furtherPorts)
        for candidate in port...last {
            do {
                let found = try InternetAddress.listen(at: address, port: candidate)
                descriptor = found.socket
                self.port = found.port
                return
            } catch {
                guard error.code == .addressInUse else {
                    throw Problem("cannot listen on \(place): \(error)\(Self.hint(error))")
                }
            }
        }
        throw Problem("\(place): Address already in use, as are the ports up to \(last); choose another one: --sink web:port=NUMBER")
    }

    /// The message for text that is not an IP address.
    static func fault(inAddress address: String) -> String {
        "\"\(address)\" is not an IP address; use 127.0.0.1, 0.0.0.0 (all addresses of this machine), or one of its addresses"
    }

    /// Closes the descriptor, if no bridge owns it.
    func close() {
        descriptor.close()
    }

    private static func hint(_ error: SystemCallError) -> String {
        switch error.code {
        case .addressNotAvailable: "; bind= must be an address of this machine"
        case .permissionDenied: "; use a port above 1023"
        default: ""
        }
    }
}
