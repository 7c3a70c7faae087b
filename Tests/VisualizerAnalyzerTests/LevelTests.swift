import Glibc
import Hemiola
import HemiolaSignal
import HemiolaTesting
import Testing

@testable import VisualizerAnalyzer

@Suite struct LevelTests {
    @Test(arguments: PublishedLevels.Algorithm.allCases, [(44_100, 1024), (48_000, 1024), (44_100, 512)])
    func `a minute of music gives the levels of the published algorithm`(
        algorithm: PublishedLevels.Algorithm, stream: (rate: Int, batch: Int)
    ) throws {
        let music = try Minuet.minute.get()
        let rows = try Stage("\(algorithm),bars=0", sampleRate: stream.rate, channels: 2, batch: stream.batch).play(music)
        let published = PublishedLevels.of(music, algorithm, sampleRate: stream.rate, hop: stream.batch)
        #expect(published.count > 2500)
        #expect(greatestDifference(rows, published) < 1e-4)
        // The music keeps them moving, and around 1.
        let bass = rows.map { $0("bass") }
        #expect(bass.max()! > 1.3 && bass.min()! < 0.7)
    }

    @Test(arguments: PublishedLevels.Algorithm.allCases)
    func `a batch of several hops has the levels of its last`(algorithm: PublishedLevels.Algorithm) throws {
        let music = try Array(Minuet.minute.get()[..<(2 * 44_100 * 6)])
        let rows = try Stage("\(algorithm),bars=0", channels: 2, batch: 3072).play(music)
        let published = PublishedLevels.of(music, algorithm, sampleRate: 44_100, hop: 1024)
        #expect(greatestDifference(rows, stride(from: 2, to: published.count, by: 3).map { published[$0] }) < 1e-4)
    }

    /// Of whole batches; the last, partial one is not the published algorithm's.
    private func greatestDifference(_ rows: [Row], _ published: [[Double]]) -> Double {
        var worst = 0.0
        for (row, truth) in zip(rows, published) {
            for (value, expected) in zip(row.levels, truth) { worst = max(worst, abs(Double(value) - expected)) }
        }
        return worst
    }

