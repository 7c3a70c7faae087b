import Foundation
import Hemiola
import HemiolaNetwork
import HemiolaSystem
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

    @Test func `connection: sends, and notices that the peer has gone`() throws {
        let server = try TCPServer()
        let wakeUp = try WakeUp()
        let socket = try TCPSocket.connect(to: NetworkEndpoint(host: "localhost", port: server.port), timeout: 5, wakeUp) { false }
        var peer: SocketClient? = try server.accept()
        let result = socket.send(Array("one\n".utf8))
        #expect(result == .sent)
        #expect(try peer?.readLine() == "one")
        var isOpen = socket.discardInput()
        #expect(isOpen)
        try peer?.send("answer")
        let readiness = wakeUp.wait(seconds: 30, for: socket.descriptor)
        #expect(readiness.isReadable)
        isOpen = socket.discardInput()
        #expect(isOpen)
        peer = nil
        while !wakeUp.wait(seconds: 30, for: socket.descriptor).isReadable {}
        isOpen = socket.discardInput()
        #expect(!isOpen)
    }

    @Test func `peer that does not read: sending does not block`() throws {
        let server = try TCPServer()
        let wakeUp = try WakeUp()
        let socket = try TCPSocket.connect(to: NetworkEndpoint(host: "127.0.0.1", port: server.port), timeout: 5, wakeUp) { false }
        let peer = try server.accept()
        let message = [UInt8](repeating: 0, count: 1000)
        var result = TCPSocket.SendResult.sent
        for _ in 0..<100_000 where result == .sent { result = socket.send(message) }
        // A part of the last message may have fitted.
        #expect(result != .sent)
        withExtendedLifetime(peer) {}
    }

    @Test func `no listener, unknown name, cancelled: a reason`() throws {
        let wakeUp = try WakeUp()
        func reason(_ host: String, _ port: Int, isCancelled: Bool = false) -> String? {
            do throws(Problem) {
                _ = try TCPSocket.connect(to: NetworkEndpoint(host: host, port: port), timeout: 5, wakeUp) { isCancelled }
                return nil
            } catch {
                return error.message
            }
        }
        #expect(reason("127.0.0.1", try TCPServer.freePort()) == "Connection refused")
        #expect(reason("nowhere.invalid", 9)?.isEmpty == false)
        #expect(reason("127.0.0.1", 9, isCancelled: true) == "no address")
    }
}
