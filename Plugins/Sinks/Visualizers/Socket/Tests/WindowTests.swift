import BridgeSupport
import Foundation
import HemiolaRecords
import TestSupport
import Testing

/// Windows at the socket: their tabs, and requests to them.
@Suite(.mayNotHang) struct WindowTests {
    /// A sink with a stream, and a client that gets replies only.
    private func fixture() async throws -> (sink: SocketSinkFixture, client: SocketClient) {
        let sink = try await SocketSinkFixture()
        try await sink.begin()
        return (sink, try sink.quietClient())
    }

    private static func tabs(_ ids: [String], active: String? = nil) -> String {
        let tabs = ids.map { "{\"id\":\"\($0)\",\"title\":\"Title \($0)\",\"path\":\"/pages/\($0)\"}" }
        return "{\"type\":\"tabs\",\"id\":\"t\",\"active\":\"\(active ?? ids.first ?? "")\",\"tabs\":[\(tabs.joined(separator: ","))]}"
    }

    // MARK: - Tabs

    @Test func `tabs: sent to every window now, and to each new one after its windowReady`() async throws {
        let (sink, client) = try await fixture()
        let windows = [try sink.window(), try sink.window()]
        let reply = try client.request(
            #"{"tabs":[{"id":"a","title":"A \"1\"","path":"/a","icon":"/a.png","deprecated":true},{"id":"b","title":"é","path":"/b","replaces":"a"},{"id":"c","title":"","path":"https://c.example/"}],"active":"c","type":"tabs","id":7}"#
        )
        #expect(reply.text == #"{"type":"reply","id":7,"ok":true,"error":null,"value":2}"#)
        let line =
            #"{"type":"tabs","active":"c","tabs":[{"id":"a","title":"A \"1\"","path":"/a","icon":"/a.png","deprecated":true},{"id":"b","title":"é","path":"/b","replaces":"a"},{"id":"c","title":"","path":"https://c.example/"}]}"#
        for window in windows { #expect(try window.readLine() == line) }
        let late = try sink.window()
        #expect(try late.readLine() == line)
        #expect(try client.request(#"{"type":"tabs","id":1,"active":null,"tabs":[]}"#).int("value") == 3)
        for window in windows + [late] { #expect(try window.readLine() == #"{"type":"tabs","active":null,"tabs":[]}"#) }
        #expect(sink.submitted.isEmpty, "tabs do not pass the analysis")
        try await sink.close()
    }

    @Test func `tabs without a window: remembered until one connects`() async throws {
        let (sink, client) = try await fixture()
        #expect(try client.request(Self.tabs(["a", "b"])).int("value") == 0)
        let window = try sink.window()
        #expect(try window.line()["active"] == "a")
        // Only windows get them.
        #expect(try client.request(#"{"type":"status","id":5}"#).int("id") == 5)
        try await sink.close()
    }

    @Test(arguments: [(#""active":"a""#, "missing \"tabs\""), (#""active":"a","tabs":{}"#, "\"tabs\" is not a list")])
    func `tabs that are no list: refused with the reason, the windows keep theirs`(fields: String, reason: String) async throws {
        let (sink, client) = try await fixture()
        let window = try sink.window()
        #expect(try client.request("{\"type\":\"tabs\",\"id\":1,\(fields)}")["error"] == reason)
        _ = try client.request(Self.tabs(["a", "b"]))
        #expect(try window.line()["active"] == "a")
        try await sink.close()
    }

    @Test func `tabs sent faster than a window reads: it gets the last ones, and samples are not delayed`() async throws {
        let (sink, client) = try await fixture()
        let window = try sink.window()
        let listener = try sink.client()
        try listener.expectHello()
        let text = String(repeating: "x", count: 1000)
        for number in 1...300 {
            let tabs = (1...40).map { #"{"id":"\#($0)","title":"\#(text)","path":"/\#(number)"}"# }
            try client.send(#"{"type":"tabs","active":"1","tabs":[\#(tabs.joined(separator: ","))]}"#)
            if number % 30 == 0 {
                try await sink.play()
                #expect(try listener.line().type == "pushSamples")
            }
        }
        #expect(try client.request(Self.tabs(["last", "other"])).int("value") == 1)
        var count = 0
        while true {
            let line = try window.line()
            #expect(line.type == "tabs")
            count += 1
            if line["active"] == "last" { break }
        }
        #expect(count < 250, "\(count) of 301 were sent to a window that does not read")
        try await sink.close()
    }

    // MARK: - Requests

    @Test func `request: passed to the window, and its answer to the client`() async throws {
        let (sink, client) = try await fixture()
        let window = try sink.window()
        for (fields, expected) in [
            (#""action":"fullscreen","value":true"#, #""action":"fullscreen","value":true"#),
            (#""action":"fullscreen","value":false"#, #""action":"fullscreen","value":false"#),
            (#""action":"fullscreen""#, #""action":"fullscreen","value":null"#),
            (#""action":"tab","value":"Stars \"2\"""#, #""action":"tab","value":"Stars \"2\"""#),
            (#""action":"reload","value":null"#, #""action":"reload","value":null"#),
            (#""action":"snapshot""#, #""action":"snapshot","value":null"#),
            // The window refuses what it does not understand.
            (#""action":"fly","value":{"x":[1.50]}"#, #""action":"fly","value":{"x":[1.50]}"#),
        ] {
            try client.send("{\"type\":\"window\",\"id\":\"w\",\(fields)}")
            let request = try window.line()
            let call = try #require(request.int("call"))
            #expect(request.text == "{\"type\":\"window\",\"call\":\(call),\(expected)}")
            try window.send("{\"type\":\"result\",\"call\":\(call),\"value\":\"/run/shot.png\"}")
            #expect(try client.line().text == #"{"type":"reply","id":"w","ok":true,"error":null,"value":"/run/shot.png"}"#)
        }
        try client.send(#"{"type":"window","id":1,"action":"tab","value":"none"}"#)
        let call = try #require(try window.line().int("call"))
        try window.send("{\"type\":\"result\",\"call\":\(call),\"error\":\"no tab none\"}")
        #expect(try client.line()["error"] == "no tab none")
        try await sink.close()
    }

    @Test(arguments: [
        (#""value":1"#, "missing \"action\""), (#""action":"tab","value":1,"value":2"#, "\"value\" is given twice"),
        (#""action":"reload","timeout_s":0"#, "\"timeout_s\" is more than 0 and at most 600"),
    ])
    func `invalid request: refused with the reason`(fields: String, reason: String) async throws {
        let (sink, client) = try await fixture()
        let window = try sink.window()
        #expect(try client.request("{\"type\":\"window\",\"id\":1,\(fields)}")["error"] == reason)
        withExtendedLifetime(window) {}
        try await sink.close()
    }

    @Test func `no window, window that leaves, window that does not answer: error with the reason`() async throws {
        let (sink, client) = try await fixture()
        let page = try sink.page()
        #expect(
            try client.request(#"{"type":"window","id":1,"action":"reload"}"#)["error"]
                == "no window is connected; open one: hemiola window", "a page is not a window")
        var window: SocketClient? = try sink.window()
        try client.send(#"{"type":"window","id":2,"action":"reload","timeout_s":0.2}"#)
        #expect(try window?.line()["action"] == "reload")
        #expect(try client.line()["error"] == "time limit of 0.2 s reached: the window has not answered")
        #expect(try window?.line().type == "cancel")
        try client.send(#"{"type":"window","id":3,"action":"reload"}"#)
        #expect(try window?.line()["action"] == "reload")
        window = nil
        #expect(try client.line()["error"] == "the window has disconnected before it answered")
        #expect(try client.request(#"{"type":"window","id":4,"action":"reload"}"#)["error"]?.hasPrefix("no window") == true)
        withExtendedLifetime(page) {}
        try await sink.close()
    }

    @Test func `several windows: the last one that was ready gets the request, others cannot answer it`() async throws {
        let (sink, client) = try await fixture()
        let first = try sink.window()
        var second: SocketClient? = try sink.window()
        try client.send(#"{"type":"window","id":1,"action":"reload"}"#)
        let call = try #require(try second?.line().int("call"))
        #expect(try first.request("{\"type\":\"result\",\"call\":\(call),\"value\":666,\"id\":9}").bool("ok") == false)
        try second?.send("{\"type\":\"result\",\"call\":\(call)}")
        #expect(try client.line().isNull("value"))
        second = nil
        // The reply to a list of tabs has the number of windows.
        while try client.request(#"{"type":"tabs","id":2,"tabs":[]}"#).int("value") != 1 {}
        try client.send(#"{"type":"window","id":3,"action":"reload"}"#)
        #expect(try first.line(except: "tabs")["action"] == "reload")
        try await sink.close()
    }

    @Test func `client that floods a window with requests: busy after 64`() async throws {
        let (sink, client) = try await fixture()
        let window = try sink.window()
        for number in 1...200 { try client.send("{\"type\":\"window\",\"id\":\(number),\"action\":\"reload\"}") }
        for number in 65...200 {
            let reply = try client.line()
            #expect(reply.int("id") == number && reply["error"]?.hasPrefix("busy: too many calls") == true, "\(reply.text)")
        }
        // One request at a time.
        let call = try #require(try window.line().int("call"))
        #expect(try window.request(#"{"type":"status","id":0}"#).bool("ok") == true)
        try window.send("{\"type\":\"result\",\"call\":\(call)}")
        #expect(try client.line().int("id") == 1)
        #expect(try window.line()["action"] == "reload")
        try await sink.close()
    }

    @Test(arguments: [
        #""type":"windowReady""#, #""type":"window","action":"reload""#,
        #""type":"tabs","active":"a","tabs":[{"id":"a","title":"A","path":"/a"},{"id":"b","title":"B","path":"/b"}]"#,
        #""type":"import","name":"x","path":"/etc/hostname""#,
    ])
    func `page in a window: can neither be a window nor control one, nor name a file`(message: String) async throws {
        let (sink, client) = try await fixture()
        let window = try sink.window()
        #expect(try client.request(#"{"type":"pageConnection","id":0}"#).bool("ok") == true)
        let reply = try client.request("{\"id\":1,\(message)}")
        let title = message.contains("import") ? "imports" : "messages of windows"
        #expect(reply["error"] == "\(title) are not accepted from pages", "\(reply.text)")
        #expect(try client.request(#"{"type":"status","id":5}"#).int("id") == 5)
        try await sink.close()
        #expect(try window.readLine() == nil, "the window received a message of the page")
    }

    @Test func `run ends during a request: error for the client`() async throws {
        let (sink, client) = try await fixture()
        let window = try sink.window()
        try client.send(#"{"type":"window","id":1,"action":"snapshot"}"#)
        _ = try window.line()
        try await sink.close()
        #expect(try client.line()["error"] == "the run has ended")
        withExtendedLifetime(window) {}
    }
}

extension SocketSinkFixture {
    /// A window that gets its tabs and requests only, after its `windowReady` has taken effect.
    fileprivate func window() throws -> SocketClient {
        let window = try quietClient()
        #expect(try window.request(#"{"type":"windowReady","id":1}"#).bool("ok") == true)
        return window
    }
}
