internal import HemiolaRecords
internal import HemiolaSystem

/// A message of a received packet.
struct OSCMessage: Equatable {
    var address: String
    /// Numbers, truth, text; what has no counterpart, such as a blob, is `.none`.
    var values: [ParameterValue]
}

/// Decodes OSC 1.0 packets (M. Wright, "The Open Sound Control 1.0 Specification", 2002), from any sender: every length is checked, and depth
/// and number are bounded.
struct OSCDecoder {
    /// The deepest nesting of bundles.
    static let maxDepth = 8
    /// The most messages of a packet.
    static let maxMessages = 1024
    /// The most arguments of a message.
    static let maxArguments = 64

    private var bytes: ArraySlice<UInt8>
    private var messages: [OSCMessage] = []

    /// The messages of a packet, in their order. Time tags of bundles are ignored: a control takes effect when it arrives.
    static func messages(of packet: ArraySlice<UInt8>) throws(Problem) -> [OSCMessage] {
        var decoder = OSCDecoder(bytes: packet)
        try decoder.readPacket(depth: 0)
        return decoder.messages
    }

    private init(bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    private mutating func readPacket(depth: Int) throws(Problem) {
        guard bytes.first == UInt8(ascii: "#") else { return try readMessage() }
        guard depth < Self.maxDepth, try readString() == "#bundle" else { throw Problem("not a packet of OSC") }
        _ = try readBytes(8)
        let whole = bytes
        var start = bytes.startIndex
        while start < whole.endIndex {
            bytes = whole[start...]
            let size = Int(try readWord())
            guard size <= bytes.count, size % 4 == 0 else { throw Problem("not a packet of OSC") }
            start = bytes.startIndex + size
            bytes = bytes.prefix(size)
            try readPacket(depth: depth + 1)
        }
        bytes = whole[whole.endIndex...]
    }

    private mutating func readMessage() throws(Problem) {
        let address = try readString()
        guard address.hasPrefix("/"), messages.count < Self.maxMessages else { throw Problem("not a packet of OSC") }
        var message = OSCMessage(address: address, values: [])
        // Very old senders leave out the types: such a message has no arguments here.
        if bytes.first == UInt8(ascii: ",") {
            let tags = try readString().utf8.dropFirst()
            guard tags.count <= Self.maxArguments else { throw Problem("not a packet of OSC") }
            for tag in tags {
                if let value = try readArgument(tag) { message.values.append(value) }
            }
        }
        messages.append(message)
    }

    /// An argument; nil for the brackets of a list.
    private mutating func readArgument(_ tag: UInt8) throws(Problem) -> ParameterValue? {
        switch tag {
        case UInt8(ascii: "i"): return .integer(Int(Int32(bitPattern: try readWord())))
        case UInt8(ascii: "f"): return Self.number(Double(Float(bitPattern: try readWord())))
        case UInt8(ascii: "h"): return .integer(Int(Int64(bitPattern: try readLongWord())))
        case UInt8(ascii: "d"): return Self.number(Double(bitPattern: try readLongWord()))
        case UInt8(ascii: "s"), UInt8(ascii: "S"): return .text(try readString())
        case UInt8(ascii: "T"): return .boolean(true)
        case UInt8(ascii: "F"): return .boolean(false)
        case UInt8(ascii: "N"), UInt8(ascii: "I"): return ParameterValue.none
        case UInt8(ascii: "["), UInt8(ascii: "]"): return nil
        case UInt8(ascii: "c"), UInt8(ascii: "r"), UInt8(ascii: "m"):
            _ = try readWord()
            return ParameterValue.none
        case UInt8(ascii: "t"):
            _ = try readLongWord()
            return ParameterValue.none
        case UInt8(ascii: "b"):
            let size = Int(try readWord())
            guard size <= bytes.count else { throw Problem("not a packet of OSC") }
            _ = try readBytes(min((size + 3) / 4 * 4, bytes.count))
            return ParameterValue.none
        // The length of an unknown type is not known.
        default: throw Problem("not a packet of OSC")
        }
    }

    private static func number(_ value: Double) -> ParameterValue { value.isFinite ? .number(value) : .none }

    private mutating func readBytes(_ count: Int) throws(Problem) -> ArraySlice<UInt8> {
        guard count <= bytes.count else { throw Problem("not a packet of OSC") }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    private mutating func readWord() throws(Problem) -> UInt32 {
        try readBytes(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private mutating func readLongWord() throws(Problem) -> UInt64 {
        UInt64(try readWord()) << 32 | UInt64(try readWord())
    }

    /// Text that is ended by one to four zeros.
    private mutating func readString() throws(Problem) -> String {
        guard let end = bytes.firstIndex(of: 0), let text = String(validating: bytes[..<end], as: UTF8.self) else {
            throw Problem("not a packet of OSC")
        }
        let length = end - bytes.startIndex
        // Some senders omit the zeros at the end of a packet.
        _ = try readBytes(min((length / 4 + 1) * 4, bytes.count))
        return text
    }
}
