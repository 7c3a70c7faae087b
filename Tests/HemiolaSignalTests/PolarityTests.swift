import Foundation
import HemiolaRecords
import HemiolaSignal
import HemiolaTesting
import Testing

/// The mono mix of stereo that follows the polarity of the channels.
@Suite struct PolarityTests {
    static let stereo = StreamFormat(sampleRate: 48_000, channelCount: 2)
    static let hop = 480

    /// The result of mixing a signal hop by hop.
    private struct Mix {
        var mono: [Float] = []
        /// The first frame of each hop in which the polarity changed.
        var changes: [Int] = []
    }

    private func mix(_ samples: [Float], hop: Int = hop, _ format: StreamFormat = stereo) -> Mix {
        var detector = PolarityDetector(sampleRate: format.sampleRate, hopFrames: hop)
        var result = Mix()
        let channels = ChannelMix(format)
        let frames = samples.count / format.channelCount
        for first in stride(from: 0, to: frames, by: hop) {
            let end = min(frames, first + hop)
            var mono = [Float](repeating: 0, count: end - first)
            var span = mono.mutableSpan
            let wasOpposite = detector.isOpposite
            let part = Array(samples[first * format.channelCount..<end * format.channelCount])
            let isFinite = span.mix(part.span, by: channels, following: &detector)
            #expect(isFinite)
            if detector.isOpposite != wasOpposite { result.changes.append(first) }
            result.mono += mono
        }
        return result
    }

    /// The mix that does not follow anything.
    private func plain(_ samples: [Float], _ format: StreamFormat = stereo) -> [Float] {
        var mono = [Float](repeating: 0, count: samples.count / format.channelCount)
        var span = mono.mutableSpan
        _ = span.mix(samples.span, by: ChannelMix(format))
        return mono
    }

    private static func noise(_ seconds: Double, seed: UInt64 = 1, amplitude: Double = 0.5) -> [Float] {
        TestSignal.noise(
            seed: seed, amplitude: amplitude, frames: Int(seconds * 48_000), format: StreamFormat(sampleRate: 48_000, channelCount: 1))
    }

    private static func pair(_ left: [Float], _ right: [Float]) -> [Float] { TestSignal.interleaved([left, right]) }

    private static func opposite(_ left: [Float]) -> [Float] { pair(left, left.map { -$0 }) }

    private static func silence(_ seconds: Double) -> [Float] { TestSignal.silence(frames: Int(seconds * 48_000)) }

    // MARK: - Nothing changes

    /// Signals in which the polarity is normal, or opposite for less than a second.
    static let normal: [(name: String, samples: [Float])] = [
        ("the same in both", pair(noise(4), noise(4))),
        ("wide", pair(noise(4), noise(4, seed: 2))),
        ("left only", pair(noise(4), silence(4))),
        ("right only", pair(silence(4), noise(4))),
        ("silent", silence(8)),
        ("opposite dither", opposite(noise(4, amplitude: 2e-5))),
        ("half of the right in opposite polarity", pair(noise(4), noise(4).map { -0.5 * $0 })),
        ("a short moment at the start", opposite(noise(0.9)) + pair(noise(2), noise(2))),
        ("a short moment within", pair(noise(2), noise(2)) + opposite(noise(0.9)) + pair(noise(2), noise(2))),
        ("moments between wide sound", (0..<8).flatMap { opposite(noise(0.8, seed: $0)) + pair(noise(0.1), noise(0.1, seed: 9)) }),
        ("a short moment, silence, sound", opposite(noise(0.5)) + silence(2 * 3) + pair(noise(2), noise(2))),
        (
            "a short moment, silence, quiet sound",
            opposite(noise(0.5)) + silence(2 * 1) + pair(noise(2, amplitude: 1e-4), noise(2, amplitude: 1e-4))
        ),
    ]

    @Test(arguments: normal.indices) func `normal polarity and short moments: the plain mix, bit for bit`(index: Int) {
        let (name, samples) = Self.normal[index]
        let mix = mix(samples)
        #expect(mix.changes == [], "\(name)")
        #expect(mix.mono.map(\.bitPattern) == plain(samples).map(\.bitPattern), "\(name)")
    }

    @Test(arguments: Array(0...40)) func `hops of all lengths: the plain mix, bit for bit`(frames: Int) {
        let samples = Self.pair(Self.noise(0.01), Self.noise(0.01, seed: 2))
        #expect(mix(samples, hop: max(1, frames)).mono.map(\.bitPattern) == plain(samples).map(\.bitPattern))
    }

    @Test func `more channels and one: the plain mix, although two of them have opposite polarity`() {
        let (left, other) = (Self.noise(3), Self.noise(3, seed: 2, amplitude: 1e-3))
        for channels in [[left], [left, left.map { -$0 }, other], [left, left.map { -$0 }, other, other, other, other]] {
            let format = StreamFormat(sampleRate: 48_000, channelCount: channels.count)
            let samples = TestSignal.interleaved(channels)
            let mix = mix(samples, format)
            #expect(mix.changes == [] && mix.mono == plain(samples, format))
        }
    }

    // MARK: - Changes

