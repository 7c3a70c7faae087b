/// A growable byte buffer that writes strict JSON by hand, reused from line to line.
///
/// It writes values and raw bytes; braces, keys and commas between values are the caller's, as literals. Numbers are rounded
/// as C's `printf` rounds them, to nearest of the exact binary value, ties to even, and never come out as `-0.0`, `NaN` or
/// `Infinity`.
///
/// A noncopyable struct, not a class: there is one owner, so no reference count and no exclusivity check at run time, and
/// `deinit` frees the memory. Every `append` makes room for its worst case once and then stores without looking.
///
/// - Complexity: Appends are amortised O(bytes written); nothing is allocated while the capacity suffices. The worst case is
///   48 bytes for each number and six for each byte of a string, so reserve by that to stay clear of the allocator.
public struct JSONBuffer: ~Copyable {
    // Unsafe: a bounds check per byte costs twice to three times the writing; this pointer has no other owner.
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private let text = NumberText.shared

    /// Bytes written since the last `removeAll()`.
    public private(set) var count = 0

    /// An empty buffer.
    ///
    /// - Parameter capacity: Bytes to have at once, 0...; the buffer grows as needed.
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

    /// Makes room for `additional` more bytes, 0...; at least doubles what it has when it must grow.
    @inline(__always)
    public mutating func reserve(_ additional: Int) {
        precondition(additional >= 0, "a reserve cannot be negative")
        if capacity - count < additional { grow(additional) }
    }

    @inline(never)
    private mutating func grow(_ additional: Int) {
        capacity = max(capacity * 2, count + additional)
        let wider = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        wider.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = wider
    }

    /// Lends the bytes written so far; the pointer is good until `body` returns. O(1).
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// The place after the last byte, with `room` bytes to write into.
    @inline(__always)
    private mutating func end(reserving room: Int) -> UnsafeMutableRawPointer {
        reserve(room)
        return base + count
    }

    @inline(__always)
    private mutating func finish(at place: UnsafeMutableRawPointer) {
        count = place - base
    }
}

// One owner, no copies: whoever holds the buffer holds all of its memory.
extension JSONBuffer: @unchecked Sendable {}

// MARK: - Bytes as they are

