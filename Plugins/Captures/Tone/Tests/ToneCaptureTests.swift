import Hemiola
import Testing

@testable import ToneCapture

@Suite struct ToneCaptureTests {
    // MARK: - Sine

    @Test(arguments: [27.5, 440, 1_000, 9_999.5, 20_000])
    func `sine: its frequency at its level, and no other`(frequency: Double) throws {
        let samples = try mono("tone:sine,hz=\(frequency),level_db=-6,seconds=2")
        let expected = (-6.0).asAmplitude
        #expect(abs(amplitude(of: frequency, in: samples) - expected) < 1e-4)
        #expect(amplitude(of: frequency + 10, in: samples) < 1e-4)
        #expect(amplitude(of: frequency / 2, in: samples) < 1e-4)
    }

    @Test(arguments: [-120.0, -60, -12, -0.5, 0])
    func `level_db: the peak of sine and clicks`(level: Double) throws {
        // A sine with four frames per period, one of which is at its peak.
        for spec in ["tone:sine,hz=12000,rate=48000", "tone:clicks,rate=48000"] {
            let peak = Double(try mono("\(spec),level_db=\(level),seconds=1").peak)
            #expect(abs(peak / level.asAmplitude - 1) < 1e-6, "\(spec)")
        }
    }

    @Test func `sine after 1000, 2000 and 3000 s: no drift`() {
        let sine = Sine(frequency: 441.3, amplitude: 1, sampleRate: 44_100)
        // 441.3 Hz at 44.1 kHz has a period of at most 1000 s.
        let period: Int64 = 44_100 * 1_000
        for frame in stride(from: Int64(0), to: 44_100, by: 7) {
            for repetition in [1, 2, 3] as [Int64] {
                #expect(abs(sine.sample(at: frame) - sine.sample(at: frame + repetition * period)) < 2e-7)
            }
        }
    }

    // MARK: - Clicks

    @Test(arguments: [(120, 44_100), (119.7, 44_100), (174.61, 48_000), (61.803, 22_050), (1_000, 8_000)] as [(Double, Int)])
    func `click k begins at round(k · 60 / bpm · rate)`(tempo: Double, sampleRate: Int) throws {
        let samples = try mono("tone:clicks,bpm=\(tempo),rate=\(sampleRate),level_db=0,seconds=20", frames: 333)
        let burst = Int(Clicks.length * Double(sampleRate))
        var starts: [Int] = []
        var quiet = Int.max / 2
        for (index, sample) in samples.enumerated() {
            if sample != 0, quiet > burst / 4 { starts.append(index) }
            quiet = sample == 0 ? quiet + 1 : 0
        }
        let expected = (0...).lazy.map { Int((Double($0) * 60 / tempo * Double(sampleRate)).rounded()) }.prefix { $0 < samples.count }
        #expect(starts == Array(expected))
    }

    @Test func `clicks over a day: no drift`() {
        let clicks = Clicks(tempo: 127.3, beatsPerBar: 4, amplitude: 1, sampleRate: 44_100)
        for click in stride(from: Int64(0), to: 183_312, by: 101) {
            let position = clicks.position(of: click)
            #expect(abs(Double(position) - Double(click) * 60 / 127.3 * 44_100) <= 0.500_001)
            #expect(clicks.click(at: position) == click)
            #expect(clicks.click(at: position - 1) == click - 1)
            #expect(clicks.click(at: position + 1) == click)
        }
    }

    @Test(arguments: 1...7)
    func `beats_per_bar: the first click of each bar is 6 dB louder`(beatsPerBar: Int) throws {
        let samples = try mono("tone:clicks,bpm=120,beats_per_bar=\(beatsPerBar),level_db=-6,seconds=8")
        for beat in 0..<16 {
            let start = beat * 22_050
            let peak = Double(samples[start..<start + 4_410].peak)
            #expect(Float(peak) == abs(samples[start]), "the peak is the first sample")
            #expect(abs(peak - (beat % beatsPerBar == 0 ? 1 : 0.5) * (-6.0).asAmplitude) < 1e-6)
            #expect(samples[(start + 882)..<(start + 22_050)].peak == 0)
        }
    }

    // MARK: - Sweep

