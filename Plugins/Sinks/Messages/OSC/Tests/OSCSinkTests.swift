import Foundation
import Hemiola
import HemiolaNetwork
import HemiolaTesting
import NetworkSupport
import OSCSink
import TestSupport
import Testing

/// The sink in virtual time, whose bytes are compared, and with real receivers: sockets and liblo's oscdump.
@Suite(.serialized) struct OSCSinkTests {
    private static let header: StreamHeader = {
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, ""))
        var visualizer = AnalyzerOutputs()
        _ = visualizer.add(Feature("bars", .none, count: 2, ""))
        return .test(isLive: true, analyzers: [("levels", levels), ("visualizer", visualizer)])
    }()

    private static let summary = StreamSummary(frames: 1024, batches: 1, reason: .endOfInput)

    /// What a receiver gets of one batch with events.
    private func packets(
        _ settings: String = "", _ events: [Event] = [], row: [Float] = [-6, 0.5, 1], lead: Double = 0, select items: [String] = []
    ) throws -> [VirtualNetwork.Packet] {
        let network = VirtualNetwork()
        let sink = try SinkPlugin.osc.make(settings: "192.0.2.1" + settings)
        try sink.open(network.context("osc", lead: lead, selection: items.isEmpty ? .all : Selection(items: items)))
        do {
            try sink.begin(Self.header)
            try sink.write(BatchBlock([CollectedBatch(row: row, events: events)]))
            try sink.end(Self.summary)
        } catch {
            try? sink.close()
            throw error
        }
        try sink.close()
        return network.packets
    }

    /// Seconds of the first batch.
    private static let end = Double(1024) / Double(header.format.sampleRate)

    private static let beat = Beat(beatsPerMinute: 120, position: nil, confidence: 0.5)

    @Test func `conformance tests: passed`() throws {
        let receiver = try DatagramReceiver()
        try SinkConformanceSuite(.osc, settings: "127.0.0.1:\(receiver.port)").run()
    }

    @Test func `batch: one bundle with a message for each feature`() throws {
        let level = bytes("/hemiola/levels/rms_db\0\0,f\0\0", [0xC0, 0xC0, 0, 0])
        let bars = bytes("/hemiola/visualizer/bars\0\0\0\0,ff\0", [0x3F, 0, 0, 0, 0x3F, 0x80, 0, 0])
        let bundle = bytes("#bundle\0", [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 32], BytePart(level), [0, 0, 0, 40], BytePart(bars))
        #expect(try packets().map(\.bytes) == [bundle])
    }

    @Test func `event: a bundle of its own, with the stored fields in their order`() throws {
        let message = bytes("/hemiola/beat\0\0\0,fif\0\0\0\0", [0x42, 0xF0, 0, 0, 0, 0, 0, 0, 0x3F, 0, 0, 0])
        #expect(
            try packets("", [Self.beat.event(at: 0.01)], select: ["beat"]).map(\.bytes)
                == [bytes("#bundle\0", [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 36], BytePart(message))])
    }

    @Test(arguments: [(0.0, 0.4), (0.3, 0.1)])
    func `announced event: sent at its time, with lead_ms before it`(lead: Double, expected: Double) throws {
        let packets = try packets("", [Self.beat.event(at: Self.end + 0.4)], lead: lead, select: ["beat"])
        #expect(packets.count == 1 && abs(packets[0].time - expected) < 1e-5)
    }

    @Test func `time_tags=event: the bundle has the time of the event`() throws {
        let packets = try packets(",time_tags=event", [Self.beat.event(at: Self.end + 0.5)], lead: 1, select: ["beat"])
        let tag = try #require(packets.first).bytes[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let time = Double(tag) / 4_294_967_296 - 2_208_988_800
        // The network was made at 1000 s of the clock.
        #expect(abs(time - MonotonicTime.wallClockOffset - 1000.5) < 0.01)
    }

    @Test func `delay_ms: everything is later`() throws {
        #expect(try packets(",delay_ms=200").map(\.time) == [0.2])
    }

    // 200 batches take 4.6 s.
    @Test(arguments: [("", 200...200), (",rate_hz=10", 44...47)])
    func `rate_hz: fewer batches, but every event; without it, every batch`(settings: String, expected: ClosedRange<Int>) throws {
        let network = VirtualNetwork()
        let sink = try SinkPlugin.osc.make(settings: "192.0.2.1\(settings)")
        try sink.open(network.context("osc"))
        try sink.begin(Self.header)
        for number in 0..<200 {
            network.advance(by: Self.end)
            let batch = CollectedBatch(
                number: Int64(number), frame: Int64(number) * 1024, row: [-6, 0.5, 1], events: [Self.beat.event(at: 0)])
            try sink.write(BatchBlock([batch]))
        }
        try sink.close()
        let texts = network.packets.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(texts.count { $0.contains("/hemiola/beat") } == 200)
        #expect(expected.contains(texts.count { $0.contains("/hemiola/levels") }))
    }

    @Test func `bundles=false: each message is a datagram`() throws {
        let packets = try packets(",bundles=false,prefix=/a/b")
        #expect(packets.first?.bytes == bytes("/a/b/levels/rms_db\0\0,f\0\0", [0xC0, 0xC0, 0, 0]))
        #expect(packets.last?.bytes.starts(with: Array("/a/b/visualizer/bars".utf8)) == true && packets.count == 2)
    }

    @Test func `value that does not exist: no message`() throws {
        #expect(try packets(",bundles=false", row: [.nan, 0.5, .nan]) == [])
    }

    @Test func `TCP: each bundle has its size before it`() throws {
        let receiver = try StreamReceiver()
        let sink = try SinkPlugin.osc.make(settings: "tcp://127.0.0.1:\(receiver.port)")
        try sink.open(SinkContext(name: "osc"))
        try sink.begin(Self.header)
        // A message waits for the first connection.
        try sink.write(BatchBlock([CollectedBatch(row: [-6, 0.5, 1])]))
        #expect(receiver.accept())
        #expect(receiver.receive(4) == [0, 0, 0, 96])
        #expect(receiver.receive(96)?.prefix(8) == Array("#bundle\0".utf8)[...])
        try sink.close()
    }

    @Test func `UDP: the bundle arrives, not before its time`() throws {
        let receiver = try DatagramReceiver()
        let sink = try SinkPlugin.osc.make(settings: "127.0.0.1:\(receiver.port),delay_ms=100")
        try sink.open(SinkContext(name: "osc"))
        try sink.begin(Self.header)
        let start = MonotonicTime.now
        try sink.write(BatchBlock([CollectedBatch(row: [-6, 0.5, 1])]))
        #expect(receiver.receive()?.count == 96 && MonotonicTime.now - start >= 0.0999)
        try sink.close()
    }

    @Test func `category: the address of its number`() throws {
        var outputs = AnalyzerOutputs()
        _ = outputs.add(Feature("tonic", labels: ["C", "Db"], "The tonic."))
        let receiver = try DatagramReceiver()
        let sink = try SinkPlugin.osc.make(settings: "127.0.0.1:\(receiver.port),bundles=false")
        try sink.open(SinkContext(name: "osc"))
        try sink.begin(.test(analyzers: [("musical_key", outputs)]))
        try sink.write(BatchBlock([CollectedBatch(row: [1])]))
        try sink.close()
        #expect(receiver.receive()?.starts(with: Array("/hemiola/musical_key/tonic_number\0".utf8)) == true)
    }

    @Test func `many features: bundles that fit into a packet of the network`() throws {
        var outputs = AnalyzerOutputs()
        for index in 0..<200 { _ = outputs.add(Feature("feature_\(index)", .none, "")) }
        let network = VirtualNetwork()
        let sink = try SinkPlugin.osc.make(settings: "192.0.2.1")
        try sink.open(network.context("osc"))
        try sink.begin(.test(analyzers: [("many", outputs)]))
        try sink.write(BatchBlock([CollectedBatch(row: [Float](repeating: 1, count: 200))]))
        try sink.close()
        let sizes = network.packets.map(\.bytes.count)
        #expect(sizes.count > 1 && sizes.allSatisfy { $0 <= 1472 })
    }

    // MARK: - Maps

    @Test func `map file: its addresses, scales and conditions`() throws {
        let folder = try TemporaryFolder()
        let map = """
            - {from: levels.rms_db, to: /level, scale: [-60, 0, 0, 127], type: int}
            - {value: 1, to: /down, when: beat, where: {position: 1}}
            """
        try map.write(toFile: folder("map.yaml"), atomically: true, encoding: .utf8)
        let events = [Self.beat.event(at: 0.001), Beat(beatsPerMinute: 120, position: 1, confidence: 1).event(at: 0.002)]
        #expect(
            try packets(",bundles=false,map=\(folder("map.yaml"))", events).map(\.bytes)
                == [bytes("/level\0\0,i\0\0", [0, 0, 0, 114]), bytes("/down\0\0\0,i\0\0", [0, 0, 0, 1])])
    }

    @Test func `map with a wrong name or address: the sink fails and names the place`() throws {
        let folder = try TemporaryFolder()
        let path = folder("map.yaml")
        try "- {from: levels.rms, to: level}".write(toFile: path, atomically: true, encoding: .utf8)
        let error = #expect(throws: Problem.self) { try packets(",map=\(path)") }
        #expect(
            error?.description == """
                map: \(path):1:3: [0].to: "level" is not an OSC address; it begins with a slash
                map: \(path):1:3: [0].from: levels has no feature "rms"; did you mean levels.rms_db?
                """)
    }

    @Test(arguments: [
        ("host:0", "target: \"0\" in \"host:0\" is no port; a port is a number from 1 to 65535"),
        ("127.0.0.1,prefix=hemiola", "prefix: \"hemiola\" is not an OSC address; it begins with a slash"),
        ("127.0.0.1,bundles=false,time_tags=event", "time_tags: only bundles have a time; leave out bundles=false"),
        ("127.0.0.1,map=", "map: the path is empty; is a variable of the shell unset?"),
    ])
    func `invalid setting: refused with the remedy`(settings: String, message: String) {
        let error = #expect(throws: Problem.self) { try SinkPlugin.osc.make(settings: settings) }
        #expect(error?.description == message)
    }

    // MARK: - liblo

    @Test(
        .enabled(if: Tool.program("oscdump").isExpected, Comment(rawValue: Tool.program("oscdump").reason)),
        arguments: ["udp", "tcp"])
    func `oscdump of liblo: prints the messages`(transport: String) throws {
        let port = try LoopbackPort.reserve()
        let program = try #require(Tool.location(of: "oscdump"))
        let dump = try ChildProcess(program, ["-L", "osc.\(transport)://:\(port)"])
        let sink = try SinkPlugin.osc.make(settings: "\(transport)://127.0.0.1:\(port)")
        try sink.open(SinkContext(name: "osc"))
        try sink.begin(Self.header)
        var lines: [String] = []
        // Messages before the program receives are lost.
        for number in 0..<200 where lines.count < 3 {
            try sink.write(
                BatchBlock([CollectedBatch(number: Int64(number), row: [-6, 0.5, 1], events: [Self.beat.event(at: 0)])]))
            while let line = try? dump.readLine(timeout: 0.07), lines.count < 3 { lines.append(line) }
            if !dump.isRunning { break }
        }
        try sink.close()
        dump.send(SIGTERM)
        // oscdump prints the time tag before each message.
        let texts = lines.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
        #expect(texts.contains("/hemiola/levels/rms_db f -6.000000"), "\(lines)")
        #expect(texts.contains("/hemiola/visualizer/bars ff 0.500000 1.000000"), "\(lines)")
        #expect(texts.contains("/hemiola/beat fif 120.000000 0 0.500000"), "\(lines)")
    }
}
