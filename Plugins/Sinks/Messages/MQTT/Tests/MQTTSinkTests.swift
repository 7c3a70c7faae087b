import Foundation
import Hemiola
import HemiolaTesting
import MQTTSink
import TestSupport
import Testing

@Suite(.mayNotHang, .serialized, .enabled(if: MQTTBroker.isExpected, "\(MQTTBroker.reason)")) struct MQTTSinkTests {
    private static let status = "hemiola/status"

    @Test func `conformance tests with a broker: passed`() throws {
        let broker = try MQTTBroker()
        try SinkConformanceSuite(.mqtt, settings: "127.0.0.1:\(broker.port),every_ms=0").run()
    }

    // MARK: - Messages

    @Test func `fields: a topic for each, a number, a list and null as JSON; events as records`() async throws {
        let broker = try MQTTBroker()
        let subscriber = try broker.subscribe()
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=0")
        #expect(try subscriber.next() == .init(topic: Self.status, payload: "online", isRetained: false, qualityOfService: 0))
        try fixture.write([-20.5, 0.25, .nan], [Event(at: 0.01, Onset(strength: 1.5))])
        let header = try subscriber.next("hemiola/header").payload
        #expect(header.hasPrefix(#"{"type":"header","#) && header.hasSuffix("}"))
        #expect(
            try (0..<3).map { _ in try subscriber.next() }.map { "\($0.topic) \($0.payload)" } == [
                "hemiola/levels/rms_db -20.5", "hemiola/levels/bands [0.25,null]",
                #"hemiola/onset {"type":"onset","t":0.01,"strength":1.5,"emitted_t":0.02322}"#,
            ])
        try fixture.sink.end(
            StreamSummary(frames: 1024, batches: 1, reason: .endOfInput, lateEvents: [Event(at: 0.02, Onset(strength: 2))]))
        #expect(try subscriber.next("hemiola/onset").payload.contains(#""strength":2.0"#))
        #expect(try subscriber.next("hemiola/end").payload.contains(#""reason":"end-of-input""#))
        try fixture.sink.close()
        #expect(try subscriber.next() == .init(topic: Self.status, payload: "offline", isRetained: false, qualityOfService: 0))
        #expect(fixture.reports.warnings == [] && fixture.reports.lost == .init())
    }

    @Test func `every_ms: values at that interval of stream time, events at once`() async throws {
        let broker = try MQTTBroker()
        let subscriber = try broker.subscribe()
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=1000", select: ["levels.rms_db", "beat"])
        _ = try subscriber.next(Self.status)
        // 44 100 frames a second: 43 batches in a second.
        for number in 0..<130 { try fixture.write([Float(number), 0, 0]) }
        try fixture.write([0, 0, 0], [Event(at: 3, Beat(beatsPerMinute: 120, position: 1, confidence: 1))])
        #expect(try (0..<3).map { _ in try subscriber.next().payload } == ["0.0", "43.0", "86.0"])
        // The fourth value is due with batch 129: 130 · 1024 frames are 3.02 s.
        #expect(try subscriber.next().payload == "129.0")
        #expect(try subscriber.next().topic == "hemiola/beat")
        try fixture.sink.close()
    }

    @Test func `batches=record: one topic with all selected values; none: none`() async throws {
        let broker = try MQTTBroker()
        let subscriber = try broker.subscribe("home/#")
        let settings = "127.0.0.1:\(broker.port),every_ms=0,prefix=home/music"
        let record = try await MQTTFixture("\(settings),batches=record", select: ["levels"])
        try record.write()
        #expect(
            try subscriber.next("home/music/batch").payload
                == #"{"type":"batch","n":0,"frame":0,"t":0.0,"levels":{"rms_db":-20.5,"bands":[0.25,null]}}"#)
        try record.sink.close()
        let none = try await MQTTFixture("\(settings),batches=none")
        try none.write([0, 0, 0], [Event(at: 0.01, Onset(strength: 1))])
        _ = try subscriber.next("home/music/header")
        #expect(try subscriber.next().topic == "home/music/onset")
        try none.sink.close()
    }

    @Test func `map: its topics alone, values at the interval, records at once`() async throws {
        let broker = try MQTTBroker()
        let subscriber = try broker.subscribe("#")
        let folder = try TemporaryFolder()
        let map = try folder.write(
            """
            - {from: levels.rms_db, to: stage/level, scale: [-60, 0, 0, 100], type: int}
            - {from: levels.bands, to: stage/bands}
            - {from: 'levels.bands[1]', to: stage/second}
            - {value: "on", to: stage/kick, when: onset}
            """, to: "map.yaml")
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=0,map=\(map)")
        _ = try subscriber.next(Self.status)
        try fixture.write([-30, 0.25, .nan], [Event(at: 0.01, Onset(strength: 1))])
        #expect(try (0..<2).map { _ in try subscriber.next() }.map { "\($0.topic) \($0.payload)" } == ["stage/level 50", "stage/kick on"])
        try fixture.write([-60, 0.25, 0.5])
        #expect(
            try (0..<3).map { _ in try subscriber.next() }.map { "\($0.topic) \($0.payload)" } == [
                "stage/level 0", "stage/bands [0.25,0.5]", "stage/second 0.5",
            ])
        try fixture.sink.close()
        let wrong = try folder.write("- {from: levels.rms, to: stage/#}", to: "wrong.yaml")
        let error = await #expect(throws: Problem.self) {
            _ = try await MQTTFixture("127.0.0.1:\(broker.port),map=\(wrong)")
        }
        #expect(error?.description.contains("levels has no feature \"rms\"; did you mean levels.rms_db?") == true)
        #expect(error?.description.contains("\"stage/#\" is no topic") == true)
    }

    @Test func `qos and retain: of every message; the status is always retained`() async throws {
        let broker = try MQTTBroker()
        let subscriber = try broker.subscribe()
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=0,qos=2,retain=true", select: ["levels.rms_db"])
        try fixture.write()
        #expect(try subscriber.next(Self.status).qualityOfService == 2)
        #expect(try subscriber.next("hemiola/levels/rms_db").qualityOfService == 2)
        let late = try broker.subscribe()
        let kept = try Set([late.next(), late.next()])
        #expect(
            kept == [
                .init(topic: Self.status, payload: "online", isRetained: true, qualityOfService: 2),
                .init(topic: "hemiola/levels/rms_db", payload: "-20.5", isRetained: true, qualityOfService: 2),
            ])
        try fixture.sink.close()
        #expect(try broker.subscribe(Self.status).next().payload == "offline")
    }

    // MARK: - Home Assistant

    /// A stream with the values that Home Assistant is told of.
    private static let stream = {
        var (levels, beat, silence, key) = (AnalyzerOutputs(), AnalyzerOutputs(), AnalyzerOutputs(), AnalyzerOutputs())
        _ = levels.add(Feature("rms_db", .decibels, "The level."))
        _ = beat.add(Feature("bpm", .beatsPerMinute, "The tempo."))
        _ = silence.add(Feature("silent", .ratio, "1: silent."))
        _ = key.add(Feature("confidence", .ratio, "The probability."))
        return StreamHeader.test(
            isLive: true, analyzers: [("levels", levels), ("beat", beat), ("silence", silence), ("musical_key", key)])
    }()

    /// The topics and the contents of the next messages for Home Assistant, in the order of their topics.
    private func announcements(_ count: Int, to subscriber: MQTTSubscriber) throws -> [(topic: String, content: [String: Any])] {
        try (0..<count).map { _ in
            let message = try subscriber.next()
            let content = try JSONSerialization.jsonObject(with: Data(message.payload.utf8)) as? [String: Any]
            return (message.topic, try #require(content))
        }.sorted { $0.topic < $1.topic }
    }

    @Test(arguments: [
        (batches: "fields", level: "hemiola/levels/rms_db", value: "value_json"), ("record", "hemiola/batch", "value_json.levels.rms_db"),
    ])
    func `discovery: a device with the values that are published, kept by the broker, and sent again to one that has lost them`(
        batches: String, level: String, value: String
    ) async throws {
        let broker = try MQTTBroker()
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=0,batches=\(batches)", stream: Self.stream)
        #expect(try broker.subscribe(Self.status).next().payload == "online")
        for isRestarted in [false, true] {
            if isRestarted {
                broker.kill()
                #expect(fixture.reports.wait { !$0.warnings.isEmpty })
                try broker.start()
                #expect(fixture.reports.wait { !$0.information.isEmpty })
            }
            let found = try announcements(6, to: broker.subscribe("homeassistant/#"))
            #expect(
                found.map(\.topic)
                    == ["binary_sensor/hemiola/sound", "device_automation/hemiola/beat", "device_automation/hemiola/downbeat"].map {
                        "homeassistant/\($0)/config"
                    } + ["key", "level", "tempo"].map { "homeassistant/sensor/hemiola/\($0)/config" })
            for content in found.map(\.content) {
                #expect((content["device"] as? [String: Any])?["identifiers"] as? [String] == ["hemiola-hemiola"])
                #expect((content["automation_type"] == nil) == (content["availability_topic"] as? String == Self.status))
            }
            #expect(Set(found.compactMap { $0.content["unique_id"] as? String }).count == 4)
            #expect(found[0].content["device_class"] as? String == "sound")
            #expect(
                found[1].content["topic"] as? String == "hemiola/beat"
                    && found[3].content["state_topic"] as? String == "hemiola/musical_key")
            #expect(found[4].content["state_topic"] as? String == level)
            #expect(found[4].content["value_template"] as? String == "{{ \(value) }}")
            #expect(found[4].content["unit_of_measurement"] as? String == "dB")
        }
        // The topics are those of the values.
        let subscriber = try broker.subscribe(level)
        try fixture.write([-20.5, 120, 0, 0.5])
        #expect(try subscriber.next().topic == level)
        try fixture.sink.close()
    }

    @Test(arguments: ["discovery=false", "batches=none", "prefix=k\u{fc}che/1"])
    func `discovery: only what is published, under a name of letters and digits`(settings: String) async throws {
        let broker = try MQTTBroker()
        let subscriber = try broker.subscribe("#")
        let fixture = try await MQTTFixture(
            "127.0.0.1:\(broker.port),\(settings)", select: ["beat", "levels.rms_db"], stream: Self.stream)
        try fixture.sink.close()
        var topics: [String] = []
        while topics.last?.hasSuffix("/status") != true || topics.count < 2 { topics.append(try subscriber.next().topic) }
        let expected =
            switch settings {
            case "discovery=false": [String]()
            case "batches=none": ["device_automation/hemiola/beat", "device_automation/hemiola/downbeat"]
            default:
                ["sensor/k_c3_bcche_2f1/level", "device_automation/k_c3_bcche_2f1/beat", "device_automation/k_c3_bcche_2f1/downbeat"]
            }
        #expect(topics.filter { !$0.hasSuffix("/status") } == expected.map { "homeassistant/\($0)/config" })
    }

    // MARK: - Outages

    @Test func `broker is killed and started again, QoS 0: the outage is reported, losses are counted, later messages arrive`()
        async throws
    {
        let broker = try MQTTBroker()
        let first = try broker.subscribe()
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=0", select: ["levels"])
        try fixture.write()
        #expect(try first.next("hemiola/levels/rms_db").payload == "-20.5")
        broker.kill()
        #expect(fixture.reports.wait { !$0.warnings.isEmpty })
        #expect(fixture.reports.warnings.count == 1)
        #expect(fixture.reports.warnings.first?.hasPrefix("mqtt: cannot reach 127.0.0.1:\(broker.port): ") == true)
        #expect(fixture.reports.warnings.first?.hasSuffix("; trying again") == true)
        for _ in 0..<3 { try fixture.write() }
        #expect(fixture.reports.lost.batches == 3)
        try broker.start()
        let second = try broker.subscribe()
        #expect(fixture.reports.wait { !$0.information.isEmpty })
        try fixture.write([-1.5, 0, 0])
        while try second.next("hemiola/levels/rms_db").payload != "-1.5" {}
        #expect(fixture.reports.information.first?.hasPrefix("mqtt: connected to 127.0.0.1:\(broker.port); messages not sent: ") == true)
        try fixture.sink.close()
        #expect(fixture.reports.warnings.last?.contains(" messages were not sent to 127.0.0.1:\(broker.port)") == true)
    }

    @Test(arguments: [1, 2]) func `broker is killed and started again, QoS 1 and 2: the messages of the outage are sent`(
        qos: Int
    ) async throws {
        let broker = try MQTTBroker()
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=0,qos=\(qos),retain=true", select: ["levels.rms_db"])
        try fixture.write([0, 0, 0])
        let first = try broker.subscribe()
        #expect(try first.next("hemiola/levels/rms_db").payload == "0.0")
        broker.kill()
        #expect(fixture.reports.wait { !$0.warnings.isEmpty })
        for number in 1...50 { try fixture.write([Float(number), 0, 0]) }
        try broker.start()
        let second = try broker.subscribe("hemiola/levels/rms_db")
        while try second.next().payload != "50.0" {}
        try fixture.sink.close()
        #expect(fixture.reports.lost == .init())
        #expect(fixture.reports.warnings.count == 1)
    }

    @Test(arguments: [0, 1, 2]) func `broker that does not read: the sink does not wait, drops the oldest messages, and counts them`(
        qos: Int
    ) async throws {
        let broker = try MQTTBroker()
        let clock = VirtualClock()
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=0,qos=\(qos),batches=record", clock: clock)
        #expect(try broker.subscribe(Self.status).next().payload == "online")
        broker.pause(true)
        let label = String(repeating: "x", count: 20_000)
        for _ in 0..<1500 { try fixture.write([0, 0, 0], [Event(at: 0, AnalyzerEvent(output: "o", label: label))]) }
        // Losses are reported once a second, with the next messages.
        clock.advance(by: 1.1)
        try fixture.write()
        #expect(fixture.reports.lost.events > 500)
        broker.pause(false)
        // All others arrive, and the end of the sink says how many are lost.
        var text: String?
        do throws(Problem) {
            try fixture.sink.close()
        } catch {
            text = error.message
        }
        let losses = fixture.reports.lost
        let end = text ?? fixture.reports.warnings.last ?? ""
        #expect(end.hasPrefix("mqtt: \(losses.batches + losses.events) of 3005 messages were not sent to "), "\(end) \(losses)")
        #expect((text == nil) == (qos == 0))
    }

    @Test func `broker that sends what is not MQTT: reported, and connected again`() async throws {
        let server = try TCPServer()
        let fixture = try await MQTTFixture("127.0.0.1:\(server.port),every_ms=0")
        let first = try server.accept()
        // CONNACK, and a packet whose length has more than four bytes.
        try first.send(bytes: [0x20, 2, 0, 0, 0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        let second = try server.accept()
        try second.send(bytes: [0x20, 2, 0, 0])
        #expect(fixture.reports.wait { !$0.information.isEmpty })
        #expect(fixture.reports.warnings.count == 1)
        try? fixture.sink.close()
    }

    @Test func `broker that stops reading for a while: all messages arrive whole, in order, and none is lost`() async throws {
        let broker = try MQTTBroker()
        let subscriber = try broker.subscribe("hemiola/event")
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=0,batches=none")
        #expect(try broker.subscribe(Self.status).next().payload == "online")
        broker.pause(true)
        // More than the sockets of both sides accept, less than may wait.
        let text = String(repeating: "x", count: 90_000)
        for number in 0..<100 {
            try fixture.write([0, 0, 0], [Event(at: Double(number), AnalyzerEvent(output: "o", label: text))])
        }
        // So that the library meets full sockets: nothing tells that it waits for them.
        try await Task.sleep(for: .milliseconds(500))
        broker.pause(false)
        for number in 0..<100 {
            let payload = try subscriber.next().payload
            #expect(
                payload.hasPrefix(#"{"type":"event","t":\#(Double(number)),"#) && payload.contains("\"\(text)\"") && payload.hasSuffix("}"))
        }
        try fixture.sink.close()
        #expect(fixture.reports.lost == .init() && fixture.reports.warnings == [])
    }

    @Test func `broker is killed while it does not read: losses are counted, and what is sent to the next one arrives whole`() async throws
    {
        let broker = try MQTTBroker()
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=0,batches=none")
        #expect(try broker.subscribe(Self.status).next().payload == "online")
        broker.pause(true)
        let text = String(repeating: "x", count: 90_000)
        func write(_ time: Double) throws {
            try fixture.write([0, 0, 0], [Event(at: time, AnalyzerEvent(output: "o", label: text))])
        }
        for number in 0..<100 { try write(Double(number)) }
        broker.kill()
        #expect(fixture.reports.wait { !$0.warnings.isEmpty })
        try broker.start()
        let subscriber = try broker.subscribe("hemiola/event")
        #expect(fixture.reports.wait { !$0.information.isEmpty })
        try write(500)
        let payload = try subscriber.next().payload
        #expect(payload.hasPrefix(#"{"type":"event","t":500.0,"#) && payload.contains("\"\(text)\"") && payload.hasSuffix("}"))
        try fixture.sink.close()
        #expect((1...100).contains(fixture.reports.lost.events), "\(fixture.reports.lost)")
    }

    @Test func `outage that is longer than what may wait, QoS 1: the oldest messages are dropped and counted, the newest arrive`()
        async throws
    {
        let broker = try MQTTBroker()
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=0,qos=1,retain=true", select: ["levels.rms_db"])
        #expect(try broker.subscribe(Self.status).next().payload == "online")
        broker.kill()
        #expect(fixture.reports.wait { !$0.warnings.isEmpty })
        for number in 1...1200 { try fixture.write([Float(number), 0, 0]) }
        #expect(fixture.reports.wait { $0.lost.batches == 200 })
        try broker.start()
        let subscriber = try broker.subscribe("hemiola/levels/rms_db")
        while try subscriber.next().payload != "1200.0" {}
        let error = #expect(throws: Problem.self) { try fixture.sink.close() }
        #expect(error?.message == "mqtt: 200 of 1205 messages were not sent to 127.0.0.1:\(broker.port)")
    }

    @Test(arguments: [0, 2]) func `broker that does not read when the sink is closed: the sink closes, and counts what it has not sent`(
        qos: Int
    ) async throws {
        let broker = try MQTTBroker()
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),every_ms=0,batches=none,qos=\(qos)")
        #expect(try broker.subscribe(Self.status).next().payload == "online")
        broker.pause(true)
        let text = String(repeating: "x", count: 90_000)
        for _ in 0..<100 { try fixture.write([0, 0, 0], [Event(at: 0, AnalyzerEvent(output: "o", label: text))]) }
        let start = ContinuousClock.now
        var failure: Problem?
        do throws(Problem) {
            try fixture.sink.close()
        } catch {
            failure = error
        }
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(fixture.reports.lost.events > 0)
        if qos == 0 {
            #expect(failure == nil)
            #expect(fixture.reports.warnings.last?.hasSuffix(" messages were not sent to 127.0.0.1:\(broker.port)") == true)
        } else {
            #expect(failure?.message.hasSuffix(" messages were not sent to 127.0.0.1:\(broker.port)") == true)
        }
    }

    @Test(arguments: [0, 1]) func `no program listens: a warning, losses are counted, the run goes on, and the sink fails at its end`(
        qos: Int
    ) async throws {
        let port = try LoopbackPort.reserve()
        let fixture = try await MQTTFixture("127.0.0.1:\(port),every_ms=0,qos=\(qos)", select: ["levels"])
        for _ in 0..<3 { try fixture.write() }
        #expect(fixture.reports.wait { !$0.warnings.isEmpty })
        let error = #expect(throws: Problem.self) { try fixture.sink.close() }
        #expect(error?.message == "mqtt: 6 of 6 messages were not sent to 127.0.0.1:\(port)")
        #expect(fixture.reports.lost.batches == 3)
        #expect(fixture.reports.warnings == ["mqtt: cannot reach 127.0.0.1:\(port): Connection refused; trying again"])
    }

    @Test func `unknown name: a warning, and the sink closes`() async throws {
        let fixture = try await MQTTFixture("nowhere.invalid")
        #expect(fixture.reports.wait { !$0.warnings.isEmpty })
        #expect(fixture.reports.warnings.first?.hasPrefix("mqtt: cannot reach nowhere.invalid:1883: ") == true)
        #expect(throws: Problem.self) { try fixture.sink.close() }
    }

    @Test func `server that never answers: closing does not wait for it`() async throws {
        let server = try TCPServer()
        let fixture = try await MQTTFixture("127.0.0.1:\(server.port)")
        let connection = try server.accept()
        let start = ContinuousClock.now
        // An error only where the connection was still being opened: no message was lost.
        try? fixture.sink.close()
        #expect(ContinuousClock.now - start < .seconds(10))
        withExtendedLifetime(connection) {}
    }

    @Test func `closed right after it was opened: the connection is still made, and ended in order`() throws {
        let broker = try MQTTBroker()
        let subscriber = try broker.subscribe()
        let sink = try SinkPlugin.mqtt.make(SinkPlugin.mqtt.about.values(parsing: "mqtt:127.0.0.1:\(broker.port)"))
        try sink.open(SinkContext(name: "mqtt"))
        try sink.close()
        #expect(try (0..<2).map { _ in try subscriber.next().payload } == ["online", "offline"])
    }

    // MARK: - Credentials

    @Test func `user and password file: accepted; a file that others can read is a warning`() async throws {
        let broker = try MQTTBroker(user: ("light", "se cret\u{e9}"))
        let folder = try TemporaryFolder()
        let file = try folder.write("se cret\u{e9}\r\nmore", to: "password")
        chmod(file, 0o644)
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),user=light,password_file=\(file)")
        let arguments = ["-u", "light", "-P", "se cret\u{e9}"]
        #expect(try broker.subscribe(Self.status, arguments: arguments).next().payload == "online")
        try fixture.sink.close()
        #expect(
            fixture.reports.warnings == ["mqtt: \(file) can be read by other users; remove the permission: chmod 600 '\(file)'"])
    }

    @Test func `wrong password: the sink fails with a message`() async throws {
        let broker = try MQTTBroker(user: ("light", "right"))
        let folder = try TemporaryFolder()
        let file = try folder.write("wrong\n", to: "password")
        chmod(file, 0o600)
        let fixture = try await MQTTFixture("127.0.0.1:\(broker.port),user=light,password_file=\(file),every_ms=0")
        // The header, which has waited for the connection, is lost with it.
        #expect(fixture.reports.wait { $0.lost.events > 0 })
        let failure = #expect(throws: Problem.self) { try fixture.write() }
        #expect(failure?.remedy == .giveUp)
        let start = "mqtt: 127.0.0.1:\(broker.port): Connection Refused: not authorised; "
        #expect(failure?.message == start + "check user=, password_file= and the rights of the user")
        try fixture.sink.close()
        #expect(fixture.reports.warnings == [])
    }

    @Test func `password without a user, an empty file, no file: errors`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("\n", to: "empty")
        let secret = try folder.write("secret\n", to: "secret")
        chmod(secret, 0o600)
        for (settings, message) in [
            ("password_file=\(folder("none")),user=a", "cannot read \(folder("none")): No such file or directory"),
            ("password_file=\(folder("empty")),user=a", "mqtt: the first line of \(folder("empty")) is no password"),
            ("password_file=/dev/null,user=a", "mqtt: the first line of /dev/null is no password"),
            ("password_file=\(secret)", "mqtt: there is a password, but no user"),
        ] {
            let error = await #expect(throws: Problem.self) { _ = try await MQTTFixture("broker=127.0.0.1,\(settings)") }
            #expect(error?.message.hasPrefix(message) == true && error?.place != nil, "\(String(describing: error))")
        }
    }

    // MARK: - Encryption

    @Test(.enabled(if: Tool.program("openssl").isExpected, "\(Tool.program("openssl").reason)"))
    func `TLS: with the broker's authority connected; with those of the system refused`() async throws {
        let folder = try TemporaryFolder()
        let (certificate, key) = (folder("broker.crt"), folder("broker.key"))
        let outcome = try ChildProcess.run(
            try #require(Tool.location(of: "openssl")),
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
            ])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let broker = try MQTTBroker(certificate: (certificate, key))
        let fixture = try await MQTTFixture("localhost:\(broker.port),tls=true,ca_file=\(certificate)")
        let subscriber = try broker.subscribe(Self.status, arguments: ["--insecure", "--cafile", certificate])
        #expect(try subscriber.next().payload == "online")
        try fixture.sink.close()
        #expect(fixture.reports.warnings == [])

        let refused = try await MQTTFixture("localhost:\(broker.port),tls=true")
        #expect(refused.reports.wait { !$0.warnings.isEmpty })
        #expect(refused.reports.warnings.first?.contains("certificate verify failed") == true, "\(refused.reports.warnings)")
        #expect(throws: Problem.self) { try refused.sink.close() }

        let error = await #expect(throws: Problem.self) { _ = try await MQTTFixture("localhost,tls=true,ca_file=\(folder("none"))") }
        #expect(error == Problem("mqtt: cannot read \(folder("none")): No such file or directory", at: "ca_file"))
    }
}

@Suite struct MQTTSettingsTests {
    @Test(arguments: [
        ("broker=mqtt://light", "is no host"), ("prefix=\"\"", "the prefix is empty"), ("prefix=a/#", "is no topic"),
        ("prefix=a/", "begins or ends with a slash"), ("prefix=\"a\u{85}b\"", "control characters"),
        ("prefix=a\u{FFFE}", "control characters"), ("ca_file=a.pem", "set tls=true"), ("tls=true,cert_file=a.pem", "belong together"),
        ("qos=3", "0...2"), ("prefix=\(String(repeating: "a", count: 1001))", "too long"),
    ])
    func `invalid settings: refused`(settings: String, message: String) {
        let error = #expect(throws: Problem.self) { try SinkPlugin.mqtt.make(settings: settings) }
        #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    }
}
