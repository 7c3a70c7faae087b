internal import Glibc

/// PUBLISH packets with QoS 0 that the socket has not accepted yet, as in section 3.3 of MQTT 3.1.1. Its memory is used again.
struct PublishPackets {
    private var bytes: [UInt8] = []
    /// Where each packet ends, in `bytes`.
    private var ends: [Int] = []
    /// Bytes that the socket has accepted.
    private(set) var sentCount = 0

    var isEmpty: Bool { bytes.isEmpty }

    /// Appends a packet with a valid topic and at most 268 million bytes.
    mutating func append(_ payload: ArraySlice<UInt8>, to topic: String, retains: Bool) {
        let topic = topic.utf8
        bytes.append(retains ? 0x31 : 0x30)
        // The length of the rest: seven bits in each byte, the lowest first; the eighth bit says that another one follows.
        var length = 2 + topic.count + payload.count
        while length > 0x7f {
            bytes.append(UInt8(length & 0x7f) | 0x80)
            length >>= 7
        }
        bytes.append(UInt8(length))
        bytes.append(UInt8(topic.count >> 8))
        bytes.append(UInt8(topic.count & 0xff))
        bytes.append(contentsOf: topic)
        bytes.append(contentsOf: payload)
        ends.append(bytes.count)
    }

    /// Sends what the socket accepts, with one system call.
    ///
    /// - Returns: The number of packets that were completed; nil: the connection is broken, and the error is in `errno`.
    mutating func write(to socket: Int32) -> Int? {
        let count = bytes.withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[sentCount...])
            return send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        if count < 0 { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : nil }
        sentCount += count
        let completed = ends.prefix { $0 <= sentCount }.count
        if sentCount == bytes.count { removeAll() } else { ends.removeFirst(completed) }
        return completed
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        sentCount = 0
    }
}
