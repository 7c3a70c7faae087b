import Glibc
import Hemiola
import HemiolaTesting
import Testing

@testable import VisualizerAnalyzer

@Suite struct LevelTests {
    @Test(arguments: PublishedLevels.Algorithm.allCases, [(44_100, 1024), (48_000, 1024), (44_100, 512)])
    func `one minute of music: levels equal the published algorithm within 1e-4`(
        algorithm: PublishedLevels.Algorithm, stream: (rate: Int, batch: Int)
    ) throws {
        let music = try Minuet.minute.get()
        let rows = try AnalyzerHarness("\(algorithm),bars=0", sampleRate: stream.rate, channels: 2, batch: stream.batch).process(music)
        let published = PublishedLevels.of(music, algorithm, sampleRate: stream.rate, hop: stream.batch)
        #expect(published.count > 2500)
        #expect(greatestDifference(rows, published) < 1e-4)
        // The levels vary around 1.
        let bass = rows.map { $0("bass") }
        #expect(bass.max()! > 1.3 && bass.min()! < 0.7)
    }

    @Test(arguments: PublishedLevels.Algorithm.allCases)
    func `a batch of several hops has the levels of the last one`(algorithm: PublishedLevels.Algorithm) throws {
        let music = try Array(Minuet.minute.get()[..<(2 * 44_100 * 6)])
        let rows = try AnalyzerHarness("\(algorithm),bars=0", channels: 2, batch: 3072).process(music)
        let published = PublishedLevels.of(music, algorithm, sampleRate: 44_100, hop: 1024)
        #expect(greatestDifference(rows, stride(from: 2, to: published.count, by: 3).map { published[$0] }) < 1e-4)
    }

    /// The largest difference over whole batches. The published algorithm has no partial ones.
    private func greatestDifference(_ rows: [Row], _ published: [[Double]]) -> Double {
        var worst = 0.0
        for (row, truth) in zip(rows, published) {
            for (value, expected) in zip(row.levels, truth) { worst = max(worst, abs(Double(value) - expected)) }
        }
        return worst
    }

    @Test func `DoubleFFT equals the discrete Fourier transform`() {
        let input = (0..<64).map { _ in Double.random(in: -1...1) }
        let magnitudes = DoubleFFT(size: 64).magnitudes(input)
        for bin in 0..<32 {
            var (real, imaginary) = (0.0, 0.0)
            for index in 0..<64 {
                real += input[index] * cosine(bin * index, of: 64)
                imaginary += input[index] * cosine(bin * index + 16, of: 64)
            }
            #expect(abs(magnitudes[bin] - (real * real + imaginary * imaginary).squareRoot()) < 1e-9)
        }
    }

    private func cosine(_ step: Int, of steps: Int) -> Double {
        let turn = 2 * Double.pi * Double(step) / Double(steps)
        return cos(turn)
    }

    @Test(arguments: [
        (44_100, [0, 6, 64, 255]), (48_000, [0, 6, 59, 234]), (22_050, [0, 14, 129, 511]), (96_000, [0, 6, 59, 234]),
        (192_000, [0, 6, 59, 234]), (352_800, [0, 6, 64, 255]),
    ])
    func `Butterchurn's bands are constant in hertz`(rate: Int, edges: [Int]) {
        let bands = LevelProfile.butterchurn.bands(at: rate)
        #expect(bands == zip(edges, edges.dropFirst()).map { $0..<$1 })
    }

    @Test(arguments: [44_100, 48_000, 192_000])
    func `MilkDrop's bands are thirds of the lower half at all sample rates`(rate: Int) {
        #expect(LevelProfile.milkdrop.bands(at: rate) == [0..<85, 85..<170, 170..<256])
    }

