import BridgeSupport
import Foundation
import Hemiola
import TestSupport
import Testing

@testable import WebSink

/// What a client can cost before it has shown the token.
@Suite(.mayNotHang) struct LimitTests {
    @Test func `header above 16 KiB: 431; request with a body: 413; text that is not HTTP: 400`() async throws {
        let fixture = try await WebSinkFixture()
        let long = String(repeating: "a", count: 17 << 10)
        #expect(try fixture.get("/", ["X-Long": long]).status == 431)
        #expect(try fixture.get("/?\(long)").status == 431)
        let connection = try fixture.connection()
        try connection.send(bytes: Array("GET / HTTP/1.1\r\nHost: \(fixture.host)\r\n".utf8))
        // The rest of the header arrives after the response: the connection is not reset.
        for number in 0..<2000 { try connection.send(bytes: Array("X-\(number): \(String(repeating: "b", count: 100))\r\n".utf8)) }
        #expect(try connection.readResponse().status == 431)
        #expect(try connection.readLine() == nil)
        let body = try fixture.connection()
        try body.sendRequest("/", method: "POST", headers: fixture.fields.merging(["Content-Length": "100000000"]) { $1 })
        try body.send(bytes: [UInt8](repeating: 0x78, count: 100_000))
        #expect(try body.readResponse().status == 413)
        #expect(try body.readLine() == nil)
        let noise = try fixture.connection()
        try noise.send(bytes: Array("\u{16}\u{3}\u{1}hello\r\n\r\n".utf8))
        #expect(try noise.readResponse().status == 400)
        #expect(try noise.readLine() == nil)
        #expect(try fixture.get("/").status == 200)
        try await fixture.close()
    }

    @Test func `header that is sent slowly: the connection is closed after 10 s`() async throws {
        let fixture = try await WebSinkFixture()
        let connection = try fixture.connection()
        let start = ContinuousClock.now
        try connection.send(bytes: Array("GET / HTTP/1.1\r\n".utf8))
        for number in 0..<100 {
            guard (try? connection.send(bytes: Array("X-\(number): 1\r\n".utf8))) != nil else { break }
            // Until the end of the connection, or the next line is due.
            do {
                _ = try connection.readLine(timeout: 0.5)
                break
            } catch {}
        }
        let duration = ContinuousClock.now - start
        #expect(duration > .seconds(9) && duration < .seconds(40), "\(duration)")
        try await fixture.close()
    }

    @Test func `many connections without a request: the oldest are closed, and a browser is served`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let client = try fixture.webClient()
        let idle = try (0..<200).map { _ in try fixture.connection() }
        #expect(try fixture.get("/").status == 200)
        for connection in idle[..<130] { _ = try connection.readToEnd() }
        #expect(idle.suffix(50).count { $0.isClosedByPeer } == 0)
        try await fixture.play()
        #expect(try client.line().type == "pushSamples")
        try await fixture.close()
        for connection in idle { _ = try connection.readToEnd() }
    }

    @Test func `several requests at once on one connection: are answered in order`() async throws {
        let fixture = try await WebSinkFixture()
        let connection = try fixture.connection()
        for _ in 0..<50 {
            try connection.sendRequest("/", headers: fixture.fields)
            try connection.sendRequest("/none", headers: fixture.fields)
        }
        for _ in 0..<50 { #expect(try [connection.readResponse().status, connection.readResponse().status] == [200, 404]) }
        try await fixture.close()
    }

    @Test func `thousandth request on one connection: is answered, and the connection ends`() async throws {
        let fixture = try await WebSinkFixture()
        let connection = try fixture.connection()
        for number in 1...1000 {
            try connection.sendRequest("/none", headers: fixture.fields)
            let response = try connection.readResponse()
            #expect(response.status == 404 && response.headers["connection"] == (number == 1000 ? "close" : nil))
        }
        #expect(try connection.readLine() == nil)
        try await fixture.close()
    }

    @Test func `metrics: text of Prometheus with the counters`() async throws {
        let fixture = try await WebSinkFixture()
        try await fixture.begin()
        let client = try fixture.webClient()
        try await fixture.play(9, events: [Gap(frames: 44_100, reason: .overrun), DropReport(sink: "csv", batches: 3)])
        fixture.clock.advance(by: 0.5)
        try await fixture.play()
        for _ in 0..<10 { _ = try client.readFrame() }
        let response = try fixture.get("/metrics")
        #expect(response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let lines = response.text.split(separator: "\n")
        for line in [
            "hemiola_batches_total 10.0", "hemiola_gaps_total 1.0", "hemiola_gap_seconds_total 1.0",
            #"hemiola_dropped_batches_total{sink="csv"} 3.0"#, #"hemiola_dropped_batches_total{sink="web"} 0.0"#, "hemiola_clients 1.0",
        ] { #expect(lines.contains(Substring(line)), "\(line)") }
        let names = Set(lines.filter { !$0.hasPrefix("#") }.map { $0.prefix { $0 != " " && $0 != "{" } })
        for name in names {
            #expect(lines.contains { $0.hasPrefix("# HELP \(name) ") } && lines.contains { $0.hasPrefix("# TYPE \(name) ") }, "\(name)")
        }
        let latency = try #require(lines.first { $0.hasPrefix("hemiola_latency_seconds ") }?.split(separator: " ").last)
        #expect(abs(try #require(Double(latency)) - (0.5 - 1024.0 / 44_100)) < 1e-6)
        try await fixture.close()
    }
}
