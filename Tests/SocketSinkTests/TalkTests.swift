import Foundation
import HemiolaSignal
import TestSupport
import Testing

/// What clients say, and what they are told.
@Suite(.mayNotHang) struct TalkTests {
    private static func preset(_ name: String, _ reason: PresetChange.Reason = .timer) -> Event.Payload {
        .preset(PresetChange(name: name, cut: .soft, blend: 2.7, reason: reason))
    }

    @Test func `preset and speed wait until a page is ready`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let client = try stage.client()
        try client.expectGreeting()
        try await stage.play(events: [Self.preset("one"), .speed(0.5)])
        #expect(try client.line().type == "pushSamples")
        try await stage.play()
        #expect(try client.line().type == "pushSamples")
        try client.send(#"{"type":"ready","presets":["one","two"]}"#)
        let speed = try client.line()
        #expect(speed.text == #"{"type":"setSpeed","speed":0.5}"#)
        let preset = try client.line()
        #expect(preset.text == #"{"type":"loadPresetByName","name":"one","blend_s":0.0}"#)
        try await stage.play(events: [Self.preset("two \"</script>\" 😀\n")])
        #expect(try client.line().type == "pushSamples")
        #expect(try client.line().text == #"{"type":"loadPresetByName","name":"two \"</script>\" 😀\n","blend_s":2.7}"#)
        try await stage.wait { stage.wishes.count == 1 }
        #expect(stage.wishes[0].control == .ready(presets: ["one", "two"]) && stage.wishes[0].origin == "socket/1")
        try await stage.close()
    }

    @Test func `a page that does not say what it has is asked`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let client = try stage.client()
        try client.expectGreeting()
        try client.send(#"{"type":"ready"}"#)
        #expect(try client.line().type == "getPresetNames")
        try client.send(#"{"type":"presetNames","names":["x"]}"#)
        try await stage.wait { stage.wishes.count == 2 }
        #expect(stage.wishes[1].control == .presetNames(["x"]))
        try await stage.close()
    }

    @Test func `a late joiner is told how things stand`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let early = try stage.client()
        let hello = try early.line()
        #expect(hello.int("schema") == 1 && hello.int("sample_rate") == 44_100 && hello.int("batch_frames") == 1024)
        #expect(hello.object("source")["name"] as? String == "stage \"1\"")
        #expect(hello.object("visualizer").values.allSatisfy { $0 is NSNull } && hello.object("visualizer").count == 4)
        let toggle = StampedControl(.toggleCycle, at: 0, from: "socket/1")
        try await stage.play(events: [Self.preset("one"), Self.preset("two"), .speed(0.25), .control(toggle)])
        #expect(try early.line(except: "resumeAudio").type == "pushSamples")
        let late = try stage.client()
        let state = try late.line().object("visualizer")
        #expect(state["preset"] as? String == "two" && state["speed"] as? Double == 0.25 && state["cycling"] as? Bool == false)
        try await stage.close()
    }

    @Test func `a page is not told what it told itself, and the others are`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let (one, two) = (try stage.client(), try stage.client())
        for client in [one, two] {
            try client.expectGreeting()
            try client.send(#"{"type":"ready","presets":["x"]}"#)
        }
        try await stage.wait { stage.wishes.count == 2 }
        let told = StampedControl(.presetChanged(name: "x"), at: 0, from: "socket/1")
        let fast = StampedControl(.speedChanged(0.3), at: 0, from: "socket/1")
        try await stage.play(events: [.control(told), Self.preset("x", .page), .control(fast), .speed(0.3)])
        try await stage.play()
        #expect(try (0..<2).map { _ in try one.line().type } == ["pushSamples", "pushSamples"])
        #expect(try (0..<3).map { _ in try two.line().type } == ["pushSamples", "loadPresetByName", "setSpeed"])
        try await stage.close()
    }

