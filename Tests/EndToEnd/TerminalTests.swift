import Foundation
import TestSupport
import Testing

/// The program on a terminal: the live line, its keys, and a terminal or pipe that accepts no text. `Tests/Terminal` tests the view.
@Suite(.mayNotHang) struct TerminalTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(_ arguments: [String], environment: [String: String] = [:], columns: Int = 100) throws -> TerminalProcess {
        try TerminalProcess(Hemiola.path, arguments, environment: environment, columns: columns)
    }

    /// A list of files that do not exist, whose messages fill a pipe of 4096 bytes many times over.
    private func listOfMissingFiles(_ count: Int = 400, then last: [String] = []) throws -> String {
        let names = (0..<count).map { "a file that does not exist, with a long name, number \($0).wav" } + last
        try folder.write(names.joined(separator: "\n") + "\n", to: "list.txt")
        return folder("list.txt")
    }

    // MARK: - Blocked output

    @Test func `full pipe at standard error: run ends with complete output`() throws {
        let list = try listOfMissingFiles(then: [Hemiola.minuet])
        let process = try ChildProcess(
            Hemiola.path, ["analyze", "--files-from", list, "-o", folder("out.jsonl"), "--analyzer", "levels"], in: folder.path,
            errorPipeSize: 4096)
        let outcome = try process.finishUnread(timeout: 60)
        #expect(outcome.status == 1 && !outcome.wasKilled)
        let records = try Record.all(in: folder.text(of: "out.jsonl"))
        #expect(records.batches.count > 1000 && records.last?.type == "end")
    }

    @Test func `full pipe at standard error: SIGINT ends the run`() throws {
        let list = try listOfMissingFiles(then: [Hemiola.minuet])
        try folder.write("", to: "out.jsonl")
        let process = try ChildProcess(
            Hemiola.path,
            ["analyze", "--realtime", "--files-from", list, "--analyzer", "levels"], in: folder.path,
            output: .path(folder("out.jsonl")), errorPipeSize: 4096)
        try folder.wait(for: "an analysis that goes on behind the full pipe") { try folder.text(of: "out.jsonl").contains("\"batch\"") }
        process.send(SIGINT)
        let outcome = try process.finishUnread(timeout: 30)
        #expect(outcome.status == 130 && !outcome.wasKilled)
        #expect(try Record.all(in: folder.text(of: "out.jsonl")).last?.string("reason") == "interrupted")
    }

    @Test func `terminal held with Ctrl-S: SIGINT ends the live line`() throws {
        let terminal = try start(["listen", "--line", "--capture", "tone:clicks,seconds=0"])
        try terminal.read(until: "dB")
        terminal.type("\u{13}")
        // Reads the output from before the terminal stops; then no more output arrives.
        try terminal.read(for: "pause") { _ in (try? terminal.read(until: "dB", timeout: 0.5)) == nil }
        kill(terminal.identifier, SIGINT)
        #expect(try terminal.finish(reads: false) == 130)
        #expect(terminal.isInLineMode)
    }

    // MARK: - The live line

    @Test(arguments: [[], ["-o", "OUT"], ["--sink", "json-lines:OUT"], ["--sink", "presets:names=Rain+Snow"]])
    func `live line on a terminal: no JSON`(arguments: [String]) throws {
        let output = arguments.map { $0.replacing("OUT", with: folder("out.jsonl")) }
        let terminal = try start(["listen", "--line", "--capture", "tone:clicks,seconds=0"] + output)
        try terminal.read(for: "status lines") { $0.components(separatedBy: "dB").count > 20 }
        terminal.type("q")
        #expect(try terminal.finish() == 0)
        #expect(!terminal.text.contains("{\""), "\(terminal.text.prefix(2000))")
        if arguments.contains(where: { $0.contains("OUT") }) {
            let records = try Record.all(in: folder.text(of: "out.jsonl"))
            #expect(records.batches.count > 10 && records.last?.type == "end")
        }
    }

    @Test(arguments: [["--json"], ["--select", "levels"], ["--sink", "json-lines"]])
    func `JSON requested on a terminal: written`(arguments: [String]) throws {
        let terminal = try start(["listen", "--capture", "tone:clicks,seconds=0.5"] + arguments)
        #expect(try terminal.finish() == 0)
        #expect(terminal.text.contains("{\"type\":\"batch\"") && !terminal.text.contains("\u{1B}"))
    }

    @Test(arguments: ["dumb", ""], [["listen", "--capture", "tone:clicks,seconds=0.5"], ["demo", "--no-browser", "--seconds", "0.5"]])
    func `terminal that cannot move the cursor: a plain line, no records, no escape sequences`(name: String, arguments: [String]) throws {
        let terminal = try start(arguments, environment: ["TERM": name])
        #expect(try terminal.finish() == 0)
        #expect(terminal.text.contains(" dB ") && !terminal.text.contains("{\""), "\(terminal.text.prefix(2000))")
        #expect(!terminal.text.contains("\u{1B}"))
    }

    @Test(arguments: ["json-lines:OUT", "presets:names=Rain+Snow"])
    func `analyze with a sink that does not write to the terminal: no JSON there`(sink: String) throws {
        let spec = sink.replacing("OUT", with: folder("out.jsonl"))
        let terminal = try start(["analyze", "--capture", "tone:clicks,seconds=2", "--sink", spec])
        #expect(try terminal.finish() == 0)
        #expect(!terminal.text.contains("{\""), "\(terminal.text)")
        if sink.contains("OUT") { #expect(try Record.all(in: folder.text(of: "out.jsonl")).batches.count > 80) }
    }

    @Test func `terminal becomes narrower: line fits the new width`() throws {
        let terminal = try start(["listen", "--line", "--capture", "tone:clicks,seconds=0"], columns: 120)
        try terminal.read(until: "dB")
        terminal.resize(columns: 40)
        // Earlier lines may still arrive; after the first narrow line, all are narrow.
        let text = try terminal.read(for: "narrow status lines") { text in
            statusLines(in: text).drop { plain($0).count >= 40 }.count > 5
        }
        for line in statusLines(in: text).drop(while: { plain($0).count >= 40 }) {
            #expect(plain(line).count < 40, "\(line)")
            // The cursor stays at the start of the line, and the rest of a wrapped line is erased.
            #expect(line.hasPrefix("\r") && line.hasSuffix("\u{1B}[?7h\r") && line.contains("\u{1B}[J"))
        }
        terminal.type("q")
        #expect(try terminal.finish() == 0)
    }

    // MARK: - Keys

    @Test func `keys: submitted as controls`() throws {
        let terminal = try start(
            [
                "listen", "--capture", "tone:clicks,seconds=0", "--sink", "presets:names=Rain+Snow+Fog,mode=manual",
                "-o", folder("out.jsonl"),
            ])
        try terminal.read(until: "space tap")
        // The name of the source has a tempo too: this is the one next to the preset.
        try terminal.read(for: "tempo") { $0.contains(/120 BPM [○●•]*  (Rain|Snow|Fog)/) }
        for (key, answer) in [
            (" ", "tap"), ("l", "BPM locked"), ("l", "lock tempo"), ("r", "tempo range"), ("h", "half tempo"), ("d", "double tempo"),
            ("\u{1B}[C", "next preset"), ("\u{1B}OD", "previous preset"),
        ] {
            terminal.type(key)
            try terminal.read(until: answer)
        }
        terminal.type("q")
        #expect(try terminal.finish() == 0)
        let controls = try Record.all(in: folder.text(of: "out.jsonl")).of("control")
        #expect(
            controls.map { $0.string("control") } == [
                "tap", "lockTempo", "lockTempo", "tempoRange", "halveTempo", "doubleTempo", "nextPreset", "previousPreset",
            ])
        #expect(controls.allSatisfy { $0.string("from") == "live-line" })
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT]) func `signal: terminal mode is restored`(signal: Int32) throws {
        let terminal = try start(["listen", "--line", "--capture", "tone:clicks,seconds=0"])
        try terminal.read(until: "dB")
        // The mode changes after the first picture. In line mode no key has an answer.
        terminal.type(" ")
        try terminal.read(until: "tap")
        #expect(!terminal.isInLineMode)
        kill(terminal.identifier, signal)
        #expect(try terminal.finish() == 128 + signal)
        #expect(terminal.isInLineMode)
    }

    @Test(.needs(.program("bash"))) func `Ctrl-Z: restores the terminal mode; fg sets it again`() throws {
        let shell = try TerminalProcess(
            try #require(Tool.location(of: "bash")), ["--norc", "--noprofile", "-i"], environment: ["PS1": "ready> "])
        try shell.read(until: "ready> ")
        shell.type("'\(Hemiola.path)' listen --line --capture tone:clicks,seconds=0\n")
        try shell.read(until: "dB")
        shell.type("\u{1A}")
        try shell.read(until: "Stopped")
        shell.type("stty -a\n")
        let mode = try shell.read(until: "echok")
        #expect(mode.contains(" icanon") && mode.contains(" echo "))
        shell.type("fg\n")
        try shell.read(until: "dB")
        shell.type("q")
        try shell.read(until: "ready> ")
        shell.type("echo status=$?; exit\n")
        try shell.read(until: "status=0")
        _ = try shell.finish()
    }

    @Test func `standard input is not a terminal: no keys are read`() throws {
        let shell = try TerminalProcess(
            "/bin/sh", ["-c", "exec '\(Hemiola.path)' listen --line --capture tone:clicks,seconds=0 </dev/null"])
        try shell.read(until: "dB")
        #expect(shell.isInLineMode && !shell.text.contains("space tap"))
        shell.type("\u{03}")
        #expect(try shell.finish() == 130)
    }

    /// All complete states of the status line, each with its escape sequences.
    private func statusLines(in text: String) -> [String] {
        let parts = text.components(separatedBy: "\u{1B}[?7h\r")
        return parts.dropFirst().dropLast().map { $0 + "\u{1B}[?7h\r" }
    }

    /// The visible text of a status line.
    private func plain(_ line: String) -> String {
        line.replacing(/\u{1B}\[[0-9;?]*[a-zA-Z]/, with: "").replacing("\r", with: "")
    }
}
