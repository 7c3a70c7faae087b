import BeatsSink
import Foundation
import Glibc
import Hemiola
import TestSupport
import Testing

/// The documents, read by an XML parser, and the packages mido, jams and OpenTimelineIO.
@Suite struct LibraryFormatTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func header(_ name: String) -> StreamHeader {
        StreamHeader(
            source: StreamSource(format: StreamFormat(sampleRate: 1024, channelCount: 1), kind: "file", path: name), file: name,
            isLive: false, batching: .standard, seed: 0, analyzers: [])
    }

    private func sink(_ path: String, format: String? = nil, settings: [String: ParameterValue] = [:]) throws -> any Sink {
        var spec = PluginSpec("beats", primary: .text(path))
        spec.settings.merge(settings) { $1 }
        spec.settings["format"] = format.map { .text($0) }
        return try SinkPlugin.beats.make(SinkPlugin.beats.about.values(from: spec))
    }

    private func run(_ sink: any Sink, _ headers: [StreamHeader], _ beats: [Event], seconds: Int64 = 2) throws {
        try sink.open(SinkContext(name: "beats"))
        for header in headers {
            try sink.begin(header)
            if !beats.isEmpty { try sink.write(beats) }
            try sink.end(StreamSummary(frames: 1024 * seconds, batches: seconds, reason: .endOfInput))
        }
        try sink.close()
    }

    /// The output lines of a Python script.
    private func python(_ script: String, _ arguments: [String]) throws -> [String] {
        let python = try #require(Tool.location(of: Tool.python))
        let outcome = try ChildProcess.run(python, ["-c", script] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.lines
    }

    private func realPath(_ path: String) throws -> String {
        let resolved = try #require(realpath(path, nil))
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Beats at constant tempi: sections of a tempo, a number of beats and a number of beats per bar; 0: no positions.
    private static func beats(_ sections: [(bpm: Double, count: Int, bar: Int)]) -> [Event] {
        var (time, events) = (0.25, [Event]())
        for section in sections {
            for index in 0..<section.count {
                let position = section.bar == 0 ? nil : index % section.bar + 1
                events.append(Event(at: time, Beat(beatsPerMinute: section.bpm, position: position, confidence: 1)))
                time += 60 / section.bpm
            }
        }
        return events
    }

    // MARK: - xLights and editors

    private static func section(_ label: ParameterValue, role: ParameterValue = .none, at time: Double) -> Event {
        let fields: [Field] = [.text("label", nullable: true, "Its label."), .text("role", nullable: true, "Its role.")]
        return Event(at: time, RecordType("segment", "A segment begins.", fields: fields), label, role)
    }

    /// Reads the file as `SequenceFile::ProcessXTiming` of xLights does.
    private static let readTimings = """
        import sys, xml.etree.ElementTree as tree
        root = tree.parse(sys.argv[1]).getroot()
        assert root.tag == "timings"
        for timing in root.findall("timing"):
            print(timing.get("name"))
            for layer in timing.findall("EffectLayer"):
                for effect in layer.findall("Effect"):
                    print(ascii(effect.get("label")), int(effect.get("starttime")), int(effect.get("endtime")))
        """

    @Test func `xtiming: a track of sections, of bars and of beats, each until the next`() throws {
        let beats = [(0.5, nil), (1, 1), (1.5, 2), (1.8, 1)].map { time, position in
            Event(at: time, Beat(beatsPerMinute: 120, position: position, confidence: 1))
        }
        try run(sink(folder("a.xtiming")), [header("a.wav")], [Self.section(.text("A<\u{e9}"), at: 0), Self.section(.none, at: 1)] + beats)
        // The last beat would be longer than the song, which has two seconds.
        #expect(
            try python(Self.readTimings, [folder("a.xtiming")]) == [
                "Sections", "'A<\\xe9' 0 1000", "'2' 1000 2000", "Bars", "'1' 1000 1800", "'2' 1800 2000", "Beats", "'' 500 1000",
                "'1' 1000 1500", "'2' 1500 1800", "'1' 1800 2000",
            ])
    }

    private static func phrase(_ bar: Int, at time: Double) -> Event {
        Event(at: time, RecordType("phrase", "A bar begins.", fields: [.integer("bar", "Its number.")]), .integer(bar))
    }

    @Test func `sections: with the nearest phrase, or four bars of one, within 2 s, the first one with the song; with their roles`() throws
    {
        var sections = [0, 9, 15.9, 28, 40].enumerated().map { Self.section(.text("\($0)"), at: $1) }
        sections.append(Self.section(.text("5"), role: .text("outro"), at: 41))
        let phrases = [(8.0, 1), (10, 2), (12, 3), (14, 4), (16, 5), (24, 1), (41.5, 5)].map { Self.phrase($1, at: $0) }
        try run(sink(folder("a.xtiming")), [header("a.wav")], sections + phrases, seconds: 60)
        #expect(
            try python(Self.readTimings, [folder("a.xtiming")]) == [
                "Sections", "'0' 0 8000", "'1' 8000 16000", "'2' 16000 28000", "'3' 28000 41500", "'5 outro' 41500 60000",
            ])
    }

    /// The title, and the frames of the markers with their names and colours.
    private static let readMarkers = """
        import sys, opentimelineio
        timeline = opentimelineio.adapters.read_from_file(sys.argv[1], adapter_name="cmx_3600", rate=int(sys.argv[2]))
        print(timeline.name)
        for clip in timeline.find_clips():
            place, = clip.metadata["cmx_3600"]["comments"]
            assert clip.duration().value == 1
            print(int(clip.range_in_parent().start_time.value), place)
        """

    @Test(arguments: [(fps: "25", count: "25", frames: [0, 5, 15, 25]), ("29.97", "30", [0, 6, 18, 30])])
    func `edl: a marker on each frame with a section, a bar or a beat, as DaVinci Resolve has them`(
        fps: String, count: String, frames: [Int]
    ) throws {
        let beats = [(0.2, 1), (0.6, 2), (1, 1)].map { time, position in
            Event(at: time, Beat(beatsPerMinute: 150, position: position, confidence: 1))
        }
        let sections = [Self.section(.text("A"), at: 0), Self.section(.text("B|\n"), at: 1)]
        try run(sink(folder("a.edl"), settings: ["fps": .number(Double(fps)!)]), [header("music/a.wav")], sections + beats)
        #expect(
            try python(Self.readMarkers, [folder("a.edl"), count]) == [
                "a", "\(frames[0]) |C:ResolveColorRed |M:Section A |D:1", "\(frames[1]) |C:ResolveColorBlue |M:Bar 1 |D:1",
                "\(frames[2]) |C:ResolveColorCyan |M:Beat 2 |D:1", "\(frames[3]) |C:ResolveColorRed |M:Section B/\\n |D:1",
            ])
        #expect(try folder.text(of: "a.edl").contains("\n001  001      V     C        01:00:00:00 01:00:00:01 01:00:00:00 01:00:00:01\n"))
    }

    @Test func `edl, a long piece at 59,94 frames a second: each marker within half a frame of its beat`() throws {
        let beats = Self.beats([(128.5, 8000, 4)])
        try run(sink(folder("a.edl"), settings: ["fps": .number(59.94)]), [header("a.wav")], beats)
        let frames = try python(Self.readMarkers, [folder("a.edl"), "60"]).dropFirst().map { try #require(Double($0.prefix { $0 != " " })) }
        #expect(frames.count == beats.count)
        // The first event is at the beginning of the timeline of OpenTimelineIO.
        let first = (beats[0].time * 60_000 / 1001).rounded()
        for (frame, beat) in zip(frames, beats) { #expect(abs((frame + first) / 60_000 * 1001 - beat.time) < 0.0084) }
    }

    @Test func `edl without a frame rate, with one that does not exist, a frame rate without an edl: errors that say what to do`() {
        for (path, fps, text) in [("a.edl", nil, "--fps 25"), ("a.edl", 23.5, "29.97"), ("a.jams", 25.0, "leave out fps")] {
            let error = #expect(throws: Problem.self) { try sink(folder(path), settings: ["fps": fps.map { .number($0) } ?? .none]) }
            #expect(error?.message.contains(text) == true, "\(String(describing: error))")
        }
    }

    // MARK: - Rekordbox

    private static let readRekordbox = """
        import sys, urllib.parse, xml.etree.ElementTree as tree
        root = tree.parse(sys.argv[1]).getroot()
        assert root.tag == "DJ_PLAYLISTS" and root.get("Version") == "1.0.0" and root.find("PRODUCT").get("Name") == "Hemiola"
        tracks = root.findall("COLLECTION/TRACK")
        assert int(root.find("COLLECTION").get("Entries")) == len(tracks)
        for track in tracks:
            url = urllib.parse.urlsplit(track.get("Location"))
            assert url.scheme == "file" and url.netloc == "localhost"
            print(*[ascii(track.get(name)) for name in ("TrackID", "Name", "Artist", "TotalTime", "AverageBpm", "SampleRate", "Kind")])
            print(ascii(urllib.parse.unquote(url.path)))
            for tempo in track.findall("TEMPO"):
                print("TEMPO", *[tempo.get(name) for name in ("Inizio", "Bpm", "Metro", "Battito")])
            for mark in track.findall("POSITION_MARK"):
                print("MARK", *[mark.get(name) for name in ("Name", "Type", "Start", "Num")])
        """

    @Test(.enabled(if: Tool.python(module: "xml").isExpected))
    func `rekordbox, several inputs: one collection with grids and cues`() throws {
        let name = folder("A & B's \"100 %\" <é>.flac")
        try folder.write("", to: "A & B's \"100 %\" <é>.flac")
        var tagged = header(name)
        (tagged.source.tags.title, tagged.source.tags.artist) = ("<T> & \"t\"\u{1}\n", "Ü\u{9B}\u{202E}")
        let beats = Array(Self.beats([(120, 16, 4)]).dropFirst(2))
        try run(sink(folder("a.xml")), [tagged, header("/nowhere/two.mp3")], beats)
        let path = try realPath(name).replacing("'", with: "\\'").replacing("é", with: "\\xe9")
        #expect(
            try python(Self.readRekordbox, [folder("a.xml")]) == [
                #"'1' '<T> & "t"\ufffd\n' '\xdc\x9b\u202e' '2' '120.0' '1024' 'FLAC File'"#, "'\(path)'",
                "TEMPO 1.25 120.0 4/4 3", "MARK First downbeat 0 2.25 -1",
                "'2' 'two' '' '2' '120.0' '1024' 'MP3 File'", "'/nowhere/two.mp3'", "TEMPO 1.25 120.0 4/4 3",
                "MARK First downbeat 0 2.25 -1",
            ])
        #expect(try folder.text(of: "a.xml").contains("Artist=\"Ü&#155;&#8238;\""))
    }

    @Test(
        .enabled(if: Tool.python(module: "xml").isExpected),
        arguments: [
            ([(104.03, 600, 3)], ["TEMPO 0.25 104.03 3/4 1"]),
            ([(120, 8, 0)], ["TEMPO 0.25 120.0 4/4 1"]),
            ([(120, 8, 4), (90, 8, 4)], ["TEMPO 0.25 120.0 4/4 1", "TEMPO 4.25 90.0 4/4 1"]),
            ([(120, 6, 4), (120, 16, 4)], ["TEMPO 0.25 120.0 4/4 1", "TEMPO 3.25 120.0 4/4 1"]),
            ([(120, 1, 4)], []), ([], []),
        ] as [([(Double, Int, Int)], [String])])
    func `rekordbox: a section per tempo and metre`(sections: [(Double, Int, Int)], expected: [String]) throws {
        try run(sink(folder("a.xml")), [header("/a.wav")], Self.beats(sections.map { (bpm: $0.0, count: $0.1, bar: $0.2) }))
        #expect(try python(Self.readRekordbox, [folder("a.xml")]).filter { $0.hasPrefix("TEMPO") } == expected)
    }

    /// Beats with errors in seconds, and positions that count up from `first`.
    private func beats(_ bpm: Double, count: Int, from start: Double, first: Int = 1, error: (Int) -> Double) -> [Event] {
        (0..<count).map { index in
            let position = (first - 1 + index) % 4 + 1
            return Event(at: start + Double(index) * 60 / bpm + error(index), Beat(beatsPerMinute: bpm, position: position, confidence: 1))
        }
    }

    private func tempi(_ events: [Event]) throws -> [String] {
        try run(sink(folder("a.xml")), [header("/a.wav")], events)
        return try python(Self.readRekordbox, [folder("a.xml")]).filter { $0.hasPrefix("TEMPO") }
    }

    @Test(.enabled(if: Tool.python(module: "xml").isExpected), arguments: [5, 37, 400])
    func `rekordbox, a steady song whose first and last beats have errors: one section`(middle: Int) throws {
        let count = middle + 16
        // ±14 ms, beside 0: one tempo through the first beat itself does not meet all of them.
        let jitter = try tempi(
            beats(124, count: count, from: 0.25) { (8..<count - 8).contains($0) ? 0 : Double($0 * 7919 % 29 - 14) / 1000 })
        #expect(jitter.count == 1, "\(jitter)")
        // A tracker that finds the tempo with the first three beats, and slows down in the silence after the end.
        let lost = try tempi(
            beats(124, count: count, from: 0.25, first: 3) { $0 < 3 ? 0.045 - 0.004 * Double($0) : 0.03 * Double(max(0, $0 - count + 5)) })
        #expect(lost == ["TEMPO 0.25 124.0 4/4 3"])
        // The first beat is cut off: on the grid it is before the start of the file.
        #expect(try tempi(beats(124, count: count, from: -0.003) { $0 == 0 ? 0.004 : 0 }) == ["TEMPO 0.0 124.0 4/4 1"])
        #expect(try tempi(beats(124, count: count, from: -0.02) { $0 == 0 ? 0.021 : 0 }) == ["TEMPO 0.464 124.0 4/4 2"])
    }

    @Test(.enabled(if: Tool.python(module: "xml").isExpected))
    func `rekordbox, first positions unknown or wrong: the section has those of the others`() throws {
        for wrong in [nil, 2] {
            var events = beats(124, count: 64, from: 0.25, first: 2) { _ in 0 }
            for index in 0..<3 { events[index] = Event(at: events[index].time, Beat(beatsPerMinute: 124, position: wrong, confidence: 1)) }
            #expect(try tempi(events) == ["TEMPO 0.25 124.0 4/4 2"])
        }
    }

    @Test(.enabled(if: Tool.python(module: "xml").isExpected))
    func `rekordbox, the tempo changes once: two sections, also with errors`() throws {
        func error(_ index: Int) -> Double { Double(index * 7919 % 13 - 6) / 1000 }
        let second = 0.25 + 6000.0 / 124
        let events = beats(124, count: 100, from: 0.25, error: error) + beats(98, count: 80, from: second, error: error)
        let found = try tempi(events).map { line in line.split(separator: " ").dropFirst().compactMap { Double($0) } }
        try #require(found.count == 2, "\(found)")
        #expect(abs(found[0][0] - 0.25) < 0.015 && abs(found[0][1] - 124) < 0.04, "\(found)")
        #expect(abs(found[1][0] - second) < 0.015 && abs(found[1][1] - 98) < 0.04, "\(found)")
    }

    @Test(.enabled(if: Tool.python(module: "xml").isExpected))
    func `rekordbox, a tempo that drifts: every beat but four at either end within 15 ms of the grid`() throws {
        var (time, events) = (0.1, [Event]())
        for index in 0..<400 {
            let jitter = Double(index * 7919 % 13 - 6) / 1000
            events.append(Event(at: time + jitter, Beat(beatsPerMinute: 120, position: index % 4 + 1, confidence: 1)))
            time += 60 / (118 + 4 * sin(Double(index) / 40))
        }
        try run(sink(folder("a.xml")), [header("/a.wav")], events)
        let sections = try python(Self.readRekordbox, [folder("a.xml")]).filter { $0.hasPrefix("TEMPO") }.map { line in
            let words = line.split(separator: " ")
            return (start: Double(words[1])!, bpm: Double(words[2])!, position: Int(words[4])!)
        }
        #expect(sections.count > 3 && sections.count < 60)
        for (index, event) in events.enumerated().dropFirst(4).dropLast(4) {
            // Times are written in milliseconds.
            let section = try #require(sections.last { $0.start <= event.time + 0.0006 })
            let count = ((event.time - section.start) * section.bpm / 60).rounded()
            #expect(abs(section.start + count * 60 / section.bpm - event.time) < 0.0156, "\(index)")
            #expect((section.position - 1 + Int(count)) % 4 == index % 4, "\(index)")
        }
    }

    @Test func `rekordbox, a live stream: refused`() throws {
        let sink = try sink(folder("a"), format: "rekordbox")
        var header = header("monitor")
        header.isLive = true
        try sink.open(SinkContext(name: "beats", timing: SinkTiming(isLive: true)))
        let error = #expect(throws: Problem.self) { try sink.begin(header) }
        #expect(error?.message.contains("describes sound files") == true)
        #expect(folder.names == [])
    }

    @Test func `rekordbox: by the extension of the path`() throws {
        try run(sink(folder("a.xml")), [header("/a.wav")], Self.beats([(120, 8, 4)]))
        #expect(try folder.text(of: "a.xml").hasPrefix("<?xml "))
    }

    // MARK: - MIDI

    /// The time signatures with their ticks, and the notes on downbeats that do not begin a bar.
    private static let readMIDI = """
        import sys, mido
        file = mido.MidiFile(sys.argv[1])
        assert file.type == 1 and file.ticks_per_beat == 480
        ticks, signatures = [], []
        for track in file.tracks:
            tick = 0
            for message in track:
                tick += message.time
                if message.type == "time_signature":
                    signatures.append((tick, message.numerator, message.denominator))
                if message.type == "note_on" and message.note == 34:
                    ticks.append(tick)
        for tick, *signature in signatures:
            print(tick, *signature)
        for tick in ticks:
            start, beats, _ = [signature for signature in signatures if signature[0] <= tick][-1]
            if (tick - start) % (480 * beats):
                print("not a downbeat:", tick)
        """

    @Test(
        .enabled(if: Tool.python(module: "mido").isExpected),
        arguments: [
            // The first beat is one quarter note after the start.
            (0, [(120, 8, 4)], ["0 1 4", "480 4 4"]), (0, [(104, 9, 3)], ["0 1 4", "480 3 4"]),
            (0, [(120, 8, 0)], ["0 4 4"]), (0, [], ["0 4 4"]), (0, [(120, 1, 4)], ["0 1 4", "480 4 4"]),
            (0, [(120, 8, 4), (120, 9, 3)], ["0 1 4", "480 4 4", "4320 3 4"]),
            (0, [(120, 6, 2), (120, 9, 4)], ["0 1 4", "480 2 4", "3360 4 4"]),
            // Bars of four whose first beats are unknown, and one of two.
            (0, [(120, 8, 4), (120, 8, 0), (120, 8, 4)], ["0 1 4", "480 4 4"]),
            (0, [(120, 10, 4), (120, 8, 4)], ["0 1 4", "480 4 4", "4320 2 4", "5280 4 4"]),
            // The first beat is the third in its bar, after three quarter notes of silence; the fourth, after four.
            (2, [(120, 12, 4)], ["0 1 4", "480 4 4"]), (3, [(120, 12, 4)], ["0 1 4", "480 4 4"]),
            // 40 s without beats are 80 quarter notes, 2 h 14 400: the bar before the next downbeat is shorter.
            (0, [(120, 7, 4), (1.5, 1, 0), (120, 8, 4)], ["0 1 4", "480 4 4", "40800 3 4", "42240 4 4"]),
            (0, [(120, 7, 4), (0.0083333333333, 1, 0), (120, 8, 4)], ["0 1 4", "480 4 4", "6914400 3 4", "6915840 4 4"]),
        ] as [(Int, [(Double, Int, Int)], [String])])
    func `midi: time signatures of the bars, which begin on the downbeats`(
        missing: Int, sections: [(Double, Int, Int)], expected: [String]
    ) throws {
        let events = Self.beats(sections.map { (bpm: $0.0, count: $0.1, bar: $0.2) })
        try run(sink(folder("a.mid")), [header("/a.wav")], Array(events.dropFirst(missing)))
        #expect(try python(Self.readMIDI, [folder("a.mid")]) == expected)
    }

    // MARK: - JAMS

    @Test(.enabled(if: Tool.python(module: "jams").isExpected))
    func `jams: valid, with the tags of the file; without tags its name`() throws {
        let read = """
            import sys, jams
            file = jams.load(sys.argv[1], validate=True, strict=True)
            data = file.file_metadata
            print(ascii(data.title), ascii(data.artist), ascii(data.release), data.duration)
            print(*[(annotation.namespace, len(annotation.data)) for annotation in file.annotations])
            """
        var tagged = header("music/a.flac")
        (tagged.source.tags.title, tagged.source.tags.artist, tagged.source.tags.album) = ("Ä \"b\"\n", "C", "D")
        try run(sink(folder("a.jams")), [tagged], Self.beats([(120, 3, 4)]))
        #expect(try python(read, [folder("a.jams")]) == [#"'\xc4 "b"\n' 'C' 'D' 2.0"#, "('beat', 3)"])
        try run(sink(folder("b.jams")), [header("music/a.flac")], Self.beats([(120, 3, 4)]))
        #expect(try python(read, [folder("b.jams")]) == ["'music/a.flac' '' '' 2.0", "('beat', 3)"])
    }
}
