import BridgeSupport
import Foundation
import HemiolaRecords
import HemiolaSignal
import HemiolaVisualizer
import TestSupport
import Testing

/// The samples and records that clients get.
@Suite(.mayNotHang) struct StreamTests {
    @Test(arguments: [256, 1024, 1280, 4096], [1, 2, 6])
    func `batches of any size: every message has 1024 frames, and no frame is missing`(batchFrames: Int, channels: Int) async throws {
        let fixture = try await SocketSinkFixture(format: StreamFormat(sampleRate: 44_100, channelCount: channels))
        try await fixture.begin(batchFrames: batchFrames)
        let client = try fixture.client()
        try client.expectHello()
        let batches = (20_480 + batchFrames - 1) / batchFrames
        try await fixture.play(batches, frames: batchFrames)
        try await fixture.end()
        let frames = Int64(batches * batchFrames)
        var next: Int64 = 0
        while next < frames {
            let line = try client.line()
            #expect(line.type == "pushSamples" && line.int("frame") == Int(next))
            let samples = line.samples
            try #require(samples.count == 2048)
            for index in 0..<1024 {
                let frame = next + Int64(index)
                for side in 0..<2 {
                    let inputs = channels == 1 ? [0] : Array(stride(from: side, to: channels, by: 2))
                    let expected =
                        frame < frames ? inputs.map { Double(SocketSinkFixture.sample(frame, $0)) }.reduce(0, +) / Double(inputs.count) : 0
                    let value = samples[2 * index + side]
                    if abs(value - expected) > 1e-6 { Issue.record("frame \(frame), side \(side): \(value) is not \(expected)") }
                }
            }
            next += 1024
        }
        try await fixture.close()
        #expect(try client.readLine() == nil)
        #expect(fixture.drops == [])
    }

