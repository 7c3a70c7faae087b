import Hemiola
import HemiolaTesting
import TestSupport
import Testing

@testable import HemiolaEngine

/// Streams that are processed at real-time speed, in virtual time: after a pause, and where audio is missing.
@Suite(.mayNotHang) struct RealTimeTests {
    private let clock = VirtualClock()

    // MARK: - Schedule

    /// The delay after which each part of a stream is processed, if its parts are available at these times.
    private func delays(_ arrivals: [(streamTime: Double, now: Double)], _ messages: inout [String]) -> [Double] {
        var pace = RealTimePace()
        return arrivals.map { streamTime, now in
            let wait = max(0, pace.timeUntil(streamTime, now: now))
            if let message = pace.note(streamTime, now: now + wait) { messages.append(message) }
            return now + wait - streamTime
        }
    }

    @Test func `parts that are early: processed when they are due`() {
        var messages: [String] = []
        #expect(delays([(0, 100), (1, 100), (2, 100.5), (3, 103)], &messages) == [100, 100, 100, 100])
        #expect(messages == [])
    }

    @Test func `first part that comes late: no delay to make up for`() {
        var messages: [String] = []
        #expect(delays([(0, 60), (1, 60.1), (2, 60.2)], &messages) == [60, 60, 60])
        #expect(messages == [])
    }

    @Test func `jitter: made up for`() {
        var messages: [String] = []
        let delays = delays([(0, 0), (1, 1.0625), (1.0625, 1.0625), (2, 1.5)], &messages)
        #expect(delays == [0, 0.0625, 0, 0])
        #expect(messages == [])
    }

    @Test func `pauses: the schedule moves by each; one message`() {
        var messages: [String] = []
        // Six seconds at stream time 1, and half a second at 3; the rest of the stream is there at once.
        let delays = delays([(0, 0), (1, 7), (2, 7), (3, 9.5), (4, 9.5), (5, 9.5), (6, 20)], &messages)
        #expect(delays == [0, 6, 6, 6.5, 6.5, 6.5, 14])
        #expect(messages.count == 1 && messages[0].hasPrefix("paused for 6.0 s"), "\(messages)")
    }

    // MARK: - Pipelines

    /// Runs a paced pipeline, and returns the seconds that the run took, with the stream.
    private func run(
        _ steps: [CaptureStep], notices: Notices = Notices(), sinks: [SinkPlugin] = []
    ) async throws -> (seconds: Double, stream: CollectedStream) {
        let sink = CollectingSink()
        var trial = Trial(steps, analyzers: [.witness()], sinks: sinks + [.collecting(sink)])
        trial.configuration.isPaced = true
        trial.clock = clock
        let start = clock.now
        try await trial.run(report: notices)
        return (clock.now - start, try #require(sink.streams.first))
    }

    private static func noise(batches: Int) -> CaptureStep { .samples(TestSignal.noise(seed: 1, frames: batches * 1024)) }

    @Test func `source that pauses: the rest at the same speed, all of it, with one notice`() async throws {
        let notices = Notices()
        let end = Shared<Double?>(nil)
        let pause = CaptureStep.pause { [clock] in
            let first = end.value ?? clock.now + 60
            end.value = first
            clock.advance(by: 0.1)
            return clock.now > first
        }
        // Half a second of sound, a minute's pause, two seconds of sound.
        let result = try await run([Self.noise(batches: 22), pause, Self.noise(batches: 86)], notices: notices)
        #expect((62.5...62.7).contains(result.seconds), "\(result.seconds)")
        #expect(notices.count("captureWarning") == 1 && notices.texts.contains { $0.contains("paused for ") }, "\(notices.texts)")
        let unpaced = try await Trial([Self.noise(batches: 22), Self.noise(batches: 86)], analyzers: [.witness()]).stream()
        #expect(result.stream.batches == unpaced.batches)
    }

    @Test(arguments: [.truncatedFile, .damagedFile] as [Gap.Reason])
    func `missing end: not waited for`(reason: Gap.Reason) async throws {
        let result = try await run([Self.noise(batches: 10), .gap(Gap(frames: 60 * 44_100, reason: reason))])
        #expect(result.seconds < 0.3 && result.stream.summary?.frames == 10 * 1024 + 60 * 44_100)
    }

    @Test func `missing part between audio: waited for`() async throws {
        let gap = Gap(frames: 44_100, reason: .damagedFile)
        let result = try await run([Self.noise(batches: 2), .gap(gap), Self.noise(batches: 3)])
        #expect((1...1.2).contains(result.seconds))
        let unpaced = try await Trial([Self.noise(batches: 2), .gap(gap), Self.noise(batches: 3)], analyzers: [.witness()]).stream()
        #expect(result.stream.batches == unpaced.batches && result.stream.summary == unpaced.summary)
    }

    @Test func `new format after a gap: a stream in real time`() async throws {
        let stereo = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let sink = CollectingSink()
        var trial = Trial(
            [
                Self.noise(batches: 2), .gap(Gap(frames: 22_050, reason: .damagedFile)), .format(stereo),
                .samples(TestSignal.noise(seed: 1, frames: 48_000, format: stereo)),
            ], sinks: [.collecting(sink)])
        trial.configuration.isPaced = true
        trial.clock = clock
        let start = clock.now
        try await trial.run()
        #expect((1.4...1.6).contains(clock.now - start))
        #expect(sink.streams.map(\.summary?.frames) == [2048 + 22_050, 48_000])
    }
}
