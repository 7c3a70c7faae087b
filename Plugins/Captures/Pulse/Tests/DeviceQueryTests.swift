import Hemiola
import Testing

@testable import PulseCapture

/// The source that a query resolves to, without a server.
@Suite struct DeviceQueryTests {
    /// Two outputs with their monitors, a microphone, a headset, and a player on the second output.
    private static func snapshot(defaultSink: String? = "speakers", defaultSource: String? = "microphone") -> ServerSnapshot {
        let stereo = StreamFormat(sampleRate: 48_000, channelCount: 2)
        func source(_ index: UInt32, _ name: String, of sink: String? = nil) -> ServerSnapshot.Source {
            ServerSnapshot.Source(index: index, name: name, summary: name, format: stereo, channelMap: [1, 2], monitorOf: sink)
        }
        var headset = source(4, "bluez_input.00_11")
        headset.isHeadset = true
        return ServerSnapshot(
            server: "PulseAudio 16.1", defaultSink: defaultSink, defaultSource: defaultSource,
            sinks: [
                ServerSnapshot.Sink(index: 10, name: "speakers", monitor: "speakers.monitor"),
                ServerSnapshot.Sink(index: 11, name: "projector", monitor: "projector.monitor"),
                ServerSnapshot.Sink(index: 12, name: "mute", monitor: nil),
                ServerSnapshot.Sink(index: 13, name: "liar", monitor: "microphone"),
            ],
            sources: [
                source(1, "speakers.monitor", of: "speakers"), source(2, "projector.monitor", of: "projector"), source(3, "microphone"),
                headset,
            ],
            streams: [
                ServerSnapshot.PlayingStream(index: 20, sink: 11, names: ["Music Player", "mplay", "Song"]),
                ServerSnapshot.PlayingStream(index: 21, sink: 10, names: ["Browser", "browser", "Tab"]),
                ServerSnapshot.PlayingStream(index: 22, sink: 10, names: ["Browser", "browser", "Other tab"]),
                ServerSnapshot.PlayingStream(index: 23, sink: 10, names: ["Browser", "browser", "Paused tab"], isCorked: true),
            ])
    }

    private func target(_ text: String, in snapshot: ServerSnapshot = snapshot()) throws -> DeviceQuery.Target? {
        if case .source(let target) = try DeviceQuery(parsing: text).resolve(in: snapshot) { target } else { nil }
    }

    private func reason(_ text: String, in snapshot: ServerSnapshot = snapshot()) throws -> String? {
        if case .unavailable(let reason) = try DeviceQuery(parsing: text).resolve(in: snapshot) { reason } else { nil }
    }

    @Test func `auto: the monitor of the default output`() throws {
        #expect(try target("auto")?.name == "speakers.monitor")
        #expect(try target("auto", in: Self.snapshot(defaultSink: "projector"))?.name == "projector.monitor")
    }

    @Test(arguments: [nil, "gone", "mute", "liar"])
    func `auto without a usable default output: never a microphone or another output`(defaultSink: String?) throws {
        #expect(try target("auto", in: Self.snapshot(defaultSink: defaultSink)) == nil)
    }

    @Test func `auto-input: the default input, but no monitor and no headset`() throws {
        #expect(try target("auto-input")?.name == "microphone")
        #expect(try target("auto-input", in: Self.snapshot(defaultSource: "projector.monitor")) == nil)
        #expect(try reason("auto-input", in: Self.snapshot(defaultSource: "projector.monitor"))?.contains("no default input") == true)
        #expect(try reason("auto-input", in: Self.snapshot(defaultSource: "bluez_input.00_11"))?.contains("headset") == true)
        #expect(try target("auto-input", in: Self.snapshot(defaultSource: nil)) == nil)
    }

