import Glibc
import Testing

@testable import MQTTSink

@Suite struct PublishPacketsTests {
    /// Two connected sockets; what one has not read, up to about `bufferSize` bytes, the other can send.
    private func connected(bufferSize: Int32, _ body: (_ sender: Int32, _ receiver: Int32) throws -> Void) throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        var size = bufferSize
        for end in ends { setsockopt(end, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size)) }
        try body(ends[0], ends[1])
    }

    private func received(_ socket: Int32, limit: Int = 1 << 20) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = recv(socket, &bytes, limit, Int32(MSG_DONTWAIT))
        return count > 0 ? Array(bytes[..<count]) : []
    }

    @Test func `packets: the bytes of section 3.3 of MQTT 3.1.1`() throws {
        try connected(bufferSize: 1 << 20) { sender, receiver in
            var packets = PublishPackets()
            packets.append([1, 2], to: "a/b", retains: false)
            packets.append([], to: "ü", retains: true)
            let count = packets.write(to: sender)
            #expect(count == 2)
            #expect(packets.isEmpty)
            #expect(received(receiver) == [0x30, 7, 0, 3, 0x61, 0x2F, 0x62, 1, 2, 0x31, 4, 0, 2, 0xC3, 0xBC])
        }
    }

    @Test(arguments: [(122, [127]), (123, [128, 1]), (16378, [255, 127]), (16379, [128, 128, 1]), (100_000, [165, 141, 6])])
    func `length of the rest: seven bits in each byte`(payload: Int, length: [UInt8]) throws {
        try connected(bufferSize: 1 << 20) { sender, receiver in
            var packets = PublishPackets()
            packets.append([UInt8](repeating: 7, count: payload)[...], to: "abc", retains: false)
            let count = packets.write(to: sender)
            #expect(count == 1)
            #expect(received(receiver) == [0x30] + length + [0, 3, 0x61, 0x62, 0x63] + [UInt8](repeating: 7, count: payload))
        }
    }

    @Test func `socket that accepts a part: the rest follows, and each packet counts once`() throws {
        try connected(bufferSize: 4096) { sender, receiver in
            var packets = PublishPackets()
            var expected: [UInt8] = []
            for index in 0..<20 {
                let payload = [UInt8](repeating: UInt8(index), count: 1500)
                packets.append(payload[...], to: "t", retains: false)
                expected += [0x30, 0xDF, 0x0B, 0, 1, 0x74] + payload
            }
            var (completed, bytes, isPartial) = (0, [UInt8](), false)
            for _ in 0..<1000 where !packets.isEmpty {
                let count = packets.write(to: sender)
                completed += try #require(count)
                if packets.sentCount > 0 { isPartial = true }
                bytes += received(receiver, limit: 1000)
            }
            while case let more = received(receiver), !more.isEmpty { bytes += more }
            #expect(isPartial)
            #expect(completed == 20)
            #expect(bytes == expected)
        }
    }

    @Test func `socket that accepts nothing: nothing is lost; broken connection: nil`() throws {
        try connected(bufferSize: 4096) { sender, receiver in
            var packets = PublishPackets()
            packets.append([UInt8](repeating: 1, count: 1 << 20)[...], to: "t", retains: false)
            let first = packets.write(to: sender)
            let sentCount = packets.sentCount
            let second = packets.write(to: sender)
            #expect(first == 0 && second == 0)
            #expect(packets.sentCount == sentCount && !packets.isEmpty)
            shutdown(receiver, Int32(SHUT_RDWR))
            let count = packets.write(to: sender)
            #expect(count == nil)
        }
    }
}
