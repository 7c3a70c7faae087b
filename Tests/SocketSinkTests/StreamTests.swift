import Foundation
import HemiolaSignal
import TestSupport
import Testing

/// What comes down the socket.
@Suite(.mayNotHang) struct StreamTests {
    @Test(arguments: [256, 1024, 1280, 4096], [1, 2, 6])
    func `every message has 1024 frames, and the audio has no hole`(batchFrames: Int, channels: Int) async throws {
        let stage = try await Stage(format: StreamFormat(sampleRate: 44_100, channelCount: channels))
        try await stage.begin(batchFrames: batchFrames)
        let client = try stage.client()
        try client.expectGreeting()
        let batches = (20_480 + batchFrames - 1) / batchFrames
        try await stage.play(batches, frames: batchFrames)
        try await stage.end()
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
                    let of = channels == 1 ? [0] : Array(stride(from: side, to: channels, by: 2))
                    let expected = frame < frames ? of.map { Double(Stage.sample(frame, $0)) }.reduce(0, +) / Double(of.count) : 0
                    let value = samples[2 * index + side]
                    if abs(value - expected) > 1e-6 { Issue.record("frame \(frame), side \(side): \(value) is not \(expected)") }
                }
            }
            next += 1024
        }
        try await stage.close()
        #expect(try client.readLine() == nil)
        #expect(stage.losses == [])
    }

    @Test func `lost audio ends a message, and the next begins behind it`() async throws {
        let stage = try await Stage()
        try await stage.begin(batchFrames: 256)
        let client = try stage.client()
        try client.expectGreeting()
        try await stage.play(1, frames: 256)
        stage.skip(5000)
        try await stage.play(4, frames: 256, events: [.gap(Gap(frames: 5000, reason: .deviceLost))])
        let first = try client.line()
        #expect(first.int("frame") == 0 && first.samples.count == 2048 && first.samples[512...].allSatisfy { $0 == 0 })
        // Sound is back: a page may have gone to sleep meanwhile.
        #expect(try client.line().type == "resumeAudio")
        #expect(try client.line().int("frame") == 5256)
        try await stage.close()
    }

    @Test func `base64 and bare carry the same`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let (json, base64, bare) = (try stage.client(), try stage.client(), try stage.client())
        for client in [json, base64, bare] { try client.expectGreeting() }
        #expect(try base64.ask(#"{"type":"subscribe","payload":"base64","id":1}"#).bool("ok") == true)
        try bare.send(#"{"type":"subscribe","payload":"bare","id":1}"#)
        // Bare clients get no answer: a control tells when it is through.
        try bare.send(#"{"type":"tap"}"#)
        try await stage.wait { !stage.wishes.isEmpty }
        try await stage.play()
        let samples = try json.line().samples
        #expect(samples.count == 2048)
        let text = try #require(try base64.line()["samples"])
        let bytes = [UInt8](try #require(Data(base64Encoded: text)))
        #expect(bytes.count == 8192)
        for index in 0..<2048 {
            let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[4 * index + $1]) << UInt32(8 * $1) }
            #expect(Float(bitPattern: bits) == Stage.sample(Int64(index / 2), index % 2))
        }
        let array = try JSONSerialization.jsonObject(with: Data(try #require(try bare.readLine()).utf8)) as? [Double]
        #expect(array == samples)
        try await stage.close()
        #expect(try bare.readLine() == nil)
    }

    @Test func `where bare is the default, nothing but arrays is sent`() async throws {
        let stage = try await Stage("payload=bare")
        try await stage.begin()
        let client = try stage.client()
        try client.send("garbage")
        try client.send(#"{"type":"tap","id":1}"#)
        try await stage.wait { !stage.wishes.isEmpty }
        stage.answer([0])
        try await stage.play(3, events: [.speed(0.5), .preset(PresetChange(name: "x", cut: .soft, blend: 1, reason: .timer))])
        try await stage.end()
        try await stage.close()
        let lines = try client.readAll()
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("[") && $0.hasSuffix("]") })
    }

    @Test func `bare is for those that only read, and they get nothing else`() async throws {
        let stage = try await Stage("payload=bare")
        try await stage.begin()
        let (one, two) = (try stage.client(), try stage.client())
        try one.send(#"{"type":"subscribe","streams":["beat"],"id":1}"#)
        #expect(try one.line().type == "hello")
        #expect(try one.line().bool("ok") == true)
        try two.send(#"{"type":"subscribe","streams":["pushSamples","beat"],"payload":"bare","id":1}"#)
        try two.send(#"{"type":"tap"}"#)
        try await stage.wait { !stage.wishes.isEmpty }
        try await stage.play(events: [.beat(Beat(beatsPerMinute: 120, position: 1, confidence: 0.5))])
        try await stage.close()
        #expect(try one.readAll().map { try Line($0).type } == ["beat"])
        let lines = try two.readAll()
        #expect(lines.count == 1 && lines[0].hasPrefix("["))
    }

    @Test func `whoever subscribes gets that alone, by the kinds of records`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let client = try stage.client()
        try client.expectGreeting()
        #expect(try client.ask(#"{"type":"subscribe","streams":["header","batch","beat","end"],"id":"s"}"#)["id"] == "s")
        let beat = Beat(beatsPerMinute: 120, position: 1, confidence: 0.5)
        try await stage.play(2, events: [.onset(Onset(strength: 1)), .beat(beat), .speed(0.5)])
        try await stage.end()
        try await stage.close()
        #expect(try client.readAll().map { try Line($0).type } == ["batch", "beat", "batch", "end"])
    }

    @Test func `a selection narrows the records and not what pages need`() async throws {
        let stage = try await Stage(selection: Selection(items: ["beat"]))
        try await stage.begin()
        let (page, reader) = (try stage.client(), try stage.client())
        for client in [page, reader] { try client.expectGreeting() }
        #expect(try reader.ask(#"{"type":"subscribe","streams":["batch","beat","speed"],"id":1}"#).bool("ok") == true)
        try page.send(#"{"type":"ready","presets":["x"]}"#)
        try await stage.wait { !stage.wishes.isEmpty }
        try await stage.play(events: [.beat(Beat(beatsPerMinute: 120, position: 1, confidence: 0.5)), .speed(0.5)])
        #expect(try page.line().type == "pushSamples")
        #expect(try page.line().double("speed") == 0.5)
        try await stage.end()
        try await stage.close()
        #expect(try reader.readAll().map { try Line($0).type } == ["beat"])
    }

    @Test func `a client that came before the sound is greeted when it begins, before anything else`() async throws {
        let stage = try await Stage()
        let client = try stage.client()
        try client.send("garbage")
        try client.send(#"{"type":"subscribe","id":1}"#)
        try client.send(#"{"type":"tap"}"#)
        try await stage.wait { !stage.wishes.isEmpty }
        try await stage.begin()
        try client.expectGreeting()
        #expect(try client.line().type == "error")
        #expect(try client.line().type == "reply")
        try await stage.close()
    }

    @Test func `another stream greets again`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let client = try stage.client()
        try client.expectGreeting()
        try await stage.play(1, frames: 700, partial: true)
        try await stage.end()
        try await stage.begin()
        try await stage.play()
        #expect(try client.line().samples[1400...].allSatisfy { $0 == 0 })
        try client.expectGreeting()
        #expect(try client.line().int("frame") == 0)
        try await stage.close()
    }

    @Test func `silence is pushed as zeros`() async throws {
        let stage = try await Stage(format: StreamFormat(sampleRate: 8000, channelCount: 1))
        try await stage.begin()
        let client = try stage.client()
        try client.expectGreeting()
        // Frame 1 048 577 of mono has the sample 1 / 2²⁰, and silence is a sample like any other: half a message of each.
        try await stage.play(1, frames: 512, partial: true)
        stage.skip(1)
        try await stage.play(2)
        let line = try client.line()
        #expect(line.samples.count == 2048 && line.samples[1024...].allSatisfy { $0 == 0 })
        try await stage.close()
    }
}