    @Test(arguments: LevelProfile.allCases)
    func `any sample rate from 8 to 384 kHz: no band is empty`(profile: LevelProfile) {
        for rate in stride(from: 8000, through: 384_000, by: 50) {
            let weights = LevelProfile.weights(at: rate)
            for band in profile.bands(at: rate) { #expect(weights[band].contains { $0 > 0 }, "\(rate): \(band)") }
        }
    }

    /// A bass drum, a chord and cymbals of sines below 11 kHz, at any sample rate.
    private static func music(sampleRate: Int) -> [Float] {
        (0..<8 * sampleRate).map { frame in
            let time = Double(frame) / Double(sampleRate)
            func stroke(_ period: Double, _ length: Double) -> Double {
                let age = time.truncatingRemainder(dividingBy: period)
                return min(1, age / 0.02) * exp(-age / length)
            }
            func sines(_ frequencies: [Double]) -> Double {
                var sum = 0.0
                for hertz in frequencies { sum += sin(2 * .pi * hertz * time + hertz) }
                return sum
            }
            let drum: Double = 0.4 * stroke(0.5, 0.15) * sines([60, 110])
            let chord: Double = 0.1 * stroke(0.75, 0.4) * sines([440, 660, 1320])
            let cymbals: Double = 0.05 * stroke(0.25, 0.08) * sines([4500, 6100, 8200, 9800])
            return Float(drum + chord + cymbals)
        }
    }

    /// Mean and standard deviation of a level after the first three seconds.
    private static func moments(_ rows: [Row], _ name: String, sampleRate: Int) -> (mean: Float, deviation: Float) {
        let values = rows[(3 * sampleRate / 1024)...].map { $0(name) }
        let count = Float(values.count)
        let mean = values.reduce(0, +) / count
        var sum: Float = 0
        for value in values { sum += (value - mean) * (value - mean) }
        return (mean, (sum / count).squareRoot())
    }

    @Test(arguments: LevelProfile.allCases, [44_100, 48_000])
    func `the same music at twice to eight times the rate: means within 8 %, deviations within 15 %`(
        profile: LevelProfile, base: Int
    ) throws {
        let usual = try AnalyzerHarness("\(profile),bars=0", sampleRate: base).process(Self.music(sampleRate: base))
        for factor in [2, 4, 8] {
            let rows = try AnalyzerHarness("\(profile),bars=0", sampleRate: factor * base).process(Self.music(sampleRate: factor * base))
            for name in ["bass", "mid", "treb"] {
                let (one, other) = (
                    Self.moments(usual, name, sampleRate: base), Self.moments(rows, name, sampleRate: factor * base)
                )
                #expect(one.mean > 0.8 && one.deviation > 0.3)
                #expect(abs(other.mean / one.mean - 1) < 0.08, "\(factor * base) Hz: \(name)")
                #expect(abs(other.deviation / one.deviation - 1) < 0.15, "\(factor * base) Hz: \(name)")
            }
        }
    }

    @Test func `silence from the start: MilkDrop's levels are 1`() throws {
        let harness = try AnalyzerHarness("milkdrop")
        for row in harness.process(TestSignal.silence(frames: 44_100)) { #expect(row.levels == Array(repeating: 1, count: 7)) }
    }

    @Test func `silence from the start: Butterchurn's levels start at 0 and end at 1`() throws {
        let rows = try AnalyzerHarness("bars=0").process(TestSignal.silence(frames: 44_100 * 30))
        #expect(rows[0]("bass") == 0)
        #expect(rows[0]("bass_att") < 1)
        #expect(rows.last!.levels == Array(repeating: 1, count: 7))
        #expect(rows.allSatisfy { $0.levels.allSatisfy { $0 >= 0 && $0 <= 1 } })
    }

    @Test(arguments: PublishedLevels.Algorithm.allCases)
    func `steady noise: levels settle at 1`(profile: PublishedLevels.Algorithm) throws {
        let noise = TestSignal.noise(seed: 3, amplitude: 0.3, frames: 44_100 * 20)
        let rows = try AnalyzerHarness("\(profile),bars=0").process(noise)
        for name in ["mid", "treb"] {
            let late = rows.suffix(200).map { $0(name) }
            #expect(abs(late.reduce(0, +) / 200 - 1) < 0.03)
        }
    }

    @Test(arguments: [(80.0, "bass"), (1000, "mid"), (6000, "treb")])
    func `a tone burst in one band raises the level of that band only`(hertz: Double, name: String) throws {
        let harness = try AnalyzerHarness("bars=0")
        _ = harness.process(TestSignal.noise(seed: 5, amplitude: 0.05, frames: 44_100 * 5))
        let burst = zip(
            TestSignal.sine(hertz, amplitude: 0.5, frames: 4096), TestSignal.noise(seed: 6, amplitude: 0.05, frames: 4096)
        ).map(+)
        let row = harness.process(burst)[2]
        #expect(row(name) > 2)
        for other in ["bass", "mid", "treb"] where other != name { #expect(row(other) < row(name) / 2) }
        // The smoothed level is lower; vol is the mean.
        #expect(row("\(name)_att") < row(name))
        #expect(abs(row("vol") - (row("bass") + row("mid") + row("treb")) / 3) < 1e-6)
    }

    @Test func `MilkDrop uses the left channel, Butterchurn both`() throws {
        let tone = TestSignal.sine(1000, amplitude: 0.5, frames: 44_100 * 2)
        let quiet = [Float](repeating: 0, count: tone.count)
        let right = TestSignal.interleaved([quiet, tone])
        #expect(try AnalyzerHarness("milkdrop,bars=0", channels: 2).process(right).last!("mid") == 1)
        #expect(try AnalyzerHarness("butterchurn,bars=0", channels: 2).process(right).last!("mid") > 0.5)
        let mono = try AnalyzerHarness("milkdrop,bars=0").process(tone)
        let left = try AnalyzerHarness("milkdrop,bars=0", channels: 2).process(TestSignal.interleaved([tone, quiet]))
        #expect(mono.map(\.levels) == left.map(\.levels))
    }

    @Test(arguments: ["milkdrop,bars=0", "butterchurn,bars=0"])
    func `a centre in 5.1 gives the levels of the same tone at -3 dB on both sides of stereo`(settings: String) throws {
        let tone = TestSignal.sine(1000, amplitude: 0.5, frames: 44_100)
        let quiet = [Float](repeating: 0, count: tone.count)
        let half = ChannelPosition.allCases.prefix(6)
        let surround = try AnalyzerHarness(settings, channels: 6, map: ChannelMap(Array(half)))
            .process(TestSignal.interleaved([quiet, quiet, tone, quiet, quiet, quiet]))
        let side = tone.map { $0 * Float(0.5).squareRoot() }
        let stereo = try AnalyzerHarness(settings, channels: 2).process(TestSignal.interleaved([side, side]))
        for (one, other) in zip(surround, stereo) {
            for (value, expected) in zip(one.levels, other.levels) { #expect(abs(value - expected) < 1e-3) }
        }
        #expect(stereo.dropLast().last!("mid") > 0.5, "the signal is not silent")
    }

    @Test(arguments: PublishedLevels.Algorithm.allCases)
    func `smoothing takes the same time at all batch sizes`(profile: PublishedLevels.Algorithm) throws {
        // After the step from noise to silence the smoothed level decays by the same factor in the same time.
        let shares = try [256, 512, 1024, 4096].map { batch in
            let harness = try AnalyzerHarness("\(profile),bars=0", sampleRate: 32_768, batch: batch)
            _ = harness.process(TestSignal.noise(seed: 8, amplitude: 0.5, frames: 8 * 32_768))
            _ = harness.process(TestSignal.silence(frames: 4096))
            let before = harness.process(TestSignal.silence(frames: 4096)).last!("mid_att")
            let after = harness.process(TestSignal.silence(frames: 4096)).last!("mid_att")
            return after / before
        }
        for share in shares { #expect(abs(share / shares[0] - 1) < 0.002) }
    }

    @Test func `a gap resets the windows and keeps the averages`() throws {
        let noise = TestSignal.noise(seed: 9, amplitude: 0.4, frames: 44_100 * 6)
        for profile in PublishedLevels.Algorithm.allCases {
            let harness = try AnalyzerHarness("\(profile),bars=0")
            _ = harness.process(noise)
            harness.skip(frames: 44_100)
            let after = harness.process(Array(noise[..<8192]))
            #expect(after[3]("mid") > 0.7 && after[3]("mid") < 1.3)
            harness.skip(frames: 10)
            #expect(harness.process(TestSignal.silence(frames: 1024))[0]("mid") == 0)
        }
    }

    @Test func `a partial hop equals one padded with zeros`() throws {
        let noise = TestSignal.noise(seed: 10, amplitude: 0.4, frames: 44_100)
        let padded = Array(noise[..<(1024 * 20 + 300)]) + [Float](repeating: 0, count: 724)
        for profile in PublishedLevels.Algorithm.allCases {
            let partial = try AnalyzerHarness("\(profile)").process(Array(noise[..<(1024 * 20 + 300)]))
            let whole = try AnalyzerHarness("\(profile)").process(padded)
            #expect(partial.count == 21)
            #expect(partial == whole)
        }
    }

    @Test func `samples of 3e38: levels and bars stay finite and recover within ten seconds`() throws {
        let noise = TestSignal.noise(seed: 11, amplitude: 0.4, frames: 44_100 * 10)
        for profile in PublishedLevels.Algorithm.allCases {
            let harness = try AnalyzerHarness("\(profile)")
            // The sum over the last second, because batch boundaries differ between the runs.
            func height(_ rows: [Row]) -> Float { rows.suffix(43).map { $0.bars.reduce(0, +) }.reduce(0, +) }
            let calm = harness.process(noise)
            _ = harness.process(Array(repeating: 3e38, count: 2000))
            // The gain has decreased by half, and doubles in ten seconds.
            let rows = harness.process(noise)
            #expect(rows.allSatisfy { ($0.levels + $0.bars).allSatisfy(\.isFinite) })
            #expect(abs(height(rows) / height(calm) - 1) < 0.15)
        }
    }
}
