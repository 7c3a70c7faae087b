import BeatAnalyzer
import Foundation
import Hemiola
import HemiolaNetwork
import HemiolaTesting
import HemiolaVisualizer
import TestSupport
import Testing

@testable import OSCControlSource
@testable import OSCSink

@Suite struct OSCDecoderTests {
    private func messages(_ packet: [UInt8]) throws -> [OSCMessage] {
        try OSCDecoder.messages(of: packet[...])
    }

    @Test func `messages of the encoder: decoded as they were`() throws {
        var encoder = OSCEncoder()
        encoder.append("/foo", [.integer(1000), .integer(-1), .text("hello"), .number(1.5), .boolean(true), .boolean(false)])
        let message = OSCMessage(
            address: "/foo", values: [.integer(1000), .integer(-1), .text("hello"), .number(1.5), .boolean(true), .boolean(false)])
        #expect(try messages(encoder.bytes) == [message])
        var bundle = OSCEncoder()
        bundle.appendBundle(at: .immediately)
        bundle.append(sized: encoder.bytes)
        var outer = OSCEncoder()
        outer.appendBundle(at: OSCTime(since1970: 1))
        outer.append(sized: bundle.bytes)
        outer.append(sized: encoder.bytes)
        #expect(try messages(outer.bytes) == [message, message])
    }

    @Test func `types of OSC 1.1: read or skipped`() throws {
        let packet = bytes(
            "/a\0\0,hdtcbN[i]\0\0", [0, 0, 0, 0, 0, 0, 0, 7], [0x3F, 0xE0, 0, 0, 0, 0, 0, 0], .zeros(8), [0, 0, 0, 65],
            [0, 0, 0, 3, 1, 2, 3, 0], [0, 0, 0, 9])
        #expect(
            try messages(packet) == [
                OSCMessage(address: "/a", values: [.integer(7), .number(0.5), .none, .none, .none, .none, .integer(9)])
            ])
        #expect(try messages(bytes("/a\0\0")) == [OSCMessage(address: "/a", values: [])])
    }

    @Test(arguments: [
        [], [0x2F], bytes("/a\0\0,i\0\0", [0, 0, 0]), bytes("a\0\0\0"), bytes("/a\0\0,z\0\0"),
        bytes("/a\0\0,b\0\0", [0xFF, 0xFF, 0xFF, 0xFF]),
        bytes("#bundle\0"), bytes("#bundle\0", .zeros(8), [0, 0, 0, 8, 0x2F]), bytes("#bundle\0", .zeros(8), [0xFF, 0xFF, 0xFF, 0xFC]),
        bytes([0x2F, 0xFF, 0xFE, 0]),
    ])
    func `packet with another format: refused`(packet: [UInt8]) {
        #expect(throws: Problem.self) { try messages(packet) }
    }

    @Test func `nesting and number of messages: bounded`() throws {
        var packet = bytes("/a\0\0")
        for depth in 1...OSCDecoder.maxDepth + 1 {
            var bundle = OSCEncoder()
            bundle.appendBundle(at: .immediately)
            bundle.append(sized: packet)
            packet = bundle.bytes
            if depth <= OSCDecoder.maxDepth {
                #expect(try messages(packet).count == 1)
            } else {
                #expect(throws: Problem.self) { try messages(packet) }
            }
        }
        var wide = OSCEncoder()
        wide.appendBundle(at: .immediately)
        for _ in 0...OSCDecoder.maxMessages { wide.append(sized: bytes("/a\0\0")) }
        #expect(throws: Problem.self) { try messages(wide.bytes) }
    }

    @Test func `random bytes: never a crash`() {
        var random = SplitMix64(seed: 5)
        let start = bytes("#bundle\0", .zeros(8), [0, 0, 0, 20], "/abc\0\0\0\0,ifs\0\0\0\0", .zeros(12))
        for _ in 0..<50_000 {
            var packet = start
            for _ in 0..<3 { packet[Int(random.next() % UInt64(packet.count))] = UInt8(truncatingIfNeeded: random.next()) }
            _ = try? messages(Array(packet.prefix(Int(random.next() % UInt64(packet.count + 1)))))
        }
    }
}

/// Controls from real senders: sockets, and liblo's oscsend.
@Suite(.mayNotHang) struct OSCControlTests {
    private static func context(_ inbox: SubmittedControls, by clock: any MonotonicClock = .system) -> SinkContext {
        inbox.context("osc-control", controls: ControlType.presetControls + AnalyzerPlugin.beat.about.controls, clock: clock)
    }

    /// A sink on a port of its own, and a sender to it.
    private final class Fixture {
        let inbox = SubmittedControls()
        let port: Int
        let clock = VirtualClock()
        private let sink: any Sink
        private let sender: MessageSender

        init(_ settings: String = "") throws {
            port = try LoopbackPort.reserve()
            sink = try ControlPlugin.osc.sink.make(settings: "\(port)\(settings)")
            sender = try MessageSender(to: NetworkTarget(host: "127.0.0.1", port: port), SinkContext(name: "test"))
            try sink.open(OSCControlTests.context(inbox, by: clock))
        }

        func send(_ address: String, _ values: ParameterValue...) {
            var encoder = OSCEncoder()
            encoder.append(address, values)
            sender.send(encoder.bytes, at: 0)
        }

