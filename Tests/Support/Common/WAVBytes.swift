import Foundation

/// The bytes of a WAV file with any channel count, rate and sample format, and any wrong value in its header.
public struct WAVBytes: Sendable {
    public enum Encoding: CaseIterable, Sendable {
        case int16, int24, int32, float32

        public var size: Int {
            switch self {
            case .int16: 2
            case .int24: 3
            case .int32, .float32: 4
            }
        }

        /// The maximum quantization error of a sample.
        public var step: Float { self == .float32 ? 0 : self == .int16 ? 1 / 32768 : 1 / 8_388_608 }
    }

    /// Interleaved, -1...1.
    public var samples: [Float]
    public var sampleRate = 48_000
    public var channelCount = 1
    public var encoding = Encoding.int16
    /// Values in the header instead of the correct ones; nil: correct.
    public var statedRIFFSize: UInt32?
    public var statedDataSize: UInt32?
    public var statedChannelCount: UInt16?
    public var statedSampleRate: UInt32?
    /// The channel mask of WAVE_FORMAT_EXTENSIBLE; nil: a plain format, which has none.
    public var channelMask: UInt32?
    /// Chunks before and after the `data` chunk.
    public var chunksBefore: [(name: String, content: [UInt8])] = []
    public var chunksBehind: [(name: String, content: [UInt8])] = []

    public init(samples: [Float], sampleRate: Int = 48_000, channelCount: Int = 1, encoding: Encoding = .int16) {
        self.samples = samples
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.encoding = encoding
    }

    /// A file with a sine of 1000 Hz in the first channel and 100 Hz more in each following one.
    public static func sines(channels: Int = 1, rate: Int = 48_000, frames: Int = 48_000, level: Float = 0.5) -> WAVBytes {
        var samples: [Float] = []
        samples.reserveCapacity(frames * channels)
        for frame in 0..<frames {
            for channel in 0..<channels {
                let turns = Double(frame) * Double(1000 + 100 * channel) / Double(rate)
                samples.append(level * Float(sin(2 * .pi * turns.truncatingRemainder(dividingBy: 1))))
            }
        }
        return WAVBytes(samples: samples, sampleRate: rate, channelCount: channels)
    }

    public var frameSize: Int { encoding.size * channelCount }

    /// The encoded samples.
    public var sound: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(samples.count * encoding.size)
        for sample in samples {
            let whole = Double(max(-1, min(sample, 1)))
            switch encoding {
            case .int16: bytes += Self.little(Int16((whole * 32767).rounded()))
            case .int24: bytes += Self.little(Int32((whole * 8_388_607).rounded())).prefix(3)
            case .int32: bytes += Self.little(Int32((whole * 2_147_483_647).rounded()))
            case .float32: bytes += Self.little(sample.bitPattern)
            }
        }
        return bytes
    }

    /// The content of the `fmt ` chunk.
    public var format: [UInt8] {
        let channels = statedChannelCount ?? UInt16(channelCount)
        let rate = statedSampleRate ?? UInt32(sampleRate)
        let frameSize = UInt16(truncatingIfNeeded: Int(channels) * encoding.size)
        let tag = UInt16(encoding == .float32 ? 3 : 1)
        let bits = UInt16(encoding.size * 8)
        let plain =
            Self.little(channelMask == nil ? tag : 0xfffe) + Self.little(channels) + Self.little(rate)
            + Self.little(rate &* UInt32(frameSize)) + Self.little(frameSize) + Self.little(bits)
        guard let channelMask else { return plain }
        // The rest of KSDATAFORMAT_SUBTYPE_PCM and …_IEEE_FLOAT.
        let guid: [UInt8] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        return plain + Self.little(UInt16(22)) + Self.little(bits) + Self.little(channelMask) + Self.little(tag) + guid
    }

    /// The complete file.
    public var bytes: [UInt8] {
        let sound = self.sound
        var body = Array("WAVE".utf8) + Self.chunk("fmt ", format)
        for chunk in chunksBefore { body += Self.chunk(chunk.name, chunk.content) }
        body += Array("data".utf8) + Self.little(statedDataSize ?? UInt32(sound.count)) + sound
        if sound.count % 2 == 1, !chunksBehind.isEmpty { body.append(0) }
        for chunk in chunksBehind { body += Self.chunk(chunk.name, chunk.content) }
        return Array("RIFF".utf8) + Self.little(statedRIFFSize ?? UInt32(body.count)) + body
    }

    public static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(UInt32(content.count)) + content + (content.count % 2 == 1 ? [0] : [])
    }

    public static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    public static func big(_ number: some FixedWidthInteger) -> [UInt8] {
        little(number).reversed()
    }
}
