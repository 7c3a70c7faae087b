import Foundation
import Hemiola
import HemiolaRecords
import HemiolaSignal
import HemiolaSystem
import HemiolaTesting
import TestSupport
import Testing

@testable import OS2LSink

@Suite(.mayNotHang, .serialized) struct OS2LSinkTests {
    @Test func `conformance tests with a receiver: passed`() throws {
        let server = try TCPServer()
        try SinkConformanceSuite(.os2l, settings: "127.0.0.1:\(server.port),buttons=true").run()
    }

    @Test(arguments: [("", "no host"), ("light:x", "no port")]) func `address that cannot be read: refused`(
        _ address: String, _ message: String
    ) throws {
        let error = #expect(throws: Problem.self) { try SinkPlugin.os2l.make(settings: "\"\(address)\"") }
        #expect(error?.description.contains(message) == true)
    }

    // MARK: - Messages

    @Test func `beats: one message each, byte for byte, not before they are due`() async throws {
        let server = try TCPServer()
        let fixture = try await OS2LFixture("127.0.0.1:\(server.port)")
        let receiver = try server.accept()
        try fixture.write()
        let announced = fixture.now
        try fixture.write([
            fixture.beat(in: 0.08, bpm: 120.456, position: 2, confidence: 0.876),
            fixture.beat(in: 0.3, bpm: 90, position: 3, confidence: 1),
        ])
        #expect(try receiver.readLine() == #"{"evt":"beat","change":true,"pos":1,"bpm":120.46,"strength":0.88}"#)
        let first = fixture.now - announced
        #expect(try receiver.readLine() == #"{"evt":"beat","change":false,"pos":2,"bpm":90.0,"strength":1.0}"#)
        let second = fixture.now - announced
        #expect(first > 0.078 && second > 0.298, "\(first) \(second)")
        try fixture.sink.close()
        #expect(try receiver.readLine() == nil)
        #expect(fixture.reports.warnings == [] && fixture.reports.information == [] && fixture.reports.lost == 0)
    }

    @Test func `a beat that is found after it sounded: sent at once`() async throws {
        let server = try TCPServer()
        let fixture = try await OS2LFixture("127.0.0.1:\(server.port)")
        let receiver = try server.accept()
        try fixture.write()
        try fixture.write([fixture.beat(in: -0.3, bpm: 100), fixture.beat(in: 0.05, bpm: 101)])
        #expect(try receiver.readLine()?.contains(#""bpm":100.0"#) == true)
        #expect(try receiver.readLine()?.contains(#""bpm":101.0"#) == true)
        try fixture.sink.close()
        #expect(fixture.reports.lost == 0)
    }

    @Test func `lead_ms and delay_ms: shift the time`() async throws {
        let server = try TCPServer()
        var times: [Double] = []
        for (settings, lead) in [("delay_ms=-100", 0.1), ("delay_ms=100", 0.2), ("delay_ms=300", 0)] {
            let fixture = try await OS2LFixture("127.0.0.1:\(server.port),\(settings)", lead: lead)
            let receiver = try server.accept()
            try fixture.write()
            let announced = fixture.now
            try fixture.write([fixture.beat(in: 0.4)])
            _ = try receiver.readLine()
            times.append(fixture.now - announced)
            try fixture.sink.close()
        }
        #expect(times[0] > 0.198 && times[1] > 0.298 && times[2] > 0.698, "\(times)")
        #expect(times[0] < times[1] && times[1] < times[2], "\(times)")
    }

    @Test func `buttons: a new preset is a button that is pressed and released`() async throws {
        let server = try TCPServer()
        let fixture = try await OS2LFixture("127.0.0.1:\(server.port),buttons=true")
        let receiver = try server.accept()
        try fixture.write()
        let change = PresetChange(name: "a \"b\"\n\u{1F4A1}", cut: .soft, blend: 2.7, reason: .bar)
        let start = fixture.now
        try fixture.write([fixture.beat(), Event(at: fixture.now, change)])
        #expect(try receiver.readLine()?.hasPrefix(#"{"evt":"beat""#) == true)
        let name = #""a \"b\"\n\#u{1F4A1}""#
        #expect(try receiver.readLine() == #"{"evt":"btn","name":\#(name),"state":"on"}"#)
        #expect(try receiver.readLine() == #"{"evt":"btn","name":\#(name),"state":"off"}"#)
        #expect(fixture.now - start > 0.098)
        try fixture.sink.close()
    }

