import Foundation
import Hemiola
import HemiolaSignal
import Testing

@testable import PulseCapture

@Suite struct ReadMeTests {
    private let text: String

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        text = try String(contentsOf: root.appendingPathComponent("Plugins/Captures/Pulse/README.md"), encoding: .utf8)
    }

    @Test func `its sample is a header line of this capture`() throws {
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("{") })
        let header = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let source = try #require(header["source"] as? [String: Any])
        #expect(header["type"] as? String == "header")
        #expect(source["kind"] as? String == CapturePlugin.pulse.about.id)
    }

    @Test func `its table has every setting and no other`() throws {
        let table = try #require(text.components(separatedBy: "\n\n").first { $0.hasPrefix("| key |") })
        let keys = table.split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap { $0.split(separator: "`").dropFirst().first }
        #expect(keys.map(String.init) == CapturePlugin.pulse.about.keys)
    }

    @Test func `its table names every reason for a gap that it can tell`() {
        for reason in Gap.Reason.allCases where reason != .truncatedFile {
            #expect(text.contains("| `\(reason.rawValue)`"), "\(reason.rawValue)")
        }
    }

    @Test func `its examples can be made`() throws {
        let specs = text.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("pulse:") }
        #expect(!specs.isEmpty)
        for spec in specs { _ = try pulse(String(spec)) }
    }
}
