import Glibc
import TestSupport
import Testing

@testable import HemiolaSystem

@Suite(.mayNotHang) struct UnixConnectionTests {
    @Test func `server with a full backlog: connecting fails at the deadline`() throws {
        let folder = try TemporaryFolder()
        let path = folder("s")
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        try #require(UnixAddress.with(path: path) { bind(server, $0, $1) } == 0)
        try #require(listen(server, 0) == 0)
        var waiting: [UnixConnection] = []
        let error = #expect(throws: SystemCallError.self) {
            // The system accepts one connection more than the backlog.
            for _ in 0..<4 { waiting.append(try UnixConnection(to: path, until: Deadline(after: 0.5))) }
        }
        #expect(error?.number == ETIMEDOUT)
        #expect(!waiting.isEmpty)
    }
}
