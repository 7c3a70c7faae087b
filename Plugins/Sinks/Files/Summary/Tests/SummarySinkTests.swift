import Foundation
import Hemiola
import HemiolaTesting
import SummarySink
import TestSupport
import Testing

@Suite struct SummarySinkTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    // MARK: - Fixture

    private static func header(
        _ name: String = "song.flac", file: String? = nil, channels: Int = 2, detectsBeats: Bool = true
    ) -> StreamHeader {
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, minimum: -120, "RMS level of the mono mix."))
        _ = levels.add(Feature("channel_rms_db", .decibels, count: channels, "RMS level of each channel."))
        var spectrum = AnalyzerOutputs()
        _ = spectrum.add(Feature("magnitudes", .amplitude, count: 129, "Magnitudes."))
        var beat = AnalyzerOutputs()
        beat.add(.beat)
        var tags = SoundTags()
        (tags.title, tags.artist, tags.year) = ("A \"title\", long", "Ünï", 1998)
        let source = StreamSource(
            format: StreamFormat(sampleRate: 44_100, channelCount: channels), kind: "file", name: name, duration: 1, tags: tags)
        return StreamHeader(
            source: source, file: file, isLive: false, batching: .standard, seed: 0,
            analyzers: [
                .init(name: "levels", id: "levels", version: 1, parameters: [], outputs: levels),
                .init(name: "spectrum", id: "spectrum", version: 1, parameters: [], outputs: spectrum),
            ] + (detectsBeats ? [.init(name: "beat", id: "beat", version: 1, parameters: [], outputs: beat)] : []))
    }

    private static func blocks(_ rows: [[Float]], events: [Event] = []) -> [BatchBlock] {
        stride(from: 0, to: rows.count, by: BatchBlock.capacity).map { start in
            let part = rows[start..<min(start + BatchBlock.capacity, rows.count)]
            let storage = BatchStorage(capacity: part.count, width: rows[0].count, samplesPerBatch: 0, channelCount: 2)
            for (index, row) in part.enumerated() {
                var list = EventList()
                for event in start + index == 0 ? events : [] { list.append(event) }
                _ = storage.openRow.update(fromContentsOf: row)
                storage.complete(
                    .init(number: Int64(start + index), frame: Int64(start + index) * 1024, frameCount: 1024, isPartial: false),
                    events: &list)
            }
            return BatchBlock(storage)
        }
    }

    /// Rows of the fixture's features: `levels.rms_db` as given, the others derived from it.
    private static func rows(_ levels: [Float], channels: Int = 2) -> [[Float]] {
        levels.map { level in [level] + (0..<channels).map { level - Float($0) } + (0..<129).map { Float($0) + level } }
    }

    private static func beat(at time: Double, _ bpm: Double, _ position: Int?) -> Event {
        Event(at: time, Beat(beatsPerMinute: bpm, position: position, confidence: 1))
    }

    private func sink(_ path: String, _ settings: [String: String] = [:]) throws -> any Sink {
        try SinkPlugin.summary.make(
            SinkPlugin.summary.about.values(
                from: PluginSpec("summary", primary: .text(path), settings: settings.mapValues { .text($0) })))
    }

    private func run(
        _ sink: any Sink, select items: [String]? = nil, isLive: Bool = false, events: [Event] = [], late: [Event] = [],
        sections: [StreamSummary.Section] = [], streams: [(StreamHeader, [[Float]])], reason: StreamSummary.Reason = .endOfInput,
        failures: [InputEnd] = [], error: String? = nil
    ) throws {
        try sink.open(
            SinkContext(
                name: "summary", records: RecordChoice(summary: try Self.selection(items ?? [], sections)),
                timing: SinkTiming(isLive: isLive)))
        for failure in failures { try sink.end(failure) }
        for (header, rows) in streams {
            try sink.begin(header)
            for block in Self.blocks(rows, events: events) { try sink.write(block) }
            try sink.end(
                StreamSummary(
                    frames: Int64(rows.count) * 1024, batches: Int64(rows.count), sections: sections, reason: reason, error: error,
                    lateEvents: late))
        }
        try sink.close()
    }

    /// The values of the fixture's summaries.
    private static func selection(_ items: [String], _ sections: [StreamSummary.Section] = []) throws -> SummarySelection {
        var selection = SummarySelection(header().analyzers, sections)
        if !items.isEmpty { try selection.select(items, installed: ["levels", "pitch"]) }
        return selection
    }

    private static let loudness = StreamSummary.Section(
        analyzer: "loudness", values: [SummaryValue("integrated_lufs", -14.126, .loudness), SummaryValue("blocks", count: 7)])

    private func records(_ name: String) throws -> [[String: Any]] {
        try folder.text(of: name).split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// The value at a path such as `features.levels.rms_db.mean`; nil for null and where there is none.
    private func value(_ record: [String: Any], _ path: String) -> Any? {
        let value = path.split(separator: ".").reduce(record as Any?) { ($0 as? [String: Any])?[String($1)] }
        return value is NSNull ? nil : value
    }

    // MARK: - Tests

    @Test func `conformance: passes`() throws {
        for settings in ["/dev/null", "/dev/null,format=csv"] {
            try SinkConformanceSuite(.summary, settings: settings).run()
        }
    }

    @Test func `stream: statistics, nulls left out and counted`() throws {
        let levels: [Float] = [-10, .nan, -20, -30, .infinity, -40]
        try run(sink(folder("a.jsonl")), streams: [(Self.header(), Self.rows(levels))])
        let record = try records("a.jsonl")[0]
        #expect(value(record, "features.levels.rms_db.mean") as? Double == -25)
        #expect(value(record, "features.levels.rms_db.stdev") as? Double == 11.18)
        #expect(value(record, "features.levels.rms_db.p10") as? Double == -40)
        #expect(value(record, "features.levels.rms_db.p50") as? Double == -30)
        #expect(value(record, "features.levels.rms_db.p90") as? Double == -10)
        #expect(value(record, "features.levels.rms_db.nulls") as? Int == 2)
        #expect(value(record, "features.levels.channel_rms_db.mean") as? [Double] == [-25, -26])
        #expect(value(record, "features.levels.channel_rms_db.nulls") as? Int == 4)
    }

    @Test func `thousands of batches: exact mean and deviation, quantiles within the rank error`() throws {
        // A permutation of 0…6100.
        let levels = (0..<6101).map { Float($0 * 4099 % 6101) }
        try run(sink(folder("a.jsonl")), streams: [(Self.header(), Self.rows(levels))])
        let record = try records("a.jsonl")[0]
        #expect(value(record, "features.levels.rms_db.mean") as? Double == 3050)
        #expect(value(record, "features.levels.rms_db.stdev") as? Double == 1761.207)
        for (name, share) in [("p10", 0.1), ("p50", 0.5), ("p90", 0.9)] {
            let quantile = try #require(value(record, "features.levels.rms_db.\(name)") as? Double)
            #expect(abs(quantile - share * 6101) <= 0.005 * 6101, "\(name)")
        }
    }

    @Test func `feature of more than 128 values: mean and deviation only`() throws {
        try run(sink(folder("a.jsonl")), streams: [(Self.header(), Self.rows([1, 3]))])
        let magnitudes = try #require(value(records("a.jsonl")[0], "features.spectrum.magnitudes") as? [String: Any])
        #expect(magnitudes.keys.sorted() == ["mean", "nulls", "stdev"])
        #expect((magnitudes["mean"] as? [Double])?.prefix(2) == [2, 3])
        #expect((magnitudes["stdev"] as? [Double])?.last == 1)
    }

    @Test func `stream without batches: null statistics`() throws {
        try run(sink(folder("a.jsonl")), streams: [(Self.header(), [])])
        let record = try records("a.jsonl")[0]
        for name in ["mean", "stdev", "p50"] {
            #expect(record["features"] != nil && value(record, "features.levels.rms_db.\(name)") == nil)
        }
        #expect(value(record, "duration_s") as? Double == 0)
        #expect(value(record, "rhythm.beats") as? Int == 0)
        #expect(value(record, "rhythm.bpm") == nil)
    }

    @Test func `beats: tempo of the line through them, number of beats and bars, first beat`() throws {
        let beats = [Self.beat(at: 0.5, 120, 4), Self.beat(at: 1, 122.5, 1), Self.beat(at: 1.5, 118, nil)]
        try run(
            sink(folder("a.jsonl")), select: ["rhythm"], events: beats, late: [Self.beat(at: 2, 124, 1)],
            streams: [(Self.header(), Self.rows([1]))])
        let record = try records("a.jsonl")[0]
        #expect(value(record, "rhythm.bpm") as? Double == 120)
        #expect(value(record, "rhythm.tempo_sections") as? Int == 1)
        #expect(value(record, "rhythm.beats") as? Int == 4)
        #expect(value(record, "rhythm.bars") as? Int == 2)
        #expect(value(record, "rhythm.first_beat_s") as? Double == 0.5)
    }

    @Test func `100 BPM, then 128: two tempi, and that of most beats`() throws {
        let beats =
            (0..<80).map { Self.beat(at: 0.6 * Double($0), 100, $0 % 4 + 1) }
            + (0..<120).map { Self.beat(at: 48 + 60.0 / 128 * Double($0), 128, $0 % 4 + 1) }
        try run(sink(folder("a.jsonl")), select: ["rhythm"], events: beats, streams: [(Self.header(), Self.rows([1]))])
        let record = try records("a.jsonl")[0]
        #expect(value(record, "rhythm.bpm") as? Double == 128 && value(record, "rhythm.tempo_sections") as? Int == 2)
        #expect(value(record, "rhythm.time_signature") as? Int == 4)
    }

    @Test func `bars of several lengths: that of most bars; an upbeat, a passage without bars and the last bar do not count`() throws {
        let positions = [3, 1, 2, 3, 1, 2, 3, nil, nil, 1, 2, 3, 4, 1, 2, 3, 1, 2].map { $0 as Int? }
        let beats = positions.enumerated().map { Self.beat(at: 0.5 * Double($0), 120, $1) }
        try run(sink(folder("a.jsonl")), select: ["rhythm"], events: beats, streams: [(Self.header(), Self.rows([1]))])
        #expect(value(try records("a.jsonl")[0], "rhythm.time_signature") as? Int == 3)
    }

    // MARK: - ReplayGain

    /// The rows of songs of one loudness each, and of inputs that failed.
    ///
    /// - Parameter songs: Path, momentary loudness of all batches, true peak; no loudness: the input failed.
    private func gains(
        _ songs: [(path: String, loudness: Float?, peak: Double)], select items: [String] = ["replaygain"], path: String = "a.jsonl",
        batch: Int = 1024, isComplete: Bool = true
    ) throws -> [[String: Any]] {
        var outputs = AnalyzerOutputs()
        _ = outputs.add(Feature("momentary_lufs", .loudness, "Loudness of the last 400 ms."))
        let analyzer = StreamHeader.Analyzer(name: "loudness", id: "loudness", version: 1, parameters: [], outputs: outputs)
        let values = ["integrated_lufs", "true_peak_dbtp"].map { SummaryValue($0, .nan, .loudness) }
        var selection = SummarySelection([analyzer], [StreamSummary.Section(analyzer: "loudness", values: values)])
        if !items.isEmpty { try selection.select(items) }
        let sink = try sink(folder(path))
        try sink.open(
            SinkContext(name: "summary", records: RecordChoice(summary: selection), run: RunScope(isComplete: { isComplete })))
        for song in songs {
            guard let loudness = song.loudness else {
                try sink.end(InputEnd(file: song.path, error: "\(song.path): is empty", streamCount: 0))
                continue
            }
            let format = StreamFormat(sampleRate: 44_100, channelCount: 1)
            try sink.begin(
                StreamHeader(
                    source: StreamSource(format: format, kind: "file", name: "a.flac"), file: song.path, isLive: false,
                    batching: try #require(Batching(batchFrames: batch)), seed: 0, analyzers: [analyzer]))
            for block in Self.blocks(Array(repeating: [loudness], count: 100)) { try sink.write(block) }
            let numbers = [
                SummaryValue("integrated_lufs", Double(loudness), .loudness), SummaryValue("true_peak_dbtp", song.peak, .truePeak),
            ]
            let section = StreamSummary.Section(analyzer: "loudness", values: numbers)
            try sink.end(StreamSummary(frames: 102_400, batches: 100, sections: [section], reason: .endOfInput))
            try sink.end(InputEnd(file: song.path, error: nil, streamCount: 1))
        }
        try sink.close()
        return try records("a.jsonl")
    }

    @Test func `gains: of each song, and of the songs of a folder that follow one another, in the order of the inputs`() throws {
        let rows = try gains([
            ("x/1.flac", -10, -6.0206), ("x/2.flac", nil, 0), ("x/3.flac", -10, 0), ("y/1.flac", -20, -20), ("y/2.flac", -50, -.infinity),
        ])
        #expect(rows.map { $0["file"] as? String } == ["x/1.flac", "x/2.flac", "x/3.flac", "y/1.flac", "y/2.flac"])
        func values(_ key: String) -> [Double?] { rows.map { value($0, "replaygain.\(key)") as? Double } }
        #expect(values("track_gain_db") == [-8, nil, -8, 2, 32] && values("track_peak") == [0.5, nil, 1, 0.1, nil])
        // The second song of y is below the relative gate.
        #expect(values("album_gain_db") == [-8, nil, -8, 2, 2] && values("album_peak") == [1, nil, 1, 0.1, 0.1])
    }

    @Test(arguments: [
        ([], "a.jsonl", 1024), (["replaygain.track_gain_db"], "a.jsonl", 1024), (["replaygain"], "{stem}.jsonl", 1024),
        (["replaygain"], "a.jsonl", 8192),
    ])
    func `gain of a folder: none unless it is selected, where each song has a file, and with batches of more than 100 ms`(
        items: [String], path: String, batch: Int
    ) throws {
        let rows = try gains([("x/a.flac", -10, 0)], select: items, path: path, batch: batch)
        #expect(rows.count == 1 && value(rows[0], "replaygain.track_gain_db") as? Double == -8)
        #expect(value(rows[0], "replaygain.album_gain_db") == nil)
    }

    @Test func `interrupted run: no gain of the last folder, of which not all songs were analysed`() throws {
        let rows = try gains([("x/1.flac", -10, 0), ("y/1.flac", -20, 0)], isComplete: false)
        #expect(rows.map { value($0, "replaygain.album_gain_db") as? Double } == [-8, nil])
        #expect(value(rows[1], "replaygain.track_gain_db") as? Double == 2)
    }

    @Test func `folder of more than 1000 songs: no gain, and no row waits for the last one`() throws {
        let rows = try gains((0...1001).map { ("x/\($0).flac", $0 < 2 ? -10 : nil, 0) })
        #expect(rows.count == 1002 && rows.allSatisfy { value($0, "replaygain.album_gain_db") == nil })
        #expect(rows.last?["file"] as? String == "x/1001.flac")
    }

    @Test func `no analyzer of beats: null beats`() throws {
        try run(sink(folder("a.jsonl")), streams: [(Self.header(detectsBeats: false), Self.rows([1]))])
        let rhythm = try #require(records("a.jsonl")[0]["rhythm"] as? [String: Any])
        #expect(rhythm.keys.sorted() == ["beats", "bars", "bpm", "first_beat_s", "tempo_sections", "time_signature"].sorted())
        #expect(rhythm.values.allSatisfy { $0 is NSNull })
    }

    @Test func `summaries of analyzers, tags and gaps: in the record`() throws {
        try run(
            sink(folder("a.jsonl")), events: [Event(at: 0, Gap(frames: 441, reason: .damagedFile))], sections: [Self.loudness],
            streams: [(Self.header(), Self.rows([1]))], reason: .error)
        let record = try records("a.jsonl")[0]
        #expect(value(record, "summaries.loudness.integrated_lufs") as? Double == -14.126)
        #expect(value(record, "summaries.loudness.blocks") as? Int == 7)
        #expect(value(record, "tags.title") as? String == "A \"title\", long")
        #expect(value(record, "tags.artist") as? String == "Ünï")
        #expect(value(record, "tags.year") as? Int == 1998)
        #expect(value(record, "tags.album") == nil)
        #expect(value(record, "lost_frames") as? Int == 441)
        #expect(value(record, "reason") as? String == "error")
        #expect(value(record, "file") as? String == "song.flac")
    }

    @Test(arguments: [
        (["features.levels.rms_db"], ["features.levels.rms_db"]), (["levels.rms_db"], ["features.levels.rms_db"]),
        (["spectrum"], ["features.spectrum"]), (["file", "duration_s", "rhythm.bpm"], ["duration_s", "rhythm.bpm"]),
        (["title", "bpm", "integrated_lufs"], ["tags.title", "rhythm.bpm", "summaries.loudness.integrated_lufs"]),
        (["summaries"], ["summaries"]), (["loudness"], ["summaries.loudness"]), (["levels.rms-db.p50"], ["features.levels.rms_db.p50"]),
    ])
    func `select: path, beginning of a path, section left out, last part alone`(items: [String], paths: [String]) throws {
        try run(sink(folder("a.jsonl")), select: items, sections: [Self.loudness], streams: [(Self.header(), Self.rows([1]))])
        let record = try records("a.jsonl")[0]
        var heads: [String] = []
        for path in paths {
            let parts = path.split(separator: ".").map(String.init)
            heads.append(parts[0])
            let parent = parts.dropLast().reduce(record as Any?) { ($0 as? [String: Any])?[$1] } as? [String: Any]
            #expect(parent?[parts[parts.count - 1]] != nil, "\(path)")
        }
        #expect(Set(record.keys) == Set(heads + ["type", "file", "error"]))
        if items == ["levels.rms_db"] { #expect((record["features"] as? [String: [String: Any]])?["levels"]?.count == 1) }
    }

    @Test func `select: several values of one name, and none, with what to write instead`() throws {
        func message(_ items: [String], _ sections: [StreamSummary.Section]) -> String {
            do throws(Problem) {
                var selection = SummarySelection(Self.header().analyzers, sections)
                try selection.select(items, installed: ["levels", "pitch"])
                return ""
            } catch { return error.all.map(\.message).joined(separator: "\n") }
        }
        let values = [SummaryValue("bpm", 1, .beatsPerMinute), SummaryValue("peak_db", 1, .decibels)]
        let sections = ["one", "two"].map { StreamSummary.Section(analyzer: $0, values: values) }
        // The tempo of the song is that of `rhythm`.
        #expect(message(["bpm"], sections).isEmpty)
        #expect(message(["peak_db"], sections).contains("write one of: one.peak_db, two.peak_db"))
        #expect(message(["pitch.f0_hz"], []).contains("--analyzer +pitch"))
        #expect(message(["duration"], []).contains("did you mean duration_s?"))
        #expect(message(["rhythm.bmp"], []).contains("did you mean rhythm.bpm?"))
        #expect(message(["zzzzzzzzzz", "yyyyyyyyyyy"], []).split(separator: "\n").count == 2)
    }

    @Test func `table: a row per stream with the paths of the record as columns`() throws {
        let streams = ["a.flac", "b, \"c\".flac"].map { (Self.header(file: $0), Self.rows([1, 3])) }
        try run(sink(folder("a.csv")), select: Self.figures + ["levels", "reason"], streams: streams)
        #expect(
            try folder.text(of: "a.csv") == """
                file,schema,hemiola,duration_s,sample_rate,channels,frames,lost_frames,non_finite,tags.title,tags.artist,tags.album,\
                tags.track,tags.genre,tags.year,rhythm.bpm,rhythm.tempo_sections,rhythm.time_signature,rhythm.beats,rhythm.bars,rhythm.first_beat_s,features.levels.rms_db.mean,\
                features.levels.rms_db.stdev,features.levels.rms_db.p10,features.levels.rms_db.p50,features.levels.rms_db.p90,\
                features.levels.rms_db.nulls,features.levels.channel_rms_db.mean[0],features.levels.channel_rms_db.mean[1],\
                features.levels.channel_rms_db.stdev[0],features.levels.channel_rms_db.stdev[1],features.levels.channel_rms_db.p10[0],\
                features.levels.channel_rms_db.p10[1],features.levels.channel_rms_db.p50[0],features.levels.channel_rms_db.p50[1],\
                features.levels.channel_rms_db.p90[0],features.levels.channel_rms_db.p90[1],features.levels.channel_rms_db.nulls,reason,error
                a.flac,2,\(HemiolaVersion.current),0.04644,44100,2,2048,0,0,"A ""title"", long",Ünï,,,,1998,,0,,0,0,,2.0,1.0,1.0,1.0,3.0,0,\
                2.0,1.0,1.0,1.0,1.0,0.0,1.0,0.0,3.0,2.0,0,end-of-input,
                "b, ""c"".flac",2,\(HemiolaVersion.current),0.04644,44100,2,2048,0,0,"A ""title"", long",Ünï,,,,1998,,0,,0,0,,2.0,1.0,1.0,1.0,\
                3.0,0,2.0,1.0,1.0,1.0,1.0,0.0,1.0,0.0,3.0,2.0,0,end-of-input,

                """)
    }

    private static let figures = [
        "schema", "hemiola", "duration_s", "sample_rate", "channels", "frames", "lost_frames", "non_finite", "tags", "rhythm",
    ]

    @Test(arguments: [[1, 2, 6], [6, 1, 2]])
    func `table of any channels: those of a stereo file, whichever is first`(counts: [Int]) throws {
        let streams = counts.map { (Self.header(file: "\($0).flac", channels: $0), Self.rows([1], channels: $0)) }
        try run(sink(folder("a.csv")), select: ["features.levels.channel_rms_db.mean"], streams: streams)
        let name = "features.levels.channel_rms_db.mean"
        let rows = [1: "1.flac,1.0,,", 2: "2.flac,1.0,0.0,", 6: "6.flac,1.0,0.0,"]
        let expected = ["file,\(name)[0],\(name)[1],error"] + counts.map { rows[$0]! }
        #expect(try folder.text(of: "a.csv").split(separator: "\n").map(String.init) == expected)
    }

    @Test func `input that failed: a row with its error; one that was cut: also its values`() throws {
        let failure = InputEnd(file: "x.wav", error: "x.wav: is empty", streamCount: 0)
        let streams = [(Self.header(file: "a.flac"), Self.rows([1]))]
        try run(sink(folder("a.csv")), select: ["duration_s"], streams: streams, failures: [failure], error: "a.flac: is cut")
        #expect(try folder.text(of: "a.csv") == "file,duration_s,error\nx.wav,,x.wav: is empty\na.flac,0.02322,a.flac: is cut\n")
        try run(sink(folder("a.jsonl")), sections: [Self.loudness], streams: streams, failures: [failure])
        let records = try records("a.jsonl")
        #expect(records[0].keys == records[1].keys)
        #expect(value(records[0], "error") as? String == "x.wav: is empty" && value(records[1], "error") == nil)
        #expect(records[1]["error"] is NSNull && value(records[0], "reason") as? String == "error")
        for path in ["rhythm", "summaries.loudness", "features.levels.rms_db"] {
            let values = try #require(value(records[0], path) as? [String: Any])
            #expect(!values.isEmpty && values.values.allSatisfy { $0 is NSNull }, "\(path)")
        }
        let means = try #require(records[0]["features"] as? [String: [String: [String: Any]]])["levels"]?["channel_rms_db"]?["mean"]
        #expect((means as? [Any])?.count == 2)
    }

    @Test func `inputs that all failed: a table of them`() throws {
        let failures = ["x.wav", "y.wav"].map { InputEnd(file: $0, error: "\($0): is empty", streamCount: 0) }
        try run(sink(folder("a.csv")), select: ["title"], streams: [], failures: failures)
        #expect(try folder.text(of: "a.csv") == "file,tags.title,error\nx.wav,,x.wav: is empty\ny.wav,,y.wav: is empty\n")
    }

    @Test func `analyzer whose outputs are known when it runs: columns of its features`() throws {
        var analyzers = Self.header().analyzers
        analyzers[0].outputs = AnalyzerOutputs()
        var selection = SummarySelection(analyzers, [])
        try selection.select(["levels.rms_db.mean", "duration_s"])
        let sink = try sink(folder("a.csv"))
        try sink.open(SinkContext(name: "summary", records: RecordChoice(summary: selection)))
        try sink.end(InputEnd(file: "x.wav", error: "no", streamCount: 0))
        try sink.begin(Self.header(file: "a.flac"))
        try sink.write(Self.blocks(Self.rows([-3]))[0])
        try sink.end(StreamSummary(frames: 44_100, batches: 1, reason: .endOfInput))
        try sink.close()
        #expect(try folder.text(of: "a.csv") == "file,features.levels.rms_db.mean,duration_s,error\nx.wav,,,no\na.flac,-3.0,1.0,\n")
    }

    @Test func `text: aligned columns with the file at the end`() throws {
        let beats = (0..<20).map { Self.beat(at: 0.5 + 0.5 * Double($0), 119.97, 1) }
        let failure = InputEnd(file: "x.wav", error: "x.wav: is empty", streamCount: 0)
        let streams = [(Self.header(file: "a.flac"), Self.rows([Float](repeating: 1, count: 3000)))]
        func text(_ items: [String]?) throws -> [String] {
            try run(
                sink(folder("t"), ["format": "text"]), select: items, events: beats, sections: [Self.loudness], streams: streams,
                failures: [failure])
            return try folder.text(of: "t").split(separator: "\n").map(String.init)
        }
        #expect(
            try text(nil) == [
                "   TIME      BPM    TEMPI     LUFS  FILE", "      -        -        -        -  x.wav: is empty",
                "   1:10    120.0        1    -14.1  a.flac",
            ])
        #expect(
            try text(["title", "loudness.blocks"]) == [
                "title                     loudness.blocks  FILE", "-                                       -  x.wav: is empty",
                "A \"title\", long                         7  a.flac",
            ])
    }

    @Test func `format, compression and placeholders: by setting and by path`() throws {
        let streams = ["x/a.flac", "b.flac"].map { (Self.header(file: $0), Self.rows([1])) }
        try run(sink(folder("{stem}.csv")), streams: streams)
        #expect(try folder.text(of: "a.csv").hasPrefix("file,") && folder.text(of: "b.csv").hasPrefix("file,"))
        try run(sink(folder("t.txt"), ["format": "csv"]), streams: streams)
        #expect(try folder.text(of: "t.txt").split(separator: "\n").count == 3)
        try run(sink(folder("t.csv"), ["format": "json"]), streams: streams)
        #expect(try records("t.csv").count == 2)
        try run(sink(folder("t.CSV.zst")), streams: streams)
        #expect(try Zstd.read(folder("t.CSV.zst")).text.hasPrefix("file,"))
    }

    @Test func `same streams: same bytes, in blocks of any size`() throws {
        let levels = QuantileSketchTests.noise(5000)
        try run(sink(folder("a.jsonl")), streams: [(Self.header(), Self.rows(levels))])
        let single = try sink(folder("b.jsonl"))
        try single.open(SinkContext(name: "summary"))
        try single.begin(Self.header())
        for row in Self.rows(levels) { try single.write(Self.blocks([row])[0]) }
        try single.end(StreamSummary(frames: 5000 * 1024, batches: 5000, reason: .endOfInput))
        try single.close()
        #expect(try folder.text(of: "a.jsonl") == folder.text(of: "b.jsonl"))
    }

    @Test(arguments: ["json", "csv", "text"], [false, true])
    func `interrupted: an error of a file, and the regular end of a live stream`(format: String, isLive: Bool) throws {
        var header = Self.header(file: "a.flac")
        header.isLive = isLive
        try run(sink(folder("a"), ["format": format]), isLive: isLive, streams: [(header, Self.rows([1, 2]))], reason: .interrupted)
        let text = try folder.text(of: "a")
        #expect(text.split(separator: "\n").count == (format == "json" ? 1 : 2))
        #expect(text.contains("a.flac: interrupted after 0.0 s") != isLive, "\(text)")
    }

    @Test func `full disk: an error that names the file`() throws {
        let error = #expect(throws: Problem.self) {
            let sink = try self.sink("/dev/full")
            try self.run(sink, streams: [(Self.header(), Self.rows([1]))])
        }
        #expect(error.map { "\($0)" }?.contains("/dev/full") == true)
    }
}
