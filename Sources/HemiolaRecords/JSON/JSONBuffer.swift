/// A growable byte buffer that writes strict JSON, reused from line to line.
///
/// Writes values and raw bytes; the caller writes braces, keys and commas as literals. Numbers are rounded like in C's `printf`: to
/// the nearest of the exact binary value, ties to even. `-0.0`, `NaN` and `Infinity` are never written.
///
/// A noncopyable struct, not a class: one owner needs no reference count and no exclusivity check at run time, and `deinit` frees the
/// memory. Every `append` reserves memory for its worst case once and then stores without checks.
///
/// - Complexity: Appends are amortised O(bytes written); nothing is allocated while the capacity suffices. The worst case is
///   48 bytes for each number and six for each byte of a string, so a capacity of that size avoids allocations.
public struct JSONBuffer: ~Copyable {
    // Unsafe: a bounds check per byte takes two to three times as long as the writing; this pointer has no other owner.
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private let numbers = NumberText.shared

    /// Bytes written since the last `removeAll()`.
    public private(set) var count = 0

    /// Lines of records that an encoder has written since the buffer was made.
    var lineCount = 0

    /// An empty buffer.
    ///
    /// - Parameter capacity: Initial capacity in bytes, 0...; the buffer grows as needed.
    public init(capacity: Int) {
        precondition(capacity >= 0, "a capacity cannot be negative")
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        base.deallocate()
    }

    /// Empties the buffer and keeps its memory. O(1).
    public mutating func removeAll() {
        count = 0
    }

    /// At least doubles the capacity.
    @inline(never)
    private mutating func grow(_ additional: Int) {
        capacity = max(capacity * 2, count + additional)
        let wider = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        wider.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = wider
    }

    /// Passes the bytes written so far to `body`; the pointer is valid until `body` returns. O(1).
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// A copy of the bytes written so far.
    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// A copy of the text written so far.
    public var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

    /// The address after the last byte, with at least `size` reserved bytes.
    @inline(__always)
    private mutating func end(reserving size: Int) -> UnsafeMutableRawPointer {
        if capacity - count < size { grow(size) }
        return base + count
    }

    @inline(__always)
    private mutating func finish(at place: UnsafeMutableRawPointer) {
        count = place - base
    }
}

// Noncopyable: the memory has one owner, which is on one thread at a time.
extension JSONBuffer: @unchecked Sendable {}

// MARK: - Raw bytes