    @Test func `answers come in the order of the requests, whatever the order of the effects`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let client = try stage.client()
        try client.expectGreeting()
        try client.send(#"{"type":"tap","id":1}"#)
        try client.send(#"{"type":"subscribe","streams":[],"id":"two"}"#)
        try client.send(#"{"type":"halveTempo","id":3.5}"#)
        try client.send(#"{"type":"nextPreset"}"#)
        try client.send(#"{"type":"setSpeed","id":4}"#)
        try client.send(#"{"type":"doubleTempo","id":5}"#)
        try await stage.wait { stage.wishes.count == 4 }
        #expect(stage.wishes.map(\.control) == [.tap, .halveTempo, .nextPreset, .doubleTempo])
        stage.answer([3], .busy)
        stage.answer([1], .refused("no \"tempo\""))
        stage.answer([0])
        #expect(try client.line().type == "error")
        #expect(
            try (0..<5).map { _ in try client.line().text } == [
                #"{"type":"reply","id":1,"ok":true,"error":null}"#, #"{"type":"reply","id":"two","ok":true,"error":null}"#,
                #"{"type":"reply","id":3.5,"ok":false,"error":"no \"tempo\""}"#,
                #"{"type":"reply","id":4,"ok":false,"error":"the control setSpeed needs its \"speed\""}"#,
                #"{"type":"reply","id":5,"ok":false,"error":"busy: too many controls at once; try again"}"#,
            ])
        try await stage.close()
    }

    @Test(arguments: [false, true]) func `closeViz ends its client, and the run where that is wished`(ends: Bool) async throws {
        let stage = try await Stage(ends ? "exit_on_close=true" : "")
        try await stage.begin()
        let (one, two) = (try stage.client(), try stage.client())
        for client in [one, two] { try client.expectGreeting() }
        try one.send(#"{"type":"closeViz","id":1}"#)
        #expect(try one.line().bool("ok") == true)
        #expect(try one.readLine() == nil)
        try await stage.play()
        #expect(try two.line().type == "pushSamples")
        #expect(stage.runsEnded == (ends ? 1 : 0))
        try await stage.close()
    }

    @Test func `garbage gets an error and a count, and harms nobody`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let (rogue, other) = (try stage.client(), try stage.client())
        for client in [rogue, other] { try client.expectGreeting() }
        let lines: [[UInt8]] = [
            Array("not JSON".utf8), Array("[1,2]".utf8), [0x7B, 0xFF, 0xFE, 0x7D], Array("{\"type\":\"frob\"}".utf8),
            Array(String(repeating: "[", count: 100_000).utf8), Array(#"{"type":"subscribe","streams":["x"]}"#.utf8),
            Array(#"{"type":"subscribe","payload":"mp3"}"#.utf8), [UInt8](repeating: 0x78, count: 3 << 20),
            Array("</script><script>alert(1)</script>".utf8), [0, 1, 2, 3],
        ]
        for (index, line) in lines.enumerated() {
            try rogue.send(bytes: line + [10])
            let error = try rogue.line()
            #expect(error.type == "error" && error.int("count") == index + 1, "\(error.text)")
        }
        // Without any newline, and a message in two halves.
        try rogue.send(bytes: Array(#"{"type":"#.utf8))
        try await stage.play(5)
        try rogue.send(bytes: Array("\"tap\"}\n".utf8))
        try await stage.wait { stage.wishes.count == 1 }
        for client in [rogue, other] {
            for number in 0..<5 { #expect(try client.line().int("frame") == number * 1024) }
        }
        try await stage.close()
        #expect(stage.losses == [])
    }

    @Test func `ten thousand presets and a flood of wishes are taken in order`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let client = try stage.client()
        try client.expectGreeting()
        let names = (0..<10_000).map { "preset \($0) 😀" }
        try client.send("{\"type\":\"ready\",\"presets\":[\(names.map { "\"\($0)\"" }.joined(separator: ","))],\"id\":1}")
        for number in 0..<500 { try client.send("{\"type\":\"loadPreset\",\"name\":\"\(number)\"}") }
        try await stage.wait { stage.wishes.count == 501 }
        #expect(stage.wishes[0].control == .ready(presets: names))
        #expect(stage.wishes.dropFirst().map(\.control) == (0..<500).map { .loadPreset(name: "\($0)") })
        stage.answer([0])
        #expect(try client.line().type == "reply")
        try await stage.close()
    }

    @Test func `status tells how things stand, as far as it is known`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let client = try stage.client()
        try client.expectGreeting()
        try client.send(#"{"type":"status","id":1}"#)
        #expect(
            try client.line().text
                == #"{"type":"status","preset":null,"speed":null,"cycling":null,"next_in_s":null,"bpm":null,"source":"stage \"1\"","device":null}"#
        )
        #expect(try client.line().text == #"{"type":"reply","id":1,"ok":true,"error":null}"#)
        let opened = DeviceNotice(name: "hdmi.monitor", summary: "HDMI \"1\"", state: .opened, format: stage.format)
        try await stage.play(events: [
            Self.preset("one"), .speed(0.5), .beat(Beat(beatsPerMinute: 120.5, position: 1, confidence: 1)), .device(opened),
        ])
        // A device change is sent without a request.
        let text =
            #"{"type":"status","preset":"one","speed":0.5,"cycling":true,"next_in_s":null,"bpm":120.5,"source":"stage \"1\"","#
            + #""device":{"name":"hdmi.monitor","description":"HDMI \"1\"","state":"opened"}}"#
        #expect(try client.line().text == text)
        #expect(try client.line().type == "pushSamples")
        try client.send(#"{"type":"status"}"#)
        #expect(try client.line().text == text)
        // A tempo without beats is none.
        try await stage.play(400)
        var line = try client.line()
        while line.int("frame") != 400 * 1024 { line = try client.line() }
        try client.send(#"{"type":"status"}"#)
        #expect(try client.line().isNull("bpm"))
        try await stage.close()
    }

    @Test func `a lost device is told to pages while no batch comes, and not to those that chose records`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let (page, other) = (try stage.client(), try stage.client())
        for client in [page, other] { try client.expectGreeting() }
        #expect(try other.ask(#"{"type":"subscribe","streams":["device"],"id":1}"#).bool("ok") == true)
        let lost = DeviceNotice(name: "d", summary: "D", state: .lost, format: stage.format)
        try await stage.write([Event(at: 3, .device(lost))])
        let status = try page.line()
        #expect(status.type == "status" && status.object("device")["state"] as? String == "lost")
        let record = try other.line()
        #expect(record.type == "device" && record["state"] == "lost" && record.double("t") == 3)
        try await stage.close()
    }

    @Test func `a client that has nothing more to say reads on`() async throws {
        let stage = try await Stage()
        try await stage.begin()
        let client = try stage.client()
        try client.expectGreeting()
        try client.send(bytes: Array(#"{"type":"tap","id":1}"#.utf8))
        client.finishSending()
        try await stage.wait { stage.wishes.count == 1 }
        stage.answer([0])
        #expect(try client.line().bool("ok") == true)
        try await stage.play()
        #expect(try client.line().type == "pushSamples")
        try await stage.close()
        #expect(try client.readLine() == nil)
    }
}
