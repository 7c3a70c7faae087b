import Foundation
import TestSupport
import Testing

/// `hemiola window`, `hemiola send tabs` and `hemiola send window`, with a window at the socket that the test plays.
@Suite(.mayNotHang) struct WindowTests {
    private static let tabs = #"{"active":"b","tabs":[{"id":"a","title":"A","path":"a.html"},{"id":"b","title":"B","path":"/b"}]}"#
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start() throws -> ChildProcess {
        try ChildProcess(
            Hemiola.path, ["analyze", Hemiola.minuet, "--analyzer", "levels", "--quiet", "--sink", "socket:s"], in: folder.path)
    }

    private func send(_ arguments: String...) throws -> ChildProcess {
        try ChildProcess(Hemiola.path, ["send"] + arguments + ["--socket", "s"], in: folder.path)
    }

    /// A connection that has sent the messages of a window.
    private func window() throws -> SocketClient {
        let window = try SocketClient(folder("s"))
        try window.send(#"{"type":"subscribe","streams":[],"payload":"json"}"#)
        try window.send(#"{"type":"windowReady","id":1}"#)
        _ = try window.readLine(containing: #""type":"reply""#)
        return window
    }

    private func request(_ window: SocketClient) throws -> JSON {
        try JSON(try window.readLine(containing: #"{"type":"window""#))
    }

    @Test func `send tabs: reaches windows that are connected, and those that connect later`() throws {
        let process = try start()
        _ = try SocketClient(folder("s"))
        try FileManager.default.createDirectory(atPath: folder("show"), withIntermediateDirectories: true)
        try folder.write(Self.tabs, to: "show/tabs.json")
        let early = try send("tabs", "show/tabs.json").finish()
        #expect(early.status == 0 && early.output == "0\n", "\(early)")
        #expect(early.errors == "hemiola: warning: no window is connected; a window that connects later shows the tabs\n")
        let window = try window()
        let path = URL(filePath: folder.path).resolvingSymlinksInPath().path
        let line = try window.readLine(containing: #"{"type":"tabs""#)
        #expect(
            line
                == #"{"type":"tabs","active":"b","tabs":[{"id":"a","title":"A","path":"\#(path)/show/a.html"},{"id":"b","title":"B","path":"/b"}]}"#
        )
        let empty = try ChildProcess.run(
            Hemiola.path, ["send", "tabs", "-", "--socket", "s"], in: folder.path, input: .bytes(Array(#"{"tabs":[]}"#.utf8)))
        #expect(empty.status == 0 && empty.output == "1\n" && empty.errors == "", "\(empty)")
        #expect(try window.readLine(containing: #"{"type":"tabs""#) == #"{"type":"tabs","active":null,"tabs":[]}"#)
        try folder.write(#"{"active":"a","tabs":[{"id":"a","title":"A","path":"/a"}]}"#, to: "one.json")
        let one = try send("tabs", "one.json").finish()
        #expect(one.status == 1 && one.output == "")
        #expect(
            one.errors
                == "hemiola: tabs one.json: \"tabs\" needs at least two tabs that are not deprecated, or none for a window without tabs\n",
            "\(one)")
        process.send(SIGINT)
        _ = try process.finish()
    }

    @Test func `send window: the request reaches the window, its answer is printed`() throws {
        let process = try start()
        let window = try window()
        for (arguments, action, value) in [
            (["fullscreen", "true"], "fullscreen", "true"), (["fullscreen"], "fullscreen", "null"), (["tab", "Stars"], "tab", "\"Stars\""),
            (["reload"], "reload", "null"),
        ] {
            let sender = try ChildProcess(Hemiola.path, ["send", "window"] + arguments + ["--socket", "s"], in: folder.path)
            let line = try window.readLine(containing: #"{"type":"window""#)
            #expect(line.hasSuffix("\"action\":\"\(action)\",\"value\":\(value)}"), "\(line)")
            try window.send("{\"type\":\"result\",\"call\":\(try JSON(line)["call"]?.int ?? 0),\"value\":[1.0,\"x\"]}")
            let outcome = try sender.finish()
            #expect(outcome.status == 0 && outcome.output == "[1.0,\"x\"]\n" && outcome.errors == "", "\(outcome)")
        }
        // A request without a result prints nothing.
        let silent = try send("window", "tab", "Stars")
        try window.send("{\"type\":\"result\",\"call\":\(try request(window)["call"]?.int ?? 0),\"value\":null}")
        let outcome = try silent.finish()
        #expect(outcome.status == 0 && outcome.output == "" && outcome.errors == "", "\(outcome)")
        let failing = try send("window", "tab", "none")
        try window.send("{\"type\":\"result\",\"call\":\(try request(window)["call"]?.int ?? 0),\"error\":\"no tab none\"}")
        let failed = try failing.finish()
        #expect(failed.status == 1 && failed.output == "" && failed.errors == "hemiola: window tab: no tab none\n", "\(failed)")
        process.send(SIGINT)
        _ = try process.finish()
    }

    @Test func `send window snapshot: the picture is moved to the path`() throws {
        let process = try start()
        let window = try window()
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + Data(repeating: 7, count: 3_000_000)
        try png.write(to: URL(filePath: folder("private.png")))
        let sender = try send("window", "snapshot", "out.png")
        try window.send("{\"type\":\"result\",\"call\":\(try request(window)["call"]?.int ?? 0),\"value\":\"\(folder("private.png"))\"}")
        let outcome = try sender.finish()
        #expect(outcome.status == 0 && outcome.output == "\"out.png\"\n" && outcome.errors == "", "\(outcome)")
        #expect(try Data(contentsOf: URL(filePath: folder("out.png"))) == png)
        #expect(!FileManager.default.fileExists(atPath: folder("private.png")))
        process.send(SIGINT)
        _ = try process.finish()
    }

    @Test func `send window without a window: one error line, exit code 1`() throws {
        let process = try start()
        _ = try SocketClient(folder("s"))
        let outcome = try send("window", "reload").finish()
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(outcome.errors == "hemiola: window reload: no window is connected; open one: hemiola window\n", "\(outcome)")
        process.send(SIGINT)
        _ = try process.finish()
        let unreachable = try send("window", "reload").finish()
        #expect(unreachable.status == 1 && unreachable.errors.contains("no running hemiola accepts connections"))
    }

    @Test func `window: replaces itself by hemiola-window with the same arguments, environment and exit code`() throws {
        try folder.write("#!/bin/sh\nprintf '<%s>' \"$@\"\ncat\nexit 7\n", to: "hemiola-window")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder("hemiola-window"))
        let process = try ChildProcess(
            Hemiola.path, ["window", "a b.html", "--fullscreen", "--socket", "x"], in: folder.path,
            environment: ["HEMIOLA_WINDOW": folder("hemiola-window")], input: .bytes(Array("in".utf8)))
        let outcome = try process.finish()
        let own = URL(filePath: Hemiola.path).resolvingSymlinksInPath().path
        #expect(outcome.status == 7 && outcome.errors == "", "\(outcome)")
        #expect(outcome.output == "<--hemiola><\(own)><--socket><x><--fullscreen><--><a b.html>in")
    }

    @Test func `window without hemiola-window: one error line that says how to get it, exit code 1`() throws {
        // A copy, because hemiola-window may have been built beside the program.
        let copy = folder("bin/hemiola")
        try FileManager.default.createDirectory(atPath: folder("bin"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: Hemiola.path, toPath: copy)
        let outcome = try ChildProcess.run(copy, ["window"], in: folder.path, environment: ["PATH": "/nowhere", "HEMIOLA_WINDOW": ""])
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(
            outcome.errors
                == "hemiola: hemiola-window is not installed; install the package or run \"make install PRODUCT=window\" (docs/install.md), or set HEMIOLA_WINDOW to its path\n",
            "\(outcome)")
        let wrong = try ChildProcess.run(copy, ["window"], in: folder.path, environment: ["HEMIOLA_WINDOW": "/etc/passwd"])
        #expect(wrong.status == 1 && wrong.errors.hasPrefix("hemiola: HEMIOLA_WINDOW: /etc/passwd is not an executable file"), "\(wrong)")
        #expect(try Hemiola.run(["window", ""]).status == 2)
        #expect(try Hemiola.run(["window", "--bogus"]).status == 2)
        #expect(try Hemiola.run(["window", "--help"]).output.contains("hemiola-window"))
    }
}
