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
        var generator = SeededGenerator(seed: 7)
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

    /// A speech-like signal: fricatives (noise) and vowels (a sawtooth of gliding pitch through gliding formants), of random
    /// duration and amplitude.
    static func speech(seconds: Double, rate: Int = 44_100, seed: UInt64 = 3) -> [Float] {
        var generator = SeededGenerator(seed: seed)
        func random(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &generator) }
        var result: [Float] = []
        var (phase, before) = (0.0, 0.0)
        while Double(result.count) < seconds * Double(rate) {
            var count = Int(random(0.05...0.12) * Double(rate))
            var amplitude = random(0.1...0.5)
            for index in 0..<count {
                let fricative = random(-1...1)
                result.append(Float(amplitude * (fricative - before) * pow(sin(.pi * Double(index) / Double(count)), 2)))
                before = fricative
            }
            count = Int(random(0.06...0.18) * Double(rate))
            amplitude = random(0.3...1)
            let pitch = (random(95...150), random(85...140))
            var (low, high) = (Formant(random(300...800), random(300...800)), Formant(random(900...2300), random(900...2300)))
            for index in 0..<count {
                let part = Double(index) / Double(count)
                phase += (pitch.0 + (pitch.1 - pitch.0) * part) / Double(rate)
                let source = 2 * (phase - phase.rounded(.down)) - 1 + 0.2 * random(-1...1)
                let vowel = low.resonate(source, part, rate) + high.resonate(source, part, rate)
                result.append(Float(4 * vowel * amplitude * pow(sin(.pi * part), 2)))
            }
            if random(0...1) < 0.15 {
                result += [Float](repeating: 0, count: Int(random(0.1...0.5) * Double(rate)))
            }
        }
        return Array(result.prefix(Int(seconds * Double(rate))))
    }

    /// A bass drum on the beats and a cymbal between them: high and low bands alternate, as in speech.
    static func alternatingDrumAndCymbal(_ tempo: Double, seconds: Double, first: Double = 0.25) -> [Float] {
        let rate = 44_100.0
        var generator = SeededGenerator(seed: 21)
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

    /// A resonator whose frequency glides from one value to another.
    private struct Formant {
        private let range: (Double, Double)
        private var last = (0.0, 0.0)

        init(_ start: Double, _ end: Double) {
            range = (start, end)
        }

        mutating func resonate(_ x: Double, _ part: Double, _ rate: Int) -> Double {
            let hertz = range.0 + (range.1 - range.0) * part
            let r = exp(-.pi * 100 / Double(rate))
            let y = (1 - r) * x + 2 * r * cos(2 * .pi * hertz / Double(rate)) * last.0 - r * r * last.1
            last = (y, last.0)
            return y
        }
    }

    static func noise(seconds: Double) -> [Float] {
        TestSignal.noise(seed: 5, amplitude: 0.2, frames: Int(seconds * 44_100))
    }
}
