import BridgeSupport
import Foundation
import HemiolaRecords
import HemiolaVisualizer
import TestSupport
import Testing

/// The messages between clients and the sink.
@Suite(.mayNotHang) struct ProtocolTests {
    private static func preset(_ name: String, _ reason: PresetChange.Reason = .timer) -> PresetChange {
        PresetChange(name: name, cut: .soft, blend: 2.7, reason: reason)
    }

    /// A `toggleCycle` with what it has led to.
    private static func toggle(isOn: Bool?) -> StampedControl {
        var toggle = StampedControl(Control(.toggleCycle), at: 0, from: "socket/1")
        toggle.isOn = isOn
        return toggle
    }

    @Test func `page that has not sent ready: gets preset and speed after ready, not before`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        try await fixture.play(events: [Self.preset("one"), SpeedChange(0.5)])
        #expect(try client.line().type == "pushSamples")
        try await fixture.play()
        #expect(try client.line().type == "pushSamples")
        try client.send(#"{"type":"ready","presets":["one","two \"</script>\" 😀\n"]}"#)
        let speed = try client.line()
        #expect(speed.text == #"{"type":"setSpeed","speed":0.5}"#)
        let preset = try client.line()
        #expect(preset.text == #"{"type":"loadPresetByName","name":"one","blend_s":0.0}"#)
        try await fixture.play(events: [Self.preset("two \"</script>\" 😀\n")])
        #expect(try client.line().type == "pushSamples")
        #expect(try client.line().text == #"{"type":"loadPresetByName","name":"two \"</script>\" 😀\n","blend_s":2.7}"#)
        try await fixture.wait { fixture.submitted.count == 1 }
        #expect(
            fixture.submitted[0].control == Control(.ready, .texts(["one", "two \"</script>\" 😀\n"]))
                && fixture.submitted[0].origin == "socket/1")
        try await fixture.close()
    }

    @Test func `ready without presets: is answered with getPresetNames`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        try client.send(#"{"type":"ready"}"#)
        #expect(try client.line().type == "getPresetNames")
        try client.send(#"{"type":"presetNames","names":["x"]}"#)
        try await fixture.wait { fixture.submitted.count == 2 }
        #expect(fixture.submitted[1].control == Control(.presetNames, .texts(["x"])))
        try await fixture.close()
    }

    @Test func `client that connects later: hello has preset, speed, cycling and favourites`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let early = try fixture.client()
        let hello = try early.line()
        #expect(hello.int("schema") == 2 && hello.int("sample_rate") == 44_100 && hello.int("batch_frames") == 1024)
        #expect(hello.object("source")["name"] as? String == "fixture \"1\"")
        let unknown = hello.object("visualizer").filter { $0.key != "favourites" }
        #expect(unknown.values.allSatisfy { $0 is NSNull } && unknown.count == 4)
        #expect(hello.object("visualizer")["favourites"] as? [String] == [])
        let favourites = StampedControl(Control(.setFavourites, .texts(["\"x\"", "y"])), at: 0, from: "socket/1")
        try await fixture.play(events: [Self.preset("one")])
        try await fixture.play(
            events: [Self.preset("two", .request), SpeedChange(0.25)], controls: [Self.toggle(isOn: false), favourites])
        #expect(try early.line(except: "resumeAudio").type == "pushSamples")
        let late = try fixture.client()
        let state = try late.line().object("visualizer")
        #expect(state["preset"] as? String == "two" && state["speed"] as? Double == 0.25 && state["cycling"] as? Bool == false)
        #expect(state["favourites"] as? [String] == ["\"x\"", "y"])
        try await fixture.close()
    }

    @Test func `cycling: as the toggle says, also after the sink was opened again`() async throws {
        let fixture = try await SocketSinkFixture()
        func cycling() throws -> Bool? { try fixture.client().line().object("visualizer")["cycling"] as? Bool }
        try await fixture.begin()
        try await fixture.play(controls: [Self.toggle(isOn: false)])
        #expect(try cycling() == false)
        try await fixture.reopen()
        try await fixture.begin()
        #expect(try cycling() == nil)
        try await fixture.play(controls: [Self.toggle(isOn: true)])
        #expect(try cycling() == true)
        try await fixture.play(controls: [Self.toggle(isOn: false), Self.toggle(isOn: true)])
        #expect(try cycling() == true)
        // The handler of another plugin does not say.
        try await fixture.play(controls: [Self.toggle(isOn: nil)])
        #expect(try cycling() == nil)
        try await fixture.close()
    }

    @Test(arguments: [PresetChange.Reason.timer, .bar, .beat, .drop, .segment])
    func `automatic change: presets cycle`(reason: PresetChange.Reason) async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        try await fixture.play(events: [Self.preset("one", reason)])
        #expect(try fixture.client().line().object("visualizer")["cycling"] as? Bool == true)
        try await fixture.close()
    }

    @Test(arguments: [false, true]) func `next stream: cycling is unknown for a file, and stays for live capture`(isLive: Bool) async throws
    {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin(isLive: isLive)
        try await fixture.play(controls: [Self.toggle(isOn: false)])
        try await fixture.end()
        try await fixture.begin(isLive: isLive)
        #expect(try fixture.client().line().object("visualizer")["cycling"] as? Bool == (isLive ? false : nil))
        try await fixture.close()
    }

    @Test func `next file: cycling stays while a page is connected`() async throws {
        let fixture = try await SocketSinkFixture()
        func nextCycling(after controls: StampedControl...) async throws -> Bool? {
            try await fixture.play(controls: controls)
            try await fixture.end()
            try await fixture.begin(isLive: false)
            return try fixture.client().line().object("visualizer")["cycling"] as? Bool
        }
        try await fixture.begin(isLive: false)
        let ready = StampedControl(Control(.ready, .texts(["x"])), at: 0, from: "web/1")
        #expect(try await nextCycling(after: ready, Self.toggle(isOn: true)) == true)
        #expect(try await nextCycling(after: StampedControl(Control(.pageClosed), at: 0, from: "web/1")) == nil)
        try await fixture.close()
    }

    @Test func `change that a page reports: is sent to the other pages only`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (one, two) = (try fixture.client(), try fixture.client())
        for client in [one, two] {
            try client.expectHello()
            try client.send(#"{"type":"ready","presets":["x"]}"#)
        }
        try await fixture.wait { fixture.submitted.count == 2 }
        let changed = StampedControl(Control(.presetHandler, .text("x")), at: 0, from: "socket/1")
        let faster = StampedControl(Control(.speedHandler, .number(0.3)), at: 0, from: "socket/1")
        try await fixture.play(events: [Self.preset("x", .page), SpeedChange(0.3)], controls: [changed, faster])
        try await fixture.play()
        #expect(try (0..<2).map { _ in try one.line().type } == ["pushSamples", "pushSamples"])
        #expect(try (0..<3).map { _ in try two.line().type } == ["pushSamples", "loadPresetByName", "setSpeed"])
        try await fixture.close()
    }

    @Test func `pages with different presets: each gets those that it has`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (one, two) = (try fixture.client(), try fixture.client())
        for (client, preset) in [(one, "x"), (two, "y")] {
            try client.expectHello()
            try client.send(#"{"type":"ready","presets":["\#(preset)"]}"#)
        }
        try await fixture.wait { fixture.submitted.count == 2 }
        try await fixture.play(events: [
            Self.preset("x", .timer), PagePresetChange(page: "socket/2", name: "y", blend: 1, reason: .timer),
        ])
        for (client, preset) in [(one, "x"), (two, "y")] {
            #expect(try client.line(except: "pushSamples")["name"] == preset)
        }
        try await fixture.close()
        for client in [one, two] { #expect(try client.readAll().allSatisfy { !$0.contains("loadPresetByName") }) }
    }

    @Test func `many changes of the preset: a page gets at most one a second, and the last one`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        try client.send(#"{"type":"ready","presets":[]}"#)
        try await fixture.wait { fixture.submitted.count == 1 }
        #expect(try client.line().type == "getPresetNames")
        let clock = ContinuousClock()
        let start = clock.now
        for number in 0..<50 { try await fixture.play(events: [Self.preset("\(number)", .refused)]) }
        #expect(try client.line(except: "pushSamples", "dropped")["name"] == "0")
        #expect(try client.line(except: "pushSamples", "dropped")["name"] == "49")
        #expect(clock.now - start >= .seconds(1))
        try await fixture.close()
    }

    @Test func `page that disconnects: is reported, also where the run is busy at first`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        try client.send(#"{"type":"ready","presets":["x"]}"#)
        try await fixture.wait { fixture.submitted.count == 1 }
        try client.send(#"{"type":"closeViz"}"#)
        try await fixture.wait { fixture.submitted.count == 2 }
        #expect(fixture.submitted[1].control == Control(.pageClosed) && fixture.submitted[1].origin == "socket/1")
        fixture.reply(to: 1, with: .busy)
        try await fixture.wait { fixture.submitted.count == 3 }
        #expect(fixture.submitted[2].control == Control(.pageClosed))
        fixture.reply(to: 2)
        try await fixture.close()
    }

    @Test func `reply: sent after the batch that came before it`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        for id in 1...2 { try client.send(#"{"type":"tap","id":\#(id)}"#) }
        try await fixture.wait { fixture.submitted.count == 2 }
        try await fixture.play()
        fixture.reply(to: 0)
        try await fixture.play()
        fixture.reply(to: 1, with: .refused("no"))
        #expect(try (0..<4).map { _ in try client.line().type } == ["pushSamples", "reply", "pushSamples", "reply"])
        try await fixture.close()
    }

    @Test func `several requests: replies in the order of the requests`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        try client.send(#"{"type":"tap","id":1}"#)
        try client.send(#"{"type":"subscribe","streams":[],"id":"two"}"#)
        try client.send(#"{"type":"halveTempo","id":3.5}"#)
        try client.send(#"{"type":"nextPreset"}"#)
        try client.send(#"{"type":"setSpeed","id":4}"#)
        try client.send(#"{"type":"doubleTempo","id":5}"#)
        try await fixture.wait { fixture.submitted.count == 4 }
        #expect(fixture.submitted.map(\.control.type) == [.tap, .halveTempo, .nextPreset, .doubleTempo])
        fixture.reply(to: 3, with: .busy)
        fixture.reply(to: 1, with: .refused("no \"tempo\""))
        fixture.reply(to: 0)
        #expect(try client.line().type == "error")
        #expect(
            try (0..<5).map { _ in try client.line().text } == [
                #"{"type":"reply","id":1,"ok":true,"error":null}"#, #"{"type":"reply","id":"two","ok":true,"error":null}"#,
                #"{"type":"reply","id":3.5,"ok":false,"error":"no \"tempo\""}"#,
                #"{"type":"reply","id":4,"ok":false,"error":"the control setSpeed needs its \"speed\""}"#,
                #"{"type":"reply","id":5,"ok":false,"error":"busy: too many controls at once; try again"}"#,
            ])
        try await fixture.close()
    }

    @Test(arguments: [false, true]) func `closeViz: closes the connection, and with exit_on_close ends the run`(ends: Bool) async throws {
        let fixture = try await SocketSinkFixture(ends ? "exit_on_close=true" : "")
        try await fixture.begin()
        let (one, two) = (try fixture.client(), try fixture.client())
        for client in [one, two] { try client.expectHello() }
        try one.send(#"{"type":"closeViz","id":1}"#)
        #expect(try one.line().bool("ok") == true)
        #expect(try one.readLine() == nil)
        try await fixture.play()
        #expect(try two.line().type == "pushSamples")
        #expect(fixture.endRunCount == (ends ? 1 : 0))
        try await fixture.close()
    }

    @Test func `invalid lines: each gets an error with a count, other clients are not affected`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (rogue, other) = (try fixture.client(), try fixture.client())
        for client in [rogue, other] { try client.expectHello() }
        let lines: [[UInt8]] = [
            Array("not JSON".utf8), Array("[1,2]".utf8), [0x7B, 0xFF, 0xFE, 0x7D], Array("{\"type\":\"frob\"}".utf8),
            Array(String(repeating: "[", count: 100_000).utf8), Array(#"{"type":"subscribe","streams":["x"]}"#.utf8),
            Array(#"{"type":"subscribe","payload":"mp3"}"#.utf8), Array(#"{"type":"subscribe","payload":"binary"}"#.utf8),
            Array("</script><script>alert(1)</script>".utf8), [0, 1, 2, 3],
        ]
        for (index, line) in lines.enumerated() {
            try rogue.send(bytes: line + [10])
            let error = try rogue.line()
            #expect(error.type == "error" && error.int("count") == index + 1, "\(error.text)")
        }
        // A message that arrives in two parts.
        try rogue.send(bytes: Array(#"{"type":"#.utf8))
        try await fixture.play(5)
        try rogue.send(bytes: Array("\"tap\"}\n".utf8))
        try await fixture.wait { fixture.submitted.count == 1 }
        for client in [rogue, other] {
            for number in 0..<5 { #expect(try client.line().int("frame") == number * 1024) }
        }
        try await fixture.close()
        #expect(fixture.drops == [])
    }

    @Test func `ready with 10000 presets and 500 controls: are submitted in order`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        let names = (0..<10_000).map { "preset \($0) 😀" }
        try client.send("{\"type\":\"ready\",\"presets\":[\(names.map { "\"\($0)\"" }.joined(separator: ","))],\"id\":1}")
        for number in 0..<500 { try client.send("{\"type\":\"loadPreset\",\"name\":\"\(number)\"}") }
        try await fixture.wait { fixture.submitted.count == 501 }
        #expect(fixture.submitted[0].control == Control(.ready, .texts(names)))
        #expect(fixture.submitted.dropFirst().map(\.control) == (0..<500).map { Control(.loadPreset, .text("\($0)")) })
        fixture.reply(to: 0)
        #expect(try client.line().type == "reply")
        try await fixture.close()
    }

    @Test func `status: reports the state, and null for unknown values`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        try client.send(#"{"type":"status","id":1}"#)
        #expect(
            try client.line().text
                == #"{"type":"status","preset":null,"speed":null,"cycling":null,"next_in_s":null,"favourites":[],"bpm":null,"source":"fixture \"1\"","device":null,"pages":0}"#
        )
        #expect(try client.line().text == #"{"type":"reply","id":1,"ok":true,"error":null}"#)
        let opened = DeviceEvent(name: "hdmi.monitor", summary: "HDMI \"1\"", state: .opened, format: fixture.format)
        try await fixture.play(events: [
            Self.preset("one"), SpeedChange(0.5), Beat(beatsPerMinute: 120.5, position: 1, confidence: 1), opened,
        ])
        // A device change is sent without a request.
        let text =
            #"{"type":"status","preset":"one","speed":0.5,"cycling":true,"next_in_s":null,"favourites":[],"bpm":120.5,"source":"fixture \"1\"","#
            + #""device":{"name":"hdmi.monitor","description":"HDMI \"1\"","state":"opened"},"pages":0}"#
        #expect(try client.line().text == text)
        #expect(try client.line().type == "pushSamples")
        try client.send(#"{"type":"status"}"#)
        #expect(try client.line().text == text)
        // The tempo is unknown 5 s after the last beat.
        try await fixture.play(400)
        var line = try client.line()
        while line.int("frame") != 400 * 1024 { line = try client.line() }
        try client.send(#"{"type":"status"}"#)
        #expect(try client.line().isNull("bpm"))
        try await fixture.close()
    }

    @Test func `lost device outside a batch: status is sent to pages, the record to subscribers`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (page, other) = (try fixture.client(), try fixture.client())
        for client in [page, other] { try client.expectHello() }
        #expect(try other.request(#"{"type":"subscribe","streams":["device"],"id":1}"#).bool("ok") == true)
        let lost = DeviceEvent(name: "d", summary: "D", state: .lost, format: fixture.format)
        try await fixture.write([Event(at: 3, lost)])
        let status = try page.line()
        #expect(status.type == "status" && status.object("device")["state"] as? String == "lost")
        let record = try other.line()
        #expect(record.type == "device" && record["state"] == "lost" && record.double("t") == 3)
        try await fixture.close()
    }

    @Test func `record type and control of another plugin: are declared in hello, sent and submitted`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        let hello = try client.line()
        #expect(hello.text.contains(#"{"name":"clap","#) && hello.text.contains(#"{"name":"setClap","#))
        #expect(try client.line().type == "resumeAudio")
        #expect(try client.request(#"{"type":"subscribe","streams":["clap"],"id":1}"#).bool("ok") == true)
        try client.send(#"{"type":"setClap","level":0.5,"id":2}"#)
        try await fixture.wait { fixture.submitted.count == 1 }
        #expect(fixture.submitted[0].control == Control(.setClap, .number(0.5)))
        fixture.reply(to: 0)
        #expect(try client.line().bool("ok") == true)
        try await fixture.play(events: [Clap(strength: 0.25), Onset(strength: 1)])
        let record = try client.line()
        #expect(record.type == "clap" && record.double("strength") == 0.25)
        try await fixture.close()
        #expect(try client.readLine() == nil)
    }

    @Test func `client that closes its sending side: continues to receive`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let client = try fixture.client()
        try client.expectHello()
        try client.send(bytes: Array(#"{"type":"tap","id":1}"#.utf8))
        client.finishSending()
        try await fixture.wait { fixture.submitted.count == 1 }
        fixture.reply(to: 0)
        #expect(try client.line().bool("ok") == true)
        try await fixture.play()
        #expect(try client.line().type == "pushSamples")
        try await fixture.close()
        #expect(try client.readLine() == nil)
    }
}
