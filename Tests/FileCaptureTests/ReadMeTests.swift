import Foundation
import Hemiola
import Testing

@testable import FileCapture

@Suite struct ReadMeTests {
    private let text: String

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        text = try String(contentsOf: root.appendingPathComponent("Plugins/Captures/File/README.md"), encoding: .utf8)
    }

    @Test func `its sample is a header line of a file`() throws {
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("{") })
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        let header = try #require(object)
        let source = try #require(header["source"] as? [String: Any])
        #expect(header["type"] as? String == "header")
        #expect(source["kind"] as? String == CapturePlugin.file.about.id)
        #expect(source["name"] as? String == "song.flac")
        #expect(source["duration_s"] is Double)
    }

    @Test func `its table has every setting`() {
        for setting in CapturePlugin.file.about.settings {
            #expect(text.contains("| `\(setting.key)` |"))
        }
    }

    @Test func `the pipe that it shows is the one that the message shows`() {
        #expect(text.contains(Complaint.pipe("song.m4a")))
    }
}
