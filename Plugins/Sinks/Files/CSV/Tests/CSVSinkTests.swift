import CSVSink
import Foundation
import Glibc
import Hemiola
import HemiolaTesting
import HemiolaVisualizer
import TestSupport
import Testing

@Suite struct CSVSinkTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func message(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    // MARK: Batches

    @Test func `several batches: one row each, missing values are empty fields`() async throws {
        try Fixture.run(Fixture.sink(folder("a.csv")))
        #expect(
            try folder.text(of: "a.csv") == """
                n,frame,t,levels.rms_db,levels.peak_db,levels.channel_rms_db[0],levels.channel_rms_db[1]
                0,0,0.0,-13.012,-10.004,-12.5,-13.6
                1,1024,0.02322,-13.012,-10.254,,

                """)
    }

    @Test func `select: only the selected columns`() async throws {
        try Fixture.run(Fixture.sink(folder("a.csv")), select: ["levels.peak_db"])
        #expect(try folder.text(of: "a.csv") == "n,frame,t,levels.peak_db\n0,0,0.0,-10.004\n1,1024,0.02322,-10.254\n")
        #expect(folder.names == ["a.csv"])
    }

    @Test func `several files: each row has the name of its file`() async throws {
        let name = "a \"live\", long\nname.wav"
        try Fixture.run(Fixture.sink(folder("a.csv")), headers: [Fixture.header(file: "x.wav"), Fixture.header(file: name)])
        let table = try folder.table("a.csv")
        #expect(table[0].prefix(2) == ["file", "n"])
        #expect(table.dropFirst().map { $0[0] } == ["x.wav", "x.wav", name, name])
        #expect(try folder.text(of: "a.csv").contains("\n\"a \"\"live\"\", long\nname.wav\",0,0,0.0,"))
    }

    // MARK: Fixed columns

    @Test func `stream without one of the columns: empty fields`() async throws {
        try Fixture.run(Fixture.sink(folder("a.csv")), headers: [Fixture.header(), Fixture.header(channels: 1)])
        let table = try folder.table("a.csv")
        #expect(Set(table.map(\.count)) == [7])
        #expect(table[3] == ["0", "0", "0.0", "-13.012", "-10.004", "-12.5", ""])
    }

    @Test func `stream with a new column: refused, with the setting that avoids it`() async throws {
        let message = await message {
            try Fixture.run(Fixture.sink(folder("a.csv")), headers: [Fixture.header(channels: 1), Fixture.header()])
        }
        #expect(message?.hasPrefix("cannot write \(folder("a.csv")): a stream has the column levels.channel_rms_db[1]") == true)
        #expect(message?.contains("select=") == true)
        #expect(folder.names == [])
    }

    @Test func `stream without batches: does not define the columns`() throws {
        let sink = try Fixture.sink(folder("a.csv"))
        try sink.open(SinkContext(name: "csv"))
        try sink.begin(Fixture.header(channels: 1))
        try sink.end(Fixture.summary())
        try sink.begin(Fixture.header())
        try sink.write(Fixture.block())
        try sink.close()
        #expect(try folder.table("a.csv")[0].last == "levels.channel_rms_db[1]")
    }

    @Test func `only a stream without batches: a header row`() throws {
        let sink = try Fixture.sink(folder("a.csv"))
        try sink.open(SinkContext(name: "csv"))
        try sink.begin(Fixture.header())
        try sink.end(Fixture.summary())
        try sink.close()
        #expect(try folder.table("a.csv").count == 1)
        #expect(try folder.table("a.events.csv").count == 1)
    }

    // MARK: Events

    @Test func `events: a second table in the same folder`() async throws {
        for (path, events) in [("a.csv", "a.events.csv"), ("b", "b.events.csv"), ("c.tsv", "c.tsv.events.csv")] {
            try Fixture.run(Fixture.sink(folder(path)), events: Fixture.onsetAndBeat)
            #expect(try folder.table(events).dropFirst().map { $0[0] } == ["onset", "beat"])
        }
        #expect(folder.names.count == 6)
    }

    @Test func `events=PATH, events=none: written to that path, not written`() async throws {
        try Fixture.run(Fixture.sink(folder("a.csv"), ["events": folder("e.csv")]), events: Fixture.onsetAndBeat)
        #expect(folder.names == ["a.csv", "e.csv"])
        try Fixture.run(Fixture.sink(folder("b.csv"), ["events": "none"]), events: Fixture.onsetAndBeat)
        #expect(folder.names == ["a.csv", "b.csv", "e.csv"])
    }

    @Test func `path of a device: no table of events`() async throws {
        try Fixture.run(Fixture.sink("/dev/null"), events: Fixture.onsetAndBeat)
        #expect(!FileManager.default.fileExists(atPath: "/dev/null.events.csv"))
    }

    @Test func `selection without batches: the table of events is at the path`() async throws {
        try Fixture.run(Fixture.sink(folder("a.csv")), select: ["beat"], events: Fixture.onsetAndBeat)
        #expect(folder.names == ["a.csv"])
        #expect(
            try folder.text(of: "a.csv") == """
                type,t,bpm,position,confidence,emitted_t,due_in_s
                beat,0.5,120.25,1,0.5,0.02322,0.47678

                """)
    }

    @Test func `events after the last batch: written`() async throws {
        try Fixture.run(Fixture.sink(folder("a.csv")), late: Fixture.onsetAndBeat)
        #expect(try folder.table("a.events.csv").count == 3)
    }

    @Test func `text: unchanged when it is read; lists: as JSON`() async throws {
        var analyzerEvent = AnalyzerEvent(output: "note", duration: nil, values: [440, .nan], label: "A4 \"♪\", \\ \u{1}\t\r\n\u{2028}/ü")
        analyzerEvent.analyzer = "levels"
        let ready = StampedControl(Control(.ready, .texts(["a]b", "c\"d,"])), at: 7, from: "test/1")
        try Fixture.run(Fixture.sink(folder("a.csv")), events: [Event(at: 0, analyzerEvent), Event(at: 0, ready)])
        let table = try folder.table("a.events.csv")
        func field(_ row: Int, _ column: String) -> String? { table[0].firstIndex(of: column).map { table[row][$0] } }
        #expect(field(1, "label")?.unicodeScalars.elementsEqual(analyzerEvent.label.unicodeScalars) == true)
        #expect(field(1, "values") == "[440.0,null]")
        #expect(field(1, "duration_s") == "")
        #expect(field(2, "presets") == #"["a]b","c\"d,"]"#)
        #expect(field(2, "frame") == "7")
        #expect(Set(table.map(\.count)).count == 1)
    }

    @Test(arguments: [
        (Event(at: 0.25, Onset(strength: 0.75)), ["strength", "emitted_t"]),
        (
            Event(at: 0.25, Beat(beatsPerMinute: 60, position: 2, confidence: 1)),
            ["bpm", "position", "confidence", "emitted_t", "due_in_s"]
        ),
        (
            Event(at: 0.25, .analyzerEvent, .number(1), .text("levels"), .text("note"), .numbers([1]), .text("x")),
            ["duration_s", "analyzer", "output", "values", "label"]
        ),
        (
            Event(at: 0.25, PresetChange(name: "a", cut: .soft, blend: 2.5, reason: .timer, nextIn: 15)),
            ["frame", "emitted_t", "action", "name", "cut", "blend_s", "reason", "next_in_s"]
        ),
        (Event(at: 0.25, SpeedChange(0.5)), ["speed"]),
        (Event(at: 0.25, KeyStroke(key: "a", note: 60, phase: .down)), ["key", "note", "event"]),
        (
            Event(at: 0.25, DeviceEvent(name: "d", summary: "D", state: .moved, format: .init(sampleRate: 8000, channelCount: 1))),
            ["name", "description", "state", "sample_rate", "channels"]
        ),
        (Event(at: 0.25, Gap(frames: 96_000, reason: .deviceLost)), ["duration_s", "frames", "reason"]),
        (Event(at: 0.25, DropReport(sink: "other", client: "7", batches: 3)), ["sink", "client", "batches", "events"]),
        (Fixture.event(of: Control(Fixture.lockTempo, .number(99))), ["frame", "control", "bpm", "from"]),
        (Fixture.event(of: Control(.setSpeed, .number(0.1))), ["frame", "control", "speed", "from"]),
        (Fixture.event(of: Control(.lockPreset, .boolean(true))), ["frame", "control", "locked", "from"]),
        (Fixture.event(of: Control(.presetNames, .texts(["x"]))), ["frame", "control", "names", "from"]),
        (
            Fixture.event(of: KeyStroke(key: "p", note: 75, phase: .up).control),
            ["frame", "control", "key", "note", "event", "from"]
        ),
        (Fixture.clap, Fixture.clap.type.fields.map(\.name)),
        (
            Fixture.event(of: Control(Fixture.setClap, .integer(3), .texts(["x"]))), ["frame", "control", "hands", "people", "from"]
        ),
    ])
    func `event of each type: a column for every field`(event: Event, names: [String]) async throws {
        try Fixture.run(Fixture.sink(folder("a.csv")), events: [event])
        let table = try folder.table("a.events.csv")
        let filled = zip(table[0], table[1]).filter { !$0.1.isEmpty }.map(\.0)
        #expect(Set(filled) == Set(names + ["type", "t"]))
        #expect(Set(table[0]).count == table[0].count)
    }

    @Test func `events of an external plugin: the columns of its declarations, in their order`() async throws {
        let control = Fixture.event(of: Control(Fixture.setClap, .integer(3), .texts(["x", "y"])))
        try Fixture.run(Fixture.sink(folder("a.csv")), select: ["clap", "control"], events: [Fixture.clap, control])
        #expect(
            try folder.text(of: "a.csv") == """
                type,t,emitted_t,hands,level_db,is_rhythmic,place,manner,people,partials_hz,frame,control,bpm,name,locked,speed,presets,\
                names,key,note,event,from
                clap,0.25,0.02322,2,-6.021,true,"a ""b"", c",loud,"[""x"",""y""]","[440.0,880.13]",,,,,,,,,,,,
                control,0.25,,3,,,,,"[""x"",""y""]",,1,setClap,,,,,,,,,,x

                """)
    }

    @Test func `null values of an external plugin: empty fields`() async throws {
        let clap = Event(at: 0.25, Fixture.clap.type, .none, .number(.nan), .boolean(false), .none, .text("soft"), .texts([]), .numbers([]))
        try Fixture.run(Fixture.sink(folder("a.csv")), select: ["clap"], events: [clap])
        #expect(try folder.table("a.csv")[1] == ["clap", "0.25", "0.02322", "", "", "false", "", "soft", "[]", "[]"])
    }

    // MARK: Files

    @Test func `file output: replaces the old file when it is complete`() throws {
        try folder.write("old", to: "a.csv")
        let sink = try Fixture.sink(folder("a.csv"))
        try sink.open(SinkContext(name: "csv"))
        try sink.begin(Fixture.header())
        try sink.write(Fixture.block())
        #expect(try folder.text(of: "a.csv") == "old")
        #expect(folder.names.filter { $0.hasSuffix(".partial") }.count == 2)
        try sink.end(Fixture.summary())
        try sink.close()
        #expect(folder.names == ["a.csv", "a.events.csv"])
    }

    @Test func `no stream: no file`() throws {
        try folder.write("old", to: "a.csv")
        let sink = try Fixture.sink(folder("a.csv"))
        try sink.open(SinkContext(name: "csv"))
        try sink.close()
        #expect(folder.names == ["a.csv"])
        #expect(try folder.text(of: "a.csv") == "old")
    }

    @Test func `one table cannot be written: neither is created`() async throws {
        let message = await message {
            try Fixture.run(Fixture.sink(folder("a.csv"), ["events": "/dev/full"]), events: Fixture.onsetAndBeat)
        }
        #expect(message == "cannot write /dev/full: the disk is full; free some space or write to another disk")
        #expect(folder.names == [])
    }

    @Test(arguments: 0..<12) func `live, limited file size: only whole rows are kept, for any field content`(excess: Int) async throws {
        // The limit applies to the whole process. It is tested at every byte of a row that has a line end between quotes.
        await #expect(processExitsWith: .success) { [excess] in
            let folder = try TemporaryFolder()
            let header = Fixture.header(file: "a\n\"b\"\nc")
            signal(SIGXFSZ, SIG_IGN)
            let size = rlim_t(3000 + 4 * excess)
            var limit = rlimit(rlim_cur: size, rlim_max: size)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let sink = try Fixture.sink(folder("a.csv"), ["events": "none"])
            var message = ""
            do {
                try sink.open(SinkContext(name: "csv", timing: SinkTiming(isLive: true)))
                try sink.begin(header)
                for _ in 0..<100 { try sink.write(Fixture.block()) }
                Issue.record("it was written after all")
            } catch let error as Problem {
                message = error.message
            }
            let text = try folder.text(of: "a.csv")
            let table = fields(text)
            #expect(text.hasSuffix("\n") && text.utf8.count > Int(size) - 80)
            #expect(Set(table.map(\.count)) == [8] && Set(table.dropFirst().map { $0[0] }) == ["a\n\"b\"\nc"])
            #expect(message.contains("it keeps \(table.count) whole lines of this run, \(text.utf8.count) bytes in all"), "\(message)")
        }
    }

    @Test(.enabled(if: TemporaryDisk.isAvailable, "a tmpfs can be mounted by root only"), arguments: [0, 4])
    func `live tables on a full disk that has space again: every row is written once`(room: Int) throws {
        let disk = try TemporaryDisk(kibibytes: 256)
        try disk.fill(leaving: room)
        var failures = 0
        func repeating(_ call: () throws(Problem) -> Void) throws {
            while true {
                do throws(Problem) {
                    return try call()
                } catch {
                    try #require(error.remedy == .retry && failures < 3, "\(error)")
                    failures += 1
                    if failures == 2 { try disk.free() }
                }
            }
        }
        var header = Fixture.header()
        header.isLive = true
        for path in [disk("a.csv"), folder("a.csv")] {
            let sink = try Fixture.sink(path)
            try sink.open(SinkContext(name: "csv", records: RecordChoice(catalog: Fixture.catalog), timing: SinkTiming(isLive: true)))
            for _ in 0..<200 {
                try repeating { () throws(Problem) in try sink.begin(header) }
                try repeating { () throws(Problem) in try sink.write(Fixture.block(events: Fixture.onsetAndBeat)) }
                try repeating { () throws(Problem) in try sink.end(Fixture.summary()) }
            }
            try sink.close()
        }
        #expect(failures == 2)
        for name in ["a.csv", "a.events.csv"] { #expect(try disk.text(of: name) == folder.text(of: name)) }
    }

    @Test func `closed pipe: the remedy is finish`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        signal(SIGPIPE, SIG_IGN)
        close(ends[0])
        defer { close(ends[1]) }
        do {
            try Fixture.run(Fixture.sink("/dev/fd/\(ends[1])"))
            Issue.record("it was written after all")
        } catch let error as Problem {
            #expect(error.remedy == .finish)
        }
    }

    @Test(arguments: ["a.csv", "a.events.csv", nil])
    func `interrupted run: both tables are kept, or neither where one path has a file`(old: String?) throws {
        if let old { try folder.write("old", to: old) }
        let sink = try Fixture.sink(folder("a.csv"))
        try sink.open(SinkContext(name: "csv", run: RunScope(isComplete: { false })))
        try sink.begin(Fixture.header())
        try sink.write(Fixture.block())
        try sink.close()
        #expect(folder.names == old.map { [$0] } ?? ["a.csv", "a.events.csv"])
        if let old { #expect(try folder.text(of: old) == "old") }
    }

    @Test func `live, per-input path: another device and the return of the first continue the first device's tables`() throws {
        let sink = try Fixture.sink(folder("{stem}.csv"))
        try sink.open(SinkContext(name: "csv", timing: SinkTiming(isLive: true)))
        for name in ["one", "two", "one"] {
            var header = Fixture.header()
            header.source.name = name
            header.isLive = true
            try sink.begin(header)
            try sink.write(Fixture.block())
            try sink.end(Fixture.summary())
        }
        try sink.close()
        #expect(folder.names == ["one.csv", "one.events.csv"])
        #expect(try folder.table("one.csv").map { $0[0] } == ["n", "0", "1", "0", "1", "0", "1"])
    }

    @Test(arguments: [("auto", true, 3), ("auto", false, 0), ("line", false, 3), ("block", true, 0)])
    func `flush: after each row when live or with line, else in blocks`(flush: String, live: Bool, lines: Int) throws {
        let sink = try Fixture.sink(folder("a.csv"), ["flush": flush, "events": "none"])
        try sink.open(SinkContext(name: "csv", timing: SinkTiming(isLive: live)))
        try sink.begin(Fixture.header())
        try sink.write(Fixture.block())
        let partial = try #require(folder.names.first)
        #expect(try folder.table(partial).count == lines)
        try sink.close()
        #expect(try folder.table("a.csv").count == 3)
    }

    @Test func `append, equal header: rows are added`() async throws {
        for _ in 0..<2 { try Fixture.run(Fixture.sink(folder("a.csv"), ["append": "true"]), events: Fixture.onsetAndBeat) }
        #expect(try folder.table("a.csv").map { $0[0] } == ["n", "0", "1", "0", "1"])
        #expect(try folder.table("a.events.csv").count == 5)
    }

    @Test func `append, other columns: refused`() async throws {
        try folder.write("n,frame\n0,0\n", to: "a.csv")
        let message = await message { try Fixture.run(Fixture.sink(folder("a.csv"), ["append": "true"])) }
        #expect(message?.hasPrefix("cannot add to \(folder("a.csv")): it has other columns than this run") == true)
        #expect(folder.names == ["a.csv"])
        #expect(try folder.text(of: "a.csv") == "n,frame\n0,0\n")
    }

    @Test func `append, incomplete last row: new rows start on a new line`() async throws {
        try Fixture.run(Fixture.sink(folder("a.csv")))
        try folder.write(folder.text(of: "a.csv") + "2,20", to: "a.csv")
        try Fixture.run(Fixture.sink(folder("a.csv"), ["append": "true"]))
        #expect(try folder.table("a.csv").map { $0[0] } == ["n", "0", "1", "2", "0", "1"])
    }

    @Test(.enabled(if: Zstd.isExpected, "zstd is not installed"))
    func `compressed tables: the same rows`() async throws {
        for name in ["a.csv", "a.csv.zst"] {
            try Fixture.run(Fixture.sink(folder(name), ["flush": "line"]), events: Fixture.onsetAndBeat)
        }
        #expect(folder.names == ["a.csv", "a.csv.zst", "a.events.csv", "a.events.csv.zst"])
        for name in ["a.csv", "a.events.csv"] {
            let (text, isWhole) = try Zstd.read(folder(name + ".zst"))
            #expect(isWhole)
            #expect(try text == folder.text(of: name))
        }
    }

    @Test(arguments: ["{stem}.csv.zst", "{stem}.csv"]) func `live, compressed table: refused before the first input`(name: String) throws {
        let sink = try Fixture.sink(folder(name), ["events": folder("{stem}.events.csv.zst")])
        let context = SinkContext(name: "csv", records: RecordChoice(catalog: Fixture.catalog), timing: SinkTiming(isLive: true))
        #expect(throws: Problem.self) { try sink.open(context) }
        #expect(folder.names.isEmpty)
    }

    // MARK: Settings

    @Test func `either table on standard output: needs it`() throws {
        func needs(_ path: String, _ settings: [String: String] = [:]) throws -> Bool {
            try SinkPlugin.csv.needs(Fixture.values(path, settings)).standardOutput
        }
        #expect(try needs("-"))
        #expect(try needs("/dev/stdout"))
        #expect(try !needs("a.csv"))
        #expect(try needs("a.csv", ["events": "-"]))
    }

    @Test(arguments: [
        ("", [:], "path: an empty path"), ("a.csv", ["events": "a.csv"], "events: two tables cannot share one file"),
        ("-", ["events": "/dev/stdout"], "events: two tables"),
        ("a.csv.zst", ["append": "true"], "append: nothing can be added to a compressed file"),
        ("a.csv", ["append": "true", "events": "e.zst"], "append: nothing can be added"),
        ("{stm}.csv", [:], "path: there is no placeholder {stm}"), ("a.csv", ["events": "{x}"], "events: there is no placeholder {x}"),
        ("{stem}.csv", ["events": "e.csv"], "events: either both tables are those of one input"),
        ("a.csv", ["append": "true", "rotate_s": "60"], "rotate_s: files are either added to or rotated"),
        ("-", ["rotate_s": "60"], "rotate_s: standard output cannot be rotated"),
    ])
    func `invalid settings: refused when the sink is made`(path: String, settings: [String: String], text: String) {
        #expect {
            try Fixture.sink(path, settings)
        } throws: { error in
            "\(error)".contains(text)
        }
    }

    // MARK: Conformance

    @Test func `conformance tests: passed`() throws {
        // Live runs do not replace a file: each run has its own.
        try SinkConformanceSuite(.csv, settings: folder("a.{n}.csv")).run()
        #expect(folder.names.prefix(2) == ["a.0001.csv", "a.0001.events.csv"])
        #expect(!folder.names.contains { $0.hasSuffix(".partial") })
    }
}
