internal import Hemiola

/// The encoding of a sample: type, bits and byte order, named as in ffmpeg.
public enum PCMEncoding: String, Sendable, CaseIterable {
    /// Eight bits, unsigned and signed.
    case u8, s8
    /// Sixteen bits, signed, little-endian and big-endian.
    case s16le, s16be
    /// Twenty-four bits in three bytes, signed.
    case s24le, s24be
    /// Thirty-two bits, signed.
    case s32le, s32be
    /// Floats of 32 bits; 1 is full scale.
    case f32le, f32be
    /// Floats of 64 bits; 1 is full scale.
    case f64le, f64be

    /// Bytes per sample.
    public var byteCount: Int {
        switch self {
        case .u8, .s8: 1
        case .s16le, .s16be: 2
        case .s24le, .s24be: 3
        case .s32le, .s32be, .f32le, .f32be: 4
        case .f64le, .f64be: 8
        }
    }
}

extension PCMEncoding {
    /// Bytes that must be readable after the last sample, because three-byte samples are loaded as four bytes.
    static let spareByteCount = 1

    /// Converts samples to floats: integers are multiplied by 1/2^(bits − 1), `u8` after subtracting 128; floats are unchanged, including NaN.
    ///
    /// - Parameters:
    ///   - bytes: `count` samples, aligned to a sample unless that is three bytes long, followed by `spareByteCount` readable bytes.
    ///   - samples: Room for `count` floats.
    /// - Complexity: O(count), no allocation.
    /// - Note: The result equals that of libsndfile's `sf_readf_float`, bit for bit.
    func convert(_ bytes: UnsafeRawPointer, count: Int, to samples: UnsafeMutablePointer<Float>) {
        switch self {
        case .u8:
            bytes.map(count, to: samples) { (byte: UInt8) in (Float(byte) - 128) * 0x1p-7 }
        case .s8:
            bytes.map(count, to: samples) { (byte: Int8) in Float(byte) * 0x1p-7 }
        case .s16le:
            bytes.map(count, to: samples) { (word: Int16) in Float(Int16(littleEndian: word)) * 0x1p-15 }
        case .s16be:
            bytes.map(count, to: samples) { (word: Int16) in Float(Int16(bigEndian: word)) * 0x1p-15 }
        case .s24le:
            bytes.mapTriples(count, to: samples) { Int32(bitPattern: UInt32(littleEndian: $0) << 8) }
        case .s24be:
            bytes.mapTriples(count, to: samples) { Int32(bitPattern: UInt32(bigEndian: $0) & 0xffff_ff00) }
        case .s32le:
            bytes.map(count, to: samples) { (word: Int32) in Float(Int32(littleEndian: word)) * 0x1p-31 }
        case .s32be:
            bytes.map(count, to: samples) { (word: Int32) in Float(Int32(bigEndian: word)) * 0x1p-31 }
        case .f32le:
            bytes.map(count, to: samples) { (bits: UInt32) in Float(bitPattern: UInt32(littleEndian: bits)) }
        case .f32be:
            bytes.map(count, to: samples) { (bits: UInt32) in Float(bitPattern: UInt32(bigEndian: bits)) }
        case .f64le:
            bytes.map(count, to: samples) { (bits: UInt64) in Float(Double(bitPattern: UInt64(littleEndian: bits))) }
        case .f64be:
            bytes.map(count, to: samples) { (bits: UInt64) in Float(Double(bitPattern: UInt64(bigEndian: bits))) }
        }
    }
}

extension UnsafeRawPointer {
    /// Converts `count` aligned numbers; the loop is vectorised.
    @inline(__always)
    fileprivate func map<Number: BitwiseCopyable>(
        _ count: Int, to samples: UnsafeMutablePointer<Float>, _ float: (Number) -> Float
    ) {
        let numbers = assumingMemoryBound(to: Number.self)
        for index in 0..<count { samples[index] = float(numbers[index]) }
    }

    /// Converts `count` three-byte numbers.
    ///
    /// - Parameter align: Shifts the three bytes to the upper end of the loaded word.
    @inline(__always)
    fileprivate func mapTriples(_ count: Int, to samples: UnsafeMutablePointer<Float>, _ align: (UInt32) -> Int32) {
        for index in 0..<count {
            samples[index] = Float(align(loadUnaligned(fromByteOffset: 3 * index, as: UInt32.self))) * 0x1p-31
        }
    }
}
