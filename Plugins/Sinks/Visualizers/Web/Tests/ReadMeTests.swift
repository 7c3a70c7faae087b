import BridgeSupport
import Hemiola
import TestSupport
import Testing

@testable import WebSink

@Suite struct ReadMeTests {
    private let readMe: ReadMe

    init() throws {
        readMe = try ReadMe("Plugins/Sinks/Visualizers/Web")
    }

    @Test func `settings table: has the default and summary of every setting`() {
        #expect(readMe.settings(notQuotedFrom: SinkPlugin.web.about) == [])
    }

    @Test func `SPEC examples: valid`() throws {
        let specs = readMe.specs(of: "web")
        #expect(specs.count >= 4)
        for spec in specs { _ = try WebSinkFixture.sink(spec) }
    }
}
