import BridgeSupport
import Hemiola
import HemiolaVisualizer
import TestSupport
import Testing

@testable import WebSink

/// The messages of WebSocket clients, and their framing.
@Suite(.mayNotHang) struct WebSocketTests {
    @Test func `two clients with different payloads: each gets every sample, as text and as binary messages`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let (text, binary) = (try fixture.webClient(), try fixture.webClient())
        #expect(try binary.request(#"{"type":"subscribe","payload":"binary","id":1}"#).bool("ok") == true)
        for number in 0..<20 {
            fixture.clock.advance(by: 0.02)
            try await fixture.play()
            let line = try text.line()
            #expect(line.type == "pushSamples" && line.int("frame") == number * 1024 && !line.text.hasSuffix("\n"))
            let message = try binary.samples()
            #expect(message.kind == 1 && Int(message.sequence) == number && message.frame == Double(number * 1024))
            #expect(message.hostMilliseconds == fixture.clock.now * 1000)
            let expected = (0..<2048).map { WebSinkFixture.sample(Int64(number * 1024 + $0 / 2), $0 % 2) }
            #expect(message.samples == expected)
        }
        try await fixture.close()
    }

    @Test func `sequence: counts the messages of the stream before the client connected, and begins again with a stream`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        try await fixture.play(3)
        let client = try fixture.webClient()
        #expect(try client.request(#"{"type":"subscribe","payload":"binary","id":1}"#).bool("ok") == true)
        try await fixture.play(2)
        #expect(try client.samples().sequence == 3)
        #expect(try client.samples().sequence == 4)
        try await fixture.end()
        try await fixture.begin()
        #expect(try client.line().type == "hello")
        #expect(try client.line().type == "resumeAudio")
        try await fixture.play()
        let message = try client.samples()
        #expect(message.sequence == 0 && message.frame == 0)
        try await fixture.close()
    }

    @Test func `clock: is answered with the client's time and the host's monotonic clock`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let client = try fixture.webClient()
        for sent in ["0", "12.5", "1700000000123.456", "1e300", "-3"] {
            fixture.clock.advance(by: 0.0125)
            try client.send(#"{"type":"clock","sent":\#(sent)}"#)
            let line = try client.line()
            #expect(line.type == "clock" && line.double("sent") == Double(sent))
            #expect(abs(try #require(line.double("host_ms")) - fixture.clock.now * 1000) < 0.001)
        }
        try client.send(#"{"type":"clock"}"#)
        #expect(try client.line().text.contains(#"missing \"sent\""#))
        try await fixture.close()
    }

    @Test func `requests: replies in the order of the requests, and controls with the origin web`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let client = try fixture.webClient()
        for text in [
            #"{"type":"tap","id":1}"#, #"{"type":"halveTempo","id":2}"#, #"{"type":"status","id":3}"#, #"{"type":"ready","presets":["x"]}"#,
        ] { try client.send(text) }
        try await fixture.wait { fixture.submitted.count == 3 }
        #expect(fixture.submitted.map(\.control.type) == [.tap, .halveTempo, .ready])
        #expect(fixture.submitted.allSatisfy { $0.origin == "web/1" })
        #expect(try client.line().type == "status")
        fixture.reply(to: 1)
        fixture.reply(to: 0, with: .busy)
        #expect(try (0..<3).map { _ in try client.line().int("id") } == [1, 2, 3])
        try await fixture.close()
    }

    @Test(arguments: [
        #""type":"windowReady""#, #""type":"window","action":"reload""#,
        #""type":"tabs","active":"a","tabs":[{"id":"a","title":"A","path":"/a"},{"id":"b","title":"B","path":"/b"}]"#,
        #""type":"import","name":"x","path":"/etc/hostname""#,
    ])
    func `page in a browser: can neither be a window nor control one, nor name a file`(message: String) async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let client = try fixture.webClient()
        let reply = try client.request("{\"id\":1,\(message)}")
        let title = message.contains("import") ? "imports" : "messages of windows"
        #expect(reply.bool("ok") == false && reply["error"] == "\(title) are accepted on the sink socket only", "\(reply.text)")
        try await fixture.close()
    }

    @Test func `message in several frames, with pings between: is one message`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let client = try fixture.webClient()
        try client.send(kind: 0x01, Array(#"{"type":"#.utf8))
        try client.send(kind: 0x89, Array("beat".utf8))
        try client.send(kind: 0x00, Array(#""status","id""#.utf8))
        try client.send(kind: 0x00, [])
        try client.send(kind: 0x80, Array(":7}".utf8))
        // The ping is answered after what was received with it.
        let frames = try (0..<3).map { _ in try #require(try client.readFrame()) }
        #expect(frames.filter { $0.kind == 0x8A }.map(\.text) == ["beat"])
        let lines = try frames.filter(\.isText).map { try Line($0.text) }
        #expect(lines.count == 2)
        #expect(lines.first?.type == "status")
        #expect(lines.last?.int("id") == 7)
        try await fixture.close()
    }

    @Test func `message of 1 MiB: is read; a longer one closes the connection with 1009`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let client = try fixture.webClient()
        let start = #"{"type":"status","id":1,"x":""#
        let text = start + String(repeating: "a", count: 1 << 20 - start.count - 2) + "\"}"
        #expect(text.utf8.count == 1 << 20)
        #expect(try client.request(text).bool("ok") == true)
        // In one frame, and in several. The connection is closed with the rest of the frame unread, which must not reset it.
        try client.send(kind: 0x81, [UInt8](repeating: 0x20, count: 8 << 20))
        try client.expectClose(1009)
        let other = try fixture.webClient()
        try other.send(kind: 0x01, [UInt8](repeating: 0x20, count: 1 << 20))
        try other.send(kind: 0x80, [0x20])
        try other.expectClose(1009)
        try await fixture.close()
    }

    @Test(
        arguments: [
            (0x81, false, 1002), (0xC1, true, 1002), (0x80, true, 1002), (0x83, true, 1002), (0x82, true, 1003), (0x8B, true, 1002),
            (0x09, true, 1002),
        ] as [(UInt8, Bool, Int)]) func `invalid frame: closes the connection with its code`(kind: UInt8, isMasked: Bool, code: Int)
        async throws
    {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let (client, other) = (try fixture.webClient(), try fixture.webClient())
        try client.send(kind: kind, Array("{}".utf8), isMasked: isMasked)
        try client.expectClose(code)
        #expect(try client.readFrame() == nil)
        try await fixture.play()
        #expect(try other.line().type == "pushSamples")
        try await fixture.close()
    }

    @Test func `invalid messages: each gets an error with a count, and the connection stays open`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let client = try fixture.webClient()
        for (index, text) in ["not JSON", "[1]", #"{"type":"frob"}"#, #"{"type":"subscribe","payload":"mp3"}"#].enumerated() {
            try client.send(text)
            let line = try client.line()
            #expect(line.type == "error" && line.int("count") == index + 1)
        }
        #expect(try client.request(#"{"type":"status","id":1}"#).bool("ok") == true)
        try await fixture.close()
    }

    @Test(arguments: [false, true]) func `closeViz: closes the connection, and with exit_on_close ends the run`(ends: Bool) async throws {
        let fixture = try await WebSinkFixture(ends ? "exit_on_close=true" : "")
        try await fixture.begin()
        let (one, two) = (try fixture.webClient(), try fixture.webClient())
        try one.send(#"{"type":"closeViz","id":1}"#)
        #expect(try one.line().bool("ok") == true)
        try one.expectClose(1001)
        try await fixture.play()
        #expect(try two.line().type == "pushSamples")
        #expect(fixture.endRunCount == (ends ? 1 : 0))
        try await fixture.close()
        try two.expectClose(1001)
    }

    @Test func `client that closes: gets its code back, and frees its slot`() async throws {
        let fixture = try await WebSinkFixture("max_clients=1")
        try await fixture.begin()
        for _ in 0..<20 {
            let client = try fixture.webClient()
            try client.send(kind: 0x88, [0x03, 0xE8])
            try client.expectClose(1000)
            #expect(try client.readFrame() == nil)
        }
        let client = try fixture.webClient()
        let refused = try WebSocketClient(port: fixture.port, headers: ["Cookie": "hemiola=\(fixture.token)"])
        #expect(try refused.line().text.contains("client limit reached (1); raise max_clients"))
        try refused.expectClose(1001)
        try await fixture.play()
        #expect(try client.line().type == "pushSamples")
        try await fixture.close()
    }

    @Test func `client that never reads: gets the newest batches, and other clients get every batch`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let (slow, other) = (try fixture.webClient(), try fixture.webClient())
        for client in [slow, other] { #expect(try client.request(#"{"type":"subscribe","payload":"binary","id":1}"#).bool("ok") == true) }
        // The kernel's buffers of a connection on the loopback interface hold some megabytes.
        let count = 1500
        for number in 0..<count {
            try await fixture.play()
            let frame = try #require(try other.readFrame())
            if frame.isBinary { #expect(try SampleMessage(frame.bytes).sequence == UInt32(number)) }
        }
        var (next, lost) = (UInt32(0), 0)
        while next < count {
            let frame = try #require(try slow.readFrame())
            if frame.isBinary {
                let message = try SampleMessage(frame.bytes)
                #expect(message.sequence == next)
                next += 1
            } else {
                let line = try Line(frame.text)
                #expect(line.type == "dropped" && line["sink"] == "web" && line["client"] == "1")
                let batches = try #require(line.int("batches"))
                lost += batches
                next += UInt32(batches)
            }
        }
        #expect(lost > 500, "\(lost)")
        try await fixture.close()
        #expect(fixture.drops.reduce(0) { $0 + $1.batches } == lost)
    }

    @Test func `client that sends pings and does not read: only the last of the waiting pings is answered`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let client = try fixture.webClient()
        // More than the kernel's buffers of the connection hold: 10 MB of answers.
        let count = 80_000
        let padding = String(repeating: ".", count: 118)
        for start in stride(from: 0, to: count, by: 1000) {
            let pings = (start..<start + 1000).flatMap { WebSocketClient.frame(kind: 0x89, Array("\($0) \(padding)".utf8)) }
            try client.socket.send(bytes: pings)
        }
        var (answers, last) = (0, -1)
        while last < count - 1 {
            let frame = try #require(try client.readFrame())
            try #require(frame.kind == 0x8A)
            let number = try #require(Int(frame.text.prefix { $0 != " " }))
            #expect(number > last)
            (answers, last) = (answers + 1, number)
        }
        #expect(answers < count)
        try await fixture.close()
    }
}
