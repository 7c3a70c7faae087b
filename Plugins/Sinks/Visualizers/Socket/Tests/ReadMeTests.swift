import BridgeSupport
import Hemiola
import SocketSink
import TestSupport
import Testing

@Suite struct ReadMeTests {
    private let readMe: ReadMe

    init() throws {
        readMe = try ReadMe("Plugins/Sinks/Visualizers/Socket")
    }

    @Test func `settings table: has the default and summary of every setting`() {
        #expect(readMe.settings(notQuotedFrom: SinkPlugin.socket.about) == [])
    }

    @Test func `sample lines: valid, with the types of the protocol`() throws {
        let types = try readMe.records().map { try #require($0["type"] as? String) }
        #expect(types == ["hello", "resumeAudio", "pushSamples", "dropped", "reply", "error"])
    }

    @Test func `SPEC examples: valid`() throws {
        let specs = readMe.specs(of: "socket")
        #expect(!specs.isEmpty)
        for spec in specs { _ = try SocketSinkFixture.sink(spec) }
    }
}
