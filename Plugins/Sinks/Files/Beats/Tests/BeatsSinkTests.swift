import BeatsSink
import Foundation
import Hemiola
import Synchronization
import TestSupport
import Testing

@Suite struct BeatsSinkTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let beats = [
        Event(at: 0.464399, Beat(beatsPerMinute: 120, position: 1, confidence: 0.5)),
        Event(at: 0.75, Onset(strength: 1)),
        Event(at: 1.25, Beat(beatsPerMinute: 76.25, position: 2, confidence: 0.75)),
        Event(at: 1.75, Beat(beatsPerMinute: 120, position: nil, confidence: 1)),
    ]

    private func header(_ name: String = "music/song.flac", file: String? = nil) -> StreamHeader {
        StreamHeader(
            source: StreamSource(format: StreamFormat(sampleRate: 1024, channelCount: 1), kind: "file", name: name), file: file,
            isLive: false, batching: .standard, seed: 0, analyzers: [])
    }

    private func sink(_ path: String, format: String? = nil) throws -> any Sink {
        var spec = PluginSpec("beats", primary: .text(path))
        spec.settings["format"] = format.map { .text($0) }
        return try SinkPlugin.beats.make(SinkPlugin.beats.about.values(from: spec))
    }

    /// Opens a sink, writes a stream per header and closes the sink. The last beat follows the last batch.
    private func run(_ sink: any Sink, headers: [StreamHeader], beats: [Event] = beats) throws {
        try sink.open(SinkContext(name: "beats"))
        for header in headers {
            try sink.begin(header)
            let storage = BatchStorage(capacity: 1, width: 0, samplesPerBatch: 0, channelCount: 1)
            var list = EventList()
            for event in beats.dropLast() { list.append(event) }
            storage.complete(.init(number: 0, frame: 0, frameCount: 1024, isPartial: false), events: &list)
            try sink.write(BatchBlock(storage))
            try sink.end(StreamSummary(frames: 2048, batches: 2, reason: .endOfInput, lateEvents: Array(beats.suffix(1))))
        }
        try sink.close()
    }

    @Test(arguments: [(onsets: Int64(12), warnings: 1), (onsets: 0, warnings: 0)])
    func `no beats: a warning that names the input, unless it is silent`(onsets: Int64, warnings: Int) throws {
        let texts = Mutex<[String]>([])
        let sink = try sink(folder("a.txt"))
        try sink.open(SinkContext(name: "beats", messages: SinkMessages(warn: { text in texts.withLock { $0.append(text) } })))
        try sink.begin(header())
        let section = StreamSummary.Section(
            analyzer: "beat", values: [SummaryValue("beats", count: 0), SummaryValue("onsets", count: onsets)])
        try sink.end(StreamSummary(frames: 2048, batches: 2, sections: [section], reason: .endOfInput))
        try sink.close()
        #expect(texts.withLock { $0 }.count == warnings)
        #expect(texts.withLock { $0 }.allSatisfy { $0.contains("music/song.flac") && !$0.contains("\n") })
    }

    // MARK: - Lines

    @Test func `text: time in seconds, tab, position in the bar`() throws {
        try run(sink(folder("a.txt")), headers: [header()])
        #expect(
            try folder.text(of: "a.txt")
                == "0.464399\t1\n1.25\t2\n1.75\n")
    }

    @Test func `audacity: start, end and position of each label`() throws {
        try run(sink(folder("a.txt"), format: "audacity"), headers: [header()])
        #expect(
            try folder.text(of: "a.txt")
                == "0.464399\t0.464399\t1\n1.25\t1.25\t2\n1.75\t1.75\tbeat\n")
    }

    @Test func `several inputs in one file: a comment line before each`() throws {
        try run(sink(folder("a.txt")), headers: [header(file: "one.wav"), header(file: "two\n\u{1B}[2J.wav")])
        let lines = try folder.text(of: "a.txt").split(separator: "\n")
        #expect(lines.count == 8 && lines[0] == "# one.wav" && lines[4] == "# two\\n\\u001b[2J.wav")
    }

    @Test func `stem in the path: one file per input`() throws {
        try run(
            sink(folder("{stem}.beats")), headers: [header("a/one.wav", file: "a/one.wav"), header("b/two.x.mp3", file: "b/two.x.mp3")])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["one.beats", "two.x.beats"])
        #expect(try folder.text(of: "one.beats").hasPrefix("0.464399\t1\n"))
    }

    @Test func `live, per-input path: another device and the return of the first continue the first device's file`() throws {
        let sink = try sink(folder("{stem}.beats"))
        try sink.open(SinkContext(name: "beats", timing: SinkTiming(isLive: true)))
        for name in ["one", "two", "one"] { try live(sink, name) }
        try sink.close()
        #expect(folder.names == ["one.beats"])
        #expect(try folder.text(of: "one.beats") == String(repeating: "0.464399\t1\n1.25\t2\n1.75\n", count: 3))
    }

    @Test(arguments: ["mid", "jams"]) func `live document, the device changes: a numbered file for each later stream`(ending: String) throws
    {
        try folder.write("old", to: "a.0002.\(ending)")
        let sink = try sink(folder("a.\(ending)"))
        let remarks = Mutex<[String]>([])
        try sink.open(
            SinkContext(
                name: "beats", timing: SinkTiming(isLive: true),
                messages: SinkMessages(warn: { text in remarks.withLock { $0.append(text) } })))
        try live(sink, "one")
        try live(sink, "two")
        try sink.close()
        #expect(folder.names == ["a.0002.\(ending)", "a.0003.\(ending)", "a.\(ending)"])
        #expect(try folder.text(of: "a.0002.\(ending)") == "old")
        #expect(remarks.withLock { $0.count } == 1 && remarks.withLock { $0[0].hasPrefix("\(folder("a.\(ending)")) ends here: ") })
        if ending == "mid" {
            for name in ["a.mid", "a.0003.mid"] {
                #expect(MIDIReader([UInt8](try Data(contentsOf: URL(fileURLWithPath: folder(name)))))?.clicks.count == 3)
            }
        }
    }

    /// A live stream with all beats that ends because the device or its format changes.
    private func live(_ sink: any Sink, _ name: String) throws {
        var header = header(name)
        header.isLive = true
        try sink.begin(header)
        try sink.write(Self.beats)
        try sink.end(StreamSummary(frames: 2048, batches: 2, reason: .formatChange))
    }

    // MARK: - Documents

    private func object(_ name: String) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: folder(name))))
        return try #require(object as? [String: Any])
    }

    @Test func `json: file, duration, and all fields of each beat`() throws {
        try run(sink(folder("a.json")), headers: [header()])
        let object = try object("a.json")
        #expect(object["file"] as? String == "music/song.flac" && object["duration_s"] as? Double == 2)
        let beats = try #require(object["beats"] as? [[String: Any]])
        #expect(beats.map { $0["t"] as? Double } == [0.464399, 1.25, 1.75])
        #expect(beats[1]["bpm"] as? Double == 76.25 && beats[1]["confidence"] as? Double == 0.75)
        #expect(beats[0]["position"] as? Int == 1 && beats[2]["position"] is NSNull)
    }

    @Test func `jams: one beat annotation`() throws {
        try run(sink(folder("a.jams")), headers: [header()])
        let object = try object("a.jams")
        let annotations = try #require(object["annotations"] as? [[String: Any]])
        #expect(annotations.count == 1 && annotations[0]["namespace"] as? String == "beat")
        let data = try #require(annotations[0]["data"] as? [[String: Any]])
        #expect(data.map { $0["time"] as? Double } == [0.464399, 1.25, 1.75] && data[0]["value"] as? Int == 1)
        #expect((object["file_metadata"] as? [String: Any])?["duration"] as? Double == 2)
    }

    @Test func `midi: a tempo map and a note on each beat`() throws {
        let beats = [(0.464399, 1), (0.964399, 2), (1.464399, 3)].map { time, position in
            Event(at: time, Beat(beatsPerMinute: 120, position: position, confidence: 1))
        }
        try run(sink(folder("a.mid")), headers: [header()], beats: beats)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder("a.mid"))))
        let file = try #require(MIDIReader(bytes))
        #expect(file.clicks.map(\.note) == [34, 33, 33])
        for (click, time) in zip(file.clicks, [0.464399, 0.964399, 1.464399]) {
            #expect(abs(click.time - time) < 1e-5)
        }
    }

    @Test func `midi, first beat at 0: no quarter note before it`() throws {
        let beats = [0, 0.5, 1.0].map { Event(at: $0, Beat(beatsPerMinute: 120, position: 1, confidence: 1)) }
        try run(sink(folder("a.mid")), headers: [header()], beats: beats)
        let file = try #require(MIDIReader([UInt8](try Data(contentsOf: URL(fileURLWithPath: folder("a.mid"))))))
        #expect(file.clicks.map(\.time) == [0, 0.5, 1.0])
    }

    @Test(arguments: [
        [20.0, 20.5, 21], [60, 60.5, 61], [0, 0.5, 40.25, 40.75, 120.000001], [16.777215, 33.55443, 50.331646], [3600, 3600.5],
        (0..<2000).map { 0.123456 + Double($0) * 0.4687501 },
    ])
    func `midi, beats far apart: each note within 10 ms of its time`(times: [Double]) throws {
        let beats = times.map { Event(at: $0, Beat(beatsPerMinute: 120, position: 1, confidence: 1)) }
        try run(sink(folder("a.mid")), headers: [header()], beats: beats)
        let file = try #require(MIDIReader([UInt8](try Data(contentsOf: URL(fileURLWithPath: folder("a.mid"))))))
        #expect(file.clicks.count == times.count)
        for (click, time) in zip(file.clicks, times) { #expect(abs(click.time - time) < 0.01, "\(click.time), not \(time)") }
    }

    @Test func `midi, beats centuries apart, as in a damaged recording: delays of at most four bytes`() throws {
        let beats = [-1e11, 1, 1e10].map { Event(at: $0, Beat(beatsPerMinute: 120, position: 1, confidence: 1)) }
        try run(sink(folder("a.mid")), headers: [header()], beats: beats)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder("a.mid"))))
        let file = try #require(MIDIReader(bytes))
        #expect(!file.clicks.isEmpty && bytes.count < 100_000)
    }

    // MARK: - Interrupted

    private func interrupt(_ sink: any Sink, live: Bool) throws {
        try sink.open(SinkContext(name: "beats", timing: SinkTiming(isLive: live), run: RunScope(isComplete: { false })))
        var header = header()
        header.isLive = live
        try sink.begin(header)
        try sink.end(StreamSummary(frames: 2048, batches: 2, reason: .interrupted, lateEvents: Array(Self.beats.suffix(1))))
        try sink.close()
    }

    @Test(arguments: ["text", "audacity", "json", "jams", "midi", "xtiming"])
    func `interrupted run from files: an old file is unchanged, and no document is written`(format: String) throws {
        try folder.write("old", to: "a")
        try interrupt(sink(folder("a"), format: format), live: false)
        #expect(try folder.text(of: "a") == "old")
        try interrupt(sink(folder("b"), format: format), live: false)
        #expect(FileManager.default.fileExists(atPath: folder("b")) == ["text", "audacity"].contains(format))
    }

    @Test(arguments: ["text", "json", "jams", "midi"])
    func `live: an interruption completes the file, and an existing file is refused`(format: String) async throws {
        try interrupt(sink(folder("a"), format: format), live: true)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder("a")))
        #expect(!bytes.isEmpty)
        let error = #expect(throws: Problem.self) { try interrupt(sink(folder("a"), format: format), live: true) }
        #expect(error?.message.contains("the file exists") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder("a"))) == bytes)
    }

    @Test(arguments: ["song.flac", "song.WAV", "{stem}.mp3", "table.csv", "a.beats.zst"])
    func `path with the extension of another kind of file: refused, unless the format is set`(path: String) throws {
        let error = #expect(throws: Problem.self) { try sink(folder(path)) }
        #expect(error.map(String.init(describing:))?.contains("unsupported extension") == true)
        _ = try sink(folder("song.flac"), format: "text")
    }

    @Test(arguments: ["t.csv", "t.json", "t.mid", "t.dat"])
    func `tempo with an extension that is not of text: refused with the way to a table`(path: String) throws {
        let error = #expect(throws: Problem.self) { try sink(folder(path), format: "tempo") }
        #expect(error?.message.contains("--summary --select rhythm.bpm") == true)
        for path in ["-", folder("t.txt"), folder("t")] { _ = try sink(path, format: "tempo") }
    }

    @Test(arguments: BeatFormat.allCases)
    func `several inputs in a file: only of formats that can tell them apart`(format: BeatFormat) throws {
        let several: [BeatFormat] = [.auto, .text, .json, .rekordbox, .tempo]
        let spec = PluginSpec("beats", settings: ["format": .text(format.rawValue)])
        let needs = SinkPlugin.beats.needs(try SinkPlugin.beats.about.values(from: spec))
        #expect(needs.outputs.map(\.takesSeveralInputs) == [several.contains(format)])
    }

    @Test(arguments: ["a", "a.txt", "a.beats", "a.LAB", "a.tsv", "-"]) func `path with a text extension or none: text`(path: String) throws
    {
        _ = try sink(path == "-" ? path : folder(path))
    }

    @Test func `unknown placeholder: refused`() {
        #expect(throws: Problem.self) { try sink("{stm}.beats") }
    }

    @Test(arguments: ["text", "audacity", "json", "jams", "midi", "xtiming"]) func `no beats: a valid empty file`(format: String) throws {
        let sink = try sink(folder("a"), format: format)
        try sink.open(SinkContext(name: "beats"))
        try sink.begin(header())
        try sink.end(StreamSummary(frames: 2048, batches: 2, reason: .endOfInput))
        try sink.close()
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder("a"))))
        #expect(bytes.isEmpty == ["text", "audacity"].contains(format))
        if format == "midi" { #expect(MIDIReader(bytes)?.clicks.isEmpty == true) }
    }

    // MARK: - Faults

    private func error(of sink: any Sink, writing event: Event) -> Problem? {
        do throws(Problem) {
            try sink.write([event])
            return nil
        } catch {
            return error
        }
    }

    @Test(.enabled(if: TemporaryDisk.isAvailable, "a tmpfs can be mounted by root only"), arguments: [0, 4])
    func `live text on a full disk that has space again: every line is written once`(room: Int) throws {
        let disk = try TemporaryDisk(kibibytes: 64)
        try disk.fill(leaving: room)
        let sink = try sink(disk("a.txt"))
        try sink.open(SinkContext(name: "beats", timing: SinkTiming(isLive: true)))
        var header = header()
        header.isLive = true
        try sink.begin(header)
        var failures = 0
        for second in 0..<600 {
            let beat = Event(at: Double(second), Beat(beatsPerMinute: 60, position: 1, confidence: 1))
            while let error = error(of: sink, writing: beat) {
                try #require(error.remedy == .retry && failures < 3, "\(error)")
                failures += 1
                if failures == 2 { try disk.free() }
            }
        }
        try sink.end(StreamSummary(frames: 600 * 1024, batches: 600, reason: .interrupted))
        try sink.close()
        #expect(failures == 2)
        #expect(try disk.text(of: "a.txt") == (0..<600).map { "\($0).0\t1\n" }.joined())
    }

    @Test(arguments: ["jams", "midi"]) func `two inputs in one document: error that suggests {stem}`(format: String) async throws {
        let sink = try sink(folder("a"), format: format)
        let error = #expect(throws: Problem.self) { try run(sink, headers: [header(), header()]) }
        #expect(error?.message.contains("{stem}") == true)
        // No partial file is left.
        try sink.close()
        #expect(!FileManager.default.fileExists(atPath: folder("a")))
    }

    @Test func `empty path, unknown format: configuration error`() {
        #expect(throws: Problem.self) { try sink("") }
        #expect(throws: Problem.self) { try sink("a", format: "mp3") }
    }
}