extension JSONBuffer {
    /// Appends the bytes of a literal unchanged: `buffer.append(#","rms_db":"#)`.
    public mutating func append(_ literal: StaticString) {
        precondition(literal.hasPointerRepresentation, "a single scalar has no bytes; write it as a string literal")
        append(bytes: UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends encoded JSON unchanged, such as the keys of a record.
    public mutating func append(bytes: [UInt8]) {
        bytes.withUnsafeBytes { append(bytes: $0) }
    }

    /// Appends encoded JSON unchanged, from memory outside of this buffer that is valid during the call.
    public mutating func append(bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        end(reserving: bytes.count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Appends one byte unchanged.
    public mutating func append(byte: UInt8) {
        end(reserving: 1).storeBytes(of: byte, as: UInt8.self)
        count += 1
    }
}

// MARK: - Strings

extension JSONBuffer {
    /// Appends a string in quotes. Quote, backslash and what is unsafe for readers are escaped: control characters (up to U+001F, and
    /// U+007F to U+009F), U+2028 and U+2029, which are line breaks in JavaScript, and changes of the text direction (U+202A to U+202E, U+2066
    /// to U+2069). All other characters, also `/`, are written as UTF-8.
    public mutating func append(string: String) {
        var string = string
        string.withUTF8 { append(quoting: $0) }
    }

    private mutating func append(quoting bytes: UnsafeBufferPointer<UInt8>) {
        var place = end(reserving: 6 * bytes.count + 2)
        func write(_ byte: UInt8) {
            place.storeBytes(of: byte, as: UInt8.self)
            place += 1
        }
        func write(_ text: StaticString) {
            place.copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
            place += text.utf8CodeUnitCount
        }
        func write(lastDigit number: UInt8) {
            write(number & 15 < 10 ? number & 15 + 0x30 : number & 15 + 0x57)
        }
        write(UInt8(ascii: "\""))
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                write(UInt8(ascii: "\\"))
                write(byte)
            case 0x08: write(#"\b"#)
            case 0x09: write(#"\t"#)
            case 0x0a: write(#"\n"#)
            case 0x0c: write(#"\f"#)
            case 0x0d: write(#"\r"#)
            case 0..<0x20:
                write(byte < 0x10 ? #"\u000"# : #"\u001"#)
                write(lastDigit: byte)
            case 0x7f: write(#"\u007f"#)
            // Valid UTF-8: the bytes that belong to these follow.
            case 0xc2 where bytes[index] < 0xa0:
                write(bytes[index] < 0x90 ? #"\u008"# : #"\u009"#)
                write(lastDigit: bytes[index])
                index += 1
            case 0xe2
            where bytes[index] == 0x80 && 0xa8...0xae ~= bytes[index + 1] || bytes[index] == 0x81 && 0xa6...0xa9 ~= bytes[index + 1]:
                write(bytes[index] == 0x80 ? #"\u202"# : #"\u206"#)
                write(lastDigit: bytes[index + 1])
                index += 2
            default: write(byte)
            }
        }
        write(UInt8(ascii: "\""))
        finish(at: place)
    }
}

// MARK: - Numbers

extension JSONBuffer {
    /// Appends an integer, without a decimal point.
    public mutating func append(integer value: Int64) {
        finish(at: numbers.integer(value, at: end(reserving: NumberText.capacity)))
    }

    /// Appends an integer, without a decimal point.
    public mutating func append(integer value: Int) {
        append(integer: Int64(value))
    }

    /// Appends the number of a category, without a decimal point; NaN is `null`.
    mutating func append(category value: Float) {
        guard let number = Int64(exactly: value) else { return append("null") }
        append(integer: number)
    }

    /// Appends a number rounded to a count of decimals. Trailing zeros are dropped; at least one decimal remains. Seconds with six decimals
    /// are as exact as the Double.
    ///
    /// - Parameters:
    ///   - value: Any number. Values that round to zero are `0.0`; NaN and the infinities are `null`. All decimals are exact up to
    ///     2⁶³; larger values are the shortest text that reads back as the same value, such as `1.0e21`.
    ///   - decimals: 2, 3 or 6.
    public mutating func append(fixed value: Double, decimals: Int) {
        let (numbers, place) = (numbers, end(reserving: NumberText.capacity))
        switch decimals {
        case 2: finish(at: numbers.fixed(value, TwoDecimals.self, at: place))
        case 3: finish(at: numbers.fixed(value, ThreeDecimals.self, at: place))
        case 6: finish(at: numbers.fixed(value, SixDecimals.self, at: place))
        default: preconditionFailure("decimals are 2, 3 or 6")
        }
    }

    /// Appends a number rounded to six significant digits. Trailing zeros are dropped; a point with at least one digit remains.
    ///
    /// Decimal notation from 10⁻⁵ to below 10¹⁵ (after rounding), such as `0.000123457` and `123457000.0`; else exponent notation, such
    /// as `1.23457e-7` and `1.0e21`. Both zeros are `0.0`; NaN and the infinities are `null`.
    public mutating func append(significant value: Double) {
        finish(at: numbers.significant(value, at: end(reserving: NumberText.capacity)))
    }

    /// Appends a number with the digits of its unit. With all of them it is a 32-bit number.
    mutating func append(_ value: Double, in unit: Unit) {
        switch unit.digits {
        case .decimals(let decimals): append(fixed: value, decimals: decimals)
        case .significant: append(significant: value)
        case .all: finish(at: numbers.all(Float(value), at: end(reserving: NumberText.capacity)))
        }
    }
}

// MARK: - Arrays of numbers

extension JSONBuffer {
    /// Appends the body of an array: its values with commas between them, no brackets; of one value, that value.
    ///
    /// - Parameters:
    ///   - values: Any numbers.
    ///   - digits: Of each value: as `append(fixed:decimals:)` and `append(significant:)` write them, or all: the fewest that read back as the
    ///     same number, at most nine, such as `0.1` and `1.0e-07`. Both zeros are `0.0` then too; NaN and the infinities are `null`.
    public mutating func append(_ values: Span<Float>, _ digits: Unit.Digits) {
        let numbers = numbers
        switch digits {
        case .decimals(2): appendEach(values) { numbers.fixed($0, TwoDecimals.self, at: $1) }
        case .decimals(3): appendEach(values) { numbers.fixed($0, ThreeDecimals.self, at: $1) }
        case .decimals(6): appendEach(values) { numbers.fixed($0, SixDecimals.self, at: $1) }
        case .decimals: preconditionFailure("decimals are 2, 3 or 6")
        case .significant: appendEach(values) { numbers.significant(Double($0), at: $1) }
        case .all: appendEach(values) { numbers.all($0, at: $1) }
        }
    }

    /// Appends the body of an array of samples: six decimals each, not trimmed (`0.250000`), commas between them, no brackets.
    ///
    /// Six decimals represent 16-bit samples without loss: n / 32768 reads back as n after scaling and rounding. Values are not
    /// clamped; values that are not finite are 0; from 2⁶³ on, the shortest text is written, such as `1.0e21`.
    public mutating func appendSamples(_ values: Span<Float>) {
        let numbers = numbers
        appendEach(values) { numbers.sample($0, at: $1) }
    }

    @inline(__always)
    private mutating func appendEach(
        _ values: Span<Float>, _ write: (Float, UnsafeMutableRawPointer) -> UnsafeMutableRawPointer
    ) {
        guard !values.isEmpty else { return }
        var place = end(reserving: values.count * NumberText.capacity)
        // Unsafe: avoids the bounds check of the span's subscript; the loop stays in bounds.
        values.withUnsafeBufferPointer { values in
            for value in values {
                place = write(value, place)
                place.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
                place += 1
            }
        }
        finish(at: place - 1)
    }
}
