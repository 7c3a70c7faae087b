import Hemiola
import HemiolaTesting
import MyPlugins
import Testing

@Suite struct UDPTests {
    @Test func `udp: conforms`() throws {
        let receiver = Receiver()
        try SinkConformanceSuite(.udp, settings: "\(receiver.port)").run()
    }

    @Test func `batch with an event: one datagram of JSON Lines`() throws {
        let receiver = Receiver()
        let sink = try SinkPlugin.udp.make(settings: "\(receiver.port)")
        try sink.open(SinkContext(name: "udp"))
        try sink.begin(.test())
        #expect(receiver.receive()?.hasPrefix(#"{"type":"header","#) == true)
        try sink.write(BatchBlock([CollectedBatch(events: [Event(at: 0.01, Onset(strength: 1))])]))
        #expect(receiver.receive()?.split(separator: "\n").map { $0.prefix(15) } == [#"{"type":"batch""#, #"{"type":"onset""#])
        try sink.close()
    }

    @Test func `host that is no address: refused`() {
        #expect(throws: Problem.self) { try SinkPlugin.udp.make(settings: "host=nowhere") }
    }
}