    @Test(arguments: [(20, 20_000), (1_000, 100)] as [(Double, Double)])
    func `sweep: the same time for every octave`(from: Double, to: Double) throws {
        let samples = try mono("tone:sweep,from_hz=\(from),to_hz=\(to),seconds=20,level_db=0")
        #expect(samples.count == 20 * 44_100)
        for share in [0.2, 0.5, 0.8, 0.995] {
            let middle = Int(share * Double(samples.count))
            let frequency = from * PortableMath.powerOfTwo(PortableMath.logarithm(to / from) * share)
            let around = samples[(middle - 2_048)..<(middle + 2_048)]
            let here = amplitude(of: frequency, in: around)
            #expect(here > 4 * amplitude(of: frequency * 1.4, in: around), "at \(share)")
            #expect(here > 4 * amplitude(of: frequency / 1.4, in: around), "at \(share)")
        }
    }

    @Test func `sweep: start frequency, end frequency and number of periods`() throws {
        // 100 to 400 Hz in 10 s: f·T/ln(4)·(4 − 1) periods, and the frequency of each turn is 1 / its length.
        let samples = try mono("tone:sweep,from_hz=100,to_hz=400,seconds=10,level_db=0")
        let crossings = samples.indices.dropFirst().filter { samples[$0 - 1] < 0 && samples[$0] >= 0 }.map { index in
            Double(index) - Double(samples[index]) / Double(samples[index] - samples[index - 1])
        }
        #expect(abs(Double(crossings.count) - 2_164) <= 1)
        #expect(abs(44_100 / (crossings[1] - crossings[0]) - 100) < 1)
        #expect(abs(44_100 / (crossings[crossings.count - 1] - crossings[crossings.count - 2]) - 400) < 1)
    }

    @Test func `sweep at a low sample rate: ends at half of it`() throws {
        let capture = try tone("tone:sweep,rate=8000")
        #expect(try capture.open(FormatRequest()).format.sampleRate == 8_000)
        #expect(try capture.samples(2).peak > 0.24)
    }

    // MARK: - Noise and silence

    @Test func `white noise: uniform up to its level`() throws {
        let samples = try mono("tone:noise,level_db=0,seconds=5")
        #expect(samples.peak <= 1 && samples.peak > 0.999)
        #expect(abs(samples.rootMeanSquare - 1 / 3.0.squareRoot()) < 0.003)
        #expect(abs(samples.reduce(0) { $0 + Double($1) } / Double(samples.count)) < 0.005)
        // Neighbouring samples are uncorrelated.
        let product = zip(samples, samples.dropFirst()).reduce(0) { $0 + Double($1.0) * Double($1.1) } / Double(samples.count)
        #expect(abs(product) < 0.005)
    }

    @Test func `pink noise: falls by 3 dB per octave`() throws {
        let samples = try mono("tone:noise,color=pink,level_db=0,seconds=12")
        #expect(samples.peak <= 1)
        // Mean power at 12 frequencies in each octave.
        let powers = [60.0, 120, 240, 480, 960, 1_920, 3_840, 7_680].map { low in
            (0..<12).reduce(0) { sum, step in
                let frequency = low * (1 + Double(step) / 12)
                return stride(from: 0, to: 500_000, by: 25_000).reduce(sum) { sum, start in
                    let amplitude = amplitude(of: frequency, in: samples[start..<start + 8_192])
                    return sum + amplitude * amplitude
                }
            }
        }
        for (low, high) in zip(powers, powers.dropFirst()) {
            #expect(abs(10 * PortableMath.logarithm(low / high) / 3.321_928_094_887_362 - 3.01) < 1.2)
        }
        let slope = 10 * PortableMath.logarithm(powers[0] / powers[7]) / 3.321_928_094_887_362 / 7
        #expect(abs(slope - 3.01) < 0.25)
    }

    @Test(arguments: ["white", "pink"])
    func `seed: equal seeds give equal noise, different in each channel`(color: String) throws {
        func noise(_ seed: Int) throws -> [Float] {
            let capture = try tone("tone:noise,color=\(color),seed=\(seed),seconds=0.5")
            _ = try capture.open(FormatRequest())
            return try capture.samples(2)
        }
        let one = try noise(1)
        #expect(try noise(1) == one)
        #expect(try noise(2) != one)
        let pairs = stride(from: 0, to: one.count, by: 2).map { (Double(one[$0]), Double(one[$0 + 1])) }
        let product = pairs.reduce(0) { $0 + $1.0 * $1.1 } / Double(pairs.count)
        #expect(abs(product) < 0.2 * one.rootMeanSquare * one.rootMeanSquare)
    }

