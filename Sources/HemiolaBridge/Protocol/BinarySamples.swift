internal import NIOCore

/// A message of samples in the payload `binary`: 24 bytes of header and 2048 samples, everything little-endian.
///
/// | bytes | type | |
/// |---|---|---|
/// | 0–3 | u32 | kind: 1 |
/// | 4–7 | u32 | sequence: number of the message in the stream, modulo 2³² |
/// | 8–15 | f64 | frame: position of the first frame in the stream |
/// | 16–23 | f64 | host_ms: the host's monotonic clock at the encoding, in milliseconds |
/// | 24– | f32 | samples, L R L R … |
enum BinarySamples {
    static let kind: UInt32 = 1
    static let headerLength = 24

    static func encode(_ samples: Span<Float>, at frame: Int64, sequence: UInt32, now: Double) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: headerLength + 4 * samples.count)
        buffer.writeInteger(kind, endianness: .little)
        buffer.writeInteger(sequence, endianness: .little)
        buffer.writeInteger(Double(frame).bitPattern, endianness: .little)
        buffer.writeInteger(now.bitPattern, endianness: .little)
        for index in samples.indices { buffer.writeInteger(samples[index].bitPattern, endianness: .little) }
        return buffer
    }
}
