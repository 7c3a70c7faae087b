import Hemiola
import HemiolaEngine
import HemiolaTesting
import LevelsAnalyzer
import SpectrumAnalyzer
import TestSupport
import Testing

/// Streams, batches and records for the results that a capture delivers.
@Suite(.mayNotHang) struct StreamTests {
    @Test func `several files: one stream each, with its name`() async throws {
        let sink = CollectingSink()
        let log = Log<String>()
        var trial = Trial([silence(batches: 2), .samples([0, 0, 0])], analyzers: [.witness(log)], sinks: [.collecting(sink)])
        trial.configuration.captures = ["a.wav", "b.wav", "a.wav"].map { PluginSpec("scripted", primary: .text($0)) }
        let outcome = try await trial.run()

        #expect(outcome.streams == 3)
        #expect(sink.streams.map(\.header.file) == ["a.wav", "b.wav", "a.wav"])
        #expect(sink.streams.map(\.header.source.name) == ["a.wav", "b.wav", "a.wav"])
        #expect(sink.streams.allSatisfy { $0.batches.map(\.number) == [0, 1, 2] })
        #expect(sink.streams.allSatisfy { $0.summary?.frames == 2051 && $0.summary?.batches == 3 })
        #expect(sink.streams.allSatisfy { $0.batches == sink.streams[0].batches && $0.summary == sink.streams[0].summary })
        #expect(
            sink.calls == [.open, .begin, .write, .end, .begin, .write, .end, .begin, .write, .end, .close])
        #expect(log.items == Array(repeating: "prepare 44100/1", count: 3))
    }

    @Test func `one file: no file key`() async throws {
        let stream = try await Trial([silence(batches: 1)]).stream()
        #expect(stream.header.file == nil)
        #expect(stream.header.source.kind == "scripted")
    }

    @Test func `empty input: a stream without batches`() async throws {
        let stream = try await Trial([], analyzers: [.witness()]).stream()
        #expect(stream.batches.isEmpty)
        #expect(stream.summary?.frames == 0 && stream.summary?.reason == .endOfInput)
        #expect(stream.analyzerEvents("last").count == 1)
    }

    @Test func `new format: ends the stream and begins another`() async throws {
        let stereo = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let log = Log<String>()
        let streams = try await Trial(
            [
                silence(batches: 1), .samples([1, 1, 1]), .format(stereo),
                .samples(TestSignal.sine(440, frames: 1030, format: stereo)),
            ], isLive: true, analyzers: [.witness(log), .levels]
        ).streams()

        #expect(streams.count == 2)
        #expect(streams.map(\.header.format) == [TestSignal.mono, stereo])
        #expect(streams.map(\.summary?.reason) == [.formatChange, .endOfInput])
        #expect(streams.map(\.summary?.frames) == [1027, 1030])
        #expect(streams[1].batches.map(\.frame) == [0, 1024])
        #expect(streams[1].values("levels", "channel_peak_db")[0].count == 2)
        #expect(log.items == ["prepare 44100/1", "prepare 48000/2"])
    }

    @Test func `new source: ends the stream, and the next header and device record name it`() async throws {
        let stereo = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let moved = DeviceEvent(name: "other", summary: "Other", state: .moved, format: stereo)
        let streams = try await Trial(
            [
                silence(batches: 2), .source("other", stereo), .device(moved), .gap(Gap(frames: 480, reason: .deviceLost)),
                .samples(TestSignal.sine(440, frames: 1024, format: stereo)),
            ], isLive: true, analyzers: [.levels]
        ).streams()
        #expect(streams.map(\.header.source.name) == ["script", "other"])
        #expect(streams.map(\.header.format) == [TestSignal.mono, stereo])
        #expect(streams[0].summary?.reason == .formatChange && streams[0].events.isEmpty)
        #expect(streams[1].events.map(\.type.name) == ["device", "gap"])
        #expect(streams[1].batches.map(\.frame) == [480])
    }

    @Test func `new source: notices keep their time`() async throws {
        let stereo = StreamFormat(sampleRate: 44_100, channelCount: 2)
        let notices = Notices()
        // Four seconds of silence before the change and two after it: more than five.
        try await Trial(
            [
                silence(batches: 173), .source("other", stereo), .gap(Gap(frames: 441, reason: .deviceLost)),
                .samples(TestSignal.silence(frames: 2 * 88_200)),
            ], isLive: true, sinks: [.collecting(CollectingSink())]
        ).run(report: notices)
        #expect(notices.count("silence") == 1)
        #expect(notices.texts.contains { $0.hasPrefix("gap") && $0.contains("at: 4.01") }, "\(notices.texts)")
    }

    @Test func `lost device: reported during the outage, after the partial batch`() async throws {
        let sink = CollectingSink()
        let lost = DeviceEvent(name: "d", summary: "D", state: .lost, format: TestSignal.mono)
        var opened = lost
        opened.state = .opened
        let steps: [CaptureStep] = [
            silence(batches: 1), .samples(TestSignal.silence(frames: 300)), .device(lost), .idle(),
            // The capture continues only after the sink has received the expected records.
            .pause { sink.streams.first.map { $0.batches.count == 2 && $0.events.contains { DeviceEvent($0) == lost } } == true },
            .device(opened), .gap(Gap(frames: 1000, reason: .frozen)), silence(batches: 1),
        ]
        try await Trial(steps, isLive: true, analyzers: [.levels], sinks: [.collecting(sink)]).run()
        let stream = try #require(sink.streams.first)
        #expect(stream.batches.map(\.frame) == [0, 1024, 2324])
        #expect(stream.batches.map(\.isPartial) == [false, true, false])
        #expect(stream.events.map(\.type.name) == ["device", "device", "gap"])
        #expect(stream.events.first?.time == 1324.0 / 44_100)
    }

    @Test func `lost device between two batches: reported outside a batch`() async throws {
        let sink = CollectingSink()
        let lost = DeviceEvent(name: "d", summary: "D", state: .lost, format: TestSignal.mono)
        let steps: [CaptureStep] = [
            silence(batches: 2), .device(lost), .idle(),
            .pause { sink.streams.first?.eventsBetween.first?.events == [Event(at: 2048.0 / 44_100, lost)] },
        ]
        try await Trial(steps, isLive: true, analyzers: [.levels], sinks: [.collecting(sink)]).run()
        let stream = try #require(sink.streams.first)
        #expect(stream.batches.map(\.isPartial) == [false, false])
        #expect(stream.eventsBetween.count == 1)
    }

    @Test func `opened device in the middle of a batch: reported in that batch`() async throws {
        let opened = DeviceEvent(name: "d", summary: "D", state: .opened, format: TestSignal.mono)
        let stream = try await Trial(
            [.samples(TestSignal.silence(frames: 300)), .device(opened), .idle(times: 3), .samples(TestSignal.silence(frames: 724))],
            isLive: true, analyzers: [.levels]
        ).stream()
        #expect(stream.batches.map(\.isPartial) == [false])
        #expect(stream.eventsBetween.isEmpty && stream.events.count == 1)
    }

    @Test func `analyzer refuses a format: the input fails, the next one is analysed`() async throws {
        let sink = CollectingSink()
        let notices = Notices()
        var trial = Trial([silence(batches: 1)], analyzers: [.monoOnly], sinks: [.collecting(sink)])
        trial.captures.append(.scripted(as: "stereo", format: StreamFormat(sampleRate: 8_000, channelCount: 2), []))
        trial.configuration.captures = [PluginSpec("stereo"), PluginSpec("scripted")]
        let outcome = try await trial.run(report: notices)
        #expect(outcome.streams == 1 && outcome.failedInputs == 1)
        #expect(notices.count("inputFailed") == 1)
        #expect(sink.streams.count == 1)
    }

    @Test(arguments: [StreamFormat(sampleRate: 7_999, channelCount: 1), StreamFormat(sampleRate: 8_000, channelCount: 33)])
    func `unsupported format: the input fails`(format: StreamFormat) async throws {
        let sink = CollectingSink()
        let notices = Notices()
        let log = Log<String>()
        var trial = Trial([], sinks: [.collecting(sink)])
        trial.captures = [.scripted(format: format, log: { log.append($0) }, [silence(batches: 1)])]
        let outcome = try await trial.run(report: notices)
        #expect(outcome.failedInputs == 1 && outcome.streams == 0)
        #expect(notices.texts.contains { $0.contains("\(format.sampleRate) Hz and \(format.channelCount) channels") })
        #expect(log.items == ["open", "close"])
        #expect(sink.calls == [.open, .close])
    }

    @Test func `input that cannot be opened: reported, and the next one is analysed`() async throws {
        let sink = CollectingSink()
        let notices = Notices()
        let log = Log<String>()
        var trial = Trial([silence(batches: 1)], sinks: [.collecting(sink)])
        trial.captures.append(
            .scripted(as: "broken", openFailure: Problem("broken: there is no such file"), log: { log.append($0) }, []))
        trial.configuration.captures = [PluginSpec("broken", primary: .text("x")), PluginSpec("scripted")]
        let outcome = try await trial.run(report: notices)
        #expect(outcome.failedInputs == 1 && outcome.streams == 1)
        #expect(notices.count("inputFailed") == 1)
        #expect(log.items == ["open"])
        #expect(sink.streams.map(\.header.file) == ["script"])
    }

    @Test func `capture fails in the middle: the batches before the error, then an end with an error`() async throws {
        let sink = CollectingSink()
        let notices = Notices()
        let trial = Trial(
            [silence(batches: 1), .samples([0, 0]), .failure(Problem("the disk is gone"))], sinks: [.collecting(sink)])
        let outcome = try await trial.run(report: notices)
        #expect(sink.streams[0].summary?.reason == .error)
        #expect(sink.streams[0].summary?.frames == 1026)
        #expect(sink.streams[0].batches.count == 2)
        #expect(outcome.failedInputs == 1 && outcome.streams == 1)
        #expect(notices.texts.contains { $0.contains("the disk is gone") })
    }

    @Test func `partial last batch: padded for the spectra, levels over its real frames`() async throws {
        let tone = TestSignal.sine(441, frames: 1024 + 300)
        let stream = try await Trial([.samples(tone)], analyzers: [.levels, .witness()]).stream()
        #expect(stream.batches.map(\.isPartial) == [false, true])
        #expect(stream.batches.map(\.frameCount) == [1024, 300])
        // 300 frames are three periods of 441 Hz.
        let level = stream.value("levels", "rms_db")[1]
        #expect(abs(level - -3.0103) < 0.001)
        #expect(stream.value("witness", "frames") == [1024, 300])
        #expect(stream.summary?.frames == 1324)
    }

    @Test func `gap: ends the batch, advances the time and clears the sample history`() async throws {
        let loud = TestSignal.noise(seed: 5, frames: 1024 * 3)
        let log = Log<String>()
        let notices = Notices()
        let sink = CollectingSink()
        let trial = Trial(
            [
                .samples(loud), .samples([0.5, 0.5]), .gap(Gap(frames: 10_000, reason: .overrun)),
                .samples(TestSignal.silence(frames: 1024)), .gap(Gap(frames: 100, reason: .frozen)),
                .samples(TestSignal.silence(frames: 10)),
            ], analyzers: [.witness(log), .spectrum], sinks: [.collecting(sink)])
        try await trial.run(report: notices)
        let stream = sink.streams[0]

        #expect(stream.batches.map(\.frame) == [0, 1024, 2048, 3072, 13_074, 14_198])
        #expect(stream.batches.map(\.frameCount) == [1024, 1024, 1024, 2, 1024, 10])
        #expect(stream.batches.map(\.isPartial) == [false, false, false, true, false, true])
        #expect(stream.batches.map(\.number) == [0, 1, 2, 3, 4, 5])
        #expect(log.items == ["prepare 44100/1", "skip 10000", "skip 100"])
        // The window of 2048 frames includes the gap, which is silence: there is no centroid.
        #expect(stream.value("spectrum", "centroid_hz")[3].isFinite)
        #expect(stream.value("spectrum", "centroid_hz")[4].isNaN)
        #expect(stream.value("spectrum", "flux")[4] == 0)
        #expect(stream.summary?.frames == 14_208)
        #expect(notices.count("gap") == 2)
    }

    @Test func `gap: its time is that of its start`() async throws {
        let stream = try await Trial([
            silence(batches: 1), .samples([0, 0]), .gap(Gap(frames: 44_100, reason: .deviceLost)), silence(batches: 1),
        ]).stream()
        let gap = try #require(stream.events.first { $0.type.name == "gap" })
        #expect(gap.time == 1026.0 / 44_100)
        #expect(Gap(gap) == Gap(frames: 44_100, reason: .deviceLost))
        #expect(stream.batchNumber { $0.type.name == "gap" } == 1)
    }

    @Test func `gap between batches: in the next batch; gap at the end: before the end record`() async throws {
        let loss = Gap(frames: 7, reason: .frozen)
        let stream = try await Trial([silence(batches: 1), .gap(loss), silence(batches: 1), .gap(loss)]).stream()
        #expect(stream.batches.map(\.frame) == [0, 1031])
        #expect(stream.batches.map { $0.events.map(\.type.name) } == [[], ["gap"]])
        #expect(stream.summary?.lateEvents.map(\.type.name) == ["gap"])
        #expect(stream.summary?.frames == 2062)
    }

    @Test func `gap of 0 frames: does not end the batch`() async throws {
        let log = Log<String>()
        let stream = try await Trial(
            [.samples([0, 0]), .gap(Gap(frames: 0, reason: .truncatedFile)), .samples([0, 0])], analyzers: [.witness(log)]
        ).stream()
        #expect(stream.batches.map(\.frameCount) == [4])
        #expect(stream.recordTypes.contains("gap"))
        #expect(log.items == ["prepare 44100/1"])
    }

    @Test func `file of damaged streams: an error of each, one notice of all`() async throws {
        let (notices, sink) = (Notices(), CollectingSink())
        let gap = CaptureStep.gap(Gap(frames: 4410, reason: .damagedFile))
        let part = [silence(batches: 2), gap, silence(batches: 2)]
        let trial = Trial(
            part + [.format(TestSignal.mono)] + part + [.format(TestSignal.mono), silence(batches: 2)], sinks: [.collecting(sink)])
        try await trial.run(report: notices)
        #expect(sink.streams.count == 3 && sink.streams[..<2].allSatisfy { $0.summary?.error?.contains("0.1 s of sound") == true })
        #expect(notices.count("gap(") == 0 && notices.count("damage(") == 1, "\(notices.texts)")
        #expect(notices.texts.contains { $0.contains("places: 2, first: 0.0464") }, "\(notices.texts)")
    }

    @Test func `idle: no event; device notice: an event`() async throws {
        let notice = DeviceEvent(name: "usb", summary: "A USB device.", state: .opened, format: TestSignal.mono)
        let stream = try await Trial(
            [.device(notice), .idle(times: 5), .samples([0, 0]), .idle(), silence(batches: 1)], isLive: true
        ).stream()
        #expect(stream.batches.map(\.frameCount) == [1024, 2])
        #expect(stream.events == [Event(at: 0, notice)])
    }

    @Test(arguments: [1, 7, 441, 1023, 1024, 1025, 5000])
    func `read results of any size: the same batches`(fragment: Int) async throws {
        let stereo = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let music = TestSignal.noise(seed: 9, frames: 6000, format: stereo)
        let analyzers: [AnalyzerPlugin] = [.levels, .spectrum, .witness()]
        let whole = try await Trial([.samples(music)], format: stereo, analyzers: analyzers).stream()
        let parts = try await Trial([.samples(music, fragment: fragment)], format: stereo, analyzers: analyzers).stream()
        #expect(whole.batches.count == 6)
        #expect(parts == whole)
    }

    @Test func `live and file: the same batches`() async throws {
        let music = TestSignal.noise(seed: 10, frames: 20_000)
        let file = try await Trial([.samples(music)], analyzers: [.levels, .spectrum, .witness()]).stream()
        let live = try await Trial([.samples(music)], isLive: true, analyzers: [.levels, .spectrum, .witness()]).stream()
        #expect(file.batches == live.batches)
        #expect(file.blocks == [20])
        #expect(live.blocks == Array(repeating: 1, count: 20))
    }

    @Test func `non-finite samples: replaced by 0 and counted`() async throws {
        var music = TestSignal.sine(441, frames: 2048)
        for (index, value) in zip([3, 700, 1500, 2047], [Float.nan, .infinity, -.infinity, .signalingNaN]) { music[index] = value }
        let sink = CollectingSink()
        let notices = Notices()
        let trial = Trial(
            [.samples(music)], analyzers: [.levels, .spectrum],
            sinks: [.collecting(sink, needs: SinkPlugin.Needs(samples: true))])
        try await trial.run(report: notices)
        let stream = sink.streams[0]
        #expect(stream.summary?.nonFinite == 4)
        #expect(notices.warnings(": 4 samples were NaN or infinite") == 1)
        #expect(stream.batches.allSatisfy { $0.row.allSatisfy(\.isFinite) && $0.samples.allSatisfy(\.isFinite) })
        #expect(stream.batches[0].samples[3] == 0 && stream.batches[1].samples[1023] == 0)
        #expect(stream.batches[0].samples[4] == music[4])
    }

    @Test func `audio in batches: only when a sink needs it`() async throws {
        let stereo = StreamFormat(sampleRate: 44_100, channelCount: 2)
        let music = TestSignal.noise(seed: 2, frames: 2500, format: stereo)
        let (plain, needy) = (CollectingSink(), CollectingSink())
        try await Trial([.samples(music, fragment: 99)], format: stereo, sinks: [.collecting(plain)], batchFrames: 2048).run()
        #expect(plain.streams[0].batches.allSatisfy { $0.samples.isEmpty })

        try await Trial(
            [.samples(music, fragment: 99)], format: stereo,
            sinks: [.collecting(needy, needs: SinkPlugin.Needs(samples: true))], batchFrames: 2048
        ).run()
        #expect(needy.streams[0].batches.flatMap(\.samples) == music)
        #expect(needy.streams[0].batches.map(\.samples.count) == [4096, 904])
    }

    @Test func `events of a batch: in order of time, analyzer events with the analyzer's name`() async throws {
        var trial = Trial([silence(batches: 6)], analyzers: [.earlyBeats, .witness()])
        trial.configuration.analyzers = [PluginSpec("early-beats"), PluginSpec("witness", as: "eye")]
        let stream = try await trial.stream()
        for batch in stream.batches {
            #expect(batch.events.map(\.time) == batch.events.map(\.time).sorted())
        }
        let names = stream.events.compactMap { AnalyzerEvent($0)?.analyzer }
        #expect(Set(names) == ["eye"])
        #expect(names.count == 7)
        #expect(stream.recordTypes.contains("beat") && stream.recordTypes.contains("onset"))
    }

    @Test func `summaries of analyzers: in the end record, under the analyzer names`() async throws {
        var trial = Trial([silence(batches: 3)], analyzers: [.witness(), .earlyBeats, .levels])
        trial.configuration.analyzers = [PluginSpec("witness", as: "eye"), PluginSpec("early-beats"), PluginSpec("levels")]
        let summary = try #require(try await trial.stream().summary)
        #expect(summary.sections.map(\.analyzer) == ["eye", "levels"])
        #expect(summary.sections[0].values == [SummaryValue("hops", count: 3)])
        #expect(summary.sections[1].values.map(\.name) == ["rms_db", "peak_db"])
    }

    @Test func `no seed: 0 for a file, a random one for a live run`() async throws {
        #expect(try await Trial([silence(batches: 1)]).stream().header.seed == 0)
        let one = try await Trial([silence(batches: 1)], isLive: true).stream().header.seed
        let other = try await Trial([silence(batches: 1)], isLive: true).stream().header.seed
        #expect(one != other && one < 1 << 53 && other < 1 << 53)
    }

    @Test func `header: analyzers with their settings, including defaults`() async throws {
        var trial = Trial([], analyzers: [.levels, .spectrum])
        trial.configuration.analyzers = [
            PluginSpec("levels"), PluginSpec("spectrum", as: "fine", settings: ["bands": .text("8")]),
        ]
        trial.configuration.seed = 99
        let header = try await trial.stream().header
        #expect(header.seed == 99)
        #expect(header.analyzers.map(\.name) == ["levels", "fine"])
        #expect(header.analyzers.map(\.id) == ["levels", "spectrum"])
        #expect(header.analyzers[1].parameters.first { $0.key == "bands" }?.value == .integer(8))
        #expect(header.analyzers[1].parameters.first { $0.key == "size" }?.value == .integer(2048))
        #expect(header.layout.handle("fine", "bands_db") == FeatureHandle(offset: 4, count: 8))
        #expect(header.layout.width == 4 + 8 + 4)
    }
}
