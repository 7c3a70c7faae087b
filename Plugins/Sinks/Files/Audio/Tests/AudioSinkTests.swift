import AudioSink
import FileCapture
import Foundation
import Hemiola
import HemiolaEngine
import HemiolaTesting
import LevelsAnalyzer
import Synchronization
import TestSupport
import Testing

@Suite struct AudioSinkTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    // MARK: - Helpers

    private func sink(_ settings: String) throws -> any Sink {
        let spec = try PluginSpec(parsing: "audio:\(settings)")
        return try SinkPlugin.audio.make(SinkPlugin.audio.about.values(from: spec))
    }

    private func header(_ format: StreamFormat, _ name: String = "song.wav", isLive: Bool = false) -> StreamHeader {
        StreamHeader(
            source: StreamSource(format: format, kind: "file", name: name), isLive: isLive, batching: .standard, seed: 0, analyzers: [])
    }

    /// A block of one batch.
    private func block(_ samples: [Float], at frame: Int64, _ format: StreamFormat) -> BatchBlock {
        let frames = samples.count / format.channelCount
        let storage = BatchStorage(capacity: 1, width: 0, samplesPerBatch: max(1, samples.count), channelCount: format.channelCount)
        for (index, sample) in samples.enumerated() { storage.openSamples[index] = sample }
        var events = EventList()
        storage.complete(.init(number: frame / 1024, frame: frame, frameCount: frames, isPartial: frames < 1024), events: &events)
        return BatchBlock(storage)
    }

    /// Writes a stream in batches of 1024 frames.
    private func write(_ samples: [Float], _ format: StreamFormat, to sink: any Sink, from frame: Int64 = 0) throws {
        var (next, frame) = (0, frame)
        while next < samples.count {
            let count = min(1024 * format.channelCount, samples.count - next)
            try sink.write(block(Array(samples[next..<next + count]), at: frame, format))
            next += count
            frame += Int64(count / format.channelCount)
        }
    }

    /// Runs a sink for one stream.
    private func record(
        _ samples: [Float], _ format: StreamFormat, _ settings: String, warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        let sink = try sink(settings)
        try sink.open(SinkContext(name: "audio", messages: SinkMessages(warn: warn)))
        try sink.begin(header(format))
        try write(samples, format, to: sink)
        try sink.end(
            StreamSummary(frames: Int64(samples.count / format.channelCount), batches: 0, reason: .endOfInput))
        try sink.close()
    }

    /// Decodes a file.
    private func decode(_ path: String) throws -> (samples: [Float], format: StreamFormat) {
        let settings = try CapturePlugin.file.about.values(from: PluginSpec("file", primary: .text(path)))
        let capture = try CapturePlugin.file.make(settings)
        let source = try capture.open(FormatRequest())
        defer { capture.close() }
        var result: [Float] = []
        var buffer = [Float](repeating: 0, count: 4096 * source.format.channelCount)
        while true {
            var span = buffer.mutableSpan
            switch try capture.read(into: &span) {
            case .frames(let count): result += buffer[..<(count * source.format.channelCount)]
            case .end: return (result, source.format)
            default: throw Problem("a gap in a file that must be whole")
            }
        }
    }

    /// Noise, rounded to so many bits.
    private func noise(bits: Int, frames: Int, _ format: StreamFormat) -> [Float] {
        let scale = Float(1 << (bits - 1))
        return TestSignal.noise(seed: 3, frames: frames * format.channelCount).map { ($0 * scale).rounded(.down) / scale }
    }

    private func bytes(of name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder(name))))
    }

    // MARK: - Samples

    @Test(arguments: ["wav", "flac"])
    func `channels in the order of Vorbis: in the order of the file, each with its loudspeaker`(ending: String) throws {
        let vorbis = ChannelMap([.frontLeft, .frontCenter, .frontRight, .backLeft, .backRight, .lowFrequency])
        let format = StreamFormat(sampleRate: 48_000, channelCount: 6, channelMap: vorbis)
        var samples: [Float] = []
        for frame in 0..<2500 {
            for channel in 0..<6 { samples.append(Float(1000 * channel + frame % 7) / 32_768) }
        }
        try record(samples, format, folder("a.\(ending)"))
        let decoded = try decode(folder("a.\(ending)"))
        #expect(decoded.format.channelMap?.names == ["FL", "FR", "FC", "LFE", "BL", "BR"])
        var expected: [Float] = []
        for frame in 0..<2500 {
            for channel in [0, 2, 1, 5, 3, 4] { expected.append(samples[6 * frame + channel]) }
        }
        #expect(decoded.samples == expected)
    }

    @Test(arguments: [
        ("flac", "", 24), ("flac", ",bits=16", 16), ("wav", ",bits=24", 24), ("wav", ",bits=16", 16), ("wav", "", 24),
    ])
    func `integer samples: equal in every bit after decoding`(ending: String, setting: String, bits: Int) throws {
        for (rate, channels) in [(44_100, 1), (48_000, 2), (96_000, 6), (8_000, 3), (192_000, 8)] {
            let format = StreamFormat(sampleRate: rate, channelCount: channels)
            let samples = noise(bits: bits, frames: 10_301, format)
            try record(samples, format, folder("\(channels).\(ending)") + setting)
            let decoded = try decode(folder("\(channels).\(ending)"))
            #expect(decoded.format.sampleRate == rate && decoded.format.channelCount == channels)
            #expect(decoded.samples == samples, "\(rate) Hz, \(channels) channels")
        }
    }

    @Test func `floating-point samples in WAV: equal in every bit, also above full scale and with 32 channels`() throws {
        let format = StreamFormat(sampleRate: 48_000, channelCount: 32)
        let samples = TestSignal.noise(seed: 9, amplitude: 4, frames: 2000 * 32)
        try record(samples, format, folder("a.wav"))
        #expect(try decode(folder("a.wav")).samples == samples)
    }

    @Test func `samples above full scale in FLAC: clipped, with a warning that states their number`() throws {
        let warnings = Mutex<[String]>([])
        let format = StreamFormat(sampleRate: 44_100, channelCount: 1)
        try record([0.5, 1, 1.5, -1, -2, 0], format, folder("a.flac")) { text in warnings.withLock { $0.append(text) } }
        let top: Float = 1 - 1 / 8_388_608
        #expect(try decode(folder("a.flac")).samples == [0.5, top, top, -1, -1, 0])
        #expect(warnings.withLock { $0.count == 1 && $0[0].contains("2 samples above full scale were clipped") })
    }

    @Test func `channel positions in WAV: kept`() throws {
        let map = try #require(ChannelMap(waveMask: 0x60f, channelCount: 6))
        let format = StreamFormat(sampleRate: 48_000, channelCount: 6, channelMap: map)
        try record(noise(bits: 16, frames: 2000, format), format, folder("a.wav"))
        #expect(try decode(folder("a.wav")).format.channelMap == map)
    }

    @Test(arguments: [3, 4, 6, 8]) func `unknown channel positions in WAV: stay unknown`(count: Int) throws {
        let format = StreamFormat(sampleRate: 48_000, channelCount: count)
        try record(noise(bits: 16, frames: 2000, format), format, folder("a.wav"))
        #expect(try decode(folder("a.wav")).format.channelMap == nil)
    }

    @Test(arguments: ["flac", "wav"]) func `same input twice: same bytes`(ending: String) async throws {
        let format = StreamFormat(sampleRate: 44_100, channelCount: 2)
        let samples = noise(bits: 24, frames: 50_000, format)
        try record(samples, format, folder("a.\(ending)"))
        // Formats store the time of day in whole seconds, and the system's clock is not a test's to set.
        try await Task.sleep(for: .seconds(1.1))
        try record(samples, format, folder("b.\(ending)"))
        #expect(try bytes(of: "a.\(ending)") == bytes(of: "b.\(ending)"))
    }

    @Test(arguments: ["flac", "wav"]) func `stream of no frames: a valid empty file`(ending: String) throws {
        try record([], StreamFormat(sampleRate: 44_100, channelCount: 2), folder("a.\(ending)"))
        #expect(try bytes(of: "a.\(ending)").count > 40)
    }

    // MARK: - Frames

    @Test(arguments: ["flac", "wav"]) func `lost batches and a gap at the end: silence of exact length, later audio in place`(
        ending: String
    ) throws {
        let format = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let part = noise(bits: 16, frames: 2048, format)
        let sink = try sink(folder("a.\(ending)"))
        try sink.open(SinkContext(name: "audio", timing: SinkTiming(isLive: true)))
        try sink.begin(header(format, isLive: true))
        try write(part, format, to: sink, from: 1000)
        try write(part, format, to: sink, from: 50_000)
        try sink.end(StreamSummary(frames: 60_000, batches: 0, reason: .interrupted))
        try sink.close()
        let samples = try decode(folder("a.\(ending)")).samples
        let silence = { (frames: Int) in [Float](repeating: 0, count: 2 * frames) }
        #expect(samples == silence(1000) + part + silence(50_000 - 3048) + part + silence(60_000 - 52_048))
    }

    @Test func `gap of a capture in a pipeline: silence of exact length`() async throws {
        let format = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let part = noise(bits: 16, frames: 5000, format)
        let registry = PluginRegistry(
            captures: [
                .scripted(format: format, [.samples(part), .gap(Gap(frames: 12_345, reason: .overrun)), .samples(part)])
            ], analyzers: [.levels], sinks: [.audio])
        let pipeline = try registry.assemble(
            PipelineConfiguration(
                captures: [PluginSpec("scripted")], analyzers: [PluginSpec("levels")],
                sinks: [PluginSpec("audio", primary: .text(folder("a.flac")))]))
        _ = await pipeline.run()
        let samples = try decode(folder("a.flac")).samples
        #expect(samples == part + [Float](repeating: 0, count: 2 * 12_345) + part)
    }

    // MARK: - Files

    @Test func `rotation by time: the files together are the stream`() throws {
        let format = StreamFormat(sampleRate: 8_000, channelCount: 1)
        let samples = noise(bits: 16, frames: 40_000, format)
        try record(samples, format, folder("a.flac") + ",rotate_s=1")
        #expect(folder.names == (1...5).map { "a.000\($0).flac" })
        let parts = try (1...5).map { try decode(folder("a.000\($0).flac")).samples }
        #expect(Array(parts.joined()) == samples)
        #expect(parts.dropLast().allSatisfy { abs($0.count - 8_000) <= 1024 })
    }

    @Test func `live, the format changes: the next stream continues in a numbered file`() throws {
        let warnings = Mutex<[String]>([])
        let sink = try sink(folder("a.flac"))
        try sink.open(
            SinkContext(
                name: "audio", timing: SinkTiming(isLive: true),
                messages: SinkMessages(warn: { text in warnings.withLock { $0.append(text) } })))
        let formats = [StreamFormat(sampleRate: 48_000, channelCount: 2), StreamFormat(sampleRate: 44_100, channelCount: 1)]
        let samples = formats.map { noise(bits: 16, frames: 3000, $0) }
        for (format, samples) in zip(formats, samples) {
            try sink.begin(header(format, isLive: true))
            try write(samples, format, to: sink)
            try sink.end(StreamSummary(frames: 3000, batches: 3, reason: .formatChange))
        }
        try sink.close()
        #expect(folder.names == ["a.0002.flac", "a.flac"])
        #expect(try decode(folder("a.flac")).samples == samples[0])
        #expect(try decode(folder("a.0002.flac")).samples == samples[1])
        #expect(warnings.withLock { $0.count == 1 && $0[0].contains("the recording continues in \(folder("a.0002.flac"))") })
    }

    @Test func `live, the file exists: refused, and the file unchanged`() throws {
        try folder.write("old", to: "a.flac")
        let sink = try sink(folder("a.flac"))
        #expect(throws: Problem.self) { try sink.open(SinkContext(name: "audio", timing: SinkTiming(isLive: true))) }
        #expect(try folder.text(of: "a.flac") == "old")
    }

    @Test func `several inputs: one file each with stem in the path, else refused`() throws {
        let format = StreamFormat(sampleRate: 8_000, channelCount: 1)
        let sink = try sink(folder("{stem}.wav"))
        try sink.open(SinkContext(name: "audio"))
        for name in ["x/one.mp3", "x/two.mp3"] {
            var header = header(format, name)
            header.file = name
            try sink.begin(header)
            try write([0.5, 0.25], format, to: sink)
            try sink.end(StreamSummary(frames: 2, batches: 1, reason: .endOfInput))
        }
        try sink.close()
        #expect(folder.names == ["one.wav", "two.wav"])
        let settings = try SinkPlugin.audio.about.values(from: PluginSpec(parsing: "audio:a.flac"))
        #expect(SinkPlugin.audio.needs(settings).outputs.allSatisfy { !$0.takesSeveralInputs })
    }

    @Test(arguments: ["", "a.mp3", "-", "/dev/stdout", "a.flac,bits=float", "a.wav,bits=8"])
    func `unsuitable settings: an error`(settings: String) {
        #expect(throws: (any Error).self) { try sink(settings) }
    }

    @Test func `FLAC with nine channels: an error that names the remedy`() throws {
        let sink = try sink(folder("a.flac"))
        try sink.open(SinkContext(name: "audio"))
        let format = StreamFormat(sampleRate: 48_000, channelCount: 9)
        let error = #expect(throws: Problem.self) { try sink.begin(header(format)) }
        #expect(error?.message.contains(".wav") == true)
        #expect(folder.names.isEmpty)
    }

    @Test(.enabled(if: TemporaryDisk.isAvailable, "a tmpfs can be mounted by root only"), arguments: ["flac", "wav"])
    func `full disk in real time: an error, and the file keeps whole frames, with a valid header`(ending: String) throws {
        let disk = try TemporaryDisk(kibibytes: 256)
        let format = StreamFormat(sampleRate: 48_000, channelCount: 6)
        let samples = noise(bits: 16, frames: 48_000, format)
        let sink = try sink(disk("a.\(ending)") + ",bits=24")
        try sink.open(SinkContext(name: "audio", timing: SinkTiming(isLive: true)))
        try sink.begin(header(format, isLive: true))
        let error = #expect(throws: Problem.self) { try write(samples, format, to: sink) }
        #expect(error?.message.contains("the disk is full") == true, "\(String(describing: error))")
        let decoded = try decode(disk("a.\(ending)")).samples
        #expect(decoded.count > 6 * 4096 && decoded.count.isMultiple(of: 6))
        #expect(decoded == Array(samples[..<decoded.count]))
        #expect(error?.message.hasSuffix("keeps the first \(decoded.count / 6 / 48) ms") == true)
    }

    @Test func `WAV whose writer was killed: valid up to the last second`() throws {
        let format = StreamFormat(sampleRate: 8_000, channelCount: 1)
        let samples = noise(bits: 16, frames: 30_000, format)
        let sink = try sink(folder("a.wav"))
        try sink.open(SinkContext(name: "audio", timing: SinkTiming(isLive: true)))
        try sink.begin(header(format, isLive: true))
        try write(samples, format, to: sink)
        let bytes = try bytes(of: "a.wav")
        // The length in the header of the data chunk.
        let length = bytes[108..<112].reversed().reduce(0) { $0 << 8 | Int($1) }
        #expect(length > 4 * 21_000 && length <= 4 * 30_000)
        try sink.close()
    }

    // MARK: - Plugin

    @Test(arguments: ["{stem}.flac", "{stem}.wav"]) func `conformance tests: passed`(name: String) throws {
        try SinkConformanceSuite(.audio, settings: folder(name) + ",rotate_s=3600").run()
    }
}
