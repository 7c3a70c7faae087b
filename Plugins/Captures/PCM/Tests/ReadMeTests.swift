import Hemiola
import TestSupport
import Testing

@testable import HemiolaPCM
@testable import PCMCapture

@Suite struct ReadMeTests {
    private let readMe: ReadMe

    init() throws {
        readMe = try ReadMe("Plugins/Captures/PCM")
    }

    @Test func `sample record: a header line of this capture`() throws {
        let header = try #require(try readMe.records().first)
        #expect(header["type"] as? String == "header")
        #expect((header["source"] as? [String: Any])?["kind"] as? String == CapturePlugin.pcm.about.id)
    }

    @Test func `example SPECs: accepted by the plugin`() throws {
        let specs = readMe.specs(of: "pcm")
        #expect(!specs.isEmpty)
        for spec in specs { _ = try CapturePlugin.pcm.make(CapturePlugin.pcm.about.values(parsing: spec)) }
    }
}
