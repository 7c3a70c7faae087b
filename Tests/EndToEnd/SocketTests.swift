import Foundation
import Glibc
import TestSupport
import Testing

/// The program with visualizers at its socket, and `hemiola send`.
@Suite(.mayNotHang) struct SocketTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// 16-bit stereo in which all frames differ.
    private static func value(_ frame: Int, _ side: Int) -> Int16 {
        Int16(truncatingIfNeeded: side == 0 ? frame &* 31 : frame &* 7919 &+ frame >> 12)
    }

    /// Analyses a file at real-time speed: the bundled one takes half a minute.
    private func start(
        _ arguments: [String] = [], file: String = Hemiola.minuet, sink: String = "socket:s", environment: [String: String] = [:]
    ) throws -> ChildProcess {
        try ChildProcess(
            Hemiola.path, ["analyze", file, "--analyzer", "levels", "--quiet", "--sink", sink] + arguments, in: folder.path,
            environment: environment)
    }

    private func send(_ arguments: [String], environment: [String: String] = [:]) throws -> ChildProcess.Outcome {
        try ChildProcess.run(Hemiola.path, ["send"] + arguments, in: folder.path, environment: environment)
    }

    @Test(arguments: [256, 1024, 4096]) func `samples on the socket: equal those of the file`(batch: Int) throws {
        let samples = (0..<132_300).flatMap { frame in (0..<2).map { Float(Self.value(frame, $0)) / 32_768 } }
        try folder.write(WAVBytes(samples: samples, sampleRate: 44_100, channelCount: 2, encoding: .float32).bytes, to: "sound.wav")
        let process = try start(["--batch", "\(batch)"], file: "sound.wav")
        let client = try SocketClient(folder("s"))
        #expect(try client.readLine()?.hasPrefix(#"{"type":"hello","schema":2,"#) == true)
        #expect(try client.readLine() == #"{"type":"resumeAudio"}"#)
        var next: Int?
        var lost = 0
        for text in try client.readAll() {
            let line = try JSON(text)
            if line["type"]?.string == "dropped" {
                lost = try #require(line["batches"]?.int)
                continue
            }
            #expect(line["type"]?.string == "pushSamples")
            let frame = try #require(line["frame"]?.int)
            // On a busy machine samples may be lost, but the loss is reported.
            if let next { #expect(frame == next + lost * max(batch, 1024)) }
            (next, lost) = (frame + 1024, 0)
            let samples = try #require(line["samples"]).array.compactMap(\.double)
            try #require(samples.count == 2048)
            for index in 0..<2048 {
                let place = frame + index / 2
                let expected = place < 132_300 ? Double(Self.value(place, index % 2)) / 32_768 : 0
                if abs(samples[index] - expected) > 1e-6 {
                    Issue.record("frame \(place): \(samples[index]) is not \(expected)")
                    return
                }
            }
        }
        #expect(next == 130 * 1024, "the last message holds the last frame")
        #expect(try process.finish().status == 0)
        #expect(folder.names == ["sound.wav"])
    }

    @Test func `socket removed during the run: a new one accepts clients, with one warning`() throws {
        let process = try ChildProcess(
            Hemiola.path, ["analyze", Hemiola.minuet, "--realtime", "--analyzer", "levels", "--sink", "socket:s"], in: folder.path)
        let first = try SocketClient(folder("s"))
        #expect(try first.readLine()?.hasPrefix(#"{"type":"hello""#) == true)
        unlink(folder("s"))
        _ = try first.readAll()
        let second = try SocketClient(folder("s"))
        #expect(try second.readLine()?.hasPrefix(#"{"type":"hello""#) == true)
        #expect(try second.readLine() == #"{"type":"resumeAudio"}"#)
        #expect(try second.readLine()?.hasPrefix(#"{"type":"pushSamples""#) == true)
        process.send(SIGINT)
        let outcome = try process.finish(timeout: 20)
        #expect(outcome.status == 130)
        #expect(outcome.errorLines.count == 2 && outcome.errorLines[0] == "hemiola: socket: clients can connect to s", "\(outcome.errors)")
        #expect(outcome.errors.contains("s: the socket was removed; a new socket was created"), "\(outcome.errors)")
        #expect(folder.names == [])
    }

    @Test func `file: processed at real-time speed, with a warning`() throws {
        let process = try ChildProcess(
            Hemiola.path, ["analyze", Hemiola.minuet, "--sink", "socket:s", "--select", "header"], in: folder.path)
        _ = try SocketClient(folder("s"))
        process.send(SIGINT)
        let outcome = try process.finish()
        #expect(outcome.status == 130)
        #expect(
            outcome.errorLines == [
                "hemiola: warning: socket requires real time: processing at real-time speed", "hemiola: socket: clients can connect to s",
            ])
        #expect(folder.names == [])
    }

    @Test func `presets: sent to the page; controls of the page reach presets`() throws {
        let process = try start(["--sink", "presets:mode=manual,names=Rain+Snow+Élan,order=sequential,state=none"])
        let page = try SocketClient(folder("s"))
        try page.send(#"{"type":"ready","presets":["Rain","Snow","Élan"],"id":"r"}"#)
        #expect(try page.readLine(containing: #""reply""#) == #"{"type":"reply","id":"r","ok":true,"error":null}"#)
        let named = try send(["loadPreset", "name=snow", "--socket", "s"])
        #expect(
            named.output == "{\"type\":\"reply\",\"id\":\"send\",\"ok\":true,\"error\":null}\n" && named.errors == "" && named.status == 0)
        #expect(try page.readLine(containing: "loadPresetByName").contains(#""name":"Snow""#))
        #expect(try send(["nextPreset", "--socket", "s"]).status == 0)
        #expect(try page.readLine(containing: "loadPresetByName").contains(#""name":"Élan""#))
        #expect(try send(["setSpeed", "speed=0.5", "--socket", "s"]).status == 0)
        #expect(try page.readLine(containing: "setSpeed") == #"{"type":"setSpeed","speed":0.5}"#)
        let refused = try send(["loadPreset", "name=Sun", "--socket", "s"])
        #expect(refused.status == 1 && refused.output.contains(#""ok":false,"error":"there is no preset"#), "\(refused)")
        process.send(SIGTERM)
        #expect(try process.finish().status == 143)
    }

    @Test func `two pages with different presets, which refuse all others: each gets its own, at most one a second`() throws {
        let process = try start(["--sink", "presets:time_s=1.2,state=none"])
        let lists = [["a", "b", "c"], ["x", "y", "z"]]
        let pages = try lists.map { list in
            let page = try SocketClient(folder("s"))
            try page.send("{\"type\":\"ready\",\"presets\":\(list)}")
            return page
        }
        let clock = ContinuousClock()
        for (page, list) in zip(pages, lists) {
            var last: ContinuousClock.Instant?
            for _ in 0..<4 {
                let name = try #require(JSON(page.readLine(containing: "loadPresetByName"))["name"]?.string)
                if list.contains(name) {
                    try page.send("{\"type\":\"presetHandler\",\"name\":\"\(name)\"}")
                } else {
                    Issue.record("\(name) is not one of \(list)")
                    try page.send("{\"type\":\"presetRefused\",\"name\":\"\(name)\"}")
                }
                // The second page is read after the first one: its messages have waited, and only their number counts.
                if page === pages[0], let last { #expect(clock.now - last > .milliseconds(900)) }
                last = clock.now
            }
        }
        process.send(SIGTERM)
        #expect(try process.finish().status == 143)
    }

    @Test func `no presets sink: preset control refused, speed control applied`() throws {
        let process = try start()
        let page = try SocketClient(folder("s"))
        try page.send(#"{"type":"ready","presets":[]}"#)
        _ = try page.readLine(containing: "getPresetNames")
        let refused = try send(["nextPreset", "--socket", "s"])
        #expect(refused.status == 1 && refused.output.contains("nothing in this pipeline handles nextPreset"))
        #expect(try send(["setSpeed", "speed=0.3", "--socket", "s"]).status == 0)
        #expect(try page.readLine(containing: "setSpeed").contains("0.3"))
        process.send(SIGINT)
        #expect(try process.finish().status == 130)
        #expect(try page.readAll().allSatisfy { $0.contains("pushSamples") })
    }

    @Test func `send: first field by value; value out of range refused`() throws {
        let process = try start(["--sink", "presets:mode=manual,names=Rain+Snow+A=B,order=sequential,state=none"])
        let page = try SocketClient(folder("s"))
        try page.send(#"{"type":"ready","presets":["Rain","Snow","A=B"],"id":"r"}"#)
        _ = try page.readLine(containing: #""reply""#)
        #expect(try send(["loadPreset", "snow", "--socket", "s"]).status == 0)
        #expect(try page.readLine(containing: "loadPresetByName").contains(#""name":"Snow""#))
        #expect(try send(["loadPreset", "A=B", "--socket", "s"]).status == 0)
        #expect(try page.readLine(containing: "loadPresetByName").contains(#""name":"A=B""#))
        #expect(try send(["setSpeed", "0.5", "--socket", "s"]).status == 0)
        let status = try send(["status", "--socket", "s"])
        let report = try JSON(String(status.output.dropLast()))
        #expect(status.status == 0 && report["type"]?.string == "status" && report["preset"]?.string == "A=B", "\(status)")
        #expect(report["speed"]?.double == 0.5 && report["source"]?.string?.hasSuffix("minuet.flac") == true, "\(status)")
        let refused = try send(["setSpeed", "7", "--socket", "s"])
        #expect(refused.status == 1 && refused.output.contains(#"\"speed\": 7 is outside 0.1...1"#), "\(refused)")
        process.send(SIGTERM)
        #expect(try process.finish().status == 143)
    }

    @Test(.enabled(if: Tool.location(of: "/usr/bin/perl") != nil, "there is no Perl"))
    func `send to a server that never stops sending: ends at the time limit`() throws {
        let script = """
            use IO::Socket::UNIX; $SIG{PIPE} = "IGNORE"; $| = 1;
            my $s = IO::Socket::UNIX->new(Local => "s", Listen => 1) or die $!;
            print "ready\\n";
            my $c = $s->accept; while (print $c "{\\"type\\":\\"x\\"}\\n" x 1000) {}
            """
        let server = try ChildProcess("/usr/bin/perl", ["-e", script], in: folder.path)
        try folder.wait(for: "the socket") { folder.names.contains("s") }
        let clock = ContinuousClock()
        let start = clock.now
        let outcome = try send(["tap", "--socket", "s", "--timeout", "0.5"])
        // The server never stops.
        #expect(outcome.status == 1 && clock.now - start < .seconds(20), "\(outcome)")
        _ = try server.finish()
    }

    @Test func `send without a running hemiola: one error line`() throws {
        let outcome = try send(["tap", "--socket", "nowhere"])
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(outcome.errors == "hemiola: nowhere: no running hemiola accepts connections; start one: hemiola listen --sink socket\n")
    }

    @Test func `socket in use: refused; abandoned socket: replaced`() throws {
        let first = try start()
        _ = try SocketClient(folder("s"))
        let second = try Hemiola.run(["analyze", Hemiola.minuet, "--quiet", "--sink", "socket:s"], in: folder.path)
        #expect(second.status == 3)
        #expect(
            second.errors
                == "hemiola: s: Address already in use: another process listens on it; stop it, or use another path: socket:PATH\n")
        first.send(SIGKILL)
        _ = try first.finish()
        #expect(folder.names == ["s"])
        let third = try start()
        _ = try SocketClient(folder("s"))
        third.send(SIGINT)
        #expect(try third.finish().status == 130)
        #expect(folder.names == [])
    }

    @Test func `default path: used by listen and send`() throws {
        let process = try start(sink: "socket", environment: ["XDG_RUNTIME_DIR": folder.path])
        _ = try SocketClient(folder("hemiola.sock"))
        #expect(try send(["setSpeed", "speed=1"], environment: ["XDG_RUNTIME_DIR": folder.path]).status == 0)
        process.send(SIGINT)
        _ = try process.finish()

        let own = "hemiola-\(geteuid())"
        let environment = ["XDG_RUNTIME_DIR": "relative", "TMPDIR": folder.path + "/"]
        let other = try start(sink: "socket", environment: environment)
        _ = try SocketClient(folder("\(own)/hemiola.sock"))
        var status = stat()
        #expect(stat(folder(own), &status) == 0 && status.st_mode & 0o7777 == 0o700)
        #expect(try send(["setSpeed", "speed=1"], environment: environment).status == 0)
        other.send(SIGINT)
        _ = try other.finish()
        // Another user could have created a folder at that path.
        try FileManager.default.removeItem(atPath: folder(own))
        try FileManager.default.createSymbolicLink(atPath: folder(own), withDestinationPath: folder.path)
        let refused = try start(sink: "socket", environment: environment).finish()
        #expect(refused.status == 3 && refused.errors.contains("must be a folder of this user with mode 700"), "\(refused)")
    }

    @Test func `send at the default path in a folder that others can change: nothing is sent`() throws {
        let own = "hemiola-\(geteuid())"
        let environment = ["XDG_RUNTIME_DIR": "relative", "TMPDIR": folder.path]
        let server = try start(sink: "socket", environment: environment)
        _ = try SocketClient(folder("\(own)/hemiola.sock"))
        try #require(chmod(folder(own), 0o777) == 0)
        try folder.write("secret", to: "secret.txt")
        for arguments in [["setSpeed", "speed=1"], ["import", "secret.txt"], ["status"]] {
            let refused = try send(arguments, environment: environment)
            #expect(refused.status == 1 && refused.output == "" && refused.errors.contains(folder(own)), "\(refused)")
        }
        // A path that the user has named is the user's decision.
        #expect(try send(["setSpeed", "speed=1", "--socket", "\(own)/hemiola.sock"], environment: environment).status == 0)
        server.send(SIGINT)
        _ = try server.finish()
    }

    @Test(
        .enabled(if: geteuid() == 0 && Tool.location(of: "/usr/bin/perl") != nil, "not root, who can start a program as another user"),
        arguments: ["XDG_RUNTIME_DIR", "TMPDIR"])
    func `send at the default path to the program of another user: nothing is sent`(variable: String) throws {
        let environment = ["XDG_RUNTIME_DIR": "relative", "TMPDIR": "/tmp"].merging([variable: folder.path]) { $1 }
        if variable == "TMPDIR" { try #require(mkdir(folder("hemiola-0"), 0o700) == 0) }
        let socket = folder(variable == "TMPDIR" ? "hemiola-0/hemiola.sock" : "hemiola.sock")
        // The socket gets the credentials of the moment of listen(2). The first byte that it receives would end the program with 9.
        let script = """
            use IO::Socket::UNIX;
            my $s = IO::Socket::UNIX->new(Local => $ARGV[0]) or die $!;
            $> = 65534; $s->listen(5) or die $!;
            my $c = $s->accept; exit 9 if sysread($c, my $x, 1);
            """
        let server = try ChildProcess("/usr/bin/perl", ["-e", script, socket], in: folder.path)
        var outcome = try send(["setSpeed", "speed=1"], environment: environment)
        while outcome.errors.contains("no running hemiola") { outcome = try send(["setSpeed", "speed=1"], environment: environment) }
        #expect(outcome.status == 1 && outcome.errors.contains("belongs to another user"), "\(outcome)")
        #expect(try server.finish().status == 0)
    }

    @Test func `closeViz: ends the run if the sink is configured so`() throws {
        let process = try start(sink: "socket:s,exit_on_close=true")
        let page = try SocketClient(folder("s"))
        _ = try page.readLine(containing: "pushSamples")
        try page.send(#"{"type":"closeViz"}"#)
        #expect(try process.finish().status == 0)
        #expect(folder.names == [])
    }
}
