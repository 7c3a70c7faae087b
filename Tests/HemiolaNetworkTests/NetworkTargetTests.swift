import Hemiola
import HemiolaNetwork
import Testing

@Suite struct NetworkTargetTests {
    @Test(arguments: [
        ("192.168.1.20:9000", NetworkTarget(host: "192.168.1.20", port: 9000)),
        ("lights.local", NetworkTarget(host: "lights.local", port: 7)),
        ("udp://localhost:1", NetworkTarget(host: "localhost", port: 1)),
        ("tcp://127.0.0.1:65535", NetworkTarget(.tcp, host: "127.0.0.1", port: 65535)),
        ("[fd00::1]:80", NetworkTarget(host: "fd00::1", port: 80)),
        ("[fe80::1%eth0]", NetworkTarget(host: "fe80::1%eth0", port: 7)),
    ])
    func `valid target: transport, host and port`(text: String, target: NetworkTarget) throws {
        #expect(try NetworkTarget(parsing: text, defaultPort: 7, transports: [.udp, .tcp], at: "target") == target)
    }

    @Test(arguments: [
        ("", "\"\" is no host"), ("udp://:9000", "\":9000\" is no host"), ("host:65536", "\"65536\" in \"host:65536\" is no port"),
        ("http://host", "unknown transport in \"http://host\"; use udp:// or tcp://"),
    ])
    func `invalid target: what is wrong and what to write`(text: String, message: String) {
        let error = #expect(throws: Problem.self) {
            try NetworkTarget(parsing: text, defaultPort: 7, transports: [.udp, .tcp], at: "target")
        }
        #expect(error?.all.first?.place == .key("target"))
        #expect(error?.description.contains(message) == true)
    }
}
