import Glibc
import Hemiola
import HemiolaTesting
import Testing

@testable import HemiolaSignal
@testable import VisualizerAnalyzer

@Suite struct BarTests {
    private static func noise(seconds: Double, amplitude: Double = 0.3, seed: UInt64 = 1) -> [Float] {
        TestSignal.noise(seed: seed, amplitude: amplitude, frames: Int(seconds * 44_100))
    }

    /// The highest bar of each batch.
    private static func heights(_ rows: [Row]) -> [Float] { rows.map { $0.bars.max()! } }

    @Test(arguments: [
        "", "bars=1", "bars=7,noise_reduction=0", "bars=512,bars_min_hz=20,bars_max_hz=20000", "noise_reduction=99",
        "bars=3,bars_min_hz=20,bars_max_hz=60", "bars=200,noise_reduction=5",
    ])
    func `bars never leave 0…1`(settings: String) throws {
        let harness = try AnalyzerHarness(settings, batch: 1024)
        var music: [Float] = []
        for (index, amplitude) in [0.001, 1, 0, 0.01, 0.0001, 1, 0.3, 0.5].enumerated() {
            music += Self.noise(seconds: 1, amplitude: amplitude, seed: UInt64(index))
        }
        music += TestSignal.clicks(beatsPerMinute: 140, frames: 88_200)
        let rows = harness.process(music)
        #expect(rows.allSatisfy { $0.bars.allSatisfy { $0 >= 0 && $0 <= 1 } })
        #expect(Self.heights(rows).max()! == 1)
    }

