import Hemiola
import HemiolaTesting
import TestSupport
import Testing

@testable import WebSink

@Suite(.mayNotHang) struct ConformanceTests {
    @Test func `conformance suites of sinks and directors: pass`() throws {
        let folder = try TemporaryFolder()
        let plugin = SinkPlugin.web(tokenFile: { TokenFile(path: folder("web-token")) })
        try SinkConformanceSuite(plugin, settings: "0").run()
        try DirectorConformanceSuite(plugin, settings: "0").run()
    }
}