    @Test func `confidence: beats with less are not sent`() async throws {
        let server = try TCPServer()
        let fixture = try await OS2LFixture("127.0.0.1:\(server.port),confidence=0.5")
        let receiver = try server.accept()
        try fixture.write()
        try fixture.write([fixture.beat(bpm: 100, confidence: 0.4), fixture.beat(bpm: 101, confidence: 0.5)])
        #expect(try receiver.readLine()?.contains(#""bpm":101.0"#) == true)
        try fixture.sink.close()
        #expect(try receiver.readLine() == nil)
    }

    @Test func `gap: beats of the same batch and of later ones are sent`() async throws {
        let server = try TCPServer()
        let fixture = try await OS2LFixture("127.0.0.1:\(server.port)")
        let receiver = try server.accept()
        try fixture.write()
        try fixture.write([Event(at: fixture.now, Gap(frames: 4000, reason: .overrun)), fixture.beat(bpm: 100)])
        try fixture.sink.write([Event(at: fixture.now, Gap(frames: 4000, reason: .overrun))])
        try fixture.write([fixture.beat(in: 0.1, bpm: 101)])
        #expect(try receiver.readLine()?.contains(#""bpm":100.0"#) == true)
        #expect(try receiver.readLine()?.contains(#""bpm":101.0"#) == true)
        try fixture.sink.close()
    }

    @Test func `count of beats: a downbeat has a multiple of four`() {
        var count = BeatCount()
        var time = 0.0
        func places(_ positions: [Int?], interval: Double = 0.5) -> [String] {
            positions.map { position in
                time += interval
                let place = count.add(position: position, at: time)
                return place.isChange ? "\(place.number)!" : "\(place.number)"
            }
        }
        #expect(places([3, 4, 1, 2]) == ["2!", "3", "4", "5"])
        // Bars of three.
        #expect(places([3, 1, 2, 3, 1]) == ["6", "8!", "9", "10", "12!"])
        #expect(places([nil, nil]) == ["13", "14"])
        #expect(places([nil], interval: 2.1) == ["16!"])
        #expect(places([2], interval: 2.1) == ["21!"])
    }

    // MARK: - Connection

    @Test func `no program listens: a warning, losses are counted, the run goes on, and the sink fails at its end`() async throws {
        let port = try LoopbackPort.reserve()
        let fixture = try await OS2LFixture("127.0.0.1:\(port)")
        #expect(try await fixture.repeatUntil({ !fixture.reports.warnings.isEmpty }))
        for _ in 0..<3 { try fixture.write([fixture.beat()]) }
        #expect(try await fixture.repeatUntil({ fixture.reports.lost > 0 }))
        let error = #expect(throws: Problem.self) { try fixture.sink.close() }
        #expect(error?.message == "os2l: tcp://127.0.0.1:\(port): not one of 3 messages could be sent")
        #expect(fixture.reports.lost == 3)
        let warnings = fixture.reports.warnings
        #expect(warnings.count == 1)
        #expect(
            warnings.first?.hasPrefix("os2l: tcp://127.0.0.1:\(port): Connection refused; start the program that receives there") == true,
            "\(warnings)")
    }

    @Test func `unknown name: a warning, and the sink closes`() async throws {
        let fixture = try await OS2LFixture("nowhere.invalid")
        #expect(try await fixture.repeatUntil({ !fixture.reports.warnings.isEmpty }))
        #expect(fixture.reports.warnings.first?.hasPrefix("os2l: tcp://nowhere.invalid:9996: ") == true)
        try fixture.sink.close()
    }

    @Test func `receiver ends and starts again: reconnects, reports the outage and its losses, sends what follows`() async throws {
        var server: TCPServer? = try TCPServer()
        let port = try #require(server?.port)
        let fixture = try await OS2LFixture("127.0.0.1:\(port)")
        var receiver: SocketClient? = try server?.accept()
        try fixture.write()
        try fixture.write([fixture.beat(bpm: 100)])
        #expect(try receiver?.readLine()?.contains(#""bpm":100.0"#) == true)
        (receiver, server) = (nil, nil)
        #expect(try await fixture.repeatUntil({ !fixture.reports.warnings.isEmpty }))
        #expect(fixture.reports.warnings.first?.hasPrefix("os2l: tcp://127.0.0.1:\(port): the receiver closed the connection") == true)
        try fixture.write([fixture.beat(bpm: 101)])
        #expect(try await fixture.repeatUntil({ fixture.reports.lost == 1 }))
        let second = try TCPServer(port: port)
        let next = try second.accept()
        // The receiver knows of the connection before the sink does, which loses what is due until then.
        try fixture.write([fixture.beat(in: 0.5, bpm: 102)])
        #expect(try next.readLine()?.contains(#""bpm":102.0"#) == true)
        try fixture.sink.close()
        #expect(fixture.reports.warnings.last == "os2l: tcp://127.0.0.1:\(port): 1 messages were lost" && fixture.reports.lost == 1)
    }
}
