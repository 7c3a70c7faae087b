import Foundation
import Hemiola
import HemiolaSignal
import Testing

@testable import PCMCapture

@Suite struct ReadMeTests {
    private let text: String

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        text = try String(contentsOf: root.appendingPathComponent("Plugins/Captures/PCM/README.md"), encoding: .utf8)
    }

    @Test func `its sample is a header line of this capture`() throws {
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("{") })
        let header = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let source = try #require(header["source"] as? [String: Any])
        #expect(header["type"] as? String == "header")
        #expect(source["kind"] as? String == CapturePlugin.pcm.about.id)
    }

    @Test func `its table has every setting and no other`() {
        let keys = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap { $0.split(separator: "`").dropFirst().first }
        #expect(keys.map(String.init) == CapturePlugin.pcm.about.keys)
    }

    @Test func `its examples can be made`() throws {
        let words = text.split(whereSeparator: \.isWhitespace)
        let specs = words.filter { $0.hasPrefix("pcm:") && !$0.contains("PATH") && !$0.contains("SIGNAL") }
        #expect(!specs.isEmpty)
        for spec in specs {
            var problems: [ConfigurationProblem] = []
            let values = CapturePlugin.pcm.about.values(from: try PluginSpec(parsing: String(spec)), path: "", problems: &problems)
            #expect(problems.isEmpty)
            _ = try CapturePlugin.pcm.make(#require(values))
        }
    }
}
