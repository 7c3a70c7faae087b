import BeatAnalyzer
import ChromaAnalyzer
import Hemiola
import HemiolaEngine
import HemiolaTesting
import LevelsAnalyzer
import LoudnessAnalyzer
import PitchAnalyzer
import SpectrumAnalyzer
import TestSupport
import Testing
import VisualizerAnalyzer

/// Stereo whose channels have opposite polarity: what analyzers, records and notices make of it.
@Suite(.mayNotHang) struct PolarityTests {
    static let stereo = StreamFormat(sampleRate: 44_100, channelCount: 2)
    static let music = TestSignal.cadence(frames: 6 * 44_100)
    /// The hop in which the polarity changes, and the first frame of which all windows contain the difference only.
    static let (change, settled) = (43, 50)

    private static func opposite(_ left: [Float]) -> [Float] { TestSignal.interleaved([left, left.map { -$0 }]) }

    private func stream(
        _ steps: [CaptureStep], _ format: StreamFormat = stereo, notices: Notices = Notices(),
        batchFrames: Int = 1024, usesLookAhead: Bool = false,
        analyzers: [AnalyzerPlugin] = [.levels, .spectrum, .chroma, .pitch, .visualizer, .loudness]
    ) async throws -> CollectedStream {
        let sink = CollectingSink()
        var trial = Trial(
            steps, format: format, analyzers: analyzers,
            sinks: [.collecting(sink, needs: SinkPlugin.Needs(samples: true))], batchFrames: batchFrames)
        if usesLookAhead {
            trial.captures = [.scripted(format: format, isRewindable: true, steps)]
            trial.configuration.usesLookAhead = true
        }
        try await trial.run(report: notices)
        return try #require(sink.streams.first)
    }

    private func states(_ stream: CollectedStream) -> [String] {
        stream.events.compactMap { Polarity($0)?.rawValue }
    }

    @Test func `opposite polarity: after a second the values of the mono file`() async throws {
        let notices = Notices()
        let found = try await stream([.samples(Self.opposite(Self.music))], notices: notices)
        let expected = try await stream([.samples(Self.music)], TestSignal.mono)
        for (analyzer, feature) in [("levels", "rms_db"), ("levels", "peak_db"), ("spectrum", "bands_db"), ("spectrum", "flux")] {
            let (values, mono) = (found.values(analyzer, feature), expected.values(analyzer, feature))
            #expect(values[..<Self.change] != mono[..<Self.change])
            #expect(values[Self.settled...] == mono[Self.settled...], "\(analyzer).\(feature)")
        }
        // Their windows are longer, or they have a memory.
        let (classes, mono) = (found.values("chroma", "bins")[130...], expected.values("chroma", "bins")[130...])
        #expect(zip(classes, mono).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) < 0.01 } })
        #expect(notices.warnings("opposite polarity") == 1)
    }

    @Test func `opposite polarity: one record, in the batch and at the first frame of the hop`() async throws {
        let stream = try await stream([.samples(Self.opposite(Self.music))])
        let event = try #require(stream.events.first { $0.type == .polarity })
        #expect(states(stream) == ["opposite"])
        #expect(event.time == Double(Self.change * 1024) / 44_100)
        #expect(stream.batchNumber { $0.type == .polarity } == Int64(Self.change))
    }

    @Test func `batches of several hops: the frame of the hop`() async throws {
        let stream = try await stream([.samples(Self.opposite(Self.music))], batchFrames: 4096)
        #expect(stream.events.first { $0.type == .polarity }?.time == Double(Self.change * 1024) / 44_100)
        #expect(stream.batchNumber { $0.type == .polarity } == Int64(Self.change / 4))
    }

    @Test func `opposite polarity: samples, levels of the channels and loudness are those of the input`() async throws {
        let samples = Self.opposite(Self.music)
        let found = try await stream([.samples(samples)])
        let same = try await stream([.samples(TestSignal.interleaved([Self.music, Self.music]))])
        #expect(found.batches.flatMap(\.samples) == samples)
        #expect(found.values("levels", "channel_rms_db") == same.values("levels", "channel_rms_db"))
        let loudness = [found, same].map { $0.value("loudness", "momentary_lufs").map(\.bitPattern) }
        #expect(loudness[0] == loudness[1] && !loudness[0].isEmpty)
    }