        func send(_ packet: [UInt8]) { sender.send(packet, at: 0) }

        /// Sends a last control, waits for it, and closes the sink.
        func finish(_ last: String = "/hemiola/resetTempo") throws -> [String] {
            send(last)
            try inbox.wait { inbox.controls.last?.name == "resetTempo" }
            try sink.close()
            try sender.close(within: 1)
            return inbox.names.dropLast()
        }
    }

    @Test func `without a map: the address names the control, the arguments are its fields`() throws {
        let fixture = try Fixture()
        fixture.send("/hemiola/tap")
        fixture.send("/hemiola/nudge", .integer(-10))
        fixture.send("/hemiola/setSpeed", .number(0.5))
        fixture.send("/other/tap")
        #expect(try fixture.finish() == ["tap", "nudge ms=number(-10.0)", "setSpeed speed=number(0.5)"])
        #expect(fixture.inbox.warnings.isEmpty)
    }

    @Test func `map: values, buttons and constants; of a fader's values that arrive together the last`() throws {
        let folder = try TemporaryFolder()
        let map = try folder.write(
            """
            - {from: /fader, to: setSpeed, scale: [0, 1, 0.1, 1]}
            - {when: /push, to: tap, where: {value: 1}}
            - {value: 5, when: /right, to: nudge}
            - {when: /end, to: resetTempo}
            """, to: "map.yaml")
        let fixture = try Fixture(",map=\(map)")
        var bundle = OSCEncoder()
        bundle.appendBundle(at: .immediately)
        for step in 0...100 {
            var message = OSCEncoder()
            message.append("/fader", [.number(Double(step) / 100)])
            bundle.append(sized: message.bytes)
        }
        fixture.send(bundle.bytes)
        fixture.send("/push", .integer(1))
        fixture.send("/push", .number(0))
        fixture.send("/right")
        fixture.send("/hemiola/tap")
        #expect(try fixture.finish("/end") == ["setSpeed speed=number(1.0)", "tap", "nudge ms=number(5.0)"])
    }

    @Test func `unknown control, wrong type, other bytes: each reported once, and the next message works`() throws {
        let fixture = try Fixture()
        for _ in 0..<3 {
            fixture.send("/hemiola/tpa")
            fixture.send("/hemiola/setSpeed", .text("fast"))
            fixture.send([1, 2, 3])
        }
        #expect(try fixture.finish() == [])
        #expect(
            fixture.inbox.warnings.sorted() == [
                "osc-control: a packet that is not OSC 1.0 was ignored",
                "osc-control: setSpeed: the control setSpeed needs its \"speed\"",
                "osc-control: there is no control \"tpa\"; did you mean tap?",
            ])
    }

    @Test func `flood: at most a thousand controls a second, reported once`() throws {
        let fixture = try Fixture()
        var bundle = OSCEncoder()
        bundle.appendBundle(at: .immediately)
        for _ in 0..<1000 { bundle.append(sized: bytes("/hemiola/tap\0\0\0\0,\0\0\0")) }
        for _ in 0..<2 { fixture.send(bundle.bytes) }
        try fixture.inbox.wait { !fixture.inbox.warnings.isEmpty }
        fixture.clock.advance(by: 1.1)
        #expect(try fixture.finish().count == 1000)
        #expect(fixture.inbox.warnings == ["osc-control: more than 1000 controls in a second; the others are discarded"])
    }

    @Test(.enabled(if: Tool.program("oscsend").isExpected, Comment(rawValue: Tool.program("oscsend").reason)))
    func `oscsend of liblo: received`() throws {
        let fixture = try Fixture()
        let program = try #require(Tool.location(of: "oscsend"))
        let sender = try ChildProcess(program, ["127.0.0.1", "\(fixture.port)", "/hemiola/nudge", "f", "2.5"])
        try fixture.inbox.wait { !fixture.inbox.controls.isEmpty }
        sender.send(SIGTERM)
        #expect(try fixture.finish() == ["nudge ms=number(2.5)"])
    }

    @Test func `port in use, map with a typo: errors with the remedy`() throws {
        let receiver = try DatagramReceiver()
        let busy = try ControlPlugin.osc.sink.make(settings: "127.0.0.1:\(receiver.port)")
        let error = #expect(throws: Problem.self) { try busy.open(OSCControlTests.context(SubmittedControls())) }
        #expect(error?.message.hasSuffix("Address already in use; end the program that uses the port, or use another") == true)
        let folder = try TemporaryFolder()
        let map = try folder.write("- {when: /push, to: tpa}", to: "map.yaml")
        let wrong = try ControlPlugin.osc.sink.make(settings: "9001,map=\(map)")
        let fault = #expect(throws: Problem.self) { try wrong.open(OSCControlTests.context(SubmittedControls())) }
        #expect(fault?.message == "\(map):1:3: [0].to: there is no control \"tpa\"; did you mean tap?")
    }

    @Test func `conformance tests: passed`() throws {
        var encoder = OSCEncoder()
        encoder.append("/hemiola/nextPreset", [])
        let socket = try DatagramReceiver()
        /// That of the last source.
        var port = 0
        func next() -> String {
            port = (try? LoopbackPort.reserve()) ?? 0
            return "\(port)"
        }
        try ControlSourceConformanceSuite(.osc, settings: next()) { [encoder] in socket.send(encoder.bytes, to: port) }.run()
    }
}