    @Test func `the reference transform is the Fourier transform`() {
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
        (44_100, [0, 6, 64, 255]), (48_000, [0, 6, 59, 234]), (22_050, [0, 14, 129, 511]), (96_000, [0, 2, 29, 117]),
    ])
    func `Butterchurn's bands follow the sample rate`(rate: Int, edges: [Int]) {
        let bands = LevelProfile.butterchurn.bands(at: rate)
        #expect(bands == zip(edges, edges.dropFirst()).map { $0..<$1 })
    }

    @Test(arguments: [44_100, 48_000, 192_000])
    func `MilkDrop's bands are thirds of the lower half at any rate`(rate: Int) {
        #expect(LevelProfile.milkdrop.bands(at: rate) == [0..<85, 85..<170, 170..<256])
    }

    @Test func `silence from the start is 1 in MilkDrop, where there is nothing to measure by`() throws {
        let stage = try Stage("milkdrop")
        for row in stage.play(TestSignal.silence(frames: 44_100)) { #expect(row.levels == Array(repeating: 1, count: 7)) }
    }

    @Test func `silence from the start falls from 1 and comes back to it in Butterchurn, whose averages begin at 1`() throws {
        let rows = try Stage("bars=0").play(TestSignal.silence(frames: 44_100 * 30))
        #expect(rows[0]("bass") == 0)
        #expect(rows[0]("bass_att") < 1)
        #expect(rows.last!.levels == Array(repeating: 1, count: 7))
        #expect(rows.allSatisfy { $0.levels.allSatisfy { $0 >= 0 && $0 <= 1 } })
    }

    @Test(arguments: PublishedLevels.Algorithm.allCases)
    func `a steady sound settles at 1`(profile: PublishedLevels.Algorithm) throws {
        let noise = TestSignal.noise(seed: 3, amplitude: 0.3, frames: 44_100 * 20)
        let rows = try Stage("\(profile),bars=0").play(noise)
        for name in ["mid", "treb"] {
            let late = rows.suffix(200).map { $0(name) }
            #expect(abs(late.reduce(0, +) / 200 - 1) < 0.03)
        }
    }

    @Test(arguments: [(80.0, "bass"), (1000, "mid"), (6000, "treb")])
    func `a stroke in one band lifts that band alone`(hertz: Double, name: String) throws {
        let stage = try Stage("bars=0")
        _ = stage.play(TestSignal.noise(seed: 5, amplitude: 0.05, frames: 44_100 * 5))
        let stroke = zip(
            TestSignal.sine(hertz, amplitude: 0.5, frames: 4096), TestSignal.noise(seed: 6, amplitude: 0.05, frames: 4096)
        ).map(+)
        let row = stage.play(stroke)[2]
        #expect(row(name) > 2)
        for other in ["bass", "mid", "treb"] where other != name { #expect(row(other) < row(name) / 2) }
        // Damped, it is still on its way; vol is the mean.
        #expect(row("\(name)_att") < row(name))
        #expect(abs(row("vol") - (row("bass") + row("mid") + row("treb")) / 3) < 1e-6)
    }

    @Test func `MilkDrop hears the left channel and Butterchurn both`() throws {
        let tone = TestSignal.sine(1000, amplitude: 0.5, frames: 44_100 * 2)
        let quiet = [Float](repeating: 0, count: tone.count)
        let right = TestSignal.interleaved([quiet, tone])
        #expect(try Stage("milkdrop,bars=0", channels: 2).play(right).last!("mid") == 1)
        #expect(try Stage("butterchurn,bars=0", channels: 2).play(right).last!("mid") > 0.5)
        let mono = try Stage("milkdrop,bars=0").play(tone)
        let left = try Stage("milkdrop,bars=0", channels: 2).play(TestSignal.interleaved([tone, quiet]))
        #expect(mono.map(\.levels) == left.map(\.levels))
    }

    @Test(arguments: ["milkdrop,bars=0", "butterchurn,bars=0"])
    func `a centre in 5.1 gives the levels of the same tone at -3 dB on both sides of stereo`(settings: String) throws {
        let tone = TestSignal.sine(1000, amplitude: 0.5, frames: 44_100)
        let quiet = [Float](repeating: 0, count: tone.count)
        let half = ChannelPosition.allCases.prefix(6)
        let surround = try Stage(settings, channels: 6, map: ChannelMap(Array(half)))
            .play(TestSignal.interleaved([quiet, quiet, tone, quiet, quiet, quiet]))
        let side = tone.map { $0 * Float(0.5).squareRoot() }
        let stereo = try Stage(settings, channels: 2).play(TestSignal.interleaved([side, side]))
        for (one, other) in zip(surround, stereo) {
            for (value, expected) in zip(one.levels, other.levels) { #expect(abs(value - expected) < 1e-3) }
        }
        #expect(stereo.dropLast().last!("mid") > 0.5, "not silence against silence")
    }

    @Test(arguments: PublishedLevels.Algorithm.allCases)
    func `the damping takes the same time at every batch size`(profile: PublishedLevels.Algorithm) throws {
        // From loud to silence: after a quarter of a second the damped level has the same share left.
        let shares = try [256, 512, 1024, 4096].map { batch in
            let stage = try Stage("\(profile),bars=0", sampleRate: 32_768, batch: batch)
            _ = stage.play(TestSignal.noise(seed: 8, amplitude: 0.5, frames: 8 * 32_768))
            _ = stage.play(TestSignal.silence(frames: 4096))
            let before = stage.play(TestSignal.silence(frames: 4096)).last!("mid_att")
            let after = stage.play(TestSignal.silence(frames: 4096)).last!("mid_att")
            return after / before
        }
        for share in shares { #expect(abs(share / shares[0] - 1) < 0.002) }
    }

    @Test func `a gap clears what was heard and keeps what was learnt`() throws {
        let noise = TestSignal.noise(seed: 9, amplitude: 0.4, frames: 44_100 * 6)
        for profile in PublishedLevels.Algorithm.allCases {
            let stage = try Stage("\(profile),bars=0")
            _ = stage.play(noise)
            stage.lose(frames: 44_100)
            let after = stage.play(Array(noise[..<8192]))
            #expect(after[3]("mid") > 0.7 && after[3]("mid") < 1.3)
            stage.lose(frames: 10)
            #expect(stage.play(TestSignal.silence(frames: 1024))[0]("mid") == 0)
        }
    }

    @Test func `a partial hop is padded with silence and heard like one`() throws {
        let noise = TestSignal.noise(seed: 10, amplitude: 0.4, frames: 44_100)
        let padded = Array(noise[..<(1024 * 20 + 300)]) + [Float](repeating: 0, count: 724)
        for profile in PublishedLevels.Algorithm.allCases {
            let partial = try Stage("\(profile)").play(Array(noise[..<(1024 * 20 + 300)]))
            let whole = try Stage("\(profile)").play(padded)
            #expect(partial.count == 21)
            #expect(partial == whole)
        }
    }

    @Test func `samples beyond all measure leave the levels and bars finite and soon forgotten`() throws {
        let noise = TestSignal.noise(seed: 11, amplitude: 0.4, frames: 44_100 * 10)
        for profile in PublishedLevels.Algorithm.allCases {
            let stage = try Stage("\(profile)")
            // Of the last second: the batches stand elsewhere the second time.
            func height(_ rows: [Row]) -> Float { rows.suffix(43).map { $0.bars.reduce(0, +) }.reduce(0, +) }
            let calm = stage.play(noise)
            _ = stage.play(Array(repeating: 3e38, count: 2000))
            // The gain has fallen to a half, and doubles in ten seconds.
            let rows = stage.play(noise)
            #expect(rows.allSatisfy { ($0.levels + $0.bars).allSatisfy(\.isFinite) })
            #expect(abs(height(rows) / height(calm) - 1) < 0.15)
        }
    }
}
