import BridgeSupport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Imports of files into a page, over the socket.
@Suite(.mayNotHang) struct ImportTests {
    private static let chunk = 64 << 10
    private static let largest = 32 << 20

    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) } }

    private static func line(_ bytes: ArraySlice<UInt8>, id: String = "1") -> String {
        "{\"type\":\"importData\",\"id\":\(id),\"data\":\"\(Data(bytes).base64EncodedString())\"}"
    }

    /// Receives a file as a page does, and answers with its size.
    private static func receive(from page: SocketClient) throws -> (name: String, bytes: [UInt8]) {
        let first = try page.line()
        let (size, call) = (try #require(first.int("size"), "\(first.text)"), try #require(first.int("call")))
        var bytes: [UInt8] = []
        while bytes.count < size {
            try page.send("{\"type\":\"importReady\",\"call\":\(call)}")
            let line = try page.line()
            #expect(line.type == "importData" && line.int("call") == call)
            let data = try #require(Data(base64Encoded: line["data"] ?? ""))
            #expect(data.count <= chunk)
            bytes += data
        }
        try page.send("{\"type\":\"result\",\"call\":\(call),\"value\":\(bytes.count)}")
        return (first["name"] ?? "", bytes)
    }

    private final class Received: Sendable {
        let result = Mutex<Result<(name: String, bytes: [UInt8]), any Error>?>(nil)
        let isOver = DispatchSemaphore(value: 0)
    }

    @Test(arguments: [0, 1, 65_536, 1_000_000]) func `file: reaches the page unchanged, with its name`(size: Int) async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (page, client) = (try fixture.page(), try fixture.quietClient())
        let bytes = Self.bytes(size)
        let received = Self.receiveInBackground(page)
        try client.send("{\"type\":\"import\",\"id\":1,\"name\":\"Élan \\\"1\\\".milk\",\"size\":\(size)}")
        for start in stride(from: 0, to: size, by: Self.chunk) { try client.send(Self.line(bytes[start..<min(start + Self.chunk, size)])) }
        let reply = try client.line()
        #expect(reply.int("value") == size, "\(reply.text)")
        let file = try received()
        #expect(file.name == "Élan \"1\".milk" && file.bytes == bytes)
        try await fixture.close()
    }

    /// Receives a file on a thread of its own.
    ///
    /// - Returns: Waits for the file, and returns it.
    private static func receiveInBackground(_ page: SocketClient) -> () throws -> (name: String, bytes: [UInt8]) {
        // Only the new thread uses the client until the returned function has waited for it.
        nonisolated(unsafe) let page = page
        let received = Received()
        Thread.detachNewThread {
            let result = Result { try receive(from: page) }
            received.result.withLock { $0 = result }
            received.isOver.signal()
        }
        return {
            received.isOver.wait()
            return try received.result.withLock { $0! }.get()
        }
    }

    @Test func `32 MiB while samples are sent: no batch is dropped or delayed, for the page and another client`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (page, listener, client) = (try fixture.client(), try fixture.client(), try fixture.quietClient())
        for reader in [page, listener] { try reader.expectHello() }
        try page.send(#"{"type":"ready","presets":["x"]}"#)
        try await fixture.wait { fixture.submitted.count == 1 }
        let data = Data(Self.bytes(Self.chunk))
        let line = Self.line(Array(data)[...])
        let count = Self.largest / Self.chunk
        try client.send("{\"type\":\"import\",\"id\":1,\"name\":\"x\",\"size\":\(Self.largest)}")
        #expect(try page.line().type == "import")
        for number in 0..<count {
            try client.send(line)
            try await fixture.play()
            // The page is busy: its samples are in the socket's buffer before the next part of the file is.
            #expect(try page.line().int("frame") == number * 1024)
            try page.send(#"{"type":"importReady","call":1}"#)
            let part = try page.line()
            #expect(part.type == "importData" && part["data"].map { Data(base64Encoded: $0) == data } == true)
            #expect(try listener.line().int("frame") == number * 1024)
        }
        try page.send(#"{"type":"result","call":1,"value":true}"#)
        #expect(try client.line().bool("value") == true)
        #expect(fixture.drops.isEmpty)
        try await fixture.close()
    }

    @Test func `page that requests no data: it is sent none, and the client gets an error at the time limit`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (page, client) = (try fixture.page(), try fixture.quietClient())
        let bytes = Self.bytes(4 << 20)
        try client.send("{\"type\":\"import\",\"id\":1,\"name\":\"x\",\"size\":\(bytes.count),\"timeout_s\":2}")
        for start in stride(from: 0, to: bytes.count, by: Self.chunk) { try client.send(Self.line(bytes[start..<(start + Self.chunk)])) }
        let reply = try client.line()
        #expect(reply["error"]?.hasPrefix("time limit of 2 s reached: the page has not requested") == true, "\(reply.text)")
        #expect(try page.line().type == "import")
        #expect(try page.line().text == #"{"type":"cancel","call":1}"#, "no data is sent unrequested")
        // The rest of a file is ignored.
        try client.send(Self.line(bytes[..<Self.chunk]))
        #expect(try client.request(#"{"type":"status","id":2}"#).int("id") == 2)
        try await fixture.close()
    }

    @Test func `files beyond 128 MiB in Base64: busy`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let page = try fixture.page()
        let clients = try (0..<3).map { _ in try fixture.quietClient() }
        for client in clients {
            try client.send("{\"type\":\"import\",\"id\":1,\"name\":\"x\",\"size\":\(Self.largest)}")
            if client !== clients[2] { #expect(try client.request(#"{"type":"status","id":2}"#).int("id") == 2) }
        }
        let answer = try clients[2].reply()
        #expect(answer["error"]?.hasPrefix("busy: too many calls") == true, "\(answer.text)")
        // A client that is released disconnects, and its import is over.
        withExtendedLifetime((page, clients)) {}
        try await fixture.close()
    }

    @Test(arguments: [
        (#""name":"../x","size":1"#, "\"name\" is the name of a file, without folders and control characters"),
        (#""name":"a\\b","size":1"#, "\"name\" is the name of a file, without folders and control characters"),
        (#""name":"a\nb","size":1"#, "\"name\" is the name of a file, without folders and control characters"),
        (#""name":"..","size":1"#, "\"name\" is the name of a file, without folders and control characters"),
        (#""name":"","size":1"#, "\"name\" is the name of a file, without folders and control characters"),
        ("\"name\":\"\(String(repeating: "x", count: 256))\",\"size\":1", "\"name\" is longer than 255 bytes"),
        (#""name":"x","size":33554433"#, "\"size\" is a number of bytes up to 33554432 (32 MiB)"),
        (#""name":"x","size":-1"#, "\"size\" is a number of bytes up to 33554432 (32 MiB)"),
        (#""name":"x","size":1.5"#, "\"size\" is not a whole number"), (#""name":"x""#, "missing \"size\""),
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

    @Test func `data that is not Base64, too long, beyond the size or of no import: the reason is reported, or ignored`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (page, client) = (try fixture.page(), try fixture.quietClient())
        try client.send(#"{"type":"importData","id":1,"data":"AAAA"}"#)
        try client.send(#"{"type":"import","id":1,"name":"x","size":3}"#)
        for data in ["AAA", "A=AA", "A===", "AA A", "é===", ""] {
            let reply = try client.request("{\"type\":\"importData\",\"id\":1,\"data\":\"\(data)\"}")
            #expect(reply.bool("ok") == false && reply["error"]?.hasPrefix("\"data\"") == true, "\(reply.text)")
        }
        let reply = try client.request(Self.line(Self.bytes(Self.chunk + 1)[...]))
        #expect(reply["error"]?.hasPrefix("\"data\" has 65537 bytes; the limit is 65536") == true)
        #expect(try page.line().type == "import")
        #expect(try client.request(#"{"type":"importData","id":1,"data":"AAAAAA=="}"#)["error"] == "more data than the announced size")
        #expect(try page.line().text == #"{"type":"cancel","call":1}"#)
        #expect(try page.request(#"{"type":"import","id":1,"name":"x","size":3}"#)["error"] == "a page cannot import into itself")
        try client.send(#"{"type":"import","id":1,"name":"x","size":3}"#)
        #expect(
            try client.request(#"{"type":"import","id":2,"name":"x","size":3}"#)["error"]
                == "busy: another import of this client is not complete")
        try await fixture.close()
    }

    @Test func `client disconnects within a file: the page is notified and gets the next call`() async throws {
        let fixture = try await SocketSinkFixture()
        try await fixture.begin()
        let (page, client) = (try fixture.page(), try fixture.quietClient())
        var leaving: SocketClient? = try fixture.quietClient()
        try leaving?.send(#"{"type":"import","id":1,"name":"x","size":100000}"#)
        try leaving?.send(Self.line(Self.bytes(Self.chunk)[...]))
        #expect(try page.line().type == "import")
        try page.send(#"{"type":"importReady","call":1}"#)
        #expect(try page.line().type == "importData")
        try client.send(#"{"type":"call","id":1,"function":"f"}"#)
        leaving = nil
        #expect(try page.line().text == #"{"type":"cancel","call":1}"#)
        #expect(try page.line()["function"] == "f")
        try await fixture.close()
    }
}
