import Glibc
import Hemiola
import HemiolaSignal
import HemiolaSpectrum
import HemiolaTesting
import Testing

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
        let stage = try Stage(settings, batch: 1024)
        var music: [Float] = []
        for (index, amplitude) in [0.001, 1, 0, 0.01, 0.0001, 1, 0.3, 0.5].enumerated() {
            music += Self.noise(seconds: 1, amplitude: amplitude, seed: UInt64(index))
        }
        music += TestSignal.clicks(beatsPerMinute: 140, frames: 88_200)
        let rows = stage.play(music)
        #expect(rows.allSatisfy { $0.bars.allSatisfy { $0 >= 0 && $0 <= 1 } })
        #expect(Self.heights(rows).max()! == 1)
    }

    @Test func `music fills the bars within a second and keeps the highest near the top`() throws {
        let rows = try Stage(channels: 2).play(Minuet.minute.get())
        let heights = Self.heights(rows)
        // The piece begins with half a second of silence.
        #expect(heights[..<65].contains { $0 > 0.9 })
        // In any five seconds some bar comes to the top.
        for first in stride(from: 215, to: heights.count - 215, by: 215) { #expect(heights[first..<first + 215].max()! > 0.8) }
        #expect(rows.allSatisfy { $0.bars.allSatisfy { $0 >= 0 && $0 <= 1 } })
    }

    // MARK: - Gain

    @Test(arguments: [0.005, 0.0232, 0.1])
    func `an overshoot halves the gain in half a second, the way back takes ten`(hopSeconds: Double) {
        var motion = BarMotion(count: 2, noiseReduction: 0.77, hopSeconds: hopSeconds)
        func run(seconds: Double, _ height: Float, isSilent: Bool = false) {
            for _ in 0..<Int((seconds / hopSeconds).rounded()) {
                var bars: [Float] = [height, height / 2]
                var span = bars.mutableSpan
                motion.move(&span, isSilent: isSilent)
            }
        }
        run(seconds: 0.3, 1000)
        var before = motion.gain
        run(seconds: 0.5, 1000)
        #expect(abs(motion.gain / before - 0.5) < 0.05)
        // Time for the bars to fall, then nothing is over the top any more.
        run(seconds: 1, 0)
        before = motion.gain
        run(seconds: 10, 1e-9)
        #expect(abs(motion.gain / before - 2) < 0.1)
        before = motion.gain
        run(seconds: 60, 0, isSilent: true)
        #expect(motion.gain == before)
        // Whatever happens, there is an end to it.
        run(seconds: 600, 1e-9)
        #expect(motion.gain == 0x1p16)
    }

    @Test(arguments: [0.005, 0.0232, 0.1])
    func `one hop beyond all measure costs no more than one that is 6 dB over the top`(hopSeconds: Double) {
        func gain(after height: Float) -> Double {
            var motion = BarMotion(count: 1, noiseReduction: 0.77, hopSeconds: hopSeconds)
            for index in 0..<Int(1 / hopSeconds) {
                var bars: [Float] = [index == 0 ? height : 0]
                var span = bars.mutableSpan
                // In silence it does not grow, so what it has lost is seen.
                motion.move(&span, isSilent: true)
            }
            return motion.gain
        }
        let fair = gain(after: 2)
        for height in [100, 3e38, .infinity, .nan] as [Float] { #expect(gain(after: height) == fair) }
        // From 2 a bar has fallen to 1 after 0.24 s; the gain falls by hops.
        #expect(fair > pow(0.5, (0.24 + hopSeconds) / 0.5))
    }

    @Test(arguments: [256, 1024, 4096])
    func `a step in level is over the top for a moment and settled soon`(batch: Int) throws {
        let stage = try Stage(batch: batch)
        _ = stage.play(Self.noise(seconds: 12, amplitude: 0.05))
        // 18 dB up: three halvings, a second and a half, after the window has filled.
        let loud = Self.heights(stage.play(Self.noise(seconds: 4, amplitude: 0.4, seed: 2)))
        let second = Int(1 / stage.batchSeconds)
        #expect(loud[second / 2..<second].allSatisfy { $0 == 1 })
        #expect(loud[(second * 5 / 2)...].contains { $0 < 1 })
        // 6 dB down: the bars are lower at first and back in ten seconds.
        let soft = Self.heights(stage.play(Self.noise(seconds: 13, amplitude: 0.2, seed: 3)))
        let first = soft[second..<2 * second].reduce(0, +) / Float(second)
        let last = soft[(12 * second)..<13 * second].reduce(0, +) / Float(second)
        #expect(first < 0.75)
        #expect(last > 0.85)
    }

    @Test(arguments: [0, 2e-5])
    func `bars do not grow in silence, digital or dithered`(dither: Double) throws {
        func comeback(after seconds: Double) throws -> [Row] {
            let stage = try Stage()
            _ = stage.play(Self.noise(seconds: 11.14, amplitude: 0.1))
            let silence = stage.play(Self.noise(seconds: seconds, amplitude: dither))
            #expect(silence.last!.bars.allSatisfy { $0 < 0.001 })
            return stage.play(Self.noise(seconds: 1, amplitude: 0.1, seed: 2))
        }
        let (short, long) = (try comeback(after: 4), try comeback(after: 20))
        for (one, other) in zip(short, long) {
            #expect(zip(one.bars, other.bars).allSatisfy { abs($0 - $1) < 0.002 })
        }
    }

    @Test func `silence at the start leaves the gain alone`() throws {
        let rows = try Stage().play(TestSignal.silence(frames: 441_000) + Self.noise(seconds: 2))
        let fresh = try Stage().play(TestSignal.silence(frames: 1024 * 20) + Self.noise(seconds: 2))
        #expect(rows[0].bars.allSatisfy { $0 == 0 })
        #expect(abs(rows.last!.bars.max()! - fresh.last!.bars.max()!) < 0.1)
    }

    // MARK: - Motion

    @Test func `a bar rises quickly and falls to nothing within half a second`() throws {
        let stage = try Stage()
        _ = stage.play(Self.noise(seconds: 10))
        let fall = Self.heights(stage.play(TestSignal.silence(frames: 44_100)))
        #expect(fall[2] > 0.4)
        #expect(fall[Int(0.6 / stage.batchSeconds)] < 0.02)
        for (one, next) in zip(fall[8...], fall[9...]) { #expect(next <= one) }
        let rise = Self.heights(stage.play(Self.noise(seconds: 1, seed: 2)))
        #expect(rise[Int(0.25 / stage.batchSeconds)] > 0.6)
    }

    @Test func `without noise reduction a bar is the sound itself`() throws {
        let stage = try Stage("noise_reduction=0")
        _ = stage.play(Self.noise(seconds: 10))
        let fall = stage.play(TestSignal.silence(frames: 44_100 / 2))
        #expect(fall[9].bars.allSatisfy { $0 == 0 })
    }

    @Test func `the bars move alike at every hop`() throws {
        let music = TestSignal.clicks(beatsPerMinute: 97, frames: 44_100 * 12).enumerated().map { index, click in
            click * 0.6 + Float(sin(2 * .pi * 220 * Double(index) / 44_100)) * 0.2
        }
        func bars(_ batch: Int) throws -> [[Float]] {
            let rows = try Stage(batch: batch).play(music)
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

    // MARK: - Spectrum

    @Test(arguments: [8_000, 16_000, 22_050, 44_100, 48_000, 96_000, 192_000])
    func `a sine stands highest in the bar whose edges hold it`(rate: Int) throws {
        let probe = try Stage(sampleRate: rate)
        let edges = probe.outputs.features.last!.edges
        #expect(edges.count == 17)
        for bar in stride(from: 0, to: 16, by: 3) {
            let stage = try Stage(sampleRate: rate)
            let hertz = (edges[bar] * edges[bar + 1]).squareRoot()
            let format = StreamFormat(sampleRate: rate, channelCount: 1)
            let bars = stage.play(TestSignal.sine(hertz, amplitude: 0.3, frames: rate, format: format)).last!.bars
            #expect(bars.firstIndex(of: bars.max()!) == bar)
        }
    }

    @Test func `edges are evenly spaced in log frequency and told in the header`() throws {
        let feature = try Stage("bars=10,bars_min_hz=20,bars_max_hz=20480").outputs.features.last!
        #expect(feature.name == "bars")
        #expect(feature.minimum == 0 && feature.maximum == 1)
        for (index, edge) in feature.edges.enumerated() { #expect(abs(edge / (20 * pow(2, Double(index))) - 1) < 1e-12) }
        #expect(try Stage(sampleRate: 8000).outputs.features.last!.edges.last == 4000)
    }

    @Test(arguments: [(44_100, 8192, 1024), (48_000, 8192, 1000), (44_100, 8192, 256), (96_000, 16_384, 441)])
    func `the thinned spectra are those of the long windows`(rate: Int, frames: Int, hop: Int) {
        let count = Int(LowSpectrum.highestHertz / (Double(rate) / Double(frames))) + 1
        var low = LowSpectrum(windowFrames: frames, binCount: count, shortBinCount: count / 2, hopFrames: hop)
        // Noise with tones where the thinning would fold them back into the bars.
        let thinnedRate = Double(rate) / Double(low.factor)
        var samples = TestSignal.noise(seed: 4, amplitude: 0.1, frames: hop * (2 * frames / hop))
        for index in samples.indices {
            let time = Double(index) / Double(rate)
            samples[index] += Float(0.5 * sin(2 * .pi * 120 * time) + 0.5 * sin(2 * .pi * (thinnedRate - 60) * time))
        }
        for first in stride(from: 0, to: samples.count, by: hop) {
            let mono = Array(samples[first..<first + hop])
            low.advance(mono.span)
        }
        // Thinned frame k has its middle `reach - 2.5 factor` frames before frame k·factor of the stream.
        let factor = low.factor
        let reach = (5 * factor + 7) / 8 * 8 - 1
        let thinnedCount = (samples.count + factor - 1) / factor
        let end = thinnedCount * factor - reach + 5 * factor / 2
        for (size, magnitudes) in [(frames, low.magnitudes), (frames / 2, low.shortMagnitudes)] {
            let windowed = zip(samples[end - size..<end], WindowShape.hann.values(size: size)).map { Double($0) * Double($1) }
            let truth = DoubleFFT(size: size).magnitudes(windowed)
            let highest = truth[..<magnitudes.count].max()!
            for bin in 2..<magnitudes.count {
                let value = Double(magnitudes[bin]) / low.attenuation(at: Double(bin) / Double(size))
                #expect(abs(value - truth[bin]) < 0.002 * highest)
            }
        }
    }

    @Test(arguments: [(16, 2048), (25, 2048), (28, 4096), (512, 4096)])
    func `narrow bars are read from a longer window`(bars: Int, frames: Int) throws {
        for (rate, share) in [(44_100, 1), (48_000, 1), (96_000, 2), (22_050, 0)] {
            let spectra = try Stage("milkdrop,bars=\(bars)", sampleRate: rate).outputs.spectra
            #expect(spectra.map(\.size) == [share == 0 ? frames / 2 : frames * share])
        }
    }

    @Test func `no bars, no work for them`() throws {
        let stage = try Stage("bars=0")
        #expect(stage.outputs.features.map(\.name) == Row.levelNames)
        #expect(stage.outputs.spectra.map(\.size) == [1024])
        #expect(stage.outputs.width == 7)
    }
}
