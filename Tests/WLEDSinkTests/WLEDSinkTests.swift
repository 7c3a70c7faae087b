import Hemiola
import HemiolaSignal
import HemiolaTesting
import TestSupport
import Testing

@testable import WLEDSink

/// The sink with sockets, and its messages byte for byte.
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

    /// Reads a message with the layout of WLED's source.
    private struct Message {
        var header: [UInt8]
        var level: Float
        var smoothed: Float
        var peak: UInt8
        var number: UInt8
        var bands: [UInt8]
        var magnitude: Float
        var frequency: Float

        init?(_ packet: [UInt8]?) {
            guard let bytes = packet, bytes.count == 44 else { return nil }
            func float(_ offset: Int) -> Float {
                Float(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) })
            }
            header = Array(bytes[..<8])
            (level, smoothed, peak, number) = (float(8), float(12), bytes[16], bytes[17])
            (bands, magnitude, frequency) = (Array(bytes[18..<34]), float(36), float(40))
        }
    }

    private func run(_ settings: String, _ batches: [CollectedBatch], lead: Double = 0) async throws {
        let sink = try SinkPlugin.wled.make(settings: settings)
        try await sink.open(SinkContext(name: "wled", lead: lead))
        try await sink.begin(Self.header)
        for batch in batches { try await sink.write(BatchBlock([batch])) }
        try await sink.end(StreamSummary(frames: 1024, batches: 1, reason: .endOfInput))
        try await sink.close()
    }

    @Test func `README: settings agree with the program`() throws {
        #expect(try ReadMe("Plugins/Sinks/WLED").settings(notQuotedFrom: SinkPlugin.wled.about).isEmpty)
    }

    @Test func `conformance tests: passed`() async throws {
        let receiver = try DatagramReceiver()
        try await SinkConformanceSuite(.wled, settings: "127.0.0.1:\(receiver.port)").run()
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

    @Test func `batch to one device: level, bands, strongest frequency`() async throws {
        let receiver = try DatagramReceiver()
        try await run("127.0.0.1:\(receiver.port)", [CollectedBatch(row: Self.row)])
        let message = try #require(Message(receiver.receive()))
        #expect(message.header == Array("00002\0\0\0".utf8))
        #expect(message.level == 127.5 && message.peak == 0 && message.number == 1)
        #expect(abs(message.smoothed - 127.5 * Float(1024.0 / 44_100 / 0.1)) < 0.01)
        #expect(message.bands == bytes([128], .zeros(14), [255]))
        #expect(message.magnitude == 2040 && abs(message.frequency - 800) < 0.01)
    }

    @Test func `silence without values: zeros and 1 Hz`() async throws {
        let receiver = try DatagramReceiver()
        let silence: [Float] = [-120, -120, -120, -120] + [Float](repeating: .nan, count: 16)
        try await run("127.0.0.1:\(receiver.port)", [CollectedBatch(row: silence)])
        let message = try #require(Message(receiver.receive()))
        #expect(message.level == 0 && message.magnitude == 0 && message.frequency == 1 && message.bands.allSatisfy { $0 == 0 })
    }

    @Test func `multicast on the loopback interface: received by a member of the group`() async throws {
        let receiver = try DatagramReceiver(port: 11_988, group: "239.0.0.1")
        try await run("interface=lo", [CollectedBatch(row: Self.row)])
        #expect(Message(receiver.receive())?.level == 127.5)
    }

    @Test func `announced beat: the peak is in the message of its time, with lead_ms earlier`() async throws {
        // Batches of 23.2 ms; the beat at 60 ms is in the third, with 30 ms of lead in the second.
        for (lead, expected) in [(0.0, [0, 0, 1, 0]), (0.03, [0, 1, 0, 0])] {
            let receiver = try DatagramReceiver()
            let beat = Beat(beatsPerMinute: 120, position: 1, confidence: 1).event(at: 0.06)
            let batches = (0..<4).map {
                CollectedBatch(number: Int64($0), frame: Int64($0) * 1024, row: Self.row, events: $0 == 0 ? [beat] : [])
            }
            try await run("127.0.0.1:\(receiver.port)", batches, lead: lead)
            #expect((0..<4).map { _ in Message(receiver.receive()).map { Int($0.peak) } } == expected)
        }
    }

    @Test func `invalid target: refused with the remedy`() {
        let error = #expect(throws: ConfigurationError.self) { try SinkPlugin.wled.make(settings: "a b") }
        #expect(error?.description == "target: \"a b\" is no host; write HOST, HOST:PORT or [IPv6]:PORT")
    }
}
