/// A message of WLED's audio sync, version 2: 44 bytes, little-endian.
///
/// | offset | content |
/// |---|---|
/// | 0 | `00002` and a zero |
/// | 6 | 2 unused bytes |
/// | 8 | level, float 0…255 |
/// | 12 | smoothed level, float 0…255 |
/// | 16 | 1: a peak |
/// | 17 | number of the message, 0…255 and again from 0 |
/// | 18 | 16 bands, 0…255 each |
/// | 34 | 2 unused bytes |
/// | 36 | magnitude of the strongest frequency, float |
/// | 40 | strongest frequency in hertz, float |
///
/// Source: `audioSyncPacket` of the audio reactive usermod, https://github.com/wled/WLED.
struct AudioSyncPacket: Equatable {
    static let bandCount = 16
    static let byteCount = 44

    var level: Float = 0
    var smoothedLevel: Float = 0
    var isPeak = false
    var number: UInt8 = 0
    /// 16 values.
    var bands = [UInt8](repeating: 0, count: bandCount)
    var magnitude: Float = 0
    var frequency: Float = 1

    var bytes: [UInt8] {
        var bytes = Array("00002\0\0\0".utf8)
        bytes.reserveCapacity(Self.byteCount)
        func append(_ number: Float) {
            withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
        }
        append(level)
        append(smoothedLevel)
        bytes += [isPeak ? 1 : 0, number]
        bytes += bands
        bytes += [0, 0]
        append(magnitude)
        append(frequency)
        return bytes
    }
}
