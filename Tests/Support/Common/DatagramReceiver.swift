import Glibc

/// A UDP socket that receives datagrams on this machine. Use from one thread.
public final class DatagramReceiver {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    private let descriptor: Int32
    /// The port that the system chose, or the given one.
    public let port: Int

    /// Binds a socket.
    ///
    /// - Parameters:
    ///   - port: 0: one that is free.
    ///   - group: An IPv4 multicast group that it joins on the loopback interface; nil: only 127.0.0.1.
    public init(port: Int = 0, group: String? = nil) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, group ?? "127.0.0.1", &address.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            return bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
        }
        self.port = Int(in_port_t(bigEndian: address.sin_port))
        guard result else { throw Failure(description: "cannot bind port \(port): \(String(cString: strerror(errno)))") }
        guard let group else { return }
        var request = ip_mreqn()
        inet_pton(AF_INET, group, &request.imr_multiaddr)
        request.imr_ifindex = Int32(if_nametoindex("lo"))
        let joined = setsockopt(descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, socklen_t(MemoryLayout<ip_mreqn>.size))
        guard joined == 0 else { throw Failure(description: "cannot join \(group): \(String(cString: strerror(errno)))") }
    }

    deinit {
        close(descriptor)
    }

    /// Sends a datagram to a port of 127.0.0.1. Whether somebody receives it is not known.
    public func send(_ bytes: [UInt8], to port: Int) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        _ = withUnsafeBytes(of: &address) { address in
            let pointer = address.assumingMemoryBound(to: sockaddr.self).baseAddress
            return sendto(descriptor, bytes, bytes.count, 0, pointer, socklen_t(address.count))
        }
    }

    /// The next datagram; nil when none arrives in time.
    public func receive(timeout seconds: Double = 5) -> [UInt8]? {
        receiveWithTime(timeout: seconds)?.bytes
    }

    /// Waits until one of these receivers has a datagram, or some seconds are over.
    public static func wait(for receivers: [DatagramReceiver], seconds: Double) {
        var requests = receivers.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        poll(&requests, nfds_t(requests.count), Int32(seconds * 1000))
    }

    /// The next datagram, and when the kernel received it, in seconds since 1970: also on a busy machine, where this thread reads it later.
    public func receiveWithTime(timeout seconds: Double = 5) -> (bytes: [UInt8], time: Double)? {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, Int32(seconds * 1000)) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        // The only control message: its header, which is 16 bytes long, and the time.
        var control = (cmsghdr(), timespec())
        let count = bytes.withUnsafeMutableBytes { buffer in
            withUnsafeMutableBytes(of: &control) { control in
                var vector = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
                return withUnsafeMutablePointer(to: &vector) { vector in
                    var message = msghdr()
                    (message.msg_iov, message.msg_iovlen) = (vector, 1)
                    (message.msg_control, message.msg_controllen) = (control.baseAddress, .init(control.count))
                    return recvmsg(descriptor, &message, 0)
                }
            }
        }
        let time = Double(control.1.tv_sec) + Double(control.1.tv_nsec) * 1e-9
        return count < 0 ? nil : (Array(bytes[..<count]), time)
    }
}

/// A TCP socket that accepts connections on this machine. Use from one thread.
public final class StreamReceiver {
    private let listener: Int32
    private var connection: Int32 = -1
    public let port: Int

    /// - Parameter port: 0: one that is free.
    public init(port: Int = 0) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            return bind(listener, pointer, length) == 0 && listen(listener, 4) == 0 && getsockname(listener, pointer, &length) == 0
        }
        self.port = Int(in_port_t(bigEndian: address.sin_port))
        guard result else { throw DatagramReceiver.Failure(description: "cannot listen: \(String(cString: strerror(errno)))") }
    }

    deinit {
        close(listener)
        closeConnection()
    }

    /// Accepts a connection.
    ///
    /// - Returns: Whether one was made in time.
    public func accept(timeout seconds: Double = 5) -> Bool {
        guard wait(listener, seconds) else { return false }
        closeConnection()
        connection = Glibc.accept(listener, nil, nil)
        return connection >= 0
    }

    /// The next bytes, so many; nil when they do not arrive in time, or the connection ends.
    public func receive(_ count: Int, timeout seconds: Double = 5) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard wait(connection, seconds) else { return nil }
            var part = [UInt8](repeating: 0, count: count - bytes.count)
            let size = recv(connection, &part, part.count, 0)
            if size <= 0 { return nil }
            bytes += part[..<size]
        }
        return bytes
    }

    public func closeConnection() {
        if connection >= 0 { close(connection) }
        connection = -1
    }

    private func wait(_ descriptor: Int32, _ seconds: Double) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, Int32(seconds * 1000)) > 0
    }
}