    @Test func `music: a bar exceeds 0.9 within a second, and 0.8 in any five seconds`() throws {
        let rows = try AnalyzerHarness(channels: 2).process(Minuet.minute.get())
        let heights = Self.heights(rows)
        // The piece begins with half a second of silence.
        #expect(heights[..<65].contains { $0 > 0.9 })
        for first in stride(from: 215, to: heights.count - 215, by: 215) { #expect(heights[first..<first + 215].max()! > 0.8) }
        #expect(rows.allSatisfy { $0.bars.allSatisfy { $0 >= 0 && $0 <= 1 } })
    }

    // MARK: - Gain

    @Test(arguments: [0.005, 0.0232, 0.1])
    func `gain: halves in 0.5 s of overshoot, doubles in 10 s without, and is limited`(hopSeconds: Double) {
        var motion = BarMotion(count: 2, noiseReduction: 0.77, hopSeconds: hopSeconds)
        func run(seconds: Double, _ height: Float, isSilent: Bool = false) {
            for _ in 0..<Int((seconds / hopSeconds).rounded()) {
                var bars: [Float] = [height, height / 2]
                var span = bars.mutableSpan
                motion.update(&span, isSilent: isSilent)
            }
        }
        run(seconds: 0.3, 1000)
        var before = motion.gain
        run(seconds: 0.5, 1000)
        #expect(abs(motion.gain / before - 0.5) < 0.05)
        // After one second the bars have fallen below 1.
        run(seconds: 1, 0)
        before = motion.gain
        run(seconds: 10, 1e-9)
        #expect(abs(motion.gain / before - 2) < 0.1)
        before = motion.gain
        run(seconds: 60, 0, isSilent: true)
        #expect(motion.gain == before)
        // The gain is limited.
        run(seconds: 600, 1e-9)
        #expect(motion.gain == 0x1p16)
    }

    @Test(arguments: [0.005, 0.0232, 0.1])
    func `gain: one hop of any level reduces it no more than one of 6 dB above 1`(hopSeconds: Double) {
        func gain(after height: Float) -> Double {
            var motion = BarMotion(count: 1, noiseReduction: 0.77, hopSeconds: hopSeconds)
            for index in 0..<Int(1 / hopSeconds) {
                var bars: [Float] = [index == 0 ? height : 0]
                var span = bars.mutableSpan
                // In silence the gain does not increase.
                motion.update(&span, isSilent: true)
            }
            return motion.gain
        }
        let limited = gain(after: 2)
        for height in [100, 3e38, .infinity, .nan] as [Float] { #expect(gain(after: height) == limited) }
        // A bar falls from 2 to 1 in 0.24 s. The gain changes once per hop.
        #expect(limited > pow(0.5, (0.24 + hopSeconds) / 0.5))
    }

    @Test(arguments: [256, 1024, 4096])
    func `gain: settles in 2.5 s after a step of +18 dB, and in 12 s after one of -6 dB`(batch: Int) throws {
        let harness = try AnalyzerHarness(batch: batch)
        _ = harness.process(Self.noise(seconds: 12, amplitude: 0.05))
        // +18 dB: three halvings of the gain take 1.5 s, after the window has filled.
        let loud = Self.heights(harness.process(Self.noise(seconds: 4, amplitude: 0.4, seed: 2)))
        let second = Int(1 / harness.batchSeconds)
        #expect(loud[second / 2..<second].allSatisfy { $0 == 1 })
        #expect(loud[(second * 5 / 2)...].contains { $0 < 1 })
        // −6 dB: the bars are lower at first, and as before after ten seconds.
        let soft = Self.heights(harness.process(Self.noise(seconds: 13, amplitude: 0.2, seed: 3)))
        let first = soft[second..<2 * second].reduce(0, +) / Float(second)
        let last = soft[(12 * second)..<13 * second].reduce(0, +) / Float(second)
        #expect(first < 0.75)
        #expect(last > 0.85)
    }

    @Test(arguments: [0, 2e-5])
    func `gain: constant in silence, digital or dithered`(dither: Double) throws {
        func restart(after seconds: Double) throws -> [Row] {
            let harness = try AnalyzerHarness()
            _ = harness.process(Self.noise(seconds: 11.14, amplitude: 0.1))
            let silence = harness.process(Self.noise(seconds: seconds, amplitude: dither))
            #expect(silence.last!.bars.allSatisfy { $0 < 0.001 })
            return harness.process(Self.noise(seconds: 1, amplitude: 0.1, seed: 2))
        }
        let (short, long) = (try restart(after: 4), try restart(after: 20))
        for (one, other) in zip(short, long) {
            #expect(zip(one.bars, other.bars).allSatisfy { abs($0 - $1) < 0.002 })
        }
    }

    @Test func `gain: constant in silence at the start`() throws {
        let rows = try AnalyzerHarness().process(TestSignal.silence(frames: 441_000) + Self.noise(seconds: 2))
        let fresh = try AnalyzerHarness().process(TestSignal.silence(frames: 1024 * 20) + Self.noise(seconds: 2))
        #expect(rows[0].bars.allSatisfy { $0 == 0 })
        #expect(abs(rows.last!.bars.max()! - fresh.last!.bars.max()!) < 0.1)
    }

    // MARK: - Motion

    @Test func `motion: a bar rises within 0.25 s and falls below 0.02 within 0.6 s`() throws {
        let harness = try AnalyzerHarness()
        _ = harness.process(Self.noise(seconds: 10))
        let fall = Self.heights(harness.process(TestSignal.silence(frames: 44_100)))
        #expect(fall[2] > 0.4)
        #expect(fall[Int(0.6 / harness.batchSeconds)] < 0.02)
        for (one, next) in zip(fall[8...], fall[9...]) { #expect(next <= one) }
        let rise = Self.heights(harness.process(Self.noise(seconds: 1, seed: 2)))
        #expect(rise[Int(0.25 / harness.batchSeconds)] > 0.6)
    }

    @Test func `noise_reduction=0: bars are 0 as soon as the windows contain silence`() throws {
        let harness = try AnalyzerHarness("noise_reduction=0")
        _ = harness.process(Self.noise(seconds: 10))
        let fall = harness.process(TestSignal.silence(frames: 44_100 / 2))
        #expect(fall[9].bars.allSatisfy { $0 == 0 })
    }

    @Test func `motion: does not depend on the hop size`() throws {
        let music = TestSignal.clicks(beatsPerMinute: 97, frames: 44_100 * 12).enumerated().map { index, click in
            click * 0.6 + Float(sin(2 * .pi * 220 * Double(index) / 44_100)) * 0.2
        }
        func bars(_ batch: Int) throws -> [[Float]] {
            let rows = try AnalyzerHarness(batch: batch).process(music)
            // Every 2048 frames of the last six seconds.
            return stride(from: 2048 / batch, through: rows.count, by: 2048 / batch).map { rows[$0 - 1].bars }.suffix(129)
        }
        let reference = try bars(256)
        for batch in [512, 1024] {
            var sum: Float = 0
            for (one, other) in zip(try bars(batch), reference) {
                for (a, b) in zip(one, other) { sum += abs(a - b) }
            }
            #expect(sum / Float(129 * 16) < 0.03)
        }
    }

    // MARK: - cava

    /// The expected heights are facts about cavacore 0.10.7-48-g7580ecd: the means of the last ten seconds with 735 frames per call,
    /// the same range and number of bars, autosens, and a noise reduction of 0.77.
    @Test(arguments: [
        (
            "noise",
            [
                0.019, 0.021, 0.026, 0.03, 0.036, 0.036, 0.039, 0.045, 0.052, 0.055, 0.066, 0.07, 0.08, 0.091, 0.101, 0.115, 0.128, 0.144,
                0.167, 0.189, 0.212, 0.239, 0.274, 0.315, 0.359, 0.409, 0.465, 0.524, 0.607, 0.697, 0.801, 0.907,
            ]
        ),
        (
            "clicks",
            [
                0.001, 0.001, 0.001, 0.001, 0.002, 0.002, 0.003, 0.004, 0.005, 0.006, 0.008, 0.011, 0.016, 0.024, 0.036, 0.058, 0.112, 0.38,
                0.557, 0.194, 0.125, 0.098, 0.084, 0.076, 0.07, 0.066, 0.063, 0.061, 0.059, 0.057, 0.057, 0.056,
            ]
        ),
    ])
    func `cava: mean heights above 200 Hz are the same within 5 %`(sound: String, expected: [Float]) throws {
        let frames = 20 * 44_100
        let samples = sound == "noise" ? Self.noise(seconds: 20) : TestSignal.clicks(beatsPerMinute: 120, frames: frames)
        let settled = try AnalyzerHarness("bars=32,bars_min_hz=50").process(samples).suffix(430)
        for (bar, height) in expected.enumerated() {
            let mean = settled.reduce(0) { $0 + $1.bars[bar] } / Float(settled.count)
            // Below 200 Hz the windows differ from cava's, which change at 100 Hz, with a step of 31 % in noise.
            if bar < 8 { continue }
            // 5 % of the bar, or of a tenth of the full height.
            #expect(abs(mean - height) < 0.05 * max(height, 0.1), "bar \(bar): \(mean)")
        }
    }

    // MARK: - Spectrum

    @Test(arguments: [8_000, 16_000, 22_050, 44_100, 48_000, 96_000, 192_000])
    func `sine: the highest bar is the one whose edges contain it`(rate: Int) throws {
        let probe = try AnalyzerHarness(sampleRate: rate)
        let edges = probe.outputs.features.last!.edges
        #expect(edges.count == 17)
        for bar in stride(from: 0, to: 16, by: 3) {
            let harness = try AnalyzerHarness(sampleRate: rate)
            let hertz = (edges[bar] * edges[bar + 1]).squareRoot()
            let format = StreamFormat(sampleRate: rate, channelCount: 1)
            let bars = harness.process(TestSignal.sine(hertz, amplitude: 0.3, frames: rate, format: format)).last!.bars
            #expect(bars.firstIndex(of: bars.max()!) == bar)
        }
    }

    @Test func `edges are evenly spaced in log frequency and declared in the feature`() throws {
        let feature = try AnalyzerHarness("bars=10,bars_min_hz=20,bars_max_hz=20480").outputs.features.last!
        #expect(feature.name == "bars")
        #expect(feature.minimum == 0 && feature.maximum == 1)
        for (index, edge) in feature.edges.enumerated() { #expect(abs(edge / (20 * pow(2, Double(index))) - 1) < 1e-12) }
        #expect(try AnalyzerHarness(sampleRate: 8000).outputs.features.last!.edges.last == 4000)
    }

    @Test(arguments: [(44_100, 8192, 1024), (48_000, 8192, 1000), (44_100, 8192, 256), (96_000, 16_384, 441)])
    func `DecimatedSpectrum: magnitudes equal those of the full windows within 0.2 %`(rate: Int, frames: Int, hop: Int) {
        let count = Int(DecimatedSpectrum.highestHertz / (Double(rate) / Double(frames))) + 1
        var low = DecimatedSpectrum(windowFrames: frames, binCount: count, shortBinCount: count / 2, hopFrames: hop)
        // Noise with a tone in the bars and a tone whose alias would be in the bars.
        let decimatedRate = Double(rate) / Double(low.filter.factor)
        var samples = TestSignal.noise(seed: 4, amplitude: 0.1, frames: hop * (2 * frames / hop))
        for index in samples.indices {
            let time = Double(index) / Double(rate)
            samples[index] += Float(0.5 * sin(2 * .pi * 120 * time) + 0.5 * sin(2 * .pi * (decimatedRate - 60) * time))
        }
        for first in stride(from: 0, to: samples.count, by: hop) {
            let mono = Array(samples[first..<first + hop])
            low.advance(mono.span)
        }
        // The centre of decimated frame k is `reach - 2.5 factor` frames before frame k·factor of the stream.
        let factor = low.filter.factor
        let reach = (5 * factor + 7) / 8 * 8 - 1
        let decimatedCount = (samples.count + factor - 1) / factor
        let end = decimatedCount * factor - reach + 5 * factor / 2
        for (size, magnitudes) in [(frames, low.magnitudes), (frames / 2, low.shortMagnitudes)] {
            let windowed = zip(samples[end - size..<end], WindowShape.hann.values(size: size)).map { Double($0) * Double($1) }
            let truth = DoubleFFT(size: size).magnitudes(windowed)
            let highest = truth[..<magnitudes.count].max()!
            for bin in 2..<magnitudes.count {
                let value = Double(magnitudes[bin]) / low.filter.attenuation(at: Double(bin) / Double(size))
                #expect(abs(value - truth[bin]) < 0.002 * highest)
            }
        }
    }

    @Test(arguments: [(16, 2048), (25, 2048), (28, 4096), (512, 4096)])
    func `narrow bars use a longer window`(bars: Int, frames: Int) throws {
        for (rate, share) in [(44_100, 1), (48_000, 1), (96_000, 2), (22_050, 0)] {
            let spectra = try AnalyzerHarness("milkdrop,bars=\(bars)", sampleRate: rate).outputs.spectra
            #expect(spectra.map(\.size) == [share == 0 ? frames / 2 : frames * share])
        }
    }

    @Test func `bars=0: no feature and no spectrum`() throws {
        let harness = try AnalyzerHarness("bars=0")
        #expect(harness.outputs.features.map(\.name) == Row.levelNames)
        #expect(harness.outputs.spectra.map(\.size) == [1024])
        #expect(harness.outputs.width == 7)
    }
}
