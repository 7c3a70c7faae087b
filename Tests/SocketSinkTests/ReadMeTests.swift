import Foundation
import Hemiola
import HemiolaSignal
import SocketSink
import Testing

@Suite struct ReadMeTests {
    private let text: String

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        text = try String(contentsOf: root.appendingPathComponent("Plugins/Sinks/Socket/README.md"), encoding: .utf8)
    }

    @Test func `its table has every setting with its default and sentence, and no other`() {
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
            $0.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let expected = SinkPlugin.socket.about.settings.map { setting in
            let shown = setting.defaultValue == .none ? "unset" : "`\(setting.defaultValue.text)`"
            return ["", "`\(setting.key)`", shown, setting.summary, ""]
        }
        #expect(rows == expected)
    }

    @Test func `its sample is JSON of the types that a client gets`() throws {
        let types = try text.split(separator: "\n").filter { $0.hasPrefix("{") }.map { try Line(String($0)).type }
        #expect(types == ["hello", "resumeAudio", "pushSamples", "dropped", "reply", "error"])
    }

    @Test func `its examples can be made`() throws {
        let specs = text.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("socket:") }
        #expect(!specs.isEmpty)
        for spec in specs { _ = try Stage.sink(String(spec)) }
    }
}
