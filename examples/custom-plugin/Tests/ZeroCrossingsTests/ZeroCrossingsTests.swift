import HemiolaTesting
import Testing
import ZeroCrossings

@Suite struct ZeroCrossingsTests {
    /// Silence, noise, lost audio, odd formats, `reset`: what every analyzer has to stand.
    @Test func `it passes the exam`() throws {
        try AnalyzerExam(.zeroCrossings).sit()
    }
}
