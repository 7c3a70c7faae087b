import Hemiola
import HemiolaTesting
import SocketSink
import TestSupport
import Testing

@Suite(.mayNotHang) struct ExamTests {
    @Test func `it sits the exam`() async throws {
        let folder = try TemporaryFolder()
        try await SinkExam(.socket, settings: folder("exam.sock")).sit()
        #expect(folder.names == [])
    }
}