    @Test func `change of the mix in a steady tone: no more onsets than that of a tone after silence`() async throws {
        let tone = TestSignal.sine(440, amplitude: 0.5, frames: 4 * 44_100)
        let found = try await stream([.samples(Self.opposite(tone))], analyzers: [.beat])
        let silent = Array(repeating: Float(0), count: Self.change * 1024) + tone[(Self.change * 1024)...]
        let expected = try await stream([.samples(silent)], TestSignal.mono, analyzers: [.beat])
        let onsets = found.events.filter { $0.type == .onset }.count
        #expect(onsets <= expected.events.filter { $0.type == .onset }.count)
    }

    // MARK: - Streams without a change

    /// Right channels for the same left one.
    static let others: [[Float]] = [
        music, TestSignal.noise(seed: 3, amplitude: 0.3, frames: music.count), TestSignal.silence(frames: music.count),
        music.map { -0.5 * $0 }, music.enumerated().map { (50_000..<90_000).contains($0) ? -$1 : $1 },
    ]

    @Test(arguments: others.indices) func `wide, left only, short moments: values of the sum, and no record`(index: Int) async throws {
        let notices = Notices()
        let right = Self.others[index]
        let found = try await stream([.samples(TestSignal.interleaved([Self.music, right]))], notices: notices)
        let sum = zip(Self.music, right).map { ($0 + $1) * 0.5 }
        let expected = try await stream([.samples(sum)], TestSignal.mono)
        for (analyzer, feature) in [("levels", "rms_db"), ("spectrum", "bands_db"), ("chroma", "bins"), ("pitch", "f0_hz")] {
            let (values, mono) = (found.values(analyzer, feature), expected.values(analyzer, feature))
            #expect(values.map { $0.map(\.bitPattern) } == mono.map { $0.map(\.bitPattern) }, "\(analyzer).\(feature)")
        }
        #expect(states(found) == [] && notices.warnings("opposite polarity") == 0)
    }

    // MARK: - Changes and gaps

    @Test func `polarity that changes twice: a record each, one notice`() async throws {
        let notices = Notices()
        let part = Array(Self.music[..<(4 * 44_100)])
        let both = TestSignal.interleaved([part, part])
        let found = try await stream(
            [.samples(Self.opposite(part)), .samples(both), .samples(Self.opposite(part))], notices: notices)
        #expect(states(found) == ["opposite", "normal", "opposite"])
        #expect(notices.warnings("opposite polarity") == 1)
    }

    @Test func `gap: the polarity remains`() async throws {
        let part = Array(Self.music[..<(2 * 44_100)])
        let found = try await stream(
            [.samples(Self.opposite(part)), .gap(Gap(frames: 44_100, reason: .frozen)), .samples(Self.opposite(part))])
        #expect(states(found) == ["opposite"])
        #expect(found.value("levels", "rms_db").last.map { $0 > -60 } == true)
    }

    @Test func `new format: the next stream begins with normal polarity, without another notice`() async throws {
        let notices = Notices()
        let sink = CollectingSink()
        let part = Array(Self.music[..<(2 * 44_100)])
        try await Trial(
            [.samples(Self.opposite(part)), .format(StreamFormat(sampleRate: 48_000, channelCount: 2)), .samples(Self.opposite(part))],
            format: Self.stereo, analyzers: [.levels], sinks: [.collecting(sink)]
        ).run(report: notices)
        #expect(sink.streams.map { $0.value("levels", "rms_db")[0] } == [-120, -120])
        #expect(sink.streams.map { self.states($0) } == [["opposite"], ["opposite"]])
        #expect(notices.warnings("opposite polarity") == 1)
    }

    @Test func `look-ahead: the second pass mixes as the first one, with one record`() async throws {
        let clicks = TestSignal.clicks(beatsPerMinute: 120, frames: 12 * 44_100)
        let found = try await stream([.samples(Self.opposite(clicks))], usesLookAhead: true, analyzers: [.beat])
        #expect(states(found) == ["opposite"])
        #expect(found.events.first { $0.type == .polarity }.map { $0.time < 2 } == true)
        let beats = found.events.filter { $0.type == .beat }.map(\.time)
        #expect((18...24).contains(beats.count), "\(beats)")
    }
}
