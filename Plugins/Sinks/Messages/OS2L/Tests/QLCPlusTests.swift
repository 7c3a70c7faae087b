import Foundation
import Hemiola
import HemiolaTesting
import HemiolaVisualizer
import OS2LSink
import TestSupport
import Testing

/// QLC+ as the receiver: a beat and a button switch dimmers, whose DMX values its web interface reports.
@Suite(.mayNotHang) struct QLCPlusTests {
    private static let qlcplus = Tool.program("qlcplus")
    /// The port of the web interface, which QLC+ 4 does not let choose.
    private static let webPort = 9999

    @Test(.enabled(if: qlcplus.isExpected, "\(qlcplus.reason)"))
    func `QLC+: every beat switches the dimmer, and a preset presses its button`() async throws {
        let folder = try TemporaryFolder()
        let port = try LoopbackPort.reserve()
        _ = try TCPServer(port: Self.webPort)
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "qlcplus.qxw")
        let workspace = try String(contentsOf: source, encoding: .utf8).replacing("\"PORT\"", with: "\"\(port)\"")
        let path = try folder.write(workspace, to: "test.qxw")
        let program = try ChildProcess(
            try #require(Tool.location(of: "qlcplus")), ["--nogui", "--nowm", "--web", "--operate", "--open", path], in: folder.path,
            environment: ["QT_QPA_PLATFORM": "offscreen", "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path])
        defer { program.send(SIGKILL) }

        let fixture = try LiveSink("127.0.0.1:\(port),buttons=true")
        var web: WebSocketClient?
        #expect(
            try await repeatUntil {
                web = try? WebSocketClient(port: Self.webPort, target: "/qlcplusWS")
                return web != nil
            })
        let client = try #require(web)
        /// The values of the two channels.
        func values() throws -> [Int] {
            try client.send("QLC+API|getChannelsValues|1|1|2")
            var text = ""
            while !text.hasPrefix("QLC+API|getChannelsValues|") { text = try #require(try client.readFrame()).text }
            // Channel, value and type of each channel.
            let parts = text.split(separator: "|", omittingEmptySubsequences: false)
            return try [#require(Int(parts[3])), #require(Int(parts[6]))]
        }

        try fixture.write()
        #expect(try values() == [0, 0])
        // The workspace is loaded after the web interface has started: the sink is connected when the first beat switches the dimmer.
        #expect(
            try await repeatUntil(
                { try values() == [255, 0] },
                doing: {
                    guard try values() == [0, 0] else { return }
                    try fixture.write([fixture.beat()])
                    // A beat that was sent switches the dimmer some time later, and a second one would switch it back.
                    try await Task.sleep(for: .milliseconds(300))
                }))
        for beat in 1...6 {
            try fixture.write([fixture.beat(in: 0.1)])
            let expected = [beat % 2 == 0 ? 255 : 0, 0]
            #expect(try await repeatUntil { try values() == expected }, "beat \(beat)")
        }
        // Announced, as the beats above: what is late is not sent.
        let change = Event(at: fixture.now + 0.1, PresetChange(name: "Rain", cut: .soft, blend: 1, reason: .bar))
        try fixture.write([change, fixture.beat(in: 0.1)])
        #expect(try await repeatUntil { try values() == [0, 255] })
        try fixture.sink.close()
    }

    /// A sink that gets batches as time passes. Stream time 0 is when it is made.
    private final class LiveSink {
        let sink: any Sink
        private let start = MonotonicTime.now
        private var number: Int64 = 0

        init(_ settings: String) throws {
            sink = try SinkPlugin.os2l.make(settings: settings)
            try sink.open(SinkContext(name: "os2l", timing: SinkTiming(isLive: true)))
            try sink.begin(.test(isLive: true))
        }

        var now: Double { MonotonicTime.now - start }

        /// Writes a batch that ends now.
        func write(_ events: [Event] = []) throws {
            let batch = CollectedBatch(number: number, frame: TestSignal.mono.frame(at: now) - 1024, events: events)
            number += 1
            try sink.write(BatchBlock([batch]))
        }

        func beat(in seconds: Double = 0) -> Event {
            Event(at: now + seconds, Beat(beatsPerMinute: 120.5, position: nil, confidence: 0.9))
        }
    }
}

/// Repeats an action until a condition holds, at most 1500 times: QLC+ says nothing by itself, and has to be asked.
private func repeatUntil(_ condition: () throws -> Bool, doing action: () async throws -> Void = {}) async throws -> Bool {
    for _ in 0..<1500 {
        if try condition() { return true }
        try await action()
        // An answer takes no time, and there is none before QLC+ has started.
        try await Task.sleep(for: .milliseconds(20))
    }
    return false
}