extension JSONBuffer {
    /// The bytes of a literal, as they are: `buffer.append(#","rms_db":"#)`.
    public mutating func append(_ literal: StaticString) {
        precondition(literal.hasPointerRepresentation, "a single scalar has no bytes; write it as a string literal")
        append(bytes: UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Ready-made JSON, as it is: the keys of a record, prepared once.
    public mutating func append(bytes: [UInt8]) {
        bytes.withUnsafeBytes { append(bytes: $0) }
    }

    /// Ready-made JSON, as it is, from memory that the caller lends (not from this buffer).
    public mutating func append(bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        end(reserving: bytes.count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// One byte, as it is.
    public mutating func append(byte: UInt8) {
        end(reserving: 1).storeBytes(of: byte, as: UInt8.self)
        count += 1
    }
}

// MARK: - Strings

extension JSONBuffer {
    /// A string in quotes. Quote, backslash and the 32 control characters are escaped, and U+2028 and U+2029, which would end
    /// a line of JavaScript; all else, `/` too, is UTF-8 as it is.
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
                write(byte & 15 < 10 ? byte & 15 + 0x30 : byte & 15 + 0x57)
            case 0xe2 where bytes[index] == 0x80 && bytes[index + 1] & 0xfe == 0xa8:  // valid UTF-8: two more bytes follow
                write(bytes[index + 1] == 0xa8 ? #"\u2028"# : #"\u2029"#)
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
    /// A whole number, without a point.
    public mutating func append(integer value: Int64) {
        finish(at: text.integer(value, at: end(reserving: NumberText.room)))
    }

    /// A whole number, without a point.
    public mutating func append(integer value: Int) {
        append(integer: Int64(value))
    }

    /// A number with a fixed count of decimals at the most: zeros at the end go, one decimal stays.
    ///
    /// - Parameters:
    ///   - value: Any; what rounds to zero is `0.0`, NaN and the infinities are `null`. Every decimal of the rounding is
    ///     right up to 2⁶³; from there on it is the shortest text that reads back as the same value, as `1.0e21`.
    ///   - decimals: 2, 3 or 6.
    public mutating func append(fixed value: Float, decimals: Int) {
        let (text, place) = (text, end(reserving: NumberText.room))
        switch decimals {
        case 2: finish(at: text.fixed(value, TwoDecimals.self, at: place))
        case 3: finish(at: text.fixed(value, ThreeDecimals.self, at: place))
        case 6: finish(at: text.fixed(value, SixDecimals.self, at: place))
        default: preconditionFailure("decimals are 2, 3 or 6")
        }
    }

    /// A number with a fixed count of decimals at the most, as for a Float; seconds are exact to the last of six decimals
    /// wherever a Double is.
    public mutating func append(fixed value: Double, decimals: Int) {
        let (text, place) = (text, end(reserving: NumberText.room))
        switch decimals {
        case 2: finish(at: text.fixed(value, TwoDecimals.self, at: place))
        case 3: finish(at: text.fixed(value, ThreeDecimals.self, at: place))
        case 6: finish(at: text.fixed(value, SixDecimals.self, at: place))
        default: preconditionFailure("decimals are 2, 3 or 6")
        }
    }

    /// A number rounded to six significant digits: zeros at the end go, a point with one digit after it stays.
    ///
    /// Plain from 10⁻⁵ to below 10¹⁵ (after rounding), as `0.000123457` and `123457000.0`; with an exponent elsewhere, as
    /// `1.23457e-7` and `1.0e21`. Either zero is `0.0`; NaN and the infinities are `null`.
    public mutating func append(significant value: Float) {
        append(significant: Double(value))
    }

    /// A number rounded to six significant digits, as for a Float.
    public mutating func append(significant value: Double) {
        finish(at: text.significant(value, at: end(reserving: NumberText.room)))
    }
}

// MARK: - Arrays of numbers

extension JSONBuffer {
    /// The body of an array: every value as `append(fixed:decimals:)` writes it, commas between them, no brackets.
    public mutating func appendFixed(_ values: Span<Float>, decimals: Int) {
        let text = text
        switch decimals {
        case 2: appendAll(values) { text.fixed($0, TwoDecimals.self, at: $1) }
        case 3: appendAll(values) { text.fixed($0, ThreeDecimals.self, at: $1) }
        case 6: appendAll(values) { text.fixed($0, SixDecimals.self, at: $1) }
        default: preconditionFailure("decimals are 2, 3 or 6")
        }
    }

    /// The body of an array: every value as `append(significant:)` writes it, commas between them, no brackets.
    public mutating func appendSignificant(_ values: Span<Float>) {
        let text = text
        appendAll(values) { text.significant(Double($0), at: $1) }
    }

    /// The body of an array of samples: six decimals each, not trimmed (`0.250000`), commas between them, no brackets.
    ///
    /// Six decimals tell 16-bit samples apart: what was n / 32768 reads back as exactly that once rounded to its grid.
    /// Nothing is clamped; what is not finite is 0, and from 2⁶³ on the text is the shortest, as `1.0e21`.
    public mutating func appendSamples(_ values: Span<Float>) {
        let text = text
        appendAll(values) { text.sample($0, at: $1) }
    }

    @inline(__always)
    private mutating func appendAll(
        _ values: Span<Float>, _ write: (Float, UnsafeMutableRawPointer) -> UnsafeMutableRawPointer
    ) {
        guard !values.isEmpty else { return }
        var place = end(reserving: values.count * NumberText.room)
        // Unsafe: the span's own subscript checks its bounds, which the loop keeps.
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
