internal import HemiolaRecords
internal import HemiolaSystem
internal import NIOCore

/// The format in which a client gets the samples.
public enum SamplePayload: String, CaseIterable, Sendable, Hashable {
    /// `{"type":"pushSamples","samples":[L0,R0,…]}`, six decimals each.
    case json
    /// As `json`, but `samples` is a string: base64 of little-endian 32-bit floats.
    case base64
    /// Lines of `[L0,R0,…]` only.
    case bare
    /// Binary messages: a header of 24 bytes and the samples as little-endian 32-bit floats. Clients of a WebSocket only.
    case binary

    /// The payloads that a setting accepts. `binary` is not among them: a client without a WebSocket cannot read it.
    public static let allCases: [SamplePayload] = [.json, .base64, .bare]
}

/// One encoded message of samples, in each payload that clients subscribe to.
typealias SampleMessage = [SamplePayload: ByteBuffer]

/// Encodes messages of samples. The buffers are reused.
struct SampleEncoder: ~Copyable {
    /// Bytes of 2048 numbers with six decimals, signs and commas.
    private static let capacity = 24_000

    private var numbers = JSONBuffer(capacity: capacity)
    private var line = JSONBuffer(capacity: capacity)
    /// The number of the next message in the stream, for `binary`; also counted without clients.
    private var sequence: UInt32 = 0

    /// Begins a stream.
    mutating func begin() {
        sequence = 0
    }

    /// - Parameters:
    ///   - samples: 2048 finite values.
    ///   - frame: Position of the first frame in the stream.
    ///   - now: The monotonic clock in seconds, for `binary`.
    ///   - payloads: The payloads to encode.
    mutating func encode(_ samples: Span<Float>, at frame: Int64, now: Double = 0, as payloads: Set<SamplePayload>) -> SampleMessage {
        defer { sequence &+= 1 }
        var message = SampleMessage()
        if payloads.contains(.json) || payloads.contains(.bare) {
            numbers.removeAll()
            numbers.appendSamples(samples)
            if payloads.contains(.json) {
                message[.json] = wrapped(#"{"type":"pushSamples","samples":["#, "]", frame)
            }
            if payloads.contains(.bare) { message[.bare] = wrapped("[", "]\n", nil) }
        }
        if payloads.contains(.base64) {
            numbers.removeAll()
            numbers.append(bytes: Array(samples.littleEndianBytes.base64.utf8))
            message[.base64] = wrapped(#"{"type":"pushSamples","samples":""#, "\"", frame)
        }
        if payloads.contains(.binary) {
            message[.binary] = BinarySamples.encode(samples, at: frame, sequence: sequence, now: now)
        }
        return message
    }

    private mutating func wrapped(_ start: StaticString, _ end: StaticString, _ frame: Int64?) -> ByteBuffer {
        line.removeAll()
        line.append(start)
        // Unsafe: the bytes of one buffer are valid during the closure, in which the other buffer copies them.
        numbers.withUnsafeBytes { line.append(bytes: $0) }
        line.append(end)
        if let frame {
            line.append(#","frame":"#)
            line.append(integer: frame)
            line.append("}\n")
        }
        return line.bytes
    }
}

/// A message of samples in the payload `binary`: 24 bytes of header and 2048 samples, everything little-endian.
///
/// | bytes | type | |
/// |---|---|---|
/// | 0–3 | u32 | kind: 1 |
/// | 4–7 | u32 | sequence: number of the message in the stream, modulo 2³² |
/// | 8–15 | f64 | frame: position of the first frame in the stream |
/// | 16–23 | f64 | host_ms: the host's monotonic clock at the encoding, in milliseconds |
/// | 24– | f32 | samples, L R L R … |
private enum BinarySamples {
    static let kind: UInt32 = 1
    static let headerLength = 24

    static func encode(_ samples: Span<Float>, at frame: Int64, sequence: UInt32, now: Double) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: headerLength + 4 * samples.count)
        buffer.writeInteger(kind, endianness: .little)
        buffer.writeInteger(sequence, endianness: .little)
        buffer.writeInteger(Double(frame).bitPattern, endianness: .little)
        buffer.writeInteger((now * 1000).bitPattern, endianness: .little)
        buffer.writeBytes(samples.littleEndianBytes)
        return buffer
    }
}

extension Span<Float> {
    fileprivate var littleEndianBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 * count)
        for index in indices {
            let bits = self[index].bitPattern
            for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(shift))) }
        }
        return bytes
    }
}

extension JSONBuffer {
    /// A copy of the bytes that can be shared.
    var bytes: ByteBuffer {
        // Unsafe: the bytes are valid during the closure, which copies them.
        withUnsafeBytes { ByteBuffer(bytes: $0) }
    }
}