    @Test(arguments: [
        ("microphone", "microphone"), ("projector", "projector.monitor"), ("projector.monitor", "projector.monitor"),
        ("bluez_input.00_11", "bluez_input.00_11"),
    ])
    func `name of a source or an output: that source, or the monitor of that output`(text: String, source: String) throws {
        #expect(try target(text)?.name == source)
    }

    @Test func `unknown name: no source, and the message suggests the nearest name`() throws {
        #expect(try target("projektor") == nil)
        #expect(try reason("projektor")?.contains("did you mean projector?") == true)
        #expect(try reason("xyzzy")?.contains("hemiola devices") == true)
        #expect(try target("Microphones") == nil)
        #expect(try target("mute") == nil)
        #expect(try target("liar") == nil)
    }

    @Test(arguments: ["app:music player", "app:MPLAY", "app:song"])
    func `app:NAME: matches application, binary and media name in any case`(text: String) throws {
        let target = try #require(try target(text))
        #expect(target.stream == 20)
        #expect(target.name == "projector.monitor")
    }

    @Test func `app:NAME with several streams: the newest that plays`() throws {
        #expect(try target("app:browser")?.stream == 22)
        #expect(try target("app:paused tab") == nil)
        #expect(try target("app:brows") == nil)
    }

    @Test(arguments: ["", "app:"])
    func `empty name: a configuration error`(text: String) {
        #expect(throws: Problem.self) { try DeviceQuery(parsing: text) }
    }

    @Test func `device list: marks the source of auto and the default input`() {
        let list = DeviceList(Self.snapshot())
        #expect(list.devices.filter(\.isDefault).map(\.name) == ["speakers.monitor", "microphone"])
        #expect(list.devices.filter { !$0.isApplication }.map(\.monitorOf) == ["speakers", "projector", nil, nil])
        #expect(
            DeviceList(Self.snapshot(defaultSource: "projector.monitor")).devices.filter(\.isDefault).map(\.name) == ["speakers.monitor"])
    }

    @Test func `device list: each application once, by a name that app: accepts`() throws {
        var snapshot = Self.snapshot()
        snapshot.streams[2].summary = "Other tab"
        snapshot.streams.append(ServerSnapshot.PlayingStream(index: 30, sink: 10, names: ["Paused"], isCorked: true))
        snapshot.streams.append(ServerSnapshot.PlayingStream(index: 31, sink: 10, names: []))
        let applications = DeviceList(snapshot).devices.filter(\.isApplication)
        #expect(applications.map(\.name) == ["app:Music Player", "app:Browser", "app:Paused"])
        #expect(applications.map(\.state) == [.running, .running, .idle])
        #expect(applications[1].summary == "Other tab" && applications.allSatisfy { $0.kind == "application" })
        #expect(try applications[..<2].allSatisfy { try target($0.name, in: snapshot)?.stream != nil })
    }

    @Test func `name in another case, or description: the device`() throws {
        var snapshot = Self.snapshot()
        snapshot.sources[2].summary = "USB Microphone"
        snapshot.sinks[1].summary = "Projector (HDMI)"
        #expect(try target("MICROPHONE", in: snapshot)?.name == "microphone")
        #expect(try target("usb microphone", in: snapshot)?.name == "microphone")
        #expect(try target("projector (hdmi)", in: snapshot)?.name == "projector.monitor")
        // An exact name wins over another in any case.
        snapshot.sources[0].name = "Microphone"
        #expect(try target("microphone", in: snapshot)?.index == 3)
        #expect(try target("Microphone", in: snapshot)?.index == 1)
    }

    @Test func `description of several devices: refused with their names`() throws {
        var snapshot = Self.snapshot()
        snapshot.sources[2].summary = "Built-in Audio"
        snapshot.sinks[0].summary = "Built-in Audio"
        #expect(try target("built-in audio", in: snapshot) == nil)
        let reason = try #require(try reason("built-in audio", in: snapshot))
        #expect(reason.contains("microphone") && reason.contains("speakers.monitor"))
    }
}
