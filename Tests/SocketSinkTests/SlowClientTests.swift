import Foundation
import HemiolaSignal
import TestSupport
import Testing

/// Clients that do not read as fast as they should.
@Suite(.mayNotHang) struct SlowClientTests {
    @Test func `a slow reader gets the newest and is told what it lost, and nobody else is concerned`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let (slow, other) = (try stage.client(), try stage.client())
        for client in [slow, other] { try client.expectGreeting() }
        // More than any system holds back for a reader who does not come.
        let count = 300
        for number in 0..<count {
            try await stage.play()
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
        try await stage.close()
        #expect(stage.losses.allSatisfy { $0.sink == "socket" && $0.client == "1" })
        #expect(stage.losses.reduce(0) { $0 + $1.batches } == lost)
        // Once a second of the stream, and at the end.
        #expect((2...9).contains(stage.losses.count), "\(stage.losses.count)")
    }

    @Test func `events outlive the batches that are dropped`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let client = try stage.client()
        try client.expectGreeting()
        #expect(try client.ask(#"{"type":"subscribe","streams":["pushSamples","onset"],"id":1}"#).bool("ok") == true)
        for number in 0..<200 { try await stage.play(events: [.onset(Onset(strength: Double(number)))]) }
        async let closed: Void = stage.close()
        let lines = try client.readAll().map { try Line($0) }
        try await closed
        #expect(lines.filter { $0.type == "onset" }.compactMap { $0.double("strength") } == (0..<200).map(Double.init))
        #expect(lines.count { $0.type == "pushSamples" } < 200 && lines.contains { $0.type == "dropped" })
    }

    @Test(arguments: [1, 10]) func `clients that never read do not hold up the end`(count: Int) async throws {
        let stage = try await Stage()
        try await stage.begin()
        let stalled = try (0..<count).map { _ in try stage.client() }
        for client in stalled { try client.expectGreeting() }
        try await stage.play(100)
        try await stage.end()
        try await stage.close()
        #expect(stage.losses.reduce(0) { $0 + $1.batches } > 50)
        withExtendedLifetime(stalled) {}
    }

    @Test func `what waits for a client that never reads is bounded in bytes, and the loss is counted`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let (stalled, other) = (try stage.client(), try stage.client())
        for client in [stalled, other] {
            try client.expectGreeting()
            #expect(try client.ask(#"{"type":"subscribe","streams":["control"],"id":1}"#).bool("ok") == true)
        }
        // A hundred records of 100 KB each: ten of them are a mebibyte.
        let names = (0..<100).map { "\($0)" + String(repeating: "x", count: 1000) }
        let list = Event.Payload.control(StampedControl(.presetNames(names), at: 0, from: "socket/9"))
        for _ in 0..<100 {
            try await stage.play(events: [list])
            #expect(try other.line().type == "control")
        }
        var (received, lost) = (0, 0)
        while received + lost < 100 {
            let line = try stalled.line()
            if line.type == "dropped" { lost += try #require(line.int("events")) } else { received += 1 }
        }
        #expect(received < 20, "\(received)")
        try await stage.close()
        #expect(stage.losses.reduce(0) { $0 + $1.events } == lost)
    }

    @Test func `one that asks and does not read has to wait, and gets every answer`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let client = try stage.client()
        try client.expectGreeting()
        #expect(try client.ask(#"{"type":"subscribe","streams":[],"id":-1}"#).bool("ok") == true)
        let count = 10_000
        var rest = Array((0..<count).map { "{\"type\":\"setSpeed\",\"speed\":\"x\",\"id\":\($0)}\n" }.joined().utf8)[...]
        // Until the other side has heard enough.
        for _ in 0..<100 {
            rest = rest.dropFirst(client.sendWhatFits(rest))
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(!rest.isEmpty)
        for number in 0..<count {
            rest = rest.dropFirst(client.sendWhatFits(rest))
            var line = try client.line()
            if line.type == "error" { line = try client.line() }
            if line.int("id") != number { Issue.record("answer \(number) is \(line.text)") }
        }
        try await stage.close()
    }
}
