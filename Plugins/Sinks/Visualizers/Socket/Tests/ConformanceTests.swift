import BridgeSupport
import HemiolaTesting
import SocketSink
import TestSupport
import Testing

@Suite(.mayNotHang) struct ConformanceTests {
    @Test func `conformance suites of sinks and directors: pass, and the socket is removed`() throws {
        let folder = try TemporaryFolder()
        try SinkConformanceSuite(.socket, settings: folder("test.sock")).run()
        try DirectorConformanceSuite(.socket, settings: folder("test.sock")).run()
        #expect(folder.names == [])
    }
}
