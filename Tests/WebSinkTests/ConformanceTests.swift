import HemiolaTesting
import TestSupport
import Testing
import WebSink

@Suite(.mayNotHang) struct ConformanceTests {
    @Test func `conformance suites of sinks and directors: pass`() async throws {
        try await SinkConformanceSuite(.web, settings: "0").run()
        try await DirectorConformanceSuite(.web, settings: "0").run()
    }
}
