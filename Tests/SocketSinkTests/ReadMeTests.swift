import Hemiola
import SocketSink
import TestSupport
import Testing

@Suite struct ReadMeTests {
    private let readMe: ReadMe

    init() throws {
        readMe = try ReadMe("Plugins/Sinks/Socket")
    }

    @Test func `its table quotes every setting`() {
        #expect(readMe.settings(notQuotedFrom: SinkPlugin.socket.about) == [])
    }

    @Test func `its sample is what a client gets`() throws {
        let types = try readMe.records().map { try #require($0["type"] as? String) }
        #expect(types == ["hello", "resumeAudio", "pushSamples", "dropped", "reply", "error"])
    }

    @Test func `its examples can be made`() throws {
        let specs = readMe.specs(of: "socket")
        #expect(!specs.isEmpty)
        for spec in specs { _ = try Stage.sink(spec) }
    }
}