    /// The last samples of a second, bit for bit. They must not change, because golden files are generated from them.
    @Test(
        arguments: [
            ("tone:sine", [0xbe3f_72d2, 0xbe00_0d3f, 0xbd80_4dc4]),
            ("tone:clicks,bpm=60.1", [0xbe6c_f4ed, 0xbe54_1f32, 0xbe37_7137]),
            ("tone:sweep", [0x3e82_851f, 0x3d11_113c, 0xbea5_05e0]),
            ("tone:noise,seed=3", [0x3f53_9119, 0xbf4c_9a68, 0x3d8b_9765]),
            ("tone:noise,color=pink", [0x3d97_1493, 0x3db6_df48, 0x3cbf_3e84]),
        ] as [(String, [UInt32])])
    func `last samples of a second: the same bits on every machine`(spec: String, bits: [UInt32]) throws {
        let made = try mono("\(spec),level_db=0,seconds=1").suffix(3).map(\.bitPattern)
        #expect(made == bits)
    }

    @Test func `silence: zeros`() throws {
        let samples = try mono("tone:silence,seconds=0.1")
        #expect(samples == Array(repeating: 0, count: 4_410))
    }

    // MARK: - As a capture

    private static let specs = [
        "tone:sine,hz=441.3", "tone:clicks,bpm=777.7", "tone:sweep", "tone:noise,seed=3", "tone:noise,color=pink", "tone:silence",
    ]

    @Test(arguments: specs, [1, 7, 1_000, 50_000])
    func `any buffer size, and after a rewind: the same samples`(spec: String, frames: Int) throws {
        let capture = try tone("\(spec),seconds=0.5,channels=3")
        let source = try capture.open(FormatRequest())
        #expect(source.duration == 0.5)
        let whole = try capture.samples(3, frames: 22_050)
        #expect(whole.count == 3 * 22_050)
        try capture.rewind()
        #expect(try capture.samples(3, frames: frames) == whole)
        try capture.rewind()
        _ = try capture.samples(3, frames: frames, limit: 3 * frames)
        try capture.rewind()
        #expect(try capture.samples(3, frames: frames) == whole)
        capture.close()
    }

    @Test func `clicks in 4 channels: all equal`() throws {
        let capture = try tone("tone:clicks,seconds=0.1,channels=4")
        _ = try capture.open(FormatRequest())
        let samples = try capture.samples(4)
        #expect(samples.indices.allSatisfy { samples[$0] == samples[$0 & ~3] })
    }

    @Test func `seconds=0: endless`() throws {
        let capture = try tone("tone:sine,seconds=0")
        #expect(try capture.open(FormatRequest()).duration == nil)
        #expect(try capture.samples(2, limit: 4_000_000).count == 4_000_000)
        #expect(capture.isLive == false)
    }

    @Test func `sample rate: the setting, else the requested one, else 44100`() throws {
        #expect(try tone("tone:sine,rate=96000").open(FormatRequest(sampleRate: 22_050)).format.sampleRate == 96_000)
        #expect(try tone("tone:sine").open(FormatRequest(sampleRate: 22_050)).format.sampleRate == 22_050)
        #expect(
            try tone("tone").open(FormatRequest())
                == StreamSource(
                    format: StreamFormat(sampleRate: 44_100, channelCount: 2), kind: "tone", name: "sine 440 Hz", duration: 10))
    }

    @Test func `frequency above half of the sample rate, or an endless sweep: refused`() throws {
        let early = #expect(throws: Problem.self) { try tone("tone:sine,hz=5000,rate=8000") }
        #expect(early?.description == "hz: 5000 Hz is above half of the sample rate, 8000 Hz; lower it or raise rate")
        let late = #expect(throws: Problem.self) { try tone("tone:sweep,to_hz=20000").open(FormatRequest(sampleRate: 8_000)) }
        #expect(late?.message == "tone: to_hz: 20000 Hz is above half of the sample rate, 8000 Hz; lower it or raise rate")
        let endless = #expect(throws: Problem.self) { try tone("tone:sweep,seconds=0") }
        #expect(endless?.description == "seconds: a sweep needs a duration above 0")
    }
}
