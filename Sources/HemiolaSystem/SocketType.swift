internal import Glibc

/// The types of sockets, and their flags, as socket(2) takes them: Glibc declares some of them as an enumeration.
package enum SocketType {
    package static let stream = Int32(SOCK_STREAM.rawValue)
    package static let datagram = Int32(SOCK_DGRAM.rawValue)
    package static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue)
    package static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
}
