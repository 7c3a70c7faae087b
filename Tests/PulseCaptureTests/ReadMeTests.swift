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

    @Test func `its sample is a header line of this capture`() throws {
        let header = try #require(try readMe.records().first)
        #expect(header["type"] as? String == "header")
        #expect((header["source"] as? [String: Any])?["kind"] as? String == CapturePlugin.pulse.about.id)
    }

    @Test func `its table names every reason for a gap that it can tell`() {
        for reason in Gap.Reason.allCases where !reason.isOfFile {
            #expect(readMe.text.contains("| `\(reason.rawValue)`"), "\(reason.rawValue)")
        }
    }

    @Test func `its examples can be made`() throws {
        let specs = readMe.specs(of: "pulse")
        #expect(!specs.isEmpty)
        for spec in specs { _ = try pulse(spec) }
    }
}
