import Hemiola
import HemiolaNetwork
import HemiolaTesting
import NetworkSupport
import TestSupport
import Testing

@testable import WLEDSink

/// The sink in virtual time, its messages byte for byte, and once with a socket.
@Suite(.serialized) struct WLEDSinkTests {
    private static let format = StreamFormat(sampleRate: 44_100, channelCount: 1)

    private static let header: StreamHeader = {
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, ""))
        var spectrum = AnalyzerOutputs()
        _ = spectrum.add(Feature("bands_db", .decibels, count: 3, edges: [100, 400, 1600, 25_600], ""))
        var visualizer = AnalyzerOutputs()
        _ = visualizer.add(Feature("bars", .none, count: 16, ""))
        return .test(format, isLive: true, analyzers: [("levels", levels), ("spectrum", spectrum), ("visualizer", visualizer)])
    }()

    /// Level −30 dBFS, the middle band the strongest, bar 0 at a half and bar 15 full.
    private static let row: [Float] = [-30, -40, -20, -50, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]

    private typealias Message = LightPackets.WLED

    /// What a device gets of a stream with these batches.
    private func sent(_ batches: [CollectedBatch]) throws -> [Message] {
        let network = VirtualNetwork()
        try run("192.0.2.1", batches, network.context("wled"))
        return try network.packets.map { try #require(Message($0.bytes)) }
    }

    private func run(_ settings: String, _ batches: [CollectedBatch], _ context: SinkContext) throws {
        let sink = try SinkPlugin.wled.make(settings: settings)
        try sink.open(context)
        try sink.begin(Self.header)
        for batch in batches { try sink.write(BatchBlock([batch])) }
        try sink.end(StreamSummary(frames: 1024, batches: 1, reason: .endOfInput))
        try sink.close()
    }

    @Test func `conformance tests: passed`() throws {
        let receiver = try DatagramReceiver()
        try SinkConformanceSuite(.wled, settings: "127.0.0.1:\(receiver.port)").run()
    }

    @Test func `message: 44 bytes in the order of WLED`() {
        var packet = AudioSyncPacket()
        (packet.level, packet.smoothedLevel, packet.isPeak, packet.number) = (127.5, 1, true, 7)
        packet.bands = (1...16).map { $0 }
        (packet.magnitude, packet.frequency) = (2040, 440)
        let numbers: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
        let expected = bytes(
            "00002\0\0\0", [0, 0, 0xFF, 0x42], [0, 0, 0x80, 0x3F], [1, 7], BytePart(numbers), [0, 0], [0, 0, 0xFF, 0x44],
            [0, 0, 0xDC, 0x43])
        #expect(packet.bytes == expected)
    }

    @Test func `batch to one device: level, bands, strongest frequency`() throws {
        let message = try #require(sent([CollectedBatch(row: Self.row)]).first)
        #expect(message.level == 127.5 && !message.isPeak && message.number == 1)
        #expect(abs(message.smoothed - 127.5 * Float(1024.0 / 44_100 / 0.1)) < 0.01)
        #expect(message.bands == bytes([128], .zeros(14), [255]))
        #expect(message.magnitude == 2040 && abs(message.frequency - 800) < 0.01)
    }

    @Test func `offset of a microphone in the level and the lowest bands: in neither the level nor the frequency`() {
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, ""))
        var spectrum = AnalyzerOutputs()
        _ = spectrum.add(Feature("bands_db", .decibels, count: 4, edges: [20, 30, 43, 100, 400], ""))
        var encoder = AudioSyncEncoder(peak: .none, lead: 0)
        encoder.begin(.test(Self.format, isLive: true, analyzers: [("levels", levels), ("spectrum", spectrum)]))
        let block = BatchBlock([CollectedBatch(row: [-14, -20, -17, -70, -48])])
        encoder.add(block[0], at: 0)
        let packet = Message(encoder.messages(at: 0, gain: 1)[0].bytes)
        #expect(packet.map { abs($0.level - 255 * 12 / 60) < 1 } == true)
        #expect(packet.map { abs($0.frequency - 200) < 1 } == true)
    }

    @Test func `silence without values: zeros and 1 Hz`() throws {
        let silence: [Float] = [-120, -120, -120, -120] + [Float](repeating: .nan, count: 16)
        let message = try #require(sent([CollectedBatch(row: silence)]).first)
        #expect(message.level == 0 && message.magnitude == 0 && message.frequency == 1 && message.bands.allSatisfy { $0 == 0 })
    }

    @Test func `multicast on the loopback interface: received by a member of the group`() throws {
        let receiver = try DatagramReceiver(port: 11_988, group: "239.0.0.1")
        try run("interface=lo", [CollectedBatch(row: Self.row)], SinkContext(name: "wled"))
        #expect(receiver.receive().flatMap(Message.init)?.level == 127.5)
    }

    @Test func `end: the last message is zero`() throws {
        let messages = try sent([CollectedBatch(row: Self.row)])
        #expect(messages.map(\.isZero) == [false, true] && messages.last?.number == 2)
    }

    @Test func `control blackout: zero without a batch, and until it is off again`() throws {
        let network = VirtualNetwork()
        let sink = try SinkPlugin.wled.make(settings: "192.0.2.1")
        #expect(SinkPlugin.wled.about.controls.contains(.blackout))
        try sink.open(network.context("wled"))
        let director = try #require(sink as? any DirectingSink).makeDirector()
        let handler = try #require(director as? any ControlHandler)
        try sink.begin(Self.header)
        /// Which of the messages since the last call are zero.
        var seen = 0
        func zeros(after seconds: Double = 0.03) -> [Bool] {
            network.advance(by: seconds)
            defer { seen = network.packets.count }
            return network.packets.dropFirst(seen).compactMap { Message($0.bytes)?.isZero }
        }
        try sink.write(BatchBlock([CollectedBatch(row: Self.row)]))
        #expect(zeros(after: 0) == [false])
        #expect(handler.handle(StampedControl(Control(.blackout), at: 0, from: "test")) == .done)
        #expect(zeros() == [true])
        try sink.write(BatchBlock([CollectedBatch(number: 1, frame: 1024, row: Self.row)]))
        #expect(!zeros().contains(false))
        #expect(handler.handle(StampedControl(Control(.blackout, .boolean(false)), at: 0, from: "test")) == .done)
        try sink.write(BatchBlock([CollectedBatch(number: 2, frame: 2048, row: Self.row)]))
        #expect(zeros().last == false)
        try sink.close()
    }

    /// The messages at given times: each batch arrives when it ends, and the events with the first.
    private func messages(_ events: [Event], lead: Double = 0, at times: [Double], rows: [[Float]]) throws -> [Message] {
        var encoder = AudioSyncEncoder(peak: .beat, lead: lead)
        encoder.begin(Self.header)
        var result: [Message] = []
        var pending = rows[...]
        for time in times {
            while let row = pending.first, case let number = rows.count - pending.count, Self.end(number) <= time {
                let block = BatchBlock([
                    CollectedBatch(number: Int64(number), frame: Int64(number) * 1024, row: row, events: number == 0 ? events : [])
                ])
                encoder.add(block[0], at: Self.end(number))
                for place in block[0].events.indices { encoder.add(block[0].events[place]) }
                pending.removeFirst()
            }
            result += try encoder.messages(at: time, gain: 1).map { try #require(Message($0.bytes)) }
        }
        return result
    }

    private static func end(_ number: Int) -> Double { Double(number + 1) * 1024 / 44_100 }

    @Test func `announced beat: the peak is in the first message after its time, with lead_ms earlier`() throws {
        let beat = Beat(beatsPerMinute: 120, position: 1, confidence: 1).event(at: 0.06)
        for (lead, expected) in [(0.0, [0, 0, 1, 0]), (0.03, [0, 1, 0, 0])] {
            let peaks = try messages([beat], lead: lead, at: (0..<4).map(Self.end), rows: .init(repeating: Self.row, count: 4))
            #expect(peaks.map { $0.isPeak ? 1 : 0 } == expected)
        }
    }

    @Test func `peak=kick: peaks at kicks that are expected or come as a surprise, not at other drums or a second time`() throws {
        let fields: [Field] = [.text("voice", ""), .boolean("expected", "")]
        let (drum, expected) = (RecordType("drum", "", fields: fields), RecordType("expected_drum", "", fields: fields))
        /// The byte of the peak in the messages at the ends of four batches, at 0.02, 0.05, 0.07 and 0.09 s.
        func peaks(_ events: Event...) throws -> [UInt8] {
            var encoder = AudioSyncEncoder(peak: .kick, lead: 0)
            encoder.begin(Self.header)
            return (0..<4).map { number in
                let block = BatchBlock([CollectedBatch(number: Int64(number), frame: Int64(number) * 1024, row: Self.row)])
                encoder.add(block[0], at: Self.end(number))
                if number == 0 { for event in events { encoder.add(event) } }
                return encoder.messages(at: Self.end(number), gain: 1)[0].bytes[16]
            }
        }
        #expect(try peaks(Event(at: 0.06, expected, .text("kick"))) == [0, 0, 1, 0])
        #expect(try peaks(Event(at: 0.06, drum, .text("kick"), .boolean(false))) == [0, 0, 1, 0])
        #expect(try peaks(Event(at: 0.06, drum, .text("kick"), .boolean(true))) == [0, 0, 0, 0])
        #expect(
            try peaks(
                Event(at: 0.06, expected, .text("snare")), Event(at: 0.06, drum, .text("hihat"), .boolean(false)),
                Beat(beatsPerMinute: 120, position: 1, confidence: 1).event(at: 0.06)) == [0, 0, 0, 0])
    }

    @Test func `two batches between messages: the message has the highest values of both, and the next one its own`() throws {
        var (loud, quiet) = (Self.row, Self.row)
        (loud[0], loud[2], loud[4]) = (-6, -6, 1)
        (quiet[0], quiet[4], quiet[19]) = (-54, 0, 0)
        let sent = try messages([], at: [Self.end(1), Self.end(2)], rows: [loud, quiet, quiet])
        #expect(sent.map(\.level) == [229.5, 25.5])
        #expect(sent.map { $0.bands[0] } == [255, 0] && sent.map(\.magnitude) == [2040, 0])
    }

    @Test func `gain: everything is weaker, and zero at 0`() throws {
        var encoder = AudioSyncEncoder(peak: .beat, lead: 0)
        encoder.begin(Self.header)
        let block = BatchBlock([CollectedBatch(row: Self.row)])
        encoder.add(block[0], at: 1)
        let half = try #require(Message(encoder.messages(at: 1, gain: 0.5)[0].bytes))
        #expect(half.level == 63.75 && half.bands == bytes([64], .zeros(14), [128]) && half.magnitude == 1020)
        #expect(try #require(Message(encoder.messages(at: 1, gain: 0)[0].bytes)).isZero)
    }

    @Test func `invalid target: refused with the remedy`() {
        let error = #expect(throws: Problem.self) { try SinkPlugin.wled.make(settings: "a b") }
        #expect(error?.description == "target: \"a b\" is no host; write HOST, HOST:PORT or [IPv6]:PORT")
    }
}
