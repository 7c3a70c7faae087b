import HemiolaSignal
import HemiolaTesting
import TestSupport

extension TemporaryFolder {
    /// Writes a short file whose channels have sines of 440 Hz, 550 Hz …: by default 20 batches and a half.
    @discardableResult
    func writeTone(
        _ name: String = "tone.wav", frames: Int = 20_992, rate: Int = 44_100, channels: Int = 1,
        encoding: WAVBytes.Encoding = .int16
    ) throws -> String {
        try write(Self.tone(frames: frames, rate: rate, channels: channels, encoding: encoding).bytes, to: name)
    }

    static func tone(
        frames: Int = 20_992, rate: Int = 44_100, channels: Int = 1, encoding: WAVBytes.Encoding = .int16
    ) -> WAVBytes {
        let sines = (0..<channels).map { channel in
            TestSignal.sine(
                440 + 110 * Double(channel), amplitude: 0.5, frames: frames,
                format: StreamFormat(sampleRate: rate, channelCount: 1))
        }
        return WAVBytes(
            samples: TestSignal.interleaved(sines), sampleRate: rate, channelCount: channels, encoding: encoding)
    }
}
