import Hemiola
import HemiolaNetwork
import TestSupport
import Testing

@Suite(.mayNotHang) struct NetworkTests {
    @Test(arguments: [
        ("light", "light", 9, "light:9"), ("10.0.0.5:1883", "10.0.0.5", 1883, "10.0.0.5:1883"), ("::1", "::1", 9, "[::1]:9"),
        ("[fe80::1%eth0]:80", "fe80::1%eth0", 80, "[fe80::1%eth0]:80"), ("[::1]", "::1", 9, "[::1]:9"),
    ])
    func `endpoint: host and port`(text: String, host: String, port: Int, description: String) throws {
        let endpoint = try NetworkEndpoint(parsing: text, defaultPort: 9, at: "broker")
        #expect(endpoint == NetworkEndpoint(host: host, port: port))
        #expect(endpoint.description == description)
    }

    @Test(arguments: [
        ("", "is no host"), ("mqtt://light", "is no host"), ("a b", "is no host"), (":9", "is no host"), ("[::1", "is no host"),
        ("light:", "is no port"), ("light:0", "is no port"), ("light:65536", "is no port"), ("light:+5", "is no port"),
        ("[::1]9", "is no port"), (String(repeating: "a", count: 254), "is no host"),
    ])
    func `endpoint that cannot be read: names the setting and the form`(text: String, message: String) {
        let error = #expect(throws: Problem.self) { try NetworkEndpoint(parsing: text, defaultPort: 9, at: "broker") }
        #expect(error?.all.first?.place == .key("broker"))
        #expect(error?.description.contains(message) == true)
    }
}
