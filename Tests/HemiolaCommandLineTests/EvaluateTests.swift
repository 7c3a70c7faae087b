import HemiolaRecords
import TestSupport
import Testing

@testable import HemiolaCommandLine

@Suite struct EvaluateTests {
    private func command(_ arguments: [String] = []) throws -> EvaluateCommand {
        try HemiolaCommandLineTests.command(EvaluateCommand.self, ["a", "b"] + arguments)
    }

    private func value(_ key: String, _ figures: [EvaluateCommand.Figure]) -> Double? {
        figures.first { $0.key == key }?.value.double
    }

    // MARK: - Files

    @Test(arguments: [
        ("0.5\n1.25 2\n# a comment\n\n2\t1\r\n", [0.5, 1.25, 2], [0, 2, 1]), ("2\t1\n1 4\n", [1, 2], [4, 1]), ("", [], []),
        ("0.5\tdrum\n", [0.5], [0]),
    ])
    func `text file: one event per line`(text: String, times: [Double], positions: [Int]) throws {
        let events = try EventTimes(text, kind: .beat, title: "t")
        #expect(events.times == times && events.positions == positions && events.emitted == nil)
    }

    @Test func `records: beats and onsets are read separately`() throws {
        let text = """
            {"type":"header","schema":2}
            {"type":"beat","t":1.5,"bpm":120.0,"position":1,"confidence":0.9,"emitted_t":1.4,"due_in_s":0.1}
            {"type":"onset","t":1.51,"strength":1.0,"emitted_t":1.6}
            {"type":"beat","t":2.0,"bpm":120.0,"position":null,"confidence":0.9,"emitted_t":2.25,"due_in_s":-0.25}
            """
        let beats = try EventTimes(text, kind: .beat, title: "t")
        #expect(beats.times == [1.5, 2] && beats.positions == [1, 0] && beats.downbeats == [1.5])
        // Announced event: at its own time. Late event: when it was emitted.
        #expect(beats.actionable == [1.5, 2.25])
        #expect(try EventTimes(text, kind: .onset, title: "t").times == [1.51])
    }

    @Test(arguments: [
        ("1\nx y", 2, "does not begin with a time"), ("-1", 1, "not begin with a time"), ("nan", 1, "not begin with a time"),
        ("1\n1,5", 2, "not begin with a time"), ("6;7", 1, "not begin with a time"), ("0x10", 1, "not begin with a time"),
        ("inf", 1, "not begin with a time"), ("1_0", 1, "not begin with a time"),
        ("{\"type\":", 1, "invalid JSON at byte 9"),
    ])
    func `invalid line: error with its number`(text: String, line: Int, message: String) throws {
        let failure = try #require(throws: Failure.self) { try EventTimes(text, kind: .beat, title: "t") }
        #expect(failure.lines[0].hasPrefix("t:\(line): ") && failure.lines[0].contains(message))
    }

    @Test func `byte order mark: ignored`() throws {
        let folder = try TemporaryFolder()
        try folder.write("\u{FEFF}0.5 1\n1.0 2\n", to: "a.beats")
        try folder.write("0.5 1\n1.0 2\n", to: "b.beats")
        let command = try command(["--skip", "0"])
        let (first, second) = (try command.events(folder("a.beats")), try command.events(folder("b.beats")))
        #expect(first == second && first.times == [0.5, 1])
    }

    @Test func `invalid line: error with file name and line number`() throws {
        let folder = try TemporaryFolder()
        try folder.write("0.5\n1,5\n", to: "a.beats")
        let failure = try #require(throws: Failure.self) { try command().events(folder("a.beats")) }
        #expect(failure.lines[0].contains("a.beats:2: \"1,5\" does not begin with a time in seconds"), "\(failure.lines)")
    }

    // MARK: - Scores

    @Test func `beats: scored; downbeats and emission times scored if present`() throws {
        let beats = (0..<40).map { "\(Double($0) * 0.5) \($0 % 4 + 1)" }.joined(separator: "\n")
        let records = (0..<40).map {
            let time = Double($0) * 0.5
            return #"{"type":"beat","t":\#(time),"position":\#(($0 + 2) % 4 + 1),"emitted_t":\#(time + 0.1)}"#
        }
        let figures = try command().figures(
            try EventTimes(beats, kind: .beat, title: "t"), try EventTimes(records.joined(separator: "\n"), kind: .beat, title: "t"))
        #expect(value("f", figures) == 1 && value("amlt", figures) == 1)
        #expect(value("downbeat_f", figures) == 0 && value("f_when_emitted", figures) == 0)
        #expect(EvaluateCommand.table(figures).hasPrefix("annotated       30\nestimated       30\nF               1.000\n"))
        #expect(EvaluateCommand.json(figures).line.hasPrefix(#"{"reference":30,"estimate":30,"f":1.0,"#))
    }

    @Test func `onsets: tolerance of 50 ms, no excluded start`() throws {
        let figures = try command(["--onsets"]).figures(
            try EventTimes("0\n1\n2", kind: .onset, title: "t"), try EventTimes("0.04\n1.06\n2", kind: .onset, title: "t"))
        #expect(value("f", figures) == 2.0 / 3 && value("cemgil", figures) == nil)
        #expect(
            try value(
                "recall",
                command(["--onsets", "--skip", "0.5"]).figures(
                    EventTimes("0\n1\n2", kind: .onset, title: "t"), EventTimes("0.04\n1.06\n2", kind: .onset, title: "t"))) == 0.5)
    }

    @Test func `file without an end: refused`() throws {
        #expect(throws: Failure.self) { try command().events("/dev/zero") }
    }

    @Test(arguments: [["--skip", "-1"], ["--skip", "nan"]]) func `invalid --skip: refused`(arguments: [String]) {
        #expect(throws: Failure.self) { try command(arguments) }
    }
}

extension EventTimes {
    fileprivate init(_ text: String, kind: Kind, title: String) throws {
        var reader = Reader(kind: kind, title: title)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            try reader.add(Array(line.utf8), index + 1)
        }
        self = reader.times
    }
}
