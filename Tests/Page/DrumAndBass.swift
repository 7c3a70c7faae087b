import Foundation
import TestSupport

/// A loop of drums, bass and chords at 175 BPM, synthesized from a seed: the same samples in each run.
enum DrumAndBass {
    /// Frames per second.
    static let rate = 44_100
    /// A sixteenth note, a whole number of frames at 175 BPM.
    private static let step = 3780
    /// Sixteenth notes of the loop: eight bars of four beats.
    private static let steps = 8 * 16

    /// A WAV file, 16-bit stereo, with a number of repetitions of 11 seconds each.
    static func wav(repetitions: Int) -> [UInt8] {
        let loop = loop()
        let samples = (0..<repetitions).flatMap { _ in loop }
        return WAVBytes(samples: samples, sampleRate: rate, channelCount: 2, encoding: .int16).bytes
    }

    /// One loop, left and right interleaved.
    private static func loop() -> [Float] {
        let frames = steps * step
        var left = [Float](repeating: 0, count: frames)
        var right = left
        var noise = Noise(state: 0x9E37_79B9)
        // Velocities of one bar of sixteenth notes.
        let kicks: [Float] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
        let snares: [Float] = [0, 0, 0, 0, 1, 0, 0, 0.25, 0, 0.3, 0, 0, 1, 0, 0, 0.2]
        let roots: [Float] = [55, 55, 43.65, 49, 55, 65.41, 43.65, 49]

        /// Adds a sound at a step; it continues at the start of the loop after its end.
        func add(_ place: Int, seconds: Float, pan: Float, _ sound: (Float) -> Float) {
            for index in 0..<Int(seconds * Float(rate)) {
                let value = sound(Float(index) / Float(rate))
                let frame = (place * step + index) % frames
                left[frame] += value * (1 - pan)
                right[frame] += value * (1 + pan)
            }
        }
        for place in 0..<steps {
            let kick = kicks[place % 16]
            let snare = snares[place % 16]
            if kick > 0 { add(place, seconds: 0.3, pan: 0) { kick * 0.5 * exp(-$0 * 12) * sine(46 * $0 + 5 * (1 - exp(-$0 * 45))) } }
            if snare > 0 {
                add(place, seconds: 0.25, pan: 0.1) { t in
                    snare * (0.28 * exp(-t * 18) * noise.next() + 0.2 * exp(-t * 24) * sine(185 * t))
                }
            }
            let hat: Float = place % 2 == 0 ? 0.1 : 0.05
            add(place, seconds: 0.08, pan: place % 4 < 2 ? -0.5 : 0.5) { hat * exp(-$0 * 60) * noise.next() }
        }
        for bar in 0..<8 {
            let root = roots[bar]
            let seconds = Float(16 * step) / Float(rate)
            add(bar * 16, seconds: seconds, pan: 0) { t in
                let gate = min(1, t * 50) * min(1, (seconds - t) * 50)
                let wobble = 0.5 - 0.5 * sine(t * 175 / 60 + 0.25)
                return gate * 0.16 * (sine(root * t) + wobble * (0.6 * sine(2 * root * t) + 0.4 * sine(3 * root * t)))
            }
            for (number, ratio) in [Float(4), 4.8, 6, 7.2].enumerated() {
                add(bar * 16, seconds: seconds, pan: Float(number) * 0.4 - 0.6) { t in
                    0.03 * min(1, t * 4) * min(1, (seconds - t) * 4) * (sine(root * ratio * t) + 0.5 * sine(2.005 * root * ratio * t))
                }
            }
        }
        return zip(left, right).flatMap { [max(-1, min(1, $0)), max(-1, min(1, $1))] }
    }

    /// - Parameter turns: Phase in periods.
    private static func sine(_ turns: Float) -> Float { sin(2 * Float.pi * (turns - turns.rounded(.down))) }

    /// Pseudo-random numbers from −1 to 1: xorshift.
    private struct Noise {
        var state: UInt32

        mutating func next() -> Float {
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            return Float(state) / Float(UInt32.max / 2) - 1
        }
    }
}
