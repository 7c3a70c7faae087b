import Foundation
import Hemiola
import HemiolaSignal
import Testing

@testable import PresetsSink

@Suite struct ReadMeTests {
    private let text: String

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        text = try String(contentsOf: root.appendingPathComponent("Plugins/Sinks/Presets/README.md"), encoding: .utf8)
    }

    @Test func `its table has every setting with its default and sentence, and no other`() {
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
            $0.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let expected = SinkPlugin.presets.about.settings.map { setting in
            let shown = setting.defaultValue == .none || setting.defaultValue == .list([]) ? "unset" : "`\(setting.defaultValue.text)`"
            return ["", "`\(setting.key)`", shown, setting.summary, ""]
        }
        #expect(rows == expected)
    }

    @Test func `its sample is a plan`() throws {
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("{") }
        let types = try lines.map { line in
            let record = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            return try #require(record["type"] as? String)
        }
        #expect(types.first == "header" && types.last == "end" && types.contains("preset"))
        #expect(types.allSatisfy(PresetCycler.planRecords.contains))
    }

    @Test func `its examples can be made`() throws {
        let specs = text.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("presets:") }
        #expect(specs.count >= 4)
        for spec in specs { _ = try SinkPlugin.presets.make(try CyclerTests.values(String(spec))) }
    }
}
