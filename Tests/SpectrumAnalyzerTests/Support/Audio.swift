internal import Foundation
public import HemiolaSignal
internal import HemiolaTesting

/// Interleaved samples with their format: a sound that a test made, or one from a file.
public struct Audio: Sendable {
    public var format: StreamFormat
    /// `format.channelCount` samples per frame.
    public var samples: [Float]

    public init(_ samples: [Float], sampleRate: Int = 44_100, channelCount: Int = 1) {
        format = StreamFormat(sampleRate: sampleRate, channelCount: channelCount)
        self.samples = samples
    }

    /// What `sample` says of each frame and channel.
    public init(
        frames: Int, sampleRate: Int = 44_100, channelCount: Int = 1, _ sample: (_ frame: Int, _ channel: Int) -> Double
    ) {
        self.init(
            (0..<frames * channelCount).map { Float(sample($0 / channelCount, $0 % channelCount)) },
            sampleRate: sampleRate, channelCount: channelCount)
    }

    /// A sine of every channel alike.
    public static func sine(_ hertz: Double, amplitude: Double = 1, frames: Int, sampleRate: Int = 44_100) -> Audio {
        let format = StreamFormat(sampleRate: sampleRate, channelCount: 1)
        return Audio(TestSignal.sine(hertz, amplitude: amplitude, frames: frames, format: format), sampleRate: sampleRate)
    }

    /// Noise, evenly spread over −amplitude…amplitude, different in every channel.
    public static func noise(amplitude: Double = 1, frames: Int, seed: UInt64 = 1, channelCount: Int = 1) -> Audio {
        Audio(
            TestSignal.noise(seed: seed, amplitude: amplitude, frames: frames * channelCount), channelCount: channelCount)
    }

    public static func silence(frames: Int) -> Audio {
        Audio(TestSignal.silence(frames: frames))
    }

    public var frameCount: Int { samples.count / format.channelCount }

    /// The mean of the channels.
    public var mono: [Float] {
        let count = format.channelCount
        return (0..<frameCount).map { frame in
            samples[frame * count..<(frame + 1) * count].reduce(0, +) / Float(count)
        }
    }

    /// The same samples, read at another rate.
    public func read(at sampleRate: Int) -> Audio {
        Audio(samples, sampleRate: sampleRate, channelCount: format.channelCount)
    }

    /// Another sound of the same format behind this one.
    public func followed(by other: Audio) -> Audio {
        Audio(samples + other.samples, sampleRate: format.sampleRate, channelCount: format.channelCount)
    }
}

extension Audio {
    /// Reads the WAV files that the tests have: 16-bit integers (value / 32768) or 32-bit floats, little-endian.
    public init(wav path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        func number(_ offset: Int, _ count: Int) -> UInt32 {
            bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        guard bytes.count > 12, bytes.starts(with: Array("RIFF".utf8)) else { throw CocoaError(.fileReadCorruptFile) }
        var (kind, channelCount, sampleRate) = (0, 0, 0)
        var samples: [Float]?
        var offset = 12
        while offset + 8 <= bytes.count {
            let length = Int(number(offset + 4, 4))
            let start = offset + 8
            switch String(decoding: bytes[offset..<offset + 4], as: UTF8.self) {
            case "fmt ":
                kind = Int(number(start, 2))
                channelCount = Int(number(start + 2, 2))
                sampleRate = Int(number(start + 4, 4))
            case "data" where kind == 1:
                samples = stride(from: start, to: start + length, by: 2).map {
                    Float(Int16(bitPattern: UInt16(number($0, 2)))) / 32_768
                }
            case "data" where kind == 3:
                samples = stride(from: start, to: start + length, by: 4).map { Float(bitPattern: number($0, 4)) }
            default:
                break
            }
            offset = start + length + length % 2
        }
        guard let samples, channelCount > 0 else { throw CocoaError(.fileReadCorruptFile) }
        self.init(samples, sampleRate: sampleRate, channelCount: channelCount)
    }
}
