import Foundation
import Hemiola
import HemiolaNetwork
import HemiolaTesting
import NetworkSupport
import TestSupport
import Testing

@testable import LightsSink

/// The three protocols in virtual time, with parsers that are written from the specifications; and with sockets where the network matters.
@Suite(.serialized) struct LightsSinkTests {
    private static let format = StreamFormat(sampleRate: 44_100, channelCount: 1)

    private static let header: StreamHeader = {
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, ""))
        var visualizer = AnalyzerOutputs()
        _ = visualizer.add(Feature("bars", .none, count: 4, ""))
        return .test(format, isLive: true, analyzers: [("levels", levels), ("visualizer", visualizer)])
    }()

    private func batch(_ number: Int, level: Float = -24, bars: [Float] = [1, 0.5, 0, 0], _ events: [Event] = []) -> CollectedBatch {
        CollectedBatch(number: Int64(number), frame: Int64(number) * 1024, row: [level] + bars, events: events)
    }

    /// What a receiver gets of a stream with these batches.
    private func packets(_ name: LightProtocol, _ settings: String, _ batches: [CollectedBatch]) throws -> [[UInt8]] {
        let network = VirtualNetwork()
        try run(name, "192.0.2.1,\(settings)", batches, network.context("lights"))
        return network.packets.map(\.bytes)
    }

    private func run(_ name: LightProtocol, _ settings: String, _ batches: [CollectedBatch], _ context: SinkContext) throws {
        let sink = try SinkPlugin.lights.make(settings: "\(settings),protocol=\(name)")
        try sink.open(context)
        do {
            try sink.begin(Self.header)
            for batch in batches { try sink.write(BatchBlock([batch])) }
            try sink.end(StreamSummary(frames: 1024, batches: 1, reason: .endOfInput))
        } catch {
            try? sink.close()
            throw error
        }
        try sink.close()
    }

    @Test(arguments: LightProtocol.allCases)
    func `conformance tests: passed`(name: LightProtocol) throws {
        let receiver = try DatagramReceiver()
        try SinkConformanceSuite(.lights, settings: "127.0.0.1:\(receiver.port),protocol=\(name),pixels=3").run()
    }

    // MARK: - DDP

    @Test func `ddp: header and colours of a frame, and a dark frame at the end`() throws {
        let packets = try packets(.ddp, "pixels=4", [batch(0)])
        try #require(packets.count == 2)
        // Version 1 with push, sequence 1, RGB of 8 bits, output 1, offset 0, 12 bytes.
        #expect(packets[0].prefix(10) == [0x41, 1, 0x0B, 1, 0, 0, 0, 0, 0, 12])
        // Bars 1, 0.5, 0, 0 at the hues 0, 5/24, 5/12 and 5/8 of a turn: red, and yellow-green of half the value.
        #expect(packets[0].dropFirst(10) == [255, 0, 0, 96, 128, 0, 0, 0, 0, 0, 0, 0])
        #expect(packets[1] == bytes([0x41, 2, 0x0B, 1, 0, 0, 0, 0, 0, 12], .zeros(12)))
    }

    @Test func `ddp: more than 480 pixels in several messages, the last of them shows the frame`() throws {
        let packets = try packets(.ddp, "pixels=1000", [batch(0)])
        #expect(packets.map(\.count) == [1450, 1450, 130, 1450, 1450, 130])
        #expect(packets.map { $0[0] } == [0x40, 0x40, 0x41, 0x40, 0x40, 0x41])
        #expect(packets.map { $0[1] } == [1, 2, 3, 4, 5, 6])
        #expect(packets.map { Array($0[4..<8]) }.prefix(3) == [[0, 0, 0, 0], [0, 0, 5, 0xA0], [0, 0, 0x0B, 0x40]])
        #expect(packets.map { Array($0[8..<10]) }.prefix(3) == [[5, 0xA0], [5, 0xA0], [0, 120]])
    }

    // MARK: - sACN

    @Test func `sacn: packets of E1.31, and three that end the stream`() throws {
        let packets = try packets(.sacn, "pixels=2,start=10,universe=300,priority=150,source=Test", [batch(0)]).map(LightPackets.SACN.init)
        try #require(packets.count == 5 && packets.allSatisfy { $0 != nil })
        let first = try #require(packets[0])
        #expect(first.source == "Test" && first.priority == 150 && first.universe == 300 && first.options == 0)
        // Two lights with the bars 0 and 2 from channel 10 on.
        #expect(first.channels == bytes(.zeros(9), [255], .zeros(502)))
        #expect(packets.map { $0?.sequence } == [1, 2, 3, 4, 5])
        #expect(packets.map { $0?.options } == [0, 0, 0x40, 0x40, 0x40])
        #expect(packets[1]?.channels.allSatisfy { $0 == 0 } == true)
    }

    @Test func `sacn: lights beyond a universe continue in the next, none in two`() throws {
        let packets = try packets(.sacn, "pixels=172,effect=level", [batch(0, level: 0)]).compactMap(LightPackets.SACN.init)
        #expect(packets.map(\.universe).prefix(2) == [1, 2])
        #expect(packets.first?.channels[509...511].contains { $0 > 0 } == false)
        #expect(packets[1].channels.prefix(6).contains { $0 > 0 } && packets[1].channels.dropFirst(6).allSatisfy { $0 == 0 })
    }

    @Test func `sacn: multicast group of the universe on the loopback interface`() throws {
        let receiver = try DatagramReceiver(port: 5568, group: "239.255.1.2")
        try run(.sacn, "universe=258,pixels=1,interface=lo", [batch(0)], SinkContext(name: "lights"))
        #expect(try LightPackets.SACN(#require(receiver.receive()))?.universe == 258)
    }

    @Test(.enabled(if: Tool.python(module: "sacn").isExpected, Comment(rawValue: Tool.python(module: "sacn").reason)))
    func `Python's sacn: receives the channels`() throws {
        let port = try LoopbackPort.reserve()
        let script = """
            import sacn, signal
            receiver = sacn.sACNreceiver(bind_address="127.0.0.1", bind_port=\(port))
            done = []
            @receiver.listen_on("universe", universe=7)
            def receive(packet):
                if not done:
                    done.append(1)
                    print(packet.sourceName, packet.priority, packet.universe, *packet.dmxData[:6], flush=True)
            receiver.start()
            print("ready", flush=True)
            signal.pause()
            """
        let python = try ChildProcess(try #require(Tool.location(of: Tool.python)), ["-c", script])
        #expect(try python.readLine() == "ready")
        let sink = try SinkPlugin.lights.make(settings: "127.0.0.1:\(port),universe=7,pixels=4")
        try sink.open(SinkContext(name: "lights"))
        try sink.begin(Self.header)
        try sink.write(BatchBlock([batch(0)]))
        #expect(try python.readLine() == "Hemiola 100 7 255 0 0 96 128 0")
        try sink.close()
        python.send(SIGKILL)
    }

    // MARK: - Art-Net

    @Test func `artnet: packets ArtDmx`() throws {
        let packets = try packets(.artnet, "pixels=1,universe=291", [batch(0)])
        try #require(packets.count == 2)
        // Opcode 0x5000, version 14, sequence 1, physical 0, Sub-Net and Universe 0x23, Net 1, 512 channels.
        let head = bytes("Art-Net\0", [0x00, 0x50, 0, 14, 1, 0, 0x23, 1, 2, 0])
        #expect(packets[0] == bytes(BytePart(head), [255], .zeros(511)))
        #expect(packets[1][12] == 2 && packets[1].dropFirst(18).allSatisfy { $0 == 0 })
    }

    // MARK: - Effects, flashes, blackout

    @Test(arguments: LightProtocol.allCases)
    func `control blackout: dark without a batch, and until it is off again`(name: LightProtocol) throws {
        let network = VirtualNetwork()
        let sink = try SinkPlugin.lights.make(settings: "192.0.2.1,protocol=\(name),pixels=1")
        let directing = try #require(sink as? any DirectingSink)
        try sink.open(network.context("lights"))
        let director = try directing.makeDirector()
        let handler = try #require(director as? any ControlHandler)
        try sink.begin(Self.header)
        /// Which of the frames since the last call are dark.
        var seen = 0
        func dark(after seconds: Double) -> [Bool] {
            network.advance(by: seconds)
            defer { seen = network.packets.count }
            return network.packets.dropFirst(seen).compactMap { packet in
                let bytes = packet.bytes
                let channels = LightPackets.SACN(bytes)?.channels ?? LightPackets.ArtNet(bytes)?.channels ?? LightPackets.DDP(bytes)?.data
                return channels?.allSatisfy { $0 == 0 }
            }
        }
        try sink.write(BatchBlock([batch(0)]))
        #expect(dark(after: 0) == [false])
        #expect(handler.handle(StampedControl(Control(.blackout), at: 0, from: "test")) == .done)
        #expect(dark(after: 0.03) == [true])
        for number in 1..<100 {
            network.advance(by: 1024 / 44_100)
            try sink.write(BatchBlock([batch(number)]))
        }
        #expect(!dark(after: 0.03).contains(false))
        #expect(handler.handle(StampedControl(Control(.blackout, .boolean(false)), at: 0, from: "test")) == .done)
        try sink.write(BatchBlock([batch(100)]))
        #expect(dark(after: 0.03).last == false)
        try sink.close()
        #expect(dark(after: 0).first == true)
    }

    @Test func `an hour of music with pauses: 44 frames a second at most, and always one within a second`() throws {
        let network = VirtualNetwork()
        let sink = try SinkPlugin.lights.make(settings: "192.0.2.1,protocol=ddp,pixels=1")
        try sink.open(network.context("lights"))
        try sink.begin(Self.header)
        for number in 0..<155_000 {
            // The source pauses for ten seconds each minute.
            network.advance(by: number % 2584 == 0 ? 10 : 1024 / 44_100)
            try sink.write(BatchBlock([batch(number)]))
        }
        try sink.close()
        let times = network.packets.map(\.time)
        let longest = zip(times.dropFirst(), times).map { $0 - $1 }.max() ?? .infinity
        let shortest = zip(times.dropFirst(45), times).map { $0 - $1 }.min() ?? 0
        #expect(longest < 1 && shortest > 1, "\(longest) s between two frames, \(shortest) s for 46")
    }

    @Test(arguments: [(44_100, 256), (192_000, 256), (192_000, 1024), (48_000, 1024)])
    func `a minute of batches of another length: 44 frames in every second at most`(rate: Int, length: Int) throws {
        let network = VirtualNetwork()
        let sink = try SinkPlugin.lights.make(settings: "192.0.2.1,protocol=ddp,pixels=1")
        try sink.open(network.context("lights"))
        try sink.begin(Self.header)
        for number in 0..<60 * rate / length {
            network.advance(by: Double(length) / Double(rate))
            try sink.write(BatchBlock([batch(number)]))
        }
        let times = network.packets.map(\.time)
        try sink.close()
        let most = times.map { start in times.count { $0 >= start && $0 < start + 0.999 } }.max() ?? 0
        #expect(most <= 44 && times.count > 20 * 60, "\(most) in a second, \(times.count) in a minute")
    }

    @Test(arguments: [("", [String]()), (",strobe=true", ["strobe=true: lights can flash more than three times a second"])])
    func `strobe=true: a warning`(settings: String, expected: [String]) throws {
        let network = VirtualNetwork()
        try run(.ddp, "192.0.2.1\(settings)", [batch(0)], network.context("lights"))
        #expect(network.lines == expected)
    }

    @Test func `field map: channels that do not exist are an error`() throws {
        let folder = try TemporaryFolder()
        try "- {from: levels.rms_db, to: 513}".write(toFile: folder("wrong.yaml"), atomically: true, encoding: .utf8)
        let error = #expect(throws: Problem.self) {
            try run(.artnet, "127.0.0.1:9,map=\(folder("wrong.yaml"))", [], SinkContext(name: "lights"))
        }
        #expect(error?.message == "\(folder("wrong.yaml")):1:3: [0].to: \"513\" is no channel; use 1...512")
    }

    @Test(arguments: [
        ("protocol=ddp", "target: no controller; name it: ddp:HOST"),
        ("protocol=artnet", "target: no node; name it, or the broadcast address: artnet:192.168.1.255"),
        ("pixels=200,universe=63999", "universe: the lights need 2 universes from 63999 on; the last is 63999"),
        ("universe=0", "universe: 0 is outside 1...63999"),
        ("host,protocol=artnet,pixels=200,universe=32767", "universe: the lights need 2 universes from 32767 on; the last is 32767"),
        ("source=\(String(repeating: "x", count: 64))", "source: a name has 1...63 bytes"),
        ("host:x,protocol=ddp", "target: \"x\" in \"host:x\" is no port; a port is a number from 1 to 65535"),
        ("host,protocol=ddp,map=lights.yaml", "map: ddp has no such setting"),
        ("host,protocol=artnet,priority=1", "priority: artnet has no such setting"),
    ])
    func `invalid settings: refused with the remedy`(settings: String, message: String) {
        let error = #expect(throws: Problem.self) { try SinkPlugin.lights.make(settings: settings) }
        #expect(error?.description == message)
    }

    @Test(arguments: [(1, 1, 1), (170, 1, 1), (171, 1, 2), (340, 1, 2), (341, 1, 3), (1, 511, 2), (1, 510, 1)])
    func `universes for lights`(pixels: Int, start: Int, count: Int) {
        #expect(Universe.count(pixels: pixels, start: start) == count)
        let frame = Universe.frame(ofPixels: [UInt8](repeating: 9, count: 3 * pixels), start: start, universeCount: count)
        #expect(frame.count(where: { $0 == 9 }) == 3 * pixels)
    }
}
