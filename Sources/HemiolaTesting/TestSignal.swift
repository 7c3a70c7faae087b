internal import Glibc
public import HemiolaSignal

/// Generated signals with known properties: frequency, tempo, level.
///
/// All are interleaved samples in −1…1, equal in every channel; `interleaved` combines different channels. The same arguments give the
/// same samples.
public enum TestSignal {
    /// 44.1 kHz, one channel.
    public static let mono = StreamFormat(sampleRate: 44_100, channelCount: 1)

    /// Digital silence: zeros.
    public static func silence(frames: Int, format: StreamFormat = mono) -> [Float] {
        Array(repeating: 0, count: frames * format.channelCount)
    }

    /// A sine that starts at phase 0.
    ///
    /// - Parameters:
    ///   - hertz: 0…half the sample rate.
    ///   - amplitude: The peak amplitude; 1 is full scale and has an RMS level of −3.01 dB.
    ///   - frames: The length, in frames.
    ///   - format: The sample rate and the number of channels.
    public static func sine(_ hertz: Double, amplitude: Double = 1, frames: Int, format: StreamFormat = mono) -> [Float] {
        spread(frames, format) { amplitude * sin(2 * .pi * hertz * Double($0) / Double(format.sampleRate)) }
    }

    /// A logarithmic sine sweep: the frequency rises or falls from `low` to `high` by a constant number of octaves per second.
    ///
    /// - Parameters:
    ///   - low: The frequency at the first frame, in hertz, above 0.
    ///   - high: The frequency at the end, in hertz, above 0.
    ///   - amplitude: The peak amplitude.
    ///   - frames: The length, in frames.
    ///   - format: The sample rate and the number of channels.
    public static func sweep(
        from low: Double, to high: Double, amplitude: Double = 1, frames: Int, format: StreamFormat = mono
    ) -> [Float] {
        precondition(low > 0 && high > 0, "a sweep goes from one frequency above 0 to another")
        let seconds = Double(frames) / Double(format.sampleRate)
        let growth = log(high / low)
        return spread(frames, format) { frame in
            let share = Double(frame) / Double(max(1, frames))
            let turns = growth == 0 ? low * seconds * share : low * seconds / growth * (exp(growth * share) - 1)
            return amplitude * sin(2 * .pi * turns)
        }
    }

    /// White noise, uniformly distributed in −amplitude…amplitude.
    ///
    /// - Parameters:
    ///   - seed: Equal seeds give equal noise.
    ///   - amplitude: The largest absolute value.
    ///   - frames: The length, in frames.
    ///   - format: The sample rate and the number of channels.
    public static func noise(seed: UInt64, amplitude: Double = 1, frames: Int, format: StreamFormat = mono) -> [Float] {
        var generator = SplitMix64(seed: seed)
        return spread(frames, format) { _ in amplitude * Double.random(in: -1...1, using: &generator) }
    }

    /// Short decaying tones of 1 kHz, one per beat, the first at `offset` seconds.
    ///
    /// - Parameters:
    ///   - beatsPerMinute: The tempo, above 0. A beat starts on the nearest frame.
    ///   - offset: The time of the first beat, in seconds.
    ///   - amplitude: The peak amplitude; 1 is full scale.
    ///   - frames: The length, in frames.
    ///   - format: The sample rate and the number of channels.
    public static func clicks(
        beatsPerMinute: Double, offset: Double = 0, amplitude: Double = 0.9, frames: Int, format: StreamFormat = mono
    ) -> [Float] {
        precondition(beatsPerMinute > 0, "a click track has a tempo above 0")
        let rate = Double(format.sampleRate)
        var track = [Double](repeating: 0, count: frames)
        let length = Int(0.02 * rate)
        for beat in 0... {
            let start = Int(((offset + Double(beat) * 60 / beatsPerMinute) * rate).rounded())
            if start >= frames { break }
            for index in max(0, -start)..<max(0, min(length, frames - start)) {
                let time = Double(index) / rate
                track[start + index] = amplitude * exp(-time / 0.004) * cos(2 * .pi * 1000 * time)
            }
        }
        return spread(frames, format) { track[$0] }
    }

    /// A cadence that is repeated: the chords C, F, G and C major with a bass, one second each.
    ///
    /// - Parameters:
    ///   - amplitude: The largest possible absolute value; 1 is full scale.
    ///   - frames: The length, in frames.
    ///   - format: The sample rate and the number of channels.
    public static func cadence(amplitude: Double = 0.5, frames: Int, format: StreamFormat = mono) -> [Float] {
        // MIDI numbers of the bass and of the chord.
        let chords: [[Double]] = [[48, 60, 64, 67], [41, 60, 65, 69], [43, 59, 62, 67], [48, 60, 64, 67]]
        let rate = Double(format.sampleRate)
        return spread(frames, format) { frame in
            let time = Double(frame) / rate
            let place = time.truncatingRemainder(dividingBy: 1)
            let envelope = min(1, place / 0.01, (1 - place) / 0.01)
            let sum = chords[Int(time) % chords.count].reduce(0.0) { sum, note in
                let phase = 2 * .pi * 440 * exp2((note - 69) / 12) * time
                return sum + sin(phase) + 0.5 * sin(2 * phase) + 0.25 * sin(3 * phase)
            }
            return amplitude / 7 * envelope * sum
        }
    }

    /// Interleaves mono signals, one per channel: `[L0, R0, L1, R1 …]`. The shortest one determines the length.
    public static func interleaved(_ channels: [[Float]]) -> [Float] {
        let frames = channels.map(\.count).min() ?? 0
        return (0..<frames).flatMap { frame in channels.map { $0[frame] } }
    }

    private static func spread(_ frames: Int, _ format: StreamFormat, _ value: (Int) -> Double) -> [Float] {
        var samples: [Float] = []
        samples.reserveCapacity(frames * format.channelCount)
        for frame in 0..<frames {
            let sample = Float(value(frame))
            for _ in 0..<format.channelCount { samples.append(sample) }
        }
        return samples
    }
}
