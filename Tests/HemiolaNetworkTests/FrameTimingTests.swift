import HemiolaRecords
import HemiolaSignal
import Testing

@testable import HemiolaNetwork

/// The times of frames, on a simulated clock.
@Suite struct FrameTimingTests {
    private struct Frame {
        var time: Double
        var gain: Float
    }

    /// Batches at even times, later by up to `jitter`.
    private static func batches(_ rate: Double, seconds: Double, from start: Double = 0, jitter: Double = 0) -> [Double] {
        var random = SplitMix64(seed: 1)
        return (1...Int(seconds * rate)).map { start + Double($0) / rate + jitter * random.uniform() }
    }

    /// The frames of a run, sent exactly when they are due.
    ///
    /// - Parameters:
    ///   - batches: The times at which batches arrive.
    ///   - events: The times of events, each known 80 ms before.
    private func frames(
        _ batches: [Double], duration: Double, events: [Double] = [], rate: Double = 44, until end: Double
    ) -> [Frame] {
        var timing = FrameTiming(rate: rate)
        timing.begin(batchDuration: duration)
        var inputs = (batches.map { (time: $0, event: Double?.none) } + events.map { (time: $0 - 0.08, event: $0) })
            .sorted { $0.time < $1.time }[...]
        var known: [Double] = []
        var frames: [Frame] = []
        var now = 0.0
        while true {
            let next = timing.next(event: known.min() ?? .infinity, now: now)
            if let input = inputs.first, input.time <= next {
                inputs.removeFirst()
                now = max(now, input.time)
                if let event = input.event { known.append(event) } else { timing.addBatch(at: now) }
                continue
            }
            if next > end { return frames }
            now = next
            frames.append(Frame(time: now, gain: timing.gain(at: now)))
            timing.addFrame(at: now)
            known.removeAll { $0 <= now }
        }
    }

    /// The most frames in any second, without its last moment.
    private func mostInASecond(_ frames: [Frame]) -> Int {
        var (first, most) = (0, 0)
        for index in frames.indices {
            while frames[index].time - frames[first].time >= 1 - 1e-9 { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    private func gaps(_ frames: [Frame]) -> [Double] { zip(frames.dropFirst(), frames).map { $0.time - $1.time } }

    @Test(arguments: [0, 0.004])
    func `43 batches a second: a frame with each, at once`(jitter: Double) {
        let batches = Self.batches(44_100 / 1024, seconds: 60, jitter: jitter)
        let frames = frames(batches, duration: 1024 / 44_100, until: 60)
        #expect(frames.count == batches.count)
        let delays = zip(frames, batches).map { $0.time - $1 }
        #expect(delays.max()! < 0.0001, "\(delays.max()!)")
        #expect(mostInASecond(frames) <= 44)
    }

    @Test func `43 batches a second, one of them 40 ms late: the next frames are on time again within two seconds`() {
        var batches = Self.batches(44_100 / 1024, seconds: 20)
        for index in 200..<210 { batches[index] = max(batches[index], batches[199] + 0.06) }
        let frames = frames(batches, duration: 1024 / 44_100, until: 20)
        #expect(mostInASecond(frames) <= 44)
        let late = frames.filter { frame in !batches.contains { abs($0 - frame.time) < 0.0001 } }
        #expect(late.allSatisfy { $0.time < batches[209] + 2 })
    }

    @Test(arguments: [(48_000.0, 1024.0), (44_100, 256), (192_000, 1024), (192_000, 256)])
    func `more than 44 batches a second: 43 to 44 frames, evenly spaced`(rate: Double, batch: Double) {
        let frames = frames(Self.batches(rate / batch, seconds: 30), duration: batch / rate, until: 30)
        #expect(mostInASecond(frames) <= 44)
        #expect(frames.count >= 30 * 43)
        #expect(gaps(frames).max()! < 0.025)
    }

    @Test(arguments: [(44_100.0, 1024.0), (48_000, 1024), (44_100, 256), (192_000, 256), (44_100, 4096)], [90.0, 128, 174])
    func `beats: a frame at the time of each, in place of another`(format: (rate: Double, batch: Double), tempo: Double) {
        let batches = Self.batches(format.rate / format.batch, seconds: 30)
        let beats = (1..<Int(29 * tempo / 60)).map { 0.5 + Double($0) * 60 / tempo }
        let frames = frames(batches, duration: format.batch / format.rate, events: beats, until: 30)
        let delays = beats.map { beat in frames.map(\.time).filter { $0 >= beat }.min()! - beat }
        #expect(delays.max()! < 0.001, "\(delays.max()!)")
        #expect(mostInASecond(frames) <= 44)
        // Between two beats there are frames as before.
        if format.batch / format.rate < 0.03 { #expect(gaps(frames).max()! < 0.05) }
    }

    @Test func `rate 0: a frame with each batch, and at each beat`() {
        let batches = Self.batches(172, seconds: 4)
        let frames = frames(batches, duration: 1 / 172.0, events: [1.001, 2.001], rate: 0, until: 4)
        #expect(frames.count == batches.count + 2)
    }

    @Test func `the source pauses: fade to black, then dark frames, and the next batch is shown at once`() {
        let first = Self.batches(43, seconds: 2)
        let last = first.last!
        let second = Self.batches(43, seconds: 1, from: 10)
        let frames = frames(first + second, duration: 1 / 43.0, until: 11)
        #expect(gaps(frames).max()! < 0.901)
        let pause = frames.filter { $0.time > last && $0.time < 10 }
        let fade = pause.filter { $0.time <= last + 1.53 }
        #expect(fade.count > 40)
        #expect(zip(fade.dropFirst(), fade).allSatisfy { $0.gain <= $1.gain })
        #expect(fade.first!.gain > 0.95 && fade.last!.gain == 0)
        #expect(pause.filter { $0.time > last + 1.53 }.allSatisfy { $0.gain == 0 })
        #expect(frames.first { $0.time >= second[0] }.map { $0.time - second[0] < 0.001 && $0.gain == 1 } == true)
    }

    @Test func `batches longer than the pause: no fade between them`() {
        let frames = frames(Self.batches(1, seconds: 10), duration: 1, until: 10)
        #expect(frames.allSatisfy { $0.gain == 1 })
    }

    @Test func `no batch yet: no frame`() {
        #expect(frames([], duration: 0.02, events: [1], until: 10).isEmpty)
    }
}
