internal import Glibc

/// The types of sockets, and their flags, as socket(2) takes them: Glibc declares some of them as an enumeration.
public enum SocketType {
    /// A connection whose bytes arrive in order (`SOCK_STREAM`).
    public static let stream = Int32(SOCK_STREAM.rawValue)
    /// Messages of bounded length (`SOCK_DGRAM`).
    public static let datagram = Int32(SOCK_DGRAM.rawValue)
    /// A flag: no call waits (`SOCK_NONBLOCK`).
    public static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue)
    /// A flag: programs that this process starts do not inherit the socket (`SOCK_CLOEXEC`).
    public static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
}
