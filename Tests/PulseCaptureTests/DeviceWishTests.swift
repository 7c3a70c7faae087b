import Hemiola
import HemiolaSignal
import Testing

@testable import PulseCapture

/// Which source a wish chooses, without a server.
@Suite struct DeviceWishTests {
    /// Two outputs with their monitors, a microphone, a headset, and a player on the second output.
    private static func room(defaultSink: String? = "speakers", defaultSource: String? = "microphone") -> Snapshot {
        let stereo = StreamFormat(sampleRate: 48_000, channelCount: 2)
        func source(_ index: UInt32, _ name: String, of sink: String? = nil) -> Snapshot.Source {
            Snapshot.Source(index: index, name: name, summary: name, format: stereo, channelMap: [1, 2], monitorOf: sink)
        }
        var headset = source(4, "bluez_input.00_11")
        headset.isHeadset = true
        return Snapshot(
            server: "PulseAudio 16.1", defaultSink: defaultSink, defaultSource: defaultSource,
            sinks: [
                Snapshot.Sink(index: 10, name: "speakers", monitor: "speakers.monitor"),
                Snapshot.Sink(index: 11, name: "projector", monitor: "projector.monitor"),
                Snapshot.Sink(index: 12, name: "mute", monitor: nil),
                Snapshot.Sink(index: 13, name: "liar", monitor: "microphone"),
            ],
            sources: [
                source(1, "speakers.monitor", of: "speakers"), source(2, "projector.monitor", of: "projector"), source(3, "microphone"),
                headset,
            ],
            streams: [
                Snapshot.PlayingStream(index: 20, sink: 11, names: ["Music Player", "mplay", "Song"]),
                Snapshot.PlayingStream(index: 21, sink: 10, names: ["Browser", "browser", "Tab"]),
                Snapshot.PlayingStream(index: 22, sink: 10, names: ["Browser", "browser", "Other tab"]),
                Snapshot.PlayingStream(index: 23, sink: 10, names: ["Browser", "browser", "Paused tab"], isCorked: true),
            ])
    }

    private func target(_ wish: String, in snapshot: Snapshot = room()) throws -> DeviceWish.Target? {
        if case .source(let target) = try DeviceWish(parsing: wish).choice(in: snapshot) { target } else { nil }
    }

    private func reason(_ wish: String, in snapshot: Snapshot = room()) throws -> String? {
        if case .absent(let reason) = try DeviceWish(parsing: wish).choice(in: snapshot) { reason } else { nil }
    }

    @Test func `auto is the default output's monitor`() throws {
        #expect(try target("auto")?.name == "speakers.monitor")
        #expect(try target("auto", in: Self.room(defaultSink: "projector"))?.name == "projector.monitor")
    }

    @Test(arguments: [nil, "gone", "mute", "liar"])
    func `auto is never a microphone and never another output`(defaultSink: String?) throws {
        #expect(try target("auto", in: Self.room(defaultSink: defaultSink)) == nil)
    }

    @Test func `auto-input is the default input unless it is a headset's`() throws {
        #expect(try target("auto-input")?.name == "microphone")
        #expect(try target("auto-input", in: Self.room(defaultSource: "projector.monitor")) == nil)
        #expect(try reason("auto-input", in: Self.room(defaultSource: "projector.monitor"))?.contains("no default input") == true)
        #expect(try reason("auto-input", in: Self.room(defaultSource: "bluez_input.00_11"))?.contains("headset") == true)
        #expect(try target("auto-input", in: Self.room(defaultSource: nil)) == nil)
    }

    @Test(arguments: [
        ("microphone", "microphone"), ("projector", "projector.monitor"), ("projector.monitor", "projector.monitor"),
        ("bluez_input.00_11", "bluez_input.00_11"),
    ])
    func `a name is a source's or an output's`(wish: String, source: String) throws {
        #expect(try target(wish)?.name == source)
    }

    @Test func `a name that does not exist is nobody, and the nearest is told`() throws {
        #expect(try target("projektor") == nil)
        #expect(try reason("projektor")?.contains("did you mean projector?") == true)
        #expect(try reason("xyzzy")?.contains("hemiola devices") == true)
        #expect(try target("Microphones") == nil)
        #expect(try target("mute") == nil)
        #expect(try target("liar") == nil)
    }

    @Test(arguments: ["app:music player", "app:MPLAY", "app:song"])
    func `an application goes by three names`(wish: String) throws {
        let target = try #require(try target(wish))
        #expect(target.stream == 20)
        #expect(target.name == "projector.monitor")
    }

    @Test func `of an application's streams the newest that plays is heard`() throws {
        #expect(try target("app:browser")?.stream == 22)
        #expect(try target("app:paused tab") == nil)
        #expect(try target("app:brows") == nil)
    }

    @Test(arguments: ["", "app:"])
    func `a wish for nothing is refused`(wish: String) {
        #expect(throws: ConfigurationError.self) { try DeviceWish(parsing: wish) }
    }

    @Test func `the list marks what auto hears and the default input`() {
        let list = DeviceList(Self.room())
        #expect(list.devices.filter(\.isDefault).map(\.name) == ["speakers.monitor", "microphone"])
        #expect(list.devices.filter { !$0.isApplication }.map(\.monitorOf) == ["speakers", "projector", nil, nil])
        #expect(DeviceList(Self.room(defaultSource: "projector.monitor")).devices.filter(\.isDefault).map(\.name) == ["speakers.monitor"])
    }

    @Test func `the list has each application once, by a name that app: takes`() throws {
        var snapshot = Self.room()
        snapshot.streams[2].summary = "Other tab"
        snapshot.streams.append(Snapshot.PlayingStream(index: 30, sink: 10, names: ["Paused"], isCorked: true))
        snapshot.streams.append(Snapshot.PlayingStream(index: 31, sink: 10, names: []))
        let applications = DeviceList(snapshot).devices.filter(\.isApplication)
        #expect(applications.map(\.name) == ["app:Music Player", "app:Browser", "app:Paused"])
        #expect(applications.map(\.state) == [.running, .running, .idle])
        #expect(applications[1].summary == "Other tab" && applications.allSatisfy { $0.kind == "application" })
        #expect(try applications[..<2].allSatisfy { try target($0.name, in: snapshot)?.stream != nil })
    }

    @Test func `a device is found by its name in any case, and by its description`() throws {
        var snapshot = Self.room()
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

    @Test func `a description that several devices have is refused with their names`() throws {
        var snapshot = Self.room()
        snapshot.sources[2].summary = "Built-in Audio"
        snapshot.sinks[0].summary = "Built-in Audio"
        #expect(try target("built-in audio", in: snapshot) == nil)
        let reason = try #require(try reason("built-in audio", in: snapshot))
        #expect(reason.contains("microphone") && reason.contains("speakers.monitor"))
    }
}
