import CuesSink
import Foundation
import Hemiola
import HemiolaTesting
import TestSupport
import Testing

@Suite struct CuesSinkTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let header: StreamHeader = {
        var loudness = AnalyzerOutputs()
        _ = loudness.add(Feature("momentary_lufs", .loudness, "Loudness of the last 400 ms."))
        var silence = AnalyzerOutputs()
        _ = silence.add(Feature("silent", .ratio, "1: silent."))
        _ = silence.add(Feature("silence_s", .seconds, "Seconds of silence."))
        return StreamHeader(
            source: StreamSource(format: StreamFormat(sampleRate: 1024, channelCount: 1), kind: "file", name: "a.flac"), isLive: false,
            batching: .standard, seed: 0,
            analyzers: [
                .init(name: "loudness", id: "loudness", version: 1, parameters: [], outputs: loudness),
                .init(name: "silence", id: "silence", version: 1, parameters: [], outputs: silence),
            ])
    }()

    /// The line of a song whose batches last a second each.
    ///
    /// - Parameter rows: Loudness, whether the batch is silent, and seconds of silence up to its end.
    private func cues(_ rows: [[Float]], integrated: Double, _ settings: [String: ParameterValue] = [:]) throws -> [String: Any] {
        let values = try SinkPlugin.cues.about.values(from: PluginSpec("cues", primary: .text(folder("c.json")), settings: settings))
        let sink = try SinkPlugin.cues.make(values)
        try sink.open(SinkContext(name: "cues"))
        try sink.begin(Self.header)
        let storage = BatchStorage(capacity: rows.count, width: 3, samplesPerBatch: 0, channelCount: 1)
        for (index, row) in rows.enumerated() {
            var list = EventList()
            _ = storage.openRow.update(fromContentsOf: row)
            storage.complete(
                .init(number: Int64(index), frame: Int64(index) * 1024, frameCount: 1024, isPartial: false), events: &list)
        }
        if !rows.isEmpty { try sink.write(BatchBlock(storage)) }
        let section = StreamSummary.Section(analyzer: "loudness", values: [SummaryValue("integrated_lufs", integrated, .loudness)])
        let frames = Int64(rows.count) * 1024
        try sink.end(StreamSummary(frames: frames, batches: Int64(rows.count), sections: [section], reason: .endOfInput))
        try sink.close()
        return try #require(JSONSerialization.jsonObject(with: Data(folder.text(of: "c.json").utf8)) as? [String: Any])
    }

    @Test func `conformance tests: passed`() throws {
        try SinkConformanceSuite(.cues, settings: "/dev/null").run()
    }

    @Test func `song between silences: from its first sound to its last, faded from where it falls by 7 LU`() throws {
        let song: [[Float]] = Array(repeating: [-10, 0, 0], count: 10)
        let ending: [[Float]] = [[-15, 0, 0], [-18, 0, 0], [-30, 0, 0.25], [-60, 1, 1.25]]
        let rows = [[.nan, 1, 1], [.nan, 1, 2]] + song + ending
        let cues = try cues(rows, integrated: -10.5)
        #expect(cues["file"] as? String == "a.flac" && cues["duration"] as? Double == 16)
        #expect(cues["liq_cue_in"] as? Double == 2 && cues["liq_cue_out"] as? Double == 14.75)
        #expect(cues["liq_cross_duration"] as? Double == 1.75 && cues["liq_fade_out"] as? Double == 1.75)
        #expect(cues["liq_amplify"] as? String == "-7.5 dB")
    }

    @Test func `long ending: cut at the longest crossfade`() throws {
        let rows: [[Float]] = [[-10, 0, 0]] + (0..<20).map { [-20 - Float($0), 0, 0] }
        let cues = try cues(rows, integrated: -10, ["max_fade_s": .number(4), "target_lufs": .number(-16)])
        #expect(cues["liq_cue_out"] as? Double == 5 && cues["liq_cross_duration"] as? Double == 4)
        #expect(cues["liq_amplify"] as? String == "-6.0 dB")
    }

    @Test func `abrupt end: the shortest crossfade`() throws {
        let cues = try cues(Array(repeating: [-10, 0, 0], count: 3), integrated: -10)
        #expect(cues["liq_cue_out"] as? Double == 3 && cues["liq_cross_duration"] as? Double == 0.1)
    }

    @Test(arguments: [0, 3]) func `silence and an empty file: all of it, with no gain`(count: Int) throws {
        let cues = try cues((0..<count).map { [.nan, 1, Float($0 + 1)] }, integrated: .nan)
        #expect(cues["liq_cue_in"] as? Double == 0 && cues["liq_cue_out"] as? Double == Double(count))
        #expect(cues["liq_amplify"] as? String == "0.0 dB")
    }
}
