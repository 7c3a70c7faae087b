import Foundation
import TestSupport
import Testing

/// `hemiola send call` and `hemiola send import`, with a page at the socket.
@Suite(.mayNotHang) struct PageRequestTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(_ arguments: [String] = [], sink: String = "socket:s") throws -> ChildProcess {
        try ChildProcess(
            Hemiola.path, ["analyze", Hemiola.minuet, "--analyzer", "levels", "--quiet", "--sink", sink] + arguments, in: folder.path)
    }

    private func send(_ arguments: String...) throws -> ChildProcess.Outcome {
        try ChildProcess.run(Hemiola.path, ["send"] + arguments + ["--socket", "s"], in: folder.path, timeout: 300)
    }

    @Test func `call: prints the value as the page has sent it`() throws {
        let process = try start()
        let page = try PageStandIn(folder("s"))
        let value = try send("call", "echo")
        #expect(value.status == 0 && value.output == "[]\n" && value.errors == "", "\(value)")
        let arguments = try send("call", "function=echo", #"arguments=[1.0,"é\u0041",{"x":12345678901234567890}]"#)
        #expect(arguments.output == #"[1.0,"é\u0041",{"x":12345678901234567890}]"# + "\n" && arguments.status == 0, "\(arguments)")
        let large = try send("call", "large")
        #expect(large.output.utf8.count == 1_000_003 && large.status == 0)
        let named = try send("call", "echo", "page=1")
        #expect(named.status == 0 && named.output == "[]\n")
        process.send(SIGINT)
        #expect(try process.finish().status == 130)
        #expect(page.finish() == nil)
    }

    @Test func `call that fails: one error line, exit code 1`() throws {
        let process = try start()
        _ = try SocketClient(folder("s"))
        let none = try send("call", "echo")
        #expect(none.status == 1 && none.output == "")
        #expect(
            none.errors == "hemiola: call echo: no page is connected; open a visualizer's page (a client that sends \"ready\")\n")
        let page = try PageStandIn(folder("s"))
        let missing = try send("call", "missing")
        #expect(missing.status == 1 && missing.errors == "hemiola: call missing: the page has no function missing\n", "\(missing)")
        let silent = try send("call", "silent", "--timeout", "0.5")
        #expect(silent.status == 1 && silent.errors == "hemiola: call silent: time limit of 0.5 s reached: the page has not answered\n")
        let other = try send("call", "echo", "page=77")
        #expect(other.status == 1 && other.errors.contains("no page \"77\" is connected"))
        let leaving = try send("call", "leave")
        #expect(leaving.status == 1 && leaving.errors == "hemiola: call leave: the page has disconnected before it answered\n")
        #expect(page.finish() == nil)
        process.send(SIGINT)
        _ = try process.finish()
        let unreachable = try send("call", "echo")
        #expect(unreachable.status == 1 && unreachable.errors.contains("no running hemiola accepts connections"))
    }

    @Test func `invalid request: exit code 2, nothing is sent`() throws {
        for (arguments, text) in [
            (["call"], "call needs function="), (["call", "f", "arguments={}"], "arguments is not a JSON list"),
            (["call", "f", "x=1"], "\"x=1\" is not a field of call"), (["import"], "import needs file="),
            (["import", "-"], "standard input has no name"), (["call", "f", "--timeout", "601"], "at most 600 seconds"),
            (["wait"], "hemiola send wait ready"), (["wait", "now"], "hemiola send wait ready"),
            (["tabs", "a.json", "--follow"], "it is for call and import"),
            (["tap", "--timeout", "0"], "0.0 is not above 0 and at most 3600 seconds"),
        ] {
            let outcome = try ChildProcess.run(Hemiola.path, ["send"] + arguments + ["--socket", "nowhere"], in: folder.path)
            #expect(outcome.status == 2 && outcome.errors.contains(text), "\(outcome)")
        }
    }

    @Test func `wait ready: returns when a page is ready, also if the program starts later`() throws {
        let early = try ChildProcess(Hemiola.path, ["send", "wait", "ready", "--socket", "s"], in: folder.path)
        let process = try start()
        let client = try SocketClient(folder("s"))
        try client.send(#"{"type":"subscribe","streams":[]}"#)
        try client.send(#"{"type":"wait","for":"ready","id":"page"}"#)
        try client.send(#"{"type":"status","id":"status"}"#)
        #expect(try client.readLine(containing: #""type":"reply""#).contains(#""id":"status""#))
        let page = try PageStandIn(folder("s"))
        #expect(try client.readLine(containing: #""type":"reply""#).contains(#""id":"page""#))
        let outcome = try early.finish()
        #expect(outcome.status == 0 && outcome.output == "" && outcome.errors == "", "\(outcome)")
        #expect(try send("wait", "ready").status == 0)
        process.send(SIGINT)
        _ = try process.finish()
        #expect(page.finish() == nil)
        let none = try send("wait", "ready", "--timeout", "0.2")
        #expect(none.status == 1 && none.errors.contains("no running hemiola accepts connections"), "\(none)")
    }

    @Test func `call of a page at another sink of the run: reaches it`() throws {
        let process = try start(["--sink", "socket:t"])
        let page = try PageStandIn(folder("t"))
        #expect(try send("call", "echo").output == "[]\n")
        #expect(try send("call", "echo", "page=socket-2/1").status == 0)
        process.send(SIGINT)
        _ = try process.finish()
        #expect(page.finish() == nil)
    }

    @Test func `import of 32 MiB: reaches the page unchanged, while samples are sent`() throws {
        // A live source without an end: on a busy machine the test takes longer than the file of the others.
        let process = try ChildProcess(
            Hemiola.path, ["listen", "--capture", "tone:sine,seconds=0", "--analyzer", "levels", "--quiet", "--sink", "socket:s"],
            in: folder.path)
        let page = try PageStandIn(folder("s"), checksSamples: true)
        let listener = try PageStandIn(folder("s"), isReady: false, checksSamples: true)
        // The period of 65 521 bytes, a prime, differs from the length of the messages.
        let period = Data((0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        let bytes = Data((0...512).map { _ in period }.joined()).prefix(32 << 20)
        try bytes.write(to: URL(filePath: folder("Élan.milk")))
        let outcome = try send("import", "Élan.milk")
        #expect(outcome.status == 0 && outcome.output == #"["Élan.milk",33554432]"# + "\n" && outcome.errors == "", "\(outcome)")
        #expect(page.imported == bytes)
        try Data(bytes + [0]).write(to: URL(filePath: folder("large")))
        let large = try send("import", "large")
        #expect(large.status == 1)
        #expect(large.errors == "hemiola: large: the file is larger than 32 MiB, the limit of an import\n", "\(large)")
        for client in [page, listener] { #expect(client.hasSampleMessages(20)) }
        process.send(SIGINT)
        _ = try process.finish()
        for client in [page, listener] { #expect(client.finish() == nil) }
    }

    @Test func `import: name, standard input, and files that cannot be read`() throws {
        let process = try start()
        let page = try PageStandIn(folder("s"))
        try folder.write("text", to: "a.txt")
        #expect(try send("import", folder("a.txt")).output == #"["a.txt",4]"# + "\n")
        #expect(try send("import", "a.txt", "name=b \"c\".milk").output == #"["b \"c\".milk",4]"# + "\n")
        let piped = try ChildProcess.run(
            Hemiola.path, ["send", "import", "-", "name=x", "--socket", "s"], in: folder.path, input: .bytes(Array("abc".utf8)))
        #expect(piped.output == #"["x",3]"# + "\n", "\(piped)")
        let path = try send("import", "a.txt", "name=../x")
        #expect(path.status == 1 && path.errors.contains("without folders"), "\(path)")
        let missing = try send("import", "nothing")
        #expect(missing.status == 1 && missing.errors == "hemiola: nothing: No such file or directory\n", "\(missing)")
        let directory = try send("import", ".")
        #expect(directory.status == 1 && directory.errors == "hemiola: .: Is a directory\n", "\(directory)")
        process.send(SIGINT)
        _ = try process.finish()
        #expect(page.finish() == nil)
    }

    @Test func `progress of the page: shown on a terminal, before the value`() throws {
        let process = try start()
        let page = try PageStandIn(folder("s"))
        let terminal = try TerminalProcess(Hemiola.path, ["send", "call", "steps", "--socket", folder("s")], columns: 100)
        for text in ["50 %", "loading the picture"] {
            try terminal.read(until: text)
            page.goOn()
        }
        try terminal.read(until: "\"done\"")
        #expect(try terminal.finish() == 0)
        process.send(SIGINT)
        _ = try process.finish()
        #expect(page.finish() == nil)
    }

    @Test func `--follow: each progress message is printed as received, before the value`() throws {
        let process = try start()
        let page = try PageStandIn(folder("s"))
        // A message that waits is replaced by the next one.
        let call = try ChildProcess(Hemiola.path, ["send", "call", "steps", "--follow", "--socket", "s"], in: folder.path)
        for value in ["0.5", "\"loading the picture\""] {
            #expect(try call.readLine() == #"{"type":"progress","id":"send","value":\#(value)}"#)
            page.goOn()
        }
        #expect(try call.readLine() == "\"done\"")
        #expect(try call.finish().status == 0)
        let bytes = Data(count: 8 << 20)
        try bytes.write(to: URL(filePath: folder("large.milk")))
        let file = try send("import", "large.milk", "--follow")
        #expect(
            file.output == """
                {"type":"progress","id":"send","value":"receiving"}
                ["large.milk",8388608]

                """, "\(file)")
        // The line is there while the call has no answer.
        let silent = try ChildProcess(
            Hemiola.path, ["send", "call", "silent", "--follow", "--timeout", "600", "--socket", "s"], in: folder.path)
        #expect(try silent.readLine() == #"{"type":"progress","id":"send","value":{"part":[1.0,"é"]}}"#)
        silent.send(SIGTERM)
        _ = try silent.finish()
        process.send(SIGINT)
        _ = try process.finish()
        #expect(page.finish() == nil)
    }

    @Test func `control of pages without a page: warning; closeViz: refused`() throws {
        let process = try start()
        _ = try SocketClient(folder("s"))
        let speed = try send("setSpeed", "0.5")
        #expect(speed.status == 0, "\(speed)")
        #expect(speed.errors == "hemiola: warning: no page is connected; setSpeed takes effect in a page that connects later\n")
        #expect(speed.output == "{\"type\":\"reply\",\"id\":\"send\",\"ok\":true,\"error\":null}\n")
        let close = try send("closeViz")
        #expect(close.status == 1 && close.output.contains(#""error":"no page is connected""#), "\(close)")
        let page = try PageStandIn(folder("s"))
        #expect(try send("setSpeed", "0.6").errors == "")
        #expect(try send("status").output.contains(#""pages":1"#))
        process.send(SIGINT)
        _ = try process.finish()
        #expect(page.finish() == nil)
    }

    @Test func `message of a page: record in the stream, selectable and in the schema`() throws {
        let process = try start(["-o", "out.jsonl", "--select", "message", "--realtime"])
        let page = try SocketClient(folder("s"))
        try page.send(#"{"type":"pageMessage","handler":"scene","body":"{\"name\":\"é\"}","id":1}"#)
        #expect(try page.readLine(containing: #""reply""#) == #"{"type":"reply","id":1,"ok":true,"error":null}"#)
        try page.send(#"{"type":"pageError","message":"TypeError: x","source":"app.js","line":3}"#)
        process.send(SIGINT)
        _ = try process.finish()
        let lines = try folder.text(of: "out.jsonl").split(separator: "\n").filter { $0.contains("\"message\"") }
        #expect(lines.count == 1)
        let record = try JSON(String(try #require(lines.first)))
        #expect(record["type"]?.string == "message" && record["handler"]?.string == "scene", "\(lines)")
        #expect(record["body"]?.string == #"{"name":"é"}"#)
        #expect(try Hemiola.run(["schema"]).output.contains("A page sent a message of its own."))
    }
}

/// A page at the socket that answers calls and imports, on its own thread, until its connection ends.
private final class PageStandIn: Sendable {
    private struct State {
        var imported = Data()
        var sampleMessages = 0
        var nextFrame: Int?
        /// How often the test has let the function `steps` go on.
        var steps = 0
        var failure: String?
        var isOver = false
    }

    private let state = Watched(State())

    init(_ path: String, isReady: Bool = true, checksSamples: Bool = false) throws {
        let isConnected = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            do {
                let client = try SocketClient(path)
                // Base64 takes half as much of the socket's buffer as numbers, which is twice the time for a busy machine.
                try client.send(#"{"type":"subscribe","payload":"base64"}"#)
                if !checksSamples { try client.send(#"{"type":"subscribe","streams":[]}"#) }
                if isReady {
                    try client.send(#"{"type":"ready","presets":["x"],"id":0}"#)
                } else {
                    try client.send(#"{"type":"status","id":0}"#)
                }
                _ = try client.readLine(containing: #""type":"reply""#)
                isConnected.signal()
                try answer(client)
            } catch {
                isConnected.signal()
                state.change { $0.failure = $0.failure ?? "\(error)" }
            }
            state.change { $0.isOver = true }
        }
        isConnected.wait()
    }

    var imported: Data { state.value.imported }

    /// Waits until more messages of samples than a number have arrived.
    func hasSampleMessages(_ count: Int) -> Bool { state.wait { $0.sampleMessages > count } }

    /// Lets the function `steps` send its next message.
    func goOn() { state.change { $0.steps += 1 } }

    /// Waits until the connection has ended.
    ///
    /// - Returns: What went wrong; nil: nothing.
    func finish() -> String? {
        state.wait(until: \.isOver) ? state.value.failure : "the connection does not end"
    }

    private func answer(_ client: SocketClient) throws {
        while let line = try client.readLine() {
            if line.hasPrefix(#"{"type":"pushSamples""#) || line.hasPrefix(#"{"type":"dropped""#) {
                checkSamples(line)
                continue
            }
            let message = try JSON(line)
            guard let call = message["call"]?.int else { continue }
            func send(_ type: String, _ member: String) throws {
                try client.send("{\"type\":\"\(type)\",\"call\":\(call)\(member.isEmpty ? "" : ",")\(member)}")
            }
            switch message["type"]?.string {
            case "call":
                switch message["function"]?.string {
                case "echo":
                    // The text as received, not as parsed.
                    let arguments = line[line.firstRange(of: "\"arguments\":")!.upperBound...].dropLast()
                    try send("result", "\"value\":\(arguments)")
                case "large": try send("result", "\"value\":\"\(String(repeating: "x", count: 1_000_000))\"")
                case "steps":
                    try send("progress", "\"value\":0.5")
                    _ = state.wait { $0.steps == 1 }
                    try send("progress", "\"value\":\"loading the picture\"")
                    _ = state.wait { $0.steps == 2 }
                    try send("result", "\"value\":\"done\"")
                case "silent": try send("progress", #""value":{"part":[1.0,"é"]}"#)
                case "leave": return
                case let function: try send("result", "\"error\":\"the page has no function \(function ?? "")\"")
                }
            case "import":
                try send("progress", "\"value\":\"receiving\"")
                let file = try Data(contentsOf: URL(filePath: message["path"]?.string ?? ""))
                state.change { $0.imported = file }
                let name = (message["name"]?.string ?? "").replacing("\"", with: "\\\"")
                try send("result", "\"value\":[\"\(name)\",\(file.count)]")
            default: break
            }
        }
    }

    /// Checks that no samples are missing. On a busy machine samples may be lost, but the loss is reported.
    private func checkSamples(_ line: String) {
        let end = String(line.utf8.suffix(32)) ?? ""
        state.change { state in
            if line.hasPrefix(#"{"type":"dropped""#) {
                state.nextFrame = state.nextFrame.map { $0 + ((try? JSON(line))?["batches"]?.int ?? 0) * 1024 }
                return
            }
            guard let frame = end.split(separator: ":").last.flatMap({ Int($0.dropLast()) }) else {
                state.failure = state.failure ?? String(line.prefix(200))
                return
            }
            if let next = state.nextFrame, next != frame { state.failure = state.failure ?? "frame \(frame) instead of \(next)" }
            state.nextFrame = frame + 1024
            state.sampleMessages += 1
        }
    }
}
