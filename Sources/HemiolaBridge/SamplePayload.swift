internal import Hemiola
internal import HemiolaWire
internal import NIOCore

/// How a client gets the samples.
package enum SamplePayload: String, SettingChoice, Hashable {
    /// `{"type":"pushSamples","samples":[L0,R0,…]}`, six decimals each.
    case json
    /// The same with the samples as a text: base64 of little-endian 32-bit floats.
    case base64
    /// `[L0,R0,…]`, and nothing else.
    case bare

    fileprivate var index: Int {
        switch self {
        case .json: 0
        case .base64: 1
        case .bare: 2
        }
    }
}

/// Payloads that somebody wants, as bits: what threads share holds no reference.
struct PayloadSet: OptionSet, Sendable, Hashable {
    var rawValue: UInt8

    static let json = PayloadSet(.json)
    static let base64 = PayloadSet(.base64)
    static let bare = PayloadSet(.bare)

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    init(_ payload: SamplePayload) {
        rawValue = 1 << payload.index
    }
}

/// One message of samples, ready to be sent: each payload that somebody wants, encoded once and shared.
struct SampleMessage: Sendable {
    private var texts: InlineArray<3, ByteBuffer?> = [nil, nil, nil]

    fileprivate(set) subscript(_ payload: SamplePayload) -> ByteBuffer? {
        get { texts[payload.index] }
        set { texts[payload.index] = newValue }
    }
}

/// Writes messages of samples into buffers that it uses again.
struct SampleEncoder: ~Copyable {
    /// Of 2048 numbers with six decimals, signs and commas.
    private static let room = 24_000

    private var numbers = JSONBuffer(capacity: room)
    private var line = JSONBuffer(capacity: room)

    /// - Parameters:
    ///   - samples: 2048, finite.
    ///   - frame: The first one's place in the stream.
    ///   - payloads: Those that somebody wants.
    mutating func encode(_ samples: Span<Float>, at frame: Int64, as payloads: PayloadSet) -> SampleMessage {
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
            numbers.appendBase64(samples)
            message[.base64] = wrapped(#"{"type":"pushSamples","samples":""#, "\"", frame)
        }
        return message
    }

    private mutating func wrapped(_ start: StaticString, _ end: StaticString, _ frame: Int64?) -> ByteBuffer {
        line.removeAll()
        line.append(start)
        // Unsafe: one buffer lends its bytes to the other, which copies them.
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

extension JSONBuffer {
    /// What is written, as a buffer that can be shared.
    var bytes: ByteBuffer {
        // Unsafe: lent for as long as it takes to copy.
        withUnsafeBytes { ByteBuffer(bytes: $0) }
    }

    /// Base64 (RFC 4648) of 32-bit floats, little-endian.
    fileprivate mutating func appendBase64(_ values: Span<Float>) {
        let alphabet = Base64.alphabet
        let count = values.count * 4
        let text = [UInt8](unsafeUninitializedCapacity: (count + 2) / 3 * 4) { text, length in
            func byte(_ index: Int) -> UInt32 {
                index < count ? (values[index >> 2].bitPattern >> UInt32(8 * (index & 3))) & 0xff : 0
            }
            // Unsafe: the alphabet's own subscript would be checked four times for every three bytes.
            alphabet.withUnsafeBufferPointer { alphabet in
                var place = 0
                for index in stride(from: 0, to: count, by: 3) {
                    let bits = byte(index) << 16 | byte(index + 1) << 8 | byte(index + 2)
                    text[place] = alphabet[Int(bits >> 18)]
                    text[place + 1] = alphabet[Int(bits >> 12 & 63)]
                    text[place + 2] = index + 1 < count ? alphabet[Int(bits >> 6 & 63)] : UInt8(ascii: "=")
                    text[place + 3] = index + 2 < count ? alphabet[Int(bits & 63)] : UInt8(ascii: "=")
                    place += 4
                }
                length = place
            }
        }
        append(bytes: text)
    }
}

private enum Base64 {
    static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