    @Test func `gap in the audio: ends a message, and the next message begins after it`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin(batchFrames: 256)
        let client = try fixture.client()
        try client.expectHello()
        try await fixture.play(1, frames: 256)
        fixture.skip(5000)
        try await fixture.play(4, frames: 256, events: [Gap(frames: 5000, reason: .deviceLost)])
        let first = try client.line()
        #expect(first.int("frame") == 0 && first.samples.count == 2048 && first.samples[512...].allSatisfy { $0 == 0 })
        // A page may have suspended its audio during the gap.
        #expect(try client.line().type == "resumeAudio")
        #expect(try client.line().int("frame") == 5256)
        try await fixture.close()
    }

    @Test func `payload base64 and bare: the same samples as json`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (json, base64, bare) = (try fixture.client(), try fixture.client(), try fixture.client())
        for client in [json, base64, bare] { try client.expectHello() }
        #expect(try base64.request(#"{"type":"subscribe","payload":"base64","id":1}"#).bool("ok") == true)
        try bare.send(#"{"type":"subscribe","payload":"bare","id":1}"#)
        // A bare client gets no reply; a control shows that the subscription has been processed.
        try bare.send(#"{"type":"tap"}"#)
        try await fixture.wait { !fixture.submitted.isEmpty }
        try await fixture.play()
        let samples = try json.line().samples
        #expect(samples.count == 2048)
        let text = try #require(try base64.line()["samples"])
        let bytes = [UInt8](try #require(Data(base64Encoded: text)))
        #expect(bytes.count == 8192)
        for index in 0..<2048 {
            let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[4 * index + $1]) << UInt32(8 * $1) }
            #expect(Float(bitPattern: bits) == SocketSinkFixture.sample(Int64(index / 2), index % 2))
        }
        let array = try JSONSerialization.jsonObject(with: Data(try #require(try bare.readLine()).utf8)) as? [Double]
        #expect(array == samples)
        try await fixture.close()
        #expect(try bare.readLine() == nil)
    }

    @Test func `payload=bare: a client that does not subscribe gets only arrays`() async throws {
        let fixture = try await SocketSinkFixture("payload=bare")
        try await fixture.begin()
        let client = try fixture.client()
        try client.send("garbage")
        try client.send(#"{"type":"tap","id":1}"#)
        try await fixture.wait { !fixture.submitted.isEmpty }
        fixture.reply(to: 0)
        try await fixture.play(3, events: [SpeedChange(0.5), PresetChange(name: "x", cut: .soft, blend: 1, reason: .timer)])
        try await fixture.end()
        try await fixture.close()
        let lines = try client.readAll()
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("[") && $0.hasSuffix("]") })
    }

    @Test func `payload=bare: a client that subscribes gets json unless it requests bare`() async throws {
        let fixture = try await SocketSinkFixture("payload=bare")
        try await fixture.begin()
        let (one, two) = (try fixture.client(), try fixture.client())
        try one.send(#"{"type":"subscribe","streams":["beat"],"id":1}"#)
        #expect(try one.line().type == "hello")
        #expect(try one.line().bool("ok") == true)
        try two.send(#"{"type":"subscribe","streams":["pushSamples","beat"],"payload":"bare","id":1}"#)
        try two.send(#"{"type":"tap"}"#)
        try await fixture.wait { !fixture.submitted.isEmpty }
        try await fixture.play(events: [Beat(beatsPerMinute: 120, position: 1, confidence: 0.5)])
        try await fixture.close()
        #expect(try one.readAll().map { try Line($0).type } == ["beat"])
        let lines = try two.readAll()
        #expect(lines.count == 1 && lines[0].hasPrefix("["))
    }

    @Test func `subscription to record types: only these are sent`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        #expect(try client.request(#"{"type":"subscribe","streams":["header","batch","beat","end"],"id":"s"}"#)["id"] == "s")
        let beat = Beat(beatsPerMinute: 120, position: 1, confidence: 0.5)
        try await fixture.play(2, events: [Onset(strength: 1), beat, SpeedChange(0.5)])
        try await fixture.end()
        try await fixture.close()
        #expect(try client.readAll().map { try Line($0).type } == ["batch", "beat", "batch", "end"])
    }

    @Test func `select: limits the records, but not samples and page commands`() async throws {
        let fixture = try await SocketSinkFixture(selection: Selection(items: ["beat"]))
        try await fixture.begin()
        let (page, reader) = (try fixture.client(), try fixture.client())
        for client in [page, reader] { try client.expectHello() }
        #expect(try reader.request(#"{"type":"subscribe","streams":["batch","beat","speed"],"id":1}"#).bool("ok") == true)
        try page.send(#"{"type":"ready","presets":["x"]}"#)
        try await fixture.wait { !fixture.submitted.isEmpty }
        try await fixture.play(events: [Beat(beatsPerMinute: 120, position: 1, confidence: 0.5), SpeedChange(0.5)])
        #expect(try page.line().type == "pushSamples")
        #expect(try page.line().double("speed") == 0.5)
        try await fixture.end()
        try await fixture.close()
        #expect(try reader.readAll().map { try Line($0).type } == ["beat"])
    }

    @Test func `client that connects before the stream: gets hello first`() async throws {
        let fixture = try await SocketSinkFixture()
        let client = try fixture.client()
        try client.send("garbage")
        try client.send(#"{"type":"subscribe","id":1}"#)
        try client.send(#"{"type":"tap"}"#)
        try await fixture.wait { !fixture.submitted.isEmpty }
        try await fixture.begin()
        try client.expectHello()
        #expect(try client.line().type == "error")
        #expect(try client.line().type == "reply")
        try await fixture.close()
    }

    @Test func `second stream: hello is sent again`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        try await fixture.play(1, frames: 700, partial: true)
        try await fixture.end()
        try await fixture.begin()
        try await fixture.play()
        #expect(try client.line().samples[1400...].allSatisfy { $0 == 0 })
        try client.expectHello()
        #expect(try client.line().int("frame") == 0)
        try await fixture.close()
    }

    @Test func `gap of one frame: the message before it is padded with zeros`() async throws {
        let fixture = try await SocketSinkFixture(format: StreamFormat(sampleRate: 8000, channelCount: 1))
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        try await fixture.play(1, frames: 512, partial: true)
        fixture.skip(1)
        try await fixture.play(2)
        let line = try client.line()
        #expect(line.samples.count == 2048 && line.samples[1024...].allSatisfy { $0 == 0 })
        try await fixture.close()
    }
}
