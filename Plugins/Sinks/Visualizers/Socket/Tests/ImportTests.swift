import BridgeSupport
import TestSupport
import Testing

/// Imports of files into a page at the socket, which opens them itself.
@Suite(.mayNotHang) struct ImportTests {
    private static let line = #"{"type":"import","id":1,"name":"Élan \"1\".milk","path":"/presets/Élan \"1\".milk"}"#

    @Test func `file: the page gets its name and path, the client gets the progress and the value`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (page, client) = (try fixture.page(), try fixture.quietClient())
        try client.send(Self.line)
        let message = try page.line()
        #expect(message.type == "import" && message.int("call") == 1 && message["url"] == nil, "\(message.text)")
        #expect(message["name"] == "Élan \"1\".milk" && message["path"] == "/presets/Élan \"1\".milk")
        try page.send(#"{"type":"progress","call":1,"value":0.5}"#)
        #expect(try client.line().text == #"{"type":"progress","id":1,"value":0.5}"#)
        try page.send(#"{"type":"result","call":1,"value":["x"]}"#)
        #expect(try client.line().text == #"{"type":"reply","id":1,"ok":true,"error":null,"value":["x"]}"#)
        try await fixture.close()
    }

    @Test func `page that does not answer: it is notified, and the client gets an error at the time limit`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (page, client) = (try fixture.page(), try fixture.quietClient())
        try client.send(#"{"type":"import","id":1,"name":"x","path":"/x","timeout_s":0.3}"#)
        #expect(try page.line().type == "import")
        #expect(try client.line()["error"] == "time limit of 0.3 s reached: the page has not answered")
        #expect(try page.line().text == #"{"type":"cancel","call":1}"#)
        try await fixture.close()
    }

    @Test(arguments: [
        (#""name":"../x","path":"/x""#, "\"name\" is the name of a file, without folders and control characters"),
        (#""name":"a\\b","path":"/x""#, "\"name\" is the name of a file, without folders and control characters"),
        (#""name":"a\nb","path":"/x""#, "\"name\" is the name of a file, without folders and control characters"),
        (#""name":"..","path":"/x""#, "\"name\" is the name of a file, without folders and control characters"),
        (#""name":"","path":"/x""#, "\"name\" is the name of a file, without folders and control characters"),
        ("\"name\":\"\(String(repeating: "x", count: 256))\",\"path\":\"/x\"", "\"name\" is longer than 255 bytes"),
        (#""name":"x","path":"x""#, "\"path\" is the absolute path of a file, of at most 4095 bytes"),
        (
            "\"name\":\"x\",\"path\":\"/\(String(repeating: "x", count: 4095))\"",
            "\"path\" is the absolute path of a file, of at most 4095 bytes"
        ),
        (#""name":"x","path":1"#, "\"path\" is not a text"), (#""name":"x""#, "missing \"path\""),
    ])
    func `invalid import: error says what is invalid`(fields: String, error: String) async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (page, client) = (try fixture.page(), try fixture.quietClient())
        let reply = try client.request("{\"type\":\"import\",\"id\":1,\(fields)}")
        #expect(reply.bool("ok") == false && reply["error"] == error, "\(reply.text)")
        withExtendedLifetime(page) {}
        try await fixture.close()
    }

    @Test func `client disconnects: the page is notified and gets the next call`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (page, client) = (try fixture.page(), try fixture.quietClient())
        var leaving: SocketClient? = try fixture.quietClient()
        try leaving?.send(Self.line)
        #expect(try page.line().type == "import")
        try client.send(#"{"type":"call","id":1,"function":"f"}"#)
        leaving = nil
        #expect(try page.line().text == #"{"type":"cancel","call":1}"#)
        #expect(try page.line()["function"] == "f")
        try await fixture.close()
    }
}