    @Test func `opposite polarity: half the difference after a second`() {
        let left = Self.noise(4)
        let mix = mix(Self.opposite(left))
        #expect(mix.changes == [48_000 - Self.hop])
        // Silence, then a hop in which the difference fades in, then the left channel itself.
        #expect(mix.mono[..<(48_000 - Self.hop)].allSatisfy { $0 == 0 })
        #expect(Array(mix.mono[48_000...]) == Array(left[48_000...]))
        let fade = zip(mix.mono, left)[(48_000 - Self.hop)..<48_000]
        for (place, (value, sample)) in fade.enumerated() {
            #expect(abs(value - sample * Float(place + 1) / Float(Self.hop)) < 1e-6)
        }
    }

    @Test func `right channel louder: the difference`() {
        let left = Self.noise(3)
        let mix = mix(Self.pair(left, left.map { -1.1 * $0 }))
        #expect(mix.changes.count == 1)
        #expect(zip(mix.mono, left)[48_000...].allSatisfy { abs($0 - 1.05 * $1) < 1e-6 })
    }

    @Test func `polarity changes within: each change is found after a second or two, and without a jump`() {
        let part = Self.noise(4)
        let samples = Self.pair(part, part) + Self.opposite(part) + Self.pair(part, part)
        let mix = mix(samples)
        let times = mix.changes.map { Double($0) / 48_000 }
        #expect(times.count == 2)
        // The mean level follows a change within the averaging time, down to 20 dB more slowly than up.
        #expect(times.first.map { (5...6.2).contains($0) } == true && times.last.map { (9...9.3).contains($0) } == true, "\(times)")
    }

    @Test func `between the limits: stays as it is`() {
        // Sums 15 dB below the channels: too loud to be opposite, too quiet to be normal.
        let left = Self.noise(4)
        let between = Self.pair(left, left.map { -0.7 * $0 })
        #expect(mix(between).changes == [])
        #expect(mix(Self.opposite(left) + between).changes.count == 1)
    }

    @Test func `clicks with silence or noise between them: found`() {
        let format = StreamFormat(sampleRate: 48_000, channelCount: 1)
        let clicks = TestSignal.clicks(beatsPerMinute: 60, frames: 5 * 48_000, format: format)
        #expect(mix(Self.opposite(clicks)).changes.count == 1)
        let floor = zip(Self.noise(5, seed: 3, amplitude: 3e-4), Self.noise(5, seed: 4, amplitude: 3e-4))
        let noisy = zip(clicks, floor).flatMap { [$0 + $1.0, -$0 + $1.1] }
        #expect(mix(noisy).changes.count == 1)
    }

    @Test func `after a gap: the second begins anew, the polarity remains`() {
        var detector = PolarityDetector(sampleRate: 48_000, hopFrames: Self.hop)
        let hop = Self.opposite(Self.noise(0.01))
        func hops(_ count: Int) {
            for _ in 0..<count {
                var mono = [Float](repeating: 0, count: Self.hop)
                var span = mono.mutableSpan
                _ = span.mix(hop.span, by: ChannelMix(Self.stereo), following: &detector)
            }
        }
        hops(60)
        detector.skip()
        hops(60)
        #expect(!detector.isOpposite)
        hops(40)
        #expect(detector.isOpposite)
        detector.skip()
        hops(1)
        #expect(detector.isOpposite)
        detector.reset()
        #expect(!detector.isOpposite)
    }

    // MARK: - Samples that are not finite

    @Test(arguments: [.nan, .infinity, -.infinity] as [Float])
    func `one sample that is not finite, at any place: reported`(bad: Float) {
        for place in 0..<38 {
            var x = [Float](repeating: 0.5, count: 38)
            x[place] = bad
            var mono = [Float](repeating: 0, count: 19)
            var span = mono.mutableSpan
            var detector = PolarityDetector(sampleRate: 48_000, hopFrames: 19)
            let isFinite = span.mix(x.span, by: ChannelMix(Self.stereo), following: &detector)
            #expect(!isFinite, "at \(place)")
        }
    }

    @Test func `samples whose squares overflow: mixed, and no evidence`() {
        let huge = [Float](repeating: 1e30, count: 96_000)
        var detector = PolarityDetector(sampleRate: 48_000, hopFrames: 48_000)
        for _ in 0..<3 {
            var mono = [Float](repeating: 0, count: 48_000)
            var span = mono.mutableSpan
            let isFinite = span.mix(Self.opposite(Array(huge[..<48_000])).span, by: ChannelMix(Self.stereo), following: &detector)
            #expect(!isFinite && mono.allSatisfy { $0 == 0 } && !detector.isOpposite)
        }
    }

    // MARK: - Records

    @Test(arguments: Polarity.allCases) func `record: its state, and the frame of its time`(polarity: Polarity) {
        let event = Event(at: 1.5, polarity)
        #expect(Polarity(event) == polarity && event["state"].string == polarity.rawValue)
        #expect(Polarity(Event(at: 1, Onset(strength: 1))) == nil)
        #expect(Polarity(Event(at: 1, .polarity, .text("sideways"))) == nil)
    }
}

extension Zip2Sequence {
    fileprivate subscript(_ range: some RangeExpression<Int>) -> ArraySlice<Element> { Array(self)[range] }
}
