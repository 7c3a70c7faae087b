import BridgeSupport
import Foundation
import HemiolaRecords
import HemiolaVisualizer
import TestSupport
import Testing

/// Clients that read more slowly than the sink sends, or do not read.
@Suite(.mayNotHang) struct SlowClientTests {
    @Test func `slow client: gets the newest batches and a dropped line, other clients get every batch`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (slow, other) = (try fixture.client(), try fixture.client())
        for client in [slow, other] { try client.expectHello() }
        // More than the socket's buffer holds on any system.
        let count = 300
        for number in 0..<count {
            try await fixture.play()
            #expect(try other.line(except: "dropped").int("frame") == number * 1024)
        }
        var (next, lost) = (0, 0)
        while next < count * 1024 {
            let line = try slow.line()
            if line.type == "dropped" {
                #expect(line["sink"] == "socket" && line["client"] == "1")
                let batches = try #require(line.int("batches"))
                lost += batches
                next += batches * 1024
            } else {
                #expect(line.int("frame") == next)
                next += 1024
            }
        }
        #expect(lost > 0)
        try await fixture.close()
        #expect(fixture.drops.allSatisfy { $0.sink == "socket" && $0.client == "1" })
        #expect(fixture.drops.reduce(0) { $0 + $1.batches } == lost)
        // Reports that become a record: once a second of the stream, and at the end.
        let records = fixture.drops.count { !$0.isOngoing }
        #expect((2...9).contains(records), "\(records)")
    }

    @Test func `dropped batches: their events are still sent`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        #expect(try client.request(#"{"type":"subscribe","streams":["pushSamples","onset"],"id":1}"#).bool("ok") == true)
        for number in 0..<200 { try await fixture.play(events: [Onset(strength: Double(number))]) }
        async let closed: Void = fixture.close()
        let lines = try client.readAll().map { try Line($0) }
        try await closed
        #expect(lines.filter { $0.type == "onset" }.compactMap { $0.double("strength") } == (0..<200).map(Double.init))
        #expect(lines.count { $0.type == "pushSamples" } < 200 && lines.contains { $0.type == "dropped" })
    }

    @Test(arguments: [1, 10]) func `clients that never read: do not delay the end of the run`(count: Int) async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let stalled = try (0..<count).map { _ in try fixture.client() }
        for client in stalled { try client.expectHello() }
        try await fixture.play(100)
        try await fixture.end()
        try await fixture.close()
        #expect(fixture.drops.reduce(0) { $0 + $1.batches } > 50)
        withExtendedLifetime(stalled) {}
    }

    @Test func `client that never reads: its queue is limited in bytes, and the dropped lines are counted`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (stalled, other) = (try fixture.client(), try fixture.client())
        for client in [stalled, other] {
            try client.expectHello()
            #expect(try client.request(#"{"type":"subscribe","streams":["control"],"id":1}"#).bool("ok") == true)
        }
        // A hundred records of 100 KB each: ten of them exceed the queue's limit of 1 MiB.
        let names = (0..<100).map { "\($0)" + String(repeating: "x", count: 1000) }
        let list = StampedControl(Control(.presetNames, .texts(names)), at: 0, from: "socket/9")
        for _ in 0..<100 {
            try await fixture.play(controls: [list])
            #expect(try other.line().type == "control")
        }
        var (received, lost) = (0, 0)
        while received + lost < 100 {
            let line = try stalled.line()
            if line.type == "dropped" { lost += try #require(line.int("events")) } else { received += 1 }
        }
        #expect(received < 20, "\(received)")
        try await fixture.close()
        #expect(fixture.drops.reduce(0) { $0 + $1.events } == lost)
    }

    @Test func `client that leaves replies unread: is disconnected with the reason, other clients get every batch`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (client, other) = (try fixture.client(), try fixture.client())
        for reader in [client, other] { try reader.expectHello() }
        #expect(try client.request(#"{"type":"subscribe","streams":[],"id":-1}"#).bool("ok") == true)
        // The answer is more than 2 KB: an error, and a reply with the names of all streams and an id of 1.5 KB, as it is escaped.
        let id = String(repeating: #"\u0001"#, count: 250)
        let request = Array((#"{"type":"subscribe","streams":["x"],"id":""# + id + "\"}\n").utf8)
        // Fewer messages than the limit of a second, however fast they are.
        for number in 1...3900 where fixture.warnings.isEmpty {
            _ = try? client.send(bytes: request)
            if number.isMultiple(of: 500) {
                try await fixture.play()
                #expect(try other.line(except: "dropped").type == "pushSamples")
            }
        }
        try await fixture.wait { !fixture.warnings.isEmpty }
        let reason = "disconnected: more than 4 MiB of replies and other messages are unread"
        #expect(fixture.warnings == ["socket/1: \(reason)"])
        // The reason is the last line of a client that reads now; otherwise the connection ends without it after half a second.
        let lines = try client.readAll()
        #expect(lines.last.map { $0.contains(reason) } == true, "\(lines.last ?? "")")
        try await fixture.play()
        #expect(try other.line(except: "dropped").type == "pushSamples")
        try await fixture.close()
    }

    @Test func `client that floods: is disconnected with the reason`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (client, other) = (try fixture.client(), try fixture.client())
        for reader in [client, other] { try reader.expectHello() }
        let lines = Array(repeating: "{\"type\":\"tap\"}\n", count: 20_000).joined()
        _ = try? client.send(bytes: Array(lines.utf8))
        let reason = "disconnected: more than 4000 messages or 64 MiB were sent within a second"
        #expect(try client.line()["error"] == reason)
        #expect(try client.readLine() == nil)
        #expect(fixture.warnings == ["socket/1: \(reason)"])
        #expect(fixture.submitted.count >= 4000)
        try await fixture.play()
        #expect(try other.line().type == "pushSamples")
        try await fixture.close()
    }

    @Test func `message longer than 1 MiB: the client is disconnected with the reason`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        _ = try? client.send(bytes: [UInt8](repeating: 0x78, count: 3 << 20))
        #expect(try client.line()["error"] == "disconnected: a message is longer than 1048576 bytes")
        #expect(try client.readLine() == nil)
        try await fixture.close()
    }
}
