import Foundation
import Testing

/// The guides of the plugin API against the example package.
@Suite struct GuideTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test(arguments: [
        ("WriteAnAnalyzer", ["Sources/MyPlugins/ZeroCrossings.swift", "Tests/MyPluginsTests/ZeroCrossingsTests.swift"]),
        (
            "WriteASink",
            [
                "Sources/MyPlugins/UDP.swift", "Sources/MyPlugins/UDPSocket.swift", "Sources/MyPlugins/Meter.swift",
                "Tests/MyPluginsTests/UDPTests.swift",
            ]
        ),
        ("WriteACapture", ["Sources/MyPlugins/Metronome.swift", "Tests/MyPluginsTests/MetronomeTests.swift"]),
        ("WriteADirector", ["Sources/MyPlugins/Lamps.swift", "Tests/MyPluginsTests/LampsTests.swift"]),
        ("WriteAControlSource", ["Sources/MyPlugins/ControlLines.swift", "Tests/MyPluginsTests/ControlLinesTests.swift"]),
    ])
    func `Swift blocks of a guide: the files of the example, in full and in order`(guide: String, files: [String]) throws {
        let text = try Self.text("Sources/Hemiola/Hemiola.docc/\(guide).md")
        let blocks = text.split(separator: "```swift\n", omittingEmptySubsequences: false).dropFirst()
            .map { $0[..<($0.firstRange(of: "```")?.lowerBound ?? $0.endIndex)] }
        let code = try files.map { try Self.text("examples/custom-plugin/\($0)") }
        #expect(blocks.count >= files.count)
        // Blank lines separate the blocks.
        #expect(Self.lines(blocks.joined()) == Self.lines(code.joined()))
    }

    @Test(arguments: ["WriteAnAnalyzer", "WriteASink", "WriteACapture", "WriteADirector", "WriteAControlSource"])
    func `guide: linked from the page of the module`(guide: String) throws {
        #expect(try Self.text("Sources/Hemiola/Hemiola.docc/Hemiola.md").contains("- <doc:\(guide)>"))
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n")
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
