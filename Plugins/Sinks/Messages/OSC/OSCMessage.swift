internal import HemiolaRecords

/// Encodes OSC 1.0 packets (M. Wright, "The Open Sound Control 1.0 Specification", 2002): everything big-endian and in units of 4 bytes.
struct OSCEncoder {
    private(set) var bytes: [UInt8] = []

    /// Removes what was encoded, and keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Appends a message.
    ///
    /// Numbers become `f`, whole numbers `i` (limited to 32 bits), truth `T` or `F`, text `s`. What does not exist becomes the zero of the
    /// field's type, because receivers identify arguments by their place.
    mutating func append(_ address: String, _ values: [ParameterValue], types: [Field.Kind] = []) {
        append(string: address)
        append(tags: values, types)
        for (index, value) in values.enumerated() {
            switch value {
            case .number(let number): append(UInt32(Float(number.isFinite ? number : 0).bitPattern))
            case .integer(let number): append(UInt32(bitPattern: Int32(clamping: number)))
            case .text(let text): append(string: text)
            case .boolean: break
            case .none:
                if Self.tag(of: types, index) == "s" { append(string: "") } else { append(UInt32(0)) }
            case .list: preconditionFailure("lists are arguments of their own")
            }
        }
    }

    /// Appends the address and the types of a message of numbers.
    mutating func appendBeginning(of address: String, numberCount: Int) {
        append(string: address)
        append(string: "," + String(repeating: "f", count: numberCount))
    }

    /// Appends a message of numbers, whose address and types are encoded.
    mutating func append(_ beginning: [UInt8], numbers: [ParameterValue]) {
        bytes += beginning
        for case .number(let number) in numbers { append(UInt32(Float(number.isFinite ? number : 0).bitPattern)) }
    }

    /// Appends a message of numbers, whose address and types are encoded, as an element of a bundle.
    mutating func append(sized beginning: [UInt8], numbers: Span<Float>) {
        append(UInt32(beginning.count + 4 * numbers.count))
        append(beginning, numbers: numbers)
    }

    /// Appends a message of numbers, whose address and types are encoded.
    mutating func append(_ beginning: [UInt8], numbers: Span<Float>) {
        bytes += beginning
        bytes.append(addingCapacity: 4 * numbers.count) { output in
            for index in numbers.indices {
                let word = numbers[index].bitPattern
                output.append(UInt8(truncatingIfNeeded: word >> 24))
                output.append(UInt8(truncatingIfNeeded: word >> 16))
                output.append(UInt8(truncatingIfNeeded: word >> 8))
                output.append(UInt8(truncatingIfNeeded: word))
            }
        }
    }

    /// Appends the beginning of a bundle; elements follow, each with its size.
    mutating func appendBundle(at time: OSCTime) {
        append(string: "#bundle")
        append(UInt32(time.value >> 32))
        append(UInt32(truncatingIfNeeded: time.value))
    }

    /// Appends an element of a bundle, or a packet of a TCP stream: its size, then its bytes.
    mutating func append(sized element: [UInt8]) {
        append(UInt32(element.count))
        bytes += element
    }

    private mutating func append(tags values: [ParameterValue], _ types: [Field.Kind]) {
        var tags = ","
        for (index, value) in values.enumerated() {
            switch value {
            case .number: tags += "f"
            case .integer: tags += "i"
            case .text: tags += "s"
            case .boolean(let flag): tags += flag ? "T" : "F"
            case .none: tags += Self.tag(of: types, index)
            case .list: preconditionFailure("lists are arguments of their own")
            }
        }
        append(string: tags)
    }

    private static func tag(of types: [Field.Kind], _ index: Int) -> String {
        guard types.indices.contains(index) else { return "f" }
        return switch types[index] {
        case .integer: "i"
        case .text, .choice, .command, .list(of: .text): "s"
        default: "f"
        }
    }

    /// Text without zeros, ended by one to four of them.
    private mutating func append(string: String) {
        let start = bytes.count
        bytes.append(contentsOf: string.utf8.lazy.filter { $0 != 0 })
        let count = bytes.count - start
        bytes.append(contentsOf: repeatElement(0, count: 4 - count % 4))
    }

    private mutating func append(_ word: UInt32) {
        withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

/// The time tag of a bundle: seconds since 1900 in units of 2⁻³² s, as in NTP.
struct OSCTime: Hashable {
    var value: UInt64

    /// To be processed on receipt.
    static let immediately = OSCTime(value: 1)

    init(value: UInt64) {
        self.value = value
    }

    /// - Parameter seconds: Since 1970.
    init(since1970 seconds: Double) {
        let whole = seconds.rounded(.down)
        // From 2036 on, NTP counts from 0 again.
        let era = UInt64(bitPattern: Int64(whole)) &+ 2_208_988_800
        value = era << 32 | UInt64(min((seconds - whole) * 4_294_967_296, 4_294_967_295))
    }
}
