import Foundation
import Hemiola
import HemiolaNetwork
import HemiolaSignal
import HemiolaTesting
import Synchronization
import TestSupport
import Testing

@testable import LightsSink

/// The three sinks with sockets, and parsers that are written from the specifications.
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

    private func run(
        _ plugin: SinkPlugin, _ settings: String, _ batches: [CollectedBatch], lead: Double = 0,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws {
        let sink = try plugin.make(settings: settings)
        try await sink.open(SinkContext(name: plugin.about.id, lead: lead, warn: warn))
        do {
            try await sink.begin(Self.header)
            for batch in batches { try await sink.write(BatchBlock([batch])) }
            try await sink.end(StreamSummary(frames: 1024, batches: 1, reason: .endOfInput))
        } catch {
            try? await sink.close()
            throw error
        }
        try await sink.close()
    }

    private func all(_ receiver: DatagramReceiver) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while let packet = receiver.receive(timeout: 0.1) { packets.append(packet) }
        return packets
    }

    @Test(arguments: [("DDP", SinkPlugin.ddp), ("SACN", SinkPlugin.sacn), ("ArtNet", SinkPlugin.artnet)])
    func `README: settings agree with the program`(folder: String, plugin: SinkPlugin) throws {
        #expect(try ReadMe("Plugins/Sinks/Lights/\(folder)").settings(notQuotedFrom: plugin.about).isEmpty)
    }

    @Test(arguments: [SinkPlugin.ddp, .sacn, .artnet])
    func `conformance tests: passed`(plugin: SinkPlugin) async throws {
        let receiver = try DatagramReceiver()
        try await SinkConformanceSuite(plugin, settings: "127.0.0.1:\(receiver.port),pixels=3").run()
    }

    // MARK: - DDP

    @Test func `ddp: header and colours of a frame, and a dark frame at the end`() async throws {
        let receiver = try DatagramReceiver()
        try await run(.ddp, "127.0.0.1:\(receiver.port),pixels=4", [batch(0)])
        let packets = all(receiver)
        try #require(packets.count == 2)
        // Version 1 with push, sequence 1, RGB of 8 bits, output 1, offset 0, 12 bytes.
        #expect(packets[0].prefix(10) == [0x41, 1, 0x0B, 1, 0, 0, 0, 0, 0, 12])
        // Bars 1, 0.5, 0, 0 at the hues 0, 5/24, 5/12 and 5/8 of a turn: red, and yellow-green of half the value.
        #expect(packets[0].dropFirst(10) == [255, 0, 0, 96, 128, 0, 0, 0, 0, 0, 0, 0])
        #expect(packets[1] == bytes([0x41, 2, 0x0B, 1, 0, 0, 0, 0, 0, 12], .zeros(12)))
    }

    @Test func `ddp: more than 480 pixels in several messages, the last of them shows the frame`() async throws {
        let receiver = try DatagramReceiver()
        try await run(.ddp, "127.0.0.1:\(receiver.port),pixels=1000", [batch(0)])
        let packets = all(receiver)
        #expect(packets.map(\.count) == [1450, 1450, 130, 1450, 1450, 130])
        #expect(packets.map { $0[0] } == [0x40, 0x40, 0x41, 0x40, 0x40, 0x41])
        #expect(packets.map { $0[1] } == [1, 2, 3, 4, 5, 6])
        #expect(packets.map { Array($0[4..<8]) }.prefix(3) == [[0, 0, 0, 0], [0, 0, 5, 0xA0], [0, 0, 0x0B, 0x40]])
        #expect(packets.map { Array($0[8..<10]) }.prefix(3) == [[5, 0xA0], [5, 0xA0], [0, 120]])
    }

    // MARK: - sACN

    /// A data packet of E1.31, read layer by layer; nil: violates the specification.
    private struct DataPacket {
        var source: String
        var priority: UInt8
        var sequence: UInt8
        var options: UInt8
        var universe: Int
        var channels: [UInt8]

        init?(_ bytes: [UInt8]) {
            func word(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
            guard bytes.count == 638 else { return nil }
            let words: [(offset: Int, value: Int)] = [
                (0, 0x10), (2, 0), (16, 0x7000 | 622), (38, 0x7000 | 600), (109, 0), (115, 0x7000 | 523), (119, 0), (121, 1), (123, 513),
            ]
            guard words.allSatisfy({ word($0.offset) == $0.value }) else { return nil }
            guard Array(bytes[4..<16]) == Array("ASC-E1.17\0\0\0".utf8) else { return nil }
            guard bytes[18..<22] == [0, 0, 0, 4], bytes[40..<44] == [0, 0, 0, 2], bytes[117..<119] == [2, 0xA1], bytes[125] == 0 else {
                return nil
            }
            source = String(decoding: bytes[44..<108].prefix { $0 != 0 }, as: UTF8.self)
            (priority, sequence, options, universe) = (bytes[108], bytes[111], bytes[112], word(113))
            channels = Array(bytes[126...])
        }
    }

    @Test func `sacn: packets of E1.31, and three that end the stream`() async throws {
        let receiver = try DatagramReceiver()
        try await run(.sacn, "127.0.0.1:\(receiver.port),pixels=2,start=10,universe=300,priority=150,source=Test", [batch(0)])
        let packets = all(receiver).map(DataPacket.init)
        try #require(packets.count == 5 && packets.allSatisfy { $0 != nil })
        let first = try #require(packets[0])
        #expect(first.source == "Test" && first.priority == 150 && first.universe == 300 && first.options == 0)
        // Two lights with the bars 0 and 2 from channel 10 on.
        #expect(first.channels == bytes(.zeros(9), [255], .zeros(502)))
        #expect(packets.map { $0?.sequence } == [1, 2, 3, 4, 5])
        #expect(packets.map { $0?.options } == [0, 0, 0x40, 0x40, 0x40])
        #expect(packets[1]?.channels.allSatisfy { $0 == 0 } == true)
    }

    @Test func `sacn: lights beyond a universe continue in the next, none in two`() async throws {
        let receiver = try DatagramReceiver()
        try await run(.sacn, "127.0.0.1:\(receiver.port),pixels=172,effect=level", [batch(0, level: 0)])
        let packets = all(receiver).compactMap(DataPacket.init)
        #expect(packets.map(\.universe).prefix(2) == [1, 2])
        #expect(packets.first?.channels[509...511].contains { $0 > 0 } == false)
        #expect(packets[1].channels.prefix(6).contains { $0 > 0 } && packets[1].channels.dropFirst(6).allSatisfy { $0 == 0 })
    }

    @Test func `sacn: multicast group of the universe on the loopback interface`() async throws {
        let receiver = try DatagramReceiver(port: 5568, group: "239.255.1.2")
        try await run(.sacn, "universe=258,pixels=1,interface=lo", [batch(0)])
        #expect(try DataPacket(#require(receiver.receive()))?.universe == 258)
    }

    @Test(.enabled(if: Tool.python(module: "sacn").isExpected, Comment(rawValue: Tool.python(module: "sacn").reason)))
    func `Python's sacn: receives the channels`() async throws {
        let port = try DatagramReceiver().port
        let script = """
            import sacn, sys, time
            receiver = sacn.sACNreceiver(bind_address="127.0.0.1", bind_port=\(port))
            done = []
            @receiver.listen_on("universe", universe=7)
            def receive(packet):
                if not done:
                    done.append(1)
                    print(packet.sourceName, packet.priority, packet.universe, *packet.dmxData[:6], flush=True)
            receiver.start()
            print("ready", flush=True)
            time.sleep(20)
            """
        let python = try ChildProcess(try #require(Tool.location(of: Tool.python)), ["-c", script])
        #expect(try python.readLine() == "ready")
        let sink = try SinkPlugin.sacn.make(settings: "127.0.0.1:\(port),universe=7,pixels=4")
        try await sink.open(SinkContext(name: "sacn"))
        try await sink.begin(Self.header)
        for number in 0..<20 {
            try await sink.write(BatchBlock([batch(number)]))
            usleep(20_000)
        }
        #expect(try python.readLine() == "Hemiola 100 7 255 0 0 96 128 0")
        try await sink.close()
        python.send(SIGKILL)
    }

    // MARK: - Art-Net

    @Test func `artnet: packets ArtDmx`() async throws {
        let receiver = try DatagramReceiver()
        try await run(.artnet, "127.0.0.1:\(receiver.port),pixels=1,universe=291", [batch(0)])
        let packets = all(receiver)
        try #require(packets.count == 2)
        // Opcode 0x5000, version 14, sequence 1, physical 0, Sub-Net and Universe 0x23, Net 1, 512 channels.
        let head = bytes("Art-Net\0", [0x00, 0x50, 0, 14, 1, 0, 0x23, 1, 2, 0])
        #expect(packets[0] == bytes(BytePart(head), [255], .zeros(511)))
        #expect(packets[1][12] == 2 && packets[1].dropFirst(18).allSatisfy { $0 == 0 })
    }

    // MARK: - Effects, flashes, blackout

    @Test func `pulse: a flash in the frame of the beat, with lead_ms earlier`() async throws {
        for (lead, expected) in [(0.0, 2), (0.03, 1)] {
            let receiver = try DatagramReceiver()
            let beat = Beat(beatsPerMinute: 120, position: 1, confidence: 1).event(at: 0.06)
            let batches = (0..<4).map { batch($0, level: -120, $0 == 0 ? [beat] : []) }
            try await run(.ddp, "127.0.0.1:\(receiver.port),pixels=1,effect=pulse", batches, lead: lead)
            let brightness = all(receiver).prefix(4).map { $0.dropFirst(10).max() ?? 0 }
            #expect(brightness.firstIndex { $0 > 200 } == expected, "\(brightness)")
        }
    }

    @Test func `beats at 400 BPM: at most three flashes a second, with strobe=true all of them and a warning`() async throws {
        for (strobe, most) in [(false, 3), (true, 7)] {
            let receiver = try DatagramReceiver()
            let batches = (0..<130).map { number in
                let time = Double(number) * 1024 / 44_100
                let beat = Int(time / 0.15) != Int((time - 1024 / 44_100.0) / 0.15)
                return batch(number, level: -120, beat ? [Beat(beatsPerMinute: 400, position: 1, confidence: 1).event(at: time)] : [])
            }
            let warnings = Mutex<[String]>([])
            try await run(.ddp, "127.0.0.1:\(receiver.port),pixels=1,effect=pulse,strobe=\(strobe)", batches) { text in
                warnings.withLock { $0.append(text) }
            }
            let bright = all(receiver).map { ($0.dropFirst(10).max() ?? 0) > 150 }
            let starts = bright.indices.dropFirst().filter { bright[$0] && !bright[$0 - 1] }
            let mostInASecond = starts.map { start in starts.count { $0 >= start && $0 < start + 43 } }.max() ?? 0
            #expect(strobe ? mostInASecond > 3 && mostInASecond <= most : (1...most).contains(mostInASecond), "\(starts)")
            #expect(warnings.withLock { $0 } == (strobe ? ["strobe=true: lights can flash more than three times a second"] : []))
        }
    }

    @Test func `control blackout: dark frames until it is off again`() async throws {
        let receiver = try DatagramReceiver()
        let sink = try SinkPlugin.ddp.make(settings: "127.0.0.1:\(receiver.port),pixels=1")
        let directing = try #require(sink.directing)
        try await sink.open(SinkContext(name: "ddp"))
        let director = try directing.makeDirector()
        let handler = try #require(director as? any ControlHandler)
        try await sink.begin(Self.header)
        var brightness: [UInt8] = []
        for (number, control) in [nil, Control(.blackout), nil, Control(.blackout, .boolean(false))].enumerated() {
            if let control { #expect(handler.handle(StampedControl(control, at: 0, from: "test")) == .done) }
            try await sink.write(BatchBlock([batch(number)]))
            brightness.append(receiver.receive()?.dropFirst(10).max() ?? 1)
        }
        #expect(brightness == [255, 0, 0, 255])
        try await sink.close()
    }

    @Test func `field map: channels, values for records, and channels that do not exist`() async throws {
        let folder = try TemporaryFolder()
        let text =
            "- {from: levels.rms_db, to: 1, scale: [-48, 0, 0, 255]}\n- {value: 200, to: 3, when: beat}\n- {from: visualizer.bars, to: 511, scale: [0, 1, 0, 255]}"
        try text.write(toFile: folder("map.yaml"), atomically: true, encoding: .utf8)
        let receiver = try DatagramReceiver()
        let beat = Beat(beatsPerMinute: 120, position: 1, confidence: 1).event(at: 0)
        try await run(
            .artnet, "127.0.0.1:\(receiver.port),map=\(folder("map.yaml"))", (0..<8).map { batch($0, $0 == 0 ? [beat] : []) })
        let channels = all(receiver).map { $0.dropFirst(18).map { $0 } }
        #expect(channels[0].prefix(4) == [128, 0, 200, 0])
        #expect(channels[0].suffix(2) == [255, 128])
        // 0.1 s are four frames and a bit.
        #expect(channels.prefix(8).map { $0[2] } == [200, 200, 200, 200, 200, 0, 0, 0])
        try "- {from: levels.rms_db, to: 513}".write(toFile: folder("wrong.yaml"), atomically: true, encoding: .utf8)
        let error = await #expect(throws: SinkError.self) {
            try await run(.artnet, "127.0.0.1:9,map=\(folder("wrong.yaml"))", [])
        }
        #expect(error?.message == "\(folder("wrong.yaml")):1:3: [0].to: \"513\" is no channel; use 1...512")
    }

    @Test(arguments: [
        (SinkPlugin.ddp, "", "target: no controller; name it: ddp:HOST"),
        (SinkPlugin.artnet, "", "target: no node; name it, or the broadcast address: artnet:192.168.1.255"),
        (SinkPlugin.sacn, "pixels=200,universe=63999", "universe: the lights need 2 universes from 63999 on; the last is 63999"),
        (SinkPlugin.artnet, "host,pixels=200,universe=32767", "universe: the lights need 2 universes from 32767 on; the last is 32767"),
        (SinkPlugin.sacn, "source=\(String(repeating: "x", count: 64))", "source: a name has 1...63 bytes"),
        (SinkPlugin.ddp, "host:x", "target: \"x\" in \"host:x\" is no port; a port is a number from 1 to 65535"),
    ])
    func `invalid settings: refused with the remedy`(plugin: SinkPlugin, settings: String, message: String) {
        let error = #expect(throws: ConfigurationError.self) { try plugin.make(settings: settings) }
        #expect(error?.description == message)
    }

    @Test(arguments: [(1, 1, 1), (170, 1, 1), (171, 1, 2), (340, 1, 2), (341, 1, 3), (1, 511, 2), (1, 510, 1)])
    func `universes for lights`(pixels: Int, start: Int, count: Int) {
        #expect(Universe.count(pixels: pixels, start: start) == count)
        let frame = Universe.frame(ofPixels: [UInt8](repeating: 9, count: 3 * pixels), start: start, universeCount: count)
        #expect(frame.count(where: { $0 == 9 }) == 3 * pixels)
    }
}
