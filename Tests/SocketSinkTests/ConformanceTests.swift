import Hemiola
import HemiolaTesting
import SocketSink
import TestSupport
import Testing

@Suite(.mayNotHang) struct ConformanceTests {
    @Test func `socket sink passes the sink conformance tests`() async throws {
        let folder = try TemporaryFolder()
        try await SinkExam(.socket, settings: folder("exam.sock")).sit()
        #expect(folder.names == [])
    }
}
