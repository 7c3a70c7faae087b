import Foundation
import Glibc

/// A client of a Unix or TCP socket that sends and receives lines or bytes. Use from one thread. All calls block it, each with a time limit.
public final class SocketClient {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    private let descriptor: Int32
    private var bytes: [UInt8] = []
    private var start = 0

    /// Connects to the program's socket. Waits for its file, and for its folder, which the program may make too.
    public init(_ path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        if access(folder, F_OK) != 0 {
            try FolderEvents((folder as NSString).deletingLastPathComponent).wait(for: folder) { access(folder, F_OK) == 0 }
        }
        var connected: Int32?
        try FolderEvents(folder).wait(for: "a socket \(path)") {
            connected = try Self.connected(to: path)
            if connected == nil, access(path, F_OK) == 0 {
                // The program locks the folder from before it makes the file until it listens.
                Self.waitForLock(of: folder)
                connected = try Self.connected(to: path)
            }
            return connected != nil
        }
        guard let connected else { throw Failure(description: "no connection to \(path)") }
        descriptor = connected
    }

    /// - Returns: nil: no program listens on the path.
    private static func connected(to path: String) throws -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if connect(descriptor, path) { return descriptor }
        let number = errno
        close(descriptor)
        guard number == ENOENT || number == ECONNREFUSED else {
            throw Failure(description: "cannot connect to \(path): \(String(cString: strerror(number)))")
        }
        return nil
    }

    /// Waits until no program holds the lock of a folder.
    private static func waitForLock(of folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        flock(descriptor, LOCK_SH)
        close(descriptor)
    }

    /// A connection that a server has accepted. The descriptor is closed with this object.
    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Connects to a TCP port of this machine.
    public init(port: Int, address: String = "127.0.0.1") throws {
        let isIPv6 = address.contains(":")
        descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var (old, new) = (sockaddr_in(), sockaddr_in6())
        (old.sin_family, old.sin_port) = (sa_family_t(AF_INET), in_port_t(port).bigEndian)
        (new.sin6_family, new.sin6_port) = (sa_family_t(AF_INET6), in_port_t(port).bigEndian)
        inet_pton(AF_INET, address, &old.sin_addr)
        inet_pton(AF_INET6, address, &new.sin6_addr)
        let result = isIPv6 ? Self.connect(descriptor, new) : Self.connect(descriptor, old)
        guard result == 0 else { throw Failure(description: "cannot connect to port \(port): \(String(cString: strerror(errno)))") }
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: Address) -> Int32 {
        withUnsafeBytes(of: address) {
            Foundation.connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
    }

    deinit {
        close(descriptor)
    }

    /// Sends bytes without a line feed.
    public func send(bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Self.sendQuietly(descriptor, $0) }
            guard count > 0 else { throw Failure(description: "cannot send: \(String(cString: strerror(errno)))") }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends as many bytes as the socket accepts without blocking.
    ///
    /// - Returns: The number of bytes sent.
    public func sendWhatFits(_ bytes: ArraySlice<UInt8>) -> Int {
        max(0, bytes.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) })
    }

    /// Whether one of these clients can send a byte without blocking, now or within some seconds.
    public static func canSend(_ clients: [SocketClient], within seconds: Double) -> Bool {
        var requests = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLOUT), revents: 0) }
        return poll(&requests, nfds_t(requests.count), Int32(seconds * 1000)) > 0
    }

    /// Sends a line.
    public func send(_ line: String) throws {
        try send(bytes: Array((line + "\n").utf8))
    }

    /// Whether the other side has closed the connection. Bytes that were not read are lost.
    public var isClosedByPeer: Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count <= 0 { return count == 0 || errno != EAGAIN && errno != EINTR }
        }
    }

    /// Closes the sending side.
    public func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// The next line; nil at the end.
    public func readLine(timeout seconds: Double = 60) throws -> String? {
        let deadline = Self.now + seconds
        while true {
            if let end = lineEnd {
                defer { start = end + 1 }
                return String(decoding: bytes[start..<end], as: UTF8.self)
            }
            bytes.removeFirst(start)
            start = 0
            guard try fill(until: deadline) else { return nil }
        }
    }

    /// A number of bytes; nil if the connection ends before.
    public func readBytes(_ count: Int, timeout seconds: Double = 60) throws -> [UInt8]? {
        let deadline = Self.now + seconds
        while bytes.count - start < count {
            guard try fill(until: deadline) else { return nil }
        }
        defer {
            start += count
            if start > 1 << 16 {
                bytes.removeFirst(start)
                start = 0
            }
        }
        return Array(bytes[start..<start + count])
    }

    /// All bytes up to the end.
    public func readToEnd(timeout seconds: Double = 60) throws -> [UInt8] {
        let deadline = Self.now + seconds
        while try fill(until: deadline) {}
        defer { start = bytes.count }
        return Array(bytes[start...])
    }

    /// The next line that contains a text; lines before it are skipped.
    ///
    /// - Throws: An error when the connection ends before such a line.
    public func readLine(containing text: String, timeout seconds: Double = 60) throws -> String {
        while let line = try readLine(timeout: seconds) {
            if line.contains(text) { return line }
        }
        throw Failure(description: "the connection ended before a line with \(text)")
    }

    /// All lines up to the end.
    public func readAll(timeout seconds: Double = 60) throws -> [String] {
        var lines: [String] = []
        while let line = try readLine(timeout: seconds) { lines.append(line) }
        return lines
    }

    /// The index of the next line feed. The search of the C library: that of an unoptimised collection is too slow for large lines.
    private var lineEnd: Int? {
        bytes.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress, let found = memchr(base + start, 10, bytes.count - start) else {
                return nil
            }
            return UnsafeRawPointer(found) - base
        }
    }

    private func fill(until deadline: Double) throws -> Bool {
        while true {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let wait = deadline - Self.now
            guard wait > 0 else { throw Failure(description: "timeout: no data") }
            guard poll(&request, 1, Int32(min(wait, 1) * 1000)) > 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 { bytes += buffer[..<count] }
            return count > 0
        }
    }

    private static func connect(_ descriptor: Int32, _ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private static func sendQuietly(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        Foundation.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private static var now: Double { ProcessInfo.processInfo.systemUptime }
}
