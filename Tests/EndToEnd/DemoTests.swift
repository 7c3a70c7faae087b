import Foundation
import TestSupport
import Testing

/// `hemiola demo`, and the loop that it generates.
@Suite(.mayNotHang) struct DemoTests {
    private static let tempo = 174.0

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The state folder of the web server's token, and no desktop session.
    private var environment: [String: String] {
        ["XDG_STATE_HOME": folder("state"), "DISPLAY": "", "WAYLAND_DISPLAY": ""]
    }

    private func run(_ arguments: [String]) throws -> ChildProcess.Outcome {
        try ChildProcess.run(Hemiola.path, ["demo"] + arguments, environment: environment)
    }

    // MARK: - The loop

    @Test(arguments: [0, 1, 2, 7, 2_147_483_647])
    func `loop: the default pipeline finds its tempo, and every beat within 70 ms`(seed: Int) throws {
        let records = try Hemiola.records(["--capture", "tone:loop,bpm=174,level_db=-3,seconds=60,seed=\(seed)"])
        let beats = records.of("beat").compactMap { $0.double("t") }
        #expect(abs((records.last?.double("summaries.beat.bpm") ?? 0) - Self.tempo) < 2)
        // From 10 s on, when the tempo of a loop must be sure, each beat is found once, and nothing else is.
        let last = 59.0
        let expected = (0...).lazy.map { Double($0) * 60 / Self.tempo }.prefix { $0 < last }.filter { $0 > 10 }
        for time in expected {
            #expect(beats.count { abs($0 - time) <= 0.07 } == 1, "beat at \(time) s, seed \(seed)")
        }
        #expect(abs(beats.count { $0 > 10 && $0 < last } - Array(expected).count) <= 1)
    }

    @Test func `same seed: same records; another seed: others`() throws {
        let first = try run(["--seconds", "3", "--seed", "5", "--quiet"])
        // Without a browser, only this line has the URL.
        #expect(first.status == 0 && first.errorLines.count == 1 && first.errors.contains("/?token="), "\(first.errors)")
        let records = try Record.all(in: first.output)
        records.expectWholeStream(frames: 3 * 44_100, rate: 44_100)
        #expect(try run(["--seconds", "3", "--seed", "5", "--quiet"]).output == first.output)
        let other = try run(["--seconds", "3", "--seed", "6", "--quiet"])
        #expect(try Record.all(in: other.output).batches.map(\.line) != records.batches.map(\.line))
    }

    // MARK: - Terminal and page

    @Test func `terminal: the view of listen with the page's URL, and the tempo in real time; q ends it`() throws {
        let terminal = try TerminalProcess(Hemiola.path, ["demo"], environment: environment)
        try terminal.read(until: "there is no sound")
        let start = ProcessInfo.processInfo.systemUptime
        try terminal.read(for: "the URL") { $0.contains(/http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]+/) }
        // The name of the loop, "drum and bass 174 BPM", is not meant.
        try terminal.read(for: "the tempo") { $0.contains(/([^s] |m)17[2-6] BPM/) }
        // The tempo is reported after 1.5 s of sound: nothing is faster than real time.
        #expect(ProcessInfo.processInfo.systemUptime - start > 1)
        terminal.type("q")
        #expect(try terminal.finish() == 0)
        #expect(!terminal.text.contains("{\""))
    }

    @Test func `TERM=dumb: the line of listen; the end of the loop is said`() throws {
        let terminal = try TerminalProcess(
            Hemiola.path, ["demo", "--seconds", "1"], environment: environment.merging(["TERM": "dumb"]) { $1 })
        try terminal.read(until: "ended after 1.0 s")
        #expect(try terminal.finish() == 0)
        #expect(terminal.text.contains("BPM"))
    }

    @Test func `listen to a signal that ends: its end is said, unless --duration ends it`() throws {
        func text(_ arguments: [String]) throws -> String {
            let terminal = try TerminalProcess(Hemiola.path, ["listen", "--capture"] + arguments, environment: environment)
            #expect(try terminal.finish() == 0)
            return terminal.text
        }
        #expect(try text(["tone:clicks,seconds=0.2"]).contains("clicks 120 BPM: ended after 0.2 s"))
        #expect(try !text(["tone:clicks", "--duration", "0.2"]).contains("ended after"))
        // Records have their own end.
        #expect(try Hemiola.run(["listen", "--capture", "tone:clicks,seconds=0.2"]).errors.isEmpty)
    }

    @Test func `Ctrl-C: ends it with exit code 130`() throws {
        let terminal = try TerminalProcess(Hemiola.path, ["demo"], environment: environment)
        try terminal.read(until: "BPM")
        terminal.type("\u{03}")
        #expect(try terminal.finish() == 130)
    }

    @Test(arguments: [[], ["--no-browser"]])
    func `page: served at the printed URL; the browser of a desktop session opens it unless --no-browser is set`(arguments: [String]) throws
    {
        let opened = folder("opened")
        try folder.write("#!/bin/sh\necho \"$1\" >'\(opened).new' && mv '\(opened).new' '\(opened)'\n", to: "xdg-open")
        chmod(folder("xdg-open"), 0o755)
        let process = try ChildProcess(
            "/bin/sh", ["-c", #"exec "$0" demo "$@" 2>errors"#, Hemiola.path] + arguments, in: folder.path,
            environment: environment.merging(["DISPLAY": ":7", "PATH": "\(folder.path):/usr/bin:/bin"]) { $1 })
        let url = try waitForText("errors", matching: #/http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]+)/#)
        let client = try WebSocketClient(port: try #require(Int(url.1)), headers: ["Cookie": "hemiola=\(url.2)"])
        #expect(client.response.status == 101)
        if arguments.isEmpty {
            let text = try waitForText("opened", matching: #/(http.*)()\n/#)
            #expect(text.1 == url.0)
            #expect(!FileManager.default.fileExists(atPath: folder("state/hemiola/web-token")))
        } else {
            #expect(try folder.text(of: "state/hemiola/web-token") == "\(url.2)\n")
            #expect(!FileManager.default.fileExists(atPath: opened))
        }
        process.send(SIGINT)
        #expect(try process.finish(timeout: 20).status == 130)
    }

    private func waitForText(
        _ name: String, matching pattern: Regex<(Substring, Substring, Substring)>
    ) throws -> (Substring, Substring, Substring) {
        var found: (Substring, Substring, Substring)?
        try folder.wait(for: name) {
            found = try? folder.text(of: name).firstMatch(of: pattern)?.output
            return found != nil
        }
        return try #require(found)
    }
}
