import Hemiola
import HemiolaSignal
import TestSupport
import Testing

@testable import PulseCapture

@Suite struct ReadMeTests {
    private let readMe: ReadMe

    init() throws {
        readMe = try ReadMe("Plugins/Captures/Pulse")
    }

    @Test func `sample record: a header line of this capture`() throws {
        let header = try #require(try readMe.records().first)
        #expect(header["type"] as? String == "header")
        #expect((header["source"] as? [String: Any])?["kind"] as? String == CapturePlugin.pulse.about.id)
    }

    @Test func `table of outages: contains every gap reason of this capture`() {
        for reason in Gap.Reason.allCases where !reason.isOfFile {
            #expect(readMe.text.contains("| `\(reason.rawValue)`"), "\(reason.rawValue)")
        }
    }

    @Test func `example SPECs: accepted by the plugin`() throws {
        let specs = readMe.specs(of: "pulse")
        #expect(!specs.isEmpty)
        for spec in specs { _ = try pulse(spec) }
    }
}
