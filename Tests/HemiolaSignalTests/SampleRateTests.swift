import AnalysisSupport
import Foundation
import Testing

@testable import HemiolaSignal

@Suite struct `SpectrumBank, resampling` {
    private static let rate = 44_100
    private static let request = SpectrumRequest(size: 2048, hop: .seconds(0.01), sampleRate: rate, parts: .magnitude)
    private static let frequencies = [31.0, 110, 440.5, 1000, 3300, 3700, 7000, 10_900]

    /// Sines at any sample rate, equal in time: those below half the rate.
    private static func chord(_ frequencies: [Double], rate: Int, seconds: Double = 0.5) -> [Float] {
        (0..<Int(seconds * Double(rate))).map { frame in
            let time = Double(frame) / Double(rate)
            return Float(frequencies.reduce(0) { $0 + 0.1 * cos(2 * .pi * $1 * time + $1) })
        }
    }

    @Test(arguments: [8_000, 11_025, 16_000, 22_050, 32_000, 44_056, 48_000, 88_200, 96_000, 192_000, 384_000])
    func `request with a sample rate: spectra as of a stream at that rate`(streamRate: Int) {
        let limit = min(0.98 * Double(streamRate) / 2, Double(Self.rate) / 4)
        let frequencies = Self.frequencies.filter { $0 < limit - 50 }
        var (run, wanted) = (BankRun([Self.request], sampleRate: streamRate), BankRun([Self.request]))
        let frames = run.advance(through: Self.chord(frequencies, rate: streamRate))[0]
        let expected = wanted.advance(through: Self.chord(frequencies, rate: Self.rate))[0]
        #expect(frames.count >= 45)
        let bins = 0..<Int(limit * 2048 / Double(Self.rate))
        for (frame, other) in zip(frames, expected) {
            #expect(abs(frame.center / Double(streamRate) - other.center / Double(Self.rate)) < 1e-9)
            // An abrupt start or end has frequencies above half the lower rate.
            guard (1100..<22_050 - 1100).contains(other.center) else { continue }
            let peak = other.magnitude[bins].max()!
            let worst = bins.map { abs(frame.magnitude[$0] - other.magnitude[$0]) }.max()!
            // For a rate without a common divisor, the filter is that of the nearest of 1024 positions between two frames.
            #expect(worst < (streamRate == 44_056 ? 1e-3 : 2e-4) * peak, "at \(frame.center)")
        }
    }

    @Test(arguments: [48_000, 96_000, 192_000], [15_000.0, 23_500, 40_000, 90_000])
    func `sine above three quarters of the new rate: no alias below a quarter`(streamRate: Int, hertz: Double) {
        guard hertz < Double(streamRate) / 2 else { return }
        var run = BankRun([Self.request], sampleRate: streamRate)
        // Fades in and out: an abrupt edge would have energy at all frequencies.
        let sine = Self.chord([hertz], rate: streamRate)
        let frames = run.advance(through: sine.indices.map { sine[$0] * Float(sin(.pi * Double($0) / Double(sine.count))) })[0]
        let bins = 0...Int(Double(Self.rate) / 4 * 2048 / Double(Self.rate))
        // A sine of amplitude 0.1 would have a magnitude of 0.1 · 2048 / 4.
        let worst = frames.map { $0.magnitude[bins].max()! }.max()!
        #expect(worst < 2e-4 * 51.2)
    }

    @Test(arguments: [64, 256, 480, 4096])
    func `any hop length: the same spectra`(hopFrames: Int) {
        let noise = Audio.noise(frames: 61_440, seed: 3).samples
        var (run, other) = (BankRun([Self.request], hopFrames: hopFrames, sampleRate: 48_000), BankRun([Self.request], sampleRate: 48_000))
        let (some, all) = (run.advance(through: noise)[0], other.advance(through: noise)[0])
        // The last window ends with the noise: its resampled frames are not known yet.
        #expect(some.count == 127 && all.count == 127)
        #expect(zip(some, all).allSatisfy { abs($0.center - $1.center) < 1e-9 })
        #expect(some.map(\.magnitude) == all.map(\.magnitude))
    }

    @Test func `gap: no window that ends before it begins`() {
        var run = BankRun([Self.request], hopFrames: 960, sampleRate: 48_000)
        let noise = Audio.noise(frames: 960, seed: 3).samples
        #expect(run.advance(noise)[0].count == 1)
        run.bank.clear()
        // Without the gap, the second hop would begin with the window that ends with the first one.
        let center = 1440 - 1024 * 48_000 / 44_100.0
        let frames = run.advance(noise)[0]
        #expect(frames.count == 1 && abs(frames[0].center - center) < 1e-9)
    }

    @Test func `the stream's own sample rate requested: no resampling`() {
        let own = SpectrumRequest(size: 1024)
        let (same, other) = (SpectrumRequest(size: 1024, sampleRate: 48_000), SpectrumRequest(size: 1024, sampleRate: 44_100))
        var run = BankRun([own, same, other], sampleRate: 48_000)
        let frames = run.advance(through: Audio.noise(frames: 4096).samples)
        #expect(run.bank.transformCount == 2 * 4)
        #expect(frames[0].map(\.power) == frames[1].map(\.power))
        #expect(frames[0].last!.power != frames[2].last!.power)
    }

    @Test func `clear: the next spectra contain no earlier audio`() {
        var (fresh, cleared) = (BankRun([Self.request], sampleRate: 48_000), BankRun([Self.request], sampleRate: 48_000))
        let noise = Audio.noise(frames: 8192, seed: 8).samples
        _ = cleared.advance(through: noise)
        _ = fresh.advance(through: Array(repeating: 0, count: noise.count))
        cleared.bank.clear()
        let (after, never) = (cleared.advance(through: noise)[0], fresh.advance(through: noise)[0])
        #expect(after.map(\.magnitude) == never.map(\.magnitude))
    }
}
