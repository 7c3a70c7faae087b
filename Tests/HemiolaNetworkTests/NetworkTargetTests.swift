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
        #expect(try NetworkTarget(text, defaultPort: 7, transports: [.udp, .tcp]) == target)
    }

    @Test(arguments: [
        ("", "\"\" has no valid host; write HOST:PORT"),
        (":9000", "\":9000\" has no valid host; write HOST:PORT"),
        ("a b:1", "\"a b:1\" has no valid host; write HOST:PORT"),
        ("host:0", "\"0\" is no port; use 1...65535"),
        ("host:65536", "\"65536\" is no port; use 1...65535"),
        ("host:+1", "\"+1\" is no port; use 1...65535"),
        ("host:", "\"\" is no port; use 1...65535"),
        ("fd00::1", "\"fd00::1\" is not HOST:PORT; write an IPv6 address in brackets: [ADDRESS]:PORT"),
        ("[fd00::1", "\"[fd00::1\" has no ] after the IPv6 address"),
        ("[fd00::1]9", "\"[fd00::1]9\" is not HOST:PORT; write [ADDRESS]:PORT"),
        ("http://host", "unknown transport in \"http://host\"; use udp:// or tcp://"),
    ])
    func `invalid target: what is wrong and what to write`(text: String, message: String) {
        let fault = #expect(throws: NetworkTarget.Fault.self) { try NetworkTarget(text, defaultPort: 7, transports: [.udp, .tcp]) }
        #expect(fault?.message == message)
    }

    @Test func `no port and no default: an error`() {
        let fault = #expect(throws: NetworkTarget.Fault.self) { try NetworkTarget("host", defaultPort: nil) }
        #expect(fault?.message == "\"host\" has no port; write HOST:PORT")
    }
}
