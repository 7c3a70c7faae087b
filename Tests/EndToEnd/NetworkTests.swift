import Foundation
import TestSupport
import Testing

/// The sinks that send to a server: with the program as a whole.
@Suite(.mayNotHang, .serialized) struct NetworkTests {
    @Test func `os2l: the beats of a file arrive when they sound`() throws {
        let server = try TCPServer()
        let excerpt = ["--duration", "10"]
        let times = try Hemiola.records([Hemiola.minuet, "--causal", "--select", "beat"] + excerpt).of("beat").compactMap { $0.double("t") }
        /// The difference of the latest beat to the median, in seconds.
        func spread() throws -> Double {
            let program = try Hemiola.start(["analyze", Hemiola.minuet, "--quiet", "--sink", "os2l:127.0.0.1:\(server.port)"] + excerpt)
            let receiver = try server.accept()
            var arrivals: [Double] = []
            var messages: [[String: Any]] = []
            while let line = try receiver.readLine() {
                arrivals.append(ProcessInfo.processInfo.systemUptime)
                messages.append(try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]))
            }
            let outcome = try program.finish(timeout: Hemiola.timeout)
            #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
            try #require(times.count > 8 && messages.count == times.count)
            #expect(messages.allSatisfy { $0["evt"] as? String == "beat" && ($0["bpm"] as? Double ?? 0) > 60 })
            // Stream time 0 is unknown here: the differences of all beats to it are compared.
            let offsets = zip(arrivals, times).map { $0 - $1 }.sorted()
            return try #require(offsets.last) - offsets[offsets.count / 2]
        }
        // Other programs can delay one run by more than the limit, but not each of three.
        let limit = 0.1 * Sanitizer.slowness
        var spreads = [try spread()]
        while spreads.last! >= limit, spreads.count < 3 { spreads.append(try spread()) }
        #expect(spreads.min()! < limit, "\(spreads)")
    }

    @Test func `osc: a field map that names a missing feature is a wrong setting, exit code 2`() throws {
        let folder = try TemporaryFolder()
        try folder.write("- {from: levels.rms, to: /level}\n", to: "map.yaml")
        let outcome = try Hemiola.run(
            ["analyze", Hemiola.minuet, "--quiet", "--sink", "osc:127.0.0.1:9,map=\(folder("map.yaml"))"], in: folder.path)
        #expect(outcome.status == 2 && outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("did you mean levels.rms_db?"), "\(outcome.errors)")
    }

    @Test func `os2l: a receiver that closes every connection is reported once`() throws {
        let server = try TCPServer()
        let program = try Hemiola.start(
            [
                "analyze", "--capture", "tone:sine,seconds=0", "--realtime", "--analyzer", "levels", "--sink",
                "os2l:127.0.0.1:\(server.port)",
            ])
        for _ in 0..<4 { _ = try server.accept() }
        program.send(SIGINT)
        let outcome = try program.finish(timeout: Hemiola.timeout)
        #expect(
            outcome.errorLines == [
                "hemiola: warning: os2l: tcp://127.0.0.1:\(server.port): the receiver closed the connection; "
                    + "messages are lost until it is available"
            ])
    }

    @Test func `two sinks that send to one port where no program receives: each warning names its sink`() throws {
        let target = "127.0.0.1:\(try LoopbackPort.reserve())"
        let outcome = try Hemiola.run([
            "analyze", "--capture", "tone:sine,seconds=1", "--realtime", "--sink", "osc:\(target)", "--sink", "wled:\(target)",
        ])
        let problem = "\(target): Connection refused; start the program that receives there; messages are lost until it is available"
        for sink in ["osc", "wled"] {
            #expect(outcome.errorLines.contains("hemiola: warning: \(sink): \(problem)"), "\(outcome.errors)")
        }
    }

    @Test(arguments: [["--control", "osc:"], ["--sink", "osc-control:"]])
    func `osc as a sink and as a control source: messages leave, and the control has the name of its source`(option: [String]) throws {
        let (receiver, port) = (try DatagramReceiver(), try LoopbackPort.reserve())
        let program = try Hemiola.start([
            "analyze", "--capture", "tone:clicks,seconds=600", "--realtime", "--quiet", "--select", "beat,control", "--sink", "json-lines",
            "--sink", "osc:127.0.0.1:\(receiver.port)", option[0], "\(option[1])\(port)",
        ])
        var origin: String?
        while origin == nil, let line = try program.readLine(timeout: Hemiola.timeout) {
            let record = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            if record["type"] as? String == "control" { origin = record["from"] as? String }
            // With each beat, because the first may come before the port is open.
            receiver.send(Array("/hemiola/tap\0\0\0\0,\0\0\0".utf8), to: port)
        }
        #expect(origin == "osc-control")
        #expect(receiver.receive() != nil)
        program.send(SIGINT)
        let outcome = try program.finish(timeout: Hemiola.timeout)
        #expect(outcome.errors == "")
    }

    @Test func `os2l: a receiver that could never be reached is exit code 3`() throws {
        let outcome = try Hemiola.run(
            ["analyze", Hemiola.minuet, "--duration", "6", "--quiet", "--sink", "os2l:127.0.0.1:\(try LoopbackPort.reserve())"])
        #expect(outcome.status == 3 && outcome.errorLines.count == 1, "\(outcome.errors)")
    }

    @Test(.enabled(if: MQTTBroker.isExpected, "\(MQTTBroker.reason)"))
    func `mqtt: when the program is killed, the broker publishes that it is offline`() throws {
        let broker = try MQTTBroker()
        let subscriber = try broker.subscribe("hemiola/status")
        let program = try Hemiola.start(["analyze", Hemiola.minuet, "--quiet", "--sink", "mqtt:127.0.0.1:\(broker.port)"])
        #expect(try subscriber.next().payload == "online")
        program.send(SIGKILL)
        #expect(try subscriber.next().payload == "offline")
    }

    @Test(.enabled(if: MQTTBroker.isExpected, "\(MQTTBroker.reason)"))
    func `mqtt: user and password of the environment; a wrong one is exit code 3`() throws {
        let broker = try MQTTBroker(user: ("light", "right"))
        func run(_ password: String) throws -> ChildProcess.Outcome {
            try ChildProcess.run(
                Hemiola.path, ["analyze", Hemiola.minuet, "--duration", "2", "--quiet", "--sink", "mqtt:127.0.0.1:\(broker.port)"],
                environment: ["HEMIOLA_MQTT_USER": "light", "HEMIOLA_MQTT_PASSWORD": password], timeout: Hemiola.timeout)
        }
        let subscriber = try broker.subscribe("hemiola/status", arguments: ["-u", "light", "-P", "right"])
        let outcome = try run("right")
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(try [subscriber.next().payload, subscriber.next().payload] == ["online", "offline"])
        let refused = try run("wrong")
        #expect(refused.status == 3)
        #expect(
            refused.errors == "hemiola: mqtt: 127.0.0.1:\(broker.port): Connection Refused: not authorised; "
                + "check user=, password_file= and the rights of the user\n")
    }
}
