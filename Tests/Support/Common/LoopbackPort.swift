import Synchronization

/// Ports for programs that have to be told one. Where a test opens the socket itself, let it bind port 0 and ask.
public enum LoopbackPort {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    /// Below the ports that Linux gives to sockets that name none (32768 and up), so that no other socket of the machine takes one between
    /// its reservation and its use.
    private static let range = 20_000..<32_000
    /// Processes that test at the same time begin at different places.
    private static let next = Mutex(Int.random(in: range))

    /// A port on which nothing listens, and which no other test of this process gets.
    public static func reserve() throws -> Int {
        for _ in range {
            let port = next.withLock { next in
                next = next + 1 == range.upperBound ? range.lowerBound : next + 1
                return next
            }
            if (try? TCPServer(port: port)) != nil, (try? DatagramReceiver(port: port)) != nil { return port }
        }
        throw Failure(description: "all ports of \(range) are in use")
    }
}
