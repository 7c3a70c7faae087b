import Dispatch
import Hemiola
import HemiolaTesting
import HemiolaVisualizer
import NetworkSupport
import Synchronization
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

    @Test func `beats: one message each, byte for byte, when they are due`() throws {
        let fixture = try OS2LFixture()
        fixture.network.advance(to: 1)
        try fixture.write([
            fixture.beat(in: 0.08, bpm: 120.456, position: 2, confidence: 0.876),
            fixture.beat(in: 0.3, bpm: 90, position: 3, confidence: 1),
        ])
        #expect(fixture.lines == [])
        fixture.network.advance(to: 2)
        #expect(
            fixture.lines == [
                #"{"evt":"beat","change":true,"pos":1,"bpm":120.46,"strength":0.88}"#,
                #"{"evt":"beat","change":false,"pos":2,"bpm":90.0,"strength":1.0}"#,
            ])
        #expect(fixture.times == [1080, 1300])
        try fixture.sink.close()
        #expect(fixture.network.lines == [] && fixture.lost == 0)
    }

    @Test func `a beat that is found after it sounded: sent at once; two of one time: apart`() throws {
        let fixture = try OS2LFixture()
        fixture.network.advance(to: 1)
        try fixture.write([fixture.beat(in: -0.3, bpm: 100), fixture.beat(in: -0.1, bpm: 101)])
        fixture.network.advance(to: 2)
        #expect(fixture.lines.map { $0.contains(#""bpm":100.0"#) } == [true, false])
        #expect(fixture.times == [1000, 1020])
        try fixture.sink.close()
        #expect(fixture.lost == 0)
    }

    @Test(arguments: [("-100", 0.1, 1200), ("100", 0.2, 1300), ("300", 0, 1700)])
    func `lead_ms and delay_ms: shift the time`(delay: String, lead: Double, time: Int) throws {
        let fixture = try OS2LFixture(",delay_ms=\(delay)", lead: lead)
        fixture.network.advance(to: 1)
        try fixture.write([fixture.beat(in: 0.4)])
        fixture.network.advance(to: 3)
        #expect(fixture.times == [time])
        try fixture.sink.close()
    }

    @Test func `buttons: a new preset is a button that is pressed and released`() throws {
        let fixture = try OS2LFixture(",buttons=true")
        let change = PresetChange(name: "a \"b\"\n\u{1F4A1}", cut: .soft, blend: 2.7, reason: .bar)
        fixture.network.advance(to: 1)
        try fixture.write([fixture.beat(), Event(at: fixture.now, change)])
        fixture.network.advance(to: 2)
        let name = #""a \"b\"\n\#u{1F4A1}""#
        #expect(fixture.lines.first?.hasPrefix(#"{"evt":"beat""#) == true)
        #expect(
            fixture.lines.dropFirst() == [
                #"{"evt":"btn","name":\#(name),"state":"on"}"#, #"{"evt":"btn","name":\#(name),"state":"off"}"#,
            ])
        // The press is 20 ms after the beat, with which it would be lost otherwise.
        #expect(fixture.times == [1000, 1020, 1100])
        try fixture.sink.close()
    }

    @Test func `confidence: beats with less are not sent`() throws {
        let fixture = try OS2LFixture(",confidence=0.5")
        try fixture.write([fixture.beat(bpm: 100, confidence: 0.4), fixture.beat(bpm: 101, confidence: 0.5)])
        try fixture.sink.close()
        #expect(fixture.lines.count == 1 && fixture.lines[0].contains(#""bpm":101.0"#))
    }

    @Test func `gap: beats of the same batch and of later ones are sent`() throws {
        let fixture = try OS2LFixture()
        fixture.network.advance(to: 1)
        try fixture.write([Event(at: fixture.now, Gap(frames: 4000, reason: .overrun)), fixture.beat(bpm: 100)])
        try fixture.sink.write([Event(at: fixture.now, Gap(frames: 4000, reason: .overrun))])
        try fixture.write([fixture.beat(in: 0.1, bpm: 101)])
        try fixture.sink.close()
        #expect(fixture.lines.map { $0.contains(#""bpm":100.0"#) } == [true, false] && fixture.times == [1000, 1100])
    }

    @Test func `ten minutes of beats: each at its time`() throws {
        let fixture = try OS2LFixture()
        var expected: [Int] = []
        for batch in 0..<25_000 {
            fixture.network.advance(by: 0.024)
            let isSecond = batch % 42 == 41
            if isSecond { expected.append(Int(((fixture.now + 0.25) * 1000).rounded())) }
            try fixture.write(isSecond ? [fixture.beat(in: 0.25)] : [])
        }
        fixture.network.advance(by: 2)
        let errors = zip(fixture.times, expected).map { abs($0 - $1) }
        #expect(errors.count == 595 && errors.max() ?? 9 <= 1)
        try fixture.sink.close()
        #expect(fixture.lost == 0)
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

    @Test func `no program listens: a warning, losses are counted, the run goes on, and the sink fails at its end`() throws {
        let fixture = try OS2LFixture()
        fixture.network.set(.refuses)
        fixture.network.advance(to: 1)
        for _ in 0..<3 { try fixture.write([fixture.beat()]) }
        fixture.network.advance(to: 60)
        let error = #expect(throws: Problem.self) { try fixture.sink.close() }
        #expect(error?.message == "os2l: \(OS2LFixture.receiver): not one of 3 messages could be sent")
        #expect(fixture.lost == 3)
        let warnings = fixture.network.lines
        #expect(warnings.count == 1)
        #expect(
            warnings.first?.hasPrefix("os2l: \(OS2LFixture.receiver): Connection refused; start the program that receives there") == true,
            "\(warnings)")
    }

    @Test func `receiver ends and starts again: reconnects, reports the outage and its losses, sends what follows`() throws {
        let fixture = try OS2LFixture()
        fixture.network.advance(to: 1)
        try fixture.write([fixture.beat(bpm: 100)])
        fixture.network.advance(to: 2)
        fixture.network.set(.refuses)
        fixture.network.closeConnections()
        #expect(fixture.network.lines.first?.hasPrefix("os2l: \(OS2LFixture.receiver): the receiver closed the connection") == true)
        try fixture.write([fixture.beat(bpm: 101)])
        try fixture.play(to: 20)
        #expect(fixture.lost == 1)
        fixture.network.set(.reads)
        // The longest pause between two attempts is 2 s.
        try fixture.play(to: 23)
        try fixture.write([fixture.beat(in: 0.5, bpm: 102)])
        fixture.network.advance(to: 24)
        #expect(fixture.lines.map { $0.contains(#""bpm":100.0"#) } == [true, false])
        #expect(fixture.times == [1000, 23_500])
        try fixture.sink.close()
        #expect(fixture.network.lines.last == "os2l: \(OS2LFixture.receiver): available again; 1 messages were lost" && fixture.lost == 1)
    }

    /// The real network: the bytes arrive, in order, and not before they are due.
    @Test func `a real receiver: gets the messages`() throws {
        let server = try TCPServer()
        let sink = try SinkPlugin.os2l.make(settings: "127.0.0.1:\(server.port)")
        try sink.open(SinkContext(name: "os2l", timing: SinkTiming(isLive: true)))
        try sink.begin(.test(isLive: true))
        let receiver = try server.accept()
        let start = MonotonicTime.now
        let beats = [0.0, 0.1].map { Event(at: $0, Beat(beatsPerMinute: 100 + $0, position: nil, confidence: 1)) }
        try sink.write(BatchBlock([CollectedBatch(frame: -1024, events: beats)]))
        #expect(try receiver.readLine()?.contains(#""bpm":100.0"#) == true)
        #expect(try receiver.readLine()?.contains(#""bpm":100.1"#) == true)
        #expect(MonotonicTime.now - start >= 0.0999)
        try sink.close()
        #expect(try receiver.readLine() == nil)
    }

    @Test func `unknown name: a warning, and the sink closes`() throws {
        let warnings = Mutex<[String]>([])
        let sink = try SinkPlugin.os2l.make(settings: "nowhere.invalid")
        let warned = DispatchSemaphore(value: 0)
        try sink.open(
            SinkContext(
                name: "os2l",
                messages: SinkMessages(warn: { text in
                    warnings.withLock { $0.append(text) }
                    warned.signal()
                })))
        warned.wait()
        #expect(warnings.withLock(\.first)?.hasPrefix("os2l: tcp://nowhere.invalid:9996: ") == true)
        try sink.close()
    }
}
