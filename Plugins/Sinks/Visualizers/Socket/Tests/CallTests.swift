import BridgeSupport
import Foundation
import HemiolaRecords
import HemiolaVisualizer
import TestSupport
import Testing

/// Calls of a page's functions, over the socket.
@Suite(.mayNotHang) struct CallTests {
    /// A sink with a stream, a page and a client that gets replies only.
    private struct CallFixture {
        let fixture: SocketSinkFixture
        let page: SocketClient
        let client: SocketClient

        init(_ settings: String = "") async throws {
            fixture = try await SocketSinkFixture(settings)
            try await fixture.begin()
            page = try fixture.page()
            client = try fixture.quietClient()
        }
    }

    @Test func `function with arguments: the page gets them as sent, the client gets the value as sent`() async throws {
        let calls = try await CallFixture()
        try calls.client.send(
            #"{"type":"call","id":"a","function":"set","arguments":[1,-0.50,1e400,12345678901234567890,"\u00e9\"x",{"k":[null,true]}]}"#)
        #expect(
            try calls.page.readLine()
                == #"{"type":"call","call":1,"function":"set","arguments":[1,-0.50,1e400,12345678901234567890,"\u00e9\"x",{"k":[null,true]}]}"#
        )
        try calls.page.send(#"{"call":1, "value" : { "a":[1.0 ,2] } ,"type":"result"}"#)
        #expect(try calls.client.line().text == #"{"type":"reply","id":"a","ok":true,"error":null,"value":{ "a":[1.0 ,2] }}"#)
        #expect(calls.fixture.submitted.map(\.control.type) == [.ready], "a call is not a control")
        try await calls.fixture.close()
    }

    @Test func `call without arguments, result without a value: empty list, null`() async throws {
        let calls = try await CallFixture()
        try calls.client.send(#"{"type":"call","id":1,"function":"f"}"#)
        #expect(try calls.page.line().text == #"{"type":"call","call":1,"function":"f","arguments":[]}"#)
        try calls.page.send(#"{"type":"result","call":1}"#)
        #expect(try calls.client.line().text == #"{"type":"reply","id":1,"ok":true,"error":null,"value":null}"#)
        try await calls.fixture.close()
    }

    @Test func `exception in the page: its text is the error of the reply`() async throws {
        let calls = try await CallFixture()
        try calls.client.send(#"{"type":"call","id":1,"function":"f"}"#)
        _ = try calls.page.line()
        try calls.page.send(#"{"type":"result","call":1,"error":"TypeError: \"x\" is null\n at f","value":3}"#)
        #expect(try calls.client.line().text == #"{"type":"reply","id":1,"ok":false,"error":"TypeError: \"x\" is null\n at f"}"#)
        try await calls.fixture.close()
    }

    @Test func `no page: the error says what to do`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.quietClient()
        #expect(
            try client.request(#"{"type":"call","id":1,"function":"f"}"#)["error"]
                == #"no page is connected; open a visualizer's page (a client that sends "ready")"#)
        // A client that is not a page cannot be called either.
        #expect(try client.request(#"{"type":"call","id":1,"function":"f","page":1}"#)["error"]?.hasPrefix("no page \"1\"") == true)
        try await fixture.close()
    }

    @Test func `page that never answers: error at the time limit, the page is notified, the next call is sent`() async throws {
        let calls = try await CallFixture()
        try calls.client.send(#"{"type":"call","id":1,"function":"f","timeout_s":0.3}"#)
        try calls.client.send(#"{"type":"call","id":2,"function":"g"}"#)
        try calls.client.send(#"{"type":"call","id":3,"function":"h","timeout_s":0.2}"#)
        #expect(try calls.page.line()["function"] == "f")
        let waiting = try calls.client.line()
        #expect(
            waiting.int("id") == 3 && waiting["error"]?.hasPrefix("time limit of 0.2 s reached before the page") == true, "\(waiting.text)")
        #expect(try calls.client.line()["error"] == "time limit of 0.3 s reached: the page has not answered")
        #expect(try calls.page.line().text == #"{"type":"cancel","call":1}"#)
        #expect(try calls.page.line()["function"] == "g")
        // The late answer has no effect.
        try calls.page.send(#"{"type":"result","call":1,"value":1}"#)
        try calls.page.send(#"{"type":"result","call":2,"value":2}"#)
        #expect(try calls.client.line().int("value") == 2)
        try await calls.fixture.close()
    }

    @Test func `progress: reaches the client before the reply, in order`() async throws {
        let calls = try await CallFixture()
        try calls.client.send(#"{"type":"call","id":"x","function":"f"}"#)
        _ = try calls.page.line()
        for value in ["0.25", #""half""#, #"{"done":3}"#] {
            try calls.page.send("{\"type\":\"progress\",\"call\":1,\"value\":\(value)}")
            // Of progress that waits, only the last is kept: each is read before the next is sent.
            #expect(try calls.client.line().text == "{\"type\":\"progress\",\"id\":\"x\",\"value\":\(value)}")
        }
        try calls.page.send(#"{"type":"progress","call":1,"value":1}"#)
        try calls.page.send(#"{"type":"result","call":1,"value":[]}"#)
        #expect(try calls.client.line().type == "progress")
        #expect(try calls.client.line().type == "reply")
        try await calls.fixture.close()
    }

    @Test func `calls of two clients: sent one after the other, each client gets its own replies`() async throws {
        let calls = try await CallFixture()
        let other = try calls.fixture.quietClient()
        for number in 1...3 {
            try calls.client.send("{\"type\":\"call\",\"id\":\(number),\"function\":\"a\(number)\"}")
            #expect(try calls.client.request(#"{"type":"status","id":0}"#).bool("ok") == true, "another reply does not wait for the call")
        }
        for number in 1...3 { try other.send("{\"type\":\"call\",\"id\":\(number),\"function\":\"b\(number)\"}") }
        var functions: [String] = []
        for number in 1...6 {
            let call = try calls.page.line()
            functions.append(call["function"] ?? "")
            #expect(call.int("call") == number)
            // Only one call is sent at a time.
            #expect(try calls.page.request(#"{"type":"status","id":0}"#).bool("ok") == true)
            try calls.page.send("{\"type\":\"result\",\"call\":\(number),\"value\":\"\(functions.last ?? "")\"}")
        }
        #expect(functions == ["a1", "a2", "a3", "b1", "b2", "b3"])
        #expect(try (1...3).map { _ in try calls.client.reply()["value"] } == ["a1", "a2", "a3"])
        #expect(try (1...3).map { _ in try other.reply()["value"] } == ["b1", "b2", "b3"])
        try await calls.fixture.close()
    }

    @Test func `several pages: the last one that was ready is called, or the one that is named`() async throws {
        let calls = try await CallFixture()
        let second = try calls.fixture.page()
        try calls.client.send(#"{"type":"call","id":1,"function":"f"}"#)
        #expect(try second.line()["function"] == "f")
        try calls.client.send(#"{"type":"call","id":2,"function":"g","page":1}"#)
        #expect(try calls.page.line()["function"] == "g", "a page does not wait for the answer of another")
        try calls.client.send(#"{"type":"call","id":3,"function":"h","page":"socket/1"}"#)
        try calls.page.send(#"{"type":"result","call":2}"#)
        #expect(try calls.page.line()["function"] == "h")
        try second.send(#"{"type":"closeViz"}"#)
        #expect(try calls.client.reply().int("id") == 2)
        #expect(try calls.client.reply()["error"] == "the page has disconnected before it answered")
        try calls.client.send(#"{"type":"call","id":4,"function":"i"}"#)
        try calls.page.send(#"{"type":"result","call":3}"#)
        #expect(try calls.page.line()["function"] == "i")
        try await calls.fixture.close()
    }

    @Test func `page disconnects during a call: error for it and for the waiting calls`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        var page: SocketClient? = try fixture.page()
        let client = try fixture.quietClient()
        for number in 1...3 { try client.send("{\"type\":\"call\",\"id\":\(number),\"function\":\"f\"}") }
        #expect(try page?.line()["function"] == "f")
        page = nil
        for number in 1...3 {
            let reply = try client.line()
            #expect(reply.int("id") == number && reply["error"] == "the page has disconnected before it answered", "\(reply.text)")
        }
        try await fixture.close()
    }

    @Test func `client disconnects: its calls are dropped, those of others are sent`() async throws {
        let calls = try await CallFixture()
        var leaving: SocketClient? = try calls.fixture.quietClient()
        try leaving?.send(#"{"type":"call","id":1,"function":"f"}"#)
        #expect(try calls.page.line()["function"] == "f")
        try leaving?.send(#"{"type":"call","id":2,"function":"g"}"#)
        #expect(try leaving?.request(#"{"type":"status","id":0}"#).bool("ok") == true)
        try calls.client.send(#"{"type":"call","id":3,"function":"h"}"#)
        #expect(try calls.client.request(#"{"type":"status","id":0}"#).bool("ok") == true)
        leaving = nil
        #expect(try calls.page.line().text == #"{"type":"cancel","call":1}"#)
        #expect(try calls.page.line()["function"] == "h")
        try await calls.fixture.close()
    }

    @Test func `result without a call, result for another page's call: no effect`() async throws {
        let calls = try await CallFixture()
        let rogue = try calls.fixture.page()
        #expect(
            try rogue.request(#"{"type":"result","call":1,"value":1,"id":1}"#)["error"]
                == "call 1 does not wait for an answer of this client")
        try calls.client.send(#"{"type":"call","id":1,"function":"f","page":1}"#)
        #expect(try calls.page.line().int("call") == 1)
        for answer in ["result", "progress"] {
            #expect(try rogue.request("{\"type\":\"\(answer)\",\"call\":1,\"value\":666,\"id\":1}").bool("ok") == false)
        }
        // A client that is not a page, and the sender of the call itself, cannot answer it.
        #expect(try calls.client.request(#"{"type":"result","call":1,"value":666,"id":9}"#).bool("ok") == false)
        try calls.page.send(#"{"type":"result","call":1,"value":1}"#)
        #expect(try calls.client.line().int("value") == 1)
        // The second answer of the page.
        #expect(try calls.page.request(#"{"type":"result","call":1,"value":2,"id":2}"#).bool("ok") == false)
        #expect(try calls.client.request(#"{"type":"status","id":5}"#).int("id") == 5)
        try await calls.fixture.close()
    }

    @Test func `value of almost 1 MiB: passed on while samples are sent without a dropped batch`() async throws {
        let calls = try await CallFixture()
        let listener = try calls.fixture.client()
        try listener.expectHello()
        try calls.client.send(#"{"type":"call","id":1,"function":"f"}"#)
        _ = try calls.page.line()
        let value = "\"" + String(repeating: "x", count: (1 << 20) - 40) + "\""
        try calls.page.send("{\"type\":\"result\",\"call\":1,\"value\":\(value)}")
        for number in 0..<40 {
            try await calls.fixture.play()
            #expect(try listener.line().int("frame") == number * 1024)
        }
        #expect(try calls.client.readLine() == #"{"type":"reply","id":1,"ok":true,"error":null,"value":"# + value + "}")
        try await calls.fixture.close()
    }

    @Test func `value nested 500 deep: passed on; deeper than 512 or invalid: refused`() async throws {
        let calls = try await CallFixture()
        try calls.client.send(#"{"type":"call","id":1,"function":"f"}"#)
        _ = try calls.page.line()
        func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        try calls.page.send("{\"type\":\"result\",\"call\":1,\"value\":\(nested(513))}")
        #expect(try calls.page.line()["error"] == "brackets are nested more than 512 deep")
        for value in ["NaN", "[1,]", "01", "", "1,\"value\":2"] {
            try calls.page.send("{\"type\":\"result\",\"call\":1,\"value\":\(value)}")
            #expect(try calls.page.line().type == "error", "\(value)")
        }
        try calls.page.send("{\"type\":\"result\",\"call\":1,\"value\":\(nested(500))}")
        #expect(try calls.client.line().text.hasSuffix("\"value\":\(nested(500))}"))
        try await calls.fixture.close()
    }

    @Test(arguments: [
        (#""function":"""#, "\"function\" is empty"), (#""arguments":[]"#, "missing \"function\""),
        (#""function":"f","arguments":{}"#, "\"arguments\" is not a list"),
        (#""function":"f","arguments":[],"arguments":[1]"#, "\"arguments\" is given twice"),
        (#""function":"f","timeout_s":0"#, "\"timeout_s\" is more than 0 and at most 600"),
        (#""function":"f","timeout_s":601"#, "\"timeout_s\" is more than 0 and at most 600"),
        (#""function":"f","page":{}"#, "\"page\" is not a text"),
    ])
    func `invalid call: error says what is invalid`(fields: String, error: String) async throws {
        let calls = try await CallFixture()
        let reply = try calls.client.request("{\"type\":\"call\",\"id\":1,\(fields)}")
        #expect(reply.bool("ok") == false && reply["error"] == error, "\(reply.text)")
        try await calls.fixture.close()
    }

    @Test func `more than 64 calls without an answer: busy`() async throws {
        let calls = try await CallFixture()
        for number in 1...65 { try calls.client.send("{\"type\":\"call\",\"id\":\(number),\"function\":\"f\"}") }
        let reply = try calls.client.line()
        #expect(reply.int("id") == 65 && reply["error"]?.hasPrefix("busy: too many calls") == true, "\(reply.text)")
        try await calls.fixture.close()
    }

    @Test func `run ends during a call: error for the client`() async throws {
        let calls = try await CallFixture()
        try calls.client.send(#"{"type":"call","id":1,"function":"f"}"#)
        _ = try calls.page.line()
        try await calls.fixture.close()
        #expect(try calls.client.line()["error"] == "the run has ended")
        withExtendedLifetime(calls.page) {}
    }

    @Test func `closeViz of a client that is not a page: refused, unless it ends the run`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.quietClient()
        #expect(try client.request(#"{"type":"closeViz","id":1}"#)["error"] == "no page is connected")
        let page = try fixture.page()
        #expect(try client.request(#"{"type":"closeViz","id":2}"#)["error"]?.contains("exit_on_close=true") == true)
        withExtendedLifetime(page) {}
        try await fixture.close()
        let ending = try await SocketSinkFixture("exit_on_close=true")
        try await ending.begin()
        #expect(try ending.quietClient().request(#"{"type":"closeViz","id":1}"#).bool("ok") == true)
        try await ending.wait { ending.endRunCount == 1 }
        try await ending.close()
    }
}

/// Errors and messages that pages report.
@Suite(.mayNotHang) struct PageReportTests {
    @Test func `errors of a page: the first ten are warnings, the rest is counted at the end`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let page = try fixture.page()
        try page.send(#"{"type":"pageError","message":"TypeError: x","source":"http://localhost/app.js","line":12}"#)
        let long = String(repeating: "é", count: 10_000)
        for _ in 0..<500 { try page.send("{\"type\":\"pageError\",\"message\":\"\(long)\"}") }
        #expect(try page.request(#"{"type":"status","id":1}"#).bool("ok") == true)
        #expect(fixture.warnings.count == 10)
        #expect(fixture.warnings.first == "socket/1: error in the page: http://localhost/app.js:12: TypeError: x")
        #expect(fixture.warnings.allSatisfy { $0.utf8.count < 1100 })
        try await fixture.close()
        #expect(fixture.warnings.last == "pages reported 491 more errors within a minute")
    }

    @Test func `message of a page: submitted as a control if its body is JSON of at most 1024 bytes`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let page = try fixture.page()
        try page.send(#"{"type":"pageMessage","handler":"scene","body":"{\"name\":\"x\"}"}"#)
        try await fixture.wait { fixture.submitted.count == 2 }
        #expect(fixture.submitted[1].control == Control(.pageMessage, .text("scene"), .text(#"{"name":"x"}"#)))
        #expect(
            try page.request(#"{"type":"pageMessage","handler":"scene","body":"{name}","id":1}"#)["error"] == "\"body\" is not JSON text")
        let long = String(repeating: "1", count: 1025)
        #expect(
            try page.request("{\"type\":\"pageMessage\",\"handler\":\"scene\",\"body\":\"\(long)\",\"id\":1}")["error"]
                == "\"body\" is longer than 1024 bytes")
        try await fixture.close()
    }
}

extension SocketSinkFixture {
    /// A page that gets calls only, after its `ready` has taken effect.
    func page() throws -> SocketClient {
        let page = try quietClient()
        try page.send(#"{"type":"ready","presets":["x"]}"#)
        _ = try page.request(#"{"type":"status","id":0}"#)
        return page
    }

    /// A client that gets replies only.
    func quietClient() throws -> SocketClient {
        let client = try client()
        _ = try client.request(#"{"type":"subscribe","streams":[],"id":0}"#)
        return client
    }
}

extension SocketClient {
    /// The next reply.
    func reply() throws -> Line {
        while true {
            let line = try line()
            if line.type == "reply" { return line }
        }
    }
}
