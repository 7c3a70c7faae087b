import Glibc
import HemiolaSignal
import HemiolaTesting

/// Generated signals with known beats, or without beats.
enum TestMusic {
    /// A click track. A click is a decaying sine of 10 ms.
    static func clicks(_ tempo: Double, seconds: Double, rate: Int = 44_100, first: Double = 0.5) -> [Float] {
        TestSignal.clicks(
            beatsPerMinute: tempo, offset: first, frames: Int(seconds * Double(rate)),
            format: .init(sampleRate: rate, channelCount: 1))
    }

    /// Bass drum, snare, closed hi-hats and a bass, in bars of four or three beats.
    static func band(
        _ tempo: Double, seconds: Double, rate: Int = 44_100, beatsPerBar: Int = 4, first: Double = 0.25, gain: Double = 0.5
    ) -> [Float] {
        var mix = [Double](repeating: 0, count: Int(seconds * Double(rate)))
        let period = 60 / tempo
        var generator = SplitMix64(seed: 7)
        var noise = (0..<rate).map { _ in Double.random(in: -1...1, using: &generator) }
        noise[0] = 0
        func add(_ time: Double, _ length: Double, _ sound: (_ t: Double, _ n: Int) -> Double) {
            let start = Int((time * Double(rate)).rounded())
            for index in 0..<Int(length * Double(rate)) where start + index < mix.count {
                mix[start + index] += sound(Double(index) / Double(rate), index)
            }
        }
        var beat = 0
        while first + Double(beat) * period < seconds {
            let time = first + Double(beat) * period
            let position = beat % beatsPerBar
            if position == 0 {
                let note = [55.0, 65.4, 49.0, 73.4][(beat / beatsPerBar) % 4]
                add(time, 0.25) { t, _ in exp(-t / 0.08) * sin(2 * .pi * (50 * t + 4 * (1 - exp(-t / 0.02)))) }
                add(time, min(1.5, period * Double(beatsPerBar))) { t, _ in
                    0.4 * exp(-t / 0.6) * (sin(2 * .pi * note * t) + 0.5 * sin(4 * .pi * note * t))
                }
            } else {
                add(time, 0.2) { t, n in 0.5 * exp(-t / 0.05) * (noise[n % rate] + sin(2 * .pi * 190 * t)) }
            }
            for half in 0..<2 {
                add(time + Double(half) * period / 2, 0.05) { t, n in
                    (half == 0 ? 0.2 : 0.1) * exp(-t / 0.015) * (noise[(n + 999) % rate] - noise[(n + 998) % rate])
                }
            }
            beat += 1
        }
        return mix.map { Float($0 * gain) }
    }

    /// A bass drum on the beats and a cymbal between them: high and low bands alternate, as in speech.
    static func alternatingDrumAndCymbal(_ tempo: Double, seconds: Double, first: Double = 0.25) -> [Float] {
        let rate = 44_100.0
        var generator = SplitMix64(seed: 21)
        return (0..<Int(seconds * rate)).map { frame in
            let noise = Double.random(in: -1...1, using: &generator)
            let beats = (Double(frame) / rate - first) * tempo / 60
            guard beats >= 0 else { return 0 }
            let (beat, half) = (beats - beats.rounded(.down), beats + 0.5 - (beats + 0.5).rounded(.down))
            let (now, then) = (beat * 60 / tempo, half * 60 / tempo)
            let drum = exp(-now / 0.12) * sin(2 * .pi * (55 * now + 3 * (1 - exp(-now / 0.02))))
            return Float(0.6 * drum + (beats >= 0.5 ? 0.25 * exp(-then / 0.06) * noise : 0))
        }
    }

    static func noise(seconds: Double) -> [Float] {
        TestSignal.noise(seed: 5, amplitude: 0.2, frames: Int(seconds * 44_100))
    }
}
